package value

import (
	"fmt"
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
	// Python computes with them.
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
	// Whole numbers by themselves: beyond 2**53 floats would take different ones for equal.
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
		// 007 and +7 are kept as they are written.
		if strconv.Itoa(i) == s {
			return i
		}
		return Number{Text: s, Value: i}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		// What is not a number after all stays text.
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
	// In Python / always gives a float.
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
		// Python rounds down and not towards zero.
		return math.Floor(a / b), nil
	case "%":
		m := math.Mod(a, b)
		// Go's remainder has the sign of the dividend, Python's that of the divisor.
		if m != 0 && (m < 0) != (b < 0) {
			m += b
		}
		return m, nil
	default:
		return math.Pow(a, b), nil
	}
}

func integerOf(op string, i, j int) (any, *Error) {
	// Python's integers have no bounds; here an error is better than a wrong number.
	tooLarge := func() (any, *Error) {
		return nil, Errorf(Failure, "", "the result of `%d %s %d` does not fit into 64 bits", i, op, j)
	}
	switch op {
	case "+":
		// Adding something positive must make it larger: if not, it has wrapped.
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
		// The one quotient that does not fit.
		if j == -1 && i == math.MinInt {
			return tooLarge()
		}
		q, m := i/j, i%j
		// Rounded down, and the remainder with it.
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
	// Dividing back misses only -1 * MinInt, which wraps to itself.
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
		// A negative exponent gives a float in Python, also of whole numbers.
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
		// The last square is not needed, and might not fit although the result does.
		if exponent >>= 1; exponent > 0 {
			if base, ok = times(base, base); !ok {
				return tooLarge()
			}
		}
	}
	return result, nil
}

// Range is a range of whole numbers that is too long for a list. What takes one number of it, or only asks how many there are, works;
// what needs them all says that there are too many.
type Range struct {
	From, Step int
	Len        uint64
}

// RangeLen is how many numbers there are from a number up to and without another, in steps that are not 0.
func RangeLen(from, to, step int) uint64 {
	// Of two that are in order the distance fits, whatever their signs.
	switch {
	case step > 0 && from < to:
		return (uint64(to)-uint64(from)-1)/uint64(step) + 1
	case step < 0 && from > to:
		return (uint64(from)-uint64(to)-1)/-uint64(step) + 1
	}
	return 0
}

// At is the number at a place, from 0 on.
func (r Range) At(i uint64) int { return r.From + r.Step*int(i) }

// Kind implements Thing.
func (r Range) Kind() string { return fmt.Sprintf("a range of %d numbers", r.Len) }

// TooLong is why there is no list of them.
func (r Range) TooLong() *Error {
	return Errorf(Failure, "take one number of it, as with `| random`, or a shorter range", "a range of %d numbers is too long for a list", r.Len)
}

// place is where a number is in the range.
func (r Range) place(v any) (i uint64, ok bool) {
	n, _ := NumberOf(v)
	x, isInt := n.(int)
	if f, isFloat := n.(float64); isFloat && f == float64(int(f)) {
		x, isInt = int(f), true // 3.0 is 3
	}
	if !isInt || r.Step > 0 && x < r.From || r.Step < 0 && x > r.From {
		return 0, false
	}
	far, by := uint64(x)-uint64(r.From), uint64(r.Step)
	if r.Step < 0 {
		far, by = uint64(r.From)-uint64(x), -uint64(r.Step)
	}
	return far / by, far%by == 0 && far/by < r.Len
}

// index is the number at a place of a list, where -1 is the last.
func (r Range) index(i int) (any, bool) {
	switch {
	case i >= 0 && uint64(i) < r.Len:
		return r.At(uint64(i)), true
	case i < 0 && -uint64(i) <= r.Len:
		return r.At(r.Len - -uint64(i)), true
	}
	return nil, false
}

// Item is the number that a key names, as of a list.
func (r Range) Item(key any) (any, bool) {
	i, ok := IndexFor(key)
	if !ok {
		return nil, false
	}
	return r.index(i)
}
