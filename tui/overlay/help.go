package overlay

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
)

// Help shows the table of keys, those of this place first, and then what the signs mean. Typing narrows it.
type Help struct {
	picker
	where keymap.Place
	all   []helpLine
	shown []helpLine
	keys  int // shown lines that are no headlines
}

// helpLine is a headline, an action with its keys, or a sign with its word.
type helpLine struct {
	headline string
	keys     string
	look     draw.Ink // of keys
	words    string
	name     string
}

// NewHelp lists the keys, those of a place first.
func NewHelp(s Screen, where keymap.Place) *Help {
	h := &Help{picker: newPicker(), where: where}
	h.addTable(s, "", func(b *keymap.Binding) bool { return b.Where&h.where != 0 })
	for in, where := range keymap.Places {
		if where != h.where {
			// What works here too has been said.
			h.addTable(s, ", in "+keymap.PlaceWords(keymap.Places[in]), func(b *keymap.Binding) bool {
				return b.Where&h.where == 0 && b.Where&where != 0 && firstOf(b.Where&^h.where) == where
			})
		}
	}
	h.addLegend(s.Glyphs)
	h.narrowLines()
	return h
}

// firstOf is the first of some places, under which an action is listed that works in several.
func firstOf(where keymap.Place) keymap.Place { return where & -where }

// addTable adds the actions that are meant, in groups.
func (h *Help) addTable(s Screen, suffix string, meant func(*keymap.Binding) bool) {
	last := keymap.Groups
	for i := range keymap.Bindings {
		b := &keymap.Bindings[i]
		// Of a run that is over nothing can be asked, so keys that do are not listed.
		if !meant(b) || s.IsRecorded() && keymap.AsksTheRun(b.Do) {
			continue
		}
		if b.Group != last {
			h.all = append(h.all, helpLine{headline: keymap.GroupWords[b.Group] + suffix})
			last = b.Group
		}
		keys := s.Keys.Labels(b.Do, h.where)
		h.all = append(h.all, helpLine{keys: keys, look: draw.InkKey, words: b.Words, name: b.Name})
	}
}

// addLegend says what the signs of the tree mean.
func (h *Help) addLegend(g *draw.Glyphs) {
	add := func(glyph string, look draw.Ink, words string) {
		h.all = append(h.all, helpLine{keys: glyph, look: look, words: words})
	}
	h.all = append(h.all, helpLine{headline: "Signs"})
	for s := draw.SignUnapproved; s < draw.Signs; s++ {
		add(g.Signs[s], draw.SignLooks[s].Role, draw.SignLooks[s].Word)
	}
	add(g.Brk, themes.Failed, "breakpoint")
	add(g.BrkIf, themes.Failed, "breakpoint with a condition or a count")
	add(g.BrkLog, themes.Accent, "says something there, and does not stop")
	add(g.Pointer, themes.Accent, "where the run is")
	add(g.Mark, themes.Selection, "marked")
	add(g.Closed, themes.Dim, "folded")
	add(g.Open, themes.Dim, "open")
}

// narrowLines keeps the lines in which each word that was typed occurs, or that have it as a key, with their headlines.
func (h *Help) narrowLines() {
	h.shown, h.keys = nil, 0
	what := strings.ToLower(strings.TrimSpace(h.input.Value()))
	headline := ""
	for _, l := range h.all {
		switch {
		case l.headline != "":
			headline = l.headline
		case l.matchesWord(what, h.input.Value()):
			// A headline waits for the first line that is kept below it, so that no group is empty.
			if headline != "" {
				h.shown = append(h.shown, helpLine{headline: headline})
				headline = ""
			}
			h.shown = append(h.shown, l)
			h.keys++
		}
	}
	h.setLength(len(h.shown))
}

func (l *helpLine) matchesWord(what, typed string) bool {
	// Keys are compared as they were typed: `g` and `G` are two.
	for key := range strings.SplitSeq(l.keys, "  ") {
		if key == strings.TrimSpace(typed) {
			return true
		}
	}
	for word := range strings.FieldsSeq(what) {
		if !strings.Contains(strings.ToLower(l.words+" "+l.name), word) {
			return false
		}
	}
	return true
}

// Press moves in the list, or narrows it.
func (h *Help) Press(_ Screen, msg tea.KeyPressMsg) []Want {
	switch key := msg.String(); {
	case key == "esc", key == "enter", key == "?" && h.input.Value() == "":
		// `?` closes what it has opened, but only while nothing is typed: then it is a character.
		return []Want{Close{}}
	case key == "home":
		h.top = 0
	case key == "end":
		// Drawing brings it back to the last full page, as only there is known how many lines fit.
		h.top = h.n
	case key == "down", key == "ctrl+n":
		h.top++
	case key == "up", key == "ctrl+p":
		h.top--
	case key == "pgdown", key == "ctrl+d":
		h.top += 10
	case key == "pgup", key == "ctrl+u":
		h.top -= 10
	default:
		if h.pressKey(msg) {
			h.narrowLines()
		}
	}
	return nil
}

// Paste narrows the list.
func (h *Help) Paste(_ Screen, msg tea.PasteMsg) []Want {
	h.input, _ = h.input.Update(msg)
	h.narrowLines()
	return nil
}

// keyColumn is what the help leaves for keys.
const keyColumn = 16

// Draw lists what is not narrowed away.
func (h *Help) Draw(s Screen, w, high int) (title string, body [][]draw.Text, foot string) {
	body = append(body, InputLine(s.Glyphs, &h.input))
	room := max(high-1, 1)
	h.top = max(min(h.top, h.n-room), 0)
	column := min(keyColumn, w/2)
	for _, l := range h.shown[h.top:min(h.top+room, h.n)] {
		if l.headline != "" {
			body = append(body, []draw.Text{draw.Inked(draw.InkTitle, l.headline)})
			continue
		}
		keys := draw.CutRight(l.keys, max(column-3, 1), s.Glyphs.Dots)
		words := l.words
		// What has no key can still be done by its name, in the palette.
		if l.keys == "" {
			words += "  :" + l.name
		}
		body = append(body, []draw.Text{
			draw.Inked(themes.Text, "  "),
			draw.Inked(l.look, keys+draw.Spaces(max(column-2-draw.Cells(keys), 0))),
			draw.Inked(themes.Text, draw.CutRight(words, max(w-column, 0), s.Glyphs.Dots)),
		})
	}
	where := map[keymap.Place]string{keymap.InTree: "the plan", keymap.InDetail: "this tab", keymap.InOutput: "the output"}[h.where]
	foot = fmt.Sprintf("%d of %d   type to narrow   esc closes", h.keys, h.countLines())
	if h.n > room {
		foot = fmt.Sprintf("%d-%d of %d lines   type to narrow   esc closes", h.top+1, min(h.top+room, h.n), h.n)
	}
	return "Keys in " + where, body, foot
}

// countLines returns how many lines there would be with nothing typed.
func (h *Help) countLines() (n int) {
	for i := range h.all {
		if h.all[i].headline == "" {
			n++
		}
	}
	return n
}

// Names are the actions that are listed.
func (h *Help) Names() (names []string) {
	for i := range h.all {
		if h.all[i].name != "" {
			names = append(names, h.all[i].name)
		}
	}
	return names
}
