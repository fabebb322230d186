package plan

import (
	"slices"

	"moon/plan/eval"
	"moon/plan/playbook"
)

// earlier are the items of a loop before one, of which the first that break_when holds for ends the loop.
type earlier struct{ steps []int }

// byBreak reports whether an item before has ended the loop.
func (r *renderer) byBreak(c *earlier) (yes, known bool) {
	e, isEnv := r.env.(*env)
	if !isEnv || e.results == nil {
		return false, false
	}
	return slices.ContainsFunc(c.steps, e.breaks), true
}

// breaks reports whether break_when holds for an item that has run.
func (e *env) breaks(step int) bool {
	k := e.plan.Steps[step].task
	got, ok := e.results.Registered(step)
	if !ok || len(k.breaks) == 0 {
		return false
	}
	with := &env{plan: e.plan, engine: e.engine, frame: k.frame, results: e.results}
	if k.src.Register != "" {
		with.extra = map[string]any{k.src.Register: asValue(got)}
	}
	r := &renderer{engine: e.engine, env: with}
	v := r.decide(k.breaks)
	return v.known && v.holds
}

// breaking puts before the conditions of an item that no item before it has ended the loop.
func (p *stepPlanner) breaking(k *task, s *Step, c *scopeContext) {
	if len(k.breaks) == 0 || c.item == nil {
		return
	}
	s.Keeps = true
	scope := &p.plan.Scopes[c.scope]
	if scope.First == s.Index {
		return
	}
	before := &earlier{}
	for i := scope.First; i < s.Index; i++ {
		before.steps = append(before.steps, i)
	}
	text := whenText(k.breaks)
	k.when = append([]condition{{value: playbook.Written(k.src.BreakWhen[0].Pos(), "not ("+text+")"), broke: before}}, k.when...)
}

// waitsForBreak is what an item waits for until it is known whether it is there.
func waitsForBreak(c *earlier) []eval.Missing {
	return []eval.Missing{{Name: breakName, Steps: c.steps[len(c.steps)-1:]}}
}

// breakName stands for the items before one where it waits for them.
const breakName = "the item before"
