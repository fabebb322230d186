package compile

import (
	"moon/plan"
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
			s.Env[e.Key] = r.Text(e.Value)
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
