package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/internal/suggest"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/overlay"
	"moon/tui/pane"
	"moon/tui/tree"
	"moon/tui/view"
)

// command is what can be typed in the palette with an argument.
type command struct {
	overlay.Command

	words  string
	cannot func(*view.State) string
}

var commands = []command{
	{overlay.Command{Name: "goto", Short: "g", Takes: "STEP"}, "go to a step: its id, path, name or file:line", nil},
	{
		overlay.Command{Name: "p", Short: "print", Takes: "EXPRESSION"},
		"print a value, as the step at the pointer sees it",
		(*view.State).CannotWatch,
	},
	{overlay.Command{Name: "watch", Takes: "EXPRESSION"}, "watch a value", (*view.State).CannotWatch},
	{
		overlay.Command{Name: "break", Takes: "STEP [if COND] [after N] [log TEXT]"},
		"set a breakpoint",
		func(m *view.State) string { return pane.WhyNot{State: m}.CannotBreak() },
	},
	{overlay.Command{Name: "breaks"}, "list the breakpoints", nil},
	{overlay.Command{Name: "filter", Takes: "WHAT"}, "filter: all, problems, changed, not done", nil},
	{overlay.Command{Name: "theme", Takes: "NAME"}, "other colours", nil},
	{overlay.Command{Name: "quit", Short: "q"}, "leave", nil},
}

// runCommand does what was typed.
func (m *model) runCommand(name, arg string) tea.Cmd {
	switch name {
	case "goto":
		return browsing{m.State}.gotoNamed(arg)
	case "p":
		return watching{m.State}.printOnce(arg)
	case "watch":
		m.Watch.AddWatch(arg)
	case "break":
		return deciding{m.State}.breakNamed(arg)
	case "breaks":
		deciding{m.State}.openBreaks()
	case "filter":
		browsing{m.State}.filterNamed(arg)
	case "theme":
		return m.themeNamed(arg)
	case "quit":
		return m.doIntent(keymap.RunLeave)
	}
	return nil
}

// gotoNamed goes to the first step a selector names. It is looked for away from the screen: paths are looked up on the disk.
func (m browsing) gotoNamed(selector string) tea.Cmd {
	p := m.Plan
	return func() tea.Msg {
		found := p.Match(selector)
		message := ""
		if len(found) == 0 {
			why, hint := p.NoMatch(selector)
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

// breakNamed sets breakpoints as --break does.
func (m deciding) breakNamed(text string) tea.Cmd {
	p, parse := m.Plan, m.Tools.ParseBreak
	return func() tea.Msg {
		list, why := parse(p, text)
		return view.Came{Then: func(m *view.State) tea.Cmd {
			if m.Plan != p {
				why = "the plan has changed; try again"
			}
			if why != "" {
				m.ShowMessage(why)
				return nil
			}
			for _, c := range list {
				m.Send(c)
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

// themed is a theme that was found.
type themed struct {
	name     string
	skins    [2]*themes.Theme
	warnings []themes.Warning
}

// themeNamed changes the colours, until the screen is closed.
func (m *model) themeNamed(name string) tea.Cmd {
	o, profile, env := m.o, m.profile, m.env
	o.Theme, o.LightTheme = name, ""
	return func() tea.Msg {
		for _, known := range themes.Names(o.ThemeDir) {
			if known != name {
				continue
			}
			var skins [2]*themes.Theme
			var warnings []themes.Warning
			for i, dark := range []bool{true, false} {
				var half []themes.Warning
				skins[i], half = chooseTheme(o, profile, env, dark)
				warnings = append(warnings, half...)
			}
			return themed{name, skins, warnings}
		}
		hint := suggest.DidYouMean(name, themes.Names(o.ThemeDir))
		if hint == "" {
			hint = "there are " + strings.Join(themes.Names(o.ThemeDir), ", ")
		}
		return view.Came{Then: func(m *view.State) tea.Cmd {
			m.ShowMessage(fmt.Sprintf("unknown theme `%s`; %s", name, hint))
			return nil
		}}
	}
}

// changeTheme changes to other colours. Which half of an adaptive theme it takes, the terminal is asked again.
func (m *model) changeTheme(to themed) tea.Cmd {
	m.o.Theme, m.o.LightTheme, m.skins = to.name, "", to.skins
	if text := firstWarning(append(to.warnings, m.applyTheme()...)); text != "" {
		m.ShowMessage(text)
	}
	return m.Init()
}
