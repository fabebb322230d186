package view

import (
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
)

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
