package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
	"moon/internal/suggest"
)

// openrc asks rc-service and rc-update.
type openrc struct{ args *spec.ServiceArgs }

func (o *openrc) rereadUnits(context.Context, *exec.Attempt) error { return noSystemd("daemon_reload") }

// noSystemd is the error of a field that only systemd knows.
func noSystemd(field string) error {
	return fmt.Errorf("%s is for systemd, which does not run here; `when: pid1 == 'systemd'` leaves the step out", field)
}

// onlySystemd refuses what a service without systemd does not know.
func onlySystemd(args *spec.ServiceArgs) error {
	switch {
	case args.Masked != nil && *args.Masked:
		return noSystemd("masked")
	case args.DaemonReload:
		return noSystemd("daemon_reload")
	case args.DaemonReexec:
		return noSystemd("daemon_reexec")
	case args.Scope != "system":
		return noSystemd("scope")
	}
	return nil
}

func (o *openrc) listRunlevels() []string {
	if len(o.args.Runlevels) > 0 {
		return o.args.Runlevels
	}
	return []string{"default"}
}

// The exit statuses of rc-service status for what is on its way, or waits for something.
const (
	openrcStarting = 8
	openrcInactive = 16
)

func (o *openrc) readState(ctx context.Context, a *exec.Attempt) (*serviceState, error) {
	args := o.args
	if err := onlySystemd(args); err != nil {
		return nil, err
	}
	if strings.HasPrefix(args.Name, "-") {
		return nil, noService(args.Name, "")
	}
	there, err := a.AskTool(ctx, exec.NewTool("rc-service", "--exists", args.Name)) // which does not know --
	if err != nil {
		return nil, err
	}
	if there.Code != 0 {
		list, err := a.AskTool(ctx, exec.NewTool("rc-service", "--list"))
		if err != nil {
			return nil, err
		}
		return nil, noService(args.Name, suggest.DidYouMean(args.Name, strings.Fields(list.Stdout)))
	}
	is := &serviceState{enabled: true}
	if is.running, err = isRunning(args); err != nil {
		return nil, err
	}
	if args.Pattern == "" {
		said, err := a.AskTool(ctx, exec.NewTool("rc-service", "--", args.Name, "status"))
		if err != nil {
			return nil, err
		}
		is.running = slices.Contains([]int{0, openrcStarting, openrcInactive}, said.Code)
	}
	for _, level := range o.listRunlevels() {
		said, err := a.AskTool(ctx, exec.NewTool("rc-update", "show", "--", level))
		if err != nil {
			return nil, err
		}
		// It is enabled only if it is in all runlevels that are asked for.
		is.enabled = is.enabled && inRunlevel(said.Stdout, args.Name, level)
	}
	return is, nil
}

// inRunlevel reads the table of rc-update: name | level level.
func inRunlevel(table, name, level string) bool {
	for line := range strings.Lines(table) {
		service, levels, ok := strings.Cut(line, "|")
		if ok && strings.TrimSpace(service) == name && slices.Contains(strings.Fields(levels), level) {
			return true
		}
	}
	return false
}

func (o *openrc) runVerb(ctx context.Context, a *exec.Attempt, verb string) error {
	argv := append([]string{"rc-service", "--", o.args.Name, verb}, o.args.Words...)
	switch verb {
	case "enable":
		argv = append([]string{"rc-update", "add", "--", o.args.Name}, o.listRunlevels()...)
	case "disable":
		argv = append([]string{"rc-update", "del", "--", o.args.Name}, o.listRunlevels()...)
	}
	return tellService(ctx, a, exec.NewTool(argv...), argv[0])
}

// tellService runs a program that says itself what is wrong.
func tellService(ctx context.Context, a *exec.Attempt, t exec.Tool, name string) error {
	said, err := a.RunToolReading(ctx, t)
	if err == nil || said.Code == 0 || fault.Stopped(ctx) != "" {
		return err
	}
	return packageError(name, said, "")
}
