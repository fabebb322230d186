package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/lines"
	"moon/exec/spec"
)

var _ = exec.Register("sysctl", exec.Action{Plan: planSysctl})

func planSysctl(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.SysctlArgs)
	if runtime.GOOS != "linux" {
		return nil, errors.New("parameters of the kernel can be set on Linux only")
	}
	added := false
	c, err := planEdit(ctx, a, edit{path: args.SysctlFile, create: true, gone: args.State == fsys.Absent},
		func(text string) (edited, says string) {
			edited, says = putParameter(text, args)
			added = says == lineAdded
			return edited, says
		})
	if err != nil {
		return nil, err
	}
	delete(c.Fields, "path")
	delete(c.Fields, "msg")
	c.Fields["name"] = args.Name
	c.Result = nil
	if err := planParameter(c, args); err != nil {
		c.Close()
		return nil, err
	}
	switch {
	case added: // in the file; which value the kernel had before is not recorded
		c.AddPart(events.Resource{Type: "sysctl", Name: args.Name, Undo: exec.UndoBy("sysctl", map[string]any{
			"name": args.Name, "state": fsys.Absent, "sysctl_file": args.SysctlFile, "reload": false,
		})})
	case c.Diff.Kind != events.ChangeNone:
		c.AddResource(c.Diff.Kind, "sysctl", args.Name)
	}
	return c, nil
}

const lineAdded = "line added"

// putParameter sets the parameter in a file, or takes it out. Of lines that set it the last one counts, so it is the one
// that stays.
func putParameter(text string, args *spec.SysctlArgs) (edited, says string) {
	d := lines.Read(text)
	last, was := -1, ""
	for i, line := range slices.Backward(d.Lines) {
		key, value, ok := parseParameter(line)
		switch {
		case !ok || key != args.Key:
		case last < 0 && args.State != fsys.Absent:
			last, was = i, value
		default:
			// The line that is kept moves up with each one that goes before it.
			d.Put(i, i+1)
			last--
			says = "line removed"
		}
	}
	switch {
	case args.State == fsys.Absent:
		return d.String(), says
	case last < 0:
		d.Put(len(d.Lines), len(d.Lines), args.Name+"="+args.Value)
		return d.String(), lineAdded
	case was != args.Value:
		// The blanks around = stay as they are written in the file.
		begin, _, _ := strings.Cut(d.Line(last), "=")
		blank := ""
		if strings.HasSuffix(begin, " ") {
			blank = " "
		}
		d.Put(last, last+1, begin+"="+blank+args.Value)
		return d.String(), fmt.Sprintf("%s → %s", was, args.Value)
	}
	return d.String(), says
}

// parseParameter reads a line of such a file. A hyphen in front lets the kernel not know it.
func parseParameter(line string) (key, value string, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' || line[0] == ';' {
		return "", "", false
	}
	key, value, ok = strings.Cut(line, "=")
	return spec.SysctlKey(strings.TrimPrefix(strings.TrimSpace(key), "-")), strings.Join(strings.Fields(value), " "), ok
}

// planParameter adds to the change of the file that the value goes into effect.
func planParameter(c *exec.Change, args *spec.SysctlArgs) error {
	path := "/proc/sys/" + args.Key
	text, err := os.ReadFile(path)
	// The kernel separates several values by tabs, playbooks by blanks.
	is := strings.Join(strings.Fields(string(text)), " ")
	if err == nil {
		c.Fields["value"] = is
	}
	if args.State == fsys.Absent || !args.SysctlSet && (!args.Reload || c.Diff.Kind == events.ChangeNone) {
		return nil
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && args.IgnoreErrors:
		c.Warnings = append(c.Warnings, "the kernel has no "+args.Name)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fault.Missing(path, "the kernel has no %s; a module may have to be loaded first, or let it pass with ignoreerrors: true",
			args.Name)
	case err == nil && is == args.Value:
		return nil
	}
	// If the file is right already, only the kernel has another value.
	planAfter(c, events.ChangeUpdate, func(context.Context) error {
		// Mode 0: a file in /proc is never created, and a typo must not leave one.
		if err := os.WriteFile(path, []byte(args.Value+"\n"), 0); err != nil {
			err = fmt.Errorf("the kernel does not take %s = %s: %s", args.Name, args.Value, fault.Reason(errors.Unwrap(err)))
			if !args.IgnoreErrors {
				return err
			}
			c.Warnings = append(c.Warnings, err.Error())
			return nil
		}
		c.Fields["value"] = args.Value
		return nil
	}, "in effect "+is+" → "+args.Value)
	return nil
}
