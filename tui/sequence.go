package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
)

// takeSequence takes a key as an intent, or as a part of a sequence.
func (m *model) takeSequence(key string) tea.Cmd {
	before := m.Sequence
	if before != "" && key == "esc" {
		m.Sequence = ""
		return nil
	}
	do, rest := m.Keys.Lookup(before, key, m.KeyPlace())
	m.Sequence = rest
	if do == keymap.IntentNone {
		if before != "" && rest == "" {
			m.ShowMessage(before + " " + key + " means nothing")
		}
		return nil
	}
	return m.doIntent(do)
}

// drawPending shows a sequence that waits for its rest, with what may follow.
func (m footerBar) drawPending(b *draw.Brush) {
	b.Put(draw.InkKey, m.Sequence+" "+m.Glyphs.Dots)
	tips, names := m.Keys.Follows(m.Sequence, m.KeyPlace())
	for i, t := range tips {
		b.Put(themes.Text, "   ")
		b.Put(draw.InkKey, names[i])
		b.Put(themes.Text, " "+t.Words)
	}
	b.Put(themes.Text, "   ")
	b.Put(draw.InkKey, "esc")
	b.Put(themes.Text, " cancels")
}

// withKeys leaves out what has no key: there is no hint to give.
func (m footerBar) withKeys(tips []keymap.Tip) []keymap.Tip {
	some := make([]keymap.Tip, 0, len(tips))
	for _, t := range tips {
		if m.Keys.Bound(t.Do) {
			some = append(some, t)
		}
	}
	return some
}
