package eval

import (
	"errors"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// loop is {% for %} while it runs, and the variable of that name.
type loop struct {
	tag   *jinja.ForTag
	outer tagRunner // of the loop itself
	items []any
	at    int
	depth int // of loops that call themselves
	last  any // what changed was asked about
	asked bool
}

// Kind implements Thing.
func (*loop) Kind() string { return "a loop" }

// runFor runs a {% for %}.
func (s tagRunner) runFor(st *jinja.ForTag) error {
	v, err := s.evalNamed(st.In)
	if err != nil {
		return err
	}
	if err := s.Spend(1); err != nil {
		return err
	}
	return s.runOver(st, v, st.In, 0)
}

// runOver runs the body for each item of a value that the condition of the loop holds for. from is where the value is written.
func (s tagRunner) runOver(st *jinja.ForTag, v any, from jinja.Node, depth int) error {
	items, err := s.itemsToLoop(st, v, from)
	// All items are chosen before the first runs, as in Jinja: loop.index and loop.last count only those.
	if err == nil && st.Cond != nil {
		items, err = s.chooseItems(st, items)
	}
	if err != nil {
		return err
	}
	if len(items) == 0 {
		// Also if there were items and the condition held for none.
		return s.openBlock().run(st.Empty)
	}
	// One for all rounds: loop.changed compares with the round before.
	l := &loop{tag: st, outer: s, items: items, depth: depth}
	for i, item := range items {
		l.at = i
		// Names that a round sets end with it, as in Jinja; a namespace is what survives.
		inner := s.openBlock()
		bindItem(st, inner.locals, item)
		inner.locals.Set("loop", l)
		err := inner.run(st.Body)
		if errors.Is(err, errBreak) {
			return nil
		}
		if err != nil && !errors.Is(err, errContinue) {
			return err
		}
	}
	return nil
}

// itemsToLoop gives the items of a loop, each fit for the number of names.
func (s scope) itemsToLoop(st *jinja.ForTag, v any, from jinja.Node) ([]any, error) {
	if _, ok := value.MapOf(v); ok && len(st.Names) == 2 {
		v = value.Pairs(v) // Jinja wants .items(); playbooks are written without
	}
	items, err := value.ItemsOf(v)
	if _, ok := value.OpenOf(err); ok {
		return nil, err
	}
	if err != nil {
		return nil, value.PlaceError(value.Errorf(value.TypeError, "", "cannot loop over %s", value.KindOf(v)), from)
	}
	// Binding names costs, even if the body is empty.
	if err := s.Spend(5 * len(items)); err != nil {
		return nil, err
	}
	if len(st.Names) > 1 {
		// Checked before the first round, so that nothing is written of a loop that will fail.
		for _, item := range items {
			if e := unpackable(item, len(st.Names)); e != nil {
				return nil, value.PlaceError(e, from)
			}
		}
	}
	return items, nil
}

func (s tagRunner) chooseItems(st *jinja.ForTag, items []any) ([]any, error) {
	var chosen []any
	inner := s.openBlock()
	for _, item := range items {
		// One block for all items: a condition cannot keep it.
		inner.locals.Clear()
		bindItem(st, inner.locals, item)
		holds, err := inner.evalCondition(st.Cond)
		if err != nil {
			return nil, err
		}
		if holds {
			chosen = append(chosen, item)
		}
	}
	return chosen, nil
}

// bindItem gives the names of a loop an item, which has been found to fit.
func bindItem(st *jinja.ForTag, to *call.Names, item any) {
	if len(st.Names) == 1 {
		to.Set(st.Names[0], item)
		return
	}
	for i, name := range st.Names {
		to.Set(name, item.([]any)[i])
	}
}

// attribute is loop.name. Before the first item and behind the last there is none: that is nothing in the step form, and
// undefined in plays.
func (l *loop) attribute(name string) (any, bool) {
	switch name {
	case "index":
		return l.at + 1, true
	case "index0":
		return l.at, true
	case "revindex":
		return len(l.items) - l.at, true
	case "revindex0":
		return len(l.items) - l.at - 1, true
	case "first":
		return l.at == 0, true
	case "last":
		return l.at == len(l.items)-1, true
	case "length":
		return len(l.items), true
	case "depth":
		return l.depth + 1, true
	case "depth0":
		return l.depth, true
	case "previtem":
		return l.neighbour(l.at - 1)
	case "nextitem":
		return l.neighbour(l.at + 1)
	}
	return nil, false
}

func (l *loop) neighbour(i int) (any, bool) {
	if i < 0 || i >= len(l.items) {
		return nil, formOf(l.outer.Dialect).pastLoop
	}
	return l.items[i], true
}

// call is loop.cycle(a, b) and loop.changed(x).
func (l *loop) call(s scope, n *jinja.Call, f *jinja.Member, name string) (any, error) {
	args, err := s.evalPositional(n, "loop."+name)
	if err != nil {
		return nil, err
	}
	if err := s.Spend(20); err != nil {
		return nil, err
	}
	if name == "cycle" {
		if len(args) == 0 {
			return nil, &value.Error{
				Kind: value.TypeError, Message: "`loop.cycle` needs at least one item", Offset: f.KeyAt,
				Width: f.End - f.KeyAt,
			}
		}
		return args[l.at%len(args)], nil
	}
	var now any = args
	// Several arguments count as a list, and change if one of them does.
	if len(args) == 1 {
		now = args[0]
	}
	changed := !l.asked || !value.Equal(l.last, now)
	l.last, l.asked = now, true
	return changed, nil
}

// evalPositional evaluates the arguments of what takes none by name.
func (s scope) evalPositional(n *jinja.Call, of string) ([]any, error) {
	nodes := make([]jinja.Node, len(n.Args))
	for i, a := range n.Args {
		if a.Name != "" {
			return nil, &value.Error{
				Kind: value.TypeError, Message: "`" + of + "` has no argument `" + a.Name + "`", Offset: a.At,
				Width: len(a.Name),
			}
		}
		nodes[i] = a.Value
	}
	return s.evalAll(nodes)
}

// callAgain is loop(items): the loop runs with other items, and gives what it writes.
func (l *loop) callAgain(s scope, n *jinja.Call, f *jinja.Variable) (any, error) {
	if !l.tag.Recursive {
		return nil, &value.Error{
			Kind: value.TypeError, Message: "`loop` is not a function",
			Hint:   "write `recursive` at the end of its `{% for %}`, so that it can call itself",
			Offset: f.Offset(), Width: len(f.Name),
		}
	}
	args, err := s.evalPositional(n, "loop")
	if err != nil {
		return nil, err
	}
	if len(args) != 1 {
		return nil, &value.Error{
			Kind: value.TypeError, Message: "`loop` needs the items to loop over, and nothing else", Offset: f.Offset(),
			Width: len(f.Name),
		}
	}
	leave, err := s.enterCall("loop", n)
	if err != nil {
		return nil, err
	}
	defer leave()
	// In the scope where the loop stands, not where it is called: each level starts from the same names.
	text, err := l.outer.captureText(func(inner tagRunner) error { return inner.runOver(l.tag, args[0], n.Args[0].Value, l.depth+1) })
	if err != nil {
		return nil, err
	}
	return text, nil
}
