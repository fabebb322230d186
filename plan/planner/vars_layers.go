package planner

import (
	"fmt"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
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

// items evaluates what a loop runs over. late are the values that only the run gives and that it needs; then it is not ok.
func (p *variables) items(c *taskContext, t *playbook.Task) (items []item, typ string, late []value.Missing, ok bool) {
	// Variables of the step itself may feed the loop, and may use its item: those that do are left out here.
	e := p.env(c, c.form.ownVars(p, t, c, true))
	defer p.shaping(e, c, "the loop", t.Loop.Over.Pos())()
	r := p.Renderer(e, c.chain)
	r.Marks = true
	if t.Loop.Kind == playbook.FileTree {
		items, late, ok = p.fileTree(c, t, r)
		return items, "filetree", late, ok
	}
	over := t.Loop.Over
	if t.Loop.Kind == playbook.Lookup {
		items, late, ok = p.lookedUp(t, r, e)
		return items, "items", late, ok
	}
	switch over.Kind() {
	case playbook.List:
		for _, v := range over.Items() {
			one := p.Renderer(e, c.chain)
			one.Marks = true
			val := one.Value(v)
			r.Failed = r.Failed || one.Failed
			items = append(items, item{value: val, open: len(one.Missing) > 0, raw: v, where: e.Frame})
		}
		return items, "items", nil, !r.Failed
	case playbook.Map:
		for _, entry := range over.Entries() {
			items = append(items, item{value: map[string]any{"key": entry.Key, "value": r.Value(entry.Value)}})
		}
		return items, "items", r.Missing, !r.Failed && len(r.Missing) == 0
	case playbook.Null:
		return nil, "", nil, false // the parser has said so
	case playbook.Bool, playbook.Int, playbook.Float:
		p.noList(c, t, plan.Plain(over))
		return nil, "", nil, false
	case playbook.String:
	}
	val := p.LoopValue(r, t)
	if r.Failed {
		return nil, "", nil, false
	}
	if len(r.Missing) > 0 {
		if items, ok := p.resultsOf(over, e); ok {
			return items, "items", nil, true
		}
		return nil, "", r.Missing, false
	}
	list, ok := value.Items(val)
	if !ok {
		p.noList(c, t, val)
		return nil, "", nil, false
	}
	return itemsOf(list), "items", nil, true
}

// itemsOf are values as items of a loop.
func itemsOf(values []any) []item {
	items := make([]item, len(values))
	for i, v := range values {
		items[i].value = v
	}
	return items
}

// lazy makes a layer of variables that are rendered where they are used. What has no template is what it is.
func (p *variables) lazyLayer(entries []playbook.Entry, parent *vars.Layer, from string, chain []string) *vars.Layer {
	if len(entries) == 0 {
		return parent
	}
	l := &vars.Layer{Parent: parent}
	for _, e := range entries {
		l.Add(p.lazyBinding(e.Key, e.Value, from, origin(e.Pos, chain)))
	}
	return l
}

func (p *variables) lazyBinding(name string, v playbook.Value, from string, at diag.Origin) vars.Binding {
	p.connector.NoteName(name)
	b := vars.Binding{Name: name, From: from, Origin: at}
	if plan.TemplatedIn(v) {
		b.Lazy, b.Raw = true, v
		return b
	}
	b.Value = plan.AsWritten(v)
	return b
}

// shareLayer is the layer of a task's `vars` upon others. Hosts share it.
func (p *variables) shareLayer(t *playbook.Task, below *vars.Layer, from string, chain []string) *vars.Layer {
	key := taskKey{t, below}
	if l, ok := p.taskLayers[key]; ok {
		return l
	}
	l := p.lazyLayer(t.StepVars.Entries(), below, from, chain)
	p.taskLayers[key] = l
	return l
}

// paramsLayer are the variables that an include is given, upon others.
func (p *variables) paramsLayer(t *playbook.Task, below *vars.Layer, chain []string) *vars.Layer {
	key := taskKey{t, below}
	if l, ok := p.paramLayers[key]; ok {
		return l
	}
	l := p.lazyLayer(t.StepVars.Entries(), below, "include vars", chain)
	p.paramLayers[key] = l
	return l
}
