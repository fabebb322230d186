package debugger_test

import (
	"testing"

	"moon/events"
	"moon/plan"
	"moon/tui/debugger"
	"moon/tui/status"
)

func at(states ...status.State) debugger.Position {
	return debugger.Position{Plan: &plan.Plan{Steps: make([]plan.Step, len(states))}, Steps: debugger.States(states), PausedAt: -1, Pointer: -1}
}

// TestNext continues from the pointer, and comes back to what was passed over.
func TestNext(t *testing.T) {
	const left, done = status.Waiting, status.OK
	for _, c := range []struct {
		states  []status.State
		pointer int
		want    int
	}{
		{nil, -1, -1},
		{[]status.State{left, left}, -1, 0},
		{[]status.State{done, left, left}, 0, 1},
		{[]status.State{left, done, done}, 2, 0},
		{[]status.State{left, done}, 7, 0},
		{[]status.State{done, done}, 1, -1},
		{[]status.State{status.Excluded, status.Running, status.Confirm}, 1, 2},
	} {
		p := at(c.states...)
		p.Pointer = c.pointer
		if got := p.Next(); got != c.want {
			t.Errorf("%v at %d: %d follows, not %d", c.states, c.pointer, got, c.want)
		}
	}
}

// TestFailed is about the step that the run is paused on: it counts as failed until it is decided, and can be tried again.
func TestFailed(t *testing.T) {
	for _, c := range []struct {
		state                      status.State
		failed, edited, retry, ran bool
	}{
		{status.Failed, true, false, true, false},
		{status.Unreachable, true, false, true, false},
		{status.Rescued, true, false, true, false},
		{status.Ignored, true, false, true, false},
		{status.Waiting, false, true, true, false},
		{status.Running, false, false, false, true},
		{status.OK, false, false, false, true},
	} {
		p := at(status.Ignored, c.state)
		p.Phase, p.Pause, p.PausedAt = events.Paused, events.PauseFailure, 1
		if p.Failed(1) != c.failed || p.OnFailure() != c.failed || p.Edited() != c.edited || p.HasRun(1) != c.ran ||
			p.Retryable(p.Everything()) != map[bool]int{true: 1}[c.retry] {
			t.Errorf("paused on %v: failed %v, edited %v, %d to retry, has run %v", c.state, p.Failed(1), p.Edited(),
				p.Retryable(p.Everything()), p.HasRun(1))
		}
		if p.Failed(0) || !p.HasRun(0) || p.Failed(-1) {
			t.Errorf("paused on %v: the step before, whose failure is ignored, has not failed", c.state)
		}
	}
}

// TestMayMark lets a step be marked that has failed or not begun, and none that the plan excludes.
func TestMayMark(t *testing.T) {
	p := at(status.Waiting, status.Failed, status.Cancelled, status.OK, status.Failed, status.Omitted)
	p.Plan.Steps[4].Excluded = true
	for i, want := range []bool{true, true, true, false, false, false} {
		if p.MayMark(i) != want {
			t.Errorf("step %d: %v", i, !want)
		}
	}
}

// TestAt finds where a run stands: at a question before anything else, and after its end at what failed.
func TestAt(t *testing.T) {
	const left, done, bad, asks = status.Waiting, status.OK, status.Failed, status.Asking
	for _, c := range []struct {
		phase             events.Phase
		states            []status.State
		pausedAt, pointer int
		at, scene         int // scene: with the last step chosen
	}{
		{events.Review, []status.State{left, left, left}, -1, -1, -1, 2},
		{events.Review, []status.State{done, left, left}, -1, 1, 1, 2}, // a plan that was replaced before it began
		{events.Running, []status.State{done, status.Running, left}, -1, 1, 1, 1},
		{events.Running, []status.State{asks, status.Running, left}, -1, 1, 0, 0},
		{events.Running, []status.State{left, left}, -1, -1, -1, 1},
		{events.Paused, []status.State{done, left, left}, 2, 1, 2, 2},
		{events.Paused, []status.State{done, left, asks}, 1, 1, 2, 2},
		{events.Paused, []status.State{done, left}, 7, 1, 1, 1}, // of another plan
		{events.Ended, []status.State{done, bad, done}, -1, 2, 1, 1},
		{events.Done, []status.State{done, done}, -1, 1, 1, 1},
	} {
		p := at(c.states...)
		p.Phase, p.PausedAt, p.Pointer = c.phase, c.pausedAt, c.pointer
		if got := p.At(); got != c.at {
			t.Errorf("%v %v paused at %d, pointer %d: at %d, not %d", c.phase, c.states, c.pausedAt, c.pointer, got, c.at)
		}
		if got := p.Scene(len(c.states) - 1); got != c.scene {
			t.Errorf("%v %v paused at %d, pointer %d: scene %d, not %d", c.phase, c.states, c.pausedAt, c.pointer, got, c.scene)
		}
	}
	if got := at().Scene(-1); got != -1 {
		t.Errorf("a plan without steps has scene %d", got)
	}
	review := at(done, left, left)
	if got := review.Scene(-1); got != 1 {
		t.Errorf("with nothing chosen: scene %d, not the next step", got)
	}
}
