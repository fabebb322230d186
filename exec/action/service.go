package action

import (
	"context"
	"os"
	"strings"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/facts"
	"moon/exec/fault"
	"moon/exec/spec"
)

var _ = exec.Register("service", exec.Action{Plan: planService})

// services is what runs services on a machine: systemd, OpenRC or init scripts.
type services interface {
	// readState finds out how the service is. That there is none is a fault.NotYet.
	readState(ctx context.Context, a *exec.Attempt) (*serviceState, error)
	// runVerb carries out start, stop, restart, reload, enable, disable, mask or unmask.
	runVerb(ctx context.Context, a *exec.Attempt, verb string) error
	// rereadUnits has it read what services there are, and start itself again if that is asked for.
	rereadUnits(ctx context.Context, a *exec.Attempt) error
}

// serviceState is how a service is.
type serviceState struct {
	running bool
	enabled bool
	static  bool // it cannot be enabled, or need not be: others start it
	masked  bool
	status  map[string]any // all that is known of it; nil: no more than that
}

// findServices finds out what runs services here.
func findServices(a *exec.Attempt, args *spec.ServiceArgs) services {
	use := args.Use
	if use == "auto" {
		// systemd may be installed without running, as in a container: only its directory in /run says so.
		switch {
		case isPresent("/run/systemd/system") && a.Installed("systemctl"):
			use = "systemd"
		case isPresent("/run/openrc") && a.Installed("rc-service"):
			use = "openrc"
		}
	}
	switch use {
	case "systemd":
		return &systemd{args}
	case "openrc":
		return &openrc{args}
	}
	return &initScripts{args, strings.TrimSuffix(args.Name, ".service")}
}

func isPresent(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func planService(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.ServiceArgs)
	s := findServices(a, args)
	c := &exec.Change{Fields: map[string]any{}}
	if args.Name == "" {
		// Without a name the step is about the units as a whole.
		c.Always = true
		c.Apply = func(ctx context.Context) error { return s.rereadUnits(ctx, a) }
		return c.PlanNothing(), nil
	}
	verbs, err := planVerbs(ctx, c, a, s, args)
	if err != nil {
		return nil, err
	}
	// Units that are read again may say something else, so the verbs are found out again after it.
	reread := args.DaemonReload || args.DaemonReexec
	c.Always = reread
	c.Apply = func(ctx context.Context) error {
		if reread {
			if err := s.rereadUnits(ctx, a); err != nil {
				return err
			}
			if verbs, err = planVerbs(ctx, c, a, s, args); err != nil {
				return err
			}
		}
		for _, verb := range verbs {
			if err := changeService(ctx, a, s, verb, args); err != nil {
				return err
			}
		}
		return nil
	}
	return c, nil
}

// changeService does one thing to a service. A restart with a pause is two.
func changeService(ctx context.Context, a *exec.Attempt, s services, verb string, args *spec.ServiceArgs) error {
	if verb != "restart" || args.Sleep <= 0 {
		return s.runVerb(ctx, a, verb)
	}
	if err := s.runVerb(ctx, a, "stop"); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(args.Sleep):
	}
	return s.runVerb(ctx, a, "start")
}

// planVerbs makes the change what must be done to a service, and returns that in order.
func planVerbs(ctx context.Context, c *exec.Change, a *exec.Attempt, s services, args *spec.ServiceArgs) ([]string, error) {
	is, err := s.readState(ctx, a)
	if err != nil {
		return nil, err
	}
	verbs := is.listVerbs(args)
	c.Fields["name"] = args.Name
	if args.State != "" || is.status != nil {
		// A play reads the state that the step has asked for, and not what became of it.
		c.Fields["state"] = map[bool]string{true: "started", false: "stopped"}[is.running && args.State == "" ||
			args.State != "" && args.State != "stopped"]
	}
	c.Fields["enabled"] = is.enabled
	if args.Enabled != nil && !is.static {
		c.Fields["enabled"] = *args.Enabled
	}
	if is.status != nil {
		c.Fields["status"] = is.status
	}
	// Called twice for one change, so what the first call left goes.
	c.Diff, c.Resources, c.Warnings = events.Diff{Kind: events.ChangeNone}, nil, nil
	if len(verbs) > 0 {
		c.Diff = events.Diff{Kind: events.ChangeUpdate, Summary: strings.Join(verbs, ", ") + " " + args.Name}
		c.AddResource(events.ChangeUpdate, "service", args.Name)
		c.Resources[0].Undo = undoVerbs(a, verbs, args)
	}
	if is.static && args.Enabled != nil && *args.Enabled {
		c.Warnings = append(c.Warnings, args.Name+" has no [Install] section: it cannot be enabled, something else starts it")
	}
	return verbs, nil
}

// undoVerbs brings a service back to how it was, as far as the verbs change that. Nil: they do not.
func undoVerbs(a *exec.Attempt, verbs []string, args *spec.ServiceArgs) *events.Undo {
	in := map[string]any{"name": args.Name}
	for _, verb := range verbs {
		switch verb {
		case "start":
			in["state"] = "stopped"
		case "stop":
			in["state"] = "started"
		case "enable", "disable":
			in["enabled"] = verb == "disable"
		case "mask", "unmask":
			in["masked"] = verb == "unmask"
		}
	}
	if len(in) == 1 {
		return nil
	}
	for name, text := range map[string]string{"scope": args.Scope, "use": args.Use, "pattern": args.Pattern, "arguments": args.Arguments} {
		if text != "" && text != "system" && text != "auto" {
			in[name] = text
		}
	}
	if len(args.Runlevels) > 0 {
		in["runlevels"] = facts.AnyList(args.Runlevels)
	}
	return a.UndoWithTools("service", in)
}

// listVerbs returns what must be done, in order: what is masked can neither be enabled nor started.
func (is *serviceState) listVerbs(args *spec.ServiceArgs) []string {
	var verbs []string
	add := func(want *bool, is bool, yes, no string) {
		switch {
		case want == nil || *want == is:
		case *want:
			verbs = append(verbs, yes)
		default:
			verbs = append(verbs, no)
		}
	}
	add(args.Masked, is.masked, "mask", "unmask")
	if !is.static {
		add(args.Enabled, is.enabled, "enable", "disable")
	}
	switch {
	case args.State == "started" && !is.running, args.State == "reloaded" && !is.running:
		verbs = append(verbs, "start")
	case args.State == "stopped" && is.running:
		verbs = append(verbs, "stop")
	case args.State == "restarted":
		verbs = append(verbs, "restart")
	case args.State == "reloaded":
		verbs = append(verbs, "reload")
	}
	return verbs
}

// noService is the error of a name that no service has.
func noService(name, hint string) error {
	if hint != "" {
		hint = "; " + hint
	}
	return fault.Missing("", "there is no service %s%s", name, hint)
}
