package planner

import (
	"slices"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/loops"
	"moon/plan/planner/connect"
	"moon/plan/playbook"
	"moon/plan/saved"
	"moon/plan/vars"
)

// closed are the actions whose rounds other parts of the plan must know: hosts of later plays, their facts, their order.
var closed = []string{"add_host", "group_by", "meta", "setup", "gather_facts"}

// opens reports whether a loop can be an open place.
func (p *playsState) opens(t *playbook.Task, late []value.Missing) bool {
	if t.Kind != playbook.Action || slices.Contains(closed, t.Action) || t.Loop.Kind == playbook.FileTree {
		return false
	}
	// What an excluded step would have given never comes.
	steps := plan.StepsOf(late)
	facts := func(step int) bool { return step < len(p.plan.Steps) && p.plan.Steps[step].Action == "setup" }
	if p.o.Unseen != nil && !slices.ContainsFunc(steps, func(step int) bool { return !facts(step) }) {
		return false // a survey, which asks no host
	}
	return len(steps) > 0 && len((&plan.Env{Plan: p.plan}).Coming(steps)) == len(steps)
}

// findItems plans the step of an open loop. Where the run has found the items, it gives them.
func (p *playsState) findItems(c *taskContext, t *playbook.Task, late []value.Missing) (items []item, found bool) {
	if !p.opens(t, late) {
		p.unknownLoop(c, t, late)
		return nil, false
	}
	if !p.HasRoom(1, t.Pos, c.chain) {
		return nil, false
	}
	with := *c
	// Its conditions are asked for each item, and for the place only if there is no list.
	with.when, with.finds = nil, &plan.Finding{Src: t, Guard: c.when}
	// Only the rounds have these, which may name the item: the place itself runs nothing.
	with.env, with.cwd, with.delegate, with.become = nil, playbook.Value{}, playbook.Value{}, connect.Become{}
	with.inherit.checkMode, with.inherit.timeout, with.inherit.diff = playbook.Value{}, playbook.Value{}, playbook.Value{}
	step := len(p.plan.Steps)
	p.planStep(&with, p.finder(t))
	if step == len(p.plan.Steps) {
		return nil, false
	}
	s := &p.plan.Steps[step]
	of, found := p.o.Opened[p.secrets.Redact(s.Path)]
	if !found {
		p.promise(t, s, c)
		return nil, false
	}
	s.Place.Opened, s.Place.Items = true, len(of.Items)
	return itemsOf(saved.Items(of, p.secrets, c.play != nil)), true
}

// finder is the task of the step of an open loop. Hosts share it, as what is keyed by a task must see one task.
func (p *playsState) finder(t *playbook.Task) *playbook.Task {
	f, ok := p.finders[t]
	if !ok {
		f = &playbook.Task{
			Kind: playbook.Action, Pos: t.Pos, Action: plan.FinderAction, ActionKey: plan.FinderAction, ActionPos: t.Loop.Pos,
			Name: t.Name, NoLog: t.NoLog, StepVars: t.StepVars,
			Loop: playbook.Loop{Var: t.Loop.Var, Index: t.Loop.Index}, PlayTask: new(playbook.PlayTask),
		}
		if f.Name.IsZero() {
			name, _ := loops.Name(t)
			f.Name = playbook.Written(t.Pos, name)
		}
		p.finders[t] = f
	}
	return f
}

// promise makes the names wait for the step of an open loop that its rounds will set.
func (p *playsState) promise(t *playbook.Task, s *plan.Step, c *taskContext) {
	if t.Register != "" {
		p.names.Produced.Add(&vars.Binding{
			Name: t.Register, From: "register", Origin: origin(t.RegisterPos, c.chain), How: vars.Registered,
			Steps: []int{s.Index}, By: t,
		})
	}
	if t.Action != "set_fact" {
		return
	}
	for _, g := range p.CompileTask(t, c.chain).Args {
		c.form.setFact(&p.stepPlanner, &vars.Binding{
			Name: g.Name, From: t.Action, Origin: origin(g.Value.Pos(), c.chain), How: vars.Assigned, Steps: []int{s.Index}, By: t,
		}, s, s.Task, c)
	}
}

// saysNo reports whether the conditions of a task are known to be false without an item.
func (p *playsState) saysNo(c *taskContext) bool {
	quiet := p.Renderer(p.env(c, nil), c.chain)
	quiet.Report = func(diag.Diagnostic) {}
	v := quiet.Decide(c.when)
	return v.Known && !v.Holds && !quiet.Failed
}
