package pane

import (
	"slices"

	"moon/events"
	"moon/tui/status"
	"moon/tui/tree"
)

// ToNeed is the step that need goes to, or -1.
func (m WhyNot) ToNeed(direction int) int {
	ranks := m.attentionKinds()
	here := m.Tree.Steps(m.CursorNode())
	at, rank := here.From, -1
	if step := m.Tree.Step(m.CursorNode()); step < 0 {
		if direction > 0 {
			at-- // the first step of a scope comes after the scope
		}
	} else {
		rank = rankOf(ranks, m.Tree.Faces[step])
	}
	return m.nextNeed(ranks, rank, at, direction)
}

// attentionKinds are the kinds of step to look at, the most urgent first. A change is not a problem: with the filter that shows changes
// it is what was asked for.
func (m WhyNot) attentionKinds() []func(status.State) bool {
	switch m.Filter {
	case tree.FilterChanged, tree.FilterLeft:
		return []func(status.State) bool{m.Filter.Shows}
	case tree.FilterAll, tree.FilterProblems, tree.FilterFound, tree.FilterNotable:
	}
	// In a review one key approves all that merely is not approved. While steps want to be confirmed one by one, those alone are gone
	// to: they would be lost among the others.
	approval := tree.Asks
	if m.Shot.Phase != events.Review || m.Tree.Tallies[0].Sum(status.Confirm, status.Asking) == 0 {
		approval = func(f status.State) bool { return tree.Asks(f) || f == status.Undecided }
	}
	return []func(status.State) bool{tree.HasFailed, approval, tree.Recovered}
}

// rankOf is the first kind that a face is of, or -1.
func rankOf(ranks []func(status.State) bool, f status.State) int {
	return slices.IndexFunc(ranks, func(wanted func(status.State) bool) bool { return wanted(f) })
}

// nextNeed is the step after a step that has a rank, or the nearest of the first rank that there is; -1 if there is none. After
// the last step of a rank comes the first of the next.
func (m WhyNot) nextNeed(ranks []func(status.State) bool, rank, at, direction int) int {
	n := len(m.Tree.Faces)
	if rank >= 0 {
		// From a failure to the next failure: the kind changes only after its last step, so that nothing is visited twice in a round.
		if i := m.stepThat(at+direction, n, direction, ranks[rank]); i >= 0 {
			return i
		}
		start := 0
		if direction < 0 {
			start = n - 1
		}
		for k := 1; k <= len(ranks); k++ {
			if i := m.stepThat(start, n, direction, ranks[((rank+k*direction)%len(ranks)+len(ranks))%len(ranks)]); i >= 0 {
				return i
			}
		}
		return -1
	}
	// Anywhere else urgency counts more than distance: a failure behind the cursor comes before a change in front of it.
	for _, wanted := range ranks {
		for _, from := range [...]int{at + direction, map[bool]int{true: 0, false: n - 1}[direction > 0]} {
			if i := m.stepThat(from, n, direction, wanted); i >= 0 {
				return i
			}
		}
	}
	return -1
}

// stepThat is the first step from one on whose face is wanted, without coming round, or -1.
func (m WhyNot) stepThat(from, n, direction int, wanted func(status.State) bool) int {
	for i := from; i >= 0 && i < n; i += direction {
		if wanted(m.Tree.Faces[i]) {
			return i
		}
	}
	return -1
}
