package tui

import "moon/themes"

// drawBare draws the detail on the whole screen without anything beside it, so that what is selected with the mouse of
// the terminal is the text and nothing else. One line at the bottom says the rest.
func (m *model) drawBare(b *brush, l layout) {
	text := m.detailBody(l.detailW+1, l.detailH)
	for i := range l.detailH {
		b.begin(l.wide, onRow)
		text.row(b, i)
		b.end()
		b.newline()
	}
	b.begin(l.wide, onRow)
	defer b.end()
	if m.prompt != nil {
		m.prompt.draw(m, b)
		return
	}
	m.bareLine(b)
}

// bareLine is the one line: what is shown, where in it, a message or the keys, and the state of the run.
func (m *model) bareLine(b *brush) {
	state := m.headline(2)
	room := max(b.left-widthOf(state)-2, 0)
	b.keep(b.left-room, func() {
		b.put(inkTabFocus, m.tabName(m.detail.tab))
		if m.message != "" {
			b.put(themes.Warn, "  "+cutRight(m.message, max(b.left-2, 0), m.glyphs.dots))
			return
		}
		title := plain(m.tree.title(m.at()))
		b.put(themes.Text, "  "+cutMiddle(title, max(b.left/3, 8), m.glyphs.dots))
		if m.detail.tab == tabOutputs {
			b.put(themes.Dim, "  "+m.outputTitle(b.left-2, false))
		}
		for _, t := range []tip{{goBack, "back"}, {copyMenu, "copy"}, {findText, "find"}, {outputWrap, "wrap"}} {
			key := m.keys.label(t.do)
			if b.left < len(key)+len(t.words)+4 || m.detail.tab != tabOutputs && t.do == outputWrap {
				return
			}
			b.put(themes.Text, "   ")
			b.put(inkKey, key)
			b.put(themes.Text, " "+t.words)
		}
	})
	b.at(b.wide - widthOf(state))
	for _, s := range state {
		b.put(s.ink, s.s)
	}
}
