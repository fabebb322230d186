package graph

import (
	"slices"

	"moon/events"
	"moon/plan"
)

// Before are the steps that a step waits for, barriers looked through: what orders, and what gives it values. They are
// ascending.
func (g *Graph) Before(step int) []plan.Link {
	l := linker{g: g, seen: map[ID]bool{}, at: map[int]int{}}
	l.in(g.nodeOf[step], false, 0)
	return l.sorted()
}

// After are the steps that wait for a step.
func (g *Graph) After(step int) []plan.Link {
	l := linker{g: g, seen: map[ID]bool{}, at: map[int]int{}}
	from := g.nodeOf[step]
	for _, o := range g.Out(from) {
		l.out(o.To, o.On, l.carries(from, o.To))
	}
	return l.sorted()
}

// linker collects the steps at the ends of paths through barriers.
type linker struct {
	g     *Graph
	seen  map[ID]bool
	at    map[int]int // in links, by step
	links []plan.Link
}

// in follows the edges into a node. whole are the outcomes asked of a scope as a whole, of which a step is one; 0: of the step itself.
func (l *linker) in(to ID, data bool, whole events.OutcomeSet) {
	for _, e := range l.g.In(to) {
		n, set := &l.g.Nodes[e.From], e.On
		if whole != 0 {
			set = whole
		}
		switch {
		case n.Step >= 0:
			l.add(int(n.Step), set, data || e.Data)
		case l.seen[e.From]:
		case n.Join == Whole:
			l.seen[e.From] = true
			l.in(e.From, data || e.Data, set)
		default:
			l.seen[e.From] = true
			l.in(e.From, data || e.Data, whole)
		}
	}
}

// out follows an edge to a node. The outcomes that count are those of the edge out of the step itself.
func (l *linker) out(to ID, on events.OutcomeSet, data bool) {
	if n := &l.g.Nodes[to]; n.Step >= 0 {
		l.add(int(n.Step), on, data)
		return
	}
	if l.seen[to] {
		return
	}
	l.seen[to] = true
	for _, o := range l.g.Out(to) {
		if l.g.Nodes[to].Join == Whole { // what is asked of the scope counts
			on = o.On
		}
		l.out(o.To, on, data || l.carries(to, o.To))
	}
}

func (l *linker) carries(from, to ID) bool {
	return slices.ContainsFunc(l.g.In(to), func(e Edge) bool { return e.From == from && e.Data })
}

func (l *linker) add(step int, on events.OutcomeSet, data bool) {
	i, ok := l.at[step]
	if !ok {
		l.at[step] = len(l.links)
		l.links = append(l.links, plan.Link{Step: step, On: on.String(), Data: data})
		return
	}
	l.links[i].Data = l.links[i].Data || data
}

func (l *linker) sorted() []plan.Link {
	slices.SortFunc(l.links, func(a, b plan.Link) int { return a.Step - b.Step })
	return l.links
}
