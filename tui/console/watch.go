package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"moon/tui/status"
)

// watches evaluates expressions, and keeps those that are said at each pause.
type watches struct {
	*speaker
	*titles
	eval    status.Eval
	watches []string
}

// watchesKept bounds what is said at each pause.
const watchesKept = page

// addWatch says what an expression is, now and at each pause.
func (c *watches) addWatch(args string) {
	switch {
	case c.cannotEval():
		return
	case args == "" && len(c.watches) == 0:
		c.say("nothing is watched; watch EXPRESSION adds one.")
	case args == "":
		c.sayWatches()
	case slices.Contains(c.watches, args):
		c.say("%s", c.valueLine(args))
	case len(c.watches) == watchesKept:
		c.say("%d expressions are watched, the most there can be; unwatch one.", watchesKept)
	default:
		c.watches = append(c.watches, args)
		c.say("%s", c.valueLine(args))
	}
}

// removeWatch takes away one that is watched, by its text or its number, or all.
func (c *watches) removeWatch(args string) {
	i := slices.Index(c.watches, args)
	// Its text first, as an expression may be a number.
	if n, err := strconv.Atoi(args); i < 0 && err == nil && n >= 1 && n <= len(c.watches) {
		i = n - 1
	}
	switch {
	case len(c.watches) == 0:
		c.say("nothing is watched.")
	case args == "all" && i < 0:
		c.watches = nil
		c.say("nothing is watched now.")
	case i >= 0:
		c.say("%s is no longer watched.", clean(c.watches[i]))
		c.watches = slices.Delete(c.watches, i, i+1)
	default:
		c.say("that is not watched; watch lists what is.")
	}
}

// printOnce says what an expression is.
func (c *watches) printOnce(args string) {
	switch {
	case c.cannotEval():
	case args == "":
		c.say("print what? print release, print r.rc == 0.")
	default:
		v := c.evalHere(args)
		lines := strings.Split(strings.TrimRight(v.Text, "\n"), "\n")
		if v.Wrong != "" || v.After != nil || len(lines) == 1 {
			c.say("%s", c.valueLine(args))
			return
		}
		c.sayList(append([]string{clean(args) + " is:"}, cleanLines(lines)...))
	}
}

func (c *watches) cannotEval() bool {
	if c.eval == nil || len(c.plan.Steps) == 0 {
		c.say("nothing can be evaluated here.")
		return true
	}
	return false
}

// sayWatches says what is watched, where the run has stopped.
func (c *watches) sayWatches() {
	for i, text := range c.watches {
		// The number is what unwatch takes, as an expression may be long to type.
		c.say("watch %d: %s", i+1, c.valueLine(text))
	}
}

// evalHere is what an expression is at the step the run is at; before it has begun, at the first.
func (c *watches) evalHere(expression string) status.Value {
	return c.eval.Value(c.plan, c.position().Scene(-1), expression)
}

func (c *watches) valueLine(expression string) string {
	v := c.evalHere(expression)
	switch {
	case v.Wrong != "":
		return sentence(clean(expression) + ": " + clean(v.Wrong))
	case v.After != nil:
		return sentence(clean(expression) + " is " + c.whenKnown(v.After))
	case v.Text == "":
		return clean(expression) + " is empty."
	}
	return fmt.Sprintf("%s is %s.", clean(expression), sayLine(v.Text))
}
