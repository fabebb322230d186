package eval

import (
	"moon/plan/eval/call"
	"moon/plan/eval/filters"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

func (s scope) callMethod(n *jinja.Call, f *jinja.Member) (any, error) {
	of, root, err := s.reach(f.Of)
	if err != nil {
		return nil, err
	}
	key, err := s.eval(f.Key)
	if err != nil {
		return nil, err
	}
	name := value.KeyText(key)
	switch of := of.(type) {
	case *cycler:
		return of.call(name, f)
	case *module:
		v, err := s.get(of, key, f)
		if m, ok := v.(*macro); ok && err == nil {
			return s.callMacro(n, name, m)
		}
		if err == nil {
			err = &value.Error{
				Kind: value.TypeError, Message: "`" + name + "` is " + value.KindOf(v) + ", not a macro", Offset: f.KeyAt,
				Width: f.End - f.KeyAt,
			}
		}
		return nil, err
	case *value.Box:
		if jinja.Changes[name] {
			return s.change(n, f, of, name)
		}
	case *loop:
		if name == "cycle" || name == "changed" {
			return of.call(s, n, f, name)
		}
	}
	val, err := s.Settle(of, root)
	err = s.placed(err, f)
	c := &call.Input{Scope: s.forCall(), Name: name, Value: val}
	argErr := s.bind(c, jinja.Takes("..."), n.Args)
	o, isOpen := value.OpenOf(err)
	o2, argsOpen := value.OpenOf(argErr)
	switch {
	case err != nil && !isOpen:
		return nil, err
	case argErr != nil && !argsOpen:
		return nil, argErr
	case isOpen && argsOpen:
		return nil, &value.Open{Missing: value.UniteMissing(o.Missing, o2.Missing)}
	case isOpen:
		return nil, o
	case argsOpen:
		return nil, o2
	}
	if err := s.Spend(1 + size(val)); err != nil {
		return nil, err
	}
	if o, ok := val.(value.Object); !ok || value.IsDict(o) || value.IsPartial(o) {
		if err := c.ExpandAll(); err != nil {
			return nil, s.placed(err, f)
		}
	}
	v, err := filters.RunMethod(c)
	if err != nil {
		return nil, s.calleeError("method", name, err, f.KeyAt, f.End-f.KeyAt)
	}
	return v, nil
}

// change is list.append(x), list.extend(l) and map.update(m) on a value that the template made itself.
func (s scope) change(n *jinja.Call, f *jinja.Member, b *value.Box, name string) (any, error) {
	c := &call.Input{Scope: s.forCall(), Name: name}
	err := s.bind(c, jinja.Takes("..."), n.Args)
	if o, ok := value.OpenOf(err); ok {
		b.Value = &value.Unsettled{Missing: o.Missing}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, isList := b.Value.([]any)
	m, isMap := value.MapOf(b.Value)
	switch {
	case value.IsUnsettled(b.Value):
	case isList && name == "append" && len(c.Rest) == 1:
		b.Value = append(list, c.Rest[0])
	case isList && name == "extend" && len(c.Rest) == 1:
		more, err := value.ItemsOf(c.Rest[0])
		if err != nil {
			return nil, s.calleeError("method", name, err, f.KeyAt, f.End-f.KeyAt)
		}
		if err := s.Spend(len(more)); err != nil {
			return nil, err
		}
		b.Value = append(list, more...)
	case isMap && name == "update":
		more, err := c.CollectFields()
		if err != nil {
			return nil, s.calleeError("method", name, err, f.KeyAt, f.End-f.KeyAt)
		}
		if err := s.Spend(len(m) + more.Len()); err != nil {
			return nil, err
		}
		all := value.NewDict(len(m) + more.Len())
		all.Add(b.Value)
		all.Add(more)
		b.Value = s.FinishMap(all)
	default:
		return nil, unchangeable(f, b.Value, name)
	}
	return nil, nil
}

func unchangeable(f *jinja.Member, v any, name string) *value.Error {
	hint := "build a new list with `+`, or one with `{% set %}` that `append` and `extend` work on"
	if _, ok := value.MapOf(v); ok {
		hint = "build a new map with `| combine(…)`, or one with `{% set %}` that `update` works on"
	}
	return &value.Error{
		Kind: value.TypeError, Message: "method `" + name + "` would change " + value.KindOf(v) + " that does not belong to the template",
		Hint:   hint,
		Offset: f.KeyAt, Width: f.End - f.KeyAt,
	}
}
