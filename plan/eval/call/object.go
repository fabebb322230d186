package call

import (
	"slices"
	"strings"

	"moon/plan/eval/value"
)

// maxObjects bounds objects in objects: one that gives itself has no end.
const maxObjects = 20

// ExpandObjects makes maps of the objects in a value. It is open, or an error, if one of their entries is.
func (r *Rendering) ExpandObjects(v any) (any, error) {
	if !r.Objects {
		return v, nil
	}
	return r.expand(v, 0, true)
}

// ExpandStored makes maps of the objects in a value and leaves their entries as they are stored.
func (r *Rendering) ExpandStored(v any) (any, error) {
	v, err := r.Changes.Current(v, r.Spend)
	if err != nil {
		return nil, err
	}
	if !r.Objects {
		return v, nil
	}
	return r.expand(v, 0, false)
}

func (r *Rendering) expand(v any, depth int, settle bool) (any, error) {
	switch v := v.(type) {
	case []any:
		// Looked through before it is copied: most values hold none.
		if !value.HoldsObject(v) {
			return v, nil
		}
		list := make([]any, len(v))
		for i, item := range v {
			// Lists and maps do not count as depth: only an object can give itself.
			made, err := r.expand(item, depth, settle)
			if err != nil {
				return nil, err
			}
			list[i] = made
		}
		return list, nil
	case map[string]any:
		if !value.HoldsObject(v) {
			return v, nil
		}
		m := make(map[string]any, len(v))
		for key, item := range v {
			made, err := r.expand(item, depth, settle)
			if err != nil {
				return nil, err
			}
			m[key] = made
		}
		return m, nil
	case *value.Dict:
		return r.expandDict(v, depth, settle)
	case value.Object:
		return r.expandObject(v, depth, settle)
	}
	return v, nil
}

func (r *Rendering) expandDict(d *value.Dict, depth int, settle bool) (any, error) {
	if !value.HoldsObject(d) {
		return d, nil
	}
	var failed error
	made := d.With(func(v any) any {
		made, err := r.expand(v, depth, settle)
		// With has no way to stop: the first error is kept, and the map thrown away.
		if err != nil && failed == nil {
			failed = err
		}
		return made
	})
	return made, failed
}

// expandObject makes the map of an object.
func (r *Rendering) expandObject(o value.Object, depth int, settle bool) (any, error) {
	// Its other keys are not known, so a map of those that are would be wrong.
	if p, ok := o.(value.Partial); ok {
		return nil, p.Whole()
	}
	if depth == maxObjects {
		return nil, value.Errorf(value.Failure, "name the entry that is meant", "the map holds itself, or is nested too deeply")
	}
	var missing []value.Missing
	m := value.NewDict(len(o.Keys()))
	for _, key := range o.Keys() {
		v, ok, err := r.ReadEntry(o, key)
		// What steps that did not run would have given is not in the map at all.
		ok = ok && !value.IsNotGiven(v)
		if err == nil && ok && settle {
			v, err = r.Settle(v, key)
		}
		if err == nil && ok {
			v, err = r.expand(v, depth+1, settle)
		}
		if unknown, isOpen := value.OpenOf(err); isOpen {
			missing = value.UniteMissing(missing, unknown.Missing)
			// All that is missing is named, and a mistake in a later entry is still found.
			continue
		}
		if err != nil {
			return nil, err
		}
		if ok {
			m.Set(key, v)
		}
	}
	if missing != nil {
		return nil, &value.Open{Missing: missing}
	}
	return r.FinishMap(m), nil
}

// ReadEntry asks an object for a key.
func (r *Rendering) ReadEntry(o value.Object, key string) (any, bool, error) {
	// An entry is a text that is rendered now.
	if err := r.Spend(10); err != nil {
		return nil, false, err
	}
	v, ok := o.Get(key)
	return v, ok, nil
}

// Settle turns a value as it is stored into one that can be computed with: open if any part of it is unknown.
func (r *Rendering) Settle(v any, root string) (any, error) {
	switch v := v.(type) {
	case value.Secret:
		return r.Unmark(v), nil
	case []any, map[string]any, *value.Dict:
		v, err := r.Changes.Current(v, r.Spend)
		if err != nil {
			return nil, err
		}
		var f value.Contents
		// One walk finds all there is to know; without findings the value is used as it is stored, and not copied.
		f.Take(v)
		r.Objects = r.Objects || f.Object
		// Weighed: to look at a part costs less than to evaluate a node.
		if err := r.Spend(f.Parts / 16); err != nil || f.Parts > value.MaxParts {
			return nil, errTooMuchWork()
		}
		if f.Here || f.Missing != nil {
			slices.SortFunc(f.Missing, func(a, b value.Missing) int { return strings.Compare(a.Name, b.Name) }) // maps have no order
			if f.Here {
				f.Missing = value.UniteMissing([]value.Missing{{Name: root, Steps: value.SortSteps(f.Steps), Asked: f.Asked}}, f.Missing)
			}
			return nil, &value.Open{Missing: f.Missing}
		}
		// A fault anywhere inside is an error for the whole.
		if f.Fault != nil {
			return nil, f.Fault.At(root)
		}
		if f.Secret {
			plain := r.unmarkAll(v)
			r.Changes.Link(plain, v)
			return plain, nil
		}
		return v, nil
	case *value.Namespace:
		return r.Settle(v.Snapshot(), root)
	case *value.Unsettled:
		return nil, &value.Open{Missing: v.Missing}
	case value.Unknown:
		return nil, &value.Open{Missing: []value.Missing{{Name: root, Steps: value.SortSteps(v.Steps), Asked: v.Asked}}}
	case value.Fault:
		return nil, v.At(root)
	}
	return v, nil
}
