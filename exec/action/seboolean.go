package action

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("seboolean", exec.Action{Plan: planSeboolean})

func planSeboolean(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.SebooleanArgs)
	if err := lacksTool(a, "setsebool", "policycoreutils"); err != nil {
		return nil, err
	}
	if err := lacksTool(a, "getsebool", "libselinux-utils"); err != nil {
		return nil, err
	}
	if !args.Ignore {
		said, err := a.AskTool(ctx, exec.NewTool("selinuxenabled"))
		if err != nil {
			return nil, err
		}
		if said.Code != 0 {
			return nil, errors.New("SELinux is disabled on this host; `ignore_selinux_state: true` sets the boolean nevertheless")
		}
	}
	said, err := a.AskTool(ctx, exec.NewTool("getsebool", args.Name))
	if err != nil {
		return nil, err
	}
	m := sebooleanValue.FindStringSubmatch(said.Stdout)
	if said.Code != 0 || m == nil {
		return nil, fault.Missing("", "there is no SELinux boolean %s: %s", args.Name, said.LastWords())
	}
	c := &exec.Change{Fields: map[string]any{"name": args.Name, "state": args.State, "persistent": args.Persistent}}
	want := map[bool]string{true: "on", false: "off"}[args.State]
	is := m[1]
	argv := []string{"setsebool", args.Name, want}
	if args.Persistent {
		argv = []string{"setsebool", "-P", args.Name, want}
		kept, err := keptBoolean(ctx, a, args.Name)
		if err != nil {
			return nil, err
		}
		// What is in effect may be for this time only, and then it must be kept.
		if is == want && kept != want {
			is = "kept " + kept
		}
	}
	if is == want {
		return c.PlanNothing(), nil
	}
	c.PlanFor(events.ChangeUpdate, "seboolean", args.Name, func(ctx context.Context) error {
		said, err := a.RunToolReading(ctx, exec.NewTool(argv...))
		return said.Explain(err)
	}, is+" → "+want)
	return c, nil
}

var sebooleanValue = pattern.New(`--> (on|off)`)

// keptBoolean is the value that a boolean has after the next start, or "unknown". Semanage knows it; where it is not installed only values
// that were set before are known, by the file in which they are kept.
func keptBoolean(ctx context.Context, a *exec.Attempt, name string) (string, error) {
	if a.Installed("semanage") {
		said, err := a.AskTool(ctx, exec.NewTool("semanage", "boolean", "-l", "-n"))
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(said.Stdout) {
			is, rest, _ := strings.Cut(line, "(")
			values, _, ok := strings.Cut(rest, ")") // (on   ,  off): in effect, kept
			if _, kept, both := strings.Cut(values, ","); ok && both && strings.TrimSpace(is) == name {
				return strings.TrimSpace(kept), nil
			}
		}
	}
	files, _ := filepath.Glob("/var/lib/selinux/*/active/booleans.local") // the pattern is well formed
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && strings.TrimSpace(key) == name {
				return map[string]string{"1": "on", "0": "off"}[strings.TrimSpace(value)], nil
			}
		}
	}
	return "unknown", nil
}
