package eval

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

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
	case *box:
		return Marked(v.value)
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
	case *box:
		return &box{changed(v.value, by)}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = changed(v[i], by)
		}
		return list
	case map[string]any:
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
		s.Add("", v)
		return Secret{Value: v}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = Mark(s, v[i], is)
		}
		return list
	case map[string]any, *Dict:
		return withMap(v, func(item any) any { return Mark(s, item, is) })
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
		return withMap(v, func(item any) any { return Mixed(s, item) })
	}
	return v
}

// Every is for Mark: all texts.
func Every(string) bool { return true }

// bare takes a mark off and remembers that it was there.
func (r *rendering) bare(v any) any {
	if s, ok := v.(Secret); ok {
		r.touched = true
		r.noteMixed(s)
		return s.Value
	}
	return v
}

// noteMixed remembers a text that holds secrets and is not one as a whole, such as what a step has printed.
func (r *rendering) noteMixed(s Secret) {
	if text, ok := s.Value.(string); ok && s.Shown != "" {
		r.mixed = append(r.mixed, text)
	}
}

// bareAll takes the marks off that are inside of a value. The texts beside them stay what they were, wherever they end up.
func (r *rendering) bareAll(v any) any {
	if !Marked(v) {
		return v
	}
	r.touched = true
	if r.public == nil {
		r.public = map[string]bool{}
	}
	r.beside(v)
	return Reveal(v)
}

func (r *rendering) beside(v any) {
	switch v := v.(type) {
	case string:
		r.public[v] = true
	case Secret:
		r.noteMixed(v)
	case []any:
		for _, item := range v {
			r.beside(item)
		}
	case map[string]any:
		for _, item := range v {
			r.beside(item)
		}
	case *Dict:
		r.beside(v.values)
	}
}

// conceal marks what an expression gives that has read a secret.
func (r *rendering) conceal(v any) any {
	switch v := v.(type) {
	case string:
		if v == "" || r.public[v] {
			return v
		}
		if r.cutOut(v) {
			return Secret{Value: v, Shown: r.engine.Secrets.Redact(v)}
		}
		r.engine.Secrets.Add("", v)
		return Secret{Value: v}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = r.conceal(v[i])
		}
		return list
	case map[string]any, *Dict:
		return withMap(v, r.conceal)
	}
	return v
}

// cutOut reports whether a text was cut out of a mixed one, and no secret cut apart: what is left of the secrets in it is found
// without it. To take the lines of an output for secrets would hide them wherever else they are printed.
func (r *rendering) cutOut(text string) bool {
	for _, mixed := range r.mixed {
		at := strings.Index(mixed, text)
		if at >= 0 && r.engine.Secrets.Whole(mixed, at, at+len(text)) {
			return true
		}
	}
	return false
}

// concealed notes that the text of an output is secret, and gives what can be shown of it.
func (r *rendering) concealed(text string) string {
	if !r.touched && !r.tainted || text == "" {
		return text
	}
	if r.cutOut(text) {
		r.secret = true
		return r.engine.Secrets.Redact(text)
	}
	r.engine.Secrets.Add("", text)
	r.secret = true
	r.short = r.short || len(text) < secret.MinLength
	return secret.Mask
}

// result is a text that was put together. shown is how it looks without its secrets.
func (r *rendering) result(text, shown string) Result {
	switch {
	case !r.secret:
		return Result{Value: text, Missing: r.unmet}
	case len(r.unmet) > 0:
		return Result{Value: shown, Missing: r.unmet}
	}
	return Result{Value: Secret{Value: text, Shown: shown}}
}
