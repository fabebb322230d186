package exact

import (
	"time"

	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// Watch is what holds a run to predictions: what is expected of its steps, and what they have done. All of it follows from the records of
// the run, so that a resumed run is held to the same. The zero value holds a run to nothing.
type Watch struct {
	book  *Book
	deeds Deeds
	would map[key]*events.Expectation // of steps that have drifted
}

// On reports whether the run is held to predictions.
func (w *Watch) On() bool { return w.book != nil }

// See takes note of a record. inward says of an action that it touches no machine.
func (w *Watch) See(p *plan.Plan, r fact.Record, inward func(action string) bool) {
	if f, ok := r.Fact.(fact.RunExpects); ok {
		w.deeds.began = r.At
		w.book, w.would = NewBook(&f.Expectations), map[key]*events.Expectation{}
	}
	if !w.On() {
		return
	}
	w.deeds.see(p, r, inward)
	switch f := r.Fact.(type) {
	case fact.AttemptFinished:
		if f.Would != nil {
			w.would[keyOf(&p.Steps[f.Step])] = f.Would
		}
	case fact.Commanded:
		c, ok := f.Order.Command.(events.Accept)
		for i := c.From; ok && i < c.To && i < len(p.Steps); i++ {
			if e := w.would[keyOf(&p.Steps[i])]; e != nil {
				w.book.Take(e)
				delete(w.would, keyOf(&p.Steps[i]))
			}
		}
	default:
	}
}

// Cut ends what ran when a process of the run ended.
func (w *Watch) Cut(at time.Time) { w.deeds.cut(at) }
