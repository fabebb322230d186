package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PythonText is how Python prints a value.
func PythonText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case Secret:
		return v.String()
	case Omitted:
		return OmittedText
	}
	return string(AppendRepr(nil, v))
}

// AppendRepr writes a value as Python's repr does. It ends after 64 MiB.
func AppendRepr(b []byte, v any) []byte {
	// A list that holds the same list many times grows exponentially.
	if len(b) > MaxText {
		return b
	}
	switch v := v.(type) {
	case nil:
		return append(b, "None"...)
	case bool:
		if v {
			return append(b, "True"...)
		}
		return append(b, "False"...)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case float64:
		return append(b, PythonFloat(v)...)
	case Number:
		// Python has no spelling of numbers: 0644 is 420 there.
		return AppendRepr(b, v.Value)
	case string:
		return appendPythonString(b, v)
	case Secret:
		return appendPythonString(b, v.String())
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = AppendRepr(b, item)
		}
		return append(b, ']')
	case map[string]any, *Dict:
		b = append(b, '{')
		for i, key := range KeysOf(v) {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(AppendRepr(b, KeyOf(v, key)), ": "...)
			item, _ := EntryOf(v, key)
			b = AppendRepr(b, item)
		}
		return append(b, '}')
	case Omitted:
		return appendPythonString(b, OmittedText)
	case *Namespace:
		return AppendRepr(b, v.Snapshot())
	}
	return append(b, Text(v)...)
}

// PythonFloat always has a point or an exponent.
func PythonFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	// The bounds at which Python's repr changes to an exponent.
	case f != 0 && (math.Abs(f) < 1e-4 || math.Abs(f) >= 1e16):
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// appendPythonString quotes with ' unless only " spares escapes.
func appendPythonString(b []byte, s string) []byte {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b = append(b, quote)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		// A single byte that is not UTF-8, and not the character for one.
		case r == utf8.RuneError && n == 1:
			b = fmt.Appendf(b, `\x%02x`, s[i])
		case r == rune(quote) || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		// Python escapes other spaces, such as U+00A0, and IsPrint is false for them.
		case r == ' ' || unicode.IsPrint(r):
			b = append(b, s[i:i+n]...)
		case r < 0x100:
			b = fmt.Appendf(b, `\x%02x`, r)
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = fmt.Appendf(b, `\U%08x`, r)
		}
		i += n
	}
	return append(b, quote)
}

// Omitted is the type of Omit.
type Omitted struct{}

// Omit is the value of `omit` in plays: whoever sets an argument to it leaves the argument out.
var Omit = Omitted{}

// OmittedText is `omit` where it is not alone: in a text, or taken by a filter. A text that is this in the end is omit again. In Ansible
// the digits are others in each run; here a plan must be what it was.
const OmittedText = "__omit_place_holder__b6589fc6ab0dc82cf12099d1c2d40ab994e8410c"

// OmitAsText is a value with the text of omit in its place.
func OmitAsText(v any) any {
	if isOmitted(v) {
		return OmittedText
	}
	return v
}

func isOmitted(v any) bool {
	_, omitted := v.(Omitted)
	return omitted
}
