package overlay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
)

// Text shows a text that is too long for a line.
type Text struct {
	title string
	text  []string
	top   int
	n     int // lines, as last wrapped
}

// NewText shows a text. JSON is laid out over several lines.
func NewText(title, text string) *Text {
	var indented bytes.Buffer
	if strings.ContainsAny(text[:min(len(text), 1)], "[{") && json.Indent(&indented, []byte(text), "", "  ") == nil {
		text = indented.String()
	}
	return &Text{title: title, text: strings.Split(strings.TrimRight(text, "\n"), "\n")}
}

// Press moves in the text.
func (t *Text) Press(_ Screen, msg tea.KeyPressMsg) []Want {
	switch msg.String() {
	case "esc", "enter", "q":
		return []Want{Close{}}
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

// Draw returns what shows of the text.
func (t *Text) Draw(_ Screen, w, h int) (title string, body [][]draw.Text, foot string) {
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
