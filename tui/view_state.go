package tui

import (
	"slices"

	"moon/tui/keymap"
	"moon/tui/tree"
)

// View is how a person has left the screen of a playbook: what is folded, what was looked at, what is watched. It is about the
// playbook and not about a run, so it holds no decisions and no breakpoints. Nodes are named by their paths, and what is gone
// meanwhile is left out.
type View struct {
	Folded   []string `json:"folded,omitempty"` // scopes
	Open     []string `json:"open,omitempty"`   // the others, where all but these are folded
	AllShut  bool     `json:"all_shut,omitempty"`
	Cursor   []string `json:"cursor,omitempty"`  // the node, and what it is in, innermost first
	Dividers [2]int   `json:"dividers,omitzero"` // cells to the right side by side, rows down one above the other
	Zoom     int      `json:"zoom,omitempty"`
	Tab      int      `json:"tab,omitempty"`
	Wrap     bool     `json:"wrap,omitempty"`
	Times    int      `json:"times,omitempty"`
	Filter   string   `json:"filter,omitempty"`
	Watches  []string `json:"watches,omitempty"`
	Typed    []string `json:"typed,omitempty"` // expressions, the latest last
	Recent   []string `json:"recent,omitempty"`
	Playbook string   `json:"playbook,omitempty"` // for who looks at the file
}

// viewNow is the view as it is.
func (m replanning) viewNow() View {
	v := View{
		Dividers: m.panes.divider, Wrap: m.detail.output.wrap, Times: int(m.detail.output.times),
		Watches: slices.Clone(m.watch.texts), Typed: slices.Clone(m.watch.before), Playbook: m.Plan.RootFile,
	}
	v.Folded, v.Open, v.AllShut = m.rows.Remember()
	for n := m.cursorNode(); n > 0 && len(v.Cursor) < tree.ViewPaths; n = int(m.Tree.Parent[n]) {
		v.Cursor = append(v.Cursor, m.Tree.Path(n))
	}
	if m.panes.focus == paneTree {
		v.Zoom = m.panes.zoom // of the other pane it would hide the tree when the screen opens
	}
	if m.tabChosen {
		v.Tab = int(m.detail.tab)
	}
	if m.filter != tree.FilterFound && m.filter != tree.FilterNotable { // those are not chosen to stay
		v.Filter = m.filter.String()
	}
	for _, do := range m.recent {
		v.Recent = append(v.Recent, keymap.ByIntent[do].Name)
	}
	return v
}

// restoreView puts a view back, as far as it fits the plan. The file it comes from may have been changed by anybody.
func (m *model) restoreView(v *View) {
	m.rows.Recall(v.Folded, v.Open, v.AllShut)
	for i, by := range v.Dividers {
		m.panes.divider[i] = max(min(by, 1000), -1000)
	}
	m.panes.zoom = max(min(v.Zoom, 2), 0)
	m.detail.output.wrap, m.detail.output.times = v.Wrap, lineTimes(max(min(v.Times, int(timesClock)), 0))
	if v.Tab > 0 && v.Tab < int(tabs) && tab(v.Tab) != tabOutputs { // nothing has been printed yet
		m.detail.openTab(tab(v.Tab))
	}
	for _, text := range v.Watches[:min(len(v.Watches), watchesKept)] {
		if text != "" && len(text) <= longestField {
			m.watch.texts = append(m.watch.texts, text)
		}
	}
	for _, text := range v.Typed {
		if text != "" && len(text) <= longestField {
			m.watch.rememberTyped(text)
		}
	}
	for _, name := range slices.Backward(v.Recent) {
		for i := range keymap.Bindings {
			if keymap.Bindings[i].Name == name {
				m.rememberPicked(keymap.Bindings[i].Do)
			}
		}
	}
	cursor := v.Cursor[:min(len(v.Cursor), tree.ViewPaths)]
	for n := 1; n < m.Tree.Len() && len(cursor) > 0; n++ {
		if i := slices.Index(cursor, m.Tree.Path(n)); i >= 0 {
			m.cur.Node, cursor = n, cursor[:i] // what is left is inside of it
		}
	}
	for f := tree.FilterAll; f <= tree.FilterLeft; f++ {
		if f.String() == v.Filter {
			m.wanted = f
		}
	}
}

// filterAgain filters as before, when it is known what the steps are like. A filter that would show nothing now is left.
func (m *model) filterAgain() {
	if m.wanted == tree.FilterAll || m.Shot.Steps == 0 {
		return
	}
	m.setFilter(m.wanted)
	if m.wanted = tree.FilterAll; len(m.rows.Rows) < 2 {
		m.setFilter(tree.FilterAll)
	}
}

// openScreen is called the first time that the size of the screen is known. Where nobody has looked at this playbook before and it has
// more rows than fit, it is folded below the levels that do, but for what asks to be confirmed.
func (m *model) openScreen() {
	l := m.currentLayout()
	if m.opened || l.kind == layoutCard {
		return
	}
	m.opened = true
	if m.o.View == nil && (len(m.rows.Rows) > l.treeH || m.Tree.Over) && l.treeH > 0 {
		m.rows.Overview(l.treeH)
	}
}
