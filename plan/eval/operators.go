package eval

import (
	"fmt"
	"math"
	"strings"
)

// The operators are Python's, as Jinja has them: integers stay integers, // and % round down, a comparison across types
// is an error and not an order.

// fault is an error at run time; the place is added where it is known.
func fault(kind ErrorKind, hint, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Hint: hint, Offset: -1}
}

// number gives the numeric value of v. Booleans count as 0 and 1.
func number(v any) (n any, ok bool) {
	switch v := v.(type) {
	case int, float64:
		return v, true
	case Number:
		return v.Value, v.Value != nil
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return nil, false
}

func float(n any) float64 {
	switch n := n.(type) {
	case int:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

// truthy is Python's idea of truth.
func truthy(v any) bool {
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
	}
	if n, ok := number(v); ok {
		return float(n) != 0
	}
	return true
}

func equal(a, b any) bool {
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && compareNumbers(x, y) == 0
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case string:
		s, ok := b.(string)
		return ok && a == s
	case []any:
		l, ok := b.([]any)
		if !ok || len(a) != len(l) {
			return false
		}
		for i := range a {
			if !equal(a[i], l[i]) {
				return false
			}
		}
		return true
	case map[string]any, *Dict:
		return equalMaps(a, b)
	}
	return false
}

func equalMaps(a, b any) bool {
	left, _ := mapOf(a)
	right, ok := mapOf(b)
	if !ok || len(left) != len(right) {
		return false
	}
	for key, value := range left {
		other, ok := right[key]
		if !ok || !equal(value, other) {
			return false
		}
	}
	return true
}

func compareNumbers(a, b any) int {
	if x, ok := a.(int); ok {
		if y, ok := b.(int); ok {
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		}
	}
	x, y := float(a), float(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	return 2 // NaN is neither
}

// order compares two values of the same kind.
func order(a, b any) (int, *Error) {
	if x, ok := number(a); ok {
		if y, ok := number(b); ok {
			return compareNumbers(x, y), nil
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
			if c, err := order(a[i], l[i]); c != 0 || err != nil {
				return c, err
			}
		}
		return len(a) - len(l), nil
	}
	return 0, fault(Type, orderHint(a, b), "cannot compare %s with %s", kindOf(a), kindOf(b))
}

func orderHint(a, b any) string {
	_, isText := a.(string)
	_, isNumber := number(b)
	if !isText {
		_, isText = b.(string)
		_, isNumber = number(a)
	}
	if isText && isNumber {
		return "turn the string into a number with `| int` or `| float`"
	}
	return ""
}

// within is `a in b`.
func within(a, b any) (bool, *Error) {
	switch b := b.(type) {
	case string:
		if s, ok := a.(string); ok {
			return strings.Contains(b, s), nil
		}
		return false, fault(Type, "turn it into a string with `| string`", "cannot look for %s in a string", kindOf(a))
	case []any:
		for _, item := range b {
			if equal(a, item) {
				return true, nil
			}
		}
		return false, nil
	case map[string]any:
		_, ok := b[keyText(a)]
		return ok, nil
	case Object:
		v, ok := b.Get(keyText(a))
		return ok && !IsNotGiven(v), nil
	}
	return false, fault(Type, "`in` needs a string, a list or a map on its right", "cannot look into %s", kindOf(b))
}

// keyText is a value as the key of a map: keys are always strings.
func keyText(v any) string { return Text(v) }

func compare(op string, a, b any) (bool, *Error) {
	switch op {
	case "==":
		return equal(a, b), nil
	case "!=":
		return !equal(a, b), nil
	case "in":
		return within(a, b)
	case "not in":
		ok, err := within(a, b)
		return !ok, err
	}
	c, err := order(a, b)
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

// calculate applies + - * / // % ** to two values.
func (r *rendering) calculate(op string, a, b any) (any, *Error) {
	x, isX := number(a)
	y, isY := number(b)
	if isX && isY {
		return arithmeticOf(op, x, y)
	}
	switch s := a.(type) {
	case string:
		switch {
		case op == "%":
			return r.formatted(s, []any{b}, !isString(b) && isIterable(b))
		case op == "+" && isString(b):
			return r.joined(s, b.(string))
		case op == "*" && isInt(y):
			return r.repeated(s, y.(int))
		}
	case []any:
		if l, ok := b.([]any); ok && op == "+" {
			if err := r.spend(len(s) + len(l)); err != nil {
				return nil, err
			}
			return append(append(make([]any, 0, len(s)+len(l)), s...), l...), nil
		}
		if op == "*" && isInt(y) {
			return r.repeatedList(s, y.(int))
		}
	}
	if op == "*" && isInt(x) {
		switch s := b.(type) {
		case string:
			return r.repeated(s, x.(int))
		case []any:
			return r.repeatedList(s, x.(int))
		}
	}
	return nil, fault(Type, arithmeticHint(op, a, b), "`%s` does not work on %s and %s", op, kindOf(a), kindOf(b))
}

func isInt(n any) bool { _, ok := n.(int); return ok }

func isString(v any) bool { _, ok := v.(string); return ok }

func arithmeticHint(op string, a, b any) string {
	switch _, isMap := mapOf(a); {
	case op == "+" && isMap:
		return "merge maps with `| combine(…)`"
	case op == "+" && (isString(a) || isString(b)):
		return "join as text with `~`, or turn the string into a number with `| int`"
	case isString(a) || isString(b):
		return "turn the string into a number with `| int` or `| float`"
	}
	return ""
}

func arithmeticOf(op string, x, y any) (any, *Error) {
	i, isInt := x.(int)
	j, isInt2 := y.(int)
	if isInt && isInt2 && op != "/" {
		return integerOf(op, i, j)
	}
	a, b := float(x), float(y)
	if b == 0 && (op == "/" || op == "//" || op == "%") {
		return nil, fault(Failed, "", "division by zero")
	}
	switch op {
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	case "/":
		return a / b, nil
	case "//":
		return math.Floor(a / b), nil
	case "%":
		m := math.Mod(a, b)
		if m != 0 && (m < 0) != (b < 0) {
			m += b
		}
		return m, nil
	default:
		return math.Pow(a, b), nil
	}
}

func integerOf(op string, i, j int) (any, *Error) {
	tooLarge := func() (any, *Error) {
		return nil, fault(Failed, "", "the result of `%d %s %d` does not fit into 64 bits", i, op, j)
	}
	switch op {
	case "+":
		if s := i + j; (s > i) == (j > 0) {
			return s, nil
		}
		return tooLarge()
	case "-":
		if d := i - j; (d < i) == (j > 0) {
			return d, nil
		}
		return tooLarge()
	case "*":
		if p, ok := times(i, j); ok {
			return p, nil
		}
		return tooLarge()
	case "//", "%":
		if j == 0 {
			return nil, fault(Failed, "", "division by zero")
		}
		if j == -1 && i == math.MinInt {
			return tooLarge()
		}
		q, m := i/j, i%j
		if m != 0 && (m < 0) != (j < 0) {
			q, m = q-1, m+j
		}
		if op == "%" {
			return m, nil
		}
		return q, nil
	default:
		return power(i, j, tooLarge)
	}
}

func times(i, j int) (int, bool) {
	p := i * j
	if i != 0 && (p/i != j || (i == -1 && j == math.MinInt)) {
		return 0, false
	}
	return p, true
}

func power(base, exponent int, tooLarge func() (any, *Error)) (any, *Error) {
	if exponent < 0 {
		if base == 0 {
			return nil, fault(Failed, "", "division by zero")
		}
		return math.Pow(float64(base), float64(exponent)), nil
	}
	result := 1
	for exponent > 0 {
		var ok bool
		if exponent&1 == 1 {
			if result, ok = times(result, base); !ok {
				return tooLarge()
			}
		}
		if exponent >>= 1; exponent > 0 {
			if base, ok = times(base, base); !ok {
				return tooLarge()
			}
		}
	}
	return result, nil
}

// joined is a + b and a ~ b on text.
func (r *rendering) joined(a, b string) (any, *Error) {
	if err := r.grow(len(a) + len(b)); err != nil {
		return nil, err
	}
	return a + b, nil
}

func (r *rendering) repeated(s string, times int) (any, *Error) {
	times = max(times, 0)
	if times > 0 && len(s) > maxText/times {
		return nil, errTooMuchText()
	}
	if err := r.grow(len(s) * times); err != nil {
		return nil, err
	}
	return strings.Repeat(s, times), nil
}

func (r *rendering) repeatedList(l []any, times int) (any, *Error) {
	times = max(times, 0)
	if len(l) == 0 {
		return []any{}, nil
	}
	if times > 0 && len(l) > maxParts/times {
		return nil, errTooMuchWork()
	}
	if err := r.spend(len(l) * times); err != nil {
		return nil, err
	}
	out := make([]any, 0, len(l)*times)
	for range times {
		out = append(out, l...)
	}
	return out, nil
}
