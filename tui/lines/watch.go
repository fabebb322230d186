package lines

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"moon/events"
	"moon/tui/standing"
)

// watchesKept bounds what is said at each pause.
const watchesKept = page

// watch says what an expression is, now and at each pause.
func (d *desk) watch(args string) {
	switch {
	case d.cannotEval():
		return
	case args == "" && len(d.watches) == 0:
		d.say("nothing is watched; watch EXPRESSION adds one.")
	case args == "":
		d.sayWatches()
	case slices.Contains(d.watches, args):
		d.say("%s", d.valueLine(args))
	case len(d.watches) == watchesKept:
		d.say("%d expressions are watched, the most there can be; unwatch one.", watchesKept)
	default:
		d.watches = append(d.watches, args)
		d.say("%s", d.valueLine(args))
	}
}

// unwatch takes away one that is watched, by its text or its number, or all.
func (d *desk) unwatch(args string) {
	i := slices.Index(d.watches, args)
	if n, err := strconv.Atoi(args); i < 0 && err == nil && n >= 1 && n <= len(d.watches) {
		i = n - 1
	}
	switch {
	case len(d.watches) == 0:
		d.say("nothing is watched.")
	case args == "all" && i < 0:
		d.watches = nil
		d.say("nothing is watched now.")
	case i >= 0:
		d.say("%s is no longer watched.", clean(d.watches[i]))
		d.watches = slices.Delete(d.watches, i, i+1)
	default:
		d.say("that is not watched; watch lists what is.")
	}
}

// printOnce says what an expression is.
func (d *desk) printOnce(args string) {
	switch {
	case d.cannotEval():
	case args == "":
		d.say("print what? print release, print r.rc == 0.")
	default:
		v := d.value(args)
		lines := strings.Split(strings.TrimRight(v.Text, "\n"), "\n")
		if v.Wrong != "" || v.After != nil || len(lines) == 1 {
			d.say("%s", d.valueLine(args))
			return
		}
		d.list(append([]string{clean(args) + " is:"}, cleanLines(lines)...))
	}
}

func (d *desk) cannotEval() bool {
	if d.o.Eval == nil || len(d.plan.Steps) == 0 {
		d.say("nothing can be evaluated here.")
		return true
	}
	return false
}

// sayWatches says what is watched, where the run has stopped.
func (d *desk) sayWatches() {
	for i, text := range d.watches {
		d.say("watch %d: %s", i+1, d.valueLine(text))
	}
}

// value is what an expression is at the step the run is at; before it has begun, at the first.
func (d *desk) value(expression string) standing.Value {
	step := d.here()
	if d.run.Phase == events.Review || step < 0 {
		step = max(d.nextStep(), 0)
	}
	return d.o.Eval.Value(d.plan, step, expression)
}

func (d *desk) valueLine(expression string) string {
	v := d.value(expression)
	switch {
	case v.Wrong != "":
		return sentence(clean(expression) + ": " + clean(v.Wrong))
	case v.After != nil:
		return sentence(clean(expression) + " is " + d.whenKnown(v.After))
	case v.Text == "":
		return clean(expression) + " is empty."
	}
	return fmt.Sprintf("%s is %s.", clean(expression), sayLine(v.Text))
}
