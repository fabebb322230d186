package planner

import (
	"fmt"
	"slices"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// rescueLayer has the names that tell what failed in the block. All steps of the block may give them.
func (p *outline) rescueLayer(block int, outer *vars.Layer, from diag.Origin) *vars.Layer {
	var steps []int
	for i := p.plan.Scopes[block].First; i < len(p.plan.Steps); i++ {
		steps = append(steps, i)
	}
	l := &vars.Layer{Parent: outer}
	for _, name := range slices.Concat(vars.FailedTaskNames, vars.FailedResultNames) {
		l.Add(vars.Binding{Name: name, From: "rescue", Origin: from, How: vars.Broken, Steps: steps})
	}
	return l
}

// conditions of gates come before all others.
func gated(list []gateAt) []plan.Condition {
	conds := make([]plan.Condition, len(list))
	for i, g := range list {
		conds[i] = plan.Condition{Value: playbook.Written(g.pos, g.text), Gate: &list[i].Gate}
	}
	return conds
}

// roleScope is the scope of the role around a scope; -1: there is none.
func (p *outline) roleScope(scope int) int {
	for ; scope >= 0; scope = p.plan.Scopes[scope].Parent {
		if p.plan.Scopes[scope].Kind == plan.ScopeRole {
			return scope
		}
	}
	return -1
}

// within reports whether a scope is another, or inside it.
func (p *outline) within(scope, other int) bool {
	for ; scope >= 0; scope = p.plan.Scopes[scope].Parent {
		if scope == other {
			return true
		}
	}
	return false
}

// gates puts what decides whether a task is there at all before its own conditions.
func (p *outline) gates(k *plan.Task, c *taskContext) {
	if own := p.gatesOf(c); len(c.gates)+len(own) > 0 {
		k.When = slices.Concat(gated(own), gated(c.gates), k.When)
	}
}

// gatesOf are the gates of the host that are about a place.
func (p *outline) gatesOf(c *taskContext) []gateAt {
	elsewhere := func(g gateAt) bool { return g.role > 0 && !p.within(c.scope, g.role) }
	if !slices.ContainsFunc(c.on.gates, elsewhere) {
		return c.on.gates
	}
	return slices.DeleteFunc(slices.Clone(c.on.gates), elsewhere)
}

// openScope begins a scope. label is its part of paths. Scopes are bounded as steps are: loops in loops over nothing at all
// would make them without end.
func (p *outline) openScope(s plan.Scope, label string) int {
	if limit := 2*p.o.MaxSteps + 100; len(p.plan.Scopes) == limit && !p.Full {
		p.Full = true
		p.Errorf(diag.Pos{File: s.Origin.File, Line: s.Origin.Line, Column: s.Origin.Column}, 0, s.Origin.Chain,
			"raise the limit with --max-steps",
			"the plan would have more than %d blocks, includes and rounds of loops for the limit of %d steps", limit, p.o.MaxSteps)
	}
	s.ID, s.First = len(p.plan.Scopes), len(p.plan.Steps)
	if s.Item != "" {
		label += "#" + s.Item
	}
	s.Path = label
	if s.Parent >= 0 {
		s.Path = p.plan.Scopes[s.Parent].Path + "/" + p.uniqueLabel(s.Parent, label)
	}
	p.plan.Scopes = append(p.plan.Scopes, s)
	return s.ID
}

func (p *outline) closeScope(id int) { p.plan.Scopes[id].Last = len(p.plan.Steps) }

// uniqueLabel makes a name unique in its scope, so that paths are identities.
func (p *outline) uniqueLabel(scope int, name string) string {
	used := p.labels[scope]
	if used == nil {
		used = map[string]int{}
		p.labels[scope] = used
	}
	used[name]++
	if n := used[name]; n > 1 {
		return fmt.Sprintf("%s~%d", name, n)
	}
	return name
}

// hasRoom reports whether n more steps fit into the plan.
func (p *outline) hasRoom(n int, pos diag.Pos, chain []string) bool {
	if len(p.plan.Steps)+n <= p.o.MaxSteps {
		return true
	}
	if !p.Full {
		p.Full = true
		p.Errorf(pos, 0, chain, "raise the limit with --max-steps", "the plan would have %d steps or more; the limit is %d",
			len(p.plan.Steps)+n, p.o.MaxSteps)
	}
	return false
}

func (p *outline) userID(t *playbook.Task, s *plan.Step) {
	for _, other := range p.ids[t.ID] {
		if o := p.plan.Steps[other].Task.Src; o != t {
			p.Errorf(t.Pos, 0, s.Origin.Chain, "an id belongs to one step", "the id `%s` is used twice; it is also at %s", t.ID,
				p.plan.Steps[other].Origin)
			break
		}
	}
	p.ids[t.ID] = append(p.ids[t.ID], s.Index)
}
