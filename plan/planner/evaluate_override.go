package planner

import (
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// readOverrides reads the values. Mistakes in them are mistakes of the plan.
func (p *evaluator) readOverrides() {
	for _, o := range p.o.Values.Overrides {
		file := &playbook.File{
			Name: "override of " + o.Label(),
			Text: []byte("value:\n  " + strings.ReplaceAll(o.Value, "\n", "\n  ") + "\n"),
		}
		m, ok := playbook.ParseVars(file, &p.Found)
		if !ok {
			continue
		}
		v := m.Entries()
		if len(v) != 1 {
			p.Errorf(diag.Pos{File: file.Name}, 0, nil, "write one value, as in a playbook", "this is not one value: %s",
				plan.Quoted(o.Value))
			continue
		}
		one := &overriding{Override: o, on: o.From == "", text: v[0].Value}
		if o.Field == "" {
			one.value = plan.Taken(v[0].Value, p.engine.Python)
			if o.Secret {
				one.value = value.Mark(p.secrets, one.value, value.Every)
			}
		} else if o.Secret {
			p.secrets.Add("", v[0].Value.Text())
		}
		p.overrides = append(p.overrides, one)
	}
}

// activateOverrides says that the plan has come to a step, whose frames are its own from now on until it is planned.
func (p *evaluator) activateOverrides(path string) {
	if len(p.overrides) == 0 {
		return
	}
	p.at = p.secrets.Redact(path)
	for _, o := range p.overrides {
		o.on = o.on || o.From == p.at
	}
}

// ofStep are the overrides of one field of the step that is planned.
func (p *evaluator) ofStep(field string) (list []*overriding) {
	for _, o := range p.overrides {
		if o.Field == field && p.at != "" && o.At == p.at {
			o.used = true
			list = append(list, o)
		}
	}
	return list
}

// override puts other values in the place of what the task is written with.
func (p *evaluator) override(k *plan.Task, c *taskContext) {
	if len(p.overrides) == 0 {
		return
	}
	if list := p.ofStep(plan.OverrideArg); len(list) > 0 {
		own := *k.Compiled // the others of the task keep theirs
		own.Args = slices.Clone(own.Args)
		for _, o := range list {
			f, known := own.Action.Field(o.Name)
			if !known && !own.Action.Open {
				p.RefuseArgument(o.Name, own.Action.Name, diag.Pos{File: "override of " + o.Label()}, plan.FieldNames(own.Action.Fields()),
					c.chain)
				continue
			}
			name := o.Name
			if known {
				name = f.Name
			}
			own.Args = slices.DeleteFunc(own.Args, func(g plan.Arg) bool { return g.Name == name })
			own.Args = append(own.Args, p.Argument(name, o.Name, f, o.text, c.chain))
		}
		k.Compiled = &own
	}
	for _, o := range p.ofStep(plan.OverrideEnv) {
		text := "env:\n  " + o.Name + ":\n    " + strings.ReplaceAll(o.Value, "\n", "\n    ") + "\n"
		if m, ok := playbook.ParseVars(&playbook.File{Name: "override of " + o.Label(), Text: []byte(text)}, &p.Found); ok {
			k.Env = append(slices.Clip(k.Env), m.Entries()[0].Value)
		}
	}
	for _, o := range p.ofStep(plan.OverrideCwd) {
		k.Cwd = o.text
	}
}

// overridden lists what overrides have changed in a step. before is the task as the playbook has it.
func (p *evaluator) overridden(s *plan.Step, k *plan.Task, before plan.Task, r *plan.Renderer) {
	if len(p.overrides) == 0 {
		return
	}
	for _, u := range s.Uses {
		if u.From == plan.FromOverride {
			s.Overridden = append(s.Overridden, p.overriddenVar(k, u, r.Env.(*plan.Env)))
		}
	}
	old := &plan.Renderer{Engine: r.Engine, Env: r.Env, Lenient: true, Report: func(diag.Diagnostic) {}}
	for _, o := range p.ofStep(plan.OverrideArg) {
		one := plan.Overridden{Override: o.Override, Now: s.Args[o.Name]}
		for _, g := range before.Args {
			if g.Name == o.Name {
				one.Was, one.Origin = plan.ForDisplay(before.ArgValue(old, g, p.o.Home, "", func(string) {})), origin(g.Value.Pos(),
					s.Origin.Chain)
			}
		}
		s.Overridden = append(s.Overridden, one)
	}
	for _, o := range p.ofStep(plan.OverrideEnv) {
		one := plan.Overridden{Override: o.Override, Now: s.Env[o.Name]}
		for _, m := range before.Env {
			for _, e := range m.Entries() {
				if e.Key == o.Name {
					one.Was, one.Origin = old.Text(e.Value), origin(e.Pos, s.Origin.Chain)
				}
			}
		}
		s.Overridden = append(s.Overridden, one)
	}
	for _, o := range p.ofStep(plan.OverrideCwd) {
		one := plan.Overridden{Override: o.Override, Was: before.Dir, Now: s.Cwd}
		if !before.Cwd.IsZero() {
			one.Was, one.Origin = old.Text(before.Cwd), origin(before.Cwd.Pos(), s.Origin.Chain)
		}
		s.Overridden = append(s.Overridden, one)
	}
	for i := range s.Overridden {
		s.Overridden[i].Value = "" // Now says it, and knows what is secret of it
	}
}

// overriddenVar is what the override of a variable hides.
func (p *evaluator) overriddenVar(k *plan.Task, u plan.Use, e *plan.Env) plan.Overridden {
	one := plan.Overridden{Now: u.Value}
	for _, o := range p.overrides { // the last counts
		if o.Field == "" && o.Name == u.Name && o.on && o.covers(p.at, p.Host) {
			one.Override = o.Override
		}
	}
	without := *k.Frame
	without.Over = nil
	hidden := *e
	hidden.Frame = &without
	without.Each(u.Name, func(b *vars.Binding) bool { one.Origin = b.Origin; return true })
	if was, ok := hidden.Lookup(u.Name); ok {
		one.Was = was
	}
	return one
}

// unusedOverrides says which overrides came to nothing, because what they are for is gone.
func (p *evaluator) unusedOverrides() {
	for _, o := range p.overrides {
		if o.used {
			continue
		}
		what := "nothing is at " + o.At
		switch {
		case o.Host != "":
			what = "no step of " + o.Host + " is in its reach"
		case o.At == "":
			what = "the step it begins with is gone: " + o.From
		}
		p.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: diag.Pos{File: "override of " + o.Label()},
			Message: "the override of `" + o.Label() + "` has no effect: " + what,
		})
	}
}

// covers reports whether an override is for what is at a path, on a host.
func (o *overriding) covers(path, host string) bool {
	if o.Host != "" && o.Host != host {
		return false
	}
	rest, inside := strings.CutPrefix(path, o.At)
	switch {
	case o.At == "", inside && rest == "":
		return true
	case !inside:
		return false
	case host != "" && strings.HasPrefix(rest, "@"+host): // the task's step on a host
		rest = strings.TrimPrefix(rest, "@"+host)
	}
	return rest == "" || rest[0] == '/' || rest[0] == '#' // what is inside, and the rounds of a loop
}
