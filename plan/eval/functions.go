package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/exec"

	"moon/plan/diag"
)

// builtinFunctions are what a template may call by name. Filled by init: dict and namespace evaluate arguments.
var builtinFunctions map[string]function

type function struct {
	params params
	run    func(c *input) (any, error)
}

func init() {
	builtinFunctions = map[string]function{
		"range":     {params: takes("*"), run: rangeOf},
		"dict":      {params: takes("..."), run: func(c *input) (any, error) { return c.fields() }},
		"namespace": {params: takes("..."), run: newNamespace},
		"cycler":    {params: takes("*"), run: newCycler},
		"joiner":    {params: takes("sep?"), run: func(c *input) (any, error) { return &joiner{separator: c.str(0, ", ")}, nil }},
	}
}

// namespace is the one kind of value that a template may change from inside a loop: {% set ns.found = true %}.
type namespace struct{ fields map[string]any }

// box holds a list or map that a template made with {% set %}, so that append, extend and update can work on it.
type box struct{ value any }

type cycler struct {
	items []any
	next  int
}

type joiner struct {
	separator string
	used      bool
}

func rangeOf(c *input) (any, error) {
	bounds := []int{0, 0, 1}
	given := c.rest
	if len(given) < 1 || len(given) > 3 {
		return nil, fault(Type, "", "takes from 1 to 3 arguments, not %d", len(given))
	}
	for i, v := range given {
		n, ok := number(v)
		bound, isInt := n.(int)
		if !ok || !isInt {
			return nil, fault(Type, "turn it into a number with `| int`", "needs whole numbers, not %s", kindOf(v))
		}
		place := i
		if len(given) == 1 {
			place = 1
		}
		bounds[place] = bound
	}
	from, to, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		return nil, fault(Failed, "", "the step of a range cannot be 0")
	}
	// In floats, because the distance of two integers may not fit into one.
	n := (float64(to) - float64(from)) / float64(step)
	if n > maxRange {
		return nil, fault(Failed, "", "the range has more than %d items", maxRange)
	}
	if err := c.spend(int(max(n, 0))); err != nil {
		return nil, err
	}
	out := make([]any, 0, int(max(n, 0))+1)
	for i := from; (step > 0 && i < to) || (step < 0 && i > to); i += step {
		out = append(out, i)
		if step > 0 && i > to-step || step < 0 && i < to-step {
			break // the next step could overflow
		}
	}
	return out, nil
}

// fields are the arguments of dict and namespace: maps first, then names.
func (c *input) fields() (map[string]any, error) {
	m := map[string]any{}
	for _, v := range c.rest {
		switch v := v.(type) {
		case map[string]any:
			maps.Copy(m, v)
		case []any:
			for _, item := range v {
				pair, ok := item.([]any)
				if !ok || len(pair) != 2 {
					return nil, fault(Type, "", "needs a list of pairs")
				}
				m[keyText(pair[0])] = pair[1]
			}
		default:
			return nil, fault(Type, "", "needs a map, not %s", kindOf(v))
		}
	}
	maps.Copy(m, c.named)
	return m, nil
}

func newNamespace(c *input) (any, error) {
	fields, err := c.fields()
	if err != nil {
		return nil, err
	}
	for key, v := range fields {
		fields[key] = boxed(v)
	}
	return &namespace{fields}, nil
}

func newCycler(c *input) (any, error) {
	if len(c.rest) == 0 {
		return nil, fault(Type, "", "needs at least one item")
	}
	return &cycler{items: c.rest}, nil
}

// assign is {% set ns.name = value %}.
func (s scope) assign(n *assignment) error {
	of, _, err := s.reach(n.target.of)
	if err != nil {
		return err
	}
	ns, ok := of.(*namespace)
	if !ok {
		return placed(fault(Type, "make it with `{% set x = namespace(…) %}`, or build a new map with `| combine(…)`",
			"cannot set a part of %s", kindOf(of)), n.target)
	}
	key := keyText(n.target.key.(*constant).value)
	v, err := s.eval(n.value)
	if o, isOpen := openOf(err); isOpen {
		ns.fields[key] = &unsettled{o.missing}
		return nil
	}
	if err != nil {
		return err
	}
	ns.fields[key] = boxed(v)
	return nil
}

// snapshot is what a namespace holds now, as a map.
func (ns *namespace) snapshot() map[string]any {
	m := make(map[string]any, len(ns.fields))
	for key, v := range ns.fields {
		if b, ok := v.(*box); ok {
			v = b.value
		}
		m[key] = v
	}
	return m
}

func (s scope) call(n *call) (any, error) {
	switch f := n.function.(type) {
	case *variable:
		return s.callName(n, f)
	case *member:
		return s.callMethod(n, f)
	}
	return nil, &Error{Kind: Type, Message: "this is not a function", Offset: n.offset()}
}

func (s scope) callName(n *call, f *variable) (any, error) {
	width := len(f.name)
	if v, ok := s.local(f.name); ok {
		return s.callLocal(n, f, v)
	}
	c := &input{scope: s, name: f.name}
	if b, ok := builtinFunctions[f.name]; ok {
		if err := s.bind(c, b.params, n.args); err != nil {
			return nil, err
		}
		v, err := b.run(c)
		if err != nil {
			return nil, s.calleeError("function", f.name, err, f.offset(), width)
		}
		return v, nil
	}
	if own, ok := s.engine.functions[f.name]; ok {
		if err := s.bind(c, takes("..."), n.args); err != nil {
			return nil, err
		}
		v, err := own(s.env, c.rest, c.named)
		if err != nil {
			return nil, s.calleeError("function", f.name, err, f.offset(), width)
		}
		return s.settled(unwrapUnknown(v, f.name))
	}
	return nil, &Error{Kind: Type, Message: "`" + f.name + "` is not a function", Offset: f.offset(), Width: width}
}

func unwrapUnknown(v any, name string) (any, string) {
	if u, ok := v.(Unknown); ok {
		return &unsettled{[]Missing{{name, sortedSteps(u.Steps)}}}, name
	}
	return v, name
}

// callLocal calls a macro, caller(), loop() or a joiner.
func (s scope) callLocal(n *call, f *variable, v any) (any, error) {
	switch v := v.(type) {
	case *joiner:
		if !v.used {
			v.used = true
			return "", nil
		}
		return v.separator, nil
	case *unsettled:
		return nil, &open{v.missing}
	case exec.Macro:
		return s.callGonja(n, f.name, v)
	case func(*exec.VarArgs) *exec.Value:
		return s.callGonja(n, f.name, v)
	}
	return nil, &Error{Kind: Type, Message: "`" + f.name + "` is " + kindOf(v) + ", not a function", Offset: f.offset(), Width: len(f.name)}
}

// callGonja calls what gonja made of a macro. The text it gives is not the template's own, so nothing in it may be left
// open: the whole call is.
func (s scope) callGonja(n *call, name string, f func(*exec.VarArgs) *exec.Value) (any, error) {
	nodes := make([]node, len(n.args))
	for i, a := range n.args {
		nodes[i] = a.value
	}
	values, err := s.evalAll(nodes)
	if err != nil {
		return nil, err
	}
	args := exec.NewVarArgs()
	for i, a := range n.args {
		if a.name != "" {
			args.KwArgs[a.name] = exec.AsValue(boxed(values[i]))
		} else {
			args.Args = append(args.Args, exec.AsValue(boxed(values[i])))
		}
	}
	if s.calls++; s.calls > maxCalls {
		return nil, &Error{Kind: Failed, Message: "macro `" + name + "` calls itself too often", Offset: n.offset(), Width: len(name)}
	}
	s.captures++
	result := f(args)
	s.captures--
	s.calls--
	if err := s.raised; err != nil {
		s.raised = nil
		return nil, err
	}
	if result != nil && result.IsError() {
		return nil, &Error{Kind: Failed, Message: gonjaSentence(result), Offset: n.offset(), Width: len(name)}
	}
	return fromGonja(result)
}

// boxed prepares a value for a name of the template.
func boxed(v any) any {
	switch v := v.(type) {
	case []any:
		return &box{slices.Clip(v)}
	case map[string]any:
		return &box{v}
	}
	return v
}

func (s scope) callMethod(n *call, f *member) (any, error) {
	of, root, err := s.reach(f.of)
	if err != nil {
		return nil, err
	}
	key, err := s.eval(f.key)
	if err != nil {
		return nil, err
	}
	name := keyText(key)
	switch of := of.(type) {
	case *cycler:
		return of.call(name, f)
	case *box:
		if changes[name] {
			return s.change(n, f, of, name)
		}
	case exec.AttributeGetter:
		if v, ok := of.GetAttribute(name); ok {
			if function, ok := v.Interface().(func(*exec.VarArgs) *exec.Value); ok {
				return s.callGonja(n, name, function)
			}
		}
	}
	value, err := s.settled(of, root)
	c := &input{scope: s, name: name, value: value}
	argErr := s.bind(c, takes("..."), n.args)
	o, isOpen := openOf(err)
	o2, argsOpen := openOf(argErr)
	switch {
	case err != nil && !isOpen:
		return nil, err
	case argErr != nil && !argsOpen:
		return nil, argErr
	case isOpen && argsOpen:
		return nil, &open{union(o.missing, o2.missing)}
	case isOpen:
		return nil, o
	case argsOpen:
		return nil, o2
	}
	if err := s.spend(1 + size(value)); err != nil {
		return nil, err
	}
	v, err := c.method()
	if err != nil {
		return nil, s.calleeError("method", name, err, f.keyAt, f.end-f.keyAt)
	}
	return v, nil
}

// changes are the methods that Python's lists and maps have to change themselves.
var changes = map[string]bool{
	"append": true, "extend": true, "update": true, "insert": true, "pop": true, "remove": true, "clear": true, "setdefault": true,
	"sort": true, "reverse": true, "popitem": true,
}

// change is list.append(x), list.extend(l) and map.update(m) on a value that the template made itself.
func (s scope) change(n *call, f *member, b *box, name string) (any, error) {
	c := &input{scope: s, name: name}
	err := s.bind(c, takes("..."), n.args)
	if o, ok := openOf(err); ok {
		b.value = &unsettled{o.missing}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, isList := b.value.([]any)
	m, isMap := b.value.(map[string]any)
	switch {
	case isUnsettled(b.value):
	case isList && name == "append" && len(c.rest) == 1:
		b.value = append(list, c.rest[0])
	case isList && name == "extend" && len(c.rest) == 1:
		more, err := itemsOf(c.rest[0])
		if err != nil {
			return nil, s.calleeError("method", name, err, f.keyAt, f.end-f.keyAt)
		}
		if err := s.spend(len(more)); err != nil {
			return nil, err
		}
		b.value = append(list, more...)
	case isMap && name == "update":
		more, err := c.fields()
		if err != nil {
			return nil, s.calleeError("method", name, err, f.keyAt, f.end-f.keyAt)
		}
		if err := s.spend(len(m) + len(more)); err != nil {
			return nil, err
		}
		m = maps.Clone(m)
		maps.Copy(m, more)
		b.value = m
	default:
		return nil, unchangeable(f, b.value, name)
	}
	return nil, nil
}

func isUnsettled(v any) bool { _, ok := v.(*unsettled); return ok }

func unchangeable(f *member, v any, name string) *Error {
	hint := "build a new list with `+`, or one with `{% set %}` that `append` and `extend` work on"
	if _, ok := v.(map[string]any); ok {
		hint = "build a new map with `| combine(…)`, or one with `{% set %}` that `update` works on"
	}
	return &Error{
		Kind: Type, Message: "method `" + name + "` would change " + kindOf(v) + " that does not belong to the template", Hint: hint,
		Offset: f.keyAt, Width: f.end - f.keyAt,
	}
}

func (c *cycler) call(name string, f *member) (any, error) {
	switch name {
	case "next":
		v := c.items[c.next]
		c.next = (c.next + 1) % len(c.items)
		return v, nil
	case "reset":
		c.next = 0
		return nil, nil
	}
	return nil, &Error{Kind: Type, Message: "a cycler has no method `" + name + "`", Offset: f.keyAt, Width: f.end - f.keyAt}
}

// stringMethods are gonja's methods of strings that a template may call.
var stringMethods = strings.Fields(`capitalize casefold center count endswith find format index isalnum isalpha isascii
	isdecimal isdigit islower isnumeric isspace istitle isupper join ljust lower lstrip partition removeprefix removesuffix
	replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title upper zfill`)

func (c *input) method() (any, error) {
	switch v := c.value.(type) {
	case map[string]any:
		return c.mapMethod(v)
	case []any:
		return c.listMethod(v)
	case string:
		return c.stringMethod(v)
	}
	return nil, c.noMethod(nil)
}

func (c *input) noMethod(known []string) error {
	e := fault(Type, diag.DidYouMean(c.name, known), "does not exist for %s", kindOf(c.value))
	if changes[c.name] {
		return &Error{
			Kind: Type, Message: "would change " + kindOf(c.value) + " that does not belong to the template", Offset: -1,
			Hint: "build a new value with `+` or `| combine(…)`",
		}
	}
	return e
}

func (c *input) mapMethod(m map[string]any) (any, error) {
	switch c.name {
	case "items":
		return pairs(m), nil
	case "keys":
		return c.items()
	case "values":
		out := make([]any, 0, len(m))
		for _, key := range sortedKeys(m) {
			out = append(out, m[key])
		}
		return out, nil
	case "copy":
		return m, nil
	case "get":
		if len(c.rest) < 1 || len(c.rest) > 2 {
			return nil, fault(Type, "", "takes 1 or 2 arguments, not %d", len(c.rest))
		}
		if v, ok := m[keyText(c.rest[0])]; ok {
			return v, nil
		}
		if len(c.rest) == 2 {
			return c.rest[1], nil
		}
		return c.named["default"], nil
	}
	return nil, c.noMethod([]string{"items", "keys", "values", "get", "copy"})
}

func (c *input) listMethod(l []any) (any, error) {
	switch {
	case c.name == "copy":
		return l, nil
	case c.name == "index" && len(c.rest) == 1:
		for i, item := range l {
			if equal(item, c.rest[0]) {
				return i, nil
			}
		}
		return nil, fault(Failed, "", "the list does not contain it")
	case c.name == "count" && len(c.rest) == 1:
		n := 0
		for _, item := range l {
			if equal(item, c.rest[0]) {
				n++
			}
		}
		return n, nil
	}
	return nil, c.noMethod([]string{"index", "count", "copy"})
}

func (c *input) stringMethod(s string) (any, error) {
	switch c.name {
	case "split":
		limit := -1
		separator := c.named["sep"]
		if len(c.rest) > 0 {
			separator = c.rest[0]
		}
		if len(c.rest) > 1 {
			if n, ok := c.rest[1].(int); ok {
				limit = n
			}
		}
		return splitText(s, separator, limit)
	case "join":
		if len(c.rest) != 1 {
			return nil, fault(Type, "", "takes 1 argument, not %d", len(c.rest))
		}
		in := &input{scope: c.scope, name: "join", value: c.rest[0], args: []any{s, unset{}}}
		return filterJoin(in)
	case "strip", "lstrip", "rstrip":
		return stripped(s, c.name, c.rest), nil
	case "format":
		if tooWide(s) {
			return nil, fault(Failed, "", "the format is too wide")
		}
	}
	if !slices.Contains(stringMethods, c.name) {
		return nil, c.noMethod(stringMethods)
	}
	method, ok := builtins.Methods.Str.Get(c.name)
	if !ok {
		return nil, c.noMethod(stringMethods)
	}
	args, err := c.toGonja()
	if err != nil {
		return nil, err
	}
	v, err := method(s, exec.AsValue(s), args)
	if err != nil {
		return nil, fault(Failed, "", "%s", gonjaSentence(err))
	}
	return fromGonja(exec.AsValue(v))
}

func stripped(s, how string, args []any) string {
	cut := " \t\r\n\f\v"
	if len(args) > 0 && args[0] != nil {
		cut = Text(args[0])
	}
	if how != "rstrip" {
		s = strings.TrimLeft(s, cut)
	}
	if how != "lstrip" {
		s = strings.TrimRight(s, cut)
	}
	return s
}

// tooWide finds widths in a format that would make megabytes of padding.
func tooWide(format string) bool {
	digits := 0
	for i := range len(format) {
		if digits++; !isDigit(format[i]) {
			digits = 0
		}
		if digits > 5 {
			return true
		}
	}
	return false
}
