package call

import (
	"strings"

	"moon/plan/eval/value"
	"moon/secret"
)

// Unmark takes a mark off and remembers that it was there.
func (r *Rendering) Unmark(v any) any {
	if s, ok := v.(value.Secret); ok {
		r.Touched = true
		r.noteMixed(s)
		return s.Value
	}
	return v
}

// noteMixed remembers a text that holds secrets and is not one as a whole, such as what a step has printed.
func (r *Rendering) noteMixed(s value.Secret) {
	if text, ok := s.Value.(string); ok && s.Shown != "" {
		r.mixed = append(r.mixed, text)
	}
}

// unmarkAll takes the marks off that are inside of a value. The texts next to them stay what they were, wherever they end up.
func (r *Rendering) unmarkAll(v any) any {
	if !value.Marked(v) {
		return v
	}
	r.Touched = true
	if r.public == nil {
		r.public = map[string]bool{}
	}
	// Before the marks are gone, which alone tell the texts apart.
	r.notePublic(v)
	return value.Reveal(v)
}

func (r *Rendering) notePublic(v any) {
	switch v := v.(type) {
	case string:
		r.public[v] = true
	case value.Secret:
		r.noteMixed(v)
	case []any:
		for _, item := range v {
			r.notePublic(item)
		}
	case map[string]any, *value.Dict:
		entries, _ := value.MapOf(v)
		for _, item := range entries {
			r.notePublic(item)
		}
	}
}

// Conceal marks what an expression gives that has read a secret.
func (r *Rendering) Conceal(v any) any {
	switch v := v.(type) {
	case string:
		// It stood next to a secret as it is, so it says nothing of it.
		if v == "" || r.public[v] {
			return v
		}
		// Only what is secret in it is hidden: the rest was for all to see.
		if r.isCutOut(v) {
			return value.Secret{Value: v, Shown: r.Secrets.Redact(v)}
		}
		r.Secrets.Add("", v)
		return value.Secret{Value: v}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = r.Conceal(v[i])
		}
		return list
	case map[string]any, *value.Dict:
		return value.MapValues(v, r.Conceal)
	}
	return v
}

// isCutOut reports whether a text was cut out of a mixed one, and no secret cut apart: what is left of the secrets in it is found
// without it. To take the lines of an output for secrets would hide them wherever else they are printed.
func (r *Rendering) isCutOut(text string) bool {
	for _, mixed := range r.mixed {
		at := strings.Index(mixed, text)
		if at >= 0 && r.Secrets.Whole(mixed, at, at+len(text)) {
			return true
		}
	}
	return false
}

// ConcealOutput notes that the text of an output is secret, and gives what can be shown of it.
func (r *Rendering) ConcealOutput(text string) string {
	if !r.Touched && !r.Tainted || text == "" {
		return text
	}
	if r.isCutOut(text) {
		r.Secret = true
		return r.Secrets.Redact(text)
	}
	r.Secrets.Add("", text)
	r.Secret = true
	// Too short to be looked for in a text without hiding half of it.
	r.Short = r.Short || len(text) < secret.MinLength
	return secret.Mask
}
