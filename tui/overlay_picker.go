package tui

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/themes"
)

// picker is a list with a line to type in above it, and a place in the list.
type picker struct {
	input textinput.Model
	n     int // how long the list is
	at    int
	top   int
}

func newPicker() picker { return picker{input: newInput()} }

// press moves in the list, or types; typed reports whether the line has changed.
func (p *picker) press(msg tea.KeyPressMsg) (typed bool) {
	switch msg.String() {
	case "down", "ctrl+n":
		p.move(+1)
	case "up", "ctrl+p":
		p.move(-1)
	case "pgdown":
		p.move(+10)
	case "pgup":
		p.move(-10)
	default:
		before := p.input.Value()
		p.input, _ = p.input.Update(msg)
		return p.input.Value() != before
	}
	return false
}

func (p *picker) move(by int) { p.at = max(min(p.at+by, p.n-1), 0) }

// has says how long the list is now, and begins at its top.
func (p *picker) has(n int) { p.n, p.at, p.top = n, 0, 0 }

// window is the part of the list that shows in h lines.
func (p *picker) window(h int) (from, to int) {
	p.top = max(min(p.top, p.at), p.at-h+1, 0)
	return p.top, min(p.top+h, p.n)
}

// mark is what stands before a line of the list.
func (p *picker) mark(m *model, i int) (before text, look ink) {
	if i == p.at {
		return inked(themes.Accent, m.glyphs.pointer+" "), inkTitle
	}
	return inked(themes.Text, "  "), themes.Text
}

// inputLine is a line to type in, with its cursor.
func (m *model) inputLine(in *textinput.Model) []text {
	value := []rune(in.Value())
	at := min(max(in.Position(), 0), len(value))
	return []text{
		inked(inkKey, "> "),
		inked(themes.Text, plain(string(value[:at]))),
		inked(themes.Accent, m.glyphs.caret),
		inked(themes.Text, plain(string(value[at:]))),
	}
}

// opposite is a line of w cells with a text at its left and one at its right end, which gives way.
func (m *model) opposite(w int, mark, left, right text) []text {
	room := max(w-cells(mark.s), 0)
	right.s = cutRight(right.s, max(room-cells(left.s)-2, room/2), m.glyphs.dots)
	left.s = cutRight(left.s, max(room-cells(right.s)-2, 0), m.glyphs.dots)
	return []text{mark, left, inked(themes.Text, spaces(max(room-cells(left.s)-cells(right.s), 0))), right}
}
