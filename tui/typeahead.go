package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/tui/keymap"
)

// typeahead keeps what is typed while the run has not answered the last command yet. A key that depends on the run is judged by what the
// earlier commands have made of it, never by what the screen happens to show: `A c` typed at once runs what `A` approves. What is typed
// after such a key waits behind it, so that keys keep their order. An interrupt waits for nothing and discards them, as in a terminal.
type typeahead struct{ input []tea.Msg }

// deferred is a key that was read already, as what it means.
type deferred struct{ do keymap.Intent }

// dependsOnRun reports whether an intent does something else, or nothing, after a command has changed the run.
func dependsOnRun(do keymap.Intent) bool {
	switch do {
	case keymap.CursorPointer, keymap.NeedNext, keymap.NeedPrev, keymap.RunLeave:
		return true
	default:
		return keymap.AsksTheRun(do)
	}
}
