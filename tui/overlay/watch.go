package overlay

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
)

// WatchList is where expressions to watch are typed, with those that are watched below.
type WatchList struct {
	of    Watches
	input textinput.Model
	back  int // how far back in what was typed; 0 is the line that is new
	fresh string
	at    int // in the list, or -1: in the line
	top   int
}

// Watches are the expressions that are watched.
type Watches interface {
	Texts() []string
	Typed() []string // before, the latest last
	Shown(expression string) draw.Text
}

// NewWatchList asks for an expression to watch.
func NewWatchList(of Watches) *WatchList { return &WatchList{of: of, input: NewInput(), at: -1} }

// Paste types into the line.
func (b *WatchList) Paste(_ Screen, msg tea.PasteMsg) []Want {
	b.input, _ = b.input.Update(msg)
	return nil
}

// Press types, or takes a key for the list.
func (b *WatchList) Press(_ Screen, msg tea.KeyPressMsg) []Want {
	switch key := msg.String(); {
	case key == "esc":
		return []Want{Close{}}
	case b.at >= 0:
		return b.pressList(key)
	case key == "enter":
		expression := strings.TrimSpace(b.input.Value())
		if expression == "" {
			return []Want{Close{}}
		}
		b.input.Reset()
		b.back = 0
		return []Want{Watch{expression}}
	case key == "up":
		b.recallTyped(+1)
	case key == "down":
		if b.back > 0 {
			b.recallTyped(-1)
		} else if len(b.of.Texts()) > 0 {
			b.at = 0
		}
	default:
		b.input, _ = b.input.Update(msg)
	}
	return nil
}

// pressList takes a key while the list has them.
func (b *WatchList) pressList(key string) []Want {
	texts := b.of.Texts()
	switch key {
	case "up", "k":
		b.at--
	case "down", "j":
		b.at = min(b.at+1, len(texts)-1)
	case "d", "delete", "backspace", "ctrl+d":
		removed := texts[b.at]
		b.at = min(b.at, len(texts)-2) // what is left when it has gone
		return []Want{Unwatch{removed}}
	case "enter", "e": // change it: it goes back into the line
		expression := texts[b.at]
		b.input.SetValue(expression)
		b.input.CursorEnd()
		b.at, b.back = -1, 0
		return []Want{Unwatch{expression}}
	}
	return nil
}

// recallTyped goes back, or forward again, in what was typed.
func (b *WatchList) recallTyped(by int) {
	before := b.of.Typed()
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

// Draw shows the line, and what is watched.
func (b *WatchList) Draw(s Screen, w, h int) (title string, body [][]draw.Text, foot string) {
	body = append(body, InputLine(s.Glyphs, &b.input))
	if b.at >= 0 {
		body[0] = []draw.Text{draw.Inked(themes.Dim, "> "+draw.Plain(b.input.Value()))}
	}
	room := max(h-1, 1)
	b.top = max(min(b.top, b.at), b.at-room+1, 0)
	list := b.of.Texts()
	for i := b.top; i < min(b.top+room, len(list)); i++ {
		mark, look := draw.Inked(themes.Text, "  "), themes.Text
		if i == b.at {
			mark, look = draw.Inked(themes.Accent, s.Glyphs.Pointer+" "), draw.InkTitle
		}
		value := b.of.Shown(list[i])
		value.S = draw.Plain(value.S)
		body = append(body, oppositeTexts(s.Glyphs, w, mark, draw.Inked(look, draw.Plain(list[i])), value))
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
