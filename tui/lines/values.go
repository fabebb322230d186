package lines

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/plan/diag"
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
	p := &d.plan.Steps[i]
	if p.NoLog {
		return []string{"the values of " + d.called(i) + " are hidden, no_log"}
	}
	if len(p.Uses) == 0 {
		return []string{d.called(i) + " uses no variables"}
	}
	lines = append(lines, d.called(i)+" uses:")
	for k := range p.Uses {
		u := &p.Uses[k]
		value := u.Value
		if _, after := plan.Display(value); len(after) > 0 {
			if now, set := d.run.Variables[u.Name]; set {
				value = now
			}
		}
		lines = append(lines, d.valueWords(u.Name, value, u.From, u.Origin))
	}
	return lines
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

func (d *desk) set(args string) {
	name, _, given := strings.Cut(args, "=")
	if !given || strings.TrimSpace(name) == "" {
		d.say("set what? set NAME=VALUE.")
		return
	}
	d.send(events.Set{Variable: args})
}

// edit says the value that a variable has, and asks for another.
func (d *desk) edit(args string) {
	if name, _, given := strings.Cut(args, "="); given && name != "" {
		d.set(args)
		return
	}
	if args == "" {
		d.say("edit what? edit NAME; vars lists the names.")
		return
	}
	words, known := d.valueOf(args)
	if !known {
		var names []string
		for i := range d.plan.Vars {
			names = append(names, d.plan.Vars[i].Name)
		}
		hint := "vars lists those there are"
		if near := diag.Nearest(args, names); near != "" {
			hint = "did you mean " + clean(near) + "?"
		}
		d.say("%s", sentence("there is no variable "+clean(args)+"; "+hint))
		return
	}
	d.say("%s. new value (empty keeps it):", words)
	d.question = &question{answer: func(text string) bool {
		if text == "" {
			d.say("it stays as it is.")
			return true
		}
		d.send(events.Set{Variable: args + "=" + text})
		return true
	}}
}

// valueOf finds a variable where the run is, or at the end of planning.
func (d *desk) valueOf(name string) (words string, known bool) {
	if i := d.here(); i >= 0 && !d.plan.Steps[i].NoLog {
		for k := range d.plan.Steps[i].Uses {
			if u := &d.plan.Steps[i].Uses[k]; u.Name == name {
				return d.valueWords(u.Name, u.Value, u.From, u.Origin), true
			}
		}
	}
	for i := range d.plan.Vars {
		if v := &d.plan.Vars[i]; v.Name == name {
			return d.valueWords(v.Name, v.Value, v.From, v.Origin), true
		}
	}
	return "", false
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
		d.say("it is written in no file.")
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
		d.say("nothing is different.")
	case digest != d.plan.Digest:
		d.coming = digest
	}
}

// mistakes says why an edited playbook cannot be planned. The old plan stays until it can.
func (d *desk) mistakes(list diag.List) {
	lines := []string{count(list.Count(diag.Error), "mistake") + "; the old plan stays. editor opens the file again."}
	for _, one := range list {
		lines = append(lines, sentence(one.Severity.String()+" at "+clean(one.Pos.File)+" line "+strconv.Itoa(one.Pos.Line)+": "+clean(one.Message)))
		if one.Hint != "" {
			lines = append(lines, "  hint: "+clean(one.Hint))
		}
	}
	d.list(lines)
}

// shell opens a shell where a step runs.
func (d *desk) shell(args string) {
	if d.o.Shell == nil {
		d.say("a shell is not available here.")
		return
	}
	i, why := d.oneStep(args)
	if why != "" {
		d.say("%s", why)
		return
	}
	p, err := d.o.Shell(i)
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
