package frame

import (
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/pane"
	"moon/tui/view"
)

// drawBare draws the detail on the whole screen without anything beside it, so that what is selected with the mouse of
// the terminal is the text and nothing else. One line at the bottom says the rest.
func (m picture) drawBare(b *draw.Brush, l view.Layout) {
	text := pane.DetailPane(m).DetailBody(l.DetailW+1, l.DetailH)
	for i := range l.DetailH {
		b.Begin(l.Wide, draw.OnRow)
		text.DrawRow(b, i)
		b.End()
		b.Newline()
	}
	b.Begin(l.Wide, draw.OnRow)
	defer b.End()
	if m.Prompt != nil {
		m.Prompt.DrawLine(m.Glyphs, b, Footer(m).foundWords())
		return
	}
	m.bareLine(b)
}

// bareLine is the one line: what is shown, where in it, a message or the keys, and the state of the run.
func (m picture) bareLine(b *draw.Brush) {
	// Without a header this line is the only place for the state of the run, so it gets its cells first and the rest shares what is
	// left.
	state := headerBar(m).headlineTexts(2)
	room := max(b.Left-draw.WidthOf(state)-2, 0)
	b.Keep(b.Left-room, func() {
		b.Put(draw.InkTabFocus, m.TabName(m.Detail.Tab))
		if m.Message != "" {
			b.Put(themes.Warn, "  "+draw.CutRight(m.Message, max(b.Left-2, 0), m.Glyphs.Dots))
			return
		}
		title := draw.Plain(m.Tree.Title(m.CursorNode()))
		b.Put(themes.Text, "  "+draw.CutMiddle(title, max(b.Left/3, 8), m.Glyphs.Dots))
		if m.Detail.Tab == view.TabOutputs {
			b.Put(themes.Dim, "  "+pane.OutputPane(m).OutputTitle(b.Left-2, false))
		}
		for _, t := range []keymap.Tip{
			keymap.TipOf(keymap.GoBack, "back"), keymap.TipOf(keymap.CopyMenu, "copy"),
			keymap.TipOf(keymap.FindText, "find"), keymap.TipOf(keymap.OutputWrap, "wrap"),
		} {
			key := m.Keys.Label(t.Do)
			// Keys stop at the first that does not fit: half a hint would name a key and not what it does.
			if b.Left < len(key)+len(t.Words)+4 || m.Detail.Tab != view.TabOutputs && t.Do == keymap.OutputWrap {
				return
			}
			b.Put(themes.Text, "   ")
			b.Put(draw.InkKey, key)
			b.Put(themes.Text, " "+t.Words)
		}
	})
	b.At(b.Wide - draw.WidthOf(state))
	for _, s := range state {
		b.Put(s.Ink, s.S)
	}
}
