package tui

import (
	"slices"

	"moon/tui/keymap"
	"moon/tui/overlay"
	"moon/tui/tree"
	"moon/tui/view"
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
func viewNow(m *view.State) View {
	v := View{
		Dividers: m.Panes.Divider, Wrap: m.Detail.Output.Wrap, Times: int(m.Detail.Output.Times),
		Watches: slices.Clone(m.Watch.Texts), Typed: slices.Clone(m.Watch.Before), Playbook: m.Plan.RootFile,
	}
	v.Folded, v.Open, v.AllShut = m.Rows.Remember()
	for n := m.CursorNode(); n > 0 && len(v.Cursor) < tree.ViewPaths; n = int(m.Tree.Parent[n]) {
		v.Cursor = append(v.Cursor, m.Tree.Path(n))
	}
	if m.Panes.Focus == view.PaneTree {
		v.Zoom = m.Panes.Zoom // of the other pane it would hide the tree when the screen opens
	}
	if m.TabChosen {
		v.Tab = int(m.Detail.Tab)
	}
	if m.Filter != tree.FilterFound && m.Filter != tree.FilterNotable { // those are not chosen to stay
		v.Filter = m.Filter.String()
	}
	for _, do := range m.Recent {
		v.Recent = append(v.Recent, keymap.ByIntent[do].Name)
	}
	return v
}

// restoreView puts a view back, as far as it fits the plan. The file it comes from may have been edited by hand. The filter is returned:
// it is applied when the statuses of the steps are known.
func restoreView(m *view.State, v *View) (filter tree.Filter) {
	m.Rows.Recall(v.Folded, v.Open, v.AllShut)
	for i, by := range v.Dividers {
		m.Panes.Divider[i] = max(min(by, 1000), -1000)
	}
	m.Panes.Zoom = max(min(v.Zoom, 2), 0)
	m.Detail.Output.Wrap, m.Detail.Output.Times = v.Wrap, view.LineTimes(max(min(v.Times, int(view.TimesClock)), 0))
	if v.Tab > 0 && v.Tab < int(view.Tabs) && view.Tab(v.Tab) != view.TabOutputs { // nothing has been printed yet
		m.Detail.OpenTab(view.Tab(v.Tab))
	}
	for _, text := range v.Watches[:min(len(v.Watches), view.WatchesKept)] {
		if text != "" && len(text) <= overlay.LongestField {
			m.Watch.Texts = append(m.Watch.Texts, text)
		}
	}
	for _, text := range v.Typed {
		if text != "" && len(text) <= overlay.LongestField {
			m.Watch.RememberTyped(text)
		}
	}
	for _, name := range slices.Backward(v.Recent) {
		for i := range keymap.Bindings {
			if keymap.Bindings[i].Name == name {
				m.RememberPicked(keymap.Bindings[i].Do)
			}
		}
	}
	cursor := v.Cursor[:min(len(v.Cursor), tree.ViewPaths)]
	// The path lists the node and what it was in. The outermost that still exists is found first, and then whatever is left inside it.
	for n := 1; n < m.Tree.Len() && len(cursor) > 0; n++ {
		if i := slices.Index(cursor, m.Tree.Path(n)); i >= 0 {
			m.Cur.Node, cursor = n, cursor[:i] // what is left is inside of it
		}
	}
	for f := tree.FilterAll; f <= tree.FilterLeft; f++ {
		if f.String() == v.Filter {
			filter = f
		}
	}
	return filter
}
