package items

import (
	"strconv"

	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner/outline"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// Context describes a round of a loop. What all its rounds share is given in lc. render makes a renderer for the round; hidden is what
// no_log hides.
func (l *Reader) Context(
	t *playbook.Task, list []Item, i int, lc plan.LoopContext, hidden bool, render func() *plan.Renderer,
) plan.LoopContext {
	inOrder := list[i].InOrder()
	lc.Item, lc.Index, lc.First, lc.Last = value.Ordinary(inOrder), i, i == 0, i == len(list)-1
	lc.Ordered = inOrder
	lc.Var, lc.Labelled = t.Loop.Var, !t.Loop.Label.IsZero()
	if lc.Type == "filetree" {
		entry, _ := value.Plain(list[i].Value).(map[string]any)
		lc.Depth, _ = entry["depth"].(int)
	}
	// Labels stand in paths, which are shown and kept: of an item that no_log hides only the number does.
	if hidden && !lc.Labelled {
		lc.Label = strconv.Itoa(i)
		return lc
	}
	label, of := outline.ItemLabel(lc.Item, lc.Index), lc.Ordered
	if lc.Labelled {
		of = render().Value(t.Loop.Label)
		label = plan.FirstLine(value.Text(plan.ForDisplay(of)))
	}
	if lc.Label, lc.Ordered = l.secrets.Redact(label), of; lc.Label != label {
		lc.Ordered = lc.Label
	}
	return lc
}

// OnHost are the variables of one round of a loop in a play, upon others. item is the one that is named as the loop says; extended asks
// for ansible_loop.
func OnHost(t *playbook.Task, list []Item, i int, below *vars.Layer, item vars.Binding, extended bool) *vars.Layer {
	l := &vars.Layer{Parent: below, Binds: []vars.Binding{item}}
	add := func(name string, v any) { l.Add(vars.Binding{Name: name, Value: v, From: "loop", Origin: item.Origin}) }
	if t.Loop.Index != "" {
		add(t.Loop.Index, i)
		add("ansible_index_var", t.Loop.Index)
	}
	add("ansible_loop_var", t.Loop.Var)
	if !extended {
		return l
	}
	// Only on demand, as with Ansible: each round has all items, which is quadratic.
	all := &vars.Rounds{Items: make([]vars.Binding, len(list)), At: i}
	for n, one := range list {
		all.Items[n] = vars.Binding{Name: t.Loop.Var, Value: one.Value, Open: one.Open, Raw: one.Raw, Where: one.Where, Origin: item.Origin}
	}
	add("ansible_loop", all.Extended(func(b *vars.Binding) any { return b.Value }))
	if all.AnyOpen() {
		last := &l.Binds[len(l.Binds)-1]
		last.Open, last.Rounds = true, all
	}
	return l
}
