package value

import "strings"

// KindOf names the kind of a value for an error message: "a list".
func KindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any, *Namespace, *Dict, Object:
		return "a map"
	case int, float64:
		return "a number"
	case Number:
		return "a number"
	case Secret:
		return KindOf(v.Value)
	case Thing:
		return v.Kind()
	case Omitted:
		return "`omit`"
	case Unknown, *Unsettled:
		return "a value that is not known yet"
	// What is left are macros, cyclers and joiners.
	default:
		return "a function"
	}
}

// PythonType is the name of a value's type in Python.
func PythonType(v any) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case string:
		return "str"
	case int:
		return "int"
	case float64:
		return "float"
	case Number:
		return PythonType(v.Value)
	case []any:
		return "list"
	default:
		return "dict"
	}
}

// Truthy is Python's idea of truth.
func Truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	case *Dict:
		return v.Len() > 0
	case Object:
		return len(v.Keys()) > 0
	case Span:
		return v.Micros != 0
	}
	if n, ok := NumberOf(v); ok {
		return Float(n) != 0
	}
	// As in Python, where an object is true unless it says otherwise.
	return true
}

// IsString reports whether a value is text.
func IsString(v any) bool { _, ok := v.(string); return ok }

// IsIterable reports whether a value can be walked through: text, a list, a map.
func IsIterable(v any) bool {
	switch v.(type) {
	case string, []any, map[string]any, *Dict, Object, Range:
		return true
	}
	return false
}

// IsMapping reports whether a value is a map of any kind.
func IsMapping(v any) bool {
	switch v.(type) {
	case map[string]any, *Dict, Object:
		return true
	}
	return false
}

// SaysYes reports whether a text says yes.
func SaysYes(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "1", "true", "yes", "on", "y", "t":
		return true
	}
	return false
}

// SaysYesOrNo reports whether a text says yes or no.
func SaysYesOrNo(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "0", "false", "no", "off", "n", "f":
		return true
	}
	return SaysYes(s)
}

// IsDict reports whether a value is a map with an order.
func IsDict(v any) bool {
	_, ok := v.(*Dict)
	return ok
}

// Thing is what a name of a template may stand for that is not a value, such as a loop.
type Thing interface {
	// Kind names it for an error message, as KindOf does.
	Kind() string
}

// Equal is Python's ==: 1 is 1.0 and true, and maps are equal in any order.
func Equal(a, b any) bool {
	// First, as it takes booleans too: to Python true is 1.
	if x, ok := NumberOf(a); ok {
		y, ok := NumberOf(b)
		return ok && CompareNumbers(x, y) == 0
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case string:
		s, ok := OmitAsText(b).(string)
		return ok && a == s
	case Omitted:
		return Equal(OmittedText, b)
	case []any:
		l, ok := b.([]any)
		if !ok || len(a) != len(l) {
			return false
		}
		for i := range a {
			if !Equal(a[i], l[i]) {
				return false
			}
		}
		return true
	case map[string]any, *Dict:
		return equalMaps(a, b)
	case Date, Span:
		order, ok := compareTimes(a, b)
		return ok && order == 0
	}
	return false
}

func equalMaps(a, b any) bool {
	left, _ := MapOf(a)
	right, ok := MapOf(b)
	// With the same number of keys it is enough to look for those of one side.
	if !ok || len(left) != len(right) {
		return false
	}
	for key, value := range left {
		other, ok := right[key]
		if !ok || !Equal(value, other) {
			return false
		}
	}
	return true
}

// Compare compares two values of the same kind.
func Compare(a, b any) (int, *Error) {
	if x, ok := NumberOf(a); ok {
		if y, ok := NumberOf(b); ok {
			return CompareNumbers(x, y), nil
		}
	}
	switch a := a.(type) {
	case string:
		if s, ok := b.(string); ok {
			return strings.Compare(a, s), nil
		}
	case []any:
		l, ok := b.([]any)
		if !ok {
			break
		}
		for i := range min(len(a), len(l)) {
			// The first items that differ decide, as with Python's lists.
			if c, err := Compare(a[i], l[i]); c != 0 || err != nil {
				return c, err
			}
		}
		// Of two that begin alike the longer is larger.
		return len(a) - len(l), nil
	case Date, Span:
		if order, ok := compareTimes(a, b); ok {
			return order, nil
		}
	}
	return 0, Errorf(TypeError, orderHint(a, b), "cannot compare %s with %s", KindOf(a), KindOf(b))
}

func orderHint(a, b any) string {
	_, isText := a.(string)
	_, isNumber := NumberOf(b)
	if !isText {
		_, isText = b.(string)
		_, isNumber = NumberOf(a)
	}
	if isText && isNumber {
		return "turn the string into a number with `| int` or `| float`"
	}
	return ""
}

// Within is `a in b`.
func Within(a, b any) (bool, *Error) {
	switch b := b.(type) {
	case string:
		if s, ok := a.(string); ok {
			return strings.Contains(b, s), nil
		}
		// Python refuses 1 in '123' as well.
		return false, Errorf(TypeError, "turn it into a string with `| string`", "cannot look for %s in a string", KindOf(a))
	case []any:
		for _, item := range b {
			if Equal(a, item) {
				return true, nil
			}
		}
		return false, nil
	case Range:
		_, ok := b.place(a)
		return ok, nil
	case map[string]any:
		_, ok := b[KeyText(a)]
		return ok, nil
	case Object:
		v, ok := b.Get(KeyText(a))
		// A name whose steps did not run is there as a key, but counts as missing.
		return ok && !IsNotGiven(v), nil
	}
	return false, Errorf(TypeError, "`in` needs a string, a list or a map on its right", "cannot look into %s", KindOf(b))
}

// Relate decides a comparison by its operator.
func Relate(op string, a, b any) (bool, *Error) {
	switch op {
	case "==":
		return Equal(a, b), nil
	case "!=":
		return !Equal(a, b), nil
	case "in":
		return Within(a, b)
	case "not in":
		ok, err := Within(a, b)
		return !ok, err
	}
	c, err := Compare(a, b)
	// 2 is NaN: no order holds for it.
	if err != nil || c == 2 {
		return false, err
	}
	switch op {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	default:
		return c >= 0, nil
	}
}

// KeyText is a value as the key of a map: keys are always strings.
func KeyText(v any) string { return Text(v) }

// Identity is a text that is the same for equal values, for sets.
func Identity(v any) string {
	if n, ok := NumberOf(v); ok {
		// As a float, so that 1, 1.0 and true are one, as they are for Python's sets.
		return "n" + FloatText(Float(n))
	}
	if s, ok := v.(string); ok {
		return "s" + s
	}
	// The letters keep kinds apart: the text '[1]' is not the list.
	return "j" + string(AppendJSON(nil, Plain(v), Layout{}, 0))
}

// Identities are those of the items of a list.
func Identities(list []any) map[string]bool {
	ids := make(map[string]bool, len(list))
	for _, item := range list {
		ids[Identity(item)] = true
	}
	return ids
}
