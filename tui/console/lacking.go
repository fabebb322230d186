package console

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/plan/bind"
	"moon/tui/status"
)

// lacking are the steps that will be skipped for lack of a value, as they were found last, for which decisions.
type lacking struct {
	plan *plan.Plan
	seq  uint64 // of the last event that was looked at
	gone map[int]plan.Absence
	of   map[int]*plan.Missing
}

// lacking are the steps that will be skipped for lack of a value, each with the value, by what is decided now.
func (d *knownRun) lacking() map[int]*plan.Missing {
	if l := &d.lack; l.plan != d.plan || l.of == nil || l.seq != d.run.LastSeq {
		gone := d.gone()
		if l.plan != d.plan || l.of == nil || !maps.Equal(l.gone, gone) {
			*l = lacking{plan: d.plan, gone: gone, of: bind.Lacking(d.plan, gone)}
		}
		l.seq = d.run.LastSeq
	}
	return d.lack.of
}

// gone are the steps that give nothing, by what is decided now.
func (d *knownRun) gone() map[int]plan.Absence {
	gone := map[int]plan.Absence{}
	for i := range min(len(d.run.Steps), len(d.plan.Steps)) {
		if why, ok := status.Gone(d.of(i)); ok {
			gone[i] = why
		}
	}
	return gone
}

// lackingWith is lacking as it will be when some more steps are excluded, or taken in again.
func (d *knownRun) lackingWith(ranges []events.Range, excluded bool) map[int]*plan.Missing {
	gone := d.gone()
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			switch {
			case !excluded:
				delete(gone, i)
			case d.State(i).Pending():
				gone[i] = plan.Exclusion("")
			}
		}
	}
	return bind.Lacking(d.plan, gone)
}

// lacks is the value for lack of which a step that is still to run will be skipped, or nil.
func (d *knownRun) lacks(i int) *plan.Missing {
	if !d.State(i).Pending() {
		return nil
	}
	return d.lacking()[i]
}

// lackingWords counts them, or "".
func (c *reporter) lackingWords() string {
	n := 0
	for i := range c.lacking() {
		if c.State(i).Pending() {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d will be skipped", n)
}

// alsoSkipped says which steps are skipped along with some that are excluded, or no longer are.
func (c *reporter) alsoSkipped(ranges []events.Range, excluded bool) string {
	before := c.lacking()
	after := c.lackingWith(ranges, excluded)
	word := "also skipped"
	if !excluded {
		before, after, word = after, before, "no longer skipped"
	}
	var steps []int
	for i := range after {
		if _, had := before[i]; !had && c.State(i).Pending() {
			steps = append(steps, i)
		}
	}
	if len(steps) == 0 {
		return ""
	}
	slices.Sort(steps)
	const most = 5
	var names []string
	for _, i := range steps[:min(len(steps), most)] {
		names = append(names, c.called(i))
	}
	if more := len(steps) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	uses := "that use its result"
	if len(steps) == 1 {
		uses = "that uses its result"
	}
	return fmt.Sprintf("%s: %s %s: %s", word, count(len(steps), "step"), uses, strings.Join(names, ", "))
}
