package history

import (
	"errors"
	"io"

	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
	"moon/events/rundir"
	"moon/exec/fault"
)

// Outline gives the events that follow from a run's journal alone, where its plans are not known: what ran, how it
// ended, and who asked for what. What follows from the plan is missing: places, steps that were never reached, and
// what became of a step under an edited plan.
func Outline(past Past) ([]events.Record, error) {
	r, err := journal.Open(rundir.Journal(past.Dir))
	if err != nil {
		return nil, err
	}
	o := outline{past: past, attempts: map[int]fact.AttemptStarted{}}
	for err == nil {
		var rec fact.Record
		if rec, err = r.Next(); err == nil {
			o.current = rec
			o.take(rec.Fact)
		}
	}
	var damaged *journal.DamageError
	if errors.Is(err, io.EOF) || errors.As(err, &damaged) {
		err = nil // the past says so
	}
	return o.records, errors.Join(err, r.Close())
}

type outline struct {
	past     Past
	current  fact.Record
	run      events.Run // for the counts
	attempts map[int]fact.AttemptStarted
	records  []events.Record
	exported fact.RunExported
	bare     bool // only the clock is of interest
}

func (o *outline) publish(step int, e events.Event) {
	r := events.Record{
		Seq: uint64(len(o.records) + 1), Run: o.past.ID, Time: o.current.At, Mono: o.current.Mono, Step: step, Event: e,
	}
	if o.bare {
		o.run.Clock.See(r)
		return
	}
	o.run.Apply(r)
	o.records = append(o.records, r)
}

// waits tells the clock of a review, which no fact does.
func (o *outline) waits(review bool) {
	if review {
		o.run.Clock.See(events.Record{
			Time: o.current.At, Mono: o.current.Mono, Step: -1,
			Event: events.RunPaused{Reason: events.PauseReview},
		})
	}
}

func (o *outline) take(f fact.Fact) {
	switch f := f.(type) {
	case fact.RunCreated:
		o.publish(-1, events.RunStarted{
			TotalSteps: f.Total, Playbook: f.Playbook, Moon: f.Moon, Check: f.Options.Check, Forks: f.Options.Forks,
		})
		o.publish(-1, events.PlanLoaded{TotalSteps: f.Total, Digest: f.Digest, Generation: 1})
		o.waits(f.Options.Review)
	case fact.RunReplanned:
		o.publish(-1, events.PlanLoaded{TotalSteps: f.Total, Digest: f.Digest, Generation: f.Generation})
	case fact.RunResumed:
		o.run.Clock.Continue(o.current.At, o.current.Mono)
		// With the same plan the steps are the same, and those that are run again say so themselves.
		// With another plan the numbers mean other steps, and views must drop what they have.
		if f.Digest != o.run.Digest {
			o.publish(-1, events.PlanLoaded{TotalSteps: f.Total, Digest: f.Digest, Generation: f.Generation})
		}
		o.waits(f.Options.Review)
		for _, l := range f.Lost {
			switch name := o.attempts[l.Step].Name; l.As {
			case fact.LostOK:
				o.publish(l.Step, events.StepCompleted{Name: name, Kept: true, Result: map[string]any{}})
			case fact.LostFail:
				lost := events.StepLost{Name: name}
				if l.Step < len(o.run.Steps) && o.run.Steps[l.Step].Outcome == events.Lost {
					lost.Error = o.run.Steps[l.Step].Error
				}
				o.publish(l.Step, lost)
			case fact.LostRetry: // it will start
			}
		}
	case fact.RunPaused:
		o.publish(f.Step, events.RunPaused{Reason: f.Reason, Message: f.Message})
	case fact.RunExported:
		o.exported = f
	case fact.RunFinished:
		// Ends of earlier processes are not the end of the run.
		if o.current.Seq > o.past.Resumed {
			end := o.run.Summary()
			end.Outcome, end.Success = f.Outcome, f.Outcome == events.RunDone
			end.Exports, end.Error = o.exportedBy(f.Outcome)
			o.run.Clock.Stop(o.current.At, o.current.Mono)
			end.Spent(&o.run.Clock.Times)
			o.publish(-1, end)
		}
	case fact.CondEvaluated:
		if !f.Holds {
			o.publish(f.Step, events.StepSkipped{Reason: events.SkipWhen, Detail: f.Text})
		}
	case fact.ValuesMissing:
		if f.Skips {
			o.publish(f.Step, events.StepSkipped{Reason: events.SkipNeeds, Detail: f.Detail})
			break
		}
		o.publish(f.Step, events.StepOmitted{Reason: f.Detail})
	case fact.AttemptStarted:
		o.exported = fact.RunExported{}
		o.started(f)
	case fact.AttemptFinished:
		o.finished(f)
	case fact.GateOpened:
		o.publish(f.Step, events.GateOpened{Reason: events.PauseUser, Message: f.Message})
	case fact.GateResolved:
		o.publish(f.Step, events.GateResolved{By: f.By, Reject: f.Reject})
	case fact.Warned:
		o.publish(f.Step, events.Warning{Message: f.Message})
	case fact.Commanded:
		o.publish(-1, events.CommandAccepted{Order: f.Order})
		switch f.Order.Command.(type) {
		// No fact says that a paused run continues; the commands that make it do.
		case events.Continue, events.Advance, events.Stop:
			o.publish(-1, events.RunResumed{})
		default:
		}
	case fact.Refused:
		o.publish(-1, events.CommandRejected{Order: f.Order, Reason: f.Reason})
	case fact.ReadsChanged:
		o.publish(f.Step, events.Warning{Message: f.Message})
	case fact.RunStarted, fact.RunExpects, fact.AttemptStopping, fact.RetryScheduled, fact.BreakProbed, fact.ScopeTimedOut:
	}
}

// exportedBy is what a run has exported that ended so, or why it failed although no step did.
func (o *outline) exportedBy(end events.RunOutcome) (values map[string]any, why string) {
	switch end {
	case events.RunDone:
		return o.exported.Values, ""
	case events.RunFailed:
		return nil, o.exported.Error
	case events.RunStopped, events.RunInterrupted:
	}
	return nil, ""
}

func (o *outline) started(f fact.AttemptStarted) {
	o.attempts[f.Step] = f
	if f.Attempt == 1 {
		o.publish(f.Step, events.StepStarted{Name: f.Name, Tags: []string{}, Command: f.Command, Out: f.Out})
		return
	}
	o.publish(f.Step, events.StepRetrying{Attempt: f.Attempt, Due: o.current.At, Out: f.Out})
	o.publish(f.Step, events.AttemptStarted{Attempt: f.Attempt})
}

func (o *outline) finished(f fact.AttemptFinished) {
	name := o.attempts[f.Step].Name
	if f.Message != "" {
		o.publish(f.Step, events.PrintMessage{Message: f.Message})
	}
	result := map[string]any{}
	if f.RC != nil {
		result["rc"] = *f.RC
	}
	switch f.Outcome {
	case events.OK, events.Changed:
		o.publish(f.Step, events.StepCompleted{
			Name: name, Changed: f.Outcome == events.Changed, Result: result, Diff: f.Diff,
			Drift: f.Drift, Resources: f.Resources,
		})
	case events.Skipped:
		o.publish(f.Step, events.StepSkipped{Name: name, Reason: f.Reason, Detail: f.Detail})
	case events.Cancelled:
		o.publish(f.Step, events.StepCancelled{Name: name})
	case events.Lost:
		o.publish(f.Step, events.StepLost{Name: name, Error: f.Error, Ignored: f.Ignored})
	default:
		o.publish(f.Step, events.StepFailed{
			Name: name, Error: f.Error, RC: f.RC, Timeout: f.Outcome == events.Timeout, Unreachable: f.Outcome == events.Unreachable,
			Ignored: f.Ignored, Result: result, Drifted: f.Class == fault.Drift,
		})
	}
}
