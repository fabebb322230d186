package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

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

// FromOverride is where a variable comes from that an override sets.
const FromOverride = "override"

// Overrides are those the plan was made with.
func (p *Plan) Overrides() []Override {
	if p.Basis == nil { // it was put together by hand
		return nil
	}
	return p.Basis.O.Values.Overrides
}

// WithOverrides are the options the plan was made with, and other overrides. What takes the place of a secret is one.
func (p *Plan) WithOverrides(list []Override) Options {
	o := p.Basis.again()
	// Cloned: the marks below are for the next plan, and must not reach the list of the caller.
	o.Values.Overrides = slices.Clone(list)
	for i := range o.Values.Overrides {
		one := &o.Values.Overrides[i]
		one.Secret = one.Secret || p.hides(*one)
	}
	return o
}

// hides reports whether what an override takes the place of is secret, or may be.
func (p *Plan) hides(o Override) bool {
	for i := range p.Steps {
		s := &p.Steps[i]
		// What no_log hides may be secret although nothing marks it.
		if s.NoLog && s.Path == o.At {
			return true
		}
		for _, u := range s.Uses {
			if o.Field == "" && u.Name == o.Name && value.Marked(u.Value) {
				return true
			}
		}
	}
	return false
}

// Written is the text of an argument, of a variable of the environment, or of the working directory as it stands in the playbook,
// and whether it is a plain text with templates that are to be kept.
func (p *Plan) Written(step int, field, name string) (text string, templated bool) {
	k := p.Steps[step].Task
	if k == nil { // it was put together by hand
		return "", false
	}
	v := playbook.Value{}
	switch field {
	case OverrideArg:
		v, _ = ValueOf(k.Args, name)
	case OverrideEnv:
		for _, m := range k.Env {
			for _, e := range m.Entries() {
				if e.Key == name {
					v = e.Value
				}
			}
		}
	case OverrideCwd:
		v = k.Cwd
	}
	if v.IsZero() || v.Kind() != playbook.String {
		return "", false
	}
	return v.Text(), eval.Templated(v.Text())
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
	// Indented below a key: what is typed may have several lines, or be a map.
	file := &playbook.File{Name: "value", Text: []byte("value:\n  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n")}
	m, ok := playbook.ParseVars(file, &ds)
	switch {
	case ds.HasErrors():
		return "", errors.New(ds[0].Message)
	case !ok || len(m.Entries()) != 1:
		return "", errors.New("this is not one value")
	}
	return Kind(Plain(m.Entries()[0].Value)), nil
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
func Secret(v any) bool { return value.Marked(v) }

// With are the options the plan was made with, and one more variable, as -e takes it. What takes the place of a secret is one.
func (p *Plan) With(extraVar string) Options {
	o := p.Basis.again()
	for _, kv := range playbook.SplitPairs(extraVar) {
		for i := range p.Vars {
			if p.Vars[i].Name == kv.Key && value.Marked(p.Vars[i].Value) {
				o.Values.Hidden = append(slices.Clip(o.Values.Hidden), kv.Key)
			}
		}
	}
	// Clipped, as the plan that is there keeps its options.
	o.Values.Extra = append(slices.Clip(o.Values.Extra), extraVar)
	return o
}
