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
	f.Replace(&events.Prediction{Step: 0, Away: true}, 3)
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
