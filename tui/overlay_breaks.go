package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/known"
	"moon/tui/status"
	"moon/tui/view"
)

// breaksBox lists the breakpoints of the run: where they are, what they stop for.
type breaksBox struct{ picker }

func (m deciding) openBreaks() {
	if len(m.Breaks) == 0 {
		m.ShowMessage("there are no breakpoints; " + m.Keys.Label(keymap.GateBreak) + " sets one")
		return
	}
	m.Overlay = &breaksBox{picker: newPicker()}
}

func (b *breaksBox) PasteText(*view.State, tea.PasteMsg) tea.Cmd { return nil }

func (b *breaksBox) PressKey(m *view.State, msg tea.KeyPressMsg) tea.Cmd {
	list := m.BreakPlaces()
	if b.n = len(list); b.n == 0 {
		m.Overlay = nil
		return nil
	}
	b.moveBy(0)
	p := list[b.at]
	switch msg.String() {
	case "esc", "q":
		m.Overlay = nil
	case "down", "j":
		b.moveBy(+1)
	case "up", "k":
		b.moveBy(-1)
	case "pgdown":
		b.moveBy(+10)
	case "pgup":
		b.moveBy(-10)
	case "enter":
		m.Overlay = nil
		m.GoToStep(p.Steps[0])
	case "d", "delete", "b":
		for _, c := range status.Breaks(p.Steps, true) {
			m.Send(c)
		}
	case "B", "e":
		m.GoToStep(p.Steps[0])
		return deciding{m}.openBreakSheet()
	}
	return nil
}

func (b *breaksBox) DrawLines(m *view.State, w, h int) (title string, body [][]draw.Text, foot string) {
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
		sign := view.BreakSign(p.Set, m.Glyphs)
		words := strings.TrimSpace(draw.Plain(m.BreakTitle(p)) + "  " + draw.Plain(known.BreakText(p)))
		line := m.OppositeTexts(w-2, mark, draw.Inked(look, words), draw.Inked(themes.Dim, draw.Plain(step.Origin.String())))
		body = append(body, append([]draw.Text{line[0], draw.Inked(sign.Ink, sign.S+" ")}, line[1:]...))
	}
	return "Breakpoints", body, "enter goes there   B changes   d clears   esc closes"
}
