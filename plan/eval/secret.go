package eval

import (
	"strings"

	"moon/plan/eval/value"
	"moon/secret"
)

// bare takes a mark off and remembers that it was there.
func (r *rendering) bare(v any) any {
	if s, ok := v.(value.Secret); ok {
		r.touched = true
		r.noteMixed(s)
		return s.Value
	}
	return v
}

// noteMixed remembers a text that holds secrets and is not one as a whole, such as what a step has printed.
func (r *rendering) noteMixed(s value.Secret) {
	if text, ok := s.Value.(string); ok && s.Shown != "" {
		r.mixed = append(r.mixed, text)
	}
}

// bareAll takes the marks off that are inside of a value. The texts beside them stay what they were, wherever they end up.
func (r *rendering) bareAll(v any) any {
	if !value.Marked(v) {
		return v
	}
	r.touched = true
	if r.public == nil {
		r.public = map[string]bool{}
	}
	r.beside(v)
	return value.Reveal(v)
}

func (r *rendering) beside(v any) {
	switch v := v.(type) {
	case string:
		r.public[v] = true
	case value.Secret:
		r.noteMixed(v)
	case []any:
		for _, item := range v {
			r.beside(item)
		}
	case map[string]any, *value.Dict:
		entries, _ := value.MapOf(v)
		for _, item := range entries {
			r.beside(item)
		}
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
			return value.Secret{Value: v, Shown: r.engine.Secrets.Redact(v)}
		}
		r.engine.Secrets.Add("", v)
		return value.Secret{Value: v}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = r.conceal(v[i])
		}
		return list
	case map[string]any, *value.Dict:
		return value.MapValues(v, r.conceal)
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
	return Result{Value: value.Secret{Value: text, Shown: shown}}
}
