package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
)

// pointing is what the mouse does to the screen alone.
type pointing struct{ *view }

// mouse is the mouse of a person who has turned it on. It looks and does not decide: nothing that is asked of the run can
// be clicked, but for breakpoints, because a click goes astray more easily than a key.
type mouse struct {
	on    bool
	spots draw.Spots // of the last frame
	box   box        // the overlay of the last frame

	dragging bool // the divider
	clicked  time.Time
	where    draw.Spot // of the last click, for double clicks
}

// box is where an overlay was drawn.
type box struct{ x, y, w, h int }

// doubleClick is how soon a second click makes one of two.
const doubleClick = 400 * time.Millisecond

// wheelRows is how far one notch of the wheel goes.
const wheelRows = 3

// toggleMouse turns the mouse on or off. While it is on, the terminal's own selecting needs shift.
func (m pointing) toggleMouse() tea.Cmd {
	m.mouse.on = !m.mouse.on
	m.mouse.dragging = false
	if m.mouse.on {
		m.showMessage("mouse on: shift selects text; " + m.keys.Label(keymap.AppMouse) + " turns it off")
	} else {
		m.showMessage("mouse off")
	}
	return nil
}

// mouseMode is what the terminal shall tell of the mouse.
func (m pointing) mouseMode() tea.MouseMode {
	if m.mouse.on {
		return tea.MouseModeCellMotion
	}
	return tea.MouseModeNone
}

// mouseState is in the header while the mouse is on.
func (m pointing) mouseState(b *draw.Brush) {
	if m.mouse.on {
		b.Put(themes.Dim, "  mouse")
	}
}

// forgetSpots begins a new frame.
func (u *mouse) forgetSpots() { u.box = box{}; u.spots.Forget() }

func (u *mouse) inBox(x, y int) bool {
	return x >= u.box.x && x < u.box.x+u.box.w && y >= u.box.y && y < u.box.y+u.box.h
}

// mouseMsg takes what the terminal tells of the mouse.
func (m *model) mouseMsg(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	if !m.mouse.on {
		return nil // it was turned off meanwhile
	}
	switch msg.(type) {
	case tea.MouseWheelMsg:
		return m.scrollAt(at)
	case tea.MouseMotionMsg:
		pointing{m.view}.dragDivider(at)
	case tea.MouseReleaseMsg:
		m.mouse.dragging = false
	case tea.MouseClickMsg:
		if at.Button == tea.MouseLeft {
			return m.clickAt(at)
		}
	}
	return nil
}

// clickAt does what the place that was clicked says.
func (m *model) clickAt(at tea.Mouse) tea.Cmd {
	m.message = ""
	m.mouse.dragging = false
	if m.overlay != nil {
		return m.clickBox(at)
	}
	if m.prompt != nil {
		return nil // somebody types
	}
	s := m.mouse.spots.At(at.X, at.Y)
	double := s.Kind != draw.SpotNone && s == m.mouse.where && m.Now().Sub(m.mouse.clicked) <= doubleClick
	m.mouse.where, m.mouse.clicked = s, m.Now()
	if double {
		m.mouse.where = draw.Spot{} // a third click is a first one
	}
	switch s.Kind {
	case draw.SpotTree:
		return m.clickNode(s.N, double)
	case draw.SpotFold:
		m.goToNode(s.N)
		return m.doIntent(keymap.NodeToggle)
	case draw.SpotBreak:
		was := m.cur.Node
		m.cur.Node = s.N
		cmd := m.doIntent(keymap.GateBreak)
		m.cur.Node = was
		return cmd
	case draw.SpotDetail:
		m.panes.focusOn(paneDetail)
	case draw.SpotDivider:
		m.mouse.dragging = true
	case draw.SpotTab:
		browsing{m.view}.chooseTab(tab(s.N))
	case draw.SpotKey:
		return m.doClicked(keymap.Intent(s.N))
	case draw.SpotNone:
	}
	return nil
}

func (m *model) clickNode(n int, double bool) tea.Cmd {
	m.goToNode(n)
	if double {
		return m.doIntent(keymap.NodeToggle)
	}
	return nil
}

// goToNode moves the cursor to a row that is on the screen, without scrolling.
func (m *view) goToNode(n int) {
	m.panes.focusOn(paneTree)
	m.following = false
	m.cur.Node = n
}

// doClicked does what a key that is named on the screen does, unless that asks something of the run or ends it.
func (m *model) doClicked(do keymap.Intent) tea.Cmd {
	if do == keymap.RunLeave || do == keymap.RunInterrupt || keymap.AsksTheRun(do) && do != keymap.GateBreak {
		m.showMessage("the mouse decides nothing: press " + m.keys.Label(do))
		return nil
	}
	return m.doIntent(do)
}

// dragDivider moves the divider after the mouse.
func (m pointing) dragDivider(at tea.Mouse) {
	if !m.mouse.dragging {
		return
	}
	for {
		l := m.currentLayout()
		by := at.X - l.treeW
		if l.kind == layoutTall {
			by = at.Y - 2 - l.treeH // header and rule
		}
		if by == 0 {
			return
		}
		browsing(m).moveDivider(max(min(by, 1), -1))
		if m.currentLayout() == l {
			return
		}
	}
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
	if m.overlay != nil {
		return m.wheelBox(at, by)
	}
	switch s := m.mouse.spots.At(at.X, at.Y); s.Kind {
	case draw.SpotTree, draw.SpotBreak, draw.SpotFold:
		m.cur.Scroll(m.rows, by)
	case draw.SpotDetail:
		pointing{m.view}.wheelDetail(by, sideways)
	case draw.SpotNone, draw.SpotDivider, draw.SpotTab, draw.SpotKey:
	}
	return nil
}

func (m pointing) wheelDetail(by, sideways int) {
	v := &m.detail.output
	switch {
	case m.detail.tab != tabOutputs:
		m.detail.scrollBy(by)
	case sideways != 0 && !v.wrap:
		v.x, v.aim = max(v.x+sideways, 0), -1
	default:
		outputPane(m).wheelOutput(by)
	}
}

// lister is an overlay with a list in it, of which one can be clicked.
type lister interface {
	// clickRow is told the row of the body, and whether it was clicked twice.
	clickRow(m *model, row int, double bool) tea.Cmd
}

// clickBox clicks into the overlay. What asks a person to decide is answered by keys.
func (m *model) clickBox(at tea.Mouse) tea.Cmd {
	list, ok := m.overlay.(lister)
	row := at.Y - m.mouse.box.y - 1
	if !ok || !m.mouse.inBox(at.X, at.Y) || row < 0 || row >= m.mouse.box.h-2 {
		return nil
	}
	s := draw.Spot{Y: at.Y, Kind: draw.SpotNone, N: row, From: -1}
	double := s == m.mouse.where && m.Now().Sub(m.mouse.clicked) <= doubleClick
	m.mouse.where, m.mouse.clicked = s, m.Now()
	return list.clickRow(m, row, double)
}

// wheelBox moves in the overlay, as the arrows do.
func (m *model) wheelBox(at tea.Mouse, by int) tea.Cmd {
	if !m.mouse.inBox(at.X, at.Y) {
		return nil
	}
	key := tea.KeyPressMsg{Code: tea.KeyDown}
	if by < 0 {
		key.Code = tea.KeyUp
	}
	var cmd tea.Cmd
	for range max(by, -by) {
		if m.overlay != nil {
			cmd = m.overlay.pressKey(m, key)
		}
	}
	return cmd
}

// clickRow chooses a line of the palette; a double click does it, if the mouse may.
func (p *palette) clickRow(m *model, row int, double bool) tea.Cmd {
	i := p.top + row - 1 // the first row is typed in
	if row < 1 || i >= p.n {
		return nil
	}
	p.at = i
	o := p.shown[i]
	switch {
	case !double:
	case o.why != "":
		p.wrong = o.why
	case o.command != nil:
		p.completeName(o.command)
	default:
		m.overlay = nil
		m.rememberPicked(o.do)
		return m.doClicked(o.do)
	}
	return nil
}

// clickRow chooses a breakpoint; a double click goes to it.
func (b *breaksBox) clickRow(m *model, row int, double bool) tea.Cmd {
	i := b.top + row
	if i >= b.n {
		return nil
	}
	b.at = i
	if double {
		return b.pressKey(m, tea.KeyPressMsg{Code: tea.KeyEnter})
	}
	return nil
}

// clickRow copies what the line names.
func (c *copyBox) clickRow(m *model, row int, _ bool) tea.Cmd {
	if row >= len(c.items) {
		m.overlay = nil
		return nil
	}
	return c.copyItem(m, &c.items[row])
}

// noteBox notes where the overlay is. Nothing below it is to be clicked.
func (u *mouse) noteBox(x, y, w, h int) { u.box = box{x, y, w, h} }

// noteSpots notes what of a row of the tree can be clicked: all of it, its place for a breakpoint, its sign of folding.
func (t *treeRows) noteSpots(b *draw.Brush, n, from int) {
	b.Spot(from, draw.SpotTree, n)
	b.Note(from, from+1, draw.SpotBreak, n)
	if b.Noted() && !t.m.Tree.Leaf(n) {
		sign := from + gutterWidth + draw.Cells(t.guideText(n, max(t.w-gutterWidth-22, 2)))
		b.Note(sign, min(sign+1, from+t.w), draw.SpotFold, n)
	}
}
