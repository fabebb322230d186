package tui

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/view"
)

// watchBox is where expressions to watch are typed, with those that are watched below.
type watchBox struct {
	input textinput.Model
	back  int // how far back in what was typed; 0 is the line that is new
	fresh string
	at    int // in the list, or -1: in the line
	top   int
}

// openWatch asks for an expression to watch.
func (m watchPane) openWatch() tea.Cmd {
	m.Overlay = &watchBox{input: view.NewInput(), at: -1}
	return nil
}

func (b *watchBox) PasteText(_ *view.State, msg tea.PasteMsg) tea.Cmd {
	b.input, _ = b.input.Update(msg)
	return nil
}

func (b *watchBox) PressKey(m *view.State, msg tea.KeyPressMsg) tea.Cmd {
	switch key := msg.String(); {
	case key == "esc":
		m.Overlay = nil
	case b.at >= 0:
		b.pressList(m, key)
	case key == "enter":
		expression := strings.TrimSpace(b.input.Value())
		if expression == "" {
			m.Overlay = nil
			return nil
		}
		m.Watch.AddWatch(expression)
		b.input.Reset()
		b.back = 0
	case key == "up":
		b.recallTyped(m, +1)
	case key == "down":
		if b.back > 0 {
			b.recallTyped(m, -1)
		} else if len(m.Watch.Texts) > 0 {
			b.at = 0
		}
	default:
		b.input, _ = b.input.Update(msg)
	}
	return nil
}

// pressList takes a key while the list has them.
func (b *watchBox) pressList(m *view.State, key string) {
	switch key {
	case "up", "k":
		b.at--
	case "down", "j":
		b.at = min(b.at+1, len(m.Watch.Texts)-1)
	case "d", "delete", "backspace", "ctrl+d":
		m.Watch.RemoveWatch(m.Watch.Texts[b.at])
		b.at = min(b.at, len(m.Watch.Texts)-1)
	case "enter", "e": // change it: it goes back into the line
		expression := m.Watch.Texts[b.at]
		m.Watch.RemoveWatch(expression)
		b.input.SetValue(expression)
		b.input.CursorEnd()
		b.at, b.back = -1, 0
	}
}

// recallTyped goes back, or forward again, in what was typed.
func (b *watchBox) recallTyped(m *view.State, by int) {
	before := m.Watch.Before
	if b.back == 0 {
		b.fresh = b.input.Value()
	}
	b.back = max(min(b.back+by, len(before)), 0)
	text := b.fresh
	if b.back > 0 {
		text = before[len(before)-b.back]
	}
	b.input.SetValue(text)
	b.input.CursorEnd()
}

func (b *watchBox) DrawLines(m *view.State, w, h int) (title string, body [][]draw.Text, foot string) {
	body = append(body, m.InputLine(&b.input))
	if b.at >= 0 {
		body[0] = []draw.Text{draw.Inked(themes.Dim, "> "+draw.Plain(b.input.Value()))}
	}
	room := max(h-1, 1)
	b.top = max(min(b.top, b.at), b.at-room+1, 0)
	list := m.Watch.Texts
	for i := b.top; i < min(b.top+room, len(list)); i++ {
		mark, look := draw.Inked(themes.Text, "  "), themes.Text
		if i == b.at {
			mark, look = draw.Inked(themes.Accent, m.Glyphs.Pointer+" "), draw.InkTitle
		}
		value := watchPane{m}.watchShown(list[i])
		value.S = draw.Plain(value.S)
		body = append(body, m.OppositeTexts(w, mark, draw.Inked(look, draw.Plain(list[i])), value))
	}
	foot = "enter adds   up: typed before   esc closes"
	switch {
	case b.at >= 0:
		foot = "d removes   enter changes it   esc closes"
	case len(list) > 0:
		foot = "enter adds   up: typed before   down: the list   esc closes"
	}
	return "Watch an expression", body, foot
}
