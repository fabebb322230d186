package tui

import (
	"strings"

	"moon/tui/keymap"
	"moon/tui/overlay"
	"moon/tui/pane"
	"moon/tui/tree"
	"moon/tui/view"
)

// openFind opens the prompt: for the output if that has the keys, else for the tree.
func (m browsing) openFind() {
	m.Finding = view.Finding{Output: m.Detail.Output, Search: m.Detail.Search, Node: m.CursorNode(), Filter: m.Filter}
	m.Prompt = overlay.NewPrompt(m.Filter == tree.FilterFound, m.KeyPlace() == keymap.InOutput)
}

// findTyped goes to the first match from where the person was.
func (m browsing) findTyped(w overlay.Find) {
	if m.Prompt.InOutput() {
		m.Detail.Output = m.Finding.Output
		pane.OutputPane(m).SearchOutput(w.Text)
		return
	}
	m.Find.Text = strings.ToLower(w.Text)
	switch {
	case w.Only:
		m.SetFilter(tree.FilterFound)
	case m.Filter == tree.FilterFound:
		m.SetFilter(tree.FilterAll)
	}
	m.Following = false
	// Always from where the search began, as each key changes the text: from the match before, a longer text would skip matches.
	if n := m.Find.Next(m.Tree, m.Finding.Node-1, +1); n >= 0 {
		m.GoTo(n)
	} else {
		m.Cur.Node = m.Finding.Node
	}
}

// endFind closes the prompt, and goes back to where the person was unless what was found is to be kept.
func (m browsing) endFind(keep bool) {
	output, before := m.Prompt.InOutput(), m.Finding
	m.Prompt = nil
	switch {
	case keep:
	case output:
		m.Detail.Output, m.Detail.Search = before.Output, before.Search.RestartIn()
	default:
		m.Find.Text, m.Cur.Node = "", before.Node
		m.SetFilter(before.Filter)
		// That filter shows what is found, and what was looked for is forgotten.
		if before.Filter == tree.FilterFound {
			m.SetFilter(tree.FilterAll)
		}
	}
}

func (m browsing) findAgain(direction int) {
	if why := pane.WhyNot(m).CannotFind(); why != "" { // it is asked while a text is typed, too
		m.ShowMessage(why)
		return
	}
	if m.KeyPlace() == keymap.InOutput {
		pane.OutputPane(m).NextHit(direction)
		return
	}
	m.Following = false
	m.GoTo(m.Find.Next(m.Tree, m.CursorNode(), direction))
}
