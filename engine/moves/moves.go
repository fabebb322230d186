package moves

import (
	"fmt"
	"slices"
	"strings"

	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// List says how the numbers of steps have changed with each plan that the run got in this process. Commands name steps by number, and a
// front end may be a plan behind when it sends one.
type List []move

type move struct {
	from  string // the digest of the plan before
	steps int    // that it had
	grows bool   // it keeps all of its steps, in their order, and others are added
	added []events.Range
}

// Note takes down that one plan replaces another.
func (m *List) Note(from string, steps int, f *fact.RunReplanned) {
	one := move{from: from, steps: steps, added: f.Added}
	for _, r := range f.Added {
		steps += r.To - r.From
	}
	one.grows = len(f.Expanded) > 0 && steps == f.Total
	*m = append(*m, one)
}

// Why a command is refused whose steps are not what its sender saw.
const (
	planChanged = "the plan has changed since it was on screen; look again"
	planGrown   = "the run has added steps here since it was on screen; look again"
)

// Renumbered is a command that was meant for one plan, with the numbers of another, or why there is none. What has been approved must be
// what was on screen, so an approval with a digest stays as it is, and is refused.
func (m List) Renumbered(c events.Command, from, now string) (events.Command, string) {
	if from == "" || from == now {
		return c, ""
	}
	at := -1
	for i := range m { // the last: other values may have been taken back
		if m[i].from == from {
			at = i
		}
	}
	why := planChanged
	c, ok := events.Renumber(c, func(r events.Range) (events.Range, bool) {
		if at < 0 || slices.ContainsFunc(m[at:], func(one move) bool { return !one.grows }) {
			return r, false
		}
		why = planGrown
		size := r.To - r.From
		for _, one := range m[at:] {
			r = events.Range{From: one.now(r.From), To: one.now(max(r.To-1, r.From)) + min(size, 1)}
		}
		return r, r.To-r.From == size
	})
	if !ok {
		return nil, why
	}
	return c, ""
}

// Ambiguous says why a selector without a plan is refused: it is a number that was that of another step before the run added some, and
// it is unknown which of the two its sender has seen.
func (m List) Ambiguous(p *plan.Plan, selector string) string {
	id, _, _ := strings.Cut(selector, " ") // of a breakpoint with a condition
	step := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.ID() == id })
	if step < 0 || !slices.ContainsFunc(m, func(one move) bool { return step < one.steps && one.now(step) != step }) {
		return ""
	}
	return fmt.Sprintf("%s was another step before the run added some; for «%s» write its path, %s",
		id, p.Steps[step].Label(p.Steps[step].Title()), p.Steps[step].Path)
}

// now is the number that a step of the plan before has.
func (m *move) now(step int) int {
	for _, r := range m.added {
		if r.From > step {
			break
		}
		step += r.To - r.From
	}
	return step
}
