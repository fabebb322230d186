package engine

import (
	"moon/events"
)

// wondering asks why steps of a plan have not begun.
type wondering struct {
	digest string
	steps  []int
	answer chan []events.Wait // of one
}

func (wondering) input() {}

// Why says of steps of a plan what keeps them from beginning, at this moment; of the first also what is at the end of the
// chain it waits in. It answers nothing about another plan than the run has, and once the run has ended. It changes nothing, and waits for
// the loop, so it is not to be called from where nothing may wait.
func (s *Session) Why(digest string, steps []int) []events.Wait {
	in := wondering{digest, steps, make(chan []events.Wait, 1)}
	if !s.put(in) {
		return nil
	}
	select {
	case list := <-in.answer:
		return list
	case <-s.done:
		return nil
	}
}

// explain answers without waiting for the disk: what is said is not kept, and the next answer may be another one.
func (s *Session) explain(in wondering) {
	if in.digest != s.state.Plan().Digest || s.state.Finished() || s.fatal != nil {
		in.answer <- nil
		return
	}
	in.answer <- s.state.Why(in.steps)
}
