package fix

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
	"moon/secret"
	"moon/tui/status"
)

// Form is the values of a step, or of what is in a scope.
type Form struct {
	Step   int    // -1: of a scope
	Path   string // of the step
	NoLog  bool   // whatever is typed is secret
	Rows   []Row
	Scopes []Scope
	Scope  int // the one that is chosen

	plan *plan.Plan
}

// Row is a value: a variable, an argument, or a part of the process.
type Row struct {
	Field, Name string
	Added       bool   // there was none
	Was         string // as it is in the plan, as text
	Now         string // as typed
	Edited      bool
	Kind        string // "": not known yet
	From        string // what gives it, where that is no file
	Origin      diag.Origin
	After       []int // the steps that will give it, if it is not known yet
	Secret      bool
	InForce     *plan.Override // an override there is already
	Original    string         // what that took the place of
	Restore     bool           // take it back
}

// Scope is how far a variable's new value reaches: all that is at a path, from a step on, perhaps on one host only.
type Scope struct {
	Words    string
	At, From string
	Host     string
}

// Rest reports whether it reaches to the end of the run, on all hosts.
func (s Scope) Rest() bool { return s.At == "" && s.Host == "" }

const (
	thisStep = "this step"
	thisHost = "this host"
	allRest  = "rest of the run"
)

// OfStep takes the values of one step. set is what the run has set by now.
func OfStep(p *plan.Plan, step int, set map[string]any) *Form {
	s := &p.Steps[step]
	f := &Form{plan: p, Step: step, Path: s.Path, NoLog: s.NoLog, Scopes: []Scope{{Words: thisStep, At: s.Path, From: s.Path}}}
	if s.Host != "" && status.OverHosts(p) {
		f.Scopes = append(f.Scopes, Scope{Words: thisHost + " (" + s.Host + ")", From: s.Path, Host: s.Host})
	}
	f.scope(p, s.Scope, s.Path)
	for i := range s.Uses {
		f.Rows = append(f.Rows, variable(&s.Uses[i], set))
	}
	for _, name := range status.ArgNames(s) {
		f.Rows = append(f.Rows, field(p, s, plan.OverrideArg, name, s.Args[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		f.Rows = append(f.Rows, field(p, s, plan.OverrideEnv, name, s.Env[name]))
	}
	if !s.NoLog {
		f.Rows = append(f.Rows, field(p, s, plan.OverrideCwd, "", s.Cwd))
	}
	for i := range s.Overridden {
		f.inForce(&s.Overridden[i])
	}
	return f
}

// usesShown bounds how many steps of a scope are looked through for the variables they use.
const usesShown = 2000

// OfScope takes the variables that the steps of a scope use, from one of them on.
func OfScope(p *plan.Plan, scope int, in events.Range, set map[string]any) *Form {
	f := &Form{plan: p, Step: -1}
	if in.From >= in.To {
		f.Scopes = []Scope{{Words: allRest}}
		return f
	}
	f.scope(p, scope, p.Steps[in.From].Path)
	seen := map[string]bool{}
	for i := in.From; i < min(in.To, in.From+usesShown); i++ {
		for k := range p.Steps[i].Uses {
			if u := &p.Steps[i].Uses[k]; !seen[u.Name] {
				seen[u.Name] = true
				f.Rows = append(f.Rows, variable(u, set))
			}
		}
	}
	return f
}

// scope lets a value be for a scope, if that is not all there is, and for the rest of the run.
func (f *Form) scope(p *plan.Plan, id int, from string) {
	if id > 0 && id < len(p.Scopes) {
		f.Scopes = append(f.Scopes, reach(p, id, from))
	}
	words := allRest
	if status.OverHosts(p) {
		words += " (all hosts)"
	}
	f.Scopes = append(f.Scopes, Scope{Words: words, From: from})
}

// reach is all that is in a scope, from a step on. A task is one thing on all its hosts, whichever of them is looked at.
func reach(p *plan.Plan, id int, from string) Scope {
	if p.Scopes[id].Kind == plan.ScopeTask {
		from = ""
	}
	return Scope{Words: "this " + string(p.Scopes[id].Kind) + over(p, id), At: p.Scopes[id].Path, From: from}
}

// over says how many hosts a scope is about, where that is not plain.
func over(p *plan.Plan, id int) string {
	if n := p.Scopes[id].Hosts; n > 1 {
		return " (" + plan.CountOf(n, "host") + ")"
	}
	return ""
}

func variable(u *plan.Use, set map[string]any) Row {
	row := Row{Name: u.Name, Kind: plan.Kind(u.Value), From: u.From, Origin: u.Origin, Secret: plan.Secret(u.Value)}
	value := u.Value
	if now, ok := set[u.Name]; ok {
		// What the run has set counts only if planning knew no value.
		if _, after := plan.Display(value); len(after) > 0 {
			value, row.Kind = now, plan.Kind(now)
		}
	}
	if row.Secret {
		// A secret is typed as text, whatever it looks like.
		row.Kind = plan.Kind("")
	}
	row.Was, row.After = plan.Display(value)
	if len(row.After) > 0 {
		row.Kind = ""
	}
	row.Now = row.Was
	return row
}

// field is an argument or a part of the process. Where what it comes to looks like a template, or has a secret in it, the text as
// written is edited, since what is typed is a template again. What is nothing but a secret stays one.
func field(p *plan.Plan, s *plan.Step, what, name string, value any) Row {
	text, after := plan.Display(value)
	row := Row{Field: what, Name: name, Kind: plan.Kind(value), Origin: s.Origin, Secret: plan.Secret(value) || text == secret.Mask}
	written, templated := p.Written(s.Index, what, name)
	again := len(after) > 0 || strings.Contains(text, "{{") || strings.Contains(text, "{%") || strings.Contains(text, secret.Mask)
	if templated && again && !row.Secret {
		text, row.Kind = written, plan.Kind("")
	}
	row.Was, row.Now = text, text
	return row
}

// inForce marks the row of an override there is already.
func (f *Form) inForce(o *plan.Overridden) {
	original, _ := plan.Display(o.Was)
	for i := range f.Rows {
		if r := &f.Rows[i]; r.Field == o.Field && r.Name == o.Name {
			r.InForce, r.Original = &o.Override, original
			r.Secret = r.Secret || o.Secret
		}
	}
}

// Label is how a row is called.
func (r *Row) Label() string { return plan.Override{Field: r.Field, Name: r.Name}.Label() }

// Type takes over what was typed on a row.
func (r *Row) Type(text string) { r.Now, r.Edited, r.Restore = text, true, false }

// Revert takes back what was typed on a row.
func (r *Row) Revert() { r.Now, r.Edited, r.Restore = r.Was, false, false }

// Changed reports whether a row asks for something.
func (r *Row) Changed() bool {
	return r.Restore || r.Edited && (r.Now != r.Was || r.Added || len(r.After) > 0)
}

// Changes counts the rows that do.
func (f *Form) Changes() (n int) {
	for i := range f.Rows {
		if f.Rows[i].Changed() {
			n++
		}
	}
	return n
}

// Add makes a row of what was typed for a name, or finds the one there is. why says what is wrong with the name.
func (f *Form) Add(name, value string) (row int, why string) {
	one := Row{Name: name, Added: true}
	if what, rest, dotted := strings.Cut(name, "."); dotted && f.Step >= 0 {
		switch what {
		case plan.OverrideArg, plan.OverrideEnv:
			one.Field, one.Name = what, rest
		default:
			return -1, "names have no dots; env.NAME and args.NAME are those of the step"
		}
	}
	row = slices.IndexFunc(f.Rows, func(r Row) bool { return r.Field == one.Field && r.Name == one.Name })
	if row < 0 {
		// A name that is new here may be a password elsewhere.
		one.Secret = f.NoLog || one.Field == "" && f.secretElsewhere(name)
		row = len(f.Rows)
		f.Rows = append(f.Rows, one)
	}
	f.Rows[row].Type(value)
	return row, ""
}

// secretElsewhere reports whether another step knows a variable as a secret.
func (f *Form) secretElsewhere(name string) bool {
	return slices.ContainsFunc(f.plan.Steps, func(s plan.Step) bool {
		return slices.ContainsFunc(s.Uses, func(u plan.Use) bool { return u.Name == name && plan.Secret(u.Value) })
	})
}

// Overrides are what the rows ask for, or what is wrong with one of them.
func (f *Form) Overrides() (list []events.Override, wrong string, row int) {
	for i := range f.Rows {
		r := &f.Rows[i]
		if !r.Changed() {
			continue
		}
		if r.Restore {
			list = append(list, events.Override{Field: r.Field, Name: r.Name, At: r.InForce.At, Host: r.InForce.Host, Clear: true})
			continue
		}
		if strings.Contains(r.Now, secret.Mask) { // what stands for a secret is not the secret
			return nil, r.Label() + ": a part of it is hidden; write all of it again", i
		}
		reach := f.Scopes[f.Scope]
		o := events.Override{Field: r.Field, Name: r.Name, At: reach.At, From: reach.From, Host: reach.Host, Secret: r.Secret}
		if r.Field != "" {
			// An argument belongs to its step, however far the scope that is chosen reaches.
			o.At, o.From, o.Host = f.Path, f.Path, ""
		}
		value, _, err := r.YAML()
		if err != nil {
			return nil, fmt.Sprintf("%s: %s", r.Label(), err), i
		}
		o.Value = value
		list = append(list, o)
	}
	return list, "", -1
}

// YAML is what was typed on a row, as YAML, and of what kind it is. What was text stays text, whatever it looks like.
func (r *Row) YAML() (value, kind string, err error) {
	text := plan.Kind("")
	if r.Kind == text || r.Field != "" && r.Kind == "" {
		return plan.WriteText(r.Now), text, nil
	}
	kind, err = plan.ReadOverride(r.Now)
	return r.Now, kind, err
}

// OtherKind is a row whose value is of another kind than before, and that kind; or nil.
func (f *Form) OtherKind() (row *Row, kind string) {
	for i := range f.Rows {
		r := &f.Rows[i]
		if !r.Changed() || r.Restore || r.Kind == "" {
			continue
		}
		if _, kind, err := r.YAML(); err == nil && kind != r.Kind {
			return r, kind
		}
	}
	return nil, ""
}
