package view

import (
	"slices"

	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/keymap"
	"moon/tui/known"
	"moon/tui/overlay"
	"moon/tui/tree"
)

// State is what a part of the screen is given: the run, where the cursor stands, how the screen is divided, how big it is and how
// it looks. Panes, rules and overlays are types of their own around it, and reach no more than this.
type State struct {
	*known.Run

	Tools         Tools
	Pen           *draw.Pen
	Glyphs        *draw.Glyphs
	Keys          *keymap.Keys
	Excerpt       func(file string, line, around int) ([]string, int)
	Rows          *tree.Collapse
	Cur           tree.Cursor
	Watch         WatchList
	Files         FileWatch
	Filter        tree.Filter
	Find          tree.Finder
	Panes         Panes
	Detail        Detail
	Peek          feed.Reel      // the last lines of what runs, where there is no room for two panes
	Matrix        *Matrix        // the hosts by their tasks; it stands in the place of both panes
	Sheet         *overlay.Sheet // values that are edited; it stands in the place of the detail
	SheetSent     *overlay.Sheet // what was asked for last, until the run has taken it
	Message       string
	Following     bool // the cursor stays on the pointer
	TabChosen     bool // by a person
	Spin          int
	Diffs         DiffLines
	Summary       known.Summary
	Recent        []keymap.Intent // done from the palette, the latest first
	Shown         []int32         // nodes on the screen, as last drawn
	Stopping      int             // how often a stop was asked for
	Overlay       overlay.Box
	Prompt        *overlay.Prompt
	Finding       Finding
	Sequence      string // keys that wait for the rest of a sequence
	Mouse         Mouse
	Unfocused     bool // the terminal is
	Width, Height int
}

// IsTyping reports whether the person is in the middle of something that must not be pulled away.
func (m *State) IsTyping() bool { return m.Prompt != nil || m.Overlay != nil || m.Sheet != nil }

// ShowMessage shows a message until the next key.
func (m *State) ShowMessage(text string) { m.Message = draw.Plain(text) }

// CursorNode is the node the cursor stands on.
func (m *State) CursorNode() int { return m.Cur.On(m.Rows) }

// KeyPlace is where keys go.
func (m *State) KeyPlace() keymap.Place {
	switch {
	case m.FocusedPane() == PaneTree:
		return keymap.InTree
	case m.Detail.Tab == TabOutputs:
		return keymap.InOutput
	}
	return keymap.InDetail
}

// Screen is what a box over the panes may look at.
func (m *State) Screen() overlay.Screen {
	return overlay.Screen{Run: m.Run, Glyphs: m.Glyphs, Keys: m.Keys, WhenKnown: m.WhenKnown}
}

// Finding is where the person was when the prompt was opened.
type Finding struct {
	Output OutputView
	Search Search
	Node   int // under the cursor
	Filter tree.Filter
}

// RememberPicked remembers what was picked, the latest first.
func (m *State) RememberPicked(do keymap.Intent) {
	const keep = 5
	// Once each: an action that is picked again moves to the front.
	m.Recent = slices.Insert(slices.DeleteFunc(m.Recent, func(d keymap.Intent) bool { return d == do }), 0, do)
	m.Recent = m.Recent[:min(len(m.Recent), keep)]
}

// CannotWatch says why nothing can be evaluated, or "".
func (m *State) CannotWatch() string {
	switch {
	case m.IsRecorded():
		return "of a recorded run there is only what was recorded"
	case m.Tools.Eval == nil:
		return "nothing can be evaluated here"
	}
	return ""
}

// IsProduction reports whether the run is about something that was marked as production. Any mark counts: what guards must not depend
// on how a word is spelt.
func (m *State) IsProduction() bool { return m.Tools.Banner != "" && !m.IsRecorded() }

// LeaveWord is what the key does that leaves the screen: usual, or nothing to a run that another process has.
func (m *State) LeaveWord(usual string) string {
	if m.Tools.Attached {
		return "detach"
	}
	return usual
}

// CanEdit reports whether an editor can be opened: a recorded run has no files to change.
func (m *State) CanEdit() bool { return m.Tools.Editor != nil && !m.IsRecorded() }
