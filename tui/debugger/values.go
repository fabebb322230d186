package debugger

import "moon/tui/status"

// Sources are the steps that a value comes from, by what has become of them.
type Sources struct {
	Pending []int // they may still give it
	Gone    []int // they have not given it, and will not
	Given   []int
}

// SourcesOf sorts the steps that a value comes from. Numbers that the plan does not have are ignored: a value may come from another
// plan.
func (p Position) SourcesOf(steps []int) (s Sources) {
	for _, i := range steps {
		if !p.has(i) {
			continue
		}
		switch p.Steps.State(i) {
		case status.OK, status.Changed, status.Kept, status.Ignored, status.Rescued:
			s.Given = append(s.Given, i)
		case status.Skipped, status.Excluded, status.Omitted, status.Failed, status.Unreachable, status.Cancelled:
			s.Gone = append(s.Gone, i)
		default:
			s.Pending = append(s.Pending, i)
		}
	}
	return s
}

// Over reports whether a step has ended, or will not run.
func (p Position) Over(step int) bool {
	s := p.Steps.State(step)
	return !s.Pending() && s != status.Running && s != status.Asking
}
