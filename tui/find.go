package tui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/tree"
	"moon/tui/view"
)

// prompt is the line at the bottom where a text to find is typed. In the tree every key finds at once.
type prompt struct {
	input  textinput.Model
	only   bool // show only matches
	output bool // find in the output
	view   view.OutputView
	sought view.Search // there, before
	from   int         // the cursor's node when it was opened
	was    tree.Filter
}

func (m browsing) openFind() {
	p := &prompt{
		input: view.NewInput(), from: m.CursorNode(), was: m.Filter, only: m.Filter == tree.FilterFound,
		output: m.KeyPlace() == keymap.InOutput,
	}
	p.view, p.sought = m.Detail.Output, m.Detail.Search
	m.Prompt = p
}

func (p *prompt) PressKey(m *view.State, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		m.Prompt = nil
		if p.output {
			p.giveUp(m)
		} else {
			m.Find.Text, m.Cur.Node = "", p.from
			m.SetFilter(p.was)
			if p.was == tree.FilterFound {
				m.SetFilter(tree.FilterAll)
			}
		}
		return nil
	case "enter":
		m.Prompt = nil
		if p.output && p.input.Value() == "" {
			p.giveUp(m)
			browsing{m}.findAgain(+1)
		}
		return nil
	case "tab":
		if !p.output {
			p.only = !p.only
			p.searchFirst(m)
		}
		return nil
	case "up", "down":
		browsing{m}.findAgain(map[string]int{"up": -1, "down": 1}[msg.String()])
		return nil
	}
	p.input, _ = p.input.Update(msg)
	p.searchFirst(m)
	return nil
}

func (p *prompt) PasteText(m *view.State, msg tea.PasteMsg) tea.Cmd {
	p.input, _ = p.input.Update(msg)
	p.searchFirst(m)
	return nil
}

// searchFirst goes to the first match from where the person was.
func (p *prompt) searchFirst(m *view.State) {
	if p.output {
		m.Detail.Output = p.view
		outputPane{m}.searchOutput(p.input.Value())
		return
	}
	m.Find.Text = strings.ToLower(p.input.Value())
	switch {
	case p.only:
		m.SetFilter(tree.FilterFound)
	case m.Filter == tree.FilterFound:
		m.SetFilter(tree.FilterAll)
	}
	m.Following = false
	if n := m.Find.Next(m.Tree, p.from-1, +1); n >= 0 {
		m.GoTo(n)
	} else {
		m.Cur.Node = p.from
	}
}

// giveUp makes the output as it was before anything was typed.
func (p *prompt) giveUp(m *view.State) {
	m.Detail.Output = p.view
	m.Detail.Search = p.sought.RestartIn()
}

func (m browsing) findAgain(direction int) {
	if why := whyNot(m).cannotFind(); why != "" { // it is asked while a text is typed, too
		m.ShowMessage(why)
		return
	}
	if m.KeyPlace() == keymap.InOutput {
		outputPane(m).nextHit(direction)
		return
	}
	m.Following = false
	m.GoTo(m.Find.Next(m.Tree, m.CursorNode(), direction))
}

// carry goes over to another plan: its esc goes back to where the cursor was.
func (p *prompt) Carry(before, now *tree.Tree) { p.from, _ = tree.SameIn(before, now)(p.from) }

// drawPrompt writes the prompt into the stretch that is open.
func (p *prompt) DrawPrompt(m *view.State, b *draw.Brush) {
	b.Put(draw.InkKey, "/")
	for _, s := range m.InputLine(&p.input)[1:] {
		b.Put(s.Ink, s.S)
	}
	switch {
	case p.output:
		b.Put(themes.Dim, "   "+draw.Join("   ", outputPane{m}.searchCount(), "enter keep", "esc back"))
	case m.Find.Text == "":
		b.Put(themes.Dim, "   tab only matches   esc back")
	default:
		words := "only matches"
		if p.only {
			words = "jump"
		}
		b.Put(themes.Dim, fmt.Sprintf("   %s   tab %s   enter keep   esc back", countMatches(m.Find.Count(m.Tree)), words))
	}
}

func countMatches(n int) string {
	if n == 1 {
		return "1 match"
	}
	return fmt.Sprintf("%d matches", n)
}
