package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"moon/internal/suggest"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
)

// palette lists everything that can be done, and does what is picked or typed. What makes no sense now is there too, with why:
// who looks for it shall not think that there is no such thing.
type palette struct {
	picker
	all   []offer
	shown []offer
	wrong string // with what was typed
}

// offer is a line of the palette: an action, or a command that takes an argument.
type offer struct {
	do          keymap.Intent
	command     *command
	name, words string
	right       string // its key, or how it is typed
	why         string // it cannot be done
}

func newPalette(m *view) *palette {
	p := &palette{picker: newPicker()}
	var cannot []offer
	for _, do := range m.offered() {
		b := keymap.ByIntent[do]
		o := offer{do: do, name: b.Name, words: b.Words, right: m.keys.Labels(do, m.place())}
		if b.Where&m.place() == 0 {
			o.why = "in " + keymap.PlaceWords(b.Where)
		} else {
			o.why = whyNot{m}.cannot(do)
		}
		if o.why != "" {
			cannot = append(cannot, o)
		} else {
			p.all = append(p.all, o)
		}
	}
	for i := range commands {
		c := &commands[i]
		o := offer{command: c, name: c.name, words: c.words, right: ":" + strings.TrimSpace(c.name+" "+c.takes)}
		if c.cannot != nil {
			o.why = c.cannot(m)
		}
		if o.why != "" {
			cannot = append(cannot, o)
		} else {
			p.all = append(p.all, o)
		}
	}
	p.all = append(p.all, cannot...)
	p.narrow()
	return p
}

// offered are the actions of the palette: what was used last, then the table. Of a run that is over it has none that could ask
// something of it.
func (m *view) offered() []keymap.Intent {
	list := slices.Clone(m.recent)
	for i := range keymap.Bindings {
		if do := keymap.Bindings[i].Do; do != keymap.ShowPalette && !slices.Contains(m.recent, do) {
			list = append(list, do)
		}
	}
	return slices.DeleteFunc(list, func(do keymap.Intent) bool { return m.recorded() && keymap.AsksTheRun(do) })
}

// recently remembers what was picked, the latest first.
func (m *view) recently(do keymap.Intent) {
	const keep = 5
	m.recent = slices.Insert(slices.DeleteFunc(m.recent, func(d keymap.Intent) bool { return d == do }), 0, do)
	m.recent = m.recent[:min(len(m.recent), keep)]
}

// typed is the command that the line begins with.
func (p *palette) typed() (c *command, arg string, argued bool) {
	word, arg, argued := strings.Cut(strings.TrimLeft(p.input.Value(), " :"), " ")
	return commandNamed(word), strings.TrimSpace(arg), argued
}

// narrow keeps what the line may mean.
func (p *palette) narrow() {
	p.wrong = ""
	defer func() { p.has(len(p.shown)) }()
	what := strings.TrimLeft(p.input.Value(), " :")
	if what == "" {
		p.shown = p.all
		return
	}
	p.shown = nil
	c, _, argued := p.typed()
	first := func(o offer) bool { return c != nil && o.command == c && (argued || c.takes == "") || o.name == what }
	for _, o := range p.all {
		if first(o) {
			p.shown = append(p.shown, o)
		}
	}
	if c != nil && argued {
		return
	}
	texts := make([]string, len(p.all))
	for i, o := range p.all {
		texts[i] = o.name + " " + o.words
	}
	for _, hit := range fuzzy.Find(what, texts) {
		// Letters strewn over a sentence are no match: enter would do what nobody meant.
		good := hit.Score > 0 || strings.Contains(strings.ToLower(texts[hit.Index]), strings.ToLower(what))
		if o := p.all[hit.Index]; good && !first(o) {
			p.shown = append(p.shown, o)
		}
	}
}

func (p *palette) press(m *model, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		m.overlay = nil
	case "enter":
		return p.enter(m)
	case "tab":
		if p.at < p.n && p.shown[p.at].command != nil {
			p.complete(p.shown[p.at].command)
		}
	default:
		if p.picker.press(msg) {
			p.narrow()
		}
	}
	return nil
}

// complete writes the name of a command into the line, before what may be its argument.
func (p *palette) complete(c *command) {
	_, arg, _ := strings.Cut(strings.TrimLeft(p.input.Value(), " :"), " ")
	p.input.SetValue(c.name + " " + arg)
	p.input.CursorEnd()
	p.narrow()
}

func (p *palette) paste(_ *model, msg tea.PasteMsg) tea.Cmd {
	p.input, _ = p.input.Update(msg)
	p.narrow()
	return nil
}

func (p *palette) enter(m *model) tea.Cmd {
	if p.at >= p.n {
		word, _, _ := strings.Cut(strings.TrimLeft(p.input.Value(), " :"), " ")
		p.wrong = fmt.Sprintf("unknown command `%s`", draw.CutRight(draw.Plain(word), 30, m.glyphs.Dots))
		if hint := suggest.DidYouMean(word, commandNames()); hint != "" {
			p.wrong += "; " + hint
		}
		return nil
	}
	o := p.shown[p.at]
	if o.why != "" {
		p.wrong = o.why
		return nil
	}
	if o.command == nil {
		m.overlay = nil
		m.recently(o.do)
		return m.do(o.do)
	}
	c, arg, _ := p.typed()
	if c != o.command {
		arg = ""
	}
	if arg == "" && o.command.takes != "" {
		if c != o.command {
			p.complete(o.command)
		}
		p.wrong = "type " + o.right
		return nil
	}
	m.overlay = nil
	return m.command(o.command, arg)
}

func (p *palette) lines(m *view, w, h int) (title string, body [][]draw.Text, foot string) {
	body = append(body, m.inputLine(&p.input))
	room := max(h-1, 1)
	if p.wrong != "" {
		room = max(room-1, 1)
	}
	from, to := p.window(room)
	for i := from; i < to; i++ {
		body = append(body, p.line(m, w, i))
	}
	if p.wrong != "" {
		body = append(body, []draw.Text{draw.Inked(themes.Warn, "  "+draw.CutRight(draw.Plain(p.wrong), max(w-2, 0), m.glyphs.Dots))})
	}
	return ":", body, fmt.Sprintf("%d of %d actions   enter does it   esc closes", len(p.shown), len(p.all))
}

func (p *palette) line(m *view, w, i int) []draw.Text {
	o := p.shown[i]
	mark, look := p.mark(m, i)
	if o.why != "" {
		return m.opposite(w, mark, draw.Inked(themes.Dim, o.words), draw.Inked(themes.Dim, draw.Plain(o.why)))
	}
	return m.opposite(w, mark, draw.Inked(look, o.words), draw.Inked(draw.InkKey, o.right))
}
