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
	d.writeField("format", p.Format)
	d.writeField("digest", p.Digest)
	d.writeField("root", p.Root)
	d.writeField("root_file", p.RootFile)
	d.writeField("name", p.Name)
	d.writeField("strategy", p.Strategy)
	d.writeField("tags", p.Tags)
	for _, in := range p.Inputs {
		d.writeField("input", in.Path+" "+in.Digest)
	}
	for _, v := range p.Vars {
		d.at = "var " + v.Name
		d.writeValue("value", v.Value)
		d.writeField("from", strings.TrimSuffix(v.From+" "+v.Origin.String(), " "))
	}
	for i := range p.Scopes {
		d.writeScope(&p.Scopes[i])
	}
	for i := range p.Steps {
		d.writeStep(&p.Steps[i])
	}
	for i := range p.Orphans {
		d.writeOrphan(&p.Orphans[i])
	}
	for line := range strings.Lines(graph) {
		d.out.WriteString("graph " + line)
	}
	for _, g := range p.Diagnostics {
		d.at = g.Severity.String()
		d.writeField(fmt.Sprintf("%s:%d:%d", g.Pos.File, g.Pos.Line, g.Pos.Column), g.Message)
	}
	_, err := io.WriteString(w, d.out.String())
	return err
}

type dump struct {
	p   *plan.Plan
	out strings.Builder
	at  string
}

// writeField writes a line, unless the value is empty.
func (d *dump) writeField(name string, v any) {
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
	// A value that JSON does not have is still shown.
	if err := enc.Encode(v); err != nil {
		b.Reset()
		fmt.Fprintf(&b, "%q\n", fmt.Sprint(v))
	}
	d.out.WriteString(d.at + " " + name + ": " + termtext.CleanName(strings.TrimSuffix(b.String(), "\n")) + "\n")
}

// writeValue writes a value of the plan, or the steps it is known after.
func (d *dump) writeValue(name string, v any) {
	if steps, unknown := plan.UnknownSteps(v); unknown {
		d.writeField(name+" known after", d.listAfter(steps))
		return
	}
	d.writeField(name, plan.JSONValue(value.Plain(v)))
}

// listAfter lists all steps: a dump leaves nothing out.
func (d *dump) listAfter(steps []int) string {
	if len(steps) == 0 {
		return plan.AtStart
	}
	return strings.Join(idsOf(d.p, steps), " ")
}

func (d *dump) writeOrigin(o diag.Origin) {
	d.writeField("origin", fmt.Sprintf("%s:%d:%d", o.File, o.Line, o.Column))
	d.writeField("chain", o.Chain)
}

func (d *dump) writeScope(s *plan.Scope) {
	d.at = fmt.Sprintf("scope %d", s.ID)
	d.writeField("kind", string(s.Kind))
	d.writeField("path", s.Path)
	d.writeField("name", s.Name)
	d.writeField("parent", s.Parent)
	d.writeField("steps", fmt.Sprintf("%d to %d", s.First+1, s.Last))
	d.writeField("when", s.When)
	d.writeField("skipped", s.Skipped)
	d.writeField("item", s.Item)
	d.writeField("loop", s.Loop)
	d.writeField("branch", s.Branch)
	switch {
	case s.Parallel == plan.Unlimited:
		d.writeField("parallel", true)
	case s.Parallel > 0:
		d.writeField("parallel", s.Parallel)
	}
	d.writeField("timeout", s.TimeoutText())
	d.writeOrigin(s.Origin)
}

func (d *dump) writeStep(s *plan.Step) {
	d.at = s.ID()
	d.writeField("path", s.Path)
	d.writeField("digest", s.Digest)
	d.writeField("id", s.UserID)
	d.writeField("scope", s.Scope)
	d.writeField("name", s.Name)
	d.writeField("action", s.Action)
	d.writeField("summary", s.Summary)
	for _, name := range slices.Sorted(maps.Keys(s.Args)) {
		d.writeValue("args."+name, s.Args[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		d.writeField("env."+name, s.Env[name])
	}
	d.writeField("cwd", s.Cwd)
	d.writeField("host", s.Host)
	d.writeField("when", s.When)
	d.writeField("prediction", string(s.Prediction))
	d.writeField("register", s.Register)
	d.writeField("tags", s.Tags)
	d.writeField("excluded by", s.ExcludedBy)
	d.writeField("confirm", s.Confirmers.Asked(s.Confirm, nil))
	if s.Become != nil {
		d.writeField("become", s.Become.String())
	}
	if s.Undo != nil {
		d.writeField("undo", s.Undo.Action)
		for _, name := range slices.Sorted(maps.Keys(s.Undo.Args)) {
			d.writeValue("undo."+name, s.Undo.Args[name])
		}
	}
	d.writeField("moved", s.Moved)
	policy := policyOf(s)
	for _, name := range slices.Sorted(maps.Keys(policy)) {
		d.writeField(name, policy[name])
	}
	for _, n := range d.p.NeedsOf(s.Index) {
		name := d.p.Scopes[n.Scope].Path
		if n.Scope == 0 {
			name = d.p.Steps[n.Step].ID()
		}
		d.writeField("needs", name+" "+n.On)
	}
	if l := s.Loop; l != nil {
		d.writeField("loop", fmt.Sprintf("%s %s, round %d, depth %d, over %s", l.Type, l.Var, l.Index+1, l.Depth, l.Expression))
		d.writeValue("item", l.Item)
		d.writeField("label", l.Label)
	}
	if l := s.InLoop; l != nil {
		d.writeField("in loop", fmt.Sprintf("%s %s, round %d, depth %d, over %s", l.Type, l.Var, l.Index+1, l.Depth, l.Expression))
	}
	for _, u := range s.Unknowns {
		d.writeField("unknown "+u.Field, u.Name+" known after "+d.listAfter(u.Steps))
	}
	for _, u := range s.Uses {
		d.writeValue("uses "+u.Name, u.Value)
		d.writeField("uses "+u.Name+" from", strings.TrimSuffix(u.From+" "+u.Origin.String(), " "))
	}
	d.writeOrigin(s.Origin)
}
