package filters

import (
	"maps"
	"strconv"
	"strings"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// tests are what `x is name` may ask, by name. Filled by init for the same reason as filters.
var tests map[string]*Test

func init() {
	tests = map[string]*Test{
		"defined":   {Guards: true, Run: func(c *call.Input) (bool, error) { return c.Err == nil, nil }},
		"undefined": {Guards: true, Run: func(c *call.Input) (bool, error) { return c.Err != nil, nil }},

		"none":     ofValue(func(v any) bool { return v == nil }),
		"boolean":  ofValue(func(v any) bool { _, ok := v.(bool); return ok }),
		"string":   ofValue(value.IsString),
		"mapping":  ofValue(value.IsMapping),
		"sequence": ofValue(value.IsIterable),
		"iterable": ofValue(value.IsIterable),
		"number": {Run: func(c *call.Input) (bool, error) {
			return value.IsNumber(c.Value) || formOf(c.Shared).isNumber(c.Value), nil
		}},
		"integer":  ofValue(value.IsInteger),
		"float":    ofValue(func(v any) bool { return value.IsNumber(v) && !value.IsInteger(v) }),
		"callable": ofValue(func(any) bool { return false }),
		"true":     ofValue(func(v any) bool { return v == true }),
		"false":    ofValue(func(v any) bool { return v == false }),
		"lower":    ofValue(func(v any) bool { return isCased(value.Text(v), strings.ToLower) }),
		"upper":    ofValue(func(v any) bool { return isCased(value.Text(v), strings.ToUpper) }),
		"even":     {Run: func(c *call.Input) (bool, error) { return isDivisible(c, 2, 0) }},
		"odd":      {Run: func(c *call.Input) (bool, error) { return isDivisible(c, 2, 1) }},
		"divisibleby": {Params: jinja.Takes("num"), Run: func(c *call.Input) (bool, error) {
			n, err := c.ArgInt(0, 0)
			if err != nil {
				return false, err
			}
			return isDivisible(c, n, 0)
		}},
		"truthy": {Params: jinja.Takes("convert_bool?"), Run: func(c *call.Input) (bool, error) { return convertTruth(c), nil }},
		"falsy":  {Params: jinja.Takes("convert_bool?"), Run: func(c *call.Input) (bool, error) { return !convertTruth(c), nil }},
		"filter": {Run: func(c *call.Input) (bool, error) {
			_, err := Find(c.Shared, value.Text(c.Value))
			return err == nil, nil
		}},
		"test": {Run: func(c *call.Input) (bool, error) {
			_, err := FindTest(c.Shared, value.Text(c.Value))
			return err == nil, nil
		}},

		"in":       {Params: jinja.Takes("seq"), Run: func(c *call.Input) (bool, error) { return boolOf(value.Within(c.Value, c.Args[0])) }},
		"contains": {Params: jinja.Takes("item"), Run: func(c *call.Input) (bool, error) { return boolOf(value.Within(c.Args[0], c.Value)) }},
		"subset":   {Params: jinja.Takes("other"), Run: func(c *call.Input) (bool, error) { return isSubset(c.Value, c.Args[0]) }},
		"superset": {Params: jinja.Takes("other"), Run: func(c *call.Input) (bool, error) { return isSubset(c.Args[0], c.Value) }},
		"all":      {Run: func(c *call.Input) (bool, error) { return everyItemIs(c, true) }},
		"any":      {Run: func(c *call.Input) (bool, error) { ok, err := everyItemIs(c, false); return !ok, err }},

		"match": {Params: jinja.Takes("pattern ignorecase? multiline?"), Run: func(c *call.Input) (bool, error) { return matchPattern(c, "match") }},
		"search": {
			Params: jinja.Takes("pattern ignorecase? multiline?"),
			Run:    func(c *call.Input) (bool, error) { return matchPattern(c, "search") },
		},
		"regex": {
			Params: jinja.Takes("pattern ignorecase? multiline? match_type?"),
			Run:    func(c *call.Input) (bool, error) { return matchPattern(c, c.ArgText(3, "search")) },
		},
		"version": {Params: jinja.Takes("version operator? strict? version_type?"), Run: testVersion},

		"succeeded":   ofResult("failed", true),
		"failed":      ofResult("failed", false),
		"changed":     ofResult("changed", false),
		"skipped":     ofResult("skipped", false),
		"unreachable": ofResult("unreachable", false),
		"reachable":   ofResult("unreachable", true),
	}
	maps.Copy(tests, playTests())
	maps.Copy(tests, addressTests())
	for name, ops := range map[string][]string{
		"==": {"eq", "equalto", "sameas"}, "!=": {"ne"}, "<": {"lt", "lessthan"}, "<=": {"le"}, ">": {"gt", "greaterthan"}, ">=": {"ge"},
	} {
		t := &Test{
			Params: jinja.Takes("other"),
			Run:    func(c *call.Input) (bool, error) { return boolOf(value.Relate(name, c.Value, c.Args[0])) },
		}
		tests[name] = t
		for _, alias := range ops {
			tests[alias] = t
		}
	}
	for _, name := range []string{
		"defined", "undefined", "none", "boolean", "string", "mapping", "sequence", "iterable", "number", "in", "contains", "truthy",
		"falsy",
	} {
		tests[name].Objects = true
	}
	for alias, name := range map[string]string{
		"success": "succeeded", "successful": "succeeded", "failure": "failed", "change": "changed", "skip": "skipped",
		"version_compare": "version", "issubset": "subset", "issuperset": "superset", "null": "none",
	} {
		tests[alias] = tests[name]
	}
}

// isCased reports whether s is as change leaves it and has a letter that could be otherwise.
func isCased(s string, change func(string) string) bool {
	return change(s) == s && strings.ToLower(s) != strings.ToUpper(s)
}

func isDivisible(c *call.Input, by, remainder int) (bool, error) {
	n, _ := value.NumberOf(c.Value)
	i, ok := n.(int)
	if !ok {
		return false, value.Errorf(value.TypeError, "", "needs a whole number, not %s", value.KindOf(c.Value))
	}
	if by == 0 {
		return false, value.Errorf(value.Failure, "", "division by zero")
	}
	// Go's remainder has the sign of the number, Python's that of the divisor: -3 is odd.
	return (i%by+by)%by == remainder, nil
}

func convertTruth(c *call.Input) bool {
	if s, ok := c.Value.(string); ok && c.ArgTruth(0) {
		return formOf(c.Shared).holds(s)
	}
	// Without convert_bool any text that is not empty holds, "false" as well.
	return value.Truthy(c.Value)
}

func isSubset(a, b any) (bool, error) {
	small, err := value.ItemsOf(a)
	if err != nil {
		return false, err
	}
	large, err := value.ItemsOf(b)
	if err != nil {
		return false, err
	}
	ids := value.Identities(large)
	for _, item := range small {
		if !ids[value.Identity(item)] {
			return false, nil
		}
	}
	return true, nil
}

// everyItemIs reports whether all items are truthy, or all falsy.
func everyItemIs(c *call.Input, truth bool) (bool, error) {
	items, err := c.ValueItems()
	if err != nil {
		return false, err
	}
	for _, item := range items {
		if value.Truthy(item) != truth {
			return false, nil
		}
	}
	return true, nil
}

func matchPattern(c *call.Input, how string) (bool, error) {
	s, err := c.ValueText()
	if err != nil {
		return false, err
	}
	pattern := c.ArgText(0, "")
	switch how {
	case "search", "match":
	case "fullmatch":
		// In a group, since the pattern may be alternatives.
		pattern = `\A(?:` + pattern + `)\z`
	default:
		return false, value.Errorf(value.TypeError, "", "knows `search`, `match` and `fullmatch`, not `%s`", how)
	}
	re, err := c.CompilePattern(pattern, c.ArgTruth(1), c.ArgTruth(2))
	if err != nil {
		return false, err
	}
	at, err := re.Find(s, 0)
	// A search finds the leftmost: it begins at 0 if any match does.
	return at != nil && (how != "match" || at.From == 0), err
}

// ofResult is a test of a registered result.
func ofResult(field string, inverted bool) *Test {
	return &Test{Field: field, Inverted: inverted, Run: func(c *call.Input) (bool, error) {
		m, ok := value.MapOf(c.Value)
		if !ok {
			return false, value.Errorf(value.TypeError, "name a registered result", "needs the result of a step, not %s",
				value.KindOf(c.Value))
		}
		return value.Truthy(m[field]) != inverted, nil
	}}
}

func testVersion(c *call.Input) (bool, error) {
	o, err := formOf(c.Shared).compare(c)
	if err != nil {
		return false, err
	}
	switch op := c.ArgText(1, "=="); op {
	case "==", "=", "eq":
		return o == 0, nil
	case "!=", "<>", "ne":
		return o != 0, nil
	case "<", "lt":
		return o < 0, nil
	case "<=", "le":
		return o <= 0, nil
	case ">", "gt":
		return o > 0, nil
	case ">=", "ge":
		return o >= 0, nil
	default:
		return false, value.Errorf(value.TypeError, "", "does not know the operator `%s`", op)
	}
}

// looseVersions compares as Python's LooseVersion: part by part, and what has more parts is later. 1.0-rc1 is later than 1.0.
func looseVersions(a, b string) (int, *value.Error) {
	x, y := looseParts(a), looseParts(b)
	for i := range min(len(x), len(y)) {
		// Python refuses this too, with a TypeError.
		if _, isText := x[i].(string); isText != value.IsString(y[i]) {
			return 0, value.Errorf(value.TypeError, "say how they compare: `version_type='semver'`",
				"cannot compare the versions `%s` and `%s`", a, b)
		}
		if o, err := value.Compare(x[i], y[i]); o != 0 || err != nil {
			return o, err
		}
	}
	return len(x) - len(y), nil
}

func looseParts(s string) []any {
	var parts []any
	for i := 0; i < len(s); {
		end := i + 1
		switch {
		case s[i] == '.':
			i++
			continue
		case isDigit(s[i]):
			for end < len(s) && isDigit(s[end]) {
				end++
			}
		default:
			// Letters and other signs are parts of their own, as in LooseVersion's pattern.
			lower := s[i] >= 'a' && s[i] <= 'z'
			for end < len(s) && s[end] != '.' && !isDigit(s[end]) && (s[end] >= 'a' && s[end] <= 'z') == lower {
				end++
			}
		}
		if n, err := strconv.Atoi(s[i:end]); err == nil {
			parts = append(parts, n)
		} else {
			parts = append(parts, s[i:end])
		}
		i = end
	}
	return parts
}

// compareVersions compares number by number and word by word: 1.10 > 1.9, 1.0rc1 < 1.0. A leading v is ignored.
func compareVersions(a, b string) int {
	x, y := versionParts(a), versionParts(b)
	for i := range max(len(x), len(y)) {
		switch {
		case i >= len(x):
			return -restOrder(y[i])
		case i >= len(y):
			return restOrder(x[i])
		}
		m, errA := strconv.Atoi(x[i])
		n, errB := strconv.Atoi(y[i])
		switch {
		case errA == nil && errB == nil && m != n:
			return value.CompareNumbers(m, n)
		// A number is later than a word: 1.0.1 > 1.0.rc1.
		case errA == nil && errB != nil:
			return 1
		case errA != nil && errB == nil:
			return -1
		case x[i] != y[i] && errA != nil:
			return strings.Compare(x[i], y[i])
		}
	}
	return 0
}

// restOrder is how a version compares with one that lacks its next part: a further number makes it larger (unless it is
// 0), a word such as rc or beta smaller.
func restOrder(part string) int {
	if n, err := strconv.Atoi(part); err == nil {
		return min(n, 1)
	}
	return -1
}

func versionParts(s string) []string {
	s = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(s), "v"), "V")
	s, _, _ = strings.Cut(s, "+") // build metadata does not order
	var parts []string
	begin := -1
	for i := 0; i <= len(s); i++ {
		// A part ends where digits and letters meet: 1.0rc1 has four.
		if i < len(s) && isAlphanumeric(s[i]) && (begin < 0 || isDigit(s[i]) == isDigit(s[begin])) {
			if begin < 0 {
				begin = i
			}
			continue
		}
		if begin >= 0 {
			parts = append(parts, s[begin:i])
			begin = -1
		}
		if i < len(s) && isAlphanumeric(s[i]) {
			begin = i
		}
	}
	return parts
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isAlphanumeric(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
