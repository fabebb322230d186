package console

import (
	"maps"
	"slices"

	"moon/internal/diag"
	"moon/plan"
)

// values says which values there are.
type values struct {
	*speaker
	*titles
	find *finder
}

// listVars lists values: what a step uses, what is in effect for the playbook, and what the run has set.
func (c *values) listVars(args string) {
	var lines []string
	if args != "" || c.position().At() >= 0 {
		n, why := c.find.oneNode(args)
		if why != "" {
			c.say("%s", why)
			return
		}
		if i := int(c.outline.nodes[n].step); i >= 0 {
			lines = c.usedLines(i)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.run.Variables)) {
		lines = append(lines, clean(name)+" is "+c.knownWords(c.run.Variables[name])+", set during this run")
	}
	if args == "" && c.position().At() < 0 {
		for i := range c.plan.Vars {
			v := &c.plan.Vars[i]
			lines = append(lines, c.valueWords(v.Name, v.Value, v.From, v.Origin))
		}
	}
	if len(lines) == 0 {
		c.say("there are no variables.")
		return
	}
	c.sayList(lines)
}

// usedLines are the variables of a step. What the run has set since stands where planning knew no value.
func (c *values) usedLines(i int) (lines []string) {
	p, _ := c.stepNow(i)
	if p.NoLog {
		return []string{"the values of " + c.called(i) + " are hidden, no_log"}
	}
	if len(p.Uses)+len(p.Overridden) == 0 {
		return []string{c.called(i) + " uses no variables"}
	}
	lines = append(lines, c.called(i)+" uses:")
	over := map[string]string{}
	for _, o := range p.Overridden {
		// Arguments have a list of their own below, as they are not variables.
		if o.Field == "" {
			over[o.Name] = c.wasWords(o)
		}
	}
	for k := range p.Uses {
		u := &p.Uses[k]
		value := u.Value
		if _, after := plan.Display(value); len(after) > 0 {
			if now, set := c.run.Variables[u.Name]; set {
				value = now
			}
		}
		if was, is := over[u.Name]; is {
			lines = append(lines, clean(u.Name)+" is "+c.knownWords(value)+", for this run only; "+was)
			continue
		}
		lines = append(lines, c.valueWords(u.Name, value, u.From, u.Origin))
	}
	for _, o := range p.Overridden {
		if o.Field != "" {
			lines = append(lines, clean(o.Label())+" is "+c.knownWords(o.Now)+", for this run only; "+c.wasWords(o))
		}
	}
	return lines
}

// wasWords say what an override takes the place of.
func (c *values) wasWords(o plan.Overridden) string {
	if o.Was == nil {
		return "there was none"
	}
	words := "it was " + c.knownWords(o.Was)
	if o.Origin.File != "" {
		words += ", from " + placeWords(o.Origin.String())
	}
	return words
}

func (c *values) valueWords(name string, value any, from string, o diag.Origin) string {
	words := clean(name) + " is " + c.knownWords(value)
	switch {
	case o.File != "":
		words += ", from " + placeWords(o.String())
	case from != "":
		words += ", from " + clean(from)
	}
	return words
}
