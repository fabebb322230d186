package view

import (
	"time"

	"moon/tui/draw"
)

// Mouse is the mouse of a person who has turned it on. It looks and does not decide: nothing that is asked of the run can
// be clicked, but for breakpoints, because a click goes astray more easily than a key.
type Mouse struct {
	On    bool
	Spots draw.Spots // of the last frame
	Box   Box        // the overlay of the last frame

	Dragging bool // the divider
	Clicked  time.Time
	Where    draw.Spot // of the last click, for double clicks
}

// Box is where an overlay was drawn.
type Box struct{ X, Y, W, H int }

// ForgetSpots begins a new frame.
func (u *Mouse) ForgetSpots() { u.Box = Box{}; u.Spots.Forget() }

func (u *Mouse) InBox(x, y int) bool {
	return x >= u.Box.X && x < u.Box.X+u.Box.W && y >= u.Box.Y && y < u.Box.Y+u.Box.H
}

// NoteBox notes where the overlay is. Nothing below it is to be clicked.
func (u *Mouse) NoteBox(x, y, w, h int) { u.Box = Box{x, y, w, h} }
