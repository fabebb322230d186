package tui

import (
	"fmt"
	"strings"

	"moon/plan/selector"

	tea "charm.land/bubbletea/v2"

	"moon/internal/suggest"
	"moon/tui/draw"
	"moon/tui/tree"
	"moon/tui/view"
)

// gotoNamed goes to the first step a selector names. It is looked for away from the screen: paths are looked up on the disk.
func (m browsing) gotoNamed(text string) tea.Cmd {
	p := m.Plan
	return func() tea.Msg {
		found := selector.Match(p, text)
		message := ""
		if len(found) == 0 {
			why, hint := selector.NoMatch(p, text)
			message = strings.TrimSuffix(why+"; "+hint, "; ")
		}
		return view.Came{Then: func(m *view.State) tea.Cmd {
			switch {
			case m.Plan != p:
				m.ShowMessage("the plan has changed; try again")
			case len(found) == 0:
				m.ShowMessage(message)
			default:
				m.Panes.FocusOn(view.PaneTree)
				m.GoToStep(found[0])
				if len(found) > 1 {
					m.ShowMessage(fmt.Sprintf("the first of %s", draw.Count(len(found), "step")))
				}
			}
			return nil
		}}
	}
}

func (m browsing) filterNamed(word string) {
	var names []string
	for f := tree.FilterAll; f <= tree.FilterNotable; f++ {
		if f.String() == word {
			m.SetFilter(f)
			return
		}
		names = append(names, f.String())
	}
	hint := suggest.DidYouMean(word, names)
	if hint == "" {
		hint = "there are " + strings.Join(names, ", ")
	}
	m.ShowMessage(fmt.Sprintf("unknown filter `%s`; %s", word, hint))
}
