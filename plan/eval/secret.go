package eval

import (
	"moon/plan/eval/value"
)

// result is a text that was put together. shown is how it looks without its secrets.
func (r *rendering) result(text, shown string) Result {
	switch {
	case !r.Secret:
		return Result{Value: text, Missing: r.unmet}
	case len(r.unmet) > 0:
		return Result{Value: shown, Missing: r.unmet}
	}
	return Result{Value: value.Secret{Value: text, Shown: shown}}
}
