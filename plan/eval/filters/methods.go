package filters

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"moon/internal/suggest"
	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// RunMethod calls a method of a value.
func RunMethod(c *call.Input) (any, error) {
	switch v := c.Value.(type) {
	case map[string]any, *value.Dict:
		return runMapMethod(c, v)
	case value.Object:
		return runObjectMethod(c, v)
	case []any:
		return runListMethod(c, v)
	case string:
		return runStringMethod(c, v)
	case value.Date:
		return runDateMethod(c, v)
	case value.Span:
		if c.Name == "total_seconds" {
			return v.Seconds(), nil
		}
		return nil, refuseMethod(c, []string{"total_seconds"})
	}
	return nil, refuseMethod(c, nil)
}

func refuseMethod(c *call.Input, known []string) error {
	e := value.Errorf(value.TypeError, cmp.Or(methodHints[c.Name], suggest.DidYouMean(c.Name, known)), "does not exist for %s",
		value.KindOf(c.Value))
	// The name is right in Python, so no spelling is suggested: only what a template made may change.
	if jinja.Changes[c.Name] {
		return &value.Error{
			Kind: value.TypeError, Message: "would change " + value.KindOf(c.Value) + " that does not belong to the template", Offset: -1,
			Hint: "build a new value with `+` or `| combine(…)`",
		}
	}
	return e
}

func runMapMethod(c *call.Input, m any) (any, error) {
	switch c.Name {
	case "items":
		return value.Pairs(m), nil
	case "keys":
		return c.ValueItems()
	case "values":
		return value.ValuesOf(m), nil
	// Values never change once they are made, so the same one will do.
	case "copy":
		return m, nil
	case "get":
		if len(c.Rest) < 1 || len(c.Rest) > 2 {
			return nil, value.Errorf(value.TypeError, "", "takes 1 or 2 arguments, not %d", len(c.Rest))
		}
		if v, ok := value.EntryOf(m, value.KeyText(c.Rest[0])); ok {
			return v, nil
		}
		if len(c.Rest) == 2 {
			return c.Rest[1], nil
		}
		return c.Named["default"], nil
	}
	return nil, refuseMethod(c, []string{"items", "keys", "values", "get", "copy"})
}

// runObjectMethod is runMapMethod, which asks for no more entries than it needs.
func runObjectMethod(c *call.Input, o value.Object) (any, error) {
	switch {
	case c.Name == "keys":
		return c.ValueItems()
	case c.Name == "get" && len(c.Rest) > 0:
		v, ok, err := c.ReadEntry(o, value.KeyText(c.Rest[0]))
		// A host that has not been seen is there as a key, but counts as missing.
		if ok && err == nil && !value.IsNotGiven(v) {
			return c.Settle(v, value.KeyText(c.Rest[0]))
		}
		if err != nil {
			return nil, err
		}
		// Of an empty map, so that the default and the number of arguments are treated alike.
		return runMapMethod(c, map[string]any{})
	}
	if err := c.ExpandAll(); err != nil {
		return nil, err
	}
	// Expanded it is an ordinary map: this does not come back here.
	return RunMethod(c)
}

func runListMethod(c *call.Input, l []any) (any, error) {
	switch {
	case c.Name == "copy":
		return l, nil
	case c.Name == "index" && len(c.Rest) == 1:
		for i, item := range l {
			if value.Equal(item, c.Rest[0]) {
				return i, nil
			}
		}
		return nil, value.Errorf(value.Failure, "", "the list does not contain it")
	case c.Name == "count" && len(c.Rest) == 1:
		n := 0
		for _, item := range l {
			if value.Equal(item, c.Rest[0]) {
				n++
			}
		}
		return n, nil
	}
	return nil, refuseMethod(c, []string{"index", "count", "copy"})
}

// stringMethods are Python's, as far as templates use them. The parameters are as in Python; positions count characters.
var stringMethods = map[string]struct {
	params jinja.Params
	run    func(c *call.Input, s string) (any, error)
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
	"isascii": {run: func(_ *call.Input, s string) (any, error) {
		return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0, nil
	}},
	"islower": {run: func(_ *call.Input, s string) (any, error) { return isCased(s, strings.ToLower), nil }},
	"isupper": {run: func(_ *call.Input, s string) (any, error) { return isCased(s, strings.ToUpper), nil }},
	"istitle": {run: func(_ *call.Input, s string) (any, error) { return isTitled(s), nil }},

	"format": {jinja.Takes("..."), formatFields},
	"strip":  {jinja.Takes("chars?"), func(c *call.Input, s string) (any, error) { return strings.Trim(s, c.ArgText(0, WhiteSpace)), nil }},
	"lstrip": {jinja.Takes("chars?"), func(c *call.Input, s string) (any, error) { return strings.TrimLeft(s, c.ArgText(0, WhiteSpace)), nil }},
	"rstrip": {jinja.Takes("chars?"), func(c *call.Input, s string) (any, error) { return strings.TrimRight(s, c.ArgText(0, WhiteSpace)), nil }},

	"removeprefix": {jinja.Takes("prefix"), func(c *call.Input, s string) (any, error) { return strings.TrimPrefix(s, c.ArgText(0, "")), nil }},
	"removesuffix": {jinja.Takes("suffix"), func(c *call.Input, s string) (any, error) { return strings.TrimSuffix(s, c.ArgText(0, "")), nil }},
	"startswith":   {jinja.Takes("prefix"), func(c *call.Input, s string) (any, error) { return matchesAny(c, s, strings.HasPrefix), nil }},
	"endswith":     {jinja.Takes("suffix"), func(c *call.Input, s string) (any, error) { return matchesAny(c, s, strings.HasSuffix), nil }},

	"count": {jinja.Takes("sub"), func(c *call.Input, s string) (any, error) { return strings.Count(s, c.ArgText(0, "")), nil }},
	"find": {jinja.Takes("sub"), func(c *call.Input, s string) (any, error) {
		return position(s, strings.Index(s, c.ArgText(0, ""))), nil
	}},
	"rfind": {jinja.Takes("sub"), func(c *call.Input, s string) (any, error) {
		return position(s, strings.LastIndex(s, c.ArgText(0, ""))), nil
	}},
	"index": {jinja.Takes("sub"), func(c *call.Input, s string) (any, error) {
		return findOrFail(c, s, strings.Index(s, c.ArgText(0, "")))
	}},
	"rindex": {jinja.Takes("sub"), func(c *call.Input, s string) (any, error) {
		return findOrFail(c, s, strings.LastIndex(s, c.ArgText(0, "")))
	}},

	"replace": {jinja.Takes("old new count?"), func(c *call.Input, s string) (any, error) { return filterReplace(c) }},
	"join": {jinja.Takes("list"), func(c *call.Input, s string) (any, error) {
		return filterJoin(&call.Input{Scope: c.Scope, Name: c.Name, Value: c.Args[0], Args: []any{s, call.Unset{}}})
	}},
	"split":      {jinja.Takes("sep? maxsplit?"), func(c *call.Input, s string) (any, error) { return filterSplit(c) }},
	"rsplit":     {jinja.Takes("sep? maxsplit?"), rsplit},
	"splitlines": {jinja.Takes("keepends?"), splitLines},
	"partition": {jinja.Takes("sep"), func(c *call.Input, s string) (any, error) {
		before, after, found := strings.Cut(s, c.ArgText(0, ""))
		if !found {
			return []any{s, "", ""}, nil
		}
		return []any{before, c.ArgText(0, ""), after}, nil
	}},
	"rpartition": {jinja.Takes("sep"), func(c *call.Input, s string) (any, error) {
		i := strings.LastIndex(s, c.ArgText(0, ""))
		if i < 0 {
			return []any{"", "", s}, nil
		}
		return []any{s[:i], c.ArgText(0, ""), s[i+len(c.ArgText(0, "")):]}, nil
	}},

	"center": {jinja.Takes("width fillchar?"), func(c *call.Input, s string) (any, error) { return filterCenter(c) }},
	"ljust":  {jinja.Takes("width fillchar?"), func(c *call.Input, s string) (any, error) { return padText(c, s, "", s, " ") }},
	"rjust":  {jinja.Takes("width fillchar?"), func(c *call.Input, s string) (any, error) { return padText(c, s, s, "", " ") }},
	"zfill": {jinja.Takes("width"), func(c *call.Input, s string) (any, error) {
		digits := strings.TrimLeft(s, "+-")
		sign := s[:len(s)-len(digits)]
		v, err := padText(c, s, digits, "", "0")
		if err != nil {
			return nil, err
		}
		return sign + value.Text(v), nil
	}},
}

func plainMethod(f func(string) string) func(c *call.Input, s string) (any, error) {
	return func(_ *call.Input, s string) (any, error) { return f(s), nil }
}

func runStringMethod(c *call.Input, s string) (any, error) {
	m, ok := stringMethods[c.Name]
	if !ok {
		return nil, refuseMethod(c, MethodNames())
	}
	// format reads its arguments itself: {0} and {name} need all of them.
	if m.params.Open {
		return m.run(c, s)
	}
	in, err := bindValues(c, c.Name, s, m.params, c.Rest, c.Named)
	if err != nil {
		return nil, err
	}
	return m.run(in, s)
}

// matchesAny is startswith and endswith, which take a string or several.
func matchesAny(c *call.Input, s string, has func(s, part string) bool) bool {
	if list, ok := c.Args[0].([]any); ok {
		return slices.ContainsFunc(list, func(part any) bool { return has(s, value.Text(part)) })
	}
	return has(s, c.ArgText(0, ""))
}

// position turns a byte index into one of characters.
func position(s string, i int) int {
	if i < 0 {
		return -1
	}
	return utf8.RuneCountInString(s[:i])
}

func findOrFail(c *call.Input, s string, i int) (any, error) {
	if i < 0 {
		return nil, value.Errorf(value.Failure, "", "the text does not contain `%s`", c.ArgText(0, ""))
	}
	return position(s, i), nil
}

// padText fills up before and after s, up to the width.
func padText(c *call.Input, s, after, before, fill string) (any, error) {
	width, fill, err := readPadding(c, 0, fill)
	if err != nil {
		return nil, err
	}
	return before + strings.Repeat(fill, max(width-utf8.RuneCountInString(s), 0)) + after, nil
}

// readPadding gives the width that a text is filled up to, and with which character: the first two arguments.
func readPadding(c *call.Input, otherwise int, fill string) (int, string, error) {
	width, err := c.ArgInt(0, otherwise)
	if err != nil {
		return 0, "", err
	}
	// Bounded before anything is repeated.
	if width > call.MaxRange {
		return 0, "", value.Errorf(value.Failure, "", "the width %d is too large", width)
	}
	fill = c.ArgText(1, fill)
	if utf8.RuneCountInString(fill) != 1 {
		return 0, "", value.Errorf(value.TypeError, "", "needs one character to fill up with")
	}
	return width, fill, nil
}

// rsplit takes parts from the right until the limit is reached.
func rsplit(c *call.Input, s string) (any, error) {
	limit, err := c.ArgInt(1, -1)
	// Without a limit the side from which it splits makes no difference.
	if err != nil || limit < 0 {
		return splitText(s, c.Arg(0), -1)
	}
	separator, byWords := c.ArgText(0, ""), c.Arg(0) == nil
	if separator == "" && !byWords {
		return nil, value.Errorf(value.TypeError, "", "needs a separator that is not empty")
	}
	parts := []any{}
	for len(parts) < limit {
		at, width := strings.LastIndex(s, separator), len(separator)
		if byWords {
			// Within runs of white space no empty parts come about, unlike with a separator.
			s = strings.TrimRight(s, WhiteSpace)
			at, width = strings.LastIndexAny(s, WhiteSpace), 1
		}
		if at < 0 {
			break
		}
		parts = append(parts, s[at+width:])
		s = s[:at]
	}
	if byWords {
		s = strings.TrimRight(s, WhiteSpace) // only the end that it was split from
	}
	if s != "" || !byWords {
		parts = append(parts, s)
	}
	slices.Reverse(parts)
	return parts, nil
}

func splitLines(c *call.Input, s string) (any, error) {
	out := []any{}
	// Only line feeds end a line here; Python's splitlines also knows \v, \f and U+2028.
	for line := range strings.Lines(s) {
		if !c.ArgTruth(0) {
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		}
		out = append(out, line)
	}
	return out, nil
}

// dateMethods are those of Python's datetime that a template may call.
var dateMethods = []string{"isoformat", "isoweekday", "strftime", "timestamp", "weekday"}

func runDateMethod(c *call.Input, d value.Date) (any, error) {
	switch c.Name {
	case "strftime":
		if len(c.Rest) != 1 || !value.IsString(c.Rest[0]) {
			return nil, value.Errorf(value.TypeError, "", "takes a format")
		}
		return FormatTime(d.Time, c.Rest[0].(string))
	case "isoformat":
		return d.ISO(), nil
	case "timestamp":
		return d.Unix(), nil
	// Python counts from Monday.
	case "weekday":
		return int(d.Weekday()+6) % 7, nil
	case "isoweekday":
		return int(d.Weekday()+6)%7 + 1, nil
	}
	return nil, refuseMethod(c, dateMethods)
}
