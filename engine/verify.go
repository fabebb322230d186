package engine

import (
	"fmt"
	"strings"

	"moon/engine/compact"
	"moon/engine/pinned"
	"moon/events"
	"moon/events/fact"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/plan"
	"moon/plan/bind"
	"moon/plan/source"
)

// verified is what a step reads on this machine, compared with what it was when the plan was made.
type verified struct {
	from     fsys.Files      // what the step is to read from; nil: anything
	changed  []source.Change // from outside; then the step must not start
	accepted []string        // what steps of this run have changed
}

// verify compares what a step reads. Nothing has happened yet.
func (s *attempts) verify(ps *plan.Step) (v verified) {
	if len(ps.Reads) == 0 || s.dry(ps.Index) {
		return v
	}
	p := s.state.Plan()
	files := pinned.New()
	for _, r := range ps.Reads {
		if r.Digest == "" {
			// Without a digest there is nothing that could have changed.
			continue // it was not there: an earlier step makes it
		}
		now, err := source.Look(r.Path, r.Parts)
		if err != nil {
			v.changed = append(v.changed, source.Change{Path: r.Path, How: "cannot be read any more"})
			continue
		}
		changes := r.Changes(now)
		by, own := s.ours.all(changes)
		text, saved := p.Saved(r.Path)
		switch {
		case len(changes) == 0:
		case own:
			p.Renew(r.Path)
			v.accepted = append(v.accepted, fmt.Sprintf("%s since the plan was made, while %s ran", s.inWords(changes), s.stepAt(by)))
		case saved:
			files.TakeSaved(r.Path, text)
			continue
		default:
			v.changed = append(v.changed, changes...)
			continue
		}
		files.Pin(now)
	}
	v.from = files
	return v
}

// stepAt names the step with a path.
func (s *attempts) stepAt(path string) string {
	if i := s.state.Plan().IndexOfPath(path); i >= 0 {
		return s.state.Plan().After([]int{i})
	}
	return "a step of this run"
}

// inWords says what has changed, and no more than can be read.
func (s *attempts) inWords(changes []source.Change) string {
	c := changes[0]
	c.Path = s.state.Plan().Shown(c.Path)
	if len(changes) == 1 {
		return c.String()
	}
	return fmt.Sprintf("%s, with %s,", c, plan.CountOf(len(changes)-1, "other"))
}

// outdated deals with a step whose files have changed from outside. Under review it waits to be approved again, as it is now; without
// anybody to ask, it fails before it has done anything.
func (s *attempts) outdated(b *bind.Bound, step, number int, changes []source.Change) {
	// Under review a person can look again. Headless there is no one to ask, and nothing has happened yet.
	what := s.inWords(changes)
	if s.state.AsksAgain(step) {
		s.add(fact.ReadsChanged{
			Step:    step,
			Message: strings.TrimSuffix(what, ",") + " since it was approved; approve it again, as it is now",
		})
		s.stale = true
		return
	}
	s.add(fact.AttemptStarted{Step: step, Attempt: number, Name: compact.Title(b.Step.Title()), Out: s.state.OutName(step, number)})
	f := fact.AttemptFinished{
		Step: step, Attempt: number, Outcome: events.Failed, Class: fault.Fatal,
		Error: what + " since the plan was approved; put it back, or plan again",
	}
	r := report{AttemptFinished: f}
	if b.Step.Register != "" || b.Step.Keeps || s.broken(f) {
		r.registered = plan.Result{Failed: true, Message: f.Error, Attempts: number, Dialect: s.state.Plan().Dialect}.Registered()
		r.Registered = r.registered
	}
	s.pack(&r, b.Step, nil)
	s.finished(r)
}
