package value

import (
	"encoding/json"
	"maps"
	"slices"

	"moon/secret"
)

// Secret marks, anywhere inside a value, a part that nobody may see. It prints as Shown. Computing with it gives more of the same:
// the texts of what an expression gives that has read one are marked, and added to the engine's secrets, so that they are found
// wherever they are printed. Numbers and truth values that were computed say too little to be kept apart.
type Secret struct {
	Value any    // text, a number, or a truth value
	Shown string // the text with what is secret in it left out; "" for all of it
}

// String is what can be shown.
func (s Secret) String() string {
	if s.Shown == "" {
		return secret.Mask
	}
	return s.Shown
}

// MarshalJSON implements json.Marshaler.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// Reveal is the value without marks, for those who use it. What has none is not copied.
func Reveal(v any) any {
	// Nearly always; looking costs less than a copy.
	if !Marked(v) {
		return v
	}
	return changed(v, func(s Secret) any { return s.Value })
}

// Marked reports whether any part of a value is marked.
func Marked(v any) bool {
	switch v := v.(type) {
	case Secret:
		return true
	case []any:
		return slices.ContainsFunc(v, Marked)
	case map[string]any:
		for _, item := range v {
			if Marked(item) {
				return true
			}
		}
	case *Dict:
		return Marked(v.values)
	}
	return false
}

// changed is a copy of a value with each mark replaced.
func changed(v any, by func(Secret) any) any {
	switch v := v.(type) {
	case Secret:
		return by(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = changed(v[i], by)
		}
		return list
	case map[string]any:
		// Never in place: a variable holds the map, and others read it with its marks.
		m := maps.Clone(v)
		for key := range m {
			m[key] = changed(m[key], by)
		}
		return m
	case *Dict:
		return v.With(func(item any) any { return changed(item, by) })
	}
	return v
}

// Mark marks the texts of a value for which is says so, and tells s of them. It changes nothing in place.
func Mark(s *secret.Set, v any, is func(text string) bool) any {
	switch v := v.(type) {
	case string:
		if v == "" || !is(v) {
			return v
		}
		// Added and not only marked: it is to be found wherever it is printed.
		s.Add("", v)
		return Secret{Value: v}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = Mark(s, v[i], is)
		}
		return list
	case map[string]any, *Dict:
		return MapValues(v, func(item any) any { return Mark(s, item, is) })
	}
	return v
}

// Mixed marks the texts of a value that hold secrets among other things. It changes nothing in place.
func Mixed(s *secret.Set, v any) any {
	switch v := v.(type) {
	case string:
		if !s.Has(v) {
			return v
		}
		return Secret{Value: v, Shown: s.Redact(v)}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = Mixed(s, v[i])
		}
		return list
	case map[string]any, *Dict:
		return MapValues(v, func(item any) any { return Mixed(s, item) })
	}
	return v
}

// Every is for Mark: all texts.
func Every(string) bool { return true }
