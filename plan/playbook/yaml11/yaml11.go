package yaml11

import (
	"math"
	"strconv"
	"strings"

	"moon/internal/pattern"
)

// The forms of numbers in the types that YAML 1.1 has for them. An exponent needs a point before it and a sign, and a number without
// digits before its point has no sign.
var (
	whole    = pattern.New(`^[-+]?(0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(:[0-5]?[0-9])+)$`)
	fraction = pattern.New(`^([-+]?[0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?|\.[0-9][0-9_]*([eE][-+][0-9]+)?|` +
		`[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
)

// Number is what a plain scalar counts for: an int or a float64. Not ok: it is none, or a whole one that does not fit into 64 bits.
func Number(text string) (n any, ok bool) {
	switch plain := strings.ReplaceAll(text, "_", ""); {
	case whole.MatchString(text):
		return integer(plain)
	case fraction.MatchString(text):
		return float(plain)
	}
	return nil, false
}

// IsNumber reports whether a plain scalar is a number, of whatever size.
func IsNumber(text string) bool { return whole.MatchString(text) || fraction.MatchString(text) }

func integer(text string) (any, bool) {
	digits := strings.TrimLeft(text, "-+")
	sign := strings.TrimPrefix(text[:len(text)-len(digits)], "+")
	total := int64(0)
	if !strings.Contains(digits, ":") {
		base := 10
		switch {
		case strings.HasPrefix(digits, "0b"):
			base, digits = 2, digits[2:]
		case strings.HasPrefix(digits, "0x"):
			base, digits = 16, digits[2:]
		case strings.HasPrefix(digits, "0") && len(digits) > 1:
			base = 8
		}
		n, err := strconv.ParseInt(sign+digits, base, 64)
		return int(n), err == nil
	}
	// Base 60: hours, minutes and seconds.
	for part := range strings.SplitSeq(digits, ":") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || total > (math.MaxInt64-n)/60 {
			return nil, false
		}
		total = total*60 + n
	}
	if sign == "-" {
		total = -total
	}
	return int(total), true
}

func float(text string) (any, bool) {
	digits := strings.ToLower(strings.TrimLeft(text, "-+"))
	sign := 1.0
	if strings.HasPrefix(text, "-") {
		sign = -1
	}
	switch digits {
	case ".inf":
		return math.Inf(int(sign)), true
	case ".nan":
		return math.NaN(), true
	}
	total := 0.0
	for part := range strings.SplitSeq(digits, ":") {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil && !math.IsInf(n, 0) { // 1.0e+400 is infinite in Python
			return nil, false
		}
		total = total*60 + n
	}
	return sign * total, true
}
