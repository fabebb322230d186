package overlay

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
)

// Prompt is the line at the bottom where a text to find is typed: in the tree, where every key finds at once, or in an output.
type Prompt struct {
	input  textinput.Model
	only   bool // show only matches
	output bool // find in the output
}

// NewPrompt is an empty line. only says that the tree shows only matches.
func NewPrompt(only, output bool) *Prompt {
	return &Prompt{input: NewInput(), only: only, output: output}
}

// InOutput reports whether it finds in the output.
func (p *Prompt) InOutput() bool { return p.output }

// Press types, or ends typing.
func (p *Prompt) Press(_ Screen, msg tea.KeyPressMsg) []Want {
	switch msg.String() {
	case "esc":
		return []Want{EndFind{}}
	case "enter":
		if p.output && p.input.Value() == "" { // what was looked for before
			return []Want{EndFind{}, FindNext{+1}}
		}
		return []Want{EndFind{Keep: true}}
	case "tab":
		// An output has no rows that could be hidden.
		if p.output {
			return nil
		}
		p.only = !p.only
		return p.find()
	case "up":
		return []Want{FindNext{-1}}
	case "down":
		return []Want{FindNext{+1}}
	}
	p.input, _ = p.input.Update(msg)
	return p.find()
}

// Paste types.
func (p *Prompt) Paste(_ Screen, msg tea.PasteMsg) []Want {
	p.input, _ = p.input.Update(msg)
	return p.find()
}

func (p *Prompt) find() []Want { return []Want{Find{p.input.Value(), p.only}} }

// DrawLine writes the line into the stretch that is open. found says how much was found; "": nothing is looked for.
func (p *Prompt) DrawLine(g *draw.Glyphs, b *draw.Brush, found string) {
	b.Put(draw.InkKey, "/")
	for _, s := range InputLine(g, &p.input)[1:] {
		b.Put(s.Ink, s.S)
	}
	switch {
	case p.output:
		b.Put(themes.Dim, "   "+draw.Join("   ", found, "enter keep", "esc back"))
	case found == "":
		b.Put(themes.Dim, "   tab only matches   esc back")
	default:
		words := "only matches"
		if p.only {
			words = "jump"
		}
		b.Put(themes.Dim, "   "+found+"   tab "+words+"   enter keep   esc back")
	}
}
