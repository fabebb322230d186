package plan

import (
	"fmt"
	"slices"

	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// Decisives are what the texts and conditions of a step have noted, with the values that names have. Where a value is not known
// either, the text that gives it stands for it, with the names of that in turn.
func (r *Renderer) Decisives(e *Env) []decisive {
	if len(r.Later) == 0 {
		return r.Decided
	}
	list := slices.Clone(r.Decided)
	seen := map[string]bool{}
	var add func(fr *vars.Frame, refs []eval.Ref)
	add = func(fr *vars.Frame, refs []eval.Ref) {
		in := *e
		in.Frame = fr
		for _, ref := range refs {
			key := fmt.Sprint(ref.Name, ref.Path)
			if seen[key] {
				continue
			}
			seen[key] = true
			v, ok := in.Lookup(ref.Name)
			// That it is undefined decides as well: a value given later would change the answer.
			if !ok {
				list = append(list, decisive{Name: "undefined." + ref.Name})
				continue
			}
			// Only the constant part of the path: another entry of the same map must not change the digest.
			if at, is := valueAt(v, ref.Path); is {
				list = append(list, decisive{Name: "value." + key, Value: at})
				continue
			}
			// What is open counts as it is written, with what that text uses in turn.
			if b := in.written(ref.Name); b != nil {
				list = append(list, decisive{Name: "text." + ref.Name, Value: Plain(b.Raw)})
				where := b.Where
				if where == nil {
					where = fr
				}
				add(where, r.refsIn(b.Raw, nil))
			}
		}
	}
	add(e.Frame, r.Later)
	return list
}

// valueAt follows the constant part of a path as far as there are maps and lists. It is not known if a running step decides it, and
// not for all facts at once: which of them a text takes is not to be seen.
func valueAt(v any, path []any) (at any, known bool) {
	for _, key := range path {
		v = value.Reveal(v)
		var next any
		var ok bool
		switch v := v.(type) {
		case value.Object:
			if name, is := key.(string); is {
				next, ok = v.Get(name)
			}
		case map[string]any:
			if name, is := key.(string); is {
				next, ok = v[name]
			}
		case []any:
			if i, is := key.(int); is && i >= 0 && i < len(v) {
				next, ok = v[i], true
			}
		}
		if !ok {
			break
		}
		v = next
	}
	switch v.(type) {
	case value.Object:
		if _, isDict := v.(*value.Dict); !isDict {
			return nil, false
		}
	case value.Fault:
		return nil, false
	}
	if _, unknown := UnknownSteps(v); unknown {
		return nil, false
	}
	return v, true
}

// written is the binding of a name whose value is written as a text that the run renders; nil if steps give it.
func (e *Env) written(name string) (found *vars.Binding) {
	e.Frame.Each(name, func(b *vars.Binding) bool {
		if !b.Raw.IsZero() && (b.Open || b.Lazy) {
			found = b
		}
		return true
	})
	return found
}

// refsIn adds the references of the texts inside a value.
func (r *Renderer) refsIn(v playbook.Value, refs []eval.Ref) []eval.Ref {
	for _, item := range v.Items() {
		refs = r.refsIn(item, refs)
	}
	for _, e := range v.Entries() {
		refs = r.refsIn(e.Value, refs)
	}
	if v.Kind() != playbook.String || v.Literal() || !eval.Templated(v.Text()) {
		return refs
	}
	if t, err := r.Engine.Template(v.Text()); err == nil { // what is wrong with it is said where it is rendered
		refs = append(refs, t.Refs()...)
	}
	return refs
}
