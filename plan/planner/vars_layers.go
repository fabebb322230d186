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

// items evaluates what a loop runs over.
func (p *variables) items(c *taskContext, t *playbook.Task) (items []item, typ string, ok bool) {
	// Variables of the step itself may feed the loop, and may use its item: those that do are left out here.
	e := p.env(c, c.form.ownVars(p, t, c, true))
	defer p.shaping(e, c, "the loop", t.Loop.Over.Pos())()
	r := p.Renderer(e, c.chain)
	r.Marks = true
	if t.Loop.Kind == playbook.FileTree {
		items, ok = p.fileTree(c, t, r)
		return items, "filetree", ok
	}
	over := t.Loop.Over
	if t.Loop.Kind == playbook.Lookup {
		return p.lookedUp(t, r, e)
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
		return items, "items", !r.Failed
	case playbook.Map:
		for _, entry := range over.Entries() {
			items = append(items, item{value: map[string]any{"key": entry.Key, "value": r.Value(entry.Value)}})
		}
		if len(r.Missing) > 0 {
			p.unknownLoop(c, t, r.Missing)
			return nil, "", false
		}
		return items, "items", !r.Failed
	case playbook.Null:
		return nil, "", false // the parser has said so
	case playbook.Bool, playbook.Int, playbook.Float:
		p.noList(c, t, plan.Plain(over))
		return nil, "", false
	case playbook.String:
	}
	val := p.LoopValue(r, t)
	if r.Failed {
		return nil, "", false
	}
	if len(r.Missing) > 0 {
		if items, ok := p.resultsOf(over, e); ok {
			return items, "items", true
		}
		p.unknownLoop(c, t, r.Missing)
		return nil, "", false
	}
	switch val := val.(type) {
	case []any:
		items = make([]item, len(val))
		for i, v := range val {
			items[i].value = v
		}
	case map[string]any:
		for _, k := range plan.SortedKeys(val) {
			items = append(items, item{value: map[string]any{"key": k, "value": val[k]}})
		}
	case *value.Dict:
		for _, k := range val.Keys() {
			v, _ := val.Get(k)
			items = append(items, item{value: map[string]any{"key": k, "value": v}})
		}
	default:
		p.noList(c, t, val)
		return nil, "", false
	}
	return items, "items", true
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
