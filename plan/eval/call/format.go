package call

import (
	"fmt"
	"strings"

	"moon/plan/eval/value"
)

// FormatPercent is Python's % on a string: %s %d %i %f %x %o %e %g %c %r %%, with flags, width, precision and names. The
// names are those of a map that is the only argument. lenient allows arguments that the format does not use.
func (r *Rendering) FormatPercent(pattern string, list []any, lenient bool) (any, *value.Error) {
	var named map[string]any
	if len(list) == 1 {
		// Python takes names from a map that is the only operand.
		named, _ = value.MapOf(list[0])
	}
	var b strings.Builder
	used := 0
	for {
		before, rest, found := strings.Cut(pattern, "%")
		b.WriteString(before)
		if !found {
			break
		}
		verb, tail, err := takeVerb(rest)
		if err != nil {
			return nil, err
		}
		pattern = tail
		if verb.letter == '%' {
			b.WriteByte('%')
			continue
		}
		var v any
		switch {
		case verb.name != "":
			val, ok := named[verb.name]
			if !ok {
				return nil, value.Errorf(value.Failure, "", "the format needs a value `%s`", verb.name)
			}
			v = val
		case used >= len(list):
			return nil, value.Errorf(value.Failure, "", "the format has more `%%` than values")
		default:
			v = list[used]
			used++
		}
		s, err := r.formatVerbed(verb, v)
		if err != nil {
			return nil, err
		}
		// What was written before counts too, so that many verbs cannot add up unseen.
		if err := r.Grow(b.Len() + len(s)); err != nil {
			return nil, err
		}
		b.WriteString(s)
	}
	if !lenient && used < len(list) {
		return nil, value.Errorf(value.Failure, "", "the format has fewer `%%` than values")
	}
	return b.String(), nil
}

// formatVerb is one %-5.2f of a format.
type formatVerb struct {
	name   string
	spec   string // flags, width and precision
	letter byte
}

func takeVerb(s string) (v formatVerb, rest string, err *value.Error) {
	if strings.HasPrefix(s, "(") {
		i := strings.IndexByte(s, ')')
		if i < 0 {
			return v, "", value.Errorf(value.Failure, "", "the format has a `%%(` without `)`")
		}
		v.name, s = s[1:i], s[i+1:]
	}
	n := 0
	for n < len(s) && strings.IndexByte("+-# 0123456789.", s[n]) >= 0 {
		n++
	}
	v.spec = s[:n]
	// Before it is used: Go would pad at once.
	if TooWide(v.spec) {
		return v, "", value.Errorf(value.Failure, "", "the format `%%%s` is too wide", v.spec)
	}
	if n == len(s) {
		return v, "", value.Errorf(value.Failure, "write `%%` for a percent sign", "the format ends in `%%`")
	}
	v.letter = s[n]
	return v, s[n+1:], nil
}

// formatVerbed is one value as a verb of a format has it.
func (r *Rendering) formatVerbed(v formatVerb, val any) (string, *value.Error) {
	switch v.letter {
	case 's':
		return fmt.Sprintf("%"+v.spec+"s", r.Print(val)), nil
	case 'r', 'a':
		return fmt.Sprintf("%"+v.spec+"s", r.PrintQuoted(val)), nil
	case 'c':
		return fmt.Sprintf("%"+v.spec+"s", value.Text(val)), nil
	}
	// Behind the verbs of text, which take anything; Python refuses text for numbers.
	n, ok := value.NumberOf(val)
	if !ok {
		return "", value.Errorf(value.TypeError, "", "`%%%c` needs a number, not %s", v.letter, value.KindOf(val))
	}
	switch v.letter {
	case 'd', 'i', 'u':
		i, isInt := n.(int)
		if !isInt {
			// Python cuts a float off for %d, and refuses one for %x.
			i = int(value.Float(n))
		}
		return fmt.Sprintf("%"+v.spec+"d", i), nil
	case 'x', 'X', 'o':
		i, isInt := n.(int)
		if !isInt {
			return "", value.Errorf(value.TypeError, "", "`%%%c` needs a whole number", v.letter)
		}
		return fmt.Sprintf("%"+v.spec+string(v.letter), i), nil
	case 'f', 'F', 'e', 'E', 'g', 'G':
		return fmt.Sprintf("%"+v.spec+string(v.letter), value.Float(n)), nil
	}
	return "", value.Errorf(value.Failure, "write `%%` for a percent sign", "the format has an unknown `%%%c`", v.letter)
}

// TooWide finds widths in a format that would make megabytes of padding.
func TooWide(format string) bool {
	digits := 0
	for i := range len(format) {
		if digits++; format[i] < '0' || format[i] > '9' {
			digits = 0
		}
		// Five digits are far more than any table is wide.
		if digits > 5 {
			return true
		}
	}
	return false
}
