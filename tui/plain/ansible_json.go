package plain

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// oneLine is a value in JSON as Ansible writes it on a line: sorted, with blanks behind commas and colons.
func oneLine(v any) string { return writeJSON(v, "") }

// indentedJSON is the same over several lines, where there is something in it.
func indentedJSON(v any) string { return writeJSON(v, "\n") }

// writeJSON writes a value. newline is what each entry begins with, or "" for all on one line.
func writeJSON(v any, newline string) string {
	var b strings.Builder
	inner, between := "", ", "
	if newline != "" {
		// Ansible's separators: ", " on one line, a bare comma before a new one.
		inner, between = newline+"    ", ","
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return "{}"
		}
		b.WriteByte('{')
		// Ansible sorts keys in what it prints.
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteString(between)
			}
			b.WriteString(inner + scalarJSON(key) + ": " + writeJSON(v[key], inner))
		}
		b.WriteString(newline + "}")
	case []string:
		list := make([]any, len(v))
		for i := range v {
			list[i] = v[i]
		}
		return writeJSON(list, newline)
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		b.WriteByte('[')
		for i := range v {
			if i > 0 {
				b.WriteString(between)
			}
			b.WriteString(inner + writeJSON(v[i], inner))
		}
		b.WriteString(newline + "]")
	default:
		return scalarJSON(v)
	}
	return b.String()
}

func scalarJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // what is no JSON is shown as text
		return strconv.Quote(fmt.Sprint(v))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
