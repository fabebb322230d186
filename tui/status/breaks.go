package status

import (
	"fmt"
	"slices"
	"strings"

	"moon/events"
	"moon/plan"
)

// FirstSteps are the steps before which a breakpoint stops that is set for a stretch of steps: the first of them. Where that is of a
// task over several hosts that lies in the stretch as a whole, they are the first steps of the task on each host.
func FirstSteps(p *plan.Plan, r events.Range) []int {
	if r.From >= r.To || r.From >= len(p.Steps) {
		return nil
	}
	task := Task(p, p.Steps[r.From].Scope)
	// If only a part of the task was chosen, the task is not what was meant.
	if task < 0 || p.Scopes[task].First < r.From || p.Scopes[task].Last > r.To {
		return []int{r.From}
	}
	var first []int
	seen := map[string]bool{}
	for i := p.Scopes[task].First; i < min(p.Scopes[task].Last, len(p.Steps)); i++ {
		if h := p.Steps[i].Host; !seen[h] {
			seen[h] = true
			first = append(first, i)
		}
	}
	return first
}

// Stop is a breakpoint as people see it: the steps that have the same one, because one command set it, or because they are the
// first of one task on each host. Steps are in ascending order.
type Stop struct {
	events.Breakpoint
	Steps []int
	Task  int // the scope of the task over several hosts that all of them are of, or -1
}

// Stops lists breakpoints in the order of the plan. at is the breakpoint at a step.
func Stops(p *plan.Plan, steps []int, at func(step int) events.Breakpoint) (list []Stop) {
	type group struct {
		task int // only where it is not one command
		set  events.Break
	}
	groups := map[group]int{}
	for _, step := range slices.Sorted(slices.Values(steps)) {
		b, task := at(step), Task(p, p.Steps[step].Scope)
		g := group{task: -1, set: b.Set}
		if b.Set.To <= b.Set.Step+1 && task >= 0 && firstOnHost(p, task, step) {
			// What differs between the hosts is taken out of the key, the clauses stay in it.
			g.task, g.set.Step, g.set.To = task, 0, 0
		}
		i, ok := groups[g]
		if !ok {
			groups[g] = len(list)
			list = append(list, Stop{Breakpoint: b, Task: task, Steps: []int{step}})
			continue
		}
		s := &list[i]
		s.Steps = append(s.Steps, step)
		if g.task >= 0 { // each of them counts for itself
			s.Hits += b.Hits
		} else if task != s.Task {
			s.Task = -1
		}
	}
	return list
}

// firstOnHost reports whether a step of a task over several hosts is the first on its host.
func firstOnHost(p *plan.Plan, task, step int) bool {
	before := p.Steps[p.Scopes[task].First:step]
	return !slices.ContainsFunc(before, func(s plan.Step) bool { return s.Host == p.Steps[step].Host })
}

// Where says on which hosts a breakpoint of a task stops, or at how many steps one of several does; "" for a single step of this
// machine.
func (s *Stop) Where(p *plan.Plan) string {
	const room = 24 // for their names, in letters
	if s.Task < 0 {
		switch on := &p.Steps[s.Steps[0]]; {
		case len(s.Steps) > 1:
			return fmt.Sprintf("each of %d steps", len(s.Steps))
		case OverHosts(p):
			return "on " + On(on)
		}
		return ""
	}
	var hosts []string
	for _, step := range s.Steps {
		if on := On(&p.Steps[step]); !slices.Contains(hosts, on) {
			hosts = append(hosts, on)
		}
	}
	where := "on " + strings.Join(hosts, ", ")
	if len(hosts) > 1 && len(where) > room {
		where = fmt.Sprintf("on %d hosts", len(hosts))
	}
	if len(s.Steps) > len(hosts) {
		where += fmt.Sprintf(", each of %d steps", len(s.Steps))
	}
	return where
}

// Breaks are the commands that set a breakpoint before steps, or clear it.
func Breaks(steps []int, clear bool) (list []events.Break) {
	for _, r := range events.RangesOf(steps) {
		list = append(list, breakAt(r, clear))
	}
	return list
}

func breakAt(r events.Range, clear bool) events.Break {
	b := events.Break{Step: r.From, Clear: clear}
	if r.To > r.From+1 {
		b.To = r.To
	}
	return b
}
