package compile

import (
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// FillProcess renders what concerns the process: environment, directory, creates and the like.
func (c *Compiler) FillProcess(s *plan.Step, k *plan.Task, r *plan.Renderer, f *plan.Fields, home string) {
	t := k.Src
	// In the order they are given, since the later one wins: a map in a variable may follow names that are written out.
	for _, m := range k.Env {
		if m.Kind() != playbook.Map {
			f.At("environment")
			for name, value := range r.Environment(m) {
				if s.Env == nil {
					s.Env = map[string]string{}
				}
				s.Env[name] = value
			}
			continue
		}
		for _, e := range m.Entries() {
			f.At("env." + e.Key)
			if s.Env == nil {
				s.Env = map[string]string{}
			}
			s.Env[e.Key] = r.Variable(e.Value)
		}
	}
	f.At("cwd")
	s.Cwd = k.Base
	if k.Remote {
		s.Cwd = "~"
	}
	if !k.Cwd.IsZero() {
		s.Cwd = r.Text(k.Cwd)
		if len(r.Missing) == 0 {
			s.Cwd = k.Resolve(s.Cwd, home)
		}
	}
	for _, g := range []struct {
		name  string
		value playbook.Value
	}{{"creates", t.Creates}, {"removes", t.Removes}, {"unless", t.Unless}, {"onlyif", t.OnlyIf}} {
		if !g.value.IsZero() {
			f.At(g.name)
			r.Text(g.value) // only what it needs counts here: the run asks it again, with the values it has by then
		}
	}
	for _, g := range []struct {
		name   string
		values []playbook.Value
	}{{"sources", t.Sources}, {"generates", t.Generates}} {
		for _, v := range g.values {
			f.At(g.name)
			c.CheckGlob(r, v, g.name)
		}
	}
}

// FillUndo renders the step that reverses this one. It may use the result of this one, which is not known yet; what else
// it waits for is not waited for by this one.
func (c *Compiler) FillUndo(s *plan.Step, k *plan.Task, r *plan.Renderer, home string) {
	if k.Undo == nil || k.Undo.Action == nil {
		return
	}
	// The result of the step is unknown under each name that it will have.
	with := *r.Env.(*plan.Env)
	with.Extra = map[string]any{}
	for _, name := range c.plan.ResultNames(k.Src.Register) {
		with.Extra[name] = value.Unknown{}
	}
	sub := &plan.Renderer{
		Engine: r.Engine, Env: &with, Report: r.Report, Lack: r.Lack, Facts: r.Facts, Lenient: r.Lenient,
		Guards: r.Guards, Chain: r.Chain,
	}
	u := plan.NewTask(plan.Task{Compiled: k.Undo, Dir: k.Dir, Base: k.Dir})
	raw := u.Values(sub, u.Args, home, "", func(string) {})
	for _, m := range u.Src.Env.Entries() {
		sub.Text(m.Value)
	}
	if !u.Src.Cwd.IsZero() {
		sub.Text(u.Src.Cwd)
	}
	if u.Sound && !sub.Failed && !sub.Undefined && len(sub.Missing) == 0 && !r.Lenient {
		c.Decode(u, raw, sub) // nothing provides for a failure of it
	}
	s.Undo = &plan.Undo{Action: u.Action.Name}
	s.Undo.Args, _ = plan.ForDisplay(plan.CopyOf(raw)).(map[string]any)
	s.Undo.Summary = c.plan.Summary(s.Undo.Action, s.Undo.Args)
}
