package overlay

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
)

// picker is a list with a line to type in above it, and a place in the list.
type picker struct {
	input textinput.Model
	n     int // how long the list is
	at    int
	top   int
}

func newPicker() picker { return picker{input: NewInput()} }

// NewInput is a line to type in.
func NewInput() textinput.Model {
	in := textinput.New()
	in.Prompt = ""
	_ = in.Focus() // its blinking is not used
	return in
}

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

// At is the place in the list.
func (p *picker) At() int { return p.at }

// visibleRange is the part of the list that shows in h lines.
func (p *picker) visibleRange(h int) (from, to int) {
	// What was at the top stays there until the cursor moves off the lines that are seen.
	p.top = max(min(p.top, p.at), p.at-h+1, 0)
	return p.top, min(p.top+h, p.n)
}

// lineMark is what stands before a line of the list.
func (p *picker) lineMark(g *draw.Glyphs, i int) (before draw.Text, look draw.Ink) {
	if i == p.at {
		return draw.Inked(themes.Accent, g.Pointer+" "), draw.InkTitle
	}
	return draw.Inked(themes.Text, "  "), themes.Text
}

// InputLine is a line to type in, with its cursor.
func InputLine(g *draw.Glyphs, in *textinput.Model) []draw.Text {
	value := []rune(in.Value())
	at := min(max(in.Position(), 0), len(value))
	// Cut at the caret before it is made plain, which may change how many characters there are.
	return []draw.Text{
		draw.Inked(draw.InkKey, "> "),
		draw.Inked(themes.Text, draw.Plain(string(value[:at]))),
		draw.Inked(themes.Accent, g.Caret),
		draw.Inked(themes.Text, draw.Plain(string(value[at:]))),
	}
}

// oppositeTexts is a line of w cells with a text at its left and one at its right end, which gives way.
func oppositeTexts(g *draw.Glyphs, w int, mark, left, right draw.Text) []draw.Text {
	room := max(w-draw.Cells(mark.S), 0)
	// The right text gives way, but never below half of the room; then the left one has to.
	right.S = draw.CutRight(right.S, max(room-draw.Cells(left.S)-2, room/2), g.Dots)
	left.S = draw.CutRight(left.S, max(room-draw.Cells(right.S)-2, 0), g.Dots)
	return []draw.Text{mark, left, draw.Inked(themes.Text, draw.Spaces(max(room-draw.Cells(left.S)-draw.Cells(right.S), 0))), right}
}
