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
)

// prompt is the line at the bottom where a text to find is typed. In the tree every key finds at once.
type prompt struct {
	input  textinput.Model
	only   bool // show only matches
	output bool // find in the output
	view   outputView
	sought search // there, before
	from   int    // the cursor's node when it was opened
	was    tree.Filter
}

func (m browsing) openFind() {
	p := &prompt{
		input: newInput(), from: m.cursorNode(), was: m.filter, only: m.filter == tree.FilterFound,
		output: m.keyPlace() == keymap.InOutput,
	}
	p.view, p.sought = m.detail.output, m.detail.search
	m.prompt = p
}

func newInput() textinput.Model {
	in := textinput.New()
	in.Prompt = ""
	_ = in.Focus() // its blinking is not used
	return in
}

func (p *prompt) pressKey(m *model, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		m.prompt = nil
		if p.output {
			p.giveUp(m)
		} else {
			m.find.Text, m.cur.Node = "", p.from
			m.setFilter(p.was)
			if p.was == tree.FilterFound {
				m.setFilter(tree.FilterAll)
			}
		}
		return nil
	case "enter":
		m.prompt = nil
		if p.output && p.input.Value() == "" {
			p.giveUp(m)
			browsing{m.view}.findAgain(+1)
		}
		return nil
	case "tab":
		if !p.output {
			p.only = !p.only
			p.searchFirst(m)
		}
		return nil
	case "up", "down":
		browsing{m.view}.findAgain(map[string]int{"up": -1, "down": 1}[msg.String()])
		return nil
	}
	p.input, _ = p.input.Update(msg)
	p.searchFirst(m)
	return nil
}

func (p *prompt) pasteText(m *model, msg tea.PasteMsg) tea.Cmd {
	p.input, _ = p.input.Update(msg)
	p.searchFirst(m)
	return nil
}

// searchFirst goes to the first match from where the person was.
func (p *prompt) searchFirst(m *model) {
	if p.output {
		m.detail.output = p.view
		outputPane{m.view}.searchOutput(p.input.Value())
		return
	}
	m.find.Text = strings.ToLower(p.input.Value())
	switch {
	case p.only:
		m.setFilter(tree.FilterFound)
	case m.filter == tree.FilterFound:
		m.setFilter(tree.FilterAll)
	}
	m.following = false
	if n := m.find.Next(m.Tree, p.from-1, +1); n >= 0 {
		m.goTo(n)
	} else {
		m.cur.Node = p.from
	}
}

// giveUp makes the output as it was before anything was typed.
func (p *prompt) giveUp(m *model) {
	m.detail.output = p.view
	m.detail.search = p.sought.restartIn()
}

func (m *view) goTo(n int) {
	m.rows.Reveal(n)
	m.cur.Node = n
}

func (m browsing) findAgain(direction int) {
	if why := whyNot(m).cannotFind(); why != "" { // it is asked while a text is typed, too
		m.showMessage(why)
		return
	}
	if m.keyPlace() == keymap.InOutput {
		outputPane(m).nextHit(direction)
		return
	}
	m.following = false
	m.goTo(m.find.Next(m.Tree, m.cursorNode(), direction))
}

// drawPrompt writes the prompt into the stretch that is open.
func (p *prompt) drawPrompt(m *view, b *draw.Brush) {
	b.Put(draw.InkKey, "/")
	for _, s := range m.inputLine(&p.input)[1:] {
		b.Put(s.Ink, s.S)
	}
	switch {
	case p.output:
		b.Put(themes.Dim, "   "+draw.Join("   ", outputPane{m}.searchCount(), "enter keep", "esc back"))
	case m.find.Text == "":
		b.Put(themes.Dim, "   tab only matches   esc back")
	default:
		words := "only matches"
		if p.only {
			words = "jump"
		}
		b.Put(themes.Dim, fmt.Sprintf("   %s   tab %s   enter keep   esc back", countMatches(m.find.Count(m.Tree)), words))
	}
}

func countMatches(n int) string {
	if n == 1 {
		return "1 match"
	}
	return fmt.Sprintf("%d matches", n)
}
