package plan

import (
	"strconv"

	"moon/internal/pattern"
	"moon/plan/playbook"
)

// What a plan may cost beside its steps. Loops in loops, and includes in them, make a small playbook explode: steps that are a
// repetition of others are bounded more narrowly than those that are written, or that there are hosts for.
const (
	RepeatedSteps = 50_000 // and more for more hosts and with --max-steps, of which it is a part
	RepeatedShare = 5      // percent
	RepeatedHost  = 3_000

	// Work of templates: for the whole plan, for a task on a host, and for a repetition of it.
	PlanWork     = 10_000_000
	PlanText     = 96 << 20
	TaskWork     = 20_000
	TaskText     = 64 << 10
	RepeatedWork = 500
	RepeatedText = 1 << 10
)

var countedRange = pattern.New(`^(?:\{\{)?\s*(?:(-?\d{1,9})\s*\.\.\s*(-?\d{1,9})|range\(\s*(\d{1,9})\s*\))\s*(?:\}\})?$`)

// AtLeast is how many steps some tasks will be for each host, as far as that can be counted without planning them: only what is
// written out counts.
func AtLeast(tasks []*playbook.Task) int {
	const enough = 1 << 24 // more than this is not distinguished
	sum := 0
	for _, t := range tasks {
		n := 0
		switch t.Kind {
		case playbook.Action:
			n = 1
		case playbook.Block:
			if len(t.When) == 0 {
				n = AtLeast(t.Body)
			}
		case playbook.Include, playbook.IncludeVars, playbook.Preset, playbook.Role, playbook.Vars:
		}
		if t.Loop.Kind != playbook.NoLoop {
			n *= writtenItems(t.Loop)
		}
		// Bounded at each sum, or loops in loops would overflow.
		if sum += min(n, enough); sum > enough {
			return enough
		}
	}
	return sum
}

// writtenItems is how many items a loop has if that can be seen.
func writtenItems(l playbook.Loop) int {
	if l.Kind != playbook.Items { // with_items of plays, a lookup, flattens lists
		return 0
	}
	switch l.Over.Kind() {
	case playbook.List, playbook.Map:
		return l.Over.Len()
	case playbook.String:
		m := countedRange.FindStringSubmatch(l.Over.Text())
		if m == nil {
			return 0
		}
		from, _ := strconv.Atoi(m[1])
		to, _ := strconv.Atoi(m[2] + m[3])
		if m[3] != "" {
			return to
		}
		return max(to-from+1, 0)
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float:
	}
	return 0
}
