package tui

import (
	"context"
	"errors"
	"strings"
	"testing"

	"moon/events"
	"moon/plan"
	"moon/tui/tuitest"
)

// binds stands for the engine: what `go_now` gives is known once its step has run.
func binds(s *screen, given *string) func(p *plan.Plan, step int) (plan.Step, error) {
	return func(p *plan.Plan, step int) (plan.Step, error) {
		now := p.Steps[step]
		if now.Name != "unpack go" || *given == "" {
			return now, nil
		}
		if *given == "nothing" {
			return now, errors.New("`go_now` has no value: step-0008 «read the installed version» failed")
		}
		now.Name, now.Unknowns, now.Prediction = "unpack go "+*given, nil, plan.WillRun
		now.Args = map[string]any{"cmd": "tar -xzf go" + *given + ".tar.gz"}
		now.Uses = []plan.Use{{Name: "go_now", Value: *given, From: "registered"}}
		return now, nil
	}
}

// TestStepAtThePointerIsBound shows the step that comes next with the values there are: in its row, and in the tabs.
func TestStepAtThePointerIsBound(t *testing.T) {
	given := ""
	predicted := &events.Prediction{Step: stepUnpack, Diff: events.Diff{Kind: events.ChangeUpdate, Path: "/usr/local/go", Text: "-1.25\n+1.26\n"}}
	var asked []int
	s := newScreen(t, setup{w: 120, h: 40, options: func(o *Options) {
		o.Predict = func(_ context.Context, _ *plan.Plan, step int) *events.Prediction {
			asked = append(asked, step)
			if step != stepUnpack {
				return nil
			}
			return predicted
		}
	}})
	s.m.Engine.Bind = binds(s, &given)
	s.on("unpack go")
	s.has("may skip", "go_now known after step-0008")
	s.keys("A b")
	given = "1.26"
	s.keys("c")
	s.has("PAUSED at breakpoint", "unpack go 1.26", "tar -xzf go1.26.tar.gz", "runs", "update")
	s.hasNot("may skip")
	s.hasNot("known after")
	s.keys("3")
	s.has("+1.26", "-1.25")
	s.keys("4")
	s.has("go_now       1.26  ")
	if len(asked) != 1 || asked[0] != stepUnpack {
		t.Errorf("predicted %v", asked)
	}
	s.on("read the installed version")
	s.on("unpack go 1.26")
	if len(asked) != 1 {
		t.Errorf("asked again although nothing has happened: %v", asked)
	}
}

// TestNothingWaitsForWhatHasEnded says what became of the step that should have given a value.
func TestNothingWaitsForWhatHasEnded(t *testing.T) {
	given := "nothing"
	s := newScreen(t, setup{w: 120, h: 40, fake: func(f *tuitest.Engine) { f.Fails["read the installed version"] = 1 }})
	s.m.Engine.Bind = binds(s, &given)
	s.keys("A c")
	s.on("unpack go")
	s.has("go_now has no value: step-0008", "failed", "cannot run: `go_now`")
	s.hasNot("known after step-0008")

	// Without a binder, as of a recorded run, neither.
	s = newScreen(t, setup{w: 120, h: 40})
	s.on("unpack go")
	s.keys("b A c")
	s.has("PAUSED at breakpoint", "go_now given by step-0008")
	if strings.Contains(s.shows(), "known after") {
		t.Error("it waits for a step that has ended")
	}
}
