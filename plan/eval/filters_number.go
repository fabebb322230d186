package eval

import (
	"math"
	"strconv"
	"strings"

	"moon/plan/eval/value"
)

// filterInt gives 0, or the default, for what is no number: Jinja's int never fails.
func filterInt(c *input) (any, error) {
	var otherwise any = 0
	if c.has(0) {
		otherwise = c.args[0]
	}
	base, err := c.integer(1, 10)
	if err != nil {
		return nil, err
	}
	if n, ok := value.NumberOf(c.value); ok {
		switch n := n.(type) {
		case int:
			return n, nil
		case float64:
			if math.Abs(n) < 1<<63 {
				return int(n), nil
			}
		}
		return otherwise, nil
	}
	s, isText := c.value.(string)
	if !isText || base != 0 && (base < 2 || base > 36) {
		return otherwise, nil
	}
	s = strings.ReplaceAll(strings.TrimSpace(s), "_", "")
	digits := s
	if prefix := map[int]string{16: "0x", 8: "0o", 2: "0b"}[base]; prefix != "" {
		sign := strings.HasPrefix(digits, "-")
		digits = strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(digits), "-"), prefix)
		if sign {
			digits = "-" + digits
		}
	}
	if n, err := strconv.ParseInt(digits, base, 64); err == nil {
		return int(n), nil
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) < 1<<63 && base == 10 {
		return int(f), nil
	}
	return otherwise, nil
}

func filterFloat(c *input) (any, error) {
	var otherwise any = 0.0
	if c.has(0) {
		otherwise = c.args[0]
	}
	if n, ok := value.NumberOf(c.value); ok {
		return value.Float(n), nil
	}
	if s, ok := c.value.(string); ok {
		if f, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil {
			return f, nil
		}
	}
	return otherwise, nil
}

func filterAbs(c *input) (any, error) {
	n, err := c.number()
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

func filterRound(c *input) (any, error) {
	n, err := c.number()
	if err != nil {
		return nil, err
	}
	precision, err := c.integer(0, 0)
	if err != nil {
		return nil, err
	}
	round := map[string]func(float64) float64{"common": math.RoundToEven, "ceil": math.Ceil, "floor": math.Floor}[c.str(1, "common")]
	if round == nil {
		return nil, value.Errorf(value.TypeError, "", "knows the methods `common`, `ceil` and `floor`, not `%s`", c.str(1, ""))
	}
	scale := math.Pow(10, float64(max(-300, min(precision, 300))))
	if value.IsInt(n) && precision >= 0 && c.str(1, "common") == "common" {
		return n, nil
	}
	f := round(value.Float(n)*scale) / scale
	if value.IsInt(n) && c.engine.Python && c.str(1, "common") == "common" {
		return int(f), nil
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return value.Float(n), nil
	}
	return f, nil
}
