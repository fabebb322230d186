package value

import (
	"math"
	"strconv"
)

// Number is a number whose spelling must survive: 0644 or 1.10. It prints as Text and computes as Value.
type Number struct {
	Text  string
	Value any // int or float64
}

// NumberOf gives the numeric value of v. Booleans count as 0 and 1.
func NumberOf(v any) (n any, ok bool) {
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

// Float is a number as NumberOf gives it, as a float.
func Float(n any) float64 {
	switch n := n.(type) {
	case int:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

// IsNumber reports whether a value is a number; a boolean is not.
func IsNumber(v any) bool {
	_, isBool := v.(bool)
	_, ok := NumberOf(v)
	return ok && !isBool
}

// IsInteger reports whether a value is a whole number; a boolean is not.
func IsInteger(v any) bool {
	n, _ := NumberOf(v)
	_, ok := n.(int)
	_, isBool := v.(bool)
	return ok && !isBool
}

// IsInt reports whether a number as NumberOf gives it is whole.
func IsInt(n any) bool { _, ok := n.(int); return ok }

// CompareNumbers gives -1, 0 or 1 for two numbers as NumberOf gives them, and 2 if one is NaN.
func CompareNumbers(a, b any) int {
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
	x, y := Float(a), Float(b)
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

// ParseNumber gives the value of a decimal number, as a Number if it would print otherwise than it is written.
func ParseNumber(s string) any {
	if i, err := strconv.Atoi(s); err == nil {
		if strconv.Itoa(i) == s {
			return i
		}
		return Number{Text: s, Value: i}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	if FloatText(f) == s {
		return f
	}
	return Number{Text: s, Value: f}
}

// Calculate applies + - * / // % ** to two numbers as NumberOf gives them.
func Calculate(op string, x, y any) (any, *Error) {
	i, isInt := x.(int)
	j, isInt2 := y.(int)
	if isInt && isInt2 && op != "/" {
		return integerOf(op, i, j)
	}
	a, b := Float(x), Float(y)
	if b == 0 && (op == "/" || op == "//" || op == "%") {
		return nil, Errorf(Failure, "", "division by zero")
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
		return nil, Errorf(Failure, "", "the result of `%d %s %d` does not fit into 64 bits", i, op, j)
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
			return nil, Errorf(Failure, "", "division by zero")
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
			return nil, Errorf(Failure, "", "division by zero")
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
