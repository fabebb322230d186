package console

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"moon/events"
	"moon/internal/pattern"
	"moon/tui/debugger"
	"moon/tui/status"
)

// breakpoints sets, lists and clears them.
type breakpoints struct {
	*speaker
	*titles
	*requests
	find *finder
}

// clauses are what may follow the steps of a breakpoint, in this order.
var clauses = pattern.New(`^(.*?)(?:\s+if\s+(.+?))?(?:\s+after\s+(\d+))?(?:\s+log\s+(.+))?$`)

func (c *breakpoints) setBreak(args string) {
	if args == "" {
		if i := c.position().At(); i >= 0 && c.State(i).Pending() {
			args = c.outline.stepNumber(i)
		} else {
			c.say("break before what? give a number of the plan, such as 2.1.")
			return
		}
	}
	var b events.Break
	ranges, _, why := c.find.findTargets(args)
	if m := clauses.FindStringSubmatch(args); why != "" && m != nil && m[1] != args { // a name may hold the words too
		if ranges, _, why = c.find.findTargets(m[1]); why == "" {
			b.When, b.Log = m[2], m[4]
			if m[3] != "" {
				// These are all digits, so it can only be too large.
				n, err := strconv.Atoi(m[3])
				if err != nil {
					c.say("after %s is too often.", clean(m[3]))
					return
				}
				b.After = n
			}
		}
	}
	if why != "" {
		c.say("%s", why)
		return
	}
	n, last := 0, 0
	for _, r := range ranges {
		rows := []events.Range{r}
		if b.When == "" && b.After == 0 && b.Log == "" { // before the first of a part: the others would stop it again and again
			rows = events.RangesOf(status.FirstSteps(c.plan, r))
		}
		for _, row := range rows {
			b.Step, b.To = row.From, row.To
			n, last = n+row.To-row.From, row.To-1
			c.send(b)
		}
	}
	first, where := ranges[0].From, ""
	switch task := status.Task(c.plan, c.plan.Steps[first].Scope); {
	case n == 1:
		where = "before " + c.called(first)
	case task >= 0 && task == status.Task(c.plan, c.plan.Steps[last].Scope) && n == c.plan.Scopes[task].Hosts:
		where = "before task " + c.outline.scopeNumber(task, first) + " " + clean(c.plan.Scopes[task].Name) + " on each of " +
			count(n, "host")
	default:
		where = "before each of " + count(n, "step")
	}
	if b.Log != "" {
		c.say("logs %s, and does not stop%s.", where, clean(b.Clauses()))
		return
	}
	c.say("stops %s%s.", where, clean(b.Clauses()))
}

// listBreaks lists the breakpoints, with all steps that have the same one as one entry.
func (c *breakpoints) listBreaks(string) {
	set := map[int]events.Breakpoint{}
	for i := range min(len(c.run.Steps), len(c.plan.Steps)) {
		if b, is := debugger.BreakAt(i, &c.run.Steps[i]); is {
			set[i] = b
		}
	}
	var lines []string
	for _, s := range status.Stops(c.plan, slices.Collect(maps.Keys(set)), func(step int) events.Breakpoint { return set[step] }) {
		line := c.called(s.Steps[0])
		if n := len(s.Steps); n > 1 {
			if s.Task >= 0 {
				line = "task " + c.outline.scopeNumber(s.Task, s.Steps[0]) + " " + clean(c.plan.Scopes[s.Task].Name)
			}
			line += " " + s.Where(c.plan)
		}
		lines = append(lines, sentence(line, strings.TrimSpace(clean(s.Set.Clauses()))))
	}
	if len(lines) == 0 {
		c.say("there are no breakpoints.")
		return
	}
	c.sayList(lines)
}

func (c *breakpoints) clearBreak(args string) {
	ranges, _, why := c.find.findTargets(args)
	if why != "" {
		c.say("%s", why)
		return
	}
	n := 0
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			if c.stepAt(i).Break {
				n++
			}
		}
		c.send(events.Break{Step: r.From, To: r.To, Clear: true})
	}
	if n == 0 {
		c.say("there was no breakpoint.")
		return
	}
	c.say("cleared %s.", count(n, "breakpoint"))
}
