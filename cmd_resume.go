package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"moon/engine"
	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/plan"
)

// resumeCmd goes on with a run.
type resumeCmd struct {
	Which string `arg:"" optional:"" name:"run" help:"The run, or how its name begins; default the latest. moon runs lists them."`
	planFlags
	headlessFlags
	screenFlags
	Lost        string `enum:"ask,retry,ok,fail" default:"ask" help:"What a step is taken for that was running when moon died: retry runs it again, ok and fail take it for done or failed. On the screen you decide."`
	RetryFailed bool   `help:"Run failed steps again. On the screen you decide."`
	NoTUI       bool   `name:"no-tui" help:"Without the screen, also in a terminal."`
}

func (c *resumeCmd) Run(io stdio) error {
	runs, err := runsDir()
	if err != nil {
		return err
	}
	past, err := engine.Find(runs, c.Which)
	if err != nil {
		return usage("%s", err)
	}
	flags := playbookFlags{Playbook: filepath.Join(past.Root, past.Playbook), planFlags: c.planFlags}
	p, g, err := flags.build(io)
	if err != nil {
		return err
	}
	onScreen := !c.NoTUI && noScreen() == ""
	opts := past.Options
	opts.Review, opts.BreakOnFailure, opts.KeepOpen = onScreen, onScreen, onScreen
	how := engine.Resumption{
		Dir: past.Dir, Lost: fact.LostAs(c.Lost), RetryFailed: c.RetryFailed,
		Planned: func(digest string) (*plan.Plan, *graph.Graph, error) {
			if digest == p.Digest {
				return p, g, nil
			}
			return nil, nil, fmt.Errorf("the playbook does not plan as it did then (plan %s, now %s): give the same variables, tags and selection as then; a run whose playbook was edited cannot be resumed", short(digest), short(p.Digest))
		},
	}
	switch {
	case onScreen:
		how.Lost = fact.LostRetry
	case c.Lost == "ask":
		how.Lost = ""
	}
	var confirmed []events.Range
	if !onScreen {
		if confirmed, _, err = confirmations(p, c.Approve); err != nil {
			return err
		}
		how.Confirmed = confirmed
	}
	s, err := engine.Resume(engine.Config{Runner: exec.Local{}, Dry: exec.DryRun{}, Options: opts, First: approvals(confirmed), Version: Version}, how)
	if err != nil {
		return refusal(past, err)
	}
	if onScreen {
		t := tuiCmd{savedFlags: savedFlags{playbookFlags: flags}, runFlags: runFlags{Check: opts.Check, Diff: opts.Diff}, screenFlags: c.screenFlags}
		return t.screen(io, s, p)
	}
	return attend(io, s, opts.Diff, c.headlessFlags)
}

// refusal says why a run is not resumed, and what would help.
func refusal(past engine.Past, err error) error {
	if undecided, ok := errors.AsType[*engine.UndecidedError](err); ok {
		var help []string
		for _, h := range []struct {
			steps []string
			what  string
			flag  string
		}{
			{undecided.Lost, "was running when moon died", "--lost retry, ok or fail"},
			{undecided.Failed, "failed", "--retry-failed"},
			{undecided.Asking, "asks to be confirmed", "--approve all or --approve ID"},
		} {
			for _, step := range h.steps {
				help = append(help, fmt.Sprintf("  %s %s", step, h.what))
			}
			if len(h.steps) > 0 {
				help = append(help, "    decide with "+h.flag)
			}
		}
		return usage("%s is not resumed; nothing was run\n%s\nor resume it in a terminal and decide on the screen", past.ID, strings.Join(help, "\n"))
	}
	if errors.Is(err, engine.ErrFinished) {
		return usage("%s: %s", past.ID, err)
	}
	return &exit{exitDisk, fmt.Sprintf("%s: %s", past.ID, err)}
}

func short(digest string) string { return digest[:min(12, len(digest))] }
