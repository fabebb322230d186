package known

import "moon/events"

// AttemptPrefix is the prefix of the output files of a step's attempt, or "" if there is none; -1 is the last.
func (m *Run) AttemptPrefix(step, which int) (prefix string) {
	m.Store.Read(func(run *events.Run) {
		if step < 0 || step >= len(run.Steps) {
			return
		}
		out := outsOf(&run.Steps[step])
		switch {
		case len(out) == 0:
		case which < 0 || which >= len(out):
			prefix = out[len(out)-1]
		default:
			prefix = out[which]
		}
	})
	return prefix
}

// outsOf are the prefixes of the output of the attempts that have begun.
func outsOf(of *events.Step) []string {
	if last := len(of.Out) - 1; of.State == events.Backoff && last > 0 {
		return of.Out[:last] // the next has a name already
	}
	return of.Out
}

// CountAttempts returns how many attempts of a step have output.
func (m *Run) CountAttempts(step int) (n int) {
	m.Store.Read(func(run *events.Run) {
		if step >= 0 && step < len(run.Steps) {
			n = len(outsOf(&run.Steps[step]))
		}
	})
	return n
}
