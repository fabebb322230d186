package outline

import (
	"strconv"

	"moon/internal/pattern"
	"moon/plan"
	"moon/plan/playbook"
)

// Reached notes that a task is planned again, as n steps or scopes, and reports whether that is within bounds. On each of the hosts
// the first time is free.
func (o *Outline) Reached(n int, k *plan.Compiled, hosts int, chain []string) bool {
	if k.Reached++; k.Reached <= max(hosts, 1) {
		o.plan.Engine.Allow(n*TaskWork, n*TaskText)
		return true
	}
	o.plan.Engine.Allow(n*repeatedWork, n*repeatedText)
	o.repeated += n
	limit := max(repeatedSteps, o.maxSteps/100*repeatedShare, repeatedHost*hosts)
	if o.repeated <= limit {
		return true
	}
	if !o.problems.Full {
		o.problems.Full = true
		o.problems.Errorf(k.Src.Pos, 0, chain, "make the loops and includes around it smaller, or raise the limit with --max-steps",
			"loops and includes in each other would repeat tasks more than %d times", limit)
	}
	return false
}

// Rounds reports whether there is room for a loop over a task: n is the number of its items on all hosts that have them.
func (o *Outline) Rounds(n int, t *playbook.Task, chain []string) bool {
	each := 1
	if t.Kind == playbook.Block {
		each = max(countSteps(t.Body), 1)
	}
	return o.HasRoom(n*each, t.Loop.Pos, chain)
}

// What a plan may cost beside its steps. Loops in loops, and includes in them, make a small playbook explode: steps that are a
// repetition of others are bounded more narrowly than those that are written, or that there are hosts for.
const (
	repeatedSteps = 50_000 // and more for more hosts and with --max-steps, of which it is a part
	repeatedShare = 5      // percent
	repeatedHost  = 3_000

	// Work of templates: for the whole plan, for a task on a host, and for a repetition of it.
	PlanWork     = 10_000_000
	PlanText     = 96 << 20
	TaskWork     = 20_000
	TaskText     = 64 << 10
	repeatedWork = 500
	repeatedText = 1 << 10
)

var countedRange = pattern.New(`^(?:\{\{)?\s*(?:(-?\d{1,9})\s*\.\.\s*(-?\d{1,9})|range\(\s*(\d{1,9})\s*\))\s*(?:\}\})?$`)

// countSteps is how many steps some tasks will at least be for each host, as far as that can be counted without planning them: only what is
// written out counts.
func countSteps(tasks []*playbook.Task) int {
	const enough = 1 << 24 // more than this is not distinguished
	sum := 0
	for _, t := range tasks {
		n := 0
		switch t.Kind {
		case playbook.Action:
			n = 1
		case playbook.Block:
			if len(t.When) == 0 {
				n = countSteps(t.Body)
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
func writtenItems(l *playbook.Loop) int {
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
