package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/overlay"
	"moon/tui/view"
)

// mouseMsg takes what the terminal tells of the mouse.
func (m *model) mouseMsg(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	if !m.Mouse.On {
		return nil // it was turned off meanwhile
	}
	switch msg.(type) {
	case tea.MouseWheelMsg:
		return m.scrollAt(at)
	case tea.MouseMotionMsg:
		pointing{m.State}.dragDivider(at)
	case tea.MouseReleaseMsg:
		m.Mouse.Dragging = false
	case tea.MouseClickMsg:
		if at.Button == tea.MouseLeft {
			return m.clickAt(at)
		}
	}
	return nil
}

// clickAt does what the place that was clicked says.
func (m *model) clickAt(at tea.Mouse) tea.Cmd {
	m.Message = ""
	m.Mouse.Dragging = false
	if m.Overlay != nil {
		return m.clickBox(at)
	}
	if m.Prompt != nil {
		return nil // the user types
	}
	s := m.Mouse.Spots.At(at.X, at.Y)
	double := s.Kind != draw.SpotNone && s == m.Mouse.Where && m.Now().Sub(m.Mouse.Clicked) <= doubleClick
	m.Mouse.Where, m.Mouse.Clicked = s, m.Now()
	if double {
		m.Mouse.Where = draw.Spot{} // a third click is a first one
	}
	switch s.Kind {
	case draw.SpotTree:
		return m.clickNode(s.N, double)
	case draw.SpotFold:
		m.GoToNode(s.N)
		return m.doIntent(keymap.NodeToggle)
	case draw.SpotBreak:
		// The mouse sets a breakpoint where it points, and the cursor stays: the next key is about what it was about before.
		was := m.Cur.Node
		m.Cur.Node = s.N
		cmd := m.doIntent(keymap.GateBreak)
		m.Cur.Node = was
		return cmd
	case draw.SpotDetail:
		m.Panes.FocusOn(view.PaneDetail)
	case draw.SpotDivider:
		m.Mouse.Dragging = true
	case draw.SpotTab:
		browsing{m.State}.chooseTab(view.Tab(s.N))
	case draw.SpotKey:
		return m.doClicked(keymap.Intent(s.N))
	case draw.SpotNone:
	}
	return nil
}

func (m *model) clickNode(n int, double bool) tea.Cmd {
	m.GoToNode(n)
	if double {
		return m.doIntent(keymap.NodeToggle)
	}
	return nil
}

// doClicked does what a key that is named on the screen does, unless that asks something of the run or ends it.
func (m *model) doClicked(do keymap.Intent) tea.Cmd {
	if do == keymap.RunLeave || do == keymap.RunInterrupt || keymap.AsksTheRun(do) && do != keymap.GateBreak {
		m.ShowMessage("the mouse decides nothing: press " + m.Keys.Label(do))
		return nil
	}
	return m.doIntent(do)
}

// scrollAt scrolls what is under the mouse; the keys go where they went.
func (m *model) scrollAt(at tea.Mouse) tea.Cmd {
	by, sideways := 0, 0
	switch at.Button {
	case tea.MouseWheelUp:
		by = -wheelRows
	case tea.MouseWheelDown:
		by = wheelRows
	case tea.MouseWheelLeft:
		sideways = -wheelRows
	case tea.MouseWheelRight:
		sideways = wheelRows
	default:
		return nil
	}
	if at.Mod.Contains(tea.ModShift) {
		by, sideways = 0, by
	}
	if m.Overlay != nil {
		return m.wheelBox(at, by)
	}
	switch s := m.Mouse.Spots.At(at.X, at.Y); s.Kind {
	case draw.SpotTree, draw.SpotBreak, draw.SpotFold:
		m.Cur.Scroll(m.Rows, by)
	case draw.SpotDetail:
		pointing{m.State}.wheelDetail(by, sideways)
	case draw.SpotNone, draw.SpotDivider, draw.SpotTab, draw.SpotKey:
	}
	return nil
}

// clickBox clicks into the box over the panes. What asks a person to decide is answered by keys.
func (m *model) clickBox(at tea.Mouse) tea.Cmd {
	list, ok := m.Overlay.(overlay.Lister)
	box := m.Mouse.Box
	row := at.Y - box.Y - 1
	if !ok || !box.Has(at.X, at.Y) || row < 0 || row >= box.H-2 {
		return nil
	}
	s := draw.Spot{Y: at.Y, Kind: draw.SpotNone, N: row, From: -1}
	double := s == m.Mouse.Where && m.Now().Sub(m.Mouse.Clicked) <= doubleClick
	m.Mouse.Where, m.Mouse.Clicked = s, m.Now()
	return m.doWants(list.Click(m.Screen(), row, double))
}

// wheelBox moves in the box over the panes, as the arrows do.
func (m *model) wheelBox(at tea.Mouse, by int) tea.Cmd {
	if !m.Mouse.Box.Has(at.X, at.Y) {
		return nil
	}
	key := tea.KeyPressMsg{Code: tea.KeyDown}
	if by < 0 {
		key.Code = tea.KeyUp
	}
	var cmd tea.Cmd
	for range max(by, -by) {
		if m.Overlay != nil {
			cmd = m.doWants(m.Overlay.Press(m.Screen(), key))
		}
	}
	return cmd
}
