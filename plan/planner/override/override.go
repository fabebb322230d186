package override

import (
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner/compile"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/vars"
	"moon/secret"
)

// List are the overrides of a run while its plan is made.
type List struct {
	plan     *plan.Plan
	secrets  *secret.Set
	problems *problems.Collector
	compiler *compile.Compiler
	note     func(name string) // is given the names of overridden variables
	given    []plan.Override
	all      []*overriding
	overlays map[string]*vars.Layer // by which of the overrides are in it
	at       string                 // path of the step that is planned, if there are overrides
}

// New are these overrides of a plan. They are read with Read.
func New(given []plan.Override, p *plan.Plan, secrets *secret.Set, list *problems.Collector, c *compile.Compiler,
	note func(name string),
) *List {
	return &List{
		plan: p, secrets: secrets, problems: list, compiler: c, note: note, given: given, overlays: map[string]*vars.Layer{},
	}
}

// overriding is an override while the plan is made.
type overriding struct {
	plan.Override
	on    bool // the plan has come to where it begins
	used  bool
	value any            // of a variable
	text  playbook.Value // of anything else
}

// Any reports whether there are overrides.
func (l *List) Any() bool { return len(l.all) > 0 }

// End says that the step has been planned that Begin has named.
func (l *List) End() { l.at = "" }

// Read reads the values. Mistakes in them are mistakes of the plan.
func (l *List) Read() {
	for _, o := range l.given {
		file := &playbook.File{
			Name: "override of " + o.Label(),
			Text: []byte("value:\n  " + strings.ReplaceAll(o.Value, "\n", "\n  ") + "\n"),
		}
		m, ok := playbook.ParseVars(file, &l.problems.Found)
		if !ok {
			continue
		}
		v := m.Entries()
		if len(v) != 1 {
			l.problems.Errorf(diag.Pos{File: file.Name}, 0, nil, "write one value, as in a playbook", "this is not one value: %s",
				plan.Quoted(o.Value))
			continue
		}
		one := &overriding{Override: o, on: o.From == "", text: v[0].Value}
		if o.Field == "" {
			// Of a variable it is data, as with -e; of an argument it is a template.
			one.value = plan.Taken(v[0].Value, l.plan.Dialect)
			if o.Secret {
				one.value = value.Mark(l.secrets, one.value, value.Every)
			}
		} else if o.Secret {
			l.secrets.Add("", v[0].Value.Text())
		}
		l.all = append(l.all, one)
	}
}

// Begin says that the plan has come to a step, whose frames are its own from now on until it is planned.
func (l *List) Begin(path string) {
	if len(l.all) == 0 {
		return
	}
	// Overrides name a step by the path that is shown, which has no secrets.
	l.at = l.secrets.Redact(path)
	for _, o := range l.all {
		o.on = o.on || o.From == l.at
	}
}

// ofStep are the overrides of one field of the step that is planned.
func (l *List) ofStep(field string) (list []*overriding) {
	for _, o := range l.all {
		if o.Field == field && l.at != "" && o.At == l.at {
			o.used = true
			list = append(list, o)
		}
	}
	return list
}

// Apply puts other values in the place of what the task is written with.
func (l *List) Apply(k *plan.Task, chain []string) {
	if len(l.all) == 0 {
		return
	}
	if list := l.ofStep(plan.OverrideArg); len(list) > 0 {
		own := *k.Compiled // the others of the task keep theirs
		own.Args = slices.Clone(own.Args)
		for _, o := range list {
			f, known := own.Action.Field(o.Name)
			if !known && !own.Action.Open {
				l.compiler.RefuseArgument(o.Name, own.Action.Name, diag.Pos{File: "override of " + o.Label()},
					plan.FieldNames(own.Action.Fields()),
					chain)
				continue
			}
			name := o.Name
			if known {
				name = f.Name
			}
			own.Args = slices.DeleteFunc(own.Args, func(g plan.Arg) bool { return g.Name == name })
			own.Args = append(own.Args, l.compiler.Argument(name, o.Name, f, o.text, chain))
		}
		k.Compiled = &own
	}
	for _, o := range l.ofStep(plan.OverrideEnv) {
		text := "env:\n  " + o.Name + ":\n    " + strings.ReplaceAll(o.Value, "\n", "\n    ") + "\n"
		if m, ok := playbook.ParseVars(&playbook.File{Name: "override of " + o.Label(), Text: []byte(text)}, &l.problems.Found); ok {
			k.Env = append(slices.Clip(k.Env), m.Entries()[0].Value)
		}
	}
	for _, o := range l.ofStep(plan.OverrideCwd) {
		k.Cwd = o.text
	}
}

// ListIn lists what overrides have changed in a step. before is the task as the playbook has it.
func (l *List) ListIn(s *plan.Step, k *plan.Task, before *plan.Task, r *plan.Renderer) {
	if len(l.all) == 0 {
		return
	}
	for _, u := range s.Uses {
		if u.From == plan.FromOverride {
			s.Overridden = append(s.Overridden, l.describeVariable(s, u, r.Env.(*plan.Env)))
		}
	}
	old := &plan.Renderer{Engine: r.Engine, Env: r.Env, Lenient: true, Report: func(diag.Diagnostic) {}}
	for _, o := range l.ofStep(plan.OverrideArg) {
		one := plan.Overridden{Override: o.Override, Now: s.Args[o.Name]}
		for _, g := range before.Args {
			if g.Name == o.Name {
				one.Was, one.Origin = plan.ForDisplay(before.ArgValue(old, g, l.plan.Home, "", func(string) {})), g.Value.Pos().Origin(s.Origin.Chain)
			}
		}
		s.Overridden = append(s.Overridden, one)
	}
	for _, o := range l.ofStep(plan.OverrideEnv) {
		one := plan.Overridden{Override: o.Override, Now: s.Env[o.Name]}
		for _, m := range before.Env {
			for _, e := range m.Entries() {
				if e.Key == o.Name {
					one.Was, one.Origin = old.Variable(e.Value), e.Pos.Origin(s.Origin.Chain)
				}
			}
		}
		s.Overridden = append(s.Overridden, one)
	}
	for _, o := range l.ofStep(plan.OverrideCwd) {
		one := plan.Overridden{Override: o.Override, Was: before.Dir, Now: s.Cwd}
		if !before.Cwd.IsZero() {
			one.Was, one.Origin = old.Text(before.Cwd), before.Cwd.Pos().Origin(s.Origin.Chain)
		}
		s.Overridden = append(s.Overridden, one)
	}
	for i := range s.Overridden {
		s.Overridden[i].Value = "" // Now says it, and knows what is secret of it
	}
}

// describeVariable is what the override of a variable hides.
func (l *List) describeVariable(s *plan.Step, u plan.Use, e *plan.Env) plan.Overridden {
	one := plan.Overridden{Now: u.Value}
	for _, o := range l.all { // the last counts
		if o.Field == "" && o.Name == u.Name && o.on && o.covers(l.at, l.problems.Host) {
			one.Override = o.Override
		}
	}
	without := *s.Frame
	without.Over = nil
	hidden := *e
	hidden.Frame = &without
	without.Each(u.Name, func(b *vars.Binding) bool { one.Origin = b.Origin; return true })
	if was, ok := hidden.Lookup(u.Name); ok {
		one.Was = was
	}
	return one
}

// ReportUnused says which overrides came to nothing, because what they are for is gone.
func (l *List) ReportUnused() {
	for _, o := range l.all {
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
		l.problems.Report(diag.Diagnostic{
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
	return rest == "" || strings.ContainsRune("/#?", rune(rest[0])) // what is inside, the rounds of a loop, and what finds its items
}

// Layer is the layer of the overridden variables at the step that is planned, or in a scope.
func (l *List) Layer(scope int) *vars.Layer {
	path := l.at
	if path == "" && scope < len(l.plan.Scopes) {
		path = l.secrets.Redact(l.plan.Scopes[scope].Path)
	}
	var mask strings.Builder
	for _, o := range l.all {
		bit := byte('0')
		if o.Field == "" && o.on && o.covers(path, l.problems.Host) {
			bit = '1'
			o.used = true
		}
		mask.WriteByte(bit)
	}
	if layer, ok := l.overlays[mask.String()]; ok { // steps that see the same share it
		return layer
	}
	var layer *vars.Layer
	for i, o := range l.all {
		if mask.String()[i] == '1' {
			if layer == nil {
				layer = &vars.Layer{}
			}
			l.note(o.Name)
			layer.Add(vars.Binding{Name: o.Name, Value: o.value, From: plan.FromOverride})
		}
	}
	l.overlays[mask.String()] = layer
	return layer
}
