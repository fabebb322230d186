package value

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is how a value prints: strings as they are, true and false, a Number as it was spelled, nil as nothing, lists and
// maps as compact JSON with sorted keys, which ends after 64 MiB. Whole floats print without a fraction.
func Text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case float64:
		return FloatText(v)
	case Number:
		return v.Text
	case Secret:
		return v.String()
	case Date:
		return v.String()
	case Span:
		return v.String()
	case Omitted:
		return OmittedText
	default:
		return string(AppendJSON(nil, v, Layout{}, 0))
	}
}

// FloatText avoids exponents where a person would not write one.
func FloatText(f float64) string {
	if !isFinite(f) {
		return PythonFloat(f)
	}
	// The same bounds as in JavaScript.
	if a := math.Abs(f); a != 0 && (a < 1e-7 || a >= 1e21) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func isFinite(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) }

// Plain returns a deep copy of v in which every Number is its value, and every Dict a map, for code that knows only JSON's types.
func Plain(v any) any {
	switch v := v.(type) {
	case Number:
		return v.Value
	case Secret:
		return v.String()
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = Plain(item)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, item := range v {
			m[key] = Plain(item)
		}
		return m
	case *Dict:
		return Plain(v.values)
	default:
		return v
	}
}

// PlainShared is Plain for values that are only read: what is plain is not copied.
func PlainShared(v any) any {
	if hasNumber(v) {
		return Plain(v)
	}
	return v
}

func hasNumber(v any) bool {
	switch v := v.(type) {
	case Number, Secret, *Dict:
		return true
	case []any:
		return slices.ContainsFunc(v, hasNumber)
	case map[string]any:
		for _, item := range v {
			if hasNumber(item) {
				return true
			}
		}
	}
	return false
}

// PythonJSON is a value as Python writes it as JSON.
func PythonJSON(v any) string {
	return string(AppendJSON(nil, v, Layout{Spaced: true, PythonNumbers: true, ASCII: true}, 0))
}

// Layout of printed JSON. The zero value is compact.
type Layout struct {
	Indent        int  // spaces per level, 0 for one line
	Spaced        bool // one line, but ", " and ": "
	PythonNumbers bool // numbers as Python prints them
	ASCII         bool // everything else as \uXXXX
	Sorted        bool // the keys of all maps
}

// AppendJSON writes v as JSON with sorted keys, those of a Dict in their order unless the layout sorts them. A Number keeps its
// spelling where JSON allows it.
func AppendJSON(b []byte, v any, style Layout, level int) []byte {
	if len(b) > MaxText {
		return b
	}
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case float64:
		// JSON has no such numbers.
		if !isFinite(v) {
			return appendQuoted(b, FloatText(v))
		}
		if style.PythonNumbers {
			return append(b, PythonFloat(v)...)
		}
		return append(b, FloatText(v)...)
	case Number:
		// 0644 is not JSON: there its value is written.
		if !style.PythonNumbers && json.Valid([]byte(v.Text)) {
			return append(b, v.Text...)
		}
		return AppendJSON(b, v.Value, style, level)
	case string:
		return appendString(b, v, style)
	case []any:
		// On one line whatever the indent, as in Python.
		if len(v) == 0 {
			return append(b, "[]"...)
		}
		b = append(b, '[')
		for i, item := range v {
			b = appendSeparator(b, i, style, level+1)
			b = AppendJSON(b, item, style, level+1)
		}
		return append(appendBreak(b, style, level), ']')
	case map[string]any, *Dict:
		m, _ := MapOf(v)
		if len(m) == 0 {
			return append(b, "{}"...)
		}
		keys := KeysOf(v)
		if style.Sorted {
			keys = SortedKeys(m)
		}
		b = append(b, '{')
		for i, key := range keys {
			b = appendSeparator(b, i, style, level+1)
			b = append(appendString(b, jsonKey(v, key, style), style), ':')
			if style.Indent > 0 || style.Spaced {
				b = append(b, ' ')
			}
			b = AppendJSON(b, m[key], style, level+1)
		}
		return append(appendBreak(b, style, level), '}')
	case Secret:
		return appendQuoted(b, v.String())
	case Date:
		return appendQuoted(b, v.ISO())
	case Span:
		return appendQuoted(b, v.String())
	case Unknown:
		return appendQuoted(b, "(unknown)")
	default:
		// Nothing else is a value; print something rather than panic.
		return appendQuoted(b, KindOf(v))
	}
}

// jsonKey is a key as JSON has it. Python writes None as null there, which it prints otherwise.
func jsonKey(m any, key string, style Layout) string {
	switch real := KeyOf(m, key).(type) {
	case string, Number:
	case nil:
		return "null"
	case float64:
		if style.PythonNumbers {
			return PythonFloat(real)
		}
	}
	return key
}

func appendSeparator(b []byte, i int, style Layout, level int) []byte {
	if i > 0 {
		b = append(b, ',')
		if style.Spaced {
			b = append(b, ' ')
		}
	}
	return appendBreak(b, style, level)
}

func appendBreak(b []byte, style Layout, level int) []byte {
	if style.Indent == 0 {
		return b
	}
	b = append(b, '\n')
	for range style.Indent * level {
		b = append(b, ' ')
	}
	return b
}

func appendString(b []byte, s string, style Layout) []byte {
	from := len(b)
	b = appendQuoted(b, s)
	if !style.ASCII {
		return b
	}
	text := string(b[from:])
	b = b[:from]
	for _, r := range text {
		// JSON's escapes are those of UTF-16: beyond 16 bits a character takes two.
		switch high, low := utf16.EncodeRune(r); {
		case r < utf8.RuneSelf:
			b = append(b, byte(r))
		case high != utf8.RuneError:
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}

// appendQuoted writes a JSON string. Unlike encoding/json it leaves <, > and & alone: the text is for people and files,
// not for HTML.
func appendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0 // what is before is written
	for i := 0; i < len(s); {
		c, n := s[i], 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, n = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || n != 1 {
				i += n
				continue
			}
		} else if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		switch {
		case c >= utf8.RuneSelf:
			b = append(b, `\ufffd`...)
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\r':
			b = append(b, '\\', 'r')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i += n
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// MaxText bounds one text, in bytes.
const MaxText = 32 << 20
