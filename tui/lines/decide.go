package lines

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"moon/events"
	"moon/tui/standing"
)

// decided says what was asked for in one line. What the engine refuses comes after it.
func (d *desk) decided(word string, n int, rest ...string) {
	d.say("%s", sentence(append([]string{word + " " + count(n, "step")}, rest...)...))
}

// approve lets steps run. One that needs confirmation is confirmed by its own number or by all, and not by a part of the
// plan that it is in.
func (d *desk) approve(args string) {
	switch args {
	case "":
		if i := d.here(); i >= 0 && d.run.Phase == events.Paused && d.state(i).Pending() {
			d.yes("")
			return
		}
		d.say("approve what? all, safe (all except what needs confirmation), or numbers.")
	case "all":
		d.approveAll()
	case "safe":
		t := d.tally(d.everything())
		d.send(events.Approve{Range: d.everything(), Digest: d.plan.Digest})
		d.decided("approved", t[undecided], d.stillAsk(t[confirm]))
	default:
		d.approveSome(args)
	}
}

func (d *desk) approveAll() {
	t := d.tally(d.everything())
	if t.sum(undecided, confirm) == 0 {
		d.say("nothing to approve.")
		return
	}
	d.send(events.Approve{Range: d.everything(), Digest: d.plan.Digest, Confirm: true})
	rest := ""
	if n := t[confirm]; n > 0 {
		rest = fmt.Sprintf("including %d that needed confirmation", n)
	}
	d.decided("approved", t.sum(undecided, confirm), rest)
}

func (d *desk) approveSome(args string) {
	ranges, single, why := d.targets(args)
	if why != "" {
		d.say("%s", why)
		return
	}
	t := d.tally(ranges...)
	switch {
	case single && t[asking] > 0:
		d.send(events.Answer{Step: ranges[0].From})
		d.say("continuing.")
		return
	case single && t.sum(undecided, confirm) == 0 && t[waiting] > 0:
		d.say("it is already approved. unapprove takes that back.")
		return
	case t[undecided] == 0 && (!single || t[confirm] == 0):
		if t[confirm] > 0 {
			d.say("%s. next goes to them.", d.stillAsk(t[confirm]))
		} else {
			d.say("nothing to approve here.")
		}
		return
	}
	for _, r := range ranges {
		d.send(events.Approve{Range: r, Digest: d.plan.Digest, Confirm: single && t[confirm] > 0})
	}
	if single {
		d.decided("approved", 1)
		return
	}
	d.decided("approved", t[undecided], d.stillAsk(t[confirm]))
}

func (d *desk) stillAsk(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 step needs confirmation: approve its own number, or all"
	}
	return fmt.Sprintf("%d steps need confirmation: approve their own numbers, or all", n)
}

func (d *desk) unapprove(args string) {
	ranges, _, why := d.targets(args)
	if why != "" {
		d.say("%s", why)
		return
	}
	n := 0
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			if s := d.of(i); s.State != events.Settled && s.Approved {
				n++
			}
		}
		d.send(events.Withdraw{Range: r})
	}
	d.decided("unapproved", n)
}

// skip excludes steps. A failed one is given up instead.
func (d *desk) skip(args string) {
	if args == "" {
		i := d.here()
		if i < 0 || d.run.Phase != events.Paused {
			d.say("skip what? give numbers of the plan.")
			return
		}
		d.skipSteps([]events.Range{{From: i, To: i + 1}}, true)
		return
	}
	ranges, single, why := d.targets(args)
	if why != "" {
		d.say("%s", why)
		return
	}
	d.skipSteps(ranges, single)
}

func (d *desk) skipSteps(ranges []events.Range, single bool) {
	t := d.tally(ranges...)
	left := 0
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			if d.plan.Steps[i].Excluded {
				left++
			}
		}
	}
	switch {
	case single && d.broken(ranges[0].From) && d.run.Phase == events.Paused:
		d.send(events.Skip{Step: ranges[0].From})
		d.say("skipped; continuing without it.")
	case single && d.broken(ranges[0].From):
		d.say("it can only be skipped while the run is paused on it.")
	case single && t[asking] > 0:
		d.send(events.Answer{Step: ranges[0].From, Reject: true})
		d.say("rejected.")
	case t.sum(undecided, waiting, confirm) > 0:
		if why := standing.Shaped(d.plan, d.run.Steps, ranges, true); why != "" {
			d.say("%s", sentence(clean(why)))
			return
		}
		also := d.alsoSkipped(ranges, true)
		for _, r := range slices.Backward(ranges) { // what was planned with the value of a step before the step itself
			d.send(events.Exclude{Range: r})
		}
		d.decided("excluded", t.sum(undecided, waiting, confirm))
		d.sayAlso(also)
	case left > 0 && left == t[excluded]:
		d.say("excluded by tags or selection.")
	case t[excluded] > 0:
		d.say("already excluded. restore takes that back.")
	default:
		d.say("it has already run.")
	}
}

func (d *desk) sayAlso(words string) {
	if words != "" {
		d.say("%s", sentence(words))
	}
}

func (d *desk) restore(args string) {
	ranges, _, why := d.targets(args)
	if why != "" {
		d.say("%s", why)
		return
	}
	var steps []int
	late := -1
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			switch of := d.of(i); {
			case !of.Excluded || d.plan.Steps[i].Excluded:
			case of.Restorable():
				steps = append(steps, i)
			default:
				late = i
			}
		}
	}
	switch {
	case len(steps) == 0 && late >= 0:
		d.say("%s was already skipped and cannot be restored.", d.called(late))
		return
	case len(steps) == 0:
		d.say("nothing here was excluded by skip.")
		return
	}
	ranges = events.RangesOf(steps)
	if why := standing.Shaped(d.plan, d.run.Steps, ranges, false); why != "" {
		d.say("%s", sentence(clean(why)))
		return
	}
	also := d.alsoSkipped(ranges, false)
	for _, r := range ranges {
		d.send(events.Include{Range: r})
	}
	d.decided("restored", len(steps))
	d.sayAlso(also)
}

// yes answers what the run stopped for. It starts nothing: whoever says yes to one thing has not said run.
func (d *desk) yes(string) {
	i, what := d.asksHere()
	switch what {
	case asking:
		d.send(events.Answer{Step: i})
		d.say("continuing.")
	case confirm, undecided:
		d.send(events.Approve{Range: events.Range{From: i, To: i + 1}, Digest: d.plan.Digest, Confirm: what == confirm})
		d.say("approved %s. step runs it, run continues.", d.called(i))
	default:
		d.nothingAsks(i)
	}
}

func (d *desk) no(string) {
	i, what := d.asksHere()
	switch what {
	case asking:
		d.send(events.Answer{Step: i, Reject: true})
		d.say("rejected.")
	case confirm, undecided:
		d.send(events.Exclude{Range: events.Range{From: i, To: i + 1}})
		d.say("excluded %s. run continues.", d.called(i))
	default:
		d.nothingAsks(i)
	}
}

// asksHere is the step that the run stopped at, and what it is like.
func (d *desk) asksHere() (step int, what state) {
	i := d.here()
	if i < 0 || d.run.Phase != events.Paused && d.gate() < 0 {
		return -1, omitted
	}
	return i, d.state(i)
}

func (d *desk) nothingAsks(i int) {
	switch {
	case d.run.Phase == events.Review:
		d.say("nothing is asking yet. approve all, approve safe, or approve N.")
	case i >= 0 && d.broken(i):
		d.say("a step failed: retry, skip or run.")
	case i >= 0 && d.state(i) == waiting:
		d.say("it is already approved. step runs it, run continues.")
	default:
		d.say("nothing is asking.")
	}
}

// broken reports whether a step has failed and a person may still decide what becomes of it.
func (d *desk) broken(i int) bool {
	if d.state(i).Bad() {
		return true
	}
	if d.run.Phase != events.Paused || d.run.Pause.Reason != events.PauseFailure || i != d.run.PausedAt {
		return false
	}
	s := d.state(i)
	return s == rescued || s == ignored || s.Pending() // the rescue has not begun; or it was edited since
}

// failedSteps is how many steps have failed, in whatever way.
func (d *desk) failedSteps() int {
	t := d.tally(d.everything())
	return t.sum(failed, unreachable)
}

// clauses are what may follow the steps of a breakpoint, in this order.
var clauses = regexp.MustCompile(`^(.*?)(?:\s+if\s+(.+?))?(?:\s+after\s+(\d+))?(?:\s+log\s+(.+))?$`)

func (d *desk) setBreak(args string) {
	if args == "" {
		if i := d.here(); i >= 0 && d.state(i).Pending() {
			args = d.outline.stepNumber(i)
		} else {
			d.say("break before what? give a number of the plan, such as 2.1.")
			return
		}
	}
	var b events.Break
	ranges, _, why := d.targets(args)
	if m := clauses.FindStringSubmatch(args); why != "" && m != nil && m[1] != args { // a name may hold the words too
		if ranges, _, why = d.targets(m[1]); why == "" {
			b.When, b.Log = m[2], m[4]
			if m[3] != "" {
				n, err := strconv.Atoi(m[3])
				if err != nil {
					d.say("after %s is too often.", clean(m[3]))
					return
				}
				b.After = n
			}
		}
	}
	if why != "" {
		d.say("%s", why)
		return
	}
	n, last := 0, 0
	for _, r := range ranges {
		rows := []events.Range{r}
		if b.When == "" && b.After == 0 && b.Log == "" { // before the first of a part: the others would stop it again and again
			rows = events.RangesOf(standing.FirstSteps(d.plan, r))
		}
		for _, row := range rows {
			b.Step, b.To = row.From, row.To
			n, last = n+row.To-row.From, row.To-1
			d.send(b)
		}
	}
	first, where := ranges[0].From, ""
	switch task := standing.Task(d.plan, d.plan.Steps[first].Scope); {
	case n == 1:
		where = "before " + d.called(first)
	case task >= 0 && task == standing.Task(d.plan, d.plan.Steps[last].Scope) && n == d.plan.Scopes[task].Hosts:
		where = "before task " + d.outline.scopeNumber(task, first) + " " + clean(d.plan.Scopes[task].Name) + " on each of " +
			count(n, "host")
	default:
		where = "before each of " + count(n, "step")
	}
	if b.Log != "" {
		d.say("logs %s, and does not stop%s.", where, clean(b.Clauses()))
		return
	}
	d.say("stops %s%s.", where, clean(b.Clauses()))
}

// breaks lists the breakpoints, with all steps that have the same one as one entry.
func (d *desk) breaks(string) {
	var steps []int
	for i := 0; i < len(d.run.Steps) && i < len(d.plan.Steps); i++ {
		if d.run.Steps[i].Break {
			steps = append(steps, i)
		}
	}
	var lines []string
	for _, s := range standing.Stops(d.plan, steps, d.breakpointAt) {
		line := d.called(s.Steps[0])
		if n := len(s.Steps); n > 1 {
			if s.Task >= 0 {
				line = "task " + d.outline.scopeNumber(s.Task, s.Steps[0]) + " " + clean(d.plan.Scopes[s.Task].Name)
			}
			line += " " + s.Where(d.plan)
		}
		lines = append(lines, sentence(line, strings.TrimSpace(clean(s.Set.Clauses()))))
	}
	if len(lines) == 0 {
		d.say("there are no breakpoints.")
		return
	}
	d.list(lines)
}

// breakpointAt is the breakpoint at a step that has one.
func (d *desk) breakpointAt(i int) events.Breakpoint {
	if s := &d.run.Steps[i]; s.Stop != nil {
		return *s.Stop
	}
	return events.Breakpoint{Set: events.Break{Step: i}}
}

func (d *desk) clearBreak(args string) {
	ranges, _, why := d.targets(args)
	if why != "" {
		d.say("%s", why)
		return
	}
	n := 0
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			if d.of(i).Break {
				n++
			}
		}
		d.send(events.Break{Step: r.From, To: r.To, Clear: true})
	}
	if n == 0 {
		d.say("there was no breakpoint.")
		return
	}
	d.say("cleared %s.", count(n, "breakpoint"))
}
