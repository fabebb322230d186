package engine

import (
	"fmt"
	"sync/atomic"

	"moon/engine/durations"
	"moon/engine/graph"
	"moon/engine/statefile"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// observer keeps what follows from the events of the run: results, what steps made, how long they took.
type observer struct {
	ledger
	results *results
	shown   atomic.Pointer[results] // the same, for those who ask from anywhere

	unanswered map[string]bool // paths of steps that were asked while planning, and may have ended otherwise than with a result

	unrecordable bool // it was said that the playbook's state cannot be written

	timing *durations.Stopwatch
	usual  durations.Steps // of earlier runs
	lately durations.Lasts // of the last of them
}

// observe keeps the results that follow from the state alone: a skipped step has one, whatever it was skipped by. It also
// measures how long steps take.
func (s *observer) observe(step int, e events.Event) {
	at, mono := s.state.Time()
	s.timing.See(s.state.Plan(), step, e, mono, at, step >= 0 && s.dry(step))
	s.noteAsked(step)
	switch e := e.(type) { //nolint:gochecksumtype // nothing is kept of the others
	case events.StepSkipped:
		s.results.decided(step, true)
		s.results.fail(step, false)
		if (e.Reason == events.SkipAction || e.Reason == events.SkipPlugin) && s.results.saysSkipped(step) {
			break
		}
		if ps := &s.state.Plan().Steps[step]; ps.Register != "" || ps.Keeps {
			condition := ""
			if e.Reason == events.SkipWhen {
				condition = e.Detail
			}
			if r, ok := s.state.Plan().SkippedResult(s.excludes(step, e), condition); ok {
				s.results.set(step, r, nil, false)
			}
		}
		s.results.miss(step, s.skippedBy(step, e))
	case events.StepCompleted:
		s.results.decided(step, false)
		s.results.fail(step, false)
	case events.StepOmitted:
		s.results.omit(step, s.state.Plan().NotReached())
	case events.StepCancelled:
		s.results.miss(step, plan.Absence{How: "was cancelled", Spreads: true})
	case events.StepFailed:
		s.results.fail(step, !e.Ignored && !e.Rescued)
		s.results.miss(step, plan.Absence{How: "failed"})
	case events.StepLost:
		s.results.fail(step, !e.Rescued)
		s.results.miss(step, plan.Absence{How: "was lost"})
	case events.StepRetrying:
		s.results.fail(step, false)
	}
}

// record adds to the playbook's state what was made since the last time. A run that cannot is none the worse, and says so.
func (s *observer) record() {
	if s.fatal != nil {
		return
	}
	if err := s.prior.Flush(s.state.Plan()); err != nil && !s.unrecordable {
		s.unrecordable = true
		s.add(fact.Warned{Step: -1, Message: fmt.Sprintf("what the steps made is not recorded: %s", err)})
		if why := statefile.Apart(err); why != nil { // the journal has what was made, and a resume records it
			s.retire(why)
		}
	}
}

// excludes reports whether a step was skipped because a person excludes it, and not one that has failed.
func (s *observer) excludes(step int, e events.StepSkipped) bool {
	return e.Reason == events.SkipTags || e.Reason == events.SkipUser && s.state.Attempt(step) == 0
}

// skippedBy says why a skipped step has given nothing. What a person leaves out takes along what needs it; a step whose own condition
// does not hold has a result that says so, and who asks it for more has made a mistake.
func (s *observer) skippedBy(step int, e events.StepSkipped) plan.Absence {
	switch {
	case e.Reason == events.SkipTags:
		return plan.Exclusion(plan.ByTags)
	case e.Reason == events.SkipUser && s.state.Attempt(step) > 0:
		return plan.Abandoned()
	case e.Reason == events.SkipUser:
		return plan.Exclusion(e.Detail)
	case e.Reason == events.SkipNeeds:
		return plan.Absence{How: "was skipped", Spreads: true}
	case e.Detail != "":
		return plan.Absence{How: fmt.Sprintf("was skipped (%s: %s)", e.Reason, e.Detail)}
	}
	return plan.Absence{How: fmt.Sprintf("was skipped (%s)", e.Reason)}
}

// noteAsked takes down that something has become of a step which was asked while planning: if it has ended, the loop looks how.
func (s *observer) noteAsked(step int) {
	if f, asked := s.state.Plan().Found(step); asked {
		s.unanswered[f.Path] = true
	}
}

// loadDurations reads how long the steps took in earlier runs.
func (s *observer) loadDurations(p *plan.Plan) {
	s.usual, s.lately = durations.Read(s.cfg.Durations, p)
	s.state.Prefer(func(p *plan.Plan, g *graph.Graph) []int64 { return durations.Ranks(p, g, s.usual) })
}

// keepDurations remembers, right before the run's last record, what its steps took. A run that cannot is none the worse.
func (s *observer) keepDurations() {
	if s.cfg.Durations == "" || s.state.Options().Check || s.trouble != nil || s.timing.IsEmpty() {
		return
	}
	if err := durations.Write(s.cfg.Durations, s.state.Plan(), s.timing); err != nil {
		s.add(fact.Warned{Step: -1, Message: fmt.Sprintf("how long the steps took is not remembered: %s", err)})
	}
}
