package tui

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/view"
)

// picker is a list with a line to type in above it, and a place in the list.
type picker struct {
	input textinput.Model
	n     int // how long the list is
	at    int
	top   int
}

func newPicker() picker { return picker{input: view.NewInput()} }

// pressKey moves in the list, or types; typed reports whether the line has changed.
func (p *picker) pressKey(msg tea.KeyPressMsg) (typed bool) {
	switch msg.String() {
	case "down", "ctrl+n":
		p.moveBy(+1)
	case "up", "ctrl+p":
		p.moveBy(-1)
	case "pgdown":
		p.moveBy(+10)
	case "pgup":
		p.moveBy(-10)
	default:
		before := p.input.Value()
		p.input, _ = p.input.Update(msg)
		return p.input.Value() != before
	}
	return false
}

func (p *picker) moveBy(by int) { p.at = max(min(p.at+by, p.n-1), 0) }

// setLength says how long the list is now, and begins at its top.
func (p *picker) setLength(n int) { p.n, p.at, p.top = n, 0, 0 }

// visibleRange is the part of the list that shows in h lines.
func (p *picker) visibleRange(h int) (from, to int) {
	p.top = max(min(p.top, p.at), p.at-h+1, 0)
	return p.top, min(p.top+h, p.n)
}

// lineMark is what stands before a line of the list.
func (p *picker) lineMark(m *view.State, i int) (before draw.Text, look draw.Ink) {
	if i == p.at {
		return draw.Inked(themes.Accent, m.Glyphs.Pointer+" "), draw.InkTitle
	}
	return draw.Inked(themes.Text, "  "), themes.Text
}
