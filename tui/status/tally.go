package status

// Tally is how many steps are in each state.
type Tally [States]int32

// Sum adds up the steps of some states.
func (c *Tally) Sum(of ...State) (n int) {
	for _, s := range of {
		n += int(c[s])
	}
	return n
}

// Total is how many steps there are, without the excluded ones.
func (c *Tally) Total() (n int) {
	for s, k := range c {
		if State(s) != Excluded {
			n += int(k)
		}
	}
	return n
}

// Done is how many of them have ended. What was never reached has not.
func (c *Tally) Done() (n int) {
	for s := OK; s < Omitted; s++ {
		n += int(c[s])
	}
	return n
}

// Failed is how many have failed, in whatever way.
func (c *Tally) Failed() int { return c.Sum(Failed, Unreachable) }

// Begins is how many have not begun and may.
func (c *Tally) Begins() int { return c.Sum(Undecided, Waiting, Confirm) }
