package exec

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"

	"moon/events"
	"moon/exec/spec"
)

var _ = act("hostname", action{plan: planHostname})

const (
	hostnameFile   = "/etc/hostname"
	kernelHostname = "/proc/sys/kernel/hostname"
)

func planHostname(ctx context.Context, a *attempt) (*change, error) {
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
	c.fields = map[string]any{"name": args.Name}
	if a.Plays {
		short, domain, _ := strings.Cut(args.Name, ".")
		c.fields["ansible_facts"] = map[string]any{"ansible_hostname": short, "ansible_nodename": args.Name, "ansible_fqdn": args.Name, "ansible_domain": domain}
	}
	c.result = nil
	write := c.apply
	if c.diff.Kind == events.ChangeNone {
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
			delete(c.fields, "checksum")
		}
		if is == args.Name {
			return nil
		}
		return os.WriteFile(kernelHostname, []byte(args.Name), 0)
	}
	if usesHostnamectl(a, args) {
		c.ahead = nil
		apply = func(ctx context.Context) error {
			said, err := a.told(ctx, program("hostnamectl", "set-hostname", args.Name))
			return said.explain(err, "Connection timed out", "Transport endpoint")
		}
	}
	words := quoteEmpty(is) + " → " + args.Name
	if is == args.Name {
		words = "for the next start: " + c.diff.Summary
	}
	c.as(events.ChangeUpdate, "hostname", args.Name, apply, words)
	return c, nil
}

// usesHostnamectl reports whether systemd is to set the name.
func usesHostnamectl(a *attempt, args *spec.HostnameArgs) bool {
	if args.Use != "" {
		return args.Use == "systemd"
	}
	_, err := os.Stat("/run/systemd/system")
	return err == nil && a.installed("hostnamectl")
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
