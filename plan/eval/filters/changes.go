package filters

import (
	"slices"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// RunChange calls a method that changes a list or map, of which was is what it looks like now. It gives what it looks like from now on, and
// what the method returns. Was itself never changes, but for room at the end of a list.
func RunChange(c *call.Input, was any) (now, given any, err error) {
	if list, ok := was.([]any); ok {
		return changedList(c, list)
	}
	return changedMap(c, was)
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
	// The others move items: what was handed out of the list before must not see that.
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
	return nil, nil, unchangeable(was)
}

// changedMap is what a method makes of a map, and what it gives: another map each time.
func changedMap(c *call.Input, was any) (now, given any, err error) {
	m, _ := value.MapOf(was)
	if err := c.Spend(1 + len(m)/16); err != nil {
		return nil, nil, err
	}
	// Never in place: the map may be that of a variable.
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
		return c.FinishMap(all), nil, nil
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
		return c.FinishMap(all), v, nil
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
		return c.FinishMap(rest), v, nil
	case "clear":
		return c.FinishMap(value.NewDict(0)), nil, takesArguments(c, 0, 0)
	}
	return nil, nil, unchangeable(was)
}

func takesArguments(c *call.Input, least, most int) error {
	if n := len(c.Rest); n < least || n > most || len(c.Named) > 0 {
		return value.Errorf(value.TypeError, "", "cannot take these arguments: Python's takes %d to %d, without names", least, most)
	}
	return nil
}

// unchangeable refuses what is not a method of a value, or one that no list or map of a template has.
func unchangeable(v any) error {
	hint := "lists have `append`, `extend`, `insert`, `pop`, `remove`, `clear` and `reverse`, and `| sort`"
	if _, isMap := value.MapOf(v); isMap {
		hint = "maps have `update`, `setdefault`, `pop` and `clear`"
	}
	return value.Errorf(value.TypeError, hint, "does not exist for %s here", value.KindOf(v))
}
