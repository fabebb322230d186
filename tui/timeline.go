package tui

import (
	"slices"
	"time"

	"moon/events"
)

// timeline is when the parts of the plan were busy, as marks on a line of time that gets coarser as the run gets longer.
// What it costs to draw does not depend on the number of steps.
//
//	from ──grain──┬──────┬──────┬─ …
//	part          ■      ■             busy in these
type timeline struct {
	tree   *tree
	parts  []part
	from   time.Time
	grain  time.Duration
	active map[int]time.Time // when the attempts that run began
	times  events.Times      // marks are made in run time: what the run waited for a person is cut out
}

// part is a stretch of steps that has a row of its own: a scope, or the single steps between two.
type part struct {
	node  int
	steps events.Range
	busy  []bool
}

const (
	mostMarks  = 512
	firstGrain = 10 * time.Millisecond
	// mostParts bounds a plan whose parts nobody could look at.
	mostParts = 1000
)

// newTimeline begins with the parts of a plan; those that the plan before had keep their marks.
func newTimeline(t *tree, before *timeline) timeline {
	l := timeline{tree: t, parts: partsOf(t), grain: firstGrain, active: map[int]time.Time{}}
	if before.tree == nil {
		return l
	}
	l.from, l.grain, l.times = before.from, before.grain, before.times
	marks := map[string][]bool{}
	for i := range before.parts {
		marks[before.tree.path(before.parts[i].node)] = before.parts[i].busy
	}
	for i := range l.parts {
		l.parts[i].busy = marks[t.path(l.parts[i].node)]
	}
	return l
}

// partsOf divides the steps by the scopes at the top, which are the plays where there are any; one that has everything in it
// is gone into.
func partsOf(t *tree) (parts []part) {
	at := 0
	for {
		children := t.children(at)
		if len(children) != 1 || t.step(children[0]) >= 0 || t.leaf(children[0]) {
			break
		}
		at = children[0]
	}
	for _, n := range t.children(at) {
		steps := t.steps(n)
		switch last := len(parts) - 1; {
		case steps.From >= steps.To:
		case t.step(n) >= 0 && last >= 0 && t.step(parts[last].node) >= 0: // a step after a step
			parts[last].steps.To = steps.To
		case len(parts) == mostParts:
			return nil
		default:
			parts = append(parts, part{node: n, steps: steps})
		}
	}
	return parts
}

// see takes what has become of a step. A step that is tried again by itself is busy between its attempts; one that a person
// has tried again later is not.
func (l *timeline) see(step int, of *events.Step) {
	start := of.Began()
	if start.IsZero() || of.Kept { // when it was kept is not when it ran
		delete(l.active, step)
		return
	}
	if before, runs := l.active[step]; runs && before.Before(start) {
		l.mark(step, before, start)
	}
	if of.State == events.Settled {
		delete(l.active, step)
		l.mark(step, start, of.Ended)
		return
	}
	l.active[step] = start
}

// advance marks what runs until now.
func (l *timeline) advance(now time.Time) {
	for step, start := range l.active {
		l.mark(step, start, now)
	}
}

// part is the part a step is in, or nil.
func (l *timeline) part(step int) *part {
	i, found := slices.BinarySearchFunc(l.parts, step, func(p part, step int) int {
		switch {
		case p.steps.Has(step):
			return 0
		case p.steps.From > step:
			return 1
		}
		return -1
	})
	if !found {
		return nil
	}
	return &l.parts[i]
}

func (l *timeline) mark(step int, from, to time.Time) {
	p := l.part(step)
	from, to = l.times.RunTime(from), l.times.RunTime(to)
	if p == nil || to.Before(from) {
		return
	}
	if l.from.IsZero() {
		l.from = from
	}
	l.shift(from)
	for to.Sub(l.from) >= l.grain*mostMarks {
		l.coarsen()
	}
	first := int(from.Sub(l.from) / l.grain)
	last := max(int((to.Sub(l.from)-1)/l.grain), first)
	if n := last + 1 - len(p.busy); n > 0 {
		p.busy = append(p.busy, make([]bool, n)...)
	}
	for i := first; i <= last; i++ {
		p.busy[i] = true
	}
}

// shift makes room for what began before all that is known: steps are seen in the order of the plan.
func (l *timeline) shift(from time.Time) {
	for from.Before(l.from) {
		n := int((l.from.Sub(from) + l.grain - 1) / l.grain)
		if l.longest()+n > mostMarks {
			l.coarsen()
			continue
		}
		for i := range l.parts {
			if p := &l.parts[i]; len(p.busy) > 0 {
				p.busy = append(make([]bool, n), p.busy...)
			}
		}
		l.from = l.from.Add(-time.Duration(n) * l.grain)
	}
}

func (l *timeline) longest() (n int) {
	for i := range l.parts {
		n = max(n, len(l.parts[i].busy))
	}
	return n
}

// coarsen makes one mark of each two.
func (l *timeline) coarsen() {
	l.grain *= 2
	for i := range l.parts {
		p := &l.parts[i]
		for k := range (len(p.busy) + 1) / 2 {
			p.busy[k] = p.busy[2*k] || 2*k+1 < len(p.busy) && p.busy[2*k+1]
		}
		p.busy = p.busy[:(len(p.busy)+1)/2]
	}
}

// share is how much of a stretch of time a part was busy, from 0 to 1.
func (l *timeline) share(p *part, from, to time.Duration) float64 {
	first := int(from / l.grain)
	last := max(int((to-1)/l.grain), first)
	n := 0
	for i := first; i <= last && i < len(p.busy); i++ {
		if p.busy[i] {
			n++
		}
	}
	return float64(n) / float64(last-first+1)
}
