package call

import (
	"strings"

	"moon/plan/eval/value"
)

// The operators are Python's, as Jinja has them: integers stay integers, // and % round down, a comparison across types
// is an error and not an order.

// Calculate applies + - * / // % ** to two values.
func (r *Rendering) Calculate(op string, a, b any) (any, *value.Error) {
	x, isX := value.NumberOf(a)
	y, isY := value.NumberOf(b)
	if isX && isY {
		return value.Calculate(op, x, y)
	}
	if v, ok := value.CalculateTime(op, a, b); ok {
		return v, nil
	}
	switch s := a.(type) {
	case string:
		switch {
		case op == "%":
			// Python allows a map or a list to have more than the format uses, but no other operand.
			return r.FormatPercent(s, []any{b}, !value.IsString(b) && value.IsIterable(b))
		case op == "+" && value.IsString(b):
			return r.JoinTexts(s, b.(string))
		case op == "*" && value.IsInt(y):
			return r.repeatText(s, y.(int))
		}
	case []any:
		if l, ok := b.([]any); ok && op == "+" {
			if err := r.Spend(len(s) + len(l)); err != nil {
				return nil, err
			}
			// A new list: + must not change its operand, and append might.
			return append(append(make([]any, 0, len(s)+len(l)), s...), l...), nil
		}
		if op == "*" && value.IsInt(y) {
			return r.repeatList(s, y.(int))
		}
	}
	// 3 * 'a' as well as 'a' * 3.
	if op == "*" && value.IsInt(x) {
		switch s := b.(type) {
		case string:
			return r.repeatText(s, x.(int))
		case []any:
			return r.repeatList(s, x.(int))
		}
	}
	return nil, value.Errorf(value.TypeError, arithmeticHint(op, a, b), "`%s` does not work on %s and %s", op, value.KindOf(a),
		value.KindOf(b))
}

func arithmeticHint(op string, a, b any) string {
	switch _, isMap := value.MapOf(a); {
	case op == "+" && isMap:
		return "merge maps with `| combine(…)`"
	case op == "+" && (value.IsString(a) || value.IsString(b)):
		return "join as text with `~`, or turn the string into a number with `| int`"
	case value.IsString(a) || value.IsString(b):
		return "turn the string into a number with `| int` or `| float`"
	}
	return ""
}

// JoinTexts is a + b and a ~ b on text.
func (r *Rendering) JoinTexts(a, b string) (any, *value.Error) {
	if err := r.Grow(len(a) + len(b)); err != nil {
		return nil, err
	}
	return a + b, nil
}

func (r *Rendering) repeatText(s string, times int) (any, *value.Error) {
	// A negative number gives nothing, as in Python.
	times = max(times, 0)
	// By division: the product may not fit into an int.
	if times > 0 && len(s) > value.MaxText/times {
		return nil, TooMuchText()
	}
	if err := r.Grow(len(s) * times); err != nil {
		return nil, err
	}
	return strings.Repeat(s, times), nil
}

func (r *Rendering) repeatList(l []any, times int) (any, *value.Error) {
	times = max(times, 0)
	// Before the division below, and so that an empty list may be repeated any number of times.
	if len(l) == 0 {
		return []any{}, nil
	}
	if times > 0 && len(l) > value.MaxParts/times {
		return nil, errTooMuchWork()
	}
	if err := r.Spend(len(l) * times); err != nil {
		return nil, err
	}
	out := make([]any, 0, len(l)*times)
	for range times {
		out = append(out, l...)
	}
	return out, nil
}
