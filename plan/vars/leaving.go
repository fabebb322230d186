package vars

import "slices"

// Leaving is a host that leaves the batch it is in, by meta: end_host.
type Leaving struct {
	Host string
	Step int  // the first one that it has left before, or the one that decides whether it leaves
	Sure bool // the plan knows it
}

// Ended are the results of a run.
type Ended interface {
	Omitted(step int) bool
	Skipped(step int) (skipped, ended bool)
}

// Staying are those of some hosts that have not left the batch before a step; all that leave are gone before -1. Without results only those
// have left of whom the plan knows it.
func (s *Scene) Staying(hosts []string, before int, results Ended) []string {
	if s.Left == nil || len(*s.Left) == 0 {
		return hosts
	}
	out := map[string]bool{}
	for _, l := range *s.Left {
		if (before < 0 || l.Step <= before) && (l.Sure || l.decided(results)) {
			out[l.Host] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(hosts), func(host string) bool { return out[host] })
}

// decided reports whether the step that decides has let the host leave.
func (l *Leaving) decided(results Ended) bool {
	if results == nil || results.Omitted(l.Step) {
		return false
	}
	skipped, ended := results.Skipped(l.Step)
	return ended && !skipped
}
