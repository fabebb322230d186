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
)

// command is what can be typed in the palette with an argument.
type command struct {
	name, short string // short is another name, or ""
	takes       string // how its argument is called; "": none
	words       string
	cannot      func(*view) string
}

var commands = []command{
	{"goto", "g", "STEP", "go to a step: its id, path, name or file:line", nil},
	{"p", "print", "EXPRESSION", "print a value, as the step at the pointer sees it", (*view).cannotWatch},
	{"watch", "", "EXPRESSION", "watch a value", (*view).cannotWatch},
	{"break", "", "STEP [if COND] [after N] [log TEXT]", "set a breakpoint", func(m *view) string { return whyNot{m}.cannotBreak() }},
	{"breaks", "", "", "list the breakpoints", nil},
	{"filter", "", "WHAT", "filter: all, problems, changed, not done", nil},
	{"theme", "", "NAME", "other colours", nil},
	{"quit", "q", "", "leave", nil},
}

// came brings what was found out away from the screen, and what to do with it.
type came struct{ then func(m *model) tea.Cmd }

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
func (m *model) runCommand(c *command, arg string) tea.Cmd {
	switch c.name {
	case "goto":
		return browsing{m.view}.gotoNamed(arg)
	case "p":
		return watchPane{m.view}.printOnce(arg)
	case "watch":
		m.watch.addWatch(arg)
	case "break":
		return deciding{m.view}.breakNamed(arg)
	case "breaks":
		deciding{m.view}.openBreaks()
	case "filter":
		whyNot{m.view}.filterNamed(arg)
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
		return came{func(m *model) tea.Cmd {
			switch {
			case m.Plan != p:
				m.showMessage("the plan has changed; try again")
			case len(found) == 0:
				m.showMessage(message)
			default:
				m.panes.focusOn(paneTree)
				m.goToStep(found[0])
				if len(found) > 1 {
					m.showMessage(fmt.Sprintf("the first of %s", draw.Count(len(found), "step")))
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
	case m.o.ParseBreak == nil:
		return "breakpoints cannot be named here"
	}
	return ""
}

// breakNamed sets breakpoints as --break does.
func (m deciding) breakNamed(text string) tea.Cmd {
	p, parse := m.Plan, m.o.ParseBreak
	return func() tea.Msg {
		list, why := parse(p, text)
		return came{func(m *model) tea.Cmd {
			if m.Plan != p {
				why = "the plan has changed; try again"
			}
			if why != "" {
				m.showMessage(why)
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
			m.setFilter(f)
			return
		}
		names = append(names, f.String())
	}
	hint := suggest.DidYouMean(word, names)
	if hint == "" {
		hint = "there are " + strings.Join(names, ", ")
	}
	m.showMessage(fmt.Sprintf("unknown filter `%s`; %s", word, hint))
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
			return came{func(m *model) tea.Cmd { return m.changeTheme(name, skins, warnings) }}
		}
		hint := suggest.DidYouMean(name, themes.Names(o.ThemeDir))
		if hint == "" {
			hint = "there are " + strings.Join(themes.Names(o.ThemeDir), ", ")
		}
		return came{func(m *model) tea.Cmd {
			m.showMessage(fmt.Sprintf("unknown theme `%s`; %s", name, hint))
			return nil
		}}
	}
}

// changeTheme changes to other colours. Which half of an adaptive theme it takes, the terminal is asked again.
func (m *model) changeTheme(name string, skins [2]*themes.Theme, warnings []themes.Warning) tea.Cmd {
	m.o.Theme, m.o.LightTheme, m.skins = name, "", skins
	if text := firstWarning(append(warnings, m.applyTheme()...)); text != "" {
		m.showMessage(text)
	}
	return m.Init()
}
