package eval

import (
	"slices"
	"strings"

	"moon/internal/suggest"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// reach gives what a chain of members leads to, as it is stored: parts of it may be unknown. root is the variable at
// the beginning.
func (s scope) reach(n jinja.Node) (v any, root string, err error) {
	if v, root, ok := s.element(n); ok {
		v, err = s.stored(v, root, n)
		return v, root, err
	}
	switch n := n.(type) {
	case *jinja.Variable:
		v, err := s.lookup(n)
		return v, n.Name, err
	case *jinja.Member:
		err = s.deeper(n)
		var of any
		if err == nil {
			of, root, err = s.reach(n.Of)
		}
		// In any case, since deeper counts before it refuses.
		s.levels--
		if err != nil {
			return nil, root, err
		}
		key, err := s.eval(n.Key)
		if err != nil {
			return nil, root, err
		}
		// A secret map: reading an entry of it counts as reading the secret.
		v, err := s.get(s.Unmark(of), key, n)
		if err == nil {
			v, err = s.stored(v, root, n)
		}
		return v, root, err
	default:
		v, err := s.eval(n)
		return v, "", err
	}
}

// stored is a value that a part of a variable has, unless it has none.
func (s scope) stored(v any, root string, n jinja.Node) (any, error) {
	switch v := v.(type) {
	case value.Unknown:
		return nil, &value.Open{Missing: []value.Missing{{Name: root, Steps: value.SortSteps(v.Steps), Asked: v.Asked}}}
	case value.Fault:
		return nil, s.broken(v, n)
	case *value.Dict:
	case value.Object:
		// From here on values are searched for objects, which is not done otherwise.
		s.Objects = true
	}
	return v, nil
}

// element finds the result of one round of a loop, so that what uses it waits for no other: `x.results[0]`, `x.results | first`. It goes by
// what is written alone, or a step could need another round in the run than it was planned for.
func (s scope) element(n jinja.Node) (v any, root string, ok bool) {
	list, index, ok := elementOf(n)
	of, is := list.(*jinja.Member)
	rounds, can := s.Env.(value.Elements)
	if !ok || !is || !can {
		return nil, "", false
	}
	key, _ := of.Key.(*jinja.Constant)
	name, isName := of.Of.(*jinja.Variable)
	if key == nil || key.Value != "results" || !isName {
		return nil, "", false
	}
	if _, hidden := s.local(name.Name); hidden {
		return nil, "", false
	}
	v, ok = rounds.Element(name.Name, index)
	return v, name.Name, ok
}

// elementOf takes apart what names one item of a list.
func elementOf(n jinja.Node) (list jinja.Node, index int, ok bool) {
	switch n := n.(type) {
	case *jinja.Member:
		key, minus := n.Key, 1
		if signed, is := key.(*jinja.Signed); is && signed.Minus {
			key, minus = signed.Of, -1
		}
		if at, is := key.(*jinja.Constant); is {
			index, ok = at.Value.(int)
			return n.Of, minus * index, ok
		}
	case *jinja.Filtering:
		switch {
		case len(n.Args) > 0:
		case n.Name == "first":
			return n.In, 0, true
		case n.Name == "last":
			return n.In, -1, true
		}
	}
	return nil, 0, false
}

func (s scope) lookup(n *jinja.Variable) (any, error) {
	v, ok := s.local(n.Name)
	if !ok {
		// Behind the template's own: they hide variables, as in Jinja.
		v, ok = s.variable(n.Name)
	}
	switch v := v.(type) {
	case value.Unknown:
		return nil, &value.Open{Missing: []value.Missing{{Name: n.Name, Steps: value.SortSteps(v.Steps), Asked: v.Asked}}}
	case *value.Unsettled:
		return nil, &value.Open{Missing: v.Missing}
	// A parameter without argument is an error only where it is used.
	case *jinja.Absent:
		return s.eval(v)
	case value.Fault:
		return nil, s.broken(v, n)
	case *value.Dict:
	case value.Object:
		s.Objects = true
	}
	// Last, so that a playbook may have a variable of that name.
	if !ok && n.Name == "omit" {
		return value.Omit, nil
	}
	if !ok {
		return nil, s.lacking(s.undefined(n))
	}
	return v, nil
}

// variable gives the value of a variable.
func (s scope) variable(name string) (any, bool) {
	if s.Changes == nil {
		return s.Env.Lookup(name)
	}
	if v, ok := s.looked[name]; ok {
		return v, true
	}
	v, ok := s.Env.Lookup(name)
	switch v.(type) {
	case []any, map[string]any, *value.Dict:
		if s.looked == nil {
			s.looked = map[string]any{}
		}
		v = value.Distinct(v)
		s.looked[name] = v
	}
	return v, ok
}

// lacking is the error for a name without a value, unless the name has been found before.
func (s scope) lacking(e *value.Error) error {
	if s.taken[e.Name] {
		// See evaluated: this name has been reported, and the next one is looked for.
		return &value.Open{Missing: []value.Missing{{Name: e.Name}}}
	}
	return e
}

// local looks a name up among those the template made itself.
func (s scope) local(name string) (any, bool) {
	if s.locals == nil {
		return nil, false
	}
	return s.locals.Get(name)
}

func (s scope) undefined(n *jinja.Variable) *value.Error {
	e := &value.Error{
		Kind: value.UndefinedError, Name: n.Name, Message: "undefined variable `" + n.Name + "`", Hint: nameHints[n.Name],
		Offset: n.Offset(), Width: len(n.Name),
	}
	if e.Hint == "" && s.engine.isFunction(n.Name) {
		e.Hint = "`" + n.Name + "` is a function: call it with `()`"
	}
	if env, name := s.Env, n.Name; e.Hint == "" {
		e.Suggest = func() string { return suggest.DidYouMean(name, env.Names()) }
	}
	return e
}

// nameHints are ways out for names that people expect to have a value.
var nameHints = map[string]string{
	"user_home":           "the home directory of the user is `home`",
	"nil":                 "write `none`",
	"ip_addresses_string": "write `ip_addresses | join(', ')`",
	"dns_servers_string":  "write `dns_servers | join(', ')`",
	"ansible_user":        noUser,
	"ansible_ssh_user":    noUser,
	"ansible_port":        "no port is set: set `ansible_port` in the inventory, or write `| default(22)`",
	"ansible_ssh_port":    "no port is set: set `ansible_port` in the inventory, or write `| default(22)`",
}

const noUser = "nothing says who logs in: give `-u`, `remote_user:`, or `ansible_user` in the inventory"

// unpackable checks that a value can be taken apart into so many names.
func unpackable(v any, names int) *value.Error {
	list, ok := v.([]any)
	if !ok {
		return value.Errorf(value.TypeError, "", "cannot unpack %s into %s", value.KindOf(v), jinja.Counted(names, "name"))
	}
	if len(list) != names {
		return value.Errorf(value.TypeError, "", "cannot unpack a list of %s into %s", jinja.Counted(len(list), "item"),
			jinja.Counted(names, "name"))
	}
	return nil
}

// slice is Python's x[from:to:step] on strings and lists.
func (s scope) slice(n *jinja.Slicing) (any, error) {
	var bounds [3]any
	nodes := []jinja.Node{n.Of}
	for _, part := range []jinja.Node{n.From, n.To, n.Step} {
		if part == nil {
			// null means absent, as in Python, so that all three can be evaluated in one go.
			part = &jinja.Constant{At: n.At}
		}
		nodes = append(nodes, part)
	}
	values, err := s.evalAll(nodes)
	if err != nil {
		return nil, err
	}
	copy(bounds[:], values[1:])
	var items []any
	runes, isText := values[0].(string)
	if isText {
		// By characters: bytes would cut one apart.
		items, _ = value.ItemsOf(runes)
	} else if list, ok := values[0].([]any); ok {
		items = list
	} else {
		return nil, value.PlaceError(value.Errorf(value.TypeError, "", "cannot take a slice of %s", value.KindOf(values[0])), n)
	}
	picked, e := sliced(items, bounds)
	if e != nil {
		return nil, value.PlaceError(e, n)
	}
	if isText {
		var b strings.Builder
		for _, r := range picked {
			b.WriteString(value.Text(r))
		}
		return b.String(), nil
	}
	return picked, nil
}

func sliced(items []any, bounds [3]any) ([]any, *value.Error) {
	var at [3]int
	for i, b := range bounds {
		if b == nil {
			continue
		}
		n, ok := value.IndexFor(b)
		if !ok {
			return nil, value.Errorf(value.TypeError, "", "a slice needs whole numbers, not %s", value.KindOf(b))
		}
		at[i] = n
	}
	step := at[2]
	if bounds[2] == nil {
		step = 1
	}
	if step == 0 {
		return nil, value.Errorf(value.Failure, "", "the step of a slice cannot be 0")
	}
	// The positions from and to may lie one before the first and one behind the last item.
	low, high := 0, len(items)
	if step < 0 {
		low, high = -1, len(items)-1
	}
	bound := func(i, otherwise int) int {
		if bounds[i] == nil {
			return otherwise
		}
		return max(low, min(value.FromEnd(at[i], len(items)), high))
	}
	from, to := bound(0, low), bound(1, high)
	if step < 0 {
		from, to = bound(0, high), bound(1, low)
	}
	out := []any{}
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		out = append(out, items[i])
		if step > len(items) || step < -len(items) {
			break // the next step could overflow
		}
	}
	return out, nil
}

// get gives the part of a value that a key names.
func (s scope) get(of, key any, n *jinja.Member) (any, error) {
	switch of := s.Changes.Now(of).(type) {
	case map[string]any, *value.Dict:
		if v, ok := value.EntryOf(of, value.KeyText(key)); ok {
			return v, nil
		}
	case []any:
		if i, ok := value.IndexFor(key); ok {
			if j := value.FromEnd(i, len(of)); j >= 0 && j < len(of) {
				return of[j], nil
			}
		}
		// The pairs that groupby makes have names.
		if i := slices.Index([]string{"grouper", "list"}, value.KeyText(key)); i >= 0 && len(of) == 2 {
			return of[i], nil
		}
	case value.Range:
		if v, ok := of.Item(key); ok {
			return v, nil
		}
	case string:
		if i, ok := value.IndexFor(key); ok {
			runes := []rune(of)
			if j := value.FromEnd(i, len(runes)); j >= 0 && j < len(runes) {
				return string(runes[j]), nil
			}
		}
	case value.Date:
		if v, ok := of.Get(value.KeyText(key)); ok {
			return v, nil
		}
	case value.Span:
		if v, ok := of.Get(value.KeyText(key)); ok {
			return v, nil
		}
	case value.Object:
		if v, ok, err := s.ReadEntry(of, value.KeyText(key)); ok || err != nil {
			return v, err
		}
	// A part of what is not known is not known: the caller makes it open under the name of the root.
	case value.Unknown, *value.Unsettled:
		return of, nil
	case *module:
		if v, ok := of.names.Get(value.KeyText(key)); ok {
			return v, nil
		}
	case *value.Namespace:
		v, ok := of.Fields[value.KeyText(key)]
		if u, isOpen := v.(*value.Unsettled); isOpen {
			return nil, &value.Open{Missing: u.Missing}
		}
		if ok {
			return v, nil
		}
	case *loop:
		if v, ok := of.attribute(value.KeyText(key)); ok {
			return v, nil
		}
	}
	return nil, s.lacking(s.noMember(of, key, n))
}

// nearestPath is the hint for a misspelt key, with the path as it should be written.
func nearestPath(n *jinja.Member, text, key string, known []string) string {
	near := suggest.Nearest(key, known)
	if near == "" {
		return ""
	}
	// With the path, so that it can be copied as it is.
	if _, isChain := jinja.FirstName(n); isChain && n.Dot {
		near = text[n.Offset():n.KeyAt] + near
	}
	return "did you mean `" + near + "`?"
}

// noMember says that a value has no such part. It counts as undefined, so that default() and `is defined` see it.
func (s scope) noMember(of, key any, n *jinja.Member) *value.Error {
	whole := s.text[n.Offset():n.End]
	// A path that is computed, or stands on several lines, has no name that could be shown.
	if _, isChain := jinja.FirstName(n); !isChain || strings.Contains(whole, "\n") {
		whole = value.KeyText(key)
	}
	e := &value.Error{
		Kind: value.UndefinedError, Name: whole, Message: "undefined variable `" + whole + "`",
		Offset: n.KeyAt, Width: n.End - n.KeyAt,
	}
	switch of := of.(type) {
	case map[string]any, *value.Dict:
		e.Suggest = func() string { return nearestPath(n, s.text, value.KeyText(key), value.KeysOf(of)) }
	case value.Object:
		e.Suggest = func() string { return nearestPath(n, s.text, value.KeyText(key), value.KnownKeys(of)) }
	case *value.Namespace:
		e.Suggest = func() string { return nearestPath(n, s.text, value.KeyText(key), value.SortedKeys(of.Fields)) }
	case []any:
		e.Message += ": the list has " + jinja.Counted(len(of), "item")
		if _, isIndex := value.IndexFor(key); !isIndex {
			e.Message, e.Hint = "undefined variable `"+whole+"`: a list has no names, only positions", memberHints[value.KeyText(key)]
		}
	case *module:
		e.Message += ": " + of.file + " does not set `" + value.KeyText(key) + "`"
	default:
		e.Message += ": " + value.KindOf(of) + " has no `" + value.KeyText(key) + "`"
		e.Hint = memberHints[value.KeyText(key)]
	}
	return e
}

// memberHints are parts of text and lists in other languages.
var memberHints = map[string]string{"length": "write `| length`", "size": "write `| length`"}

// broken is the error for reading a fault under the name that a node spells.
func (s scope) broken(f value.Fault, n jinja.Node) error {
	start := max(n.Offset(), 0)
	name := s.text[start:max(jinja.End(n), start)]
	// lookup('vars', …) names a variable that stands nowhere in the text.
	if v, ok := n.(*jinja.Variable); ok && v.At < 0 {
		name = v.Name
	}
	if name == "" || strings.Contains(name, "\n") {
		name = "the value"
	}
	return s.lacking(value.PlaceError(f.At(name), n))
}
