package eval

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"moon/internal/suggest"
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
	val, err := s.settled(of, root)
	err = s.placed(err, f)
	c := &input{scope: s, name: name, value: val}
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
	if err := s.spend(1 + size(val)); err != nil {
		return nil, err
	}
	if o, ok := val.(value.Object); !ok || value.IsDict(o) || value.IsPartial(o) {
		if err := c.ordinaryAll(); err != nil {
			return nil, s.placed(err, f)
		}
	}
	v, err := c.method()
	if err != nil {
		return nil, s.calleeError("method", name, err, f.KeyAt, f.End-f.KeyAt)
	}
	return v, nil
}

// change is list.append(x), list.extend(l) and map.update(m) on a value that the template made itself.
func (s scope) change(n *jinja.Call, f *jinja.Member, b *value.Box, name string) (any, error) {
	c := &input{scope: s, name: name}
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
	case isList && name == "append" && len(c.rest) == 1:
		b.Value = append(list, c.rest[0])
	case isList && name == "extend" && len(c.rest) == 1:
		more, err := value.ItemsOf(c.rest[0])
		if err != nil {
			return nil, s.calleeError("method", name, err, f.KeyAt, f.End-f.KeyAt)
		}
		if err := s.spend(len(more)); err != nil {
			return nil, err
		}
		b.Value = append(list, more...)
	case isMap && name == "update":
		more, err := c.fields()
		if err != nil {
			return nil, s.calleeError("method", name, err, f.KeyAt, f.End-f.KeyAt)
		}
		if err := s.spend(len(m) + more.Len()); err != nil {
			return nil, err
		}
		all := value.NewDict(len(m) + more.Len())
		all.Add(b.Value)
		all.Add(more)
		b.Value = s.ofForm(all)
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

func (c *input) method() (any, error) {
	switch v := c.value.(type) {
	case map[string]any, *value.Dict:
		return c.mapMethod(v)
	case value.Object:
		return c.objectMethod(v)
	case []any:
		return c.listMethod(v)
	case string:
		return c.stringMethod(v)
	}
	return nil, c.noMethod(nil)
}

func (c *input) noMethod(known []string) error {
	e := value.Errorf(value.TypeError, cmp.Or(methodHints[c.name], suggest.DidYouMean(c.name, known)), "does not exist for %s",
		value.KindOf(c.value))
	if jinja.Changes[c.name] {
		return &value.Error{
			Kind: value.TypeError, Message: "would change " + value.KindOf(c.value) + " that does not belong to the template", Offset: -1,
			Hint: "build a new value with `+` or `| combine(…)`",
		}
	}
	return e
}

func (c *input) mapMethod(m any) (any, error) {
	switch c.name {
	case "items":
		return value.Pairs(m), nil
	case "keys":
		return c.items()
	case "values":
		return value.ValuesOf(m), nil
	case "copy":
		return m, nil
	case "get":
		if len(c.rest) < 1 || len(c.rest) > 2 {
			return nil, value.Errorf(value.TypeError, "", "takes 1 or 2 arguments, not %d", len(c.rest))
		}
		if v, ok := value.EntryOf(m, value.KeyText(c.rest[0])); ok {
			return v, nil
		}
		if len(c.rest) == 2 {
			return c.rest[1], nil
		}
		return c.named["default"], nil
	}
	return nil, c.noMethod([]string{"items", "keys", "values", "get", "copy"})
}

// objectMethod is mapMethod, which asks for no more entries than it needs.
func (c *input) objectMethod(o value.Object) (any, error) {
	switch {
	case c.name == "keys":
		return c.items()
	case c.name == "get" && len(c.rest) > 0:
		v, ok, err := c.entry(o, value.KeyText(c.rest[0]))
		if ok && err == nil && !value.IsNotGiven(v) {
			return c.settled(v, value.KeyText(c.rest[0]))
		}
		if err != nil {
			return nil, err
		}
		return c.mapMethod(map[string]any{})
	}
	if err := c.ordinaryAll(); err != nil {
		return nil, err
	}
	return c.method()
}

func (c *input) listMethod(l []any) (any, error) {
	switch {
	case c.name == "copy":
		return l, nil
	case c.name == "index" && len(c.rest) == 1:
		for i, item := range l {
			if value.Equal(item, c.rest[0]) {
				return i, nil
			}
		}
		return nil, value.Errorf(value.Failure, "", "the list does not contain it")
	case c.name == "count" && len(c.rest) == 1:
		n := 0
		for _, item := range l {
			if value.Equal(item, c.rest[0]) {
				n++
			}
		}
		return n, nil
	}
	return nil, c.noMethod([]string{"index", "count", "copy"})
}

// stringMethods are Python's, as far as templates use them. The parameters are as in Python; positions count characters.
var stringMethods = map[string]struct {
	params jinja.Params
	run    func(c *input, s string) (any, error)
}{
	"capitalize": {run: plainMethod(capitalized)},
	"lower":      {run: plainMethod(strings.ToLower)},
	"casefold":   {run: plainMethod(strings.ToLower)},
	"title":      {run: plainMethod(titled)},
	"upper":      {run: plainMethod(strings.ToUpper)},
	"swapcase":   {run: plainMethod(swapCase)},

	"isalnum":   {run: everyRune(isAlnumRune)},
	"isalpha":   {run: everyRune(unicode.IsLetter)},
	"isdecimal": {run: everyRune(func(r rune) bool { return unicode.Is(unicode.Nd, r) })},
	"isdigit":   {run: everyRune(isDigitRune)},
	"isnumeric": {run: everyRune(unicode.IsNumber)},
	"isspace":   {run: everyRune(unicode.IsSpace)},
	"isascii": {run: func(_ *input, s string) (any, error) {
		return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0, nil
	}},
	"islower": {run: func(_ *input, s string) (any, error) { return isCased(s, strings.ToLower), nil }},
	"isupper": {run: func(_ *input, s string) (any, error) { return isCased(s, strings.ToUpper), nil }},
	"istitle": {run: func(_ *input, s string) (any, error) { return isTitled(s), nil }},

	"format": {jinja.Takes("..."), (*input).formatFields},
	"strip":  {jinja.Takes("chars?"), func(c *input, s string) (any, error) { return strings.Trim(s, c.str(0, whiteSpace)), nil }},
	"lstrip": {jinja.Takes("chars?"), func(c *input, s string) (any, error) { return strings.TrimLeft(s, c.str(0, whiteSpace)), nil }},
	"rstrip": {jinja.Takes("chars?"), func(c *input, s string) (any, error) { return strings.TrimRight(s, c.str(0, whiteSpace)), nil }},

	"removeprefix": {jinja.Takes("prefix"), func(c *input, s string) (any, error) { return strings.TrimPrefix(s, c.str(0, "")), nil }},
	"removesuffix": {jinja.Takes("suffix"), func(c *input, s string) (any, error) { return strings.TrimSuffix(s, c.str(0, "")), nil }},
	"startswith":   {jinja.Takes("prefix"), func(c *input, s string) (any, error) { return c.anyOf(s, strings.HasPrefix), nil }},
	"endswith":     {jinja.Takes("suffix"), func(c *input, s string) (any, error) { return c.anyOf(s, strings.HasSuffix), nil }},

	"count":  {jinja.Takes("sub"), func(c *input, s string) (any, error) { return strings.Count(s, c.str(0, "")), nil }},
	"find":   {jinja.Takes("sub"), func(c *input, s string) (any, error) { return position(s, strings.Index(s, c.str(0, ""))), nil }},
	"rfind":  {jinja.Takes("sub"), func(c *input, s string) (any, error) { return position(s, strings.LastIndex(s, c.str(0, ""))), nil }},
	"index":  {jinja.Takes("sub"), func(c *input, s string) (any, error) { return c.mustFind(s, strings.Index(s, c.str(0, ""))) }},
	"rindex": {jinja.Takes("sub"), func(c *input, s string) (any, error) { return c.mustFind(s, strings.LastIndex(s, c.str(0, ""))) }},

	"replace": {jinja.Takes("old new count?"), func(c *input, s string) (any, error) { return filterReplace(c) }},
	"join": {jinja.Takes("list"), func(c *input, s string) (any, error) {
		return filterJoin(&input{scope: c.scope, name: c.name, value: c.args[0], args: []any{s, unset{}}})
	}},
	"split":      {jinja.Takes("sep? maxsplit?"), func(c *input, s string) (any, error) { return filterSplit(c) }},
	"rsplit":     {jinja.Takes("sep? maxsplit?"), rsplit},
	"splitlines": {jinja.Takes("keepends?"), splitLines},
	"partition": {jinja.Takes("sep"), func(c *input, s string) (any, error) {
		before, after, found := strings.Cut(s, c.str(0, ""))
		if !found {
			return []any{s, "", ""}, nil
		}
		return []any{before, c.str(0, ""), after}, nil
	}},
	"rpartition": {jinja.Takes("sep"), func(c *input, s string) (any, error) {
		i := strings.LastIndex(s, c.str(0, ""))
		if i < 0 {
			return []any{"", "", s}, nil
		}
		return []any{s[:i], c.str(0, ""), s[i+len(c.str(0, "")):]}, nil
	}},

	"center": {jinja.Takes("width fillchar?"), func(c *input, s string) (any, error) { return filterCenter(c) }},
	"ljust":  {jinja.Takes("width fillchar?"), func(c *input, s string) (any, error) { return c.padded(s, "", s, " ") }},
	"rjust":  {jinja.Takes("width fillchar?"), func(c *input, s string) (any, error) { return c.padded(s, s, "", " ") }},
	"zfill": {jinja.Takes("width"), func(c *input, s string) (any, error) {
		digits := strings.TrimLeft(s, "+-")
		sign := s[:len(s)-len(digits)]
		v, err := c.padded(s, digits, "", "0")
		if err != nil {
			return nil, err
		}
		return sign + value.Text(v), nil
	}},
}

const whiteSpace = " \t\r\n\f\v"

func plainMethod(f func(string) string) func(c *input, s string) (any, error) {
	return func(_ *input, s string) (any, error) { return f(s), nil }
}

func (c *input) stringMethod(s string) (any, error) {
	m, ok := stringMethods[c.name]
	if !ok {
		return nil, c.noMethod(slices.Sorted(maps.Keys(stringMethods)))
	}
	if m.params.Open {
		return m.run(c, s)
	}
	in, err := c.with(c.name, s, m.params, c.rest, c.named)
	if err != nil {
		return nil, err
	}
	return m.run(in, s)
}

// anyOf is startswith and endswith, which take a string or several.
func (c *input) anyOf(s string, has func(s, part string) bool) bool {
	if list, ok := c.args[0].([]any); ok {
		return slices.ContainsFunc(list, func(part any) bool { return has(s, value.Text(part)) })
	}
	return has(s, c.str(0, ""))
}

// position turns a byte index into one of characters.
func position(s string, i int) int {
	if i < 0 {
		return -1
	}
	return utf8.RuneCountInString(s[:i])
}

func (c *input) mustFind(s string, i int) (any, error) {
	if i < 0 {
		return nil, value.Errorf(value.Failure, "", "the text does not contain `%s`", c.str(0, ""))
	}
	return position(s, i), nil
}

// padded fills up before and after s, up to the width.
func (c *input) padded(s, after, before, fill string) (any, error) {
	width, fill, err := c.padding(0, fill)
	if err != nil {
		return nil, err
	}
	return before + strings.Repeat(fill, max(width-utf8.RuneCountInString(s), 0)) + after, nil
}

// padding is the width that a text is filled up to, and with which character: the first two arguments.
func (c *input) padding(otherwise int, fill string) (int, string, error) {
	width, err := c.integer(0, otherwise)
	if err != nil {
		return 0, "", err
	}
	if width > maxRange {
		return 0, "", value.Errorf(value.Failure, "", "the width %d is too large", width)
	}
	fill = c.str(1, fill)
	if utf8.RuneCountInString(fill) != 1 {
		return 0, "", value.Errorf(value.TypeError, "", "needs one character to fill up with")
	}
	return width, fill, nil
}

// rsplit takes parts from the right until the limit is reached.
func rsplit(c *input, s string) (any, error) {
	limit, err := c.integer(1, -1)
	if err != nil || limit < 0 {
		return splitText(s, c.arg(0), -1)
	}
	separator, byWords := c.str(0, ""), c.arg(0) == nil
	if separator == "" && !byWords {
		return nil, value.Errorf(value.TypeError, "", "needs a separator that is not empty")
	}
	parts := []any{}
	for len(parts) < limit {
		at, width := strings.LastIndex(s, separator), len(separator)
		if byWords {
			s = strings.TrimRight(s, whiteSpace)
			at, width = strings.LastIndexAny(s, whiteSpace), 1
		}
		if at < 0 {
			break
		}
		parts = append(parts, s[at+width:])
		s = s[:at]
	}
	if byWords {
		s = strings.Trim(s, whiteSpace)
	}
	if s != "" || !byWords {
		parts = append(parts, s)
	}
	slices.Reverse(parts)
	return parts, nil
}

func splitLines(c *input, s string) (any, error) {
	out := []any{}
	for line := range strings.Lines(s) {
		if !c.flag(0) {
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		}
		out = append(out, line)
	}
	return out, nil
}
