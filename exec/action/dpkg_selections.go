package action

import (
	"context"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
)

var _ = exec.Register("dpkg_selections", exec.Action{Plan: planDpkgSelections})

func planDpkgSelections(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.DpkgSelectionsArgs)
	if err := lacksTool(a, "dpkg", "dpkg"); err != nil {
		return nil, err
	}
	said, err := a.AskTool(ctx, exec.NewTool("dpkg", "--get-selections", args.Name))
	if err != nil {
		return nil, err
	}
	before := "not present"
	if said.Code != 0 {
		return nil, said.Explain(fault.CommandError{Message: "dpkg", RC: &said.Code, Class: fault.Fatal})
	}
	// A package of several architectures has several lines; the first decides.
	if words := strings.Fields(said.Stdout); len(words) > 1 {
		before = words[1]
	}
	c := &exec.Change{Fields: map[string]any{"before": before, "after": args.Selection}}
	if before == args.Selection {
		return c.PlanNothing(), nil
	}
	line := args.Name + " " + args.Selection + "\n"
	c.PlanFor(events.ChangeUpdate, "dpkg_selection", args.Name, func(ctx context.Context) error {
		said, err := a.RunToolReading(ctx, exec.Tool{Argv: []string{"dpkg", "--set-selections"}, Stdin: &line})
		// With these words dpkg ends with 0 anyway.
		unknown := strings.Contains(said.Stderr, "not in status nor available") || strings.Contains(said.Stderr, "unknown packages")
		if err == nil && unknown {
			c.Warnings = append(c.Warnings, "dpkg does not know the package "+args.Name+", so nothing was changed")
		}
		return said.Explain(err)
	}, before+" → "+args.Selection)
	return c, nil
}
