package eval

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// In the plays form text looks as Python prints it, because the files of people who move here must not change:
// True, None, ['a', 1], 1.0.

// print is how a value looks as text: that of the language of the playbook.
func (r *rendering) print(v any) string {
	if !r.engine.Python {
		return Text(v)
	}
	if s, ok := v.(string); ok {
		return s
	}
	return PythonText(v)
}

// shownOutput is print for what stands in {{ }}, where nothing prints as nothing.
func (r *rendering) shownOutput(v any) string {
	if v == nil {
		return ""
	}
	return r.print(v)
}

// PythonText is how Python prints a value.
func PythonText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case Secret:
		return v.String()
	}
	return string(appendRepr(nil, v))
}

// appendRepr writes a value as Python's repr does. It ends after 64 MiB.
func appendRepr(b []byte, v any) []byte {
	if len(b) > maxText {
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
		return append(b, pythonFloat(v)...)
	case Number:
		return appendRepr(b, v.Value)
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
			b = appendRepr(b, item)
		}
		return append(b, ']')
	case map[string]any, *Dict:
		b = append(b, '{')
		for i, key := range namesOf(v) {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(appendRepr(b, keyIn(v, key)), ": "...)
			item, _ := entryOf(v, key)
			b = appendRepr(b, item)
		}
		return append(b, '}')
	case *box:
		return appendRepr(b, v.value)
	case *namespace:
		return appendRepr(b, v.snapshot())
	}
	return append(b, Text(v)...)
}

// pythonFloat always has a point or an exponent.
func pythonFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
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
