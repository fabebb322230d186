package overlay

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"moon/internal/suggest"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
)

// Palette lists everything that can be done, and does what is picked or typed. What makes no sense now is there too, with why:
// who looks for it shall not think that there is no such thing.
type Palette struct {
	picker
	all   []Offer
	shown []Offer
	wrong string // with what was typed
}

// Offer is a line of the palette: an action, or a command that takes an argument.
type Offer struct {
	Do          keymap.Intent
	Command     *Command
	Name, Words string
	Right       string // its key, or how it is typed
	Why         string // it cannot be done
}

// Command is what can be typed, with an argument.
type Command struct {
	Name, Short string // Short is another name, or ""
	Takes       string // how its argument is called; "": none
}

// NewPalette offers actions and commands, what can be done first.
func NewPalette(offers []Offer) *Palette {
	p := &Palette{picker: newPicker(), all: offers}
	p.narrowItems()
	return p
}

// Offers are all lines.
func (p *Palette) Offers() []Offer { return p.all }

// typedCommand is the command that the line begins with.
func (p *Palette) typedCommand() (c *Command, arg string, argued bool) {
	word, arg, argued := strings.Cut(strings.TrimLeft(p.input.Value(), " :"), " ")
	for _, o := range p.all {
		// Only a whole name counts: what resembles one must not take what follows for its argument.
		if o.Command != nil && word != "" && (o.Command.Name == word || o.Command.Short == word) {
			c = o.Command
		}
	}
	return c, strings.TrimSpace(arg), argued
}

// narrowItems keeps what the line may mean.
func (p *Palette) narrowItems() {
	p.wrong = ""
	defer func() { p.setLength(len(p.shown)) }()
	what := strings.TrimLeft(p.input.Value(), " :")
	if what == "" {
		p.shown = p.all
		return
	}
	p.shown = nil
	c, _, argued := p.typedCommand()
	// Enter does the first line, so what was typed in full goes before what only resembles it.
	first := func(o Offer) bool { return c != nil && o.Command == c && (argued || c.Takes == "") || o.Name == what }
	for _, o := range p.all {
		if first(o) {
			p.shown = append(p.shown, o)
		}
	}
	// From the blank on it is an argument, which must not find other actions.
	if c != nil && argued {
		return
	}
	texts := make([]string, len(p.all))
	for i, o := range p.all {
		texts[i] = o.Name + " " + o.Words
	}
	for _, hit := range fuzzy.Find(what, texts) {
		// Letters strewn over a sentence are no match: enter would do what was not meant.
		good := hit.Score > 0 || strings.Contains(strings.ToLower(texts[hit.Index]), strings.ToLower(what))
		if o := p.all[hit.Index]; good && !first(o) {
			p.shown = append(p.shown, o)
		}
	}
}

// Press narrows the list, moves in it, or does what is chosen.
func (p *Palette) Press(s Screen, msg tea.KeyPressMsg) []Want {
	switch msg.String() {
	case "esc":
		return []Want{Close{}}
	case "enter":
		return p.enterLine(s)
	case "tab":
		if p.at < p.n && p.shown[p.at].Command != nil {
			p.completeName(p.shown[p.at].Command)
		}
	default:
		if p.pressKey(msg) {
			p.narrowItems()
		}
	}
	return nil
}

// completeName writes the name of a command into the line, before what may be its argument.
func (p *Palette) completeName(c *Command) {
	_, arg, _ := strings.Cut(strings.TrimLeft(p.input.Value(), " :"), " ")
	p.input.SetValue(c.Name + " " + arg)
	p.input.CursorEnd()
	p.narrowItems()
}

// Paste narrows the list.
func (p *Palette) Paste(_ Screen, msg tea.PasteMsg) []Want {
	p.input, _ = p.input.Update(msg)
	p.narrowItems()
	return nil
}

// enterLine does what is chosen, or says why it cannot be done.
func (p *Palette) enterLine(s Screen) []Want {
	if p.at >= p.n {
		word, _, _ := strings.Cut(strings.TrimLeft(p.input.Value(), " :"), " ")
		p.wrong = fmt.Sprintf("unknown command `%s`", draw.CutRight(draw.Plain(word), 30, s.Glyphs.Dots))
		if hint := suggest.DidYouMean(word, p.knownNames()); hint != "" {
			p.wrong += "; " + hint
		}
		return nil
	}
	o := p.shown[p.at]
	if o.Why != "" {
		p.wrong = o.Why
		return nil
	}
	if o.Command == nil {
		return []Want{Close{}, Do{Intent: o.Do}}
	}
	c, arg, _ := p.typedCommand()
	if c != o.Command {
		// What was typed has found this line, but is not its argument.
		arg = ""
	}
	if arg == "" && o.Command.Takes != "" {
		if c != o.Command {
			p.completeName(o.Command)
		}
		p.wrong = "type " + o.Right
		return nil
	}
	return []Want{Close{}, RunCommand{o.Command.Name, arg}}
}

// knownNames are all words that the palette takes.
func (p *Palette) knownNames() (names []string) {
	for _, o := range p.all {
		if o.Command != nil {
			names = append(names, o.Command.Name)
		}
	}
	for i := range keymap.Bindings {
		names = append(names, keymap.Bindings[i].Name)
	}
	return names
}

// Click chooses a line; a double click does it, if the mouse may.
func (p *Palette) Click(_ Screen, row int, double bool) []Want {
	i := p.top + row - 1 // the first row is typed in
	if row < 1 || i >= p.n {
		return nil
	}
	p.at = i
	o := p.shown[i]
	switch {
	case !double:
	case o.Why != "":
		p.wrong = o.Why
	case o.Command != nil:
		p.completeName(o.Command)
	default:
		// The mouse never decides: Clicked lets the intent be refused where it would.
		return []Want{Close{}, Do{Intent: o.Do, Clicked: true}}
	}
	return nil
}

// Draw lists what the line may mean.
func (p *Palette) Draw(s Screen, w, h int) (title string, body [][]draw.Text, foot string) {
	body = append(body, InputLine(s.Glyphs, &p.input))
	room := max(h-1, 1)
	if p.wrong != "" {
		room = max(room-1, 1)
	}
	from, to := p.visibleRange(room)
	for i := from; i < to; i++ {
		body = append(body, p.drawLine(s, w, i))
	}
	if p.wrong != "" {
		body = append(body, []draw.Text{draw.Inked(themes.Warn, "  "+draw.CutRight(draw.Plain(p.wrong), max(w-2, 0), s.Glyphs.Dots))})
	}
	return ":", body, fmt.Sprintf("%d of %d actions   enter does it   esc closes", len(p.shown), len(p.all))
}

func (p *Palette) drawLine(s Screen, w, i int) []draw.Text {
	o := p.shown[i]
	mark, look := p.lineMark(s.Glyphs, i)
	if o.Why != "" {
		return oppositeTexts(s.Glyphs, w, mark, draw.Inked(themes.Dim, o.Words), draw.Inked(themes.Dim, draw.Plain(o.Why)))
	}
	return oppositeTexts(s.Glyphs, w, mark, draw.Inked(look, o.Words), draw.Inked(draw.InkKey, o.Right))
}
