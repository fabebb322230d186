package status

import (
	"strings"

	"moon/events"
	"moon/plan"
)

// OverHosts reports whether a plan is about other hosts than the machine moon runs on. Its steps are then called with theirs.
func OverHosts(p *plan.Plan) bool {
	for i := range p.Steps {
		if h := p.Steps[i].Host; h != "" && h != "localhost" {
			return true
		}
	}
	return false
}

// On is the host of a step, and with it the one that does it instead: "web1", "web1 -> lb1".
func On(s *plan.Step) string {
	if s.Delegate == "" || s.Delegate == s.Host {
		return s.Host
	}
	return s.Host + " -> " + s.Delegate
}

// Task is the scope of the task over several hosts that a step, or a scope, belongs to, or -1: from what is in a role, a block or
// an include no further.
func Task(p *plan.Plan, scope int) int {
	for scope > 0 && scope < len(p.Scopes) {
		switch p.Scopes[scope].Kind {
		case plan.ScopeTask:
			return scope
		case plan.ScopeLoop:
			scope = p.Scopes[scope].Parent
		default:
			return -1
		}
	}
	return -1
}

// TaskTitle is what a task is called over all its hosts: "role : name" where it is in a role, and without the item of a loop.
func TaskTitle(role, name string) string {
	if role == "" {
		return name
	}
	return role + " : " + name
}

// Recap counts how the tasks of each host have ended so far, as events.HostCounts says, in the order in which the hosts come in
// the plan. At the end of a run it is what the engine has counted. A loop counts when its last item has ended.
func Recap(p *plan.Plan, steps []events.Step) []events.HostCounts {
	var list []events.HostCounts
	at := map[string]int{}
	for i := 0; i < min(len(p.Steps), len(steps)); {
		to := i + 1
		// The items of a loop follow each other, with the number of the first as their group.
		for p.Steps[i].Group == i && to < min(len(p.Steps), len(steps)) && p.Steps[to].Group == i {
			to++
		}
		if t, shown := ended(p, steps, i, to); shown {
			host := p.Steps[i].Host
			n, ok := at[host]
			if !ok {
				n = len(list)
				at[host] = n
				list = append(list, events.HostCounts{Host: host})
			}
			t.Add(&list[n])
		}
		i = to
	}
	return list
}

// CountTask counts a task on one host: the steps [from, to), which are one, or the items of its loop.
func CountTask(p *plan.Plan, steps []events.Step, from, to int, c *events.HostCounts) {
	t, _ := ended(p, steps, from, to)
	t.Add(c)
}

// ended is how a task has ended on a host, and whether that is worth a line of it.
func ended(p *plan.Plan, steps []events.Step, from, to int) (t events.TaskEnds, shown bool) {
	for i := from; i < to; i++ {
		s := &steps[i]
		if p.Steps[i].Excluded || NotThere(p, steps, i) {
			continue
		}
		// A task counts once it is over as a whole.
		if s.State != events.Settled {
			return events.TaskEnds{}, false
		}
		// What stays open in a dry run is not done.
		if p.Steps[i].Open() && s.Outcome == events.OK {
			t.Take(events.StepEnd{Outcome: events.Skipped, Reason: events.SkipWhen})
			continue
		}
		word, _, _ := strings.Cut(s.Reason, ":")
		t.Take(events.StepEnd{
			Action: p.Steps[i].Action, Outcome: s.Outcome, Reason: events.SkipReason(word), Tried: s.Attempt > 0, Touched: s.Touched,
			Ignored: s.Ignored, Rescued: s.Rescued,
		})
		shown = shown || s.Outcome == events.Cancelled
	}
	return t, shown || t != (events.TaskEnds{})
}

// NotThere reports whether a step turned out not to be there: its include was skipped, or its host had left the play.
func NotThere(p *plan.Plan, steps []events.Step, i int) bool {
	for _, g := range p.Steps[i].Gates {
		for step := g.Step; step < g.End(); step++ {
			s := &steps[step]
			shut := s.Outcome == events.OK || s.Outcome == events.Changed // one that was never reached decides nothing
			if g.Ran {
				shut = s.Outcome == events.Skipped || s.Outcome == events.Omitted
			}
			if shut && s.State == events.Settled {
				return true
			}
		}
	}
	return false
}

// Tallies are the columns of a recap, in the order users of plays know.
func Tallies(c *events.HostCounts) [7]int {
	return [7]int{c.OK, c.Changed, c.Unreachable, c.Failed, c.Skipped, c.Rescued, c.Ignored}
}

// TallyWords are what they are called.
var TallyWords = [7]string{"ok", "changed", "unreachable", "failed", "skipped", "rescued", "ignored"}

// TallyStates are the states they count.
var TallyStates = [7]State{OK, Changed, Unreachable, Failed, Skipped, Rescued, Ignored}
