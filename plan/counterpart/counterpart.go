package counterpart

import (
	"moon/internal/pattern"
	"moon/plan"
)

// renumbered is what tells steps and scopes of the same name apart: the second shell is shell~2. Whatever is inserted above
// them gives them other numbers.
var renumbered = pattern.New(`~\d+`)

// Of says for each step of a plan which step of an earlier one it is, or -1 if it is new. What a step did is its
// counterpart's, so a wrong answer runs something twice, or not at all.
//
// A step is the one with its path and digest. Of those left, one with the same content is the same among steps of the same
// name, whatever number it has there now, and in its scope, whatever name. Only then the path alone decides: that step was edited.
// Where more of a name are left than there were, the most similar one was edited, and the others are new.
func Of(now, old *plan.Plan) []int {
	c := &counterparts{now: now, old: old, of: make([]int, len(now.Steps)), taken: make([]bool, len(old.Steps))}
	at := make(map[string]int, len(old.Steps))
	for i := range old.Steps {
		at[old.Steps[i].Path] = i
	}
	left := 0
	for i := range now.Steps {
		c.of[i] = -1
		// Most steps of an edited playbook are unchanged: all that follows looks only at the rest.
		if j, ok := at[now.Steps[i].Path]; ok && !c.taken[j] && old.Steps[j].Digest == now.Steps[i].Digest {
			c.take(i, j)
		} else {
			left++
		}
	}
	if left == 0 {
		return c.of
	}
	c.pairUp(func(_ *plan.Plan, s *plan.Step) string {
		return renumbered.ReplaceAllString(s.Path, "") + "\x00" + s.Digest
	})
	c.pairUp(func(p *plan.Plan, s *plan.Step) string {
		return renumbered.ReplaceAllString(p.Scopes[s.Scope].Path, "") + "\x00" + s.Host + "\x00" + s.Digest
	})
	c.edited()
	return c.of
}

// Grown says for each step of a plan which step of the one before it is, to which rounds of loops were added and nothing else, or -1 if it
// is one of those. Where numbers in paths have changed by that, it is the answer of Of.
func Grown(now, old *plan.Plan) []int {
	of, j := make([]int, len(now.Steps)), 0
	for i := range now.Steps {
		of[i] = -1
		if j < len(old.Steps) && now.Steps[i].Path == old.Steps[j].Path && now.Steps[i].Host == old.Steps[j].Host {
			of[i] = j
			j++
		}
	}
	if j < len(old.Steps) {
		return Of(now, old)
	}
	return of
}

type counterparts struct {
	now, old *plan.Plan
	of       []int
	taken    []bool
}

func (c *counterparts) take(i, j int) { c.of[i], c.taken[j] = j, true }

// pairUp takes those that are left and have the same key for each other, in order.
func (c *counterparts) pairUp(key func(*plan.Plan, *plan.Step) string) {
	found := c.leftBy(func(s *plan.Step) string { return key(c.old, s) })
	for i := range c.now.Steps {
		if c.of[i] >= 0 {
			continue
		}
		k := key(c.now, &c.now.Steps[i])
		if list := found[k]; len(list) > 0 {
			c.take(i, list[0])
			found[k] = list[1:]
		}
	}
}

// leftBy are the steps of the old plan that nothing was taken for yet, by a key.
func (c *counterparts) leftBy(key func(*plan.Step) string) map[string][]int {
	found := map[string][]int{}
	for j := range c.old.Steps {
		if !c.taken[j] {
			k := key(&c.old.Steps[j])
			found[k] = append(found[k], j)
		}
	}
	return found
}

// edited finds the steps that were edited: of a name, as many as there were, the most similar ones.
func (c *counterparts) edited() {
	stem := func(s *plan.Step) string { return renumbered.ReplaceAllString(s.Path, "") }
	was := c.leftBy(stem)
	is := map[string][]int{}
	// Maps have no order, and the same plans must always give the same pairs.
	var order []string
	for i := range c.now.Steps {
		if c.of[i] >= 0 {
			continue
		}
		k := stem(&c.now.Steps[i])
		if len(was[k]) == 0 {
			continue
		}
		if is[k] == nil {
			order = append(order, k)
		}
		is[k] = append(is[k], i)
	}
	for _, k := range order {
		c.closest(is[k], was[k])
	}
}

// closest takes for each of the old steps the most similar new one. As many as there were are the same, in their order.
func (c *counterparts) closest(is, was []int) {
	if len(is) == len(was) {
		for k := range is {
			c.take(is[k], was[k])
		}
		return
	}
	const compared = 64 // squares of many more would cost more than a wrong guess
	for k, j := range was {
		best, most := -1, -1
		for n, i := range is {
			if c.of[i] >= 0 || n > k+compared {
				continue
			}
			same := shared(c.now.Steps[i].Summary, c.old.Steps[j].Summary)
			if c.now.Steps[i].Path == c.old.Steps[j].Path {
				same++ // of equals, the one in its place
			}
			if same > most {
				best, most = i, same
			}
		}
		if best >= 0 {
			c.take(best, j)
		}
	}
}

// shared is how much two texts have in common at their beginnings and ends.
func shared(a, b string) int {
	n, m := 0, min(len(a), len(b))
	for n < m && a[n] == b[n] {
		n++
	}
	k := 0
	for k < m-n && a[len(a)-1-k] == b[len(b)-1-k] {
		k++
	}
	return 2 * (n + k)
}
