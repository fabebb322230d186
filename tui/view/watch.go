package view

import (
	"slices"

	"moon/events"
	"moon/tui/status"
)

// WatchList is the expressions a person watches, with what they were when they were last evaluated. Evaluating may take long
// and is done away from the screen, one round at a time: after each pause, and after each step that ended.
type WatchList struct {
	Texts  []string
	Before []string // what was typed, the latest last
	Values map[string]status.Value
	Of     WatchMoment // when the values were true
	Round  int         // counts changes of texts
	Asking bool
}

// WatchMoment is what values depend on.
type WatchMoment struct {
	Digest         string
	Step, Settled  int
	Pauses, Rounds int
	Phase          events.Phase
}

// The bounds of what is watched and remembered.
const (
	WatchesKept = 30
	typedKept   = 50
)

// AddWatch watches an expression.
func (w *WatchList) AddWatch(text string) {
	w.RememberTyped(text)
	if !slices.Contains(w.Texts, text) && len(w.Texts) < WatchesKept {
		w.Texts = append(w.Texts, text)
		w.Round++
	}
}

// RemoveWatch stops watching an expression.
func (w *WatchList) RemoveWatch(text string) {
	w.Texts = slices.DeleteFunc(w.Texts, func(t string) bool { return t == text })
	// What is being evaluated is of the texts before; this drops it.
	w.Round++
}

// RememberTyped remembers an expression, for who wants to change it.
func (w *WatchList) RememberTyped(text string) {
	// What is typed again is the latest again, so the history holds each text once.
	w.Before = append(slices.DeleteFunc(w.Before, func(t string) bool { return t == text }), text)
	w.Before = w.Before[max(len(w.Before)-typedKept, 0):]
}
