package plain

import (
	"moon/plan"
	"moon/plan/counterpart"
)

// moved says which numbers steps and scopes have in a plan to which rounds were added: nothing of what was there is gone but places
// that are not open any more, which get -1.
type moved struct{ steps, scopes map[int]int }

func movedTo(now, was *plan.Plan) moved {
	m := moved{map[int]int{}, map[int]int{-1: -1}}
	if was == nil || now == nil {
		return m
	}
	for i, j := range counterpart.Of(now, was) {
		if j >= 0 {
			m.steps[j] = i
		}
	}
	at := map[string]int{}
	for _, s := range now.Scopes {
		at[s.Path] = s.ID
	}
	for _, s := range was.Scopes {
		if id, ok := at[s.Path]; ok {
			m.scopes[s.ID] = id
		}
	}
	return m
}

func (m moved) step(old int) int  { return of(m.steps, old) }
func (m moved) scope(old int) int { return of(m.scopes, old) }

// task is a task under its new number.
func (m moved) task(old taskKey) taskKey { return taskKey{m.scope(old.scope), m.step(old.step)} }

func of(in map[int]int, n int) int {
	if now, ok := in[n]; ok {
		return now
	}
	return -1
}

// renumbered is what is kept by step under the new numbers.
func renumbered[V any](m moved, old map[int]V) map[int]V {
	now := map[int]V{}
	for step, v := range old {
		if to := m.step(step); to >= 0 {
			now[to] = v
		}
	}
	return now
}
