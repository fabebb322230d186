package planner

import (
	"fmt"

	"moon/plan/eval/value"
	"moon/plan/planner/items"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// unset makes of the names that excluded `vars` would set, and that have no other value, names without one, each with the reason. They
// are not steps, so that nothing can be skipped because of one.
func (p *variables) unset(c *taskContext, t *playbook.Task) {
	for _, e := range t.Args.Entries() {
		if _, ok := p.env(c, nil).Lookup(e.Key); ok {
			continue
		}
		why := fmt.Sprintf("the vars at %s:%d, which set it, are excluded by tags", t.Pos.File, t.Pos.Line)
		p.names.Document.Add(&vars.Binding{Name: e.Key, From: "vars", Origin: origin(e.Pos, c.chain), Value: value.Fault{
			Absent: true,
			Err: &value.Error{
				Kind: value.UndefinedError, Message: why, Hint: "ask for their tags too, or give the value with -e", Offset: -1,
			},
		}})
	}
}

// itemsOf evaluates what a loop runs over.
func (p *variables) itemsOf(c *taskContext, t *playbook.Task) (list []items.Item, typ string, late []value.Missing, ok bool) {
	// Variables of the step itself may feed the loop, and may use its item: those that do are left out here.
	e := p.env(c, c.form.ownVars(p, t, c, true)).Early()
	defer p.shaping(e, c, "the loop", t.Loop.Over.Pos())()
	return p.loops.Items(t, e, items.Site{Dir: c.dir, Chain: c.chain})
}

// shareLayer is the layer of a task's `vars`, if it has any, upon others. Hosts share it.
func (p *variables) shareLayer(t *playbook.Task, below *vars.Layer, from string, chain []string) *vars.Layer {
	if t.StepVars.Kind() != playbook.Map {
		return below
	}
	key := taskKey{t, below, from}
	if l, ok := p.taskLayers[key]; ok {
		return l
	}
	l := p.bindings.Lazy(t.StepVars.Entries(), below, from, chain)
	p.taskLayers[key] = l
	return l
}
