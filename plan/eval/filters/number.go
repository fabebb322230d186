package filters

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"moon/plan/eval/call"
	"moon/plan/eval/value"
)

// filterInt gives 0, or the default, for what is no number: Jinja's int never fails.
func filterInt(c *call.Input) (any, error) {
	var otherwise any = 0
	if c.Has(0) {
		otherwise = c.Args[0]
	}
	base, err := c.ArgInt(1, 10)
	if err != nil {
		return nil, err
	}
	if n, ok := value.NumberOf(c.Value); ok {
		switch n := n.(type) {
		case int:
			return n, nil
		case float64:
			// What does not fit has no defined result when Go converts it.
			if math.Abs(n) < 1<<63 {
				return int(n), nil
			}
		}
		return otherwise, nil
	}
	s, isText := c.Value.(string)
	if !isText || base != 0 && (base < 2 || base > 36) {
		return otherwise, nil
	}
	// Python reads 1_000.
	s = strings.ReplaceAll(strings.TrimSpace(s), "_", "")
	digits := s
	// Python allows the prefix of the base, ParseInt only with base 0, which would also read others.
	if prefix := map[int]string{16: "0x", 8: "0o", 2: "0b"}[base]; prefix != "" {
		sign := strings.HasPrefix(digits, "-")
		digits = strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(digits), "-"), prefix)
		if sign {
			digits = "-" + digits
		}
	}
	n, err := strconv.ParseInt(digits, base, 64)
	switch {
	case err == nil:
		return int(n), nil
	case errors.Is(err, strconv.ErrRange): // Python's whole numbers have no bounds, and another number would be wrong
		return nil, value.Errorf(value.Failure, "", "%s does not fit into 64 bits", s)
	}
	// Jinja falls back to a float: '1.9' | int is 1.
	if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) < 1<<63 && base == 10 {
		return int(f), nil
	}
	return otherwise, nil
}

func filterFloat(c *call.Input) (any, error) {
	var otherwise any = 0.0
	if c.Has(0) {
		otherwise = c.Args[0]
	}
	if n, ok := value.NumberOf(c.Value); ok {
		return value.Float(n), nil
	}
	if s, ok := c.Value.(string); ok {
		if f, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil {
			return f, nil
		}
	}
	return otherwise, nil
}

func filterAbs(c *call.Input) (any, error) {
	n, err := readNumber(c)
	if err != nil {
		return nil, err
	}
	if value.CompareNumbers(n, 0) >= 0 {
		return n, nil
	}
	v, e := value.Calculate("-", 0, n)
	if e != nil {
		return nil, e
	}
	return v, nil
}

func filterRound(c *call.Input) (any, error) {
	n, err := readNumber(c)
	if err != nil {
		return nil, err
	}
	precision, err := c.ArgInt(0, 0)
	if err != nil {
		return nil, err
	}
	// Half to even, as Python rounds: 2.5 gives 2.
	round := map[string]func(float64) float64{"common": math.RoundToEven, "ceil": math.Ceil, "floor": math.Floor}[c.ArgText(1, "common")]
	if round == nil {
		return nil, value.Errorf(value.TypeError, "", "knows the methods `common`, `ceil` and `floor`, not `%s`", c.ArgText(1, ""))
	}
	// Beyond that the power is infinite or 0.
	scale := math.Pow(10, float64(max(-300, min(precision, 300))))
	if value.IsInt(n) && precision >= 0 && c.ArgText(1, "common") == "common" {
		return n, nil
	}
	f := round(value.Float(n)*scale) / scale
	if value.IsInt(n) && c.ArgText(1, "common") == "common" {
		return formOf(c.Shared).rounded(f), nil
	}
	// The number is too large for its scale: it has no digits there that could be rounded.
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return value.Float(n), nil
	}
	return f, nil
}
