package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/status"
	"moon/tui/tree"
)

// stop is a breakpoint at a step: as it was set, and how often it has stopped the run.
type stop struct {
	events.Break
	hits int
}

// isConditional reports whether it stops only sometimes.
func (s *stop) isConditional() bool { return s.When != "" || s.After > 0 }

// breakAtStep takes over what is known of a step's breakpoint. It is called with the store locked: what is shared is copied.
func (m *knownRun) breakAtStep(step int, of *events.Step) {
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
func (m *view) breakOn(n int) (stop, bool) {
	if len(m.breaks) == 0 {
		return stop{}, false
	}
	if i := m.tree.Step(n); i >= 0 {
		s, ok := m.breaks[i]
		return s, ok
	}
	if !m.rows.Folded[n] {
		return stop{}, false
	}
	r, first := m.tree.Steps(n), -1
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
func (m *view) breakAt(n int) bool {
	_, ok := m.breakOn(n)
	return ok
}

// gutterSign is how the breakpoint looks in the gutter.
func (s *stop) gutterSign(g *draw.Glyphs) draw.Text {
	switch {
	case s.Log != "":
		return draw.Inked(themes.Accent, g.BrkLog)
	case s.isConditional():
		return draw.Inked(themes.Failed, g.BrkIf)
	}
	return draw.Inked(themes.Failed, g.Brk)
}

// breakState says at a glance at which breakpoint the run is paused.
func (m deciding) breakState(b *draw.Brush) bool {
	s, ok := m.breaks[m.run.PausedAt]
	if !ok || m.run.Phase != events.Paused || m.run.Pause.Reason != events.PauseBreakpoint {
		return false
	}
	sign := s.gutterSign(m.glyphs)
	b.Put(sign.Ink, sign.S)
	words := fmt.Sprintf(" here   hit %d   condition: %s", s.hits, draw.Plain(orNone(s.When)))
	if s.After > 0 {
		words = fmt.Sprintf(" here   hit %d, after %d   condition: %s", s.hits, s.After, draw.Plain(orNone(s.When)))
	}
	b.Put(themes.Text, draw.CutRight(words, max(b.Left-2, 0), m.glyphs.Dots))
	return true
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// toggleBreakpoint sets a breakpoint before the first step of the node, or of each mark, or clears it where there is one. On the row of a
// task over several hosts it is before the task on each of them.
func (m deciding) toggleBreakpoint() {
	var steps []int
	var rows [][]int
	all := true
	for _, n := range m.markedNodes() {
		var row []int
		for _, step := range status.FirstSteps(m.plan, m.tree.Steps(n)) {
			if slices.Contains(steps, step) {
				continue
			}
			_, set := m.breaks[step]
			steps, row, all = append(steps, step), append(row, step), all && set
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		row = slices.DeleteFunc(row, func(step int) bool { _, set := m.breaks[step]; return set != all })
		for _, c := range status.Breaks(row, all) {
			m.sendCommand(c)
		}
	}
	m.cur.Clear()
}

// markedNodes are the nodes that a person has marked, or the one under the cursor.
func (m *view) markedNodes() []int {
	m.cur.CloseRange(m.rows)
	if len(m.cur.Marks) == 0 {
		return []int{m.cursorNode()}
	}
	return slices.Sorted(maps.Keys(m.cur.Marks))
}

// breakPlace is a breakpoint with all its steps.
type breakPlace struct {
	stop
	status.Stop
}

// breakPlaces lists the breakpoints in the order of the plan.
func (m *knownRun) breakPlaces() []breakPlace {
	if m.places == nil && len(m.breaks) > 0 {
		m.places = m.findPlaces()
	}
	return m.places
}

func (m *knownRun) findPlaces() (list []breakPlace) {
	at := func(step int) events.Breakpoint {
		return events.Breakpoint{Set: m.breaks[step].Break, Hits: m.breaks[step].hits}
	}
	for _, s := range status.Stops(m.plan, slices.Collect(maps.Keys(m.breaks)), at) {
		list = append(list, breakPlace{stop{s.Set, s.Hits}, s})
	}
	return list
}

// placeText says what a breakpoint is for, next to where it is.
func (p *breakPlace) placeText() string {
	words := strings.TrimSpace(p.Clauses())
	if p.hits > 0 {
		words = strings.TrimSpace(fmt.Sprintf("%s  hit %d", words, p.hits))
	}
	return words
}

// placeTitle is what the breakpoint is at: a step or a task, with its hosts.
func (p *breakPlace) placeTitle(m *view) string {
	title := tree.StepTitle(&m.plan.Steps[p.Steps[0]])
	if p.Task >= 0 && len(p.Steps) > 1 {
		title = m.plan.Scopes[p.Task].Name
	}
	return strings.TrimSpace(title + " " + p.Where(m.plan))
}

// breakList names the breakpoints of the run.
func (m scopePane) breakList(d *draw.Doc) {
	for i, p := range m.breakPlaces() {
		switch i {
		case 0:
			d.Heading("Breakpoints")
		case listed:
			d.Add(draw.Inked(themes.Dim, fmt.Sprintf("  and %d more: :breaks", len(m.breakPlaces())-i)))
			return
		}
		step := &m.plan.Steps[p.Steps[0]]
		at := max(d.W-20, d.W/2)
		d.Columns([]int{0, 2, 4, at}, draw.Inked(themes.Text, ""), p.gutterSign(m.glyphs), draw.Inked(themes.Text, p.placeTitle(m.view)),
			d.Place(at, step.Origin.String()))
		if words := p.placeText(); words != "" {
			d.Para(themes.Dim, 4, words)
		}
	}
}
