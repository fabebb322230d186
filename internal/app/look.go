package app

import (
	"context"

	"moon/events"
	"moon/exec/remote"
	"moon/plan"
	"moon/plan/prior"
)

// Presence is what is there now of something that is recorded.
type Presence string

// The presences. What moon cannot remove it cannot look for either.
const (
	IsThere   Presence = "is"
	IsGone    Presence = "gone"
	IsEdited  Presence = "edited"
	IsUnknown Presence = "unknown"
)

// Found is what was found of a thing.
type Found struct {
	Now    Presence
	Why    string
	Digest string // of one that was edited: of what it holds now
}

// LookAround asks the machines what is there now of what is recorded: what would be done to remove it says so. The plan is one that removes
// everything.
func LookAround(call *Invocation, p *plan.Plan, pool *remote.Pool, connect bool) (map[prior.Key]Found, error) {
	ctx, stop := call.Signals.Until(context.Background())
	defer stop()
	now := map[prior.Key]Found{}
	for i := range p.Orphans {
		o := &p.Orphans[i]
		for _, k := range o.Keys {
			now[k] = Found{Now: IsUnknown, Why: o.Why}
		}
	}
	for i := range p.Steps {
		if p.Steps[i].Orphan == 0 {
			continue
		}
		// Each for itself: what one removal would take along does not make another gone. What later steps have put into a file is taken
		// out first, as it is when everything is removed: the file is compared with what it was before.
		of := p.Orphans[p.Steps[i].Orphan-1].Thing
		predictor := NewPredictor(call.Asker, p, pool, connect, false, func(step int) bool {
			o := p.Steps[step].Orphan
			return step != i && (o == 0 || !p.Orphans[o-1].Thing.PartOf(&of))
		})
		predictor.PredictAll(ctx, func(at *events.Prediction) {
			if at.Step == i {
				now[p.Orphans[p.Steps[i].Orphan-1].Thing.Key()] = foundBy(at)
			}
		})
	}
	if ctx.Err() != nil {
		return nil, NewExit(ExitInterrupted, "interrupted")
	}
	return now, nil
}

// foundBy says what a prediction of its removal tells of a thing.
func foundBy(at *events.Prediction) Found {
	switch {
	case at.Away, at.Diff.Kind == events.ChangeUnknown && at.Error == "" && at.Skipped == "":
		return Found{Now: IsUnknown, Why: plan.FirstLine(at.Error)}
	case at.Error != "":
		return Found{Now: IsEdited, Why: plan.FirstLine(at.Error), Digest: at.Found}
	case at.Skipped != "": // as a directory that is not empty
		return Found{Now: IsThere, Why: at.Skipped}
	case at.Diff.Kind == events.ChangeNone:
		return Found{Now: IsGone}
	}
	return Found{Now: IsThere}
}

// DriftOf says of steps that have made things in earlier runs, and would change something, why. now looks at the machines; it is called
// only if the playbook has changed.
func DriftOf(p *plan.Plan, state *prior.State, all []*events.Prediction, now func() (map[prior.Key]Found, error)) error {
	if state == nil {
		return nil
	}
	made := map[string][]*prior.Thing{}
	for i := range state.Things {
		t := &state.Things[i]
		for _, step := range t.By() {
			made[step] = append(made[step], t)
		}
	}
	var found map[prior.Key]Found
	for i, f := range all {
		s := &p.Steps[i]
		if f == nil || !f.Changes() || s.Orphan > 0 || len(made[s.Path]) == 0 {
			continue
		}
		if state.Definitions[s.Path] == s.Digest {
			f.Cause = events.Drifted
			continue
		}
		f.Cause = events.Edited
		if found == nil {
			var err error
			if found, err = now(); err != nil {
				return err
			}
		}
		for _, t := range made[s.Path] {
			if is := found[t.Key()].Now; is == IsGone || is == IsEdited {
				f.Cause = events.DriftedEdited
			}
		}
	}
	return nil
}
