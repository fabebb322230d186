package engine

import (
	"context"

	"moon/engine/compact"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/process"
	"moon/plan"
	"moon/plan/bind"
)

// drift is what became of an attempt that is held to a prediction.
type drift struct {
	end      *report  // the attempt is not made, and ends with this; nil: it is made
	warnings []string // what differs, and is the run's own doing
}

// holdTo gives what a worker calls just before an attempt: it predicts the step again, and compares that with what was predicted when the
// plan was saved. The prediction is made of the job itself, by the same dry run as any other.
func (s *attempts) holdTo(b *bind.Bound, call *plan.Call, number int, job *exec.Job) func(context.Context) drift {
	ps := b.Step
	if !s.held.On() || s.dry(ps.Index) || exec.Inward(ps.Action) {
		return func(context.Context) drift { return drift{} }
	}
	held, unforeseen := s.held.Hold(ps)
	if unforeseen { // the others that nothing holds were named before the run
		s.add(fact.Warned{Step: ps.Index, Message: "runs without a prediction to hold it to: it was not part of what was predicted"})
	}
	if held == nil {
		return func(context.Context) drift { return drift{} }
	}
	// All that belongs to the loop is taken down here; the rest is done in the worker.
	p, rescued := s.state.Plan(), s.state.HasRescue(ps.Index)
	look := *job
	names := b.Names(call)
	look.Output, look.Attempt, look.Interactive, look.Names = nil, "", false, names
	return func(ctx context.Context) drift {
		within, done := (*process.Asker)(nil).Within(ctx, "the prediction of "+p.After([]int{ps.Index}))
		defer done()
		from := s.cfg.Now()
		r := dryResult(within, s.cfg.Dry, p, &look, names)
		to := s.cfg.Now()
		now := events.Prediction{Step: ps.Index}
		read(&now, ps, &r)
		switch {
		case ctx.Err() != nil: // the attempt is stopped, and says so itself
			return drift{}
		case within.Err() != nil:
			now = events.Prediction{Step: ps.Index, Diff: unpredicted((*process.Asker)(nil).TooSlow())}
		}
		now = clean(s.secrets, now)
		would, text := held.Judge(&now, from, to)
		switch {
		case would == nil && text == "":
			return drift{}
		case would == nil:
			return drift{warnings: []string{text}}
		}
		f := fact.AttemptFinished{
			Step: ps.Index, Attempt: number, Outcome: events.Failed, Class: fault.Drift, Would: would, Error: compact.Cut(text, compact.MaxError),
		}
		end := report{AttemptFinished: f}
		if ps.Register != "" || ps.Keeps || rescued {
			end.registered = plan.Result{Failed: true, Message: f.Error, Attempts: number, Dialect: p.Dialect}.Registered()
			end.Registered = end.registered
		}
		return drift{end: &end}
	}
}
