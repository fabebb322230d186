package debugger_test

import (
	"slices"
	"testing"

	"moon/events"
	"moon/plan"
	"moon/tui/debugger"
	"moon/tui/status"
)

// lackingPlan has three steps: the second uses the first, the third uses the second.
func lackingPlan() *plan.Plan {
	uses := func(of int) []plan.Unknown { return []plan.Unknown{{Name: "r", Steps: []int{of}, Field: "cmd"}} }
	return &plan.Plan{Steps: []plan.Step{{Index: 0}, {Index: 1, Unknowns: uses(0)}, {Index: 2, Unknowns: uses(1)}}}
}

// TestLacking follows what a person excludes, and says what that leads to, before and after.
func TestLacking(t *testing.T) {
	p := lackingPlan()
	l := debugger.NewLacking(p)
	states := []status.State{status.Waiting, status.Waiting, status.Waiting}
	at := debugger.Position{Plan: p, Steps: debugger.States(states)}
	find := func() (more, fewer []int) { return l.Take(l.Finder()()) }

	if !l.IsStale() {
		t.Error("it was never looked for")
	}
	find()
	l.See(0, &events.Step{})
	if l.IsStale() || l.Count(at) != 0 {
		t.Errorf("nothing is excluded, and %d lack something", l.Count(at))
	}
	if more, fewer := l.With(at, []events.Range{{From: 0, To: 1}}, true); !slices.Equal(more, []int{1, 2}) || fewer != nil {
		t.Errorf("without the first: %v, %v", more, fewer)
	}
	if l.IsStale() || l.Of(at, 1) != nil {
		t.Error("asking what would be has changed what is")
	}

	l.See(0, &events.Step{Excluded: true})
	if !l.IsStale() {
		t.Error("a step was excluded")
	}
	if more, fewer := find(); !slices.Equal(more, []int{1, 2}) || fewer != nil {
		t.Errorf("the first is excluded: %v, %v", more, fewer)
	}
	if m := l.Of(at, 2); m == nil || l.Count(at) != 2 {
		t.Errorf("%d lack something, the last %v", l.Count(at), m)
	}
	if more, fewer := l.With(at, []events.Range{{From: 0, To: 1}}, false); more != nil || !slices.Equal(fewer, []int{1, 2}) {
		t.Errorf("with the first again: %v, %v", more, fewer)
	}
	states[1] = status.Skipped
	if l.Of(at, 1) != nil || l.Count(at) != 1 {
		t.Error("what has ended lacks nothing any more")
	}
	if _, fewer := l.With(at, []events.Range{{From: 0, To: 1}}, false); !slices.Equal(fewer, []int{2}) {
		t.Errorf("one has ended, and the other would run again: %v", fewer)
	}

	l.See(0, &events.Step{})
	if more, fewer := find(); more != nil || !slices.Equal(fewer, []int{1, 2}) {
		t.Errorf("the first is back: %v, %v", more, fewer)
	}
}
