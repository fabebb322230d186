package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/tui/keymap"
	"moon/tui/looks"
	"moon/tui/view"
)

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

// themeNamed changes the colours, until the screen is closed.
func (m *model) themeNamed(name string) tea.Cmd {
	// In the background, as themes are files.
	find := m.looks.FindTheme(name)
	return func() tea.Msg {
		found, why := find()
		if found != nil {
			return found
		}
		return view.Came{Then: func(m *view.State) tea.Cmd {
			m.ShowMessage(why)
			return nil
		}}
	}
}

// changeTheme changes to other colours.
func (m *model) changeTheme(to *looks.Found) tea.Cmd {
	if text := m.looks.Change(to); text != "" {
		m.ShowMessage(text)
	}
	m.dress()
	return m.Init()
}
