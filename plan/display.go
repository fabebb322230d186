package plan

import (
	"slices"

	"moon/plan/eval/value"
)

// Display is how a value of the plan prints, for views that know nothing of eval's types. What is not known yet has no
// text but the steps that will give it.
func Display(v any) (text string, after []int) {
	if u, ok := v.(value.Unknown); ok && len(u.Steps) == 0 {
		// A fact that changes waits for no step.
		return "known when the run starts", nil
	}
	if after = unknownIn(v, nil); len(after) > 0 {
		slices.Sort(after)
		return "", slices.Compact(after)
	}
	return value.Text(v), nil
}

// UnknownSteps are the steps that give what is not known of a value; none for a fact that changes.
func UnknownSteps(v any) (steps []int, unknown bool) {
	if u, ok := v.(value.Unknown); ok {
		return u.Steps, true
	}
	_, steps = Display(v)
	return steps, len(steps) > 0
}

// unknownIn collects the steps of all unknown values inside v.
func unknownIn(v any, steps []int) []int {
	switch v := v.(type) {
	case value.Unknown:
		return append(steps, v.Steps...)
	case []any:
		for _, item := range v {
			steps = unknownIn(item, steps)
		}
	case map[string]any:
		for _, item := range v {
			steps = unknownIn(item, steps)
		}
	case *value.Dict:
		for _, key := range v.Keys() {
			item, _ := v.Get(key)
			steps = unknownIn(item, steps)
		}
	}
	return steps
}

// JSONValue turns a value into what JSON can say: an unknown one becomes null, a number keeps its value.
func JSONValue(v any) any {
	switch v := v.(type) {
	case value.Unknown:
		return nil
	case value.Number:
		return value.Ordinary(v.Value)
	case value.Secret:
		return v.String()
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = JSONValue(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k := range v {
			m[k] = JSONValue(v[k])
		}
		return m
	case *value.Dict:
		return JSONValue(value.Ordinary(v))
	}
	return value.Ordinary(v)
}
