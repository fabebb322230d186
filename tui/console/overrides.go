package console

import (
	"fmt"
	"slices"

	"moon/events"
	"moon/plan"
)

// listOverrides lists the values that are other ones for this run.
func (c *fixes) listOverrides(string) {
	var lines []string
	for i, o := range c.plan.Overrides() {
		lines = append(lines, fmt.Sprintf("override %d: %s", i+1, sentence(c.overrideWords(o))))
	}
	if len(lines) == 0 {
		c.say("no value is overridden.")
		return
	}
	c.sayList(append(lines, "undo with a number or a name takes one back."))
}

// overrideWords say what is overridden, for what, and where to keep it.
func (c *titles) overrideWords(o plan.Override) string {
	words := clean(o.Label()) + ", for " + c.overriddenFor(o)
	for i := range c.plan.Steps {
		for _, u := range c.plan.Steps[i].Overridden {
			if !u.Same(o) {
				continue
			}
			words = clean(u.Text()) + ", for " + c.overriddenFor(o)
			if u.Origin.File != "" {
				words += "; to keep it, write it to " + placeWords(u.Origin.String())
			}
			return words
		}
	}
	return words
}

// overriddenFor says how far an override reaches.
func (c *titles) overriddenFor(o plan.Override) string {
	if o.Host == "" {
		return c.overriddenAt(o.At)
	}
	return c.overriddenAt(o.At) + " on " + clean(o.Host)
}

func (c *titles) overriddenAt(path string) string {
	if path == "" {
		return "the rest of the run"
	}
	for i := range c.plan.Steps {
		if c.plan.Steps[i].Path == path {
			return c.called(i)
		}
	}
	for n := 1; n < len(c.outline.nodes); n++ {
		if at := c.outline.nodes[n]; at.step < 0 && c.plan.Scopes[at.scope].Path == path {
			return c.partCalled(n)
		}
	}
	return clean(path)
}

// undoOverride takes an override back.
func (c *fixes) undoOverride(args string) {
	list := c.plan.Overrides()
	var found []plan.Override
	n := 0
	if _, err := fmt.Sscan(args, &n); err == nil && isNumber(args) && n >= 1 && n <= len(list) {
		found = list[n-1 : n]
	} else {
		for _, o := range list {
			if args == "" || o.Label() == args || o.Field != "" && o.Field+"."+o.Name == args {
				found = append(found, o)
			}
		}
	}
	switch {
	case len(list) == 0:
		c.say("no value is overridden.")
		return
	case len(found) == 0:
		c.say("%s is not overridden; overrides lists what is.", clean(args))
		return
	case len(found) > 1:
		c.say("which of %d? overrides lists them with their numbers.", len(found))
		return
	case c.run.Counts.Running > 0:
		c.say("steps are still running: pause, and undo when they have finished.")
		return
	}
	o := found[0]
	// Empty, as nothing was typed that could be kept; but the plan that follows was asked for.
	c.sentFix = &typedFor{}
	c.say("%s is no longer overridden, for %s.", clean(o.Label()), c.overriddenFor(o))
	c.send(events.Fix{Values: []events.Override{{Field: o.Field, Name: o.Name, At: o.At, Host: o.Host, Clear: true}}})
}

// overriddenLines are the values of a step that are not as the playbook has them.
func (c *titles) overriddenLines(i int) (lines []string) {
	for _, o := range c.plan.Steps[i].Overridden {
		lines = append(lines, sentence("for this run only: "+clean(o.Text())))
	}
	return lines
}

// overridesUsed are what steps that ran had in the place of what the playbook has, each once.
func (c *titles) overridesUsed() (lines []string) {
	for i := range c.plan.Steps {
		if c.stepAt(i).Attempt == 0 {
			continue
		}
		for _, o := range c.plan.Steps[i].Overridden {
			if line := "overridden: " + sentence(c.overrideWords(o.Override)); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}
