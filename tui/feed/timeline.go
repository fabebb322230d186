package feed

import (
	"slices"
	"time"

	"moon/events"
	"moon/tui/tree"
)

// Timeline is when the parts of the plan were busy, as marks on a line of time that gets coarser as the run gets longer.
// What it costs to draw does not depend on the number of steps.
//
//	from ──grain──┬──────┬──────┬─ …
//	part          ■      ■             busy in these
type Timeline struct {
	tree   *tree.Tree
	Parts  []Part
	From   time.Time
	Grain  time.Duration
	Active map[int]time.Time // when the attempts that run began
	Times  events.Times      // marks are made in run time: what the run waited for a person is cut out
	now    time.Time
}

// Part is a stretch of steps that has a row of its own: a scope, or the single steps between two.
type Part struct {
	Node  int
	Steps events.Range
	Busy  []bool
}

// The bounds of a timeline.
const (
	MostMarks  = 512
	firstGrain = 10 * time.Millisecond
	// MostParts bounds a plan whose parts nobody could look at.
	MostParts = 1000
)

// NewTimeline begins with the parts of a plan; those that the plan before had keep their marks.
func NewTimeline(t *tree.Tree, before *Timeline) Timeline {
	l := Timeline{tree: t, Parts: PartsOf(t), Grain: firstGrain, Active: map[int]time.Time{}}
	if before.tree == nil {
		return l
	}
	// With the grain they were made with, or old marks would mean other times.
	l.From, l.Grain, l.Times = before.From, before.Grain, before.Times
	marks := map[string][]bool{}
	for i := range before.Parts {
		// Nodes of two trees match by path: their numbers differ.
		marks[before.tree.Path(before.Parts[i].Node)] = before.Parts[i].Busy
	}
	for i := range l.Parts {
		l.Parts[i].Busy = marks[t.Path(l.Parts[i].Node)]
	}
	return l
}

// PartsOf divides the steps by the scopes at the top, which are the plays where there are any; one that has everything in it
// is gone into.
func PartsOf(t *tree.Tree) (parts []Part) {
	at := 0
	for {
		children := t.Children(at)
		if len(children) != 1 || t.Step(children[0]) >= 0 || t.Leaf(children[0]) {
			break
		}
		at = children[0]
	}
	for _, n := range t.Children(at) {
		steps := t.Steps(n)
		switch last := len(parts) - 1; {
		case steps.From >= steps.To:
		case t.Step(n) >= 0 && last >= 0 && t.Step(parts[last].Node) >= 0: // a step after a step
			parts[last].Steps.To = steps.To
		case len(parts) == MostParts:
			return nil
		default:
			parts = append(parts, Part{Node: n, Steps: steps})
		}
	}
	return parts
}

// See takes what has become of a step. A step that is tried again by itself is busy between its attempts; one that a person
// has tried again later is not.
func (l *Timeline) See(step int, of *events.Step) {
	start := of.Began()
	if start.IsZero() || of.Kept { // when it was kept is not when it ran
		delete(l.Active, step)
		return
	}
	l.begin(l.Times.RunTime(start))
	// Another attempt has begun since: between the two the step was busy.
	if before, runs := l.Active[step]; runs && before.Before(start) {
		l.mark(step, before, start)
	}
	if of.State == events.Settled {
		delete(l.Active, step)
		l.mark(step, start, of.Ended)
		return
	}
	l.Active[step] = start
}

// Advance lets the time pass for what runs. It leaves no marks: a step may have ended already, and its end be on the way.
func (l *Timeline) Advance(now time.Time) {
	if l.now = now; len(l.Active) > 0 {
		l.fit(l.Times.RunTime(now))
	}
}

// runs is since when something in a part has been running, in run time; ok is false if nothing does.
func (l *Timeline) runs(p *Part) (since time.Time, ok bool) {
	for step, start := range l.Active {
		if p.Steps.Has(step) && (!ok || start.Before(since)) {
			since, ok = start, true
		}
	}
	return l.Times.RunTime(since), ok
}

// Begun reports whether anything in a part has run, or runs.
func (l *Timeline) Begun(p *Part) bool {
	_, runs := l.runs(p)
	return runs || len(p.Busy) > 0
}

// part is the part a step is in, or nil.
func (l *Timeline) part(step int) *Part {
	i, found := slices.BinarySearchFunc(l.Parts, step, func(p Part, step int) int {
		switch {
		case p.Steps.Has(step):
			return 0
		case p.Steps.From > step:
			return 1
		}
		return -1
	})
	if !found {
		return nil
	}
	return &l.Parts[i]
}

func (l *Timeline) mark(step int, from, to time.Time) {
	p := l.part(step)
	from, to = l.Times.RunTime(from), l.Times.RunTime(to)
	if p == nil || to.Before(from) {
		return
	}
	l.begin(from)
	l.fit(to)
	first := int(from.Sub(l.From) / l.Grain)
	// What ends on a border does not touch the next mark.
	last := max(int((to.Sub(l.From)-1)/l.Grain), first)
	if n := last + 1 - len(p.Busy); n > 0 {
		p.Busy = append(p.Busy, make([]bool, n)...)
	}
	for i := first; i <= last; i++ {
		p.Busy[i] = true
	}
}

// fit makes coarser marks, until the longest row reaches to a time.
func (l *Timeline) fit(to time.Time) {
	for to.Sub(l.From) >= l.Grain*MostMarks {
		l.coarsen()
	}
}

// begin has the timeline reach back to a time.
func (l *Timeline) begin(from time.Time) {
	if l.From.IsZero() {
		l.From = from
	}
	l.shift(from)
}

// shift makes room for what began before all that is known: steps are seen in the order of the plan.
func (l *Timeline) shift(from time.Time) {
	for from.Before(l.From) {
		n := int((l.From.Sub(from) + l.Grain - 1) / l.Grain)
		if l.longest()+n > MostMarks {
			l.coarsen()
			continue
		}
		for i := range l.Parts {
			if p := &l.Parts[i]; len(p.Busy) > 0 {
				p.Busy = append(make([]bool, n), p.Busy...)
			}
		}
		l.From = l.From.Add(-time.Duration(n) * l.Grain)
	}
}

func (l *Timeline) longest() (n int) {
	for i := range l.Parts {
		n = max(n, len(l.Parts[i].Busy))
	}
	return n
}

// coarsen makes one mark of each two.
func (l *Timeline) coarsen() {
	l.Grain *= 2
	for i := range l.Parts {
		p := &l.Parts[i]
		for k := range (len(p.Busy) + 1) / 2 {
			p.Busy[k] = p.Busy[2*k] || 2*k+1 < len(p.Busy) && p.Busy[2*k+1]
		}
		p.Busy = p.Busy[:(len(p.Busy)+1)/2]
	}
}

// Busy is when a part was busy.
type Busy struct {
	grain        time.Duration
	marks        []bool
	since, until int // the marks that what runs would make by now
}

// When is when a part was busy, until now.
func (l *Timeline) When(p *Part) Busy {
	b := Busy{l.Grain, p.Busy, 0, -1}
	if start, runs := l.runs(p); runs {
		b.since, b.until = int(start.Sub(l.From)/l.Grain), int((l.Times.RunTime(l.now).Sub(l.From)-1)/l.Grain)
	}
	return b
}

// Share is how much of a stretch of time it was busy, from 0 to 1.
func (b Busy) Share(from, to time.Duration) float64 {
	first := int(from / b.grain)
	last := max(int((to-1)/b.grain), first)
	n := 0
	for i := first; i <= last; i++ {
		if i < len(b.marks) && b.marks[i] || i >= b.since && i <= b.until {
			n++
		}
	}
	return float64(n) / float64(last-first+1)
}
