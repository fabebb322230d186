package spec

import (
	"encoding/json"
	"strings"
)

// asMap is a value as a map. Text is one if it is written as JSON, or as names and values, a=1, b="two words", as Ansible reads it where a
// module takes a map.
func asMap(value any) (map[string]any, bool) {
	text, ok := value.(string)
	if !ok {
		m, ok := value.(map[string]any)
		return m, ok
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		var m map[string]any
		err := json.Unmarshal([]byte(text), &m)
		return m, err == nil && m != nil
	}
	m := map[string]any{}
	for _, field := range mapFields(text) {
		name, v, ok := strings.Cut(field, "=")
		if !ok {
			return nil, false
		}
		m[name] = v
	}
	return m, len(m) > 0
}

// mapFields are the parts of a text between commas and spaces that are not within quotes, without the quotes.
func mapFields(text string) (fields []string) {
	var field strings.Builder
	var quote rune // 0: outside of quotes
	escaped := false
	end := func() {
		if field.Len() > 0 {
			fields = append(fields, field.String())
		}
		field.Reset()
	}
	for _, c := range text {
		switch {
		case escaped:
			field.WriteRune(c)
			escaped = false
		case c == '\\':
			escaped = true
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		case quote == 0 && (c == ',' || c == ' '):
			end()
		default:
			field.WriteRune(c)
		}
	}
	end()
	return fields
}
