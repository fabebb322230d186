package gates

import (
	"slices"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// At is a gate with what a person reads of it.
type At struct {
	plan.Gate
	Text string
	Pos  diag.Pos
	Role int // the scope of the role that it is about; 0: about all that comes
}

// Conditions are those of gates. They come before all others.
func Conditions(list []At) []plan.Condition {
	conds := make([]plan.Condition, len(list))
	for i, g := range list {
		conds[i] = plan.Condition{Value: playbook.Written(g.Pos, g.Text), Gate: &list[i].Gate}
	}
	return conds
}

// OfRole are gates that what is behind a use of a role gets, given the scope of that use, where the role is used again: they are met if
// none of its tasks has run on the host. It has run if a task of its own, not of a role that it depends on, is known to.
func OfRole(p *plan.Plan, scope int, r *vars.Role, host string, pos diag.Pos) (open []At, ran bool) {
	use := &p.Scopes[scope]
	for i := use.First; i < use.Last; i++ {
		s := &p.Steps[i]
		in := s.Frame.Scene.Role
		if s.Host != host || s.Excluded || s.Handler || s.Prediction == plan.WillSkip || in == nil || in.Dir != r.Dir || in.Name != r.Name {
			continue
		}
		if s.Prediction == plan.WillRun {
			return nil, true
		}
		open = append(open, At{Gate: plan.Gate{Step: i}, Text: "not (role " + r.Name + " has run)", Pos: pos})
	}
	return open, false
}

// OwnText is what the conditions of a step say besides those of the gates that it is behind: what is behind the step itself is behind
// those, too, and a text that held them would grow with two to the power of their depth. It is the last of these if it has no other.
func OwnText(list []plan.Condition) string {
	first := slices.IndexFunc(list, func(c plan.Condition) bool { return c.Gate == nil })
	if first < 0 {
		first = max(len(list)-1, 0)
	}
	return plan.WhenText(list[first:])
}

// About are those of the gates of a host that are about a place, which is in some roles.
func About(list []At, in func(role int) bool) []At {
	elsewhere := func(g At) bool { return g.Role > 0 && !in(g.Role) }
	if !slices.ContainsFunc(list, elsewhere) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), elsewhere)
}

// Breaking puts before the conditions of an item that no item before it has ended the loop.
func Breaking(p *plan.Plan, k *plan.Task, s *plan.Step) {
	s.Keeps = true
	scope := &p.Scopes[s.Scope]
	if scope.First == s.Index {
		return
	}
	before := &plan.Earlier{}
	for i := scope.First; i < s.Index; i++ {
		before.Steps = append(before.Steps, i)
	}
	broke := playbook.Written(k.Src.BreakWhen[0].Pos(), "not ("+plan.WhenText(k.Breaks)+")")
	k.When = append([]plan.Condition{{Value: broke, Broke: before}}, k.When...)
}

// NoItems is the condition of a task whose loop is over nothing.
func NoItems(t *playbook.Task) []plan.Condition {
	return []plan.Condition{{Value: playbook.Written(t.Loop.Pos, "no items in the list"), Constant: true}}
}
