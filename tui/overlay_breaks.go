package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/known"
	"moon/tui/status"
	"moon/tui/tree"
)

// breaksBox lists the breakpoints of the run: where they are, what they stop for.
type breaksBox struct{ picker }

func (m deciding) openBreaks() {
	if len(m.Breaks) == 0 {
		m.showMessage("there are no breakpoints; " + m.keys.Label(keymap.GateBreak) + " sets one")
		return
	}
	m.overlay = &breaksBox{picker: newPicker()}
}

func (b *breaksBox) pasteText(*model, tea.PasteMsg) tea.Cmd { return nil }

func (b *breaksBox) pressKey(m *model, msg tea.KeyPressMsg) tea.Cmd {
	list := m.BreakPlaces()
	if b.n = len(list); b.n == 0 {
		m.overlay = nil
		return nil
	}
	b.moveBy(0)
	p := list[b.at]
	switch msg.String() {
	case "esc", "q":
		m.overlay = nil
	case "down", "j":
		b.moveBy(+1)
	case "up", "k":
		b.moveBy(-1)
	case "pgdown":
		b.moveBy(+10)
	case "pgup":
		b.moveBy(-10)
	case "enter":
		m.overlay = nil
		m.goToStep(p.Steps[0])
	case "d", "delete", "b":
		for _, c := range status.Breaks(p.Steps, true) {
			m.Send(c)
		}
	case "B", "e":
		m.goToStep(p.Steps[0])
		return m.openBreakSheet()
	}
	return nil
}

// goToStep puts the cursor on a step.
func (m *view) goToStep(step int) {
	m.following = false
	n := int(m.Tree.StepNode[step])
	if m.rows.Keep != nil && !m.rows.Keep[n] {
		m.setFilter(tree.FilterAll)
	}
	m.goTo(n)
}

func (b *breaksBox) drawLines(m *view, w, h int) (title string, body [][]draw.Text, foot string) {
	list := m.BreakPlaces()
	b.n = len(list)
	b.moveBy(0)
	if b.n == 0 {
		return "Breakpoints", [][]draw.Text{{draw.Inked(themes.Dim, "There are none any more.")}}, "esc closes"
	}
	from, to := b.visibleRange(max(h, 1))
	for i := from; i < to; i++ {
		p := &list[i]
		step := &m.Plan.Steps[p.Steps[0]]
		mark, look := b.lineMark(m, i)
		sign := breakSign(p.Set, m.glyphs)
		words := strings.TrimSpace(draw.Plain(m.BreakTitle(p)) + "  " + draw.Plain(known.BreakText(p)))
		line := m.oppositeTexts(w-2, mark, draw.Inked(look, words), draw.Inked(themes.Dim, draw.Plain(step.Origin.String())))
		body = append(body, append([]draw.Text{line[0], draw.Inked(sign.Ink, sign.S+" ")}, line[1:]...))
	}
	return "Breakpoints", body, "enter goes there   B changes   d clears   esc closes"
}
