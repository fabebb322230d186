package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/internal/suggest"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/tree"
	"moon/tui/view"
)

// command is what can be typed in the palette with an argument.
type command struct {
	name, short string // short is another name, or ""
	takes       string // how its argument is called; "": none
	words       string
	cannot      func(*view.State) string
}

var commands = []command{
	{"goto", "g", "STEP", "go to a step: its id, path, name or file:line", nil},
	{"p", "print", "EXPRESSION", "print a value, as the step at the pointer sees it", (*view.State).CannotWatch},
	{"watch", "", "EXPRESSION", "watch a value", (*view.State).CannotWatch},
	{"break", "", "STEP [if COND] [after N] [log TEXT]", "set a breakpoint", func(m *view.State) string { return whyNot{m}.cannotBreak() }},
	{"breaks", "", "", "list the breakpoints", nil},
	{"filter", "", "WHAT", "filter: all, problems, changed, not done", nil},
	{"theme", "", "NAME", "other colours", nil},
	{"quit", "q", "", "leave", nil},
}

func commandNamed(word string) *command {
	for i := range commands {
		if c := &commands[i]; word != "" && (c.name == word || c.short == word) {
			return c
		}
	}
	return nil
}

// commandNames are all words that the palette takes.
func commandNames() (names []string) {
	for i := range commands {
		names = append(names, commands[i].name)
	}
	for i := range keymap.Bindings {
		names = append(names, keymap.Bindings[i].Name)
	}
	return names
}

// runCommand does what was typed.
func (m *model) runCommand(name, arg string) tea.Cmd {
	switch name {
	case "goto":
		return browsing{m.State}.gotoNamed(arg)
	case "p":
		return watchPane{m.State}.printOnce(arg)
	case "watch":
		m.Watch.AddWatch(arg)
	case "break":
		return deciding{m.State}.breakNamed(arg)
	case "breaks":
		deciding{m.State}.openBreaks()
	case "filter":
		whyNot{m.State}.filterNamed(arg)
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

func (m whyNot) cannotBreak() string {
	switch {
	case m.IsRecorded():
		return isOver
	case m.Shot.Phase == events.Done:
		return "the run is over"
	case m.Tools.ParseBreak == nil:
		return "breakpoints cannot be named here"
	}
	return ""
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

func (m whyNot) filterNamed(word string) {
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
