package plan

import (
	"slices"

	"moon/plan/eval"
)

// Display is how a value of the plan prints, for views that know nothing of eval's types. What is not known yet has no
// text but the steps that will give it.
func Display(v any) (text string, after []int) {
	if u, ok := v.(eval.Unknown); ok && len(u.Steps) == 0 {
		return "known when the run starts", nil
	}
	if after = unknownIn(v, nil); len(after) > 0 {
		slices.Sort(after)
		return "", slices.Compact(after)
	}
	return eval.Text(v), nil
}

// later reports whether a value is not known when planning, and after what it is.
func (p *Plan) later(v any) (after string, unknown bool) {
	steps, unknown := unknownSteps(v)
	if !unknown {
		return "", false
	}
	return p.After(steps), true
}

// unknownSteps are the steps that give what is not known of a value; none for a fact that changes.
func unknownSteps(v any) (steps []int, unknown bool) {
	if u, ok := v.(eval.Unknown); ok {
		return u.Steps, true
	}
	_, steps = Display(v)
	return steps, len(steps) > 0
}

// unknownIn collects the steps of all unknown values inside v.
func unknownIn(v any, steps []int) []int {
	switch v := v.(type) {
	case eval.Unknown:
		return append(steps, v.Steps...)
	case []any:
		for _, item := range v {
			steps = unknownIn(item, steps)
		}
	case map[string]any:
		for _, item := range v {
			steps = unknownIn(item, steps)
		}
	case *eval.Dict:
		for _, key := range v.Keys() {
			item, _ := v.Get(key)
			steps = unknownIn(item, steps)
		}
	}
	return steps
}
