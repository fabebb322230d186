package show

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/eval/value"
)

// WriteDump prints everything that is known of the plan, a line per field, for tests and bug reports: no line depends
// on another, so two dumps are compared with diff(1). Values are JSON; what is empty has no line. graph is the
// execution graph's text form.
func WriteDump(w io.Writer, p *plan.Plan, graph string) error {
	d := &dump{p: p}
	d.at = "plan"
	d.field("format", p.Format)
	d.field("digest", p.Digest)
	d.field("root", p.Root)
	d.field("root_file", p.RootFile)
	d.field("name", p.Name)
	d.field("strategy", p.Strategy)
	d.field("tags", p.Tags)
	for _, in := range p.Inputs {
		d.field("input", in.Path+" "+in.Digest)
	}
	for _, v := range p.Vars {
		d.at = "var " + v.Name
		d.value("value", v.Value)
		d.field("from", strings.TrimSuffix(v.From+" "+v.Origin.String(), " "))
	}
	for i := range p.Scopes {
		d.scope(&p.Scopes[i])
	}
	for i := range p.Steps {
		d.step(&p.Steps[i])
	}
	for line := range strings.Lines(graph) {
		d.out.WriteString("graph " + line)
	}
	for _, g := range p.Diagnostics {
		d.at = g.Severity.String()
		d.field(fmt.Sprintf("%s:%d:%d", g.Pos.File, g.Pos.Line, g.Pos.Column), g.Message)
	}
	_, err := io.WriteString(w, d.out.String())
	return err
}

type dump struct {
	p   *plan.Plan
	out strings.Builder
	at  string
}

// field writes a line, unless the value is empty.
func (d *dump) field(name string, v any) {
	switch v := v.(type) {
	case string:
		if v == "" {
			return
		}
	case []string:
		if len(v) == 0 {
			return
		}
	case bool:
		if !v {
			return
		}
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		b.Reset()
		fmt.Fprintf(&b, "%q\n", fmt.Sprint(v))
	}
	d.out.WriteString(d.at + " " + name + ": " + termtext.CleanName(strings.TrimSuffix(b.String(), "\n")) + "\n")
}

// value writes a value of the plan, or the steps it is known after.
func (d *dump) value(name string, v any) {
	if steps, unknown := plan.UnknownSteps(v); unknown {
		d.field(name+" known after", d.after(steps))
		return
	}
	d.field(name, plan.JSONValue(value.Plain(v)))
}

// after lists all steps: a dump leaves nothing out.
func (d *dump) after(steps []int) string {
	if len(steps) == 0 {
		return plan.AtStart
	}
	return strings.Join(idsOf(d.p, steps), " ")
}

func (d *dump) origin(o diag.Origin) {
	d.field("origin", fmt.Sprintf("%s:%d:%d", o.File, o.Line, o.Column))
	d.field("chain", o.Chain)
}

func (d *dump) scope(s *plan.Scope) {
	d.at = fmt.Sprintf("scope %d", s.ID)
	d.field("kind", string(s.Kind))
	d.field("path", s.Path)
	d.field("name", s.Name)
	d.field("parent", s.Parent)
	d.field("steps", fmt.Sprintf("%d to %d", s.First+1, s.Last))
	d.field("when", s.When)
	d.field("skipped", s.Skipped)
	d.field("item", s.Item)
	d.field("loop", s.Loop)
	d.field("branch", s.Branch)
	switch {
	case s.Parallel == plan.Unlimited:
		d.field("parallel", true)
	case s.Parallel > 0:
		d.field("parallel", s.Parallel)
	}
	d.origin(s.Origin)
}

func (d *dump) step(s *plan.Step) {
	d.at = s.ID()
	d.field("path", s.Path)
	d.field("digest", s.Digest)
	d.field("id", s.UserID)
	d.field("scope", s.Scope)
	d.field("name", s.Name)
	d.field("action", s.Action)
	d.field("summary", s.Summary)
	for _, name := range slices.Sorted(maps.Keys(s.Args)) {
		d.value("args."+name, s.Args[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		d.field("env."+name, s.Env[name])
	}
	d.field("cwd", s.Cwd)
	d.field("host", s.Host)
	d.field("when", s.When)
	d.field("prediction", string(s.Prediction))
	d.field("register", s.Register)
	d.field("tags", s.Tags)
	d.field("excluded by", s.ExcludedBy)
	d.field("confirm", s.Confirm)
	if s.Become != nil {
		d.field("become", s.Become.String())
	}
	if s.Undo != nil {
		d.field("undo", s.Undo.Action)
		for _, name := range slices.Sorted(maps.Keys(s.Undo.Args)) {
			d.value("undo."+name, s.Undo.Args[name])
		}
	}
	policy := s.Policy()
	for _, name := range slices.Sorted(maps.Keys(policy)) {
		d.field(name, policy[name])
	}
	for _, n := range s.Needs {
		d.field("needs", d.p.Steps[n.Step].ID()+" "+n.On)
	}
	if l := s.Loop; l != nil {
		d.field("loop", fmt.Sprintf("%s %s, round %d, depth %d, over %s", l.Type, l.Var, l.Index+1, l.Depth, l.Expression))
		d.value("item", l.Item)
		d.field("label", l.Label)
	}
	if l := s.InLoop; l != nil {
		d.field("in loop", fmt.Sprintf("%s %s, round %d, depth %d, over %s", l.Type, l.Var, l.Index+1, l.Depth, l.Expression))
	}
	for _, u := range s.Unknowns {
		d.field("unknown "+u.Field, u.Name+" known after "+d.after(u.Steps))
	}
	for _, u := range s.Uses {
		d.value("uses "+u.Name, u.Value)
		d.field("uses "+u.Name+" from", strings.TrimSuffix(u.From+" "+u.Origin.String(), " "))
	}
	d.origin(s.Origin)
}
