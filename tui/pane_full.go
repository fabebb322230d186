package tui

import (
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
)

// drawBare draws the detail on the whole screen without anything beside it, so that what is selected with the mouse of
// the terminal is the text and nothing else. One line at the bottom says the rest.
func (m frame) drawBare(b *draw.Brush, l layout) {
	text := detailPane(m).detailBody(l.detailW+1, l.detailH)
	for i := range l.detailH {
		b.Begin(l.wide, draw.OnRow)
		text.drawRow(b, i)
		b.End()
		b.Newline()
	}
	b.Begin(l.wide, draw.OnRow)
	defer b.End()
	if m.prompt != nil {
		m.prompt.drawPrompt(m.view, b)
		return
	}
	outputPane(m).bareLine(b)
}

// bareLine is the one line: what is shown, where in it, a message or the keys, and the state of the run.
func (m outputPane) bareLine(b *draw.Brush) {
	state := m.headlineTexts(2)
	room := max(b.Left-draw.WidthOf(state)-2, 0)
	b.Keep(b.Left-room, func() {
		b.Put(draw.InkTabFocus, m.tabName(m.detail.tab))
		if m.message != "" {
			b.Put(themes.Warn, "  "+draw.CutRight(m.message, max(b.Left-2, 0), m.glyphs.Dots))
			return
		}
		title := draw.Plain(m.Tree.Title(m.cursorNode()))
		b.Put(themes.Text, "  "+draw.CutMiddle(title, max(b.Left/3, 8), m.glyphs.Dots))
		if m.detail.tab == tabOutputs {
			b.Put(themes.Dim, "  "+m.outputTitle(b.Left-2, false))
		}
		for _, t := range []keymap.Tip{
			keymap.TipOf(keymap.GoBack, "back"), keymap.TipOf(keymap.CopyMenu, "copy"),
			keymap.TipOf(keymap.FindText, "find"), keymap.TipOf(keymap.OutputWrap, "wrap"),
		} {
			key := m.keys.Label(t.Do)
			if b.Left < len(key)+len(t.Words)+4 || m.detail.tab != tabOutputs && t.Do == keymap.OutputWrap {
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
