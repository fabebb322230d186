package call

import (
	"slices"

	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// Unset marks a parameter without argument.
type Unset struct{}

// Input is one call of a filter, test, method or function.
type Input struct {
	Scope
	Name  string
	Value any   // what stands before the bar; unused by functions
	Err   error // why there is no value; only callees that guard see it
	Args  []any // one per declared parameter, Unset{} if not given
	Rest  []any
	Named map[string]any // of open parameters
	order []string       // in which the named ones were given
	Dir   string         // of a lookup for a loop: where the action searches its files
}

// Has reports whether argument i is given.
func (c *Input) Has(i int) bool {
	if i >= len(c.Args) {
		return false
	}
	_, missing := c.Args[i].(Unset)
	return !missing
}

// Arg gives argument i, nil if it is not given.
func (c *Input) Arg(i int) any {
	if !c.Has(i) {
		return nil
	}
	return c.Args[i]
}

// ArgText gives argument i as text.
func (c *Input) ArgText(i int, otherwise string) string {
	if !c.Has(i) {
		return otherwise
	}
	return c.Print(c.Args[i])
}

// ArgTruth reports whether argument i is given and holds.
func (c *Input) ArgTruth(i int) bool { return c.Has(i) && value.Truthy(c.Args[i]) }

// ArgInt gives argument i, which must be a whole number.
func (c *Input) ArgInt(i, otherwise int) (int, error) {
	if !c.Has(i) || c.Args[i] == nil {
		return otherwise, nil
	}
	n, ok := value.NumberOf(c.Args[i])
	if ok {
		switch n := n.(type) {
		case int:
			return n, nil
		case float64:
			// What was computed may be a float although it is whole: 10 / 2.
			if n == float64(int(n)) {
				return int(n), nil
			}
		}
	}
	return 0, value.Errorf(value.TypeError, "", "must be a whole number, not %s", value.KindOf(c.Args[i]))
}

// ValueText gives the value, which must be text or print as text.
func (c *Input) ValueText() (string, error) {
	switch c.Value.(type) {
	case []any, map[string]any, *value.Dict:
		// In steps a list here is a mistake; in plays filters of text work on what it prints as.
		if err := c.manner().fitsText(c.Value); err != nil {
			return "", err
		}
	}
	return c.Print(c.Value), nil
}

// ValueItems gives the value as a list: the items of a list, the keys of a map, the characters of a string.
func (c *Input) ValueItems() ([]any, error) { return value.ItemsOf(c.Value) }

// ValueMap gives the value, which must be a map of either kind.
func (c *Input) ValueMap() (any, error) {
	if _, ok := value.MapOf(c.Value); !ok {
		return nil, value.Errorf(value.TypeError, "", "needs a map, not %s", value.KindOf(c.Value))
	}
	return c.Value, nil
}

// Fill puts each argument in the place of its parameter. The parser has checked their number and names.
func (c *Input) Fill(p jinja.Params, args []jinja.Argument, values []any) {
	c.Args = make([]any, len(p.Names))
	for i := range c.Args {
		// Not nil: null is an argument too, and differs from none.
		c.Args[i] = Unset{}
	}
	for i, a := range args {
		switch place := slices.Index(p.Names, a.Name); {
		case place >= 0 && a.Name != "":
			c.Args[place] = values[i]
		case a.Name != "":
			if c.Named == nil {
				c.Named = map[string]any{}
			}
			c.Named[a.Name] = values[i]
			// Go's maps forget it, and dict(b=1, a=2) must not.
			c.order = append(c.order, a.Name)
		// Positional ones fill no parameters then, which are by name alone.
		case p.Rest || p.Open:
			c.Rest = append(c.Rest, values[i])
		default:
			c.Args[i] = values[i]
		}
	}
}

// CollectFields gives the arguments of dict and namespace: maps first, then names.
func (c *Input) CollectFields() (*value.Dict, error) {
	m := value.NewDict(len(c.Named))
	for _, v := range c.Rest {
		switch v := v.(type) {
		case map[string]any, *value.Dict:
			m.Add(v)
		case []any:
			for _, item := range v {
				pair, err := value.ItemsOf(item) // also a text of two characters, as in Python
				if err != nil || len(pair) != 2 {
					return nil, value.Errorf(value.TypeError, "", "needs a list of pairs")
				}
				m.SetAny(pair[0], pair[1])
			}
		default:
			return nil, value.Errorf(value.TypeError, "", "needs a map, not %s", value.KindOf(v))
		}
	}
	// Behind the maps, so that names win, as in Python's dict(m, a=1).
	for _, name := range c.order {
		m.Set(name, c.Named[name])
	}
	return m, nil
}

// ExpandAll is ExpandObjects for the value and the arguments of a call.
func (c *Input) ExpandAll() error {
	// Nearly always: then nothing has to be searched.
	if !c.Objects {
		return nil
	}
	var missing []value.Missing
	one := func(v any) (any, error) {
		plain, err := c.ExpandObjects(v)
		if o, ok := value.OpenOf(err); ok {
			// The others are looked at too, so that all that is missing is named.
			missing = value.UniteMissing(missing, o.Missing)
			return nil, nil
		}
		return plain, err
	}
	var err error
	if c.Value, err = one(c.Value); err != nil {
		return err
	}
	for _, list := range [][]any{c.Args, c.Rest} {
		for i := range list {
			if list[i], err = one(list[i]); err != nil {
				return err
			}
		}
	}
	for name := range c.Named {
		if c.Named[name], err = one(c.Named[name]); err != nil {
			return err
		}
	}
	if missing != nil {
		return &value.Open{Missing: missing}
	}
	return nil
}
