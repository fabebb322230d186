package engine

import (
	"context"
	"errors"
	"sync"

	"moon/events"
	"moon/events/fact"
	"moon/plan"
	"moon/plan/bind"
	"moon/plan/source"
	"moon/secret"
)

// What a view asks of a session. Everything here may be called from anywhere: it reads what the loop publishes, under locks
// of its own, and never the state.

// expectations are what a person was shown before the run, by what names a step. They may be used from anywhere.
type expectations struct {
	mu       sync.Mutex // guards what follows
	foretold map[string]*events.Foretold
}

// Expect says what a step was foretold to do, when that was shown to somebody who decides. What it then does otherwise is
// reported as drift.
func (s *expectations) Expect(p *plan.Plan, f *events.Foretold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.foretold[identity(&p.Steps[f.Step])] = f
}

// ExpectNothing takes back all that was foretold.
func (s *expectations) ExpectNothing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.foretold)
}

func (s *expectations) expected(ps *plan.Step) *events.Foretold {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.foretold[identity(ps)]
}

// identity names a step as long as it does the same.
func identity(ps *plan.Step) string { return ps.Path + "\x00" + ps.Host + "\x00" + ps.Digest }

// drift says how the end of an attempt differs from what was foretold.
func (s *attempts) drift(ps *plan.Step, f *fact.AttemptFinished) string {
	foretold := s.expected(ps)
	if foretold == nil || ps.NoLog || s.dry(ps.Index) {
		return ""
	}
	return foretold.Drift(f.Outcome, s.cleanDiff(f.Diff))
}

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
	current := func() bool { return s.results.about(p, s.first.plan) }
	var text string
	err := errReplaced
	if current() {
		if text, err = bind.New(p, step, s.results).Names(&plan.Call{}).Show(expression); !current() { // under its hands
			text, err = "", errReplaced
		}
	}
	if _, waits := errors.AsType[*plan.Missing](err); err == nil || waits {
		return cut(s.secrets.Redact(text), maxShown), err
	}
	return "", errors.New(s.secrets.Redact(err.Error()))
}

// errReplaced is given to who asks about a plan that the run has no more.
var errReplaced = errors.New("the plan has changed")

// StepNow is a step of the plan with the values there are now, for people; see plan.Bound.Now. It may be called from anywhere.
func (s *Session) StepNow(p *plan.Plan, step int) (plan.Step, error) {
	if step < 0 || step >= len(p.Steps) || !s.results.about(p, s.first.plan) {
		return plan.Step{}, errReplaced
	}
	now, err := bind.New(p, step, s.results).Now(s.secrets)
	if !s.results.about(p, s.first.plan) { // under its hands
		return plan.Step{}, errReplaced
	}
	if err != nil {
		err = errors.New(s.secrets.Redact(err.Error()))
	}
	return now, err
}

// Predict says what a step would do if it were started now, with the values there are, and expects it of the step from then on. The
// oracle must be a new one. It may take long, and may be called from anywhere.
func (s *Session) Predict(ctx context.Context, step int, o *Oracle) (*events.Foretold, error) {
	if step < 0 || step >= len(o.Plan.Steps) || !s.results.about(o.Plan, s.first.plan) {
		return nil, errReplaced
	}
	f := o.predict(ctx, step, s.results)
	if !s.results.about(o.Plan, s.first.plan) || ctx.Err() != nil {
		return nil, errReplaced
	}
	*f = secret.Clean(s.secrets, *f)
	s.Expect(o.Plan, f)
	return f, nil
}

// maxShown is how much of a value is shown to people, in bytes.
const maxShown = 64 << 10
