package lines

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"moon/internal/diag"
	"moon/plan"
)

// vars lists values: what a step uses, what is in effect for the playbook, and what the run has set.
func (d *desk) vars(args string) {
	var lines []string
	if args != "" || d.here() >= 0 {
		n, why := d.oneNode(args)
		if why != "" {
			d.say("%s", why)
			return
		}
		if i := int(d.outline.nodes[n].step); i >= 0 {
			lines = d.used(i)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.run.Variables)) {
		lines = append(lines, clean(name)+" is "+d.known(d.run.Variables[name])+", set during this run")
	}
	if args == "" && d.here() < 0 {
		for i := range d.plan.Vars {
			v := &d.plan.Vars[i]
			lines = append(lines, d.valueWords(v.Name, v.Value, v.From, v.Origin))
		}
	}
	if len(lines) == 0 {
		d.say("there are no variables.")
		return
	}
	d.list(lines)
}

// used are the variables of a step. What the run has set since stands where planning knew no value.
func (d *desk) used(i int) (lines []string) {
	p, _ := d.stepNow(i)
	if p.NoLog {
		return []string{"the values of " + d.called(i) + " are hidden, no_log"}
	}
	if len(p.Uses)+len(p.Overridden) == 0 {
		return []string{d.called(i) + " uses no variables"}
	}
	lines = append(lines, d.called(i)+" uses:")
	over := map[string]string{}
	for _, o := range p.Overridden {
		if o.Field == "" {
			over[o.Name] = d.wasWords(o)
		}
	}
	for k := range p.Uses {
		u := &p.Uses[k]
		value := u.Value
		if _, after := plan.Display(value); len(after) > 0 {
			if now, set := d.run.Variables[u.Name]; set {
				value = now
			}
		}
		if was, is := over[u.Name]; is {
			lines = append(lines, clean(u.Name)+" is "+d.known(value)+", for this run only; "+was)
			continue
		}
		lines = append(lines, d.valueWords(u.Name, value, u.From, u.Origin))
	}
	for _, o := range p.Overridden {
		if o.Field != "" {
			lines = append(lines, clean(o.Label())+" is "+d.known(o.Now)+", for this run only; "+d.wasWords(o))
		}
	}
	return lines
}

// wasWords say what an override takes the place of.
func (d *desk) wasWords(o plan.Overridden) string {
	if o.Was == nil {
		return "there was none"
	}
	words := "it was " + d.known(o.Was)
	if o.Origin.File != "" {
		words += ", from " + place(o.Origin.String())
	}
	return words
}

func (d *desk) valueWords(name string, value any, from string, o plan.Origin) string {
	words := clean(name) + " is " + d.known(value)
	switch {
	case o.File != "":
		words += ", from " + place(o.String())
	case from != "":
		words += ", from " + clean(from)
	}
	return words
}

// editor opens the file of a node at its line, and plans again.
func (d *desk) editor(args string) {
	if d.o.Editor == nil {
		d.say("there is no editor here.")
		return
	}
	o := plan.Origin{File: d.plan.RootFile}
	if args != "" || d.here() >= 0 {
		n, why := d.oneNode(args)
		if why != "" {
			d.say("%s", why)
			return
		}
		if at := d.outline.nodes[n]; at.step >= 0 {
			o = d.plan.Steps[at.step].Origin
		} else {
			o = d.plan.Scopes[at.scope].Origin
		}
	}
	if o.File == "" {
		d.say("it is not written in a file.")
		return
	}
	file := o.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(d.plan.Root, file)
	}
	if !d.program(d.o.Editor(file, o.Line), "the editor") || d.o.Reload == nil {
		return
	}
	before := d.plan.Digest
	digest, diagnostics, err := d.o.Reload()
	switch {
	case diagnostics.HasErrors():
		d.mistakes(diagnostics)
	case err != nil:
		d.say("%s", sentence(clean(err.Error())))
	case digest == before:
		d.say("nothing has changed.")
	case digest != d.plan.Digest:
		d.coming = digest
	}
}

// mistakes says why an edited playbook cannot be planned. The old plan stays until it can.
func (d *desk) mistakes(list diag.List) {
	lines := []string{count(list.Count(diag.Error), "mistake") + "; the old plan stays. editor opens the file again."}
	for _, one := range list {
		at := clean(one.Pos.File) + " line " + strconv.Itoa(one.Pos.Line)
		lines = append(lines, sentence(one.Severity.String()+" at "+at+": "+clean(one.Message)))
		if one.Hint != "" {
			lines = append(lines, "  hint: "+clean(one.Hint))
		}
	}
	d.list(lines)
}

// shell opens a shell where a step runs.
func (d *desk) shell(args string) {
	i, why := d.oneStep(args)
	switch {
	case d.o.Shell == nil:
		d.say("a shell is not available here.")
		return
	case !d.o.Person:
		d.say("a shell needs a terminal.")
		return
	case why != "":
		d.say("%s", why)
		return
	}
	p, err := d.o.Shell(d.plan, i)
	if err != nil {
		d.say("%s", sentence(clean(err.Error())))
		return
	}
	if d.program(p, "the shell") {
		d.say("the shell has ended.")
	}
}

// program runs what takes the terminal. Without a person it has no input.
func (d *desk) program(p Program, called string) bool {
	if d.o.Person {
		p.SetStdin(d.o.In)
	}
	screen := d.o.Terminal
	if screen == nil {
		screen = d.o.Out
	}
	p.SetStdout(screen)
	p.SetStderr(screen)
	var err error
	d.lend(func() { err = p.Run() })
	if err != nil {
		d.say("%s: %s", called, sentence(clean(err.Error())))
	}
	return err == nil
}
