package engine

import (
	"context"
	"errors"

	"moon/engine/compact"
	"moon/engine/durations"
	"moon/events"
	"moon/plan"
	"moon/plan/bind"
	"moon/plan/source"
)

// What a view asks of a session. Everything here may be called from anywhere: it reads what the loop publishes, under locks
// of its own, and never the state.

// Reads is what a plan that is made again for this run takes what its steps read for: see plan.Options.Reads.
func (s *steering) Reads() func(now *source.Source) *source.Source {
	return s.ours.adopt(s.current.Load())
}

// Overrides are those of the plan that the run has now.
func (s *steering) Overrides() []plan.Override { return s.current.Load().Overrides() }

// Eval evaluates an expression for people, with the values a step of the plan would find now. It may take long, and may be
// called from anywhere.
func (s *Session) Eval(p *plan.Plan, step int, expression string) (string, error) {
	if step < 0 || step >= len(p.Steps) {
		return "", errors.New("there is no such step")
	}
	results := s.shown.Load()
	current := func() bool { return s.shown.Load().about(p, s.first.plan) }
	var text string
	err := errReplaced
	if current() {
		if text, err = bind.New(p, step, results).Names(&plan.Call{}).Show(expression); !current() { // under its hands
			text, err = "", errReplaced
		}
	}
	if _, waits := errors.AsType[*plan.Missing](err); err == nil || waits {
		return compact.Cut(s.secrets.Redact(text), maxShown), err
	}
	return "", errors.New(s.secrets.Redact(err.Error()))
}

// errReplaced is given to who asks about a plan that the run has no more.
var errReplaced = errors.New("the plan has changed")

// StepNow is a step of the plan with the values there are now, for people; see plan.Bound.Now. It may be called from anywhere.
func (s *Session) StepNow(p *plan.Plan, step int) (plan.Step, error) {
	results := s.shown.Load()
	if step < 0 || step >= len(p.Steps) || !results.about(p, s.first.plan) {
		return plan.Step{}, errReplaced
	}
	now, err := bind.New(p, step, results).Now(s.secrets)
	if !s.shown.Load().about(p, s.first.plan) { // under its hands
		return plan.Step{}, errReplaced
	}
	if err != nil {
		err = errors.New(s.secrets.Redact(err.Error()))
	}
	return now, err
}

// Predict says what a step would do if it were started now, with the values there are, and expects it of the step from then on. The
// predictor must be a new one. It may take long, and may be called from anywhere.
func (s *Session) Predict(ctx context.Context, step int, o *Predictor) (*events.Prediction, error) {
	results := s.shown.Load()
	if step < 0 || step >= len(o.Plan.Steps) || !results.about(o.Plan, s.first.plan) {
		return nil, errReplaced
	}
	f := o.predict(ctx, step, results)
	if !s.shown.Load().about(o.Plan, s.first.plan) || ctx.Err() != nil {
		return nil, errReplaced
	}
	*f = clean(s.secrets, *f)
	s.Expect(o.Plan, f)
	return f, nil
}

// maxShown is how much of a value is shown to people, in bytes.
const maxShown = 64 << 10

// Forecast is how long a plan of this run may take, by the runs before it; nil where nothing is known of it, or the run is
// dry, and takes another time.
func (s *Session) Forecast(digest string) *events.Forecast {
	p, ok := s.planned(digest)
	if !ok || s.cfg.Options.Check {
		return nil
	}
	return durations.Forecast(p.plan, p.graph, s.usual, s.lately, s.cfg.Options.Forks)
}
