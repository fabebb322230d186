package state

import (
	"container/heap"
	"slices"
	"strings"

	"moon/engine/graph"
	"moon/events"
	"moon/plan/sequence"
)

// rerunning runs done steps again, one after the other.
type rerunning struct{ reopening }

// rerunnable are the done steps of a range, and with those that depend on them: in the order of the graph, in which nothing
// comes before what it depends on.
func (s *rerunning) rerunnable(c events.Rerun) (steps []int) {
	for i := c.From; i < c.To; i++ {
		if s.Over(i) && (len(c.Steps) == 0 || slices.Contains(c.Steps, i)) {
			steps = append(steps, i)
		}
	}
	if c.With {
		for _, i := range sequence.Dependents(s.plan, steps) {
			if s.Done(i) {
				steps = append(steps, i)
			}
		}
	}
	// Ids are in topological order, so what depends on another comes after it.
	slices.SortFunc(steps, func(a, b int) int { return int(s.id(a) - s.id(b)) })
	return steps
}

func (s *rerunning) refuseRerun(c events.Rerun) string {
	switch why := s.inside(c.Range); {
	case why != "":
		return why
	case !s.paused:
		return "pause the run first: done steps run again only while it is paused"
	case s.active > 0, len(s.reruns) > 0:
		return StillRunning
	case s.stop != "":
		return "the run is being stopped"
	case len(s.rerunnable(c)) == 0:
		return "nothing here is done; what failed is retried, what has not begun runs when it is its turn"
	}
	return s.refuseUnconfirmed(s.rerunnable(c))
}

// rerun runs done steps again, one after the other, and stays paused. Until their turn they keep their results, and what
// comes after them waits.
func (s *rerunning) rerun(c events.Rerun) {
	steps := s.rerunnable(c)
	if s.pause.Reason == events.PauseEnd {
		s.setPause(pausedByUser())
	}
	s.queueReruns(steps)
}

// queueReruns lets done steps run again, the first at once.
func (s *rerunning) queueReruns(steps []int) {
	s.reruns = steps
	for _, step := range s.reruns {
		s.choices[step] &^= excluded | marked
	}
	// The rest waits behind the first; retracting their edges keeps what follows them from running early.
	for _, step := range s.reruns[1:] {
		s.detain(step)
	}
	s.beginRerun(s.reruns[0])
	s.resolve()
}

// detain lets what comes after a done step wait until that has run again.
func (s *rerunning) detain(step int) {
	id := s.id(step)
	todo, seen := []graph.ID{id}, map[graph.ID]bool{}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		todo = append(todo, s.retract(at)...)
		if s.joins().decidesAgain(at, int32(step), false) { // later it would not be found any more: it may come after what waits now
			s.unsettle(at)
		}
	}
	// One edge more than there is: nothing can reach the node until nextRerun takes it off.
	s.nodes[id].pending++
}

// beginRerun takes back the end of a done step and starts it as soon as it can be, also while the run is paused. Its condition is
// looked at again.
func (s *rerunning) beginRerun(step int) {
	s.noteAttempts(step)
	id := s.id(step)
	s.reopen(id)
	n := &s.nodes[id]
	n.state, n.asked, n.announced = ready, true, true
	s.choices[step] |= approved
	if s.demands(step) && s.unconfirmed(step) { // a resumed run wants it: it waits for those who have to confirm it
		heap.Push(&s.ready, id)
	} else {
		s.choices[step] |= confirmed
		n.solo, s.solo = true, append(s.solo, id)
	}
	s.publish(step, events.StepRetrying{Attempt: int(n.attempt) + 1, Due: s.now, ByUser: true, Out: s.OutName(step, int(n.attempt)+1)})
}

// nextRerun goes on to the next step that is to run again when one has ended. If that did not go well, the rest keep their results.
func (s *rerunning) nextRerun() {
	if len(s.reruns) == 0 || s.node(s.reruns[0]).state != settled {
		return
	}
	last, rest := s.reruns[0], s.reruns[1:]
	s.reruns = nil
	switch {
	case len(rest) == 0:
	case s.Done(last) || s.node(last).outcome == events.Skipped && s.choices[last]&excluded == 0:
		s.reruns = rest
		// The edge that detain has added.
		s.node(rest[0]).pending--
		s.beginRerun(rest[0])
	default:
		for _, step := range rest {
			s.release(step)
		}
		s.warnNotRerun(rest, events.StepID(last)+" did not succeed")
	}
	s.resolve()
}

// release lets what comes after a step go on that was to run again, and does not.
func (s *rerunning) release(step int) {
	n := s.node(step)
	if n.pending--; n.pending == 0 {
		s.reach(s.id(step))
	}
}

// dropReruns takes steps out of the queue of those that run again, as they were excluded while they waited. They keep their results.
func (s *rerunning) dropReruns(r events.Range) {
	var stay []int
	for i, step := range s.reruns {
		// The first runs already.
		if i == 0 || !r.Has(step) {
			stay = append(stay, step)
			continue
		}
		s.release(step)
	}
	s.reruns = stay
}

func (s *rerunning) warnNotRerun(steps []int, why string) {
	if len(steps) == 0 {
		return
	}
	var names []string
	for _, step := range steps {
		names = append(names, events.StepID(step))
	}
	s.publish(-1, events.Warning{Message: "not run again, as " + why + ": " + strings.Join(names, ", ")})
}
