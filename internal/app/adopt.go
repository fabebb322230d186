package app

import (
	"context"
	"time"

	"moon/events"
	"moon/exec/remote"
	"moon/plan"
	"moon/plan/planner/orphans"
	"moon/plan/prior"
	"moon/plan/selector"
)

// Adopt gives what some steps make, for the record: it must be there, and be what they want. The digests of files are still to be found.
func Adopt(call *Invocation, p *plan.Plan, pool *remote.Pool, names []string) (list []prior.Thing, err error) {
	wanted := map[int]bool{}
	for _, text := range names {
		found := selector.Match(p, text)
		if len(found) == 0 {
			message, hint := selector.NoMatch(p, text)
			return nil, Usage("%s\n  hint: %s", message, hint)
		}
		for _, step := range found {
			wanted[step] = true
		}
	}
	ctx, stop := call.Signals.Until(context.Background())
	defer stop()
	predictions := make([]*events.Prediction, len(p.Steps))
	NewPredictor(call.Asker, p, pool, true, false, nil).PredictAll(ctx, func(f *events.Prediction) { predictions[f.Step] = f })
	if ctx.Err() != nil {
		return nil, NewExit(ExitInterrupted, "interrupted; nothing was recorded")
	}
	for step := range p.Steps {
		if !wanted[step] {
			continue
		}
		if err := adoptable(p, step, predictions[step]); err != nil {
			return nil, err
		}
		things := orphans.Adopted(&p.Steps[step])
		if len(things) == 0 {
			return nil, Usage("%s makes nothing that can be adopted: files, directories, links, users, groups, packages and cron jobs can", p.StepRef(step))
		}
		for i := range things {
			things[i].Time = time.Now().UTC()
			things[i].Phase, things[i].Play = p.PhaseOf(step)
		}
		list = append(list, things...)
	}
	return list, nil
}

// adoptable returns an error unless a step is known to find what it wants.
func adoptable(p *plan.Plan, step int, f *events.Prediction) error {
	switch {
	case f == nil || f.Skipped != "":
		return Usage("%s would not run, so it makes nothing", p.StepRef(step))
	case f.Error != "":
		return Usage("%s cannot be looked at: %s", p.StepRef(step), f.Error)
	case f.Diff.Kind == events.ChangeUnknown:
		return Usage("what %s makes cannot be predicted, so it cannot be adopted", p.StepRef(step))
	case f.Changes():
		return Usage("%s would change something (%s): run it, which records what it changes, or make the playbook say what is there", p.StepRef(step),
			f.Diff.Kind)
	}
	return nil
}
