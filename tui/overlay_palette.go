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
	"moon/tui/view"
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

func newPalette(m *view.State) *palette {
	p := &palette{picker: newPicker()}
	var cannot []offer
	for _, do := range paletteIntents(m) {
		b := keymap.ByIntent[do]
		o := offer{do: do, name: b.Name, words: b.Words, right: m.Keys.Labels(do, m.KeyPlace())}
		if b.Where&m.KeyPlace() == 0 {
			o.why = "in " + keymap.PlaceWords(b.Where)
		} else {
			o.why = whyNot{m}.whyCannot(do)
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
	p.narrowItems()
	return p
}

// paletteIntents are the actions of the palette: what was used last, then the table. Of a run that is over it has none that could ask
// something of it.
func paletteIntents(m *view.State) []keymap.Intent {
	list := slices.Clone(m.Recent)
	for i := range keymap.Bindings {
		if do := keymap.Bindings[i].Do; do != keymap.ShowPalette && !slices.Contains(m.Recent, do) {
			list = append(list, do)
		}
	}
	return slices.DeleteFunc(list, func(do keymap.Intent) bool { return m.IsRecorded() && keymap.AsksTheRun(do) })
}

// typedCommand is the command that the line begins with.
func (p *palette) typedCommand() (c *command, arg string, argued bool) {
	word, arg, argued := strings.Cut(strings.TrimLeft(p.input.Value(), " :"), " ")
	return commandNamed(word), strings.TrimSpace(arg), argued
}

// narrowItems keeps what the line may mean.
func (p *palette) narrowItems() {
	p.wrong = ""
	defer func() { p.setLength(len(p.shown)) }()
	what := strings.TrimLeft(p.input.Value(), " :")
	if what == "" {
		p.shown = p.all
		return
	}
	p.shown = nil
	c, _, argued := p.typedCommand()
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

func (p *palette) PressKey(m *view.State, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		m.Overlay = nil
	case "enter":
		return p.enterLine(m)
	case "tab":
		if p.at < p.n && p.shown[p.at].command != nil {
			p.completeName(p.shown[p.at].command)
		}
	default:
		if p.picker.pressKey(msg) {
			p.narrowItems()
		}
	}
	return nil
}

// completeName writes the name of a command into the line, before what may be its argument.
func (p *palette) completeName(c *command) {
	_, arg, _ := strings.Cut(strings.TrimLeft(p.input.Value(), " :"), " ")
	p.input.SetValue(c.name + " " + arg)
	p.input.CursorEnd()
	p.narrowItems()
}

func (p *palette) PasteText(_ *view.State, msg tea.PasteMsg) tea.Cmd {
	p.input, _ = p.input.Update(msg)
	p.narrowItems()
	return nil
}

func (p *palette) enterLine(m *view.State) tea.Cmd {
	if p.at >= p.n {
		word, _, _ := strings.Cut(strings.TrimLeft(p.input.Value(), " :"), " ")
		p.wrong = fmt.Sprintf("unknown command `%s`", draw.CutRight(draw.Plain(word), 30, m.Glyphs.Dots))
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
		m.Overlay = nil
		m.RememberPicked(o.do)
		m.Want(view.DoIntent{Do: o.do})
		return nil
	}
	c, arg, _ := p.typedCommand()
	if c != o.command {
		arg = ""
	}
	if arg == "" && o.command.takes != "" {
		if c != o.command {
			p.completeName(o.command)
		}
		p.wrong = "type " + o.right
		return nil
	}
	m.Overlay = nil
	m.Want(view.TypedCommand{Name: o.command.name, Arg: arg})
	return nil
}

func (p *palette) DrawLines(m *view.State, w, h int) (title string, body [][]draw.Text, foot string) {
	body = append(body, m.InputLine(&p.input))
	room := max(h-1, 1)
	if p.wrong != "" {
		room = max(room-1, 1)
	}
	from, to := p.visibleRange(room)
	for i := from; i < to; i++ {
		body = append(body, p.drawLine(m, w, i))
	}
	if p.wrong != "" {
		body = append(body, []draw.Text{draw.Inked(themes.Warn, "  "+draw.CutRight(draw.Plain(p.wrong), max(w-2, 0), m.Glyphs.Dots))})
	}
	return ":", body, fmt.Sprintf("%d of %d actions   enter does it   esc closes", len(p.shown), len(p.all))
}

func (p *palette) drawLine(m *view.State, w, i int) []draw.Text {
	o := p.shown[i]
	mark, look := p.lineMark(m, i)
	if o.why != "" {
		return m.OppositeTexts(w, mark, draw.Inked(themes.Dim, o.words), draw.Inked(themes.Dim, draw.Plain(o.why)))
	}
	return m.OppositeTexts(w, mark, draw.Inked(look, o.words), draw.Inked(draw.InkKey, o.right))
}
