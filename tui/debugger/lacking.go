package debugger

import (
	"maps"
	"slices"

	"moon/events"
	"moon/plan"
	"moon/plan/bind"
	"moon/tui/status"
)

// Lacking are the steps that will be skipped for lack of a value: a person excludes the step that would give it, or has the run
// continue without it. A front end lets it see the steps, and has them found again when what it saw is new: at once, or in the
// background, where a plan of many thousand steps would otherwise be felt.
type Lacking struct {
	plan  *plan.Plan
	gone  map[int]plan.Absence // the steps that give nothing, by what is decided now
	of    map[int]*plan.Missing
	stale bool
}

// NewLacking knows nothing yet of the run of a plan.
func NewLacking(p *plan.Plan) Lacking {
	return Lacking{plan: p, gone: map[int]plan.Absence{}, stale: true}
}

// See takes in what is known of a step.
func (l *Lacking) See(step int, of *events.Step) {
	why, gone := status.Gone(of)
	// Every event of a step comes here; only another answer makes the search stale.
	if had, was := l.gone[step]; was == gone && had == why {
		return
	}
	l.stale = true
	if gone {
		l.gone[step] = why
	} else {
		delete(l.gone, step)
	}
}

// IsStale reports whether they are to be found again.
func (l *Lacking) IsStale() bool { return l.stale && len(l.plan.Steps) > 0 }

// Finder finds them by what was seen until now. It may run anywhere; what it returns is for Take.
func (l *Lacking) Finder() func() map[int]*plan.Missing {
	// Before it runs: what is seen meanwhile makes it stale again.
	l.stale = false
	p, gone := l.plan, maps.Clone(l.gone)
	return func() map[int]*plan.Missing { return bind.Lacking(p, gone) }
}

// Take keeps what was found. It returns the steps that will be skipped since, and those that no longer will be. Some may have been
// skipped in the meantime.
func (l *Lacking) Take(found map[int]*plan.Missing) (more, fewer []int) {
	before := l.of
	l.of = found
	return newIn(found, before), newIn(before, found)
}

// Of is the value for lack of which a step that is still to run will be skipped, or nil.
func (l *Lacking) Of(at Position, step int) *plan.Missing {
	if !at.Steps.State(step).Pending() {
		return nil
	}
	if lacks := l.plan.Steps[step].Lacks; lacks != nil { // known without looking for it
		return lacks
	}
	return l.of[step]
}

// Count is how many steps that are still to run will be skipped.
func (l *Lacking) Count(at Position) (n int) {
	for i := range l.of {
		if l.Of(at, i) != nil {
			n++
		}
	}
	return n
}

// With predicts Take: which steps would be skipped if some that are still to run were excluded, or no longer would be if they
// were restored.
func (l *Lacking) With(at Position, ranges []events.Range, excluded bool) (more, fewer []int) {
	// A trial only: what is decided stays what it is until the run says so.
	gone := maps.Clone(l.gone)
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			switch {
			case !excluded:
				delete(gone, i)
			case at.Steps.State(i).Pending():
				gone[i] = plan.Exclusion("")
			}
		}
	}
	found := bind.Lacking(l.plan, gone)
	over := func(step int) bool { return !at.Steps.State(step).Pending() }
	return slices.DeleteFunc(newIn(found, l.of), over), slices.DeleteFunc(newIn(l.of, found), over)
}

// newIn are the steps that one has and another has not.
func newIn(one, other map[int]*plan.Missing) (steps []int) {
	for i := range one {
		if _, had := other[i]; !had {
			steps = append(steps, i)
		}
	}
	slices.Sort(steps)
	return steps
}

// LackingWithout are the steps that are still to run and use a result of some steps which, being marked as done, give none.
func LackingWithout(p *plan.Plan, at Position, steps []int) (lacking []int) {
	gone := map[int]plan.Absence{}
	for _, i := range steps {
		gone[i] = plan.Abandoned()
	}
	if len(gone) == 0 {
		return nil
	}
	for i := range bind.Lacking(p, gone) {
		if _, marked := gone[i]; !marked && at.Steps.State(i).Pending() {
			lacking = append(lacking, i)
		}
	}
	slices.Sort(lacking)
	return lacking
}
