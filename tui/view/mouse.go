package view

import (
	"time"

	"moon/tui/draw"
	"moon/tui/overlay"
)

// Mouse is the mouse of a person who has turned it on. It looks and does not decide: nothing that is asked of the run can
// be clicked, but for breakpoints, because a click goes astray more easily than a key.
type Mouse struct {
	On    bool
	Spots draw.Spots    // of the last frame
	Box   overlay.Place // the overlay of the last frame

	Dragging bool // the divider
	Clicked  time.Time
	Where    draw.Spot // of the last click, for double clicks
}

// ForgetSpots begins a new frame.
func (u *Mouse) ForgetSpots() { u.Box = overlay.Place{}; u.Spots.Forget() }
