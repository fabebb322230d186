package eval

import "errors"

// loop is {% for %} while it runs, and the variable of that name.
type loop struct {
	tag   *forTag
	scope scope // around it
	items []any
	at    int
	depth int // of loops that call themselves
	last  any // what changed was asked about
	asked bool
}

// runFor runs a {% for %}.
func (s scope) runFor(st *forTag) error {
	v, err := s.evalNamed(st.in)
	if err != nil {
		return err
	}
	if err := s.spend(1); err != nil {
		return err
	}
	return s.runOver(st, v, st.in, 0)
}

// runOver runs the body for each item of a value that the condition of the loop holds for. from is where the value is written.
func (s scope) runOver(st *forTag, v any, from node, depth int) error {
	items, err := s.itemsToLoop(st, v, from)
	if err == nil && st.cond != nil {
		items, err = s.chooseItems(st, items)
	}
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return s.openBlock().run(st.empty)
	}
	l := &loop{tag: st, scope: s, items: items, depth: depth}
	for i, item := range items {
		l.at = i
		inner := s.openBlock()
		st.bindItem(inner.locals, item)
		inner.locals.set("loop", l)
		err := inner.run(st.body)
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
func (s scope) itemsToLoop(st *forTag, v any, from node) ([]any, error) {
	if _, ok := mapOf(v); ok && len(st.names) == 2 {
		v = pairs(v) // Jinja wants .items(); playbooks are written without
	}
	items, err := itemsOf(v)
	if _, ok := openOf(err); ok {
		return nil, err
	}
	if err != nil {
		return nil, placed(fault(Type, "", "cannot loop over %s", kindOf(v)), from)
	}
	if err := s.spend(5 * len(items)); err != nil {
		return nil, err
	}
	if len(st.names) > 1 {
		for _, item := range items {
			if e := unpackable(item, len(st.names)); e != nil {
				return nil, placed(e, from)
			}
		}
	}
	return items, nil
}

func (s scope) chooseItems(st *forTag, items []any) ([]any, error) {
	var chosen []any
	inner := s.openBlock()
	for _, item := range items {
		inner.locals.clear()
		st.bindItem(inner.locals, item)
		holds, err := inner.evalCondition(st.cond)
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
func (st *forTag) bindItem(to *names, item any) {
	if len(st.names) == 1 {
		to.set(st.names[0], item)
		return
	}
	for i, name := range st.names {
		to.set(name, item.([]any)[i])
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
		return nil, !l.scope.engine.Python
	}
	return l.items[i], true
}

// call is loop.cycle(a, b) and loop.changed(x).
func (l *loop) call(s scope, n *call, f *member, name string) (any, error) {
	args, err := s.evalPositional(n, "loop."+name)
	if err != nil {
		return nil, err
	}
	if err := s.spend(20); err != nil {
		return nil, err
	}
	if name == "cycle" {
		if len(args) == 0 {
			return nil, &Error{Kind: Type, Message: "`loop.cycle` needs at least one item", Offset: f.keyAt, Width: f.end - f.keyAt}
		}
		return args[l.at%len(args)], nil
	}
	var now any = args
	if len(args) == 1 {
		now = args[0]
	}
	changed := !l.asked || !equal(l.last, now)
	l.last, l.asked = now, true
	return changed, nil
}

// evalPositional evaluates the arguments of what takes none by name.
func (s scope) evalPositional(n *call, of string) ([]any, error) {
	nodes := make([]node, len(n.args))
	for i, a := range n.args {
		if a.name != "" {
			return nil, &Error{Kind: Type, Message: "`" + of + "` has no argument `" + a.name + "`", Offset: a.at, Width: len(a.name)}
		}
		nodes[i] = a.value
	}
	return s.evalAll(nodes)
}

// callAgain is loop(items): the loop runs with other items, and gives what it writes.
func (l *loop) callAgain(s scope, n *call, f *variable) (any, error) {
	if !l.tag.recursive {
		return nil, &Error{
			Kind: Type, Message: "`loop` is not a function", Hint: "write `recursive` at the end of its `{% for %}`, so that it can call itself",
			Offset: f.offset(), Width: len(f.name),
		}
	}
	args, err := s.evalPositional(n, "loop")
	if err != nil {
		return nil, err
	}
	if len(args) != 1 {
		return nil, &Error{Kind: Type, Message: "`loop` needs the items to loop over, and nothing else", Offset: f.offset(), Width: len(f.name)}
	}
	leave, err := s.enterCall("loop", n)
	if err != nil {
		return nil, err
	}
	defer leave()
	text, err := l.scope.captureText(func(inner scope) error { return inner.runOver(l.tag, args[0], n.args[0].value, l.depth+1) })
	if err != nil {
		return nil, err
	}
	return text, nil
}
