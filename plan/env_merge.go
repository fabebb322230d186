package plan

import (
	"slices"

	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// findMerged is Find where maps of the same name merge: from the one that counts down to the first that is not a map, or that replaces what
// is below it. As in Ansible it is decided by what is written: a template that gives a map is a text, and replaces what it hides.
func (e *Env) findMerged(name string) (any, bool) {
	stack := e.Frame.Stack(name)
	var top vars.Held // the one that counts
	var alone any     // its value, unless that is rendered here
	var parts []any
	for {
		f := finding{e: e, name: name, written: true}
		at := slices.IndexFunc(stack, func(h vars.Held) bool { return f.see(h.Binding) })
		val, ok := f.end()
		if _, waits := val.(value.Unknown); waits || at < 0 || len(f.waits) > 0 {
			// Whether there is a map below is known only in the run, and so is the whole.
			if len(parts) == 0 || waits {
				return val, ok
			}
			break
		}
		one := stack[at]
		part, isMap := val, false
		if one.Lazy {
			if isMap = one.Raw.Kind() == playbook.Map; isMap {
				part = asTree(one.Raw)
			}
		} else {
			_, isMap = value.MapOf(val)
		}
		if len(parts) == 0 {
			top, alone = one, val
		}
		if !isMap || one.Alone {
			break
		}
		parts = append(parts, part)
		stack = stack[at+1:]
		for len(stack) > 0 && stack[0].Group == one.Group {
			stack = stack[1:]
		}
	}
	switch {
	case len(parts) > 1:
		return e.renderHere(top.Binding, func(r *Renderer) any { return r.merged(parts) }), true
	case top.Lazy:
		return e.lazily(top.Binding), true
	}
	return alone, true
}

// asTree is a map as it is written, whose values are not rendered: those that another map overwrites never are.
func asTree(v playbook.Value) any {
	if v.Kind() != playbook.Map {
		return v
	}
	return mapped(v, true, asTree)
}

// merged renders the map that several make, of which the first counts most.
func (r *Renderer) merged(parts []any) any {
	all := value.NewDict(0)
	for _, part := range slices.Backward(parts) {
		all = all.MergeDeep(part)
	}
	return r.ofTree(all)
}

// ofTree renders what is left as it is written in a map.
func (r *Renderer) ofTree(v any) any {
	switch v := v.(type) {
	case playbook.Value:
		return r.Value(v)
	case *value.Dict:
		return v.With(r.ofTree)
	}
	return r.kept(v)
}
