package lines

import (
	"fmt"
	"slices"
	"strings"

	"moon/events"
	"moon/tui/standing"
)

// rerun runs done steps again. It says what depends on them first; with makes the done ones of those run again too.
func (d *desk) rerun(args string) {
	args, with := strings.CutSuffix(args, " with")
	if args == "" {
		d.say("run what again? rerun N; rerun N with also reruns what depends on it.")
		return
	}
	ranges, _, why := d.targets(args)
	if why != "" {
		d.say("%s", why)
		return
	}
	steps := d.doneIn(ranges)
	switch {
	case len(steps) == 0:
		d.say("nothing here is done. retry runs what failed.")
		return
	case d.run.Phase == events.Running || d.run.Counts.Running > 0:
		d.say("pause first: done steps run again only while the run is paused.")
		return
	}
	depend := d.dependents(steps)
	d.send(events.Rerun{Range: events.Range{From: steps[0], To: steps[len(steps)-1] + 1}, Steps: steps, With: with})
	switch {
	case len(depend) == 0:
		d.say("running %s again.", count(len(steps), "step"))
	case with:
		d.say("running %s again, and %s depending on it: %s.", count(len(steps), "step"), count(len(depend), "done step"),
			d.someNames(depend))
	default:
		d.say("running %s again. done, and depending on it: %s. rerun %s with also reruns that.", count(len(steps), "step"),
			d.someNames(depend), clean(args))
	}
}

// keep takes outdated steps as they are.
func (d *desk) keep(args string) {
	ranges, _, why := []events.Range{d.everything()}, false, ""
	if args != "" && args != "all" {
		if ranges, _, why = d.targets(args); why != "" {
			d.say("%s", why)
			return
		}
	}
	n := 0
	for _, r := range ranges {
		if t := d.tally(r); t[outdated] > 0 {
			d.send(events.Keep{Range: r})
			n += t[outdated]
		}
	}
	if n == 0 {
		d.say("nothing here is outdated.")
		return
	}
	d.decided("kept", n, "as done")
}

// mark takes steps for done.
func (d *desk) mark(args string) {
	if args == "" {
		d.say("mark what as done? mark N.")
		return
	}
	ranges, _, why := d.targets(args)
	if why != "" {
		d.say("%s", why)
		return
	}
	var steps []int
	for _, r := range ranges {
		n := len(steps)
		for i := r.From; i < r.To; i++ {
			if d.broken(i) || d.state(i).Pending() || d.state(i) == cancelled {
				steps = append(steps, i)
			}
		}
		if len(steps) > n {
			d.send(events.Mark{Range: r})
		}
	}
	if len(steps) == 0 {
		d.say("nothing here can be marked as done: it is done, or was not reached.")
		return
	}
	rest := ""
	if depend := d.plan.Dependents(steps); len(depend) > 0 {
		rest = "what depends on it goes by that: " + d.someNames(depend)
	}
	d.decided("marked as done", len(steps), rest)
}

// doneIn are the steps of some ranges that have succeeded.
func (d *desk) doneIn(ranges []events.Range) (steps []int) {
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			if standing.Done(d.of(i)) && !d.broken(i) {
				steps = append(steps, i)
			}
		}
	}
	return steps
}

// dependents are the done steps that depend on some.
func (d *desk) dependents(steps []int) []int {
	return slices.DeleteFunc(d.plan.Dependents(steps), func(i int) bool { return !standing.Done(d.of(i)) })
}

// someNames names some steps.
func (d *desk) someNames(steps []int) string {
	const named = 3
	var names []string
	for _, i := range steps[:min(len(steps), named)] {
		names = append(names, d.called(i))
	}
	if more := len(steps) - named; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
