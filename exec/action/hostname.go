package action

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/spec"
)

var _ = exec.Register("hostname", exec.Action{Plan: planHostname})

const (
	hostnameFile   = "/etc/hostname"
	kernelHostname = "/proc/sys/kernel/hostname"
)

func planHostname(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.HostnameArgs)
	if runtime.GOOS != "linux" {
		return nil, errors.New("the name of a machine can be set on Linux only; on macOS use `command: scutil --set HostName`")
	}
	is, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	c, err := planEdit(ctx, a, edit{path: hostnameFile, create: true}, func(text string) (edited, says string) {
		if namedIn(text) == args.Name {
			return text, ""
		}
		return args.Name + "\n", quoteEmpty(namedIn(text)) + " → " + args.Name
	})
	if err != nil {
		return nil, err
	}
	short, domain, _ := strings.Cut(args.Name, ".")
	c.Fields = map[string]any{"name": args.Name, "ansible_facts": map[string]any{
		"ansible_hostname": short, "ansible_nodename": args.Name, "ansible_fqdn": args.Name, "ansible_domain": domain,
	}}
	c.Result = nil
	// There are two names, that of the file, for the next start, and that of the kernel, for now. Either may be right already.
	write := c.Apply
	if c.Diff.Kind == events.ChangeNone {
		write = nil
	}
	if write == nil && is == args.Name {
		return c, nil
	}
	apply := func(ctx context.Context) error {
		if write != nil {
			if err := write(ctx); err != nil {
				return err
			}
			delete(c.Fields, "checksum")
		}
		if is == args.Name {
			return nil
		}
		return os.WriteFile(kernelHostname, []byte(args.Name), 0)
	}
	if usesHostnamectl(a, args) {
		// Where the name is kept is hostnamectl's affair, so no file is predicted.
		c.Predictions = nil
		apply = func(ctx context.Context) error {
			said, err := a.RunToolReading(ctx, exec.NewTool("hostnamectl", "set-hostname", args.Name))
			return said.Explain(err, "Connection timed out", "Transport endpoint")
		}
	}
	words := quoteEmpty(is) + " → " + args.Name
	if is == args.Name {
		words = "for the next start: " + c.Diff.Summary
	}
	c.PlanFor(events.ChangeUpdate, "hostname", args.Name, apply, words)
	return c, nil
}

// usesHostnamectl reports whether systemd is to set the name.
func usesHostnamectl(a *exec.Attempt, args *spec.HostnameArgs) bool {
	if args.Use != "" {
		return args.Use == "systemd"
	}
	_, err := os.Stat("/run/systemd/system")
	return err == nil && a.Installed("hostnamectl")
}

// namedIn is the name in the text of /etc/hostname.
func namedIn(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return ""
}

func quoteEmpty(name string) string {
	if name == "" {
		return "nothing"
	}
	return name
}
