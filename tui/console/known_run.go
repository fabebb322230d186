package console

import (
	"context"
	"slices"
	"time"

	"moon/events"
	"moon/plan"
	"moon/plan/sequence"
	"moon/tui/debugger"
	"moon/tui/status"
)

// knownRun is what is known of the plan and of the run, without a word about it.
type knownRun struct {
	sources      sources
	now          func() time.Time
	plan         *plan.Plan
	others       status.OtherFiles
	run          events.Run
	estimate     *events.Estimate // nil: nothing is known of earlier runs
	predicted    debugger.Predictions
	predictedAll chan struct{} // a round of predictions has ended
	lacks        debugger.Lacking
	lacksSeq     uint64 // of the last event that it has seen
	stopping     int    // how often a stop was asked for
}

// sources are what can be asked about a plan and its run, as Options has them. Each may be nil.
type sources struct {
	Forecast   func(digest string) *events.Forecast
	PredictAll debugger.PredictAll
	Why        func(digest string, steps []int) []events.Wait
	Bind       debugger.Bind
	Predict    func(ctx context.Context, p *plan.Plan, step int) *events.Prediction
}

// doneIn are the steps of some ranges that have succeeded.
func (d *knownRun) doneIn(ranges []events.Range) (steps []int) {
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			if status.Done(d.stepAt(i)) && !d.position().Failed(i) {
				steps = append(steps, i)
			}
		}
	}
	return steps
}

// doneDependents are the done steps that depend on some.
func (d *knownRun) doneDependents(steps []int) []int {
	return slices.DeleteFunc(sequence.Dependents(d.plan, steps), func(i int) bool { return !status.Done(d.stepAt(i)) })
}

// atHand is the step whose values edit is about, or -1.
func (d *knownRun) atHand() int {
	if i := d.position().At(); i >= 0 && !d.position().HasRun(i) {
		return i
	}
	if d.run.Phase == events.Review {
		return -1
	}
	return d.position().Next()
}

// stepNow is a step as far as it is known by now, and why it cannot run as it is.
func (d *knownRun) stepNow(i int) (p *plan.Step, wrong string) {
	p = &d.plan.Steps[i]
	// In review no step has given a value yet, so the plan knows as much.
	if d.sources.Bind == nil || d.run.Phase == events.Review || !d.State(i).Pending() {
		return p, ""
	}
	now, known := d.sources.Bind.Step(d.plan, i)
	switch {
	case !known:
		return p, ""
	case now.Wrong == "":
		return &now.Step, ""
	}
	return &now.Step, "it cannot run: " + now.Wrong
}

// predictNow finds out what the step would do that the run is paused at, with the values there are by now.
func (d *knownRun) predictNow(i int) {
	if d.sources.Predict == nil || d.run.Phase != events.Paused || i != d.run.PausedAt || !d.State(i).Pending() {
		return
	}
	// The loop waits for this, and hears nothing of the run meanwhile.
	ctx, cancel := context.WithTimeout(context.Background(), predictTime)
	defer cancel()
	if one := d.sources.Predict(ctx, d.plan, i); one != nil {
		d.predicted.Replace(one, d.plan)
	}
}

// State is what a step is like.
func (d *knownRun) State(i int) status.State {
	var none events.Step
	return status.Of(d.stepOr(i, &none), &d.plan.Steps[i])
}

// stepOr is what is known of a step; the feed may be behind the plan.
func (d *knownRun) stepOr(i int, none *events.Step) *events.Step {
	if i < len(d.run.Steps) {
		return &d.run.Steps[i]
	}
	// The zero would be the first step.
	none.Cause = -1
	return none
}

// stepAt is stepOr for those who only look.
func (d *knownRun) stepAt(i int) *events.Step { return d.stepOr(i, &events.Step{}) }

// hasRescue reports whether a scope, or one around it, has a rescue.
func (d *knownRun) hasRescue(scope int) bool {
	for id := scope; id > 0 && id < len(d.plan.Scopes); id = d.plan.Scopes[id].Parent {
		if d.plan.Scopes[id].Branch != "" {
			return false // a failure in a rescue is not rescued by it
		}
		for k := id + 1; k < len(d.plan.Scopes) && d.plan.Scopes[k].First <= d.plan.Scopes[id].Last; k++ {
			if d.plan.Scopes[k].Parent == id && d.plan.Scopes[k].Branch == "rescue" {
				return true
			}
		}
	}
	return false
}

// position is where the run stands.
func (d *knownRun) position() debugger.Position {
	return debugger.Position{
		Plan: d.plan, Steps: d, Phase: d.run.Phase, Pause: d.run.Pause.Reason, PausedAt: d.run.PausedAt, Pointer: d.run.Pointer,
	}
}

// predictTime is how long the user waits to learn what a step would do.
const predictTime = 5 * time.Second

// predictAll keeps the predictions up with the run.
func (d *knownRun) predictAll() {
	d.predicted.Follow(d.position(), d.sources.PredictAll, func(do func()) { do() }, func() {
		if d.predicted.Busy() { // they are said together
			return
		}
		// This runs in the goroutine that predicts, which must not wait for the loop.
		select {
		case d.predictedAll <- struct{}{}:
		default:
		}
	})
}

// predictionOf is what a step would do, as far as it is known by now.
func (d *knownRun) predictionOf(i int) *events.Prediction { return d.predicted.Now(i, d.position()) }

// lacking are the steps that will be skipped for lack of a value, by what is decided now. They are found on demand.
func (d *knownRun) lacking() *debugger.Lacking {
	// Only when it is asked for: done after each event it would cost as much as the plan has steps.
	if d.lacksSeq != d.run.LastSeq {
		for i := range min(len(d.run.Steps), len(d.plan.Steps)) {
			d.lacks.See(i, d.stepAt(i))
		}
		d.lacksSeq = d.run.LastSeq
	}
	if d.lacks.IsStale() {
		d.lacks.Take(d.lacks.Finder()())
	}
	return &d.lacks
}

// missingValue is the value for lack of which a step that is still to run will be skipped, or nil.
func (d *knownRun) missingValue(i int) *plan.Missing { return d.lacking().Of(d.position(), i) }
