package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/view"
)

// textBox shows a text that is too long for a line.
type textBox struct {
	title string
	text  []string
	top   int
	n     int // lines, as last wrapped
}

func newTextBox(title, text string) *textBox {
	var indented bytes.Buffer
	if strings.ContainsAny(text[:min(len(text), 1)], "[{") && json.Indent(&indented, []byte(text), "", "  ") == nil {
		text = indented.String()
	}
	return &textBox{title: title, text: strings.Split(strings.TrimRight(text, "\n"), "\n")}
}

func (t *textBox) PasteText(*view.State, tea.PasteMsg) tea.Cmd { return nil }

func (t *textBox) PressKey(m *view.State, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc", "enter", "q":
		m.Overlay = nil
	case "down", "j":
		t.top++
	case "up", "k":
		t.top--
	case "pgdown", "ctrl+d", "space":
		t.top += 10
	case "pgup", "ctrl+u":
		t.top -= 10
	case "home", "g":
		t.top = 0
	case "end", "G":
		t.top = t.n
	}
	return nil
}

func (t *textBox) DrawLines(_ *view.State, w, h int) (title string, body [][]draw.Text, foot string) {
	var all []string
	for _, line := range t.text {
		all = append(all, draw.WrapText(draw.Plain(line), max(w, 1))...)
	}
	t.n = len(all)
	t.top = max(min(t.top, t.n-h), 0)
	for _, line := range all[t.top:min(t.top+h, t.n)] {
		body = append(body, []draw.Text{draw.Inked(themes.Text, line)})
	}
	foot = "esc closes"
	if t.n > h {
		foot = fmt.Sprintf("%d-%d of %d lines   esc closes", t.top+1, min(t.top+h, t.n), t.n)
	}
	return draw.Plain(t.title), body, foot
}
