package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/themes"
)

// pressed takes a key as an intent, or as a part of a sequence.
func (m *model) pressed(key string) tea.Cmd {
	before := m.sequence
	if before != "" && key == "esc" {
		m.sequence = ""
		return nil
	}
	do, rest := m.keys.lookup(before, key, m.place())
	m.sequence = rest
	if do == intentNone {
		if before != "" && rest == "" {
			m.say(before + " " + key + " means nothing")
		}
		return nil
	}
	return m.do(do)
}

// pending shows a sequence that waits for its rest, with what may follow.
func (m *model) pending(b *brush) {
	b.put(inkKey, m.sequence+" "+m.glyphs.dots)
	tips, names := m.keys.follows(m.sequence, m.place())
	for i, t := range tips {
		b.put(themes.Text, "   ")
		b.put(inkKey, names[i])
		b.put(themes.Text, " "+t.words)
	}
	b.put(themes.Text, "   ")
	b.put(inkKey, "esc")
	b.put(themes.Text, " cancels")
}

// withKeys leaves out what has no key: there is no hint to give.
func (m *model) withKeys(tips []tip) []tip {
	some := make([]tip, 0, len(tips))
	for _, t := range tips {
		if m.keys.bound(t.do) {
			some = append(some, t)
		}
	}
	return some
}
