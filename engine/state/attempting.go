package state

import (
	"container/heap"

	"moon/events"
	"moon/events/fact"
	"moon/exec/fault"
)

// attempting takes what is reported of a step whose turn it is: its condition, its attempts, the answer to its question.
type attempting struct{ *flow }

func (s *flow) attempting() attempting { return attempting{s} }

// transientRetries is how often a step is tried again that does not say so itself, when what failed may pass: a busy file,
// no process to be had. It has then done nothing yet.
const transientRetries = 3

func (s attempting) condition(f fact.CondEvaluated) {
	n := s.node(f.Step)
	if f.Holds {
		// It was taken out of the queue for the evaluation, and has its place there again.
		n.decided = true
		heap.Push(&s.ready, s.id(f.Step))
		return
	}
	s.settle(s.id(f.Step), events.Skipped, -1, func() {
		s.publish(f.Step, events.StepSkipped{Name: s.name(f.Step), Reason: events.SkipWhen, Detail: f.Text})
	})
	s.resolve()
}

func (s attempting) attemptStarted(f fact.AttemptStarted) {
	id := s.id(f.Step)
	n := &s.nodes[id]
	n.state, n.attempt, n.solo = running, int32(f.Attempt), false
	s.spendConfirmation(f.Step)
	s.names[f.Step], s.outs[f.Step] = f.Name, f.Out
	if f.Job != "" {
		s.jobs[f.Step] = f.Job
	}
	// The time of the first attempt stays, so that a step that is retried shows how long it took as a whole.
	ran := s.began[f.Step]
	if ran.From.IsZero() {
		ran.From = s.now
	}
	ran.Command = f.Command
	s.began[f.Step] = ran
	delete(s.delayed, id)
	delete(s.queued, id)
	s.solo = remove(s.solo, id)
	s.active++
	s.take(id, +1)
	s.spend(n)
	s.beginLimits(f.Step)
	step := &s.plan.Steps[f.Step]
	// A retry by a person has announced the step already.
	if !n.announced {
		n.announced = true
		s.publish(f.Step, events.StepStarted{
			Name: f.Name, Action: step.Action, Tags: orEmpty(step.Tags), Command: f.Command, Out: f.Out,
			Real: s.opts.Check && step.DefiesDryRun(),
		})
	} else {
		s.publish(f.Step, events.AttemptStarted{Attempt: f.Attempt})
	}
}

func (s attempting) retryScheduled(f fact.RetryScheduled) {
	id := s.id(f.Step)
	n := &s.nodes[id]
	s.again = remove(s.again, id)
	n.state = backoff
	s.delayed[id] = f.Due
	s.publish(f.Step, events.StepRetrying{Attempt: f.Attempt, Due: f.Due, Error: f.Error, Out: f.Out})
}

// readsChanged holds a step back that was about to start: what was approved was another.
func (s attempting) readsChanged(f fact.ReadsChanged) {
	id := s.id(f.Step)
	s.nodes[id].solo, s.nodes[id].asked = false, false
	s.solo = remove(s.solo, id)
	heap.Push(&s.ready, id)
	s.choices[f.Step] &^= approved | confirmed
	delete(s.confirmers, f.Step)
	unapprove := events.Withdraw{Range: events.Range{From: f.Step, To: f.Step + 1}}
	s.publish(-1, events.CommandAccepted{Order: events.Order{Actor: "moon", Command: unapprove}})
	s.publish(f.Step, events.Warning{Message: f.Message})
	s.setPause(fact.RunPaused{Reason: events.PauseUndecided, Step: f.Step, Message: f.Message})
}

func (s attempting) gateOpened(f fact.GateOpened) {
	n := s.node(f.Step)
	n.state, n.solo = waiting, false
	s.solo = remove(s.solo, s.id(f.Step))
	s.spend(n)
	s.open++
	s.publish(f.Step, events.GateOpened{Reason: events.PauseUser, Message: f.Message})
}

func (s attempting) gateResolved(f fact.GateResolved) {
	s.open--
	s.publish(f.Step, events.GateResolved{By: f.By, Reject: f.Reject})
	// A rejection counts as a failure, so that a rescue or the stop policy has its effect.
	if f.Reject {
		s.fail(f.Step, events.Rejected, false)
		s.publish(f.Step, events.StepFailed{Name: s.name(f.Step), Error: "rejected", Rescued: s.graph.Nodes[s.id(f.Step)].Rescued})
		return
	}
	s.ends[f.Step] = &ending{outcome: events.OK, digest: s.plan.Steps[f.Step].Digest, name: s.name(f.Step)}
	s.settle(s.id(f.Step), events.OK, -1, func() {
		s.publish(f.Step, events.StepCompleted{Name: s.name(f.Step), Result: map[string]any{}})
	})
}

// attemptFinished decides what the end of an attempt means: done, another attempt, a person's decision, or a failure.
func (s attempting) attemptFinished(f fact.AttemptFinished) {
	id := s.id(f.Step)
	n := &s.nodes[id]
	// An attempt that never started holds no slot.
	if !f.Unstarted {
		s.active--
		s.take(id, -1)
		s.unblock(id)
	}
	if f.Outcome != events.Lost && f.Outcome != events.Unreachable { // else the job may continue
		delete(s.jobs, f.Step)
	}
	for _, w := range f.Warnings {
		s.publish(f.Step, events.Warning{Message: w})
	}
	if f.Message != "" {
		s.publish(f.Step, events.PrintMessage{Message: f.Message})
	}
	bad := events.Bad.Has(f.Outcome)
	late := s.isLate(f.Step)
	if late && bad && !f.Ignored {
		s.blameLate(f.Step)
	}
	// Attempts under an earlier plan do not count against the limit of this one.
	if f.Again && bad && int(n.attempt)-len(s.tried[f.Step])+s.counted[f.Step] <= s.retries(f) && !s.halting && !late {
		n.state = again
		s.again = append(s.again, id)
		// Kept for the case that the run stops before the next attempt: then this error is the end of the step.
		s.remember(f)
		return
	}
	s.variables(f)
	s.ends[f.Step] = &ending{
		outcome: f.Outcome, digest: s.plan.Steps[f.Step].Digest, ignored: f.Ignored, reason: f.Reason, detail: f.Detail,
		name: s.started(f.Step), out: s.outs[f.Step], err: f.Error, rc: f.RC, diff: f.Diff, drift: f.Drift,
		drifted: f.Class == fault.Drift,
		changed: f.Touched, stale: f.Stale, names: f.Notified,
		// A dry run that cannot know the list says so with a diff.
		found: s.plan.Steps[f.Step].Open() && f.Outcome == events.OK && f.Diff == nil,
		ran:   events.Ran{From: s.began[f.Step].From, To: s.now, Command: s.began[f.Step].Command, Message: f.Message},
	}
	delete(s.began, f.Step)
	defer func() { delete(s.names, f.Step); delete(s.outs, f.Step) }()
	if f.Open && f.Outcome == events.OK { // a dry run: what waits for a change may run, and is shown
		n.effective = events.Changed
	}
	switch f.Outcome {
	case events.OK, events.Changed:
		s.settle(id, f.Outcome, -1, func() {
			s.publish(f.Step, events.StepCompleted{
				Name: s.started(f.Step), Changed: f.Outcome == events.Changed, Result: s.resultOf(f), Diff: f.Diff, Drift: f.Drift,
				Resources: f.Resources, MayChange: f.Open,
			})
			if f.Outcome == events.Changed || f.Open || len(f.Notified) > 0 {
				s.notify(f.Step)
			}
		})
	case events.Skipped:
		s.settle(id, f.Outcome, -1, func() {
			s.publish(f.Step, events.StepSkipped{Name: s.started(f.Step), Reason: f.Reason, Detail: f.Detail})
		})
	case events.Cancelled:
		s.settle(id, f.Outcome, -1, func() { s.publish(f.Step, events.StepCancelled{Name: s.started(f.Step)}) })
	default:
		open := s.opts.BreakOnFailure && !f.Ignored && !s.halting
		if f.Outcome == events.Lost {
			s.publish(f.Step, events.StepLost{
				Name: s.started(f.Step), Error: f.Error, Ignored: f.Ignored,
				Rescued: s.rescues(id, f.Outcome), Open: open,
			})
		} else {
			s.publish(f.Step, events.StepFailed{
				Name: s.started(f.Step), Error: f.Error, RC: f.RC, Timeout: f.Outcome == events.Timeout,
				Unreachable: f.Outcome == events.Unreachable, Ignored: f.Ignored,
				Rescued: s.rescues(id, f.Outcome), Result: s.resultOf(f), Open: open, Drifted: f.Class == fault.Drift,
			})
		}
		if open {
			n.state, n.outcome, n.asked = failed, f.Outcome, false
			s.held = append(s.held, f.Step)
			return
		}
		s.fail(f.Step, f.Outcome, f.Ignored)
	}
}

// retries is how many attempts may follow the first after this failure.
func (s attempting) retries(f fact.AttemptFinished) int {
	own := s.plan.Steps[f.Step].Retry.Max
	if own == 0 && f.Class == fault.Transient {
		return transientRetries
	}
	return own
}
