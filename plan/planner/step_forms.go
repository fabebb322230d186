package planner

import (
	"slices"
	"strings"

	"moon/plan"
	"moon/plan/planner/gates"
	"moon/plan/planner/items"
	"moon/plan/planner/outline"
	"moon/plan/planner/place"
	"moon/plan/planner/pointless"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// here is the form of steps.
type here struct{}

func (here) place(p *stepPlanner, s *plan.Step, t *playbook.Task, c *taskContext) {
	parent, label := p.plan.Scopes[c.scope].Path, p.UniqueLabel(c.scope, outline.StepLabel(s, t)+place.Mark(s))
	// One that is taken over has its path already, and shares the text.
	if own, ok := strings.CutPrefix(s.Path, parent); !ok || len(own) != len(label)+1 || own[1:] != label || own[0] != '/' {
		s.Path = parent + "/" + label
	}
}

// Those of an include or a block are for what is inside.
func (here) ownVars(p *variables, t *playbook.Task, c *taskContext, lenient bool) *vars.Layer {
	if t.Kind != playbook.Action || t.StepVars.Kind() != playbook.Map {
		return nil
	}
	// Those of an open loop may use its item.
	lenient = lenient || c.finds != nil
	return p.bindings.Layer(t.StepVars.Entries(), nil, p.frame(c, nil), func(fr *vars.Frame, l *vars.Layer) { fr.Step = l },
		"step vars", c.chain, lenient)
}

func (here) forgives() bool { return false }

func (here) connect(p *stepPlanner, s *plan.Step, k *plan.Task, c *taskContext, f *plan.Fields, idle bool) {
	f.At("delegate_to")
	if idle {
		return
	}
	m, ok := p.delegated(s, c, f.R)
	if ok && c.scene.Host != nil {
		s.Delegate = m.Name
	}
	switch {
	case !ok || k.OnController():
	case s.Delegate == "":
		f.At("become_user")
		p.connector.BecomeHere(s, k, c.become, f.R)
	default:
		p.connectDelegated(s, k, c, m, f.R)
		k.Remote = s.Conn != nil
		k.Away = k.Remote || s.Become != nil
		p.searching(k, c, f.R)
	}
}

func (here) checkKeys(p *evaluator, k *plan.Task, r *plan.Renderer) {
	pointless.Check(p.Collector, k, r)
}

func (here) handFacts(*stepPlanner, *plan.Step, *plan.Task, *playbook.Task, *taskContext) {}

func (here) setFact(p *stepPlanner, b *vars.Binding, _ *plan.Step, _ *plan.Task, c *taskContext) {
	if b.By.Kind == playbook.Vars {
		p.names.Document.Add(b)
		return
	}
	p.produce(b, c)
}

func (here) emptyLoop(*planner, *taskContext, *playbook.Task) bool { return false }

func (here) openLoop(*plan.Scope, *taskContext) {}

func (here) roundVars(_ *evaluator, _ *taskContext, _ *playbook.Task, _ []items.Item, _ int, made *vars.Layer) *vars.Layer {
	return made
}

// there is the form of tasks on a host of a play.
type there struct{}

func (there) place(p *stepPlanner, s *plan.Step, t *playbook.Task, c *taskContext) {
	if s.Path = c.path; s.Loops() {
		s.Path += place.Mark(s)
	}
	if s.Loop != nil {
		s.Path += "#" + p.UniqueLabel(c.scope, p.PortableLabel(s.Loop.Label))
	}
	s.Host, s.Group = c.on.Name, c.group
	s.Role, s.Once = c.roleName(), c.once
	// The first step that asks a host gives the facts that are promised: then its result is kept, although nothing registers it.
	if m := c.on; s.Action == "setup" && c.delegate.IsZero() && m.Gathers(s.Index, t.ActionKey) {
		s.Keeps = m.State == vars.FactsPromised
	}
}

// Hosts share them, and each name is rendered where it is used.
func (there) ownVars(p *variables, t *playbook.Task, c *taskContext, _ bool) *vars.Layer {
	return p.shareLayer(t, nil, "task vars", c.chain)
}

func (there) forgives() bool { return true }

func (there) connect(p *stepPlanner, s *plan.Step, k *plan.Task, c *taskContext, f *plan.Fields, idle bool) {
	e := f.R.Env.(*plan.Env)
	f.At("connection")
	k.Base = p.plan.Root
	if !idle {
		before := len(*e.Took)
		// Which host it is decides what is planned: the values used for it must not be another in the run.
		p.connect(s, k, c, e, f.R)
		p.noteShape(c, "the host of the task", k.Src.Pos, slices.Clone((*e.Took)[before:]))
		k.Remote = s.Conn != nil
		k.Away = k.Remote || s.Become != nil
	}
	p.searching(k, c, f.R)
}

// Plays are full of those.
func (there) checkKeys(*evaluator, *plan.Task, *plan.Renderer) {}

func (there) handFacts(p *stepPlanner, s *plan.Step, k *plan.Task, t *playbook.Task, c *taskContext) {
	p.handOver(s, k, t, c)
}

func (there) setFact(p *stepPlanner, b *vars.Binding, s *plan.Step, k *plan.Task, c *taskContext) {
	if b.Name == "cacheable" {
		return // an option of set_fact, and not a variable
	}
	p.connector.NoteName(b.Name)
	p.noteSetFact(b, s, k, c)
	p.moveLate(c, b, s)
	p.factHost(s, c).Names.Produced.Add(b)
}

// A loop without items is one skipped task in Ansible's output, and not nothing.
func (there) emptyLoop(p *planner, c *taskContext, t *playbook.Task) bool {
	p.planEmptyLoop(c, t, gates.NoItems(t))
	return true
}

func (there) openLoop(s *plan.Scope, c *taskContext) { s.Path = c.path }

func (there) roundVars(p *evaluator, c *taskContext, t *playbook.Task, list []items.Item, i int, made *vars.Layer) *vars.Layer {
	return p.roundOnHost(c, t, list, i, made)
}
