package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// Override is a value that takes the place of another for one run, above all other sources.
//
// That of a variable is data. That of an argument, of a variable of the environment and of the working directory is written as
// in a playbook, and may be a template.
type Override struct {
	Field    string `json:"field,omitempty"` // "" for a variable; OverrideArg and the like
	Name     string `json:"name,omitempty"`  // of the variable or argument; "" for the working directory
	Value    string `json:"value"`           // as YAML
	At       string `json:"at,omitempty"`    // path of the step or scope it is for; "": everything
	From     string `json:"from,omitempty"`  // path of the step it begins with, in the order of the plan; "": the first
	Host     string `json:"host,omitempty"`  // only for steps of this host; "": of all
	Secret   bool   `json:"secret,omitempty"`
	Withheld bool   `json:"withheld,omitempty"` // the value was secret, and is not kept
}

// What else than a variable a step's override can be for. At is then the path of that step.
const (
	OverrideArg = "args"
	OverrideEnv = "env"
	OverrideCwd = "cwd"
)

// Same reports whether one override takes the place of the other.
func (o Override) Same(other Override) bool {
	return o.Field == other.Field && o.Name == other.Name && o.At == other.At && o.Host == other.Host
}

// Label is how an override is called: a variable by its name, an argument by cmd, and what is of the process by env.PATH, cwd.
func (o Override) Label() string {
	switch o.Field {
	case "", OverrideArg:
		return o.Name
	case OverrideCwd:
		return o.Field
	}
	return o.Field + "." + o.Name
}

// Overridden is what an override changes in a step.
type Overridden struct {
	Override
	Was    any    // what it takes the place of; nil if there was nothing
	Now    any    // what it comes to
	Origin Origin // of what it takes the place of
}

// overriding is an override while the plan is made.
type overriding struct {
	Override
	on    bool // the plan has come to where it begins
	used  bool
	value any            // of a variable
	text  playbook.Value // of anything else
}

const fromOverride = "override"

// readOverrides reads the values. Mistakes in them are mistakes of the plan.
func (p *evaluator) readOverrides() {
	for _, o := range p.o.Overrides {
		file := &playbook.File{Name: "override of " + o.Label(), Text: []byte("value:\n  " + strings.ReplaceAll(o.Value, "\n", "\n  ") + "\n")}
		m, ok := playbook.ParseVars(file, &p.ds)
		if !ok {
			continue
		}
		v := m.Entries()
		if len(v) != 1 {
			p.errorf(diag.Pos{File: file.Name}, 0, nil, "write one value, as in a playbook", "this is not one value: %s", quoted(o.Value))
			continue
		}
		one := &overriding{Override: o, on: o.From == "", text: v[0].Value}
		if o.Field == "" {
			one.value = taken(v[0].Value, p.plan.Plays)
			if o.Secret {
				one.value = eval.Mark(p.secrets, one.value, eval.Every)
			}
		} else if o.Secret {
			p.secrets.Add("", v[0].Value.Text())
		}
		p.overrides = append(p.overrides, one)
	}
}

// reach says that the plan has come to a step, whose frames are its own from now on until it is planned.
func (p *evaluator) reach(path string) {
	if len(p.overrides) == 0 {
		return
	}
	p.at = p.secrets.Redact(path)
	for _, o := range p.overrides {
		o.on = o.on || o.From == p.at
	}
}

// overlay is the layer of the overridden variables at the step that is planned, or in a scope.
func (p *evaluator) overlay(scope int) *layer {
	path := p.at
	if path == "" && scope < len(p.plan.Scopes) {
		path = p.secrets.Redact(p.plan.Scopes[scope].Path)
	}
	var mask strings.Builder
	for _, o := range p.overrides {
		bit := byte('0')
		if o.Field == "" && o.on && o.covers(path, p.host) {
			bit = '1'
			o.used = true
		}
		mask.WriteByte(bit)
	}
	if l, ok := p.overlays[mask.String()]; ok { // steps that see the same share it
		return l
	}
	var l *layer
	for i, o := range p.overrides {
		if mask.String()[i] == '1' {
			if l == nil {
				l = &layer{}
			}
			p.noteName(o.Name)
			l.add(binding{name: o.Name, value: o.value, from: fromOverride})
		}
	}
	if p.overlays == nil {
		p.overlays = map[string]*layer{}
	}
	p.overlays[mask.String()] = l
	return l
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
func (p *evaluator) override(k *task, c *scopeContext) {
	if len(p.overrides) == 0 {
		return
	}
	if list := p.ofStep(OverrideArg); len(list) > 0 {
		own := *k.compiled // the others of the task keep theirs
		own.args = slices.Clone(own.args)
		for _, o := range list {
			f, known := own.action.Field(o.Name)
			if !known && !own.action.Open {
				p.unknownArg(o.Name, own.action.Name, diag.Pos{File: "override of " + o.Label()}, fieldNames(own.action.Fields()), c.chain)
				continue
			}
			name := o.Name
			if known {
				name = f.Name
			}
			own.args = slices.DeleteFunc(own.args, func(g arg) bool { return g.name == name })
			own.args = append(own.args, p.arg(name, o.Name, f, o.text, c.chain))
		}
		k.compiled = &own
	}
	for _, o := range p.ofStep(OverrideEnv) {
		text := "env:\n  " + o.Name + ":\n    " + strings.ReplaceAll(o.Value, "\n", "\n    ") + "\n"
		if m, ok := playbook.ParseVars(&playbook.File{Name: "override of " + o.Label(), Text: []byte(text)}, &p.ds); ok {
			k.env = append(slices.Clip(k.env), m.Entries()[0].Value)
		}
	}
	for _, o := range p.ofStep(OverrideCwd) {
		k.cwd = o.text
	}
}

// overridden lists what overrides have changed in a step. before is the task as the playbook has it.
func (p *evaluator) overridden(s *Step, k *task, before task, r *renderer) {
	if len(p.overrides) == 0 {
		return
	}
	for _, u := range s.Uses {
		if u.From == fromOverride {
			s.Overridden = append(s.Overridden, p.overriddenVar(k, u, r.env.(*env)))
		}
	}
	old := &renderer{engine: r.engine, env: r.env, lenient: true, report: func(diag.Diagnostic) {}}
	for _, o := range p.ofStep(OverrideArg) {
		one := Overridden{Override: o.Override, Now: s.Args[o.Name]}
		for _, g := range before.args {
			if g.name == o.Name {
				one.Was, one.Origin = forDisplay(before.argValue(old, g, p.o.Home, "", func(string) {})), origin(g.value.Pos(), s.Origin.Chain)
			}
		}
		s.Overridden = append(s.Overridden, one)
	}
	for _, o := range p.ofStep(OverrideEnv) {
		one := Overridden{Override: o.Override, Now: s.Env[o.Name]}
		for _, m := range before.env {
			for _, e := range m.Entries() {
				if e.Key == o.Name {
					one.Was, one.Origin = old.text(e.Value), origin(e.Pos, s.Origin.Chain)
				}
			}
		}
		s.Overridden = append(s.Overridden, one)
	}
	for _, o := range p.ofStep(OverrideCwd) {
		one := Overridden{Override: o.Override, Was: before.dir, Now: s.Cwd}
		if !before.cwd.IsZero() {
			one.Was, one.Origin = old.text(before.cwd), origin(before.cwd.Pos(), s.Origin.Chain)
		}
		s.Overridden = append(s.Overridden, one)
	}
	for i := range s.Overridden {
		s.Overridden[i].Value = "" // Now says it, and knows what is secret of it
	}
}

// overriddenVar is what the override of a variable hides.
func (p *evaluator) overriddenVar(k *task, u Use, e *env) Overridden {
	one := Overridden{Now: u.Value}
	for _, o := range p.overrides { // the last counts
		if o.Field == "" && o.Name == u.Name && o.on && o.covers(p.at, p.host) {
			one.Override = o.Override
		}
	}
	without := *k.frame
	without.over = nil
	hidden := *e
	hidden.frame = &without
	without.each(u.Name, func(b *binding) bool { one.Origin = b.origin; return true })
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
		p.report(diag.Diagnostic{
			Severity: diag.Warning, Pos: diag.Pos{File: "override of " + o.Label()},
			Message: "the override of `" + o.Label() + "` has no effect: " + what,
		})
	}
}

// Overrides are those the plan was made with.
func (p *Plan) Overrides() []Override {
	if p.made == nil { // it was put together by hand
		return nil
	}
	return p.made.o.Overrides
}

// WithOverrides are the options the plan was made with, and other overrides. What takes the place of a secret is one.
func (p *Plan) WithOverrides(list []Override) Options {
	o := p.made.o
	o.Overrides = slices.Clone(list)
	for i := range o.Overrides {
		one := &o.Overrides[i]
		one.Secret = one.Secret || p.hides(*one)
	}
	return o
}

// hides reports whether what an override takes the place of is secret, or may be.
func (p *Plan) hides(o Override) bool {
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.NoLog && s.Path == o.At {
			return true
		}
		for _, u := range s.Uses {
			if o.Field == "" && u.Name == o.Name && eval.Marked(u.Value) {
				return true
			}
		}
	}
	return false
}

// Written is the text of an argument, of a variable of the environment, or of the working directory as it stands in the playbook,
// and whether it is a plain text with templates that are to be kept.
func (p *Plan) Written(step int, field, name string) (text string, templated bool) {
	k := p.Steps[step].task
	if k == nil { // it was put together by hand
		return "", false
	}
	v := playbook.Value{}
	switch field {
	case OverrideArg:
		v, _ = valueOf(k.args, name)
	case OverrideEnv:
		for _, m := range k.env {
			for _, e := range m.Entries() {
				if e.Key == name {
					v = e.Value
				}
			}
		}
	case OverrideCwd:
		v = k.cwd
	}
	if v.IsZero() || v.Kind() != playbook.String {
		return "", false
	}
	return v.Text(), eval.Templated(v.Text())
}

// keepOverrides are the overrides without what is secret.
func keepOverrides(list []Override) []Override {
	var kept []Override
	for _, o := range list {
		if o.Secret {
			o.Value, o.Withheld = withheldValue, true
		}
		kept = append(kept, o)
	}
	return kept
}

// withheldValue stands for a secret that is not kept, so that the plan can be shown again. Nothing may be run with it.
const withheldValue = "'(a secret that is not kept)'"

// Withheld names the overrides of a plan whose values were secret, and are not known any more.
func (s *Sources) Withheld() (names []string) {
	for _, o := range s.Overrides {
		if o.Withheld {
			names = append(names, o.Label())
		}
	}
	return names
}

// known are the overrides whose values are.
func knownOverrides(list []Override) []Override {
	return slices.DeleteFunc(slices.Clone(list), func(o Override) bool { return o.Withheld })
}

// Text says in a few words what was overridden: "lock_timeout 5s → 60s".
func (o Overridden) Text() string {
	show := func(v any) string {
		text, after := Display(v)
		if len(after) > 0 {
			return "(known later)"
		}
		return FirstLine(text)
	}
	if o.Was == nil {
		return fmt.Sprintf("%s → %s", o.Label(), show(o.Now))
	}
	return fmt.Sprintf("%s %s → %s", o.Label(), show(o.Was), show(o.Now))
}

// ReadOverride reads a value that a person has typed, and says what kind it is of: text, a number and so on.
func ReadOverride(text string) (kind string, err error) {
	var ds diag.List
	file := &playbook.File{Name: "value", Text: []byte("value:\n  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n")}
	m, ok := playbook.ParseVars(file, &ds)
	switch {
	case ds.HasErrors():
		return "", errors.New(ds[0].Message)
	case !ok || len(m.Entries()) != 1:
		return "", errors.New("this is not one value")
	}
	return Kind(plain(m.Entries()[0].Value)), nil
}

// Kind names what kind of value something is: "text", "a number", "a list".
func Kind(v any) string { return article(v) }

// WriteText is a text as a value in YAML.
func WriteText(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b) // what JSON writes, YAML reads
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return "''" // there is no text that cannot be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Secret reports whether a value is, or holds, a secret.
func Secret(v any) bool { return eval.Marked(v) }
