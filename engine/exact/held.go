package exact

import (
	"fmt"
	"time"

	"moon/events"
	"moon/plan"
)

// Held is an attempt that is held to a prediction.
type Held struct {
	step     *plan.Step
	expected *events.Expectation
	deeds    *Deeds
}

// Hold is what holds an attempt of a step that is about to begin; nil if nothing does. unforeseen says that the step was not part of what
// was predicted.
func (w *Watch) Hold(ps *plan.Step) (h *Held, unforeseen bool) {
	if !w.On() || looks[ps.Action] {
		return nil, false
	}
	e := w.book.Of(ps)
	if open(e) != "" {
		return nil, e == nil
	}
	return &Held{ps, e, w.deeds.copyOf(ps)}, false
}

// Judge compares what the step would do now. If that is something else, would says what, and text is the error of the attempt, which must
// not be made; or would is nil, and text is a warning: the run has changed that itself. from and to are when it was predicted.
func (h *Held) Judge(now *events.Prediction, from, to time.Time) (would *events.Expectation, text string) {
	why := Differs(h.expected, now)
	if why == "" {
		return nil, ""
	}
	if by := h.deeds.By(h.step, now, from, to); by != "" {
		return nil, fmt.Sprintf("%s; done, because %s of this run has changed that", why, by)
	}
	e := Expect(h.step, now)
	return &e, message(why, now)
}

// Undone says that a step is skipped which was predicted to change something, or "". Its condition is the playbook's, and nothing is done.
func (w *Watch) Undone(ps *plan.Step) string {
	if !w.On() {
		return ""
	}
	if e := w.book.Of(ps); open(e) == "" && e.Skipped == "" && !e.Maybe && e.Changes() {
		return fmt.Sprintf("predicted to %s, but its condition does not hold now", e.Diff.Words())
	}
	return ""
}
