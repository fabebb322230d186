package filters

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/plan/eval/call"
	"moon/plan/eval/value"
)

// Python's str.format: 'a {} b {name:>8}'.format(…).

// formatter puts the arguments of one call into fields.
type formatter struct {
	*call.Input
	next  int  // the argument of the next {}
	named bool // a field has named its argument by number
}

func formatFields(c *call.Input, pattern string) (any, error) {
	// Before anything is padded: `{:>999999999}` would take the memory at once.
	if call.TooWide(pattern) {
		return nil, value.Errorf(value.Failure, "", "the format is too wide")
	}
	f := &formatter{Input: c}
	text, err := f.text(pattern, 0)
	if err != nil {
		return nil, err
	}
	return text, nil
}

// text fills the fields of a pattern. A field's specification may have fields itself, and those no more.
func (f *formatter) text(pattern string, depth int) (string, *value.Error) {
	var b strings.Builder
	for {
		i := strings.IndexAny(pattern, "{}")
		if i < 0 {
			b.WriteString(pattern)
			return b.String(), nil
		}
		b.WriteString(pattern[:i])
		sign, rest := pattern[i], pattern[i+1:]
		switch {
		// A doubled brace stands for one, also a closing one outside of a field.
		case rest != "" && rest[0] == sign:
			b.WriteByte(sign)
			pattern = rest[1:]
			continue
		case sign == '}':
			return "", value.Errorf(value.Failure, "write `}}` for a brace", "the format has a `}` without `{`")
		// Python allows {:{width}} and nothing deeper; it also bounds the recursion.
		case depth > 1:
			return "", value.Errorf(value.Failure, "", "the format has fields within fields within fields")
		}
		end := fieldEnd(rest)
		if end < 0 {
			return "", value.Errorf(value.Failure, "write `{{` for a brace", "the format has a `{` without `}`")
		}
		field, err := f.field(rest[:end], depth)
		if err != nil {
			return "", err
		}
		// What was written before counts too: many small fields make a large text.
		if err := f.Grow(b.Len() + len(field)); err != nil {
			return "", err
		}
		b.WriteString(field)
		pattern = rest[end+1:]
	}
}

// fieldEnd gives where the brace is that ends a field.
func fieldEnd(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// field is one name!conversion:specification.
func (f *formatter) field(text string, depth int) (string, *value.Error) {
	name, spec, _ := strings.Cut(text, ":")
	// Cut at the first colon first, and undo that only if it stood in brackets.
	if open := strings.IndexByte(name, '['); open >= 0 { // a key may have a colon
		if end := strings.IndexByte(text[open:], ']'); end >= 0 {
			after, rest, _ := strings.Cut(text[open+end:], ":")
			name, spec = text[:open+end]+after, rest
		}
	}
	name, conversion, converted := strings.Cut(name, "!")
	v, err := f.value(name)
	if err != nil {
		return "", err
	}
	// After the value: Python numbers the {} of a specification behind that of its field.
	if spec, err = f.text(spec, depth+1); err != nil {
		return "", err
	}
	switch {
	case !converted:
	case conversion == "s":
		v = f.Print(v)
	case conversion == "r", conversion == "a":
		v = f.PrintQuoted(v)
	default:
		return "", value.Errorf(value.Failure, "", "the format has an unknown conversion `!%s`", conversion)
	}
	if spec == "" {
		return f.Print(v), nil
	}
	return formatAs(v, spec)
}

// value finds the argument that a field names, as in 0.name[key].
func (f *formatter) value(name string) (any, *value.Error) {
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	v, err := f.argument(name[:end])
	for rest := name[end:]; err == nil && rest != ""; {
		var key string
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			key, rest = rest[1:end], rest[end:]
		} else {
			inside, after, found := strings.Cut(rest[1:], "]")
			// Python refuses anything but a dot or a bracket behind `]`.
			if !found || after != "" && after[0] != '.' && after[0] != '[' {
				return nil, value.Errorf(value.Failure, "", "the format has a `[` without `]`")
			}
			key, rest = inside, after
		}
		v, err = partOf(v, key)
	}
	return v, err
}

func (f *formatter) argument(name string) (any, *value.Error) {
	i, parseErr := strconv.Atoi(name)
	switch {
	// Python's rule: {} and {0} do not mix, in whichever order they come.
	case name == "" && f.named || name != "" && parseErr == nil && f.next > 0:
		return nil, value.Errorf(value.Failure, "", "the format numbers some of its fields and not all")
	case name == "":
		i = f.next
		f.next++
	case parseErr != nil:
		v, ok := f.Named[name]
		if !ok {
			return nil, value.Errorf(value.Failure, "", "the format needs a value `%s`", name)
		}
		return v, nil
	default:
		f.named = true
	}
	if i < 0 || i >= len(f.Rest) {
		return nil, value.Errorf(value.Failure, "", "the format has more `{}` than values")
	}
	return f.Rest[i], nil
}

func partOf(v any, key string) (any, *value.Error) {
	if m, ok := value.MapOf(v); ok {
		if part, ok := m[key]; ok {
			return part, nil
		}
	}
	if list, ok := v.([]any); ok {
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(list) {
			return list[i], nil
		}
	}
	return nil, value.Errorf(value.Failure, "", "%s has no `%s`, which the format needs", value.KindOf(v), key)
}

// formatSpec is [[fill]align][sign][#][0][width][grouping][.precision][letter].
type formatSpec struct {
	fill      rune
	align     byte
	sign      byte
	alternate bool
	width     int
	grouping  byte
	precision int // -1 if it is not given
	letter    byte
}

func parseFormatSpec(s string) (f formatSpec, err *value.Error) {
	f = formatSpec{fill: ' ', precision: -1}
	whole := s
	// The fill may be any character, even one of the signs for alignment, so the second character decides.
	fill, n := utf8.DecodeRuneInString(s)
	switch {
	case len(s) > n && strings.IndexByte("<>=^", s[n]) >= 0:
		f.fill, f.align, s = fill, s[n], s[n+1:]
	case strings.IndexByte("<>=^", s[0]) >= 0:
		f.align, s = s[0], s[1:]
	}
	take := func(set string) byte {
		if s == "" || strings.IndexByte(set, s[0]) < 0 {
			return 0
		}
		c := s[0]
		s = s[1:]
		return c
	}
	count := func() int {
		n := 0
		for s != "" && isDigit(s[0]) {
			n, s = n*10+int(s[0]-'0'), s[1:]
		}
		return n
	}
	f.sign = take("+- ")
	f.alternate = take("#") != 0
	// A zero before the width is short for the fill 0 with `=`, unless an alignment was given.
	if take("0") != 0 && f.align == 0 {
		f.fill, f.align = '0', '='
	}
	f.width = count()
	f.grouping = take(",_")
	if take(".") != 0 {
		if s == "" || !isDigit(s[0]) {
			return f, value.Errorf(value.Failure, "", "the format `%s` lacks its precision", whole)
		}
		f.precision = count()
	}
	f.letter = take("bcdeEfFgGnosxX%")
	// The order of the parts is fixed: what is not used up here stands in the wrong place or is unknown.
	if s != "" {
		return f, value.Errorf(value.Failure, "", "the format `%s` is wrong from `%s` on", whole, s)
	}
	return f, nil
}

// formatAs is one value as a specification wants it.
func formatAs(v any, spec string) (string, *value.Error) {
	f, err := parseFormatSpec(spec)
	if err != nil {
		return "", err
	}
	text, isText := v.(string)
	n, isNumber := value.NumberOf(v)
	switch {
	// Python refuses signs and grouping for text instead of ignoring them.
	case isText && (f.letter == 0 || f.letter == 's'):
		if f.sign != 0 || f.alternate || f.grouping != 0 || f.align == '=' && f.fill != '0' {
			return "", value.Errorf(value.Failure, "", "the format `%s` is for numbers", spec)
		}
		if end, _ := runesUpTo(text, f.precision); f.precision >= 0 {
			text = text[:end]
		}
		return f.padded("", text, '<'), nil
	case !isNumber || f.letter == 's':
		return "", value.Errorf(value.TypeError, "", "the format `%s` does not work on %s", spec, value.KindOf(v))
	}
	// A whole number may take the letters of floats, but not the other way round.
	if i, isInt := n.(int); isInt && strings.IndexByte("bcdoxXn\x00", f.letter) >= 0 {
		return f.integer(i, spec)
	}
	if strings.IndexByte("bcdoxX", f.letter) >= 0 && f.letter != 0 {
		return "", value.Errorf(value.TypeError, "", "the format `%s` needs a whole number", spec)
	}
	return f.float(value.Float(n)), nil
}

func (f formatSpec) integer(i int, spec string) (string, *value.Error) {
	if f.precision >= 0 {
		return "", value.Errorf(value.Failure, "", "the format `%s` gives a precision to a whole number", spec)
	}
	if f.letter == 'c' {
		return f.padded("", string(rune(i)), '<'), nil // what is no character becomes the one for that
	}
	base, prefix := 10, ""
	switch f.letter {
	case 'b':
		base, prefix = 2, "0b"
	case 'o':
		base, prefix = 8, "0o"
	case 'x', 'X':
		base, prefix = 16, "0"+string(f.letter)
	}
	// The sign comes with signOf: between it and the digits stand the prefix and the zeros.
	digits := strings.TrimPrefix(strconv.FormatInt(int64(i), base), "-")
	if f.letter == 'X' {
		digits = strings.ToUpper(digits)
	}
	if !f.alternate {
		prefix = ""
	}
	// Python groups hexadecimal, octal and binary digits by four.
	size := 3
	if base != 10 {
		size = 4
	}
	return f.padded(f.signOf(i < 0)+prefix, f.grouped(digits, size), '>'), nil
}

func (f formatSpec) float(x float64) string {
	precision, letter, percent := f.precision, f.letter, ""
	if letter == '%' {
		x, letter, percent = x*100, 'f', "%"
	}
	// Not x < 0: Python prints the sign of -0.0 too.
	negative := math.Signbit(x)
	x = math.Abs(x)
	var digits string
	switch {
	case math.IsInf(x, 0):
		digits = "inf"
	case math.IsNaN(x):
		digits, negative = "nan", false
	// Without a letter it is repr, the shortest text that reads back as the same number.
	case letter == 0 && precision < 0:
		digits = value.PythonFloat(x)
	case letter == 0:
		digits = shortFloat(x, max(precision, 1), 'e')
		// Without a letter a float must not look like a whole number, with g it may.
		if strings.Trim(digits, "0123456789") == "" {
			digits += ".0"
		}
	case letter == 'g', letter == 'G', letter == 'n':
		if precision < 0 {
			precision = 6
		}
		digits = shortFloat(x, max(precision, 1), 'e')
	default:
		if precision < 0 {
			precision = 6
		}
		digits = strconv.FormatFloat(x, letter|0x20, precision, 64)
	}
	if letter == 'E' || letter == 'F' || letter == 'G' {
		digits = strings.ToUpper(digits)
	}
	// Only the digits before the point are grouped.
	whole, fraction := digits, ""
	if i := strings.IndexAny(digits, ".eE"); i >= 0 {
		whole, fraction = digits[:i], digits[i:]
	}
	return f.padded(f.signOf(negative), f.grouped(whole, 3)+fraction+percent, '>')
}

// shortFloat is g: as many digits as there are and precision allows, in one of two forms.
func shortFloat(x float64, precision int, letter byte) string {
	// Rounded first: 9.99 with one digit becomes 1e+01, so the exponent is known only afterwards.
	s := strconv.FormatFloat(x, letter, precision-1, 64)
	mantissa, exponent, _ := strings.Cut(s, string(letter))
	e, _ := strconv.Atoi(exponent)
	trim := func(s string) string {
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return s
	}
	// C's rule for %g, which Python took over.
	if e < -4 || e >= precision {
		return trim(mantissa) + string(letter) + exponent
	}
	return trim(strconv.FormatFloat(x, 'f', max(precision-1-e, 0), 64))
}

func (f formatSpec) signOf(negative bool) string {
	switch {
	case negative:
		return "-"
	case f.sign == '+' || f.sign == ' ':
		return string(f.sign)
	}
	return ""
}

func (f formatSpec) grouped(digits string, size int) string {
	// inf and nan are not grouped. `inf` has letters outside of a to f, and so has `nan`.
	if f.grouping == 0 || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return digits
	}
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%size == 0 {
			b.WriteByte(f.grouping)
		}
		b.WriteRune(c)
	}
	return b.String()
}

// padded fills up to the width. What stands before a number stays before the zeros that fill it up.
func (f formatSpec) padded(before, text string, usual byte) string {
	space := max(f.width-utf8.RuneCountInString(before)-utf8.RuneCountInString(text), 0)
	align := f.align
	// Text with the fill 0 is not a number: `=` falls back to what is usual for it.
	if align == 0 || align == '=' && usual == '<' {
		align = usual
	}
	fill := func(n int) string { return strings.Repeat(string(f.fill), n) }
	switch align {
	case '<':
		return before + text + fill(space)
	case '=':
		return before + fill(space) + text
	case '^':
		return fill(space/2) + before + text + fill(space-space/2)
	}
	return fill(space) + before + text
}
