package view

import (
	"charm.land/bubbles/v2/textinput"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
)

// InputLine is a line to type in, with its cursor.
func (m *State) InputLine(in *textinput.Model) []draw.Text {
	value := []rune(in.Value())
	at := min(max(in.Position(), 0), len(value))
	return []draw.Text{
		draw.Inked(draw.InkKey, "> "),
		draw.Inked(themes.Text, draw.Plain(string(value[:at]))),
		draw.Inked(themes.Accent, m.Glyphs.Caret),
		draw.Inked(themes.Text, draw.Plain(string(value[at:]))),
	}
}

// OppositeTexts is a line of w cells with a text at its left and one at its right end, which gives way.
func (m *State) OppositeTexts(w int, mark, left, right draw.Text) []draw.Text {
	room := max(w-draw.Cells(mark.S), 0)
	right.S = draw.CutRight(right.S, max(room-draw.Cells(left.S)-2, room/2), m.Glyphs.Dots)
	left.S = draw.CutRight(left.S, max(room-draw.Cells(right.S)-2, 0), m.Glyphs.Dots)
	return []draw.Text{mark, left, draw.Inked(themes.Text, draw.Spaces(max(room-draw.Cells(left.S)-draw.Cells(right.S), 0))), right}
}

// Choice is a key with what it does, in a sentence and in a word or two.
type Choice struct {
	Do           keymap.Intent
	Words, Brief string
}

// DrawChoices lists keys, one on a line, or two where lines are few.
func (m *State) DrawChoices(d *draw.Doc, list []Choice) {
	for i := 0; i < len(list); i++ {
		c := list[i]
		if d.H >= 18 {
			words := c.Words
			if draw.Cells(words) > d.W-5 {
				words = c.Brief
			}
			d.Add(draw.Inked(themes.Text, "  "), draw.Inked(draw.InkKey, m.Keys.Label(c.Do)), draw.Inked(themes.Text, "  "+words))
			continue
		}
		line := []draw.Text{draw.Inked(draw.InkKey, m.Keys.Label(c.Do)), draw.Inked(themes.Text, "  "+c.Brief)}
		if i++; i < len(list) {
			line = append(line, draw.Inked(themes.Text, draw.Spaces(d.W/2-draw.WidthOf(line))),
				draw.Inked(draw.InkKey, m.Keys.Label(list[i].Do)),
				draw.Inked(themes.Text, "  "+list[i].Brief))
		}
		d.Add(line...)
	}
}

func NewInput() textinput.Model {
	in := textinput.New()
	in.Prompt = ""
	_ = in.Focus() // its blinking is not used
	return in
}
