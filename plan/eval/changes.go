package eval

import (
	"slices"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// change calls a method that changes a list or map for the text that is rendered: the value itself, which may be that of a variable, stays
// as it was for all others. So does Ansible, which gives each text its own copies.
func (s scope) change(n *jinja.Call, f *jinja.Member, of any, name string) (any, error) {
	c := &call.Input{Scope: s.forCall(), Name: name}
	err := s.bind(c, jinja.Takes("..."), n.Args)
	// What it holds from now on is not known, so all that reads it is open.
	if o, ok := value.OpenOf(err); ok {
		s.Changes.Change(of, &value.Unsettled{Missing: o.Missing})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if s.intoItself(c, of) {
		e := value.Errorf(value.TypeError, "add a copy: `.copy()`", "would put %s into itself", value.KindOf(of))
		return nil, s.calleeError("method", name, e, f.KeyAt, f.End-f.KeyAt)
	}
	var now, given any
	switch was := s.Changes.Now(of).(type) {
	case *value.Unsettled: // it stays open, whatever is done with it
		return nil, nil
	case []any:
		now, given, err = changedList(c, was)
	default:
		now, given, err = s.changedMap(c, was)
	}
	if err == nil && !s.Changes.Change(of, now) {
		err = &value.Error{
			Kind: value.TypeError, Message: "would change " + value.KindOf(of) + " that has no name in the template", Offset: -1,
			Hint: "give it one first: `{% set x = … %}`",
		}
	}
	if err != nil {
		return nil, s.calleeError("method", name, err, f.KeyAt, f.End-f.KeyAt)
	}
	return given, nil
}

// intoItself reports whether a method would make a value that has no end. It also makes the arguments ones that can be told apart.
func (s scope) intoItself(c *call.Input, of any) bool {
	holds := s.Changes.Holds
	if c.Name == "extend" || c.Name == "update" { // which take what is in their arguments
		holds = s.Changes.HoldsInside
	}
	for i := range c.Rest {
		c.Rest[i] = value.Distinct(c.Rest[i])
		if holds(c.Rest[i], of) {
			return true
		}
	}
	for name, v := range c.Named {
		c.Named[name] = value.Distinct(v)
		if s.Changes.Holds(c.Named[name], of) {
			return true
		}
	}
	return false
}

// changedList is what a method makes of a list, and what it gives. A list is copied where that is not at its end.
func changedList(c *call.Input, was []any) (now, given any, err error) {
	takes := func(least, most int) error { return takesArguments(c, least, most) }
	at := func(i int) (int, error) {
		at, ok := value.IndexFor(c.Rest[i])
		if !ok {
			return 0, value.Errorf(value.TypeError, "", "needs a position, not %s", value.KindOf(c.Rest[i]))
		}
		return value.FromEnd(at, len(was)), nil
	}
	switch c.Name {
	case "append":
		if err := takes(1, 1); err != nil {
			return nil, nil, err
		}
		return append(was, c.Rest[0]), nil, nil
	case "extend":
		if err := takes(1, 1); err != nil {
			return nil, nil, err
		}
		more, err := value.ItemsOf(c.Rest[0])
		if err != nil {
			return nil, nil, err
		}
		if err := c.Spend(len(more)); err != nil {
			return nil, nil, err
		}
		return append(was, more...), nil, nil
	}
	if err := c.Spend(1 + len(was)/16); err != nil {
		return nil, nil, err
	}
	own := slices.Clone(was)
	switch c.Name {
	case "insert":
		if err := takes(2, 2); err != nil {
			return nil, nil, err
		}
		i, err := at(0)
		if err != nil {
			return nil, nil, err
		}
		return slices.Insert(own, min(max(i, 0), len(own)), c.Rest[1]), nil, nil
	case "pop":
		if err := takes(0, 1); err != nil {
			return nil, nil, err
		}
		i := len(own) - 1
		if len(c.Rest) > 0 {
			if i, err = at(0); err != nil {
				return nil, nil, err
			}
		}
		if i < 0 || i >= len(own) {
			return nil, nil, value.Errorf(value.Failure, "", "the list has %s", jinja.Counted(len(own), "item"))
		}
		return slices.Delete(own, i, i+1), was[i], nil
	case "remove":
		if err := takes(1, 1); err != nil {
			return nil, nil, err
		}
		i := slices.IndexFunc(own, func(v any) bool { return value.Equal(v, c.Rest[0]) })
		if i < 0 {
			return nil, nil, value.Errorf(value.Failure, "", "the list does not contain it")
		}
		return slices.Delete(own, i, i+1), nil, nil
	case "clear":
		return make([]any, 0, 1), nil, takes(0, 0)
	case "reverse":
		slices.Reverse(own)
		return own, nil, takes(0, 0)
	}
	return nil, nil, unchangeable(c, was)
}

// changedMap is what a method makes of a map, and what it gives: another map each time.
func (s scope) changedMap(c *call.Input, was any) (now, given any, err error) {
	m, _ := value.MapOf(was)
	if err := c.Spend(1 + len(m)/16); err != nil {
		return nil, nil, err
	}
	all := value.NewDict(len(m) + 1)
	all.Add(was)
	switch c.Name {
	case "update":
		more, err := c.CollectFields()
		if err != nil {
			return nil, nil, err
		}
		if err := c.Spend(len(m) + more.Len()); err != nil {
			return nil, nil, err
		}
		all.Add(more)
		return s.FinishMap(all), nil, nil
	case "setdefault":
		if err := takesArguments(c, 1, 2); err != nil {
			return nil, nil, err
		}
		if v, ok := m[value.KeyText(c.Rest[0])]; ok {
			return was, v, nil
		}
		var v any
		if len(c.Rest) > 1 {
			v = c.Rest[1]
		}
		all.SetAny(c.Rest[0], v)
		return s.FinishMap(all), v, nil
	case "pop":
		if err := takesArguments(c, 1, 2); err != nil {
			return nil, nil, err
		}
		key := value.KeyText(c.Rest[0])
		v, ok := m[key]
		switch {
		case !ok && len(c.Rest) > 1:
			return was, c.Rest[1], nil
		case !ok:
			return nil, nil, value.Errorf(value.Failure, "give a default: `pop(…, none)`", "the map has no `%s`", key)
		}
		rest := value.NewDict(len(m))
		for _, name := range value.KeysOf(was) {
			if name != key {
				rest.SetNamed(name, value.KeyOf(was, name), m[name])
			}
		}
		return s.FinishMap(rest), v, nil
	case "clear":
		return s.FinishMap(value.NewDict(0)), nil, takesArguments(c, 0, 0)
	}
	return nil, nil, unchangeable(c, was)
}

func takesArguments(c *call.Input, least, most int) error {
	if n := len(c.Rest); n < least || n > most || len(c.Named) > 0 {
		return value.Errorf(value.TypeError, "", "cannot take these arguments: Python's takes %d to %d, without names", least, most)
	}
	return nil
}

// unchangeable refuses what is not a method of a value, or one that no list or map of a template has.
func unchangeable(c *call.Input, v any) error {
	hint := "lists have `append`, `extend`, `insert`, `pop`, `remove`, `clear` and `reverse`, and `| sort`"
	if _, isMap := value.MapOf(v); isMap {
		hint = "maps have `update`, `setdefault`, `pop` and `clear`"
	}
	return value.Errorf(value.TypeError, hint, "does not exist for %s here", value.KindOf(v))
}
