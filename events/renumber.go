package events

// Renumber gives a command the numbers that its steps have in another plan. to says where the steps of a range are there, in one row and
// nothing between them; it is not asked of a command that names no steps. ok is what to has said.
func Renumber(c Command, to func(Range) (Range, bool)) (renumbered Command, ok bool) {
	ok = true
	move := func(r Range) Range {
		if !ok {
			return r
		}
		r, ok = to(r)
		return r
	}
	one := func(step int) int { return move(Range{From: step, To: step + 1}).From }
	switch c := c.(type) {
	case Approve:
		c.Range = move(c.Range)
		return c, ok
	case Withdraw:
		c.Range = move(c.Range)
		return c, ok
	case Exclude:
		c.Range = move(c.Range)
		return c, ok
	case Include:
		c.Range = move(c.Range)
		return c, ok
	case Break:
		moved := move(c.Range())
		if c.Step = moved.From; c.To != 0 {
			c.To = moved.To
		}
		return c, ok
	case Advance:
		if c.From != c.To { // step names none
			c.Range = move(c.Range)
		}
		return c, ok
	case Retry:
		c.Range = move(c.Range)
		return c, ok
	case Accept:
		c.Range = move(c.Range)
		return c, ok
	case Skip:
		c.Step = one(c.Step)
		return c, ok
	case Rerun:
		steps := make([]int, len(c.Steps))
		for i, step := range c.Steps {
			steps[i] = one(step)
		}
		if c.Range = move(c.Range); len(steps) > 0 {
			c.Steps = steps
		}
		return c, ok
	case Keep:
		c.Range = move(c.Range)
		return c, ok
	case Mark:
		c.Range = move(c.Range)
		return c, ok
	case Answer:
		c.Step = one(c.Step)
		return c, ok
	case Continue, Pause, Set, Fix, Stop, Leave: // of the run, or of paths
	}
	return c, true
}
