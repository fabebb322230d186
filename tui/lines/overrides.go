package lines

import (
	"fmt"
	"slices"

	"moon/events"
	"moon/plan"
)

// overrides lists the values that are other ones for this run.
func (d *desk) overrides(string) {
	var lines []string
	for i, o := range d.plan.Overrides() {
		lines = append(lines, fmt.Sprintf("override %d: %s", i+1, sentence(d.overrideWords(o))))
	}
	if len(lines) == 0 {
		d.say("no value is overridden.")
		return
	}
	d.list(append(lines, "undo with a number or a name takes one back."))
}

// overrideWords say what is overridden, for what, and where to keep it.
func (d *desk) overrideWords(o plan.Override) string {
	words := clean(o.Label()) + ", for " + d.overriddenFor(o)
	for i := range d.plan.Steps {
		for _, u := range d.plan.Steps[i].Overridden {
			if !u.Same(o) {
				continue
			}
			words = clean(u.Text()) + ", for " + d.overriddenFor(o)
			if u.Origin.File != "" {
				words += "; to keep it, write it to " + place(u.Origin.String())
			}
			return words
		}
	}
	return words
}

// overriddenFor says how far an override reaches.
func (d *desk) overriddenFor(o plan.Override) string {
	if o.Host == "" {
		return d.overriddenAt(o.At)
	}
	return d.overriddenAt(o.At) + " on " + clean(o.Host)
}

func (d *desk) overriddenAt(path string) string {
	if path == "" {
		return "the rest of the run"
	}
	for i := range d.plan.Steps {
		if d.plan.Steps[i].Path == path {
			return d.called(i)
		}
	}
	for n := 1; n < len(d.outline.nodes); n++ {
		if at := d.outline.nodes[n]; at.step < 0 && d.plan.Scopes[at.scope].Path == path {
			return d.partCalled(n)
		}
	}
	return clean(path)
}

// undo takes an override back.
func (d *desk) undo(args string) {
	list := d.plan.Overrides()
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
		d.say("no value is overridden.")
		return
	case len(found) == 0:
		d.say("%s is not overridden; overrides lists what is.", clean(args))
		return
	case len(found) > 1:
		d.say("which of %d? overrides lists them with their numbers.", len(found))
		return
	case d.run.Counts.Running > 0:
		d.say("steps are still running: pause, and undo when they have finished.")
		return
	}
	o := found[0]
	d.sentFix = &typedFor{}
	d.say("%s is no longer overridden, for %s.", clean(o.Label()), d.overriddenFor(o))
	d.send(events.Fix{Values: []events.Override{{Field: o.Field, Name: o.Name, At: o.At, Host: o.Host, Clear: true}}})
}

// overridden are the values of a step that are not as the playbook has them.
func (d *desk) overridden(i int) (lines []string) {
	for _, o := range d.plan.Steps[i].Overridden {
		lines = append(lines, sentence("for this run only: "+clean(o.Text())))
	}
	return lines
}

// overridesUsed are what steps that ran had in the place of what the playbook has, each once.
func (d *desk) overridesUsed() (lines []string) {
	for i := range d.plan.Steps {
		if d.of(i).Attempt == 0 {
			continue
		}
		for _, o := range d.plan.Steps[i].Overridden {
			if line := "overridden: " + sentence(d.overrideWords(o.Override)); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}
