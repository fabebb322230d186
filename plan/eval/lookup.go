package eval

import (
	"slices"
	"strings"

	"moon/internal/suggest"
	"moon/plan/eval/jinja"
)

// settled turns a value as it is stored into one that can be computed with: open if any part of it is unknown.
func (s scope) settled(v any, root string) (any, error) {
	switch v := v.(type) {
	case Secret:
		return s.bare(v), nil
	case []any, map[string]any, *Dict:
		var f unknowns
		f.in(v)
		s.objects = s.objects || f.object
		if err := s.spend(f.parts / 16); err != nil || f.parts > maxParts {
			return nil, errTooMuchWork()
		}
		if f.here || f.missing != nil {
			slices.SortFunc(f.missing, func(a, b Missing) int { return strings.Compare(a.Name, b.Name) }) // maps have no order
			if f.here {
				f.missing = union([]Missing{{root, sortedSteps(f.steps)}}, f.missing)
			}
			return nil, &open{f.missing}
		}
		if f.fault != nil {
			return nil, f.fault.at(root)
		}
		if f.secret {
			return s.bareAll(v), nil
		}
	case *box:
		return s.settled(v.value, root)
	case *namespace:
		return s.settled(v.snapshot(), root)
	case *unsettled:
		return nil, &open{v.missing}
	case Unknown:
		return nil, &open{[]Missing{{root, sortedSteps(v.Steps)}}}
	case Fault:
		return nil, v.at(root)
	}
	return v, nil
}

// unknowns gathers what is not known inside of a value.
type unknowns struct {
	parts   int       // looked at; lists that hold the same list twice grow exponentially
	here    bool      // as an Unknown
	secret  bool      // there is a Secret
	object  bool      // there is an Object
	fault   *Fault    // the first
	steps   []int     // that will produce it
	missing []Missing // of the template's own names
}

func (f *unknowns) in(v any) {
	if f.parts++; f.parts > maxParts {
		return
	}
	switch v := v.(type) {
	case Unknown:
		f.here = true
		f.steps = append(f.steps, v.Steps...)
	case Secret:
		f.secret = true
	case Fault:
		if f.fault == nil {
			f.fault = &v
		}
	case *Dict:
		f.parts--
		f.in(v.values)
	case Object:
		f.object = true
	case *unsettled:
		f.missing = union(f.missing, v.missing)
	case *box:
		f.in(v.value)
	case []any:
		for _, item := range v {
			f.in(item)
		}
	case map[string]any:
		for _, item := range v {
			f.in(item)
		}
	}
}

// reach gives what a chain of members leads to, as it is stored: parts of it may be unknown. root is the variable at
// the beginning.
func (s scope) reach(n jinja.Node) (v any, root string, err error) {
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
		s.levels--
		if err != nil {
			return nil, root, err
		}
		key, err := s.eval(n.Key)
		if err != nil {
			return nil, root, err
		}
		v, err := s.get(s.bare(of), key, n)
		switch v := v.(type) {
		case Unknown:
			return nil, root, &open{[]Missing{{root, sortedSteps(v.Steps)}}}
		case Fault:
			return nil, root, s.broken(v, n)
		case *Dict:
		case Object:
			s.objects = true
		}
		return v, root, err
	default:
		v, err := s.eval(n)
		return v, "", err
	}
}

func (s scope) lookup(n *jinja.Variable) (any, error) {
	v, ok := s.local(n.Name)
	if !ok {
		v, ok = s.env.Lookup(n.Name)
	}
	switch v := v.(type) {
	case Unknown:
		return nil, &open{[]Missing{{n.Name, sortedSteps(v.Steps)}}}
	case *unsettled:
		return nil, &open{v.missing}
	case *jinja.Absent:
		return s.eval(v)
	case Fault:
		return nil, s.broken(v, n)
	case *Dict:
	case Object:
		s.objects = true
	}
	if !ok && n.Name == "omit" && s.engine.Python {
		return Omit, nil
	}
	if !ok {
		return nil, s.lacking(s.undefined(n))
	}
	return v, nil
}

// lacking is the error for a name without a value, unless the name has been found before.
func (s scope) lacking(e *Error) error {
	if s.taken[e.Name] {
		return &open{[]Missing{{Name: e.Name}}}
	}
	return e
}

// local looks a name up among those the template made itself.
func (s scope) local(name string) (any, bool) {
	if s.locals == nil {
		return nil, false
	}
	return s.locals.get(name)
}

func (s scope) undefined(n *jinja.Variable) *Error {
	hint := suggest.DidYouMean(n.Name, s.env.Names())
	if s.engine.isFunction(n.Name) {
		hint = "`" + n.Name + "` is a function: call it with `()`"
	}
	if n.Name == "nil" {
		hint = "write `none`"
	}
	return &Error{
		Kind: Undefined, Name: n.Name, Message: "undefined variable `" + n.Name + "`", Hint: hint,
		Offset: n.Offset(), Width: len(n.Name),
	}
}

// unpackable checks that a value can be taken apart into so many names.
func unpackable(v any, names int) *Error {
	list, ok := v.([]any)
	if !ok {
		return fault(Type, "", "cannot unpack %s into %s", kindOf(v), jinja.Counted(names, "name"))
	}
	if len(list) != names {
		return fault(Type, "", "cannot unpack a list of %s into %s", jinja.Counted(len(list), "item"), jinja.Counted(names, "name"))
	}
	return nil
}

// slice is Python's x[from:to:step] on strings and lists.
func (s scope) slice(n *jinja.Slicing) (any, error) {
	var bounds [3]any
	nodes := []jinja.Node{n.Of}
	for _, part := range []jinja.Node{n.From, n.To, n.Step} {
		if part == nil {
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
		items, _ = itemsOf(runes)
	} else if list, ok := values[0].([]any); ok {
		items = list
	} else {
		return nil, placed(fault(Type, "", "cannot take a slice of %s", kindOf(values[0])), n)
	}
	picked, e := sliced(items, bounds)
	if e != nil {
		return nil, placed(e, n)
	}
	if isText {
		var b strings.Builder
		for _, r := range picked {
			b.WriteString(Text(r))
		}
		return b.String(), nil
	}
	return picked, nil
}

func sliced(items []any, bounds [3]any) ([]any, *Error) {
	var at [3]int
	for i, b := range bounds {
		if b == nil {
			continue
		}
		n, ok := indexFor(b)
		if !ok {
			return nil, fault(Type, "", "a slice needs whole numbers, not %s", kindOf(b))
		}
		at[i] = n
	}
	step := at[2]
	if bounds[2] == nil {
		step = 1
	}
	if step == 0 {
		return nil, fault(Failed, "", "the step of a slice cannot be 0")
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
		return max(low, min(fromEnd(at[i], len(items)), high))
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
	switch of := of.(type) {
	case map[string]any, *Dict:
		if v, ok := entryOf(of, keyText(key)); ok {
			return v, nil
		}
	case []any:
		if i, ok := indexFor(key); ok {
			if j := fromEnd(i, len(of)); j >= 0 && j < len(of) {
				return of[j], nil
			}
		}
		// The pairs that groupby makes have names.
		if i := slices.Index([]string{"grouper", "list"}, keyText(key)); i >= 0 && len(of) == 2 {
			return of[i], nil
		}
	case string:
		if i, ok := indexFor(key); ok {
			runes := []rune(of)
			if j := fromEnd(i, len(runes)); j >= 0 && j < len(runes) {
				return string(runes[j]), nil
			}
		}
	case Object:
		if v, ok, err := s.entry(of, keyText(key)); ok || err != nil {
			return v, err
		}
	case Unknown, *unsettled:
		return of, nil
	case *box:
		return s.get(of.value, key, n)
	case *module:
		if v, ok := of.names.get(keyText(key)); ok {
			return v, nil
		}
	case *namespace:
		v, ok := of.fields[keyText(key)]
		if u, isOpen := v.(*unsettled); isOpen {
			return nil, &open{u.missing}
		}
		if ok {
			return v, nil
		}
	case *loop:
		if v, ok := of.attribute(keyText(key)); ok {
			return v, nil
		}
	}
	return nil, s.lacking(s.noMember(of, key, n))
}

// indexFor gives the position a key means in a list.
func indexFor(key any) (int, bool) {
	if _, isBool := key.(bool); isBool {
		return 0, false
	}
	n, ok := number(key)
	if !ok {
		return 0, false
	}
	i, ok := n.(int)
	return i, ok
}

func fromEnd(i, length int) int {
	if i < 0 {
		return i + length
	}
	return i
}

// nearestPath is the hint for a misspelt key, with the path as it should be written.
func nearestPath(n *jinja.Member, text, key string, known []string) string {
	near := suggest.Nearest(key, known)
	if near == "" {
		return ""
	}
	if _, isChain := jinja.FirstName(n); isChain && n.Dot {
		near = text[n.Offset():n.KeyAt] + near
	}
	return "did you mean `" + near + "`?"
}

// noMember says that a value has no such part. It counts as undefined, so that default() and `is defined` see it.
func (s scope) noMember(of, key any, n *jinja.Member) *Error {
	whole := s.text[n.Offset():n.End]
	if _, isChain := jinja.FirstName(n); !isChain || strings.Contains(whole, "\n") {
		whole = keyText(key)
	}
	e := &Error{
		Kind: Undefined, Name: whole, Message: "undefined variable `" + whole + "`",
		Offset: n.KeyAt, Width: n.End - n.KeyAt,
	}
	switch of := of.(type) {
	case map[string]any, *Dict:
		e.Hint = nearestPath(n, s.text, keyText(key), namesOf(of))
	case Object:
		e.Hint = nearestPath(n, s.text, keyText(key), known(of))
	case *namespace:
		e.Hint = nearestPath(n, s.text, keyText(key), sortedKeys(of.fields))
	case []any:
		e.Message += ": the list has " + jinja.Counted(len(of), "item")
		if _, isIndex := indexFor(key); !isIndex {
			e.Message, e.Hint = "undefined variable `"+whole+"`: a list has no names, only positions", memberHints[keyText(key)]
		}
	case *module:
		e.Message += ": " + of.file + " does not set `" + keyText(key) + "`"
	default:
		e.Message += ": " + kindOf(of) + " has no `" + keyText(key) + "`"
		e.Hint = memberHints[keyText(key)]
	}
	return e
}
