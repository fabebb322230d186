package picker_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/picker"
)

func list() *picker.Picker {
	return picker.New("moon", []picker.Item{
		{Section: "runs", Name: "20261102-a", About: "site.yml", Words: "running 1/4", Ink: themes.Running, Verb: "attach"},
		{Section: "playbooks", Name: "site.yml", About: "the shop, which has a long description of what it is", Words: "done", Ink: themes.OK, Verb: "review"},
		{Section: "playbooks", Name: "ops/\x1b[31mdb.yml", About: "é databases", Verb: "review"},
	})
}

// frame is what is on the terminal, without colours and blanks at the ends of lines.
func frame(t *testing.T, p *picker.Picker, g *draw.Glyphs, width, height int) string {
	t.Helper()
	theme, _ := themes.Load("terminal", "", true)
	text := p.Draw(draw.NewPen(theme), g, width, height)
	lines := strings.Split(ansi.Strip(text), "\n")
	if len(lines) != height {
		t.Errorf("%d lines in a terminal of %d", len(lines), height)
	}
	for i, l := range lines {
		if w := ansi.StringWidth(l); w != width {
			t.Errorf("line %d has %d cells, not %d: %q", i, w, width, l)
		}
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

func TestFrames(t *testing.T) {
	p := list()
	if got, want := frame(t, p, &draw.UnicodeGlyphs, 60, 12), strings.TrimPrefix(`
 moon
 > type to search
────────────────────────────────────────────────────────────
 runs
   20261102-a  site.yml                         running 1/4

 playbooks
   site.yml    the shop, which has a long description… done
   ops/db.yml  é databases


 enter attach    ↑↓ move    esc leave     3 of 3`, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	p.Press("down", "", 8)
	for _, c := range "DATA ops" {
		p.Press(string(c), string(c), 8)
	}
	if got, want := frame(t, p, &draw.AsciiGlyphs, 34, 7), strings.TrimPrefix(`
 moon
 > DATA ops
----------------------------------
 playbooks
   ops/db.yml  é databases

 enter review    up/down move    e`, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	p.Type("x")
	if got := frame(t, p, &draw.UnicodeGlyphs, 60, 6); !strings.Contains(got, "nothing matches") || p.Press("enter", "", 8) {
		t.Errorf("got\n%s", got)
	}
	for height := range 14 { // as terminals are while they are resized
		for width := range 70 {
			if width > 0 && height > 0 {
				frame(t, list(), &draw.UnicodeGlyphs, width, height)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	for keys, want := range map[string]int{
		"enter": 0, "down enter": 1, "down down down down enter": 2, "end up enter": 1, "end home enter": 0, "esc": -1, "ctrl+c": -1,
		"down esc": -1, "pgdown enter": 2, "pgdown pgup enter": 0, "tab ctrl+p ctrl+n enter": 1,
	} {
		p := list()
		ended := false
		for key := range strings.FieldsSeq(keys) {
			if ended {
				t.Errorf("%s: it ended before %s", keys, key)
			}
			ended = p.Press(key, "", 8)
		}
		if !ended || p.Taken != want {
			t.Errorf("%s: took %d, not %d", keys, p.Taken, want)
		}
	}
	p := list() // a search is cleared before the list is left, and narrows what is taken
	p.Type("shop")
	if p.Press("backspace", "", 8) || p.Press("esc", "", 8) {
		t.Error("esc leaves while something is searched for")
	}
	p.Type("shop")
	if !p.Press("enter", "", 8) || p.Taken != 1 {
		t.Error(p.Taken)
	}
}
