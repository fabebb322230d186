package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/themes"
)

// stop is a breakpoint at a step: as it was set, and how often it has stopped the run.
type stop struct {
	events.Break
	hits int
}

// conditional reports whether it stops only sometimes.
func (s *stop) conditional() bool { return s.When != "" || s.After > 0 }

// breakAtStep takes over what is known of a step's breakpoint. It is called with the store locked: what is shared is copied.
func (m *model) breakAtStep(step int, of *events.Step) {
	if of.Break || len(m.breaks) > 0 {
		m.places = nil
	}
	switch {
	case of.Break && of.Stop != nil:
		m.breaks[step] = stop{of.Stop.Set, of.Stop.Hits}
	case of.Break:
		m.breaks[step] = stop{Break: events.Break{Step: step}}
	case len(m.breaks) > 0:
		delete(m.breaks, step)
	}
}

// breakOn is the breakpoint that shows at a node: its own, or the first that is folded into it.
func (m *model) breakOn(n int) (stop, bool) {
	if len(m.breaks) == 0 {
		return stop{}, false
	}
	if i := m.tree.step(n); i >= 0 {
		s, ok := m.breaks[i]
		return s, ok
	}
	if !m.rows.folded[n] {
		return stop{}, false
	}
	r, first := m.tree.steps(n), -1
	if r.To-r.From < len(m.breaks) { // there may be one at every step
		for i := r.From; i < r.To; i++ {
			if s, ok := m.breaks[i]; ok {
				return s, true
			}
		}
		return stop{}, false
	}
	for i := range m.breaks {
		if r.Has(i) && (first < 0 || i < first) {
			first = i
		}
	}
	s, ok := m.breaks[first]
	return s, ok
}

// breakAt reports whether a breakpoint shows at a node.
func (m *model) breakAt(n int) bool {
	_, ok := m.breakOn(n)
	return ok
}

// sign is how the breakpoint looks in the gutter.
func (s *stop) sign(g *glyphs) text {
	switch {
	case s.Log != "":
		return text{themes.Accent, g.brkLog}
	case s.conditional():
		return text{themes.Failed, g.brkIf}
	}
	return text{themes.Failed, g.brk}
}

// breakState says at a glance at which breakpoint the run is paused.
func (m *model) breakState(b *brush) bool {
	s, ok := m.breaks[m.run.pausedAt]
	if !ok || m.run.phase != events.Paused || m.run.pause.Reason != events.PauseBreakpoint {
		return false
	}
	sign := s.sign(m.glyphs)
	b.put(sign.ink, sign.s)
	words := fmt.Sprintf(" here   hit %d   condition: %s", s.hits, plain(orNone(s.When)))
	if s.After > 0 {
		words = fmt.Sprintf(" here   hit %d, after %d   condition: %s", s.hits, s.After, plain(orNone(s.When)))
	}
	b.put(themes.Text, cutRight(words, max(b.left-2, 0), m.glyphs.dots))
	return true
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// breakpoint sets a breakpoint before the first step of the node, or of each mark, or clears it where there is one.
func (m *model) breakpoint() {
	nodes := m.markedNodes()
	var steps []int
	all := true
	for _, n := range nodes {
		if r := m.tree.steps(n); r.From < r.To && !slices.Contains(steps, r.From) {
			steps = append(steps, r.From)
			_, set := m.breaks[r.From]
			all = all && set
		}
	}
	if len(steps) == 0 {
		m.say("there is no step here")
		return
	}
	for _, step := range steps {
		if _, set := m.breaks[step]; set == all {
			m.o.Send(events.Break{Step: step, Clear: all})
		}
	}
	m.cur.clear()
}

// markedNodes are the nodes that a person has marked, or the one under the cursor.
func (m *model) markedNodes() []int {
	m.cur.closeRange(m.rows)
	if len(m.cur.marks) == 0 {
		return []int{m.at()}
	}
	return slices.Sorted(maps.Keys(m.cur.marks))
}

// breakPlace is a breakpoint as one command set it, with the first of its steps.
type breakPlace struct {
	stop
	step, steps int
}

// breakPlaces lists the breakpoints in the order of the plan, one for each command that set some.
func (m *model) breakPlaces() []breakPlace {
	if m.places == nil && len(m.breaks) > 0 {
		m.places = m.findPlaces()
	}
	return m.places
}

func (m *model) findPlaces() (list []breakPlace) {
	for _, step := range slices.Sorted(maps.Keys(m.breaks)) {
		s := m.breaks[step]
		if n := len(list); n > 0 && list[n-1].Break == s.Break && s.Range().Has(step) {
			list[n-1].steps++
			continue
		}
		list = append(list, breakPlace{s, step, 1})
	}
	return list
}

// words say what a breakpoint is for, beside where it is.
func (p *breakPlace) words() string {
	words := strings.TrimSpace(p.Clauses())
	if p.steps > 1 {
		words = strings.TrimSpace(fmt.Sprintf("each of %d steps %s", p.steps, words))
	}
	if p.hits > 0 {
		words = strings.TrimSpace(fmt.Sprintf("%s  hit %d", words, p.hits))
	}
	return words
}

// title is what the breakpoint is at: a step on its host, or all steps of a task.
func (p *breakPlace) title(m *model) string {
	if p.steps > 1 {
		return stepTitle(&m.plan.Steps[p.step])
	}
	return m.titleOn(&m.plan.Steps[p.step])
}

// breakList names the breakpoints of the run.
func (m *model) breakList(d *doc) {
	for i, p := range m.breakPlaces() {
		switch i {
		case 0:
			d.heading("Breakpoints")
		case listed:
			d.add(text{themes.Dim, fmt.Sprintf("  and %d more: :breaks", len(m.breakPlaces())-i)})
			return
		}
		step := &m.plan.Steps[p.step]
		at := max(d.w-20, d.w/2)
		d.columns([]int{0, 2, 4, at}, text{themes.Text, ""}, p.sign(m.glyphs), text{themes.Text, p.title(m)}, d.place(at, step.Origin.String()))
		if words := p.words(); words != "" {
			d.para(themes.Dim, 4, words)
		}
	}
}
