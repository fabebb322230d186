package debugger_test

import (
	"context"
	"slices"
	"testing"

	"moon/events"
	"moon/plan"
	"moon/tui/debugger"
	"moon/tui/status"
)

// TestPredictions begins again when other steps are excluded, drops what comes late from before that, and halts with the review.
func TestPredictions(t *testing.T) {
	var f debugger.Predictions
	type round struct {
		excluded []int
		tell     func(*events.Prediction)
		end      chan struct{}
	}
	rounds, ended := make(chan round), make(chan struct{}, 8)
	predict := func(_ context.Context, p *plan.Plan, excluded func(int) bool, tell func(*events.Prediction)) {
		r := round{tell: tell, end: make(chan struct{})}
		for i := range p.Steps {
			if excluded(i) {
				r.excluded = append(r.excluded, i)
			}
		}
		rounds <- r
		<-r.end
	}
	guard := func(do func()) { do(); ended <- struct{}{} }
	p := at(status.Undecided, status.Waiting, status.Undecided)
	p.Phase = events.Review
	follow := func() { f.Follow(p, predict, guard, func() {}) }

	follow()
	first := <-rounds
	follow() // nothing is different
	first.tell(&events.Prediction{Step: 0, Diff: events.Diff{Kind: events.ChangeCreate}})
	first.tell(&events.Prediction{Step: 1, Error: "no such user"})
	if got, want := f.Counts(), (debugger.PredictionCounts{Create: 1, Fail: 1}); got != want || !f.Busy() {
		t.Errorf("%+v, busy %v; want %+v", got, f.Busy(), want)
	}

	p.Steps.(debugger.States)[1] = status.Excluded
	follow()
	second := <-rounds
	if !slices.Equal(second.excluded, []int{1}) {
		t.Errorf("predicted again without %v", second.excluded)
	}
	first.tell(&events.Prediction{Step: 1, Error: "too late"})
	close(first.end)
	<-ended
	if f.Step(1) != nil || !f.Busy() {
		t.Errorf("the first round tells %v and ends the second: %v", f.Step(1), !f.Busy())
	}
	second.tell(&events.Prediction{Step: 2, After: []int{0, 1}})
	second.tell(&events.Prediction{Step: 0, Diff: events.Diff{Kind: events.ChangeUpdate}})
	f.Replace(&events.Prediction{Step: 0, Away: true}, p.Plan)
	if got, want := f.Counts(), (debugger.PredictionCounts{Away: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	close(second.end)
	<-ended
	if f.Busy() {
		t.Error("it continues after its end")
	}

	if f.Now(2, p) == nil {
		t.Error("what waits for the first step is known before that has ended")
	}
	p.Steps.(debugger.States)[0] = status.OK
	if one := f.Now(2, p); one != nil {
		t.Errorf("nothing is waited for but an excluded step, and it is %+v", one)
	}
	p.Phase = events.Running
	follow()
	select {
	case <-rounds:
		t.Error("it predicts after the review")
	default:
	}
}

// TestSourcesOf sorts steps by what has become of them. An outdated one may run again.
func TestSourcesOf(t *testing.T) {
	p := at(status.OK, status.Excluded, status.Outdated, status.Rescued, status.Omitted, status.Asking)
	got := p.SourcesOf([]int{0, 1, 2, 3, 4, 5, 6, -1})
	if !slices.Equal(got.Given, []int{0, 3}) || !slices.Equal(got.Gone, []int{1, 4}) || !slices.Equal(got.Pending, []int{2, 5}) {
		t.Errorf("%+v", got)
	}
}

// TestPredictionsMove keeps what is known of steps that others have moved, and counts it for the scopes around them.
func TestPredictionsMove(t *testing.T) {
	was := &plan.Plan{
		Scopes: []plan.Scope{{Parent: -1}, {ID: 1, First: 0, Last: 3}, {ID: 2, Parent: 1, First: 1, Last: 3}},
		Steps:  []plan.Step{{Path: "a", Digest: "1", Scope: 1}, {Path: "b", Digest: "2", Scope: 2}, {Path: "c", Digest: "3", Scope: 2}},
	}
	at := debugger.Position{Plan: was, Steps: debugger.States{status.OK, status.Waiting, status.Waiting}, PausedAt: -1, Pointer: -1}
	var f debugger.Predictions
	for _, one := range []*events.Prediction{
		{Step: 0, Diff: events.Diff{Kind: events.ChangeCreate}},
		{Step: 1, Diff: events.Diff{Kind: events.ChangeUpdate}, After: []int{0}},
		{Step: 2, Error: "no such user", After: []int{1}},
	} {
		f.Replace(one, was)
	}
	in := func(scope, from, to int, want debugger.PredictionCounts) {
		t.Helper()
		if got := f.In(scope, events.Range{From: from, To: to}, at); got != want {
			t.Errorf("in scope %d: %+v, want %+v", scope, got, want)
		}
	}
	in(0, 0, 3, debugger.PredictionCounts{Create: 1, Fail: 1}) // the second is not known any more: what it depends on has ended
	in(1, 0, 3, debugger.PredictionCounts{Create: 1, Fail: 1})
	in(2, 1, 3, debugger.PredictionCounts{Fail: 1})
	in(9, 0, 3, debugger.PredictionCounts{})

	now := &plan.Plan{
		Scopes: []plan.Scope{{Parent: -1}, {ID: 1, First: 0, Last: 5}},
		Steps: []plan.Step{
			{Path: "a", Digest: "1", Scope: 1}, {Path: "new", Digest: "9"}, {Path: "b", Digest: "edited", Scope: 1}, {Path: "new too", Digest: "8"},
			{Path: "c", Digest: "3", Scope: 1},
		},
	}
	f.Renumber(now)
	if f.Step(0) == nil || f.Step(1) != nil || f.Step(2) != nil || f.Step(4) != nil {
		t.Errorf("kept %v %v %v %v", f.Step(0), f.Step(1), f.Step(2), f.Step(4))
	}
	at.Plan, at.Steps = now, debugger.States{status.Waiting, 0, 0, 0, 0}
	in(1, 0, 5, debugger.PredictionCounts{Create: 1})

	now.Steps[2].Digest = "2"
	f.Renumber(was)
	f.Replace(&events.Prediction{Step: 2, Error: "no such user", After: []int{1}}, was)
	f.Renumber(now)
	if one := f.Step(4); one == nil || one.Step != 4 || !slices.Equal(one.After, []int{2}) {
		t.Errorf("the last step has %+v", one)
	}
}
