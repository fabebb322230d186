package debugger_test

import (
	"errors"
	"testing"

	"moon/events"
	"moon/plan"
	"moon/tui/debugger"
)

// TestBind tells a step that cannot run from one of another plan.
func TestBind(t *testing.T) {
	for _, c := range []struct {
		name  string
		step  plan.Step
		err   error
		wrong string
		known bool
	}{
		{"known", plan.Step{Action: "shell"}, nil, "", true},
		{"cannot run", plan.Step{Action: "shell"}, errors.New("no such file"), "no such file", true},
		{"another plan", plan.Step{}, errors.New("the plan was replaced"), "", false},
	} {
		bind := debugger.Bind(func(*plan.Plan, int) (plan.Step, error) { return c.step, c.err })
		got, known := bind.Step(nil, 0)
		if known != c.known || got.Wrong != c.wrong || known && got.Action != "shell" {
			t.Errorf("%s: %+v %v", c.name, got, known)
		}
	}
}

// TestBreakAt copies what is known, which the fold of the feed goes on changing.
func TestBreakAt(t *testing.T) {
	if _, set := debugger.BreakAt(3, &events.Step{}); set {
		t.Error("there is none")
	}
	if b, set := debugger.BreakAt(3, &events.Step{Break: true}); !set || b.Set.Step != 3 {
		t.Errorf("of an older feed, without what was set: %+v %v", b, set)
	}
	of := events.Step{Break: true, Stop: &events.Breakpoint{Set: events.Break{Step: 1, To: 4, When: "x"}, Hits: 1}}
	b, set := debugger.BreakAt(3, &of)
	of.Stop.Hits++
	if !set || b.Set.When != "x" || b.Hits != 1 {
		t.Errorf("%+v %v", b, set)
	}
}
