package parameter

import (
	"math"
	"strconv"
	"strings"

	"moon/exec/spec"
	"moon/plan/eval/value"
)

// TypeWords are the types of parameters in words.
var TypeWords = map[string]string{
	"string": "text", "int": "a whole number", "number": "a number", "bool": "true or false", "array": "a list", "object": "a map",
}

// Convert brings a value to the type of a parameter. Text that reads as a number or boolean is one: -e gives text.
func Convert(typ string, v any) (any, bool) {
	if s, ok := v.(value.Secret); ok {
		// A secret stays one: only the value inside gets the type.
		typed, ok := Convert(typ, s.Value)
		return value.Secret{Value: typed, Shown: s.Shown}, ok
	}
	switch typ {
	case "string":
		switch v.(type) {
		case []any, map[string]any, nil:
			return nil, false
		}
		return value.Text(v), true
	case "int":
		return asAny(spec.ParseInt(value.Plain(v)))
	case "number":
		switch n := value.Plain(v).(type) {
		case int, float64:
			return n, true
		case string:
			if i, ok := spec.ParseInt(n); ok {
				return i, true
			}
			f, err := strconv.ParseFloat(strings.TrimSpace(n), 64)
			return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
		}
		return nil, false
	case "bool":
		return asAny(spec.ParseBool(value.Plain(v)))
	case "array":
		list, ok := v.([]any)
		return list, ok
	case "object":
		m, ok := v.(map[string]any)
		return m, ok
	}
	return v, true // the type itself is wrong, which has been said
}

func asAny[T any](v T, ok bool) (any, bool) { return v, ok }
