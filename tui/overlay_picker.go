package tui

import (
	"fmt"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"moon/themes"
)

// picker is a list of intents with a line to type in that narrows it: the palette, which does what is picked, and
// the help, which only shows.
type picker struct {
	title string
	runs  bool
	all   []binding
	shown []binding
	input textinput.Model
	at    int
	top   int
	place place // where the keys went when it was opened
}

// newPalette lists everything that can be done here.
func newPalette(m *model) *picker { return newPicker(m, ":", true) }

// newHelp lists the keys of this place.
func newHelp(m *model) *picker {
	where := map[place]string{inTree: "the plan", inDetail: "this tab", inOutput: "the output"}[m.place()]
	return newPicker(m, "Keys in "+where, false)
}

func newPicker(m *model, title string, runs bool) *picker {
	p := &picker{title: title, runs: runs, input: newInput(), place: m.place()}
	for _, b := range bindings {
		if b.where&p.place == 0 || b.do == sourceEdit && !m.canEdit() || runs && b.do == showPalette || m.recorded() && asksTheRun(b.do) {
			continue
		}
		p.all = append(p.all, b)
	}
	p.narrow()
	return p
}

func (p *picker) narrow() {
	p.at, p.top = 0, 0
	what := p.input.Value()
	if what == "" {
		p.shown = p.all
		return
	}
	texts := make([]string, len(p.all))
	for i, b := range p.all {
		texts[i] = searchable(&b)
	}
	p.shown = nil
	for _, hit := range fuzzy.Find(what, texts) {
		// Letters strewn over a sentence are no match, unless nothing is better.
		if hit.Score > 0 || len(p.shown) == 0 {
			p.shown = append(p.shown, p.all[hit.Index])
		}
	}
}

func (p *picker) press(m *model, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		m.overlay = nil
	case "enter":
		m.overlay = nil
		if p.runs && p.at < len(p.shown) {
			return m.do(p.shown[p.at].do)
		}
	case "down", "ctrl+n":
		p.at = min(p.at+1, max(len(p.shown)-1, 0))
	case "up", "ctrl+p":
		p.at = max(p.at-1, 0)
	case "pgdown":
		p.at = min(p.at+10, max(len(p.shown)-1, 0))
	case "pgup":
		p.at = max(p.at-10, 0)
	case "?":
		if !p.runs && p.input.Value() == "" {
			m.overlay = nil
		}
	default:
		p.input, _ = p.input.Update(msg)
		p.narrow()
	}
	return nil
}

func (p *picker) paste(_ *model, msg tea.PasteMsg) tea.Cmd {
	p.input, _ = p.input.Update(msg)
	p.narrow()
	return nil
}

// keyColumn is what the help leaves for keys.
const keyColumn = 16

func (p *picker) lines(m *model, w, h int) (title string, body [][]text, foot string) {
	body = append(body, m.inputLine(&p.input))
	room := max(h-1, 1)
	p.top = max(min(p.top, p.at), p.at-room+1, 0)
	for i := p.top; i < min(p.top+room, len(p.shown)); i++ {
		body = append(body, p.line(m, w, i))
	}
	foot = fmt.Sprintf("%d of %d", len(p.shown), len(p.all))
	if p.runs {
		return p.title, body, foot + " actions   enter does it   esc closes"
	}
	return p.title, body, foot + " keys   type to narrow   esc closes"
}

func (p *picker) line(m *model, w, i int) []text {
	b := p.shown[i]
	look, mark := themes.Text, "  "
	if i == p.at {
		look, mark = inkTitle, m.glyphs.pointer+" "
	}
	keys := b.labels()
	if !p.runs {
		return []text{
			{themes.Accent, mark},
			{inkKey, keys + spaces(keyColumn-len(keys))},
			{look, cutRight(b.words, w-keyColumn-2, m.glyphs.dots)},
		}
	}
	words := cutRight(b.words, w-len(keys)-4, m.glyphs.dots)
	return []text{{themes.Accent, mark}, {look, words}, {themes.Text, spaces(w - 2 - cells(words) - len(keys))}, {inkKey, keys}}
}

// inputLine is a line to type in, with its cursor.
func (m *model) inputLine(in *textinput.Model) []text {
	value := []rune(in.Value())
	at := min(max(in.Position(), 0), len(value))
	return []text{
		{inkKey, "> "},
		{themes.Text, plain(string(value[:at]))},
		{themes.Accent, m.glyphs.caret},
		{themes.Text, plain(string(value[at:]))},
	}
}

// searchable is the text of an action as the palette looks for it.
func searchable(b *binding) string { return b.name + " " + b.words }
