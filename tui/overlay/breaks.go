package overlay

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/known"
	"moon/tui/status"
)

// Breaks lists the breakpoints of the run: where they are, what they stop for.
type Breaks struct{ picker }

// NewBreaks lists the breakpoints.
func NewBreaks() *Breaks { return &Breaks{picker: newPicker()} }

// Press moves in the list, or does something with a breakpoint of it.
func (b *Breaks) Press(s Screen, msg tea.KeyPressMsg) []Want {
	list := s.BreakPlaces()
	// The list is the run's and may be shorter than in the last frame, so the cursor is brought back into it first.
	if b.n = len(list); b.n == 0 {
		return []Want{Close{}}
	}
	b.moveBy(0)
	p := list[b.at]
	switch msg.String() {
	case "esc", "q":
		return []Want{Close{}}
	case "down", "j":
		b.moveBy(+1)
	case "up", "k":
		b.moveBy(-1)
	case "pgdown":
		b.moveBy(+10)
	case "pgup":
		b.moveBy(-10)
	case "enter":
		return []Want{Close{}, GoTo{p.Steps[0]}}
	case "d", "delete", "b":
		var wants []Want
		for _, c := range status.Breaks(p.Steps, true) {
			wants = append(wants, Send{Command: c})
		}
		return wants
	case "B", "e":
		// In this order: what is edited is the breakpoint under the cursor.
		return []Want{GoTo{p.Steps[0]}, EditBreak{}}
	}
	return nil
}

// Click chooses a breakpoint; a double click goes to it.
func (b *Breaks) Click(s Screen, row int, double bool) []Want {
	i := b.top + row
	if i >= b.n {
		return nil
	}
	b.at = i
	if double {
		return b.Press(s, tea.KeyPressMsg{Code: tea.KeyEnter})
	}
	return nil
}

// Draw lists the breakpoints that there are now.
func (b *Breaks) Draw(s Screen, w, h int) (title string, body [][]draw.Text, foot string) {
	list := s.BreakPlaces()
	b.n = len(list)
	b.moveBy(0)
	if b.n == 0 {
		return "Breakpoints", [][]draw.Text{{draw.Inked(themes.Dim, "There are none any more.")}}, "esc closes"
	}
	from, to := b.visibleRange(max(h, 1))
	for i := from; i < to; i++ {
		p := &list[i]
		step := &s.Plan.Steps[p.Steps[0]]
		mark, look := b.lineMark(s.Glyphs, i)
		sign := s.Glyphs.BreakSign(p.Set.Log != "", p.Set.When != "" || p.Set.After > 0)
		words := strings.TrimSpace(draw.Plain(s.BreakTitle(p)) + "  " + draw.Plain(known.BreakText(p)))
		line := oppositeTexts(s.Glyphs, w-2, mark, draw.Inked(look, words), draw.Inked(themes.Dim, draw.Plain(step.Origin.String())))
		body = append(body, append([]draw.Text{line[0], draw.Inked(sign.Ink, sign.S+" ")}, line[1:]...))
	}
	return "Breakpoints", body, "enter goes there   B changes   d clears   esc closes"
}
