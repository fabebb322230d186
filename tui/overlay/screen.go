package overlay

import (
	tea "charm.land/bubbletea/v2"

	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/known"
)

// Screen is what a box may look at: the run, how things look, and which keys there are.
type Screen struct {
	*known.Run

	Glyphs    *draw.Glyphs
	Keys      *keymap.Keys
	WhenKnown func(steps []int) string // what the value of some steps waits for
}

// Box is what lies over the panes.
type Box interface {
	// Press takes a key, and returns what is to be done.
	Press(s Screen, msg tea.KeyPressMsg) []Want
	// Draw returns what the box shows in w by h cells, with its title and what stands in its lower edge.
	Draw(s Screen, w, h int) (title string, body [][]draw.Text, foot string)
}

// Typist is a box with a line to type in, into which can be pasted.
type Typist interface {
	Box
	Paste(s Screen, msg tea.PasteMsg) []Want
}

// Lister is a box with a list of which one can be clicked.
type Lister interface {
	Box
	// Click is given the row of the body, and whether it was clicked twice.
	Click(s Screen, row int, double bool) []Want
}
