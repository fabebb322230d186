package eval

import (
	"strings"

	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// maxObjects bounds objects in objects: one that gives itself has no end.
const maxObjects = 20

// broken is the error for reading a fault under the name that a node spells.
func (s scope) broken(f value.Fault, n jinja.Node) error {
	name := s.text[n.Offset():max(jinja.End(n), n.Offset())]
	if name == "" || strings.Contains(name, "\n") {
		name = "the value"
	}
	return s.lacking(placed(f.At(name), n))
}

// ordinary makes maps of the objects in a value. It is open, or an error, if one of their entries is.
func (s scope) ordinary(v any) (any, error) {
	if !s.objects {
		return v, nil
	}
	return s.withoutObjects(v, 0, true)
}

// stored makes maps of the objects in a value and leaves their entries as they are stored.
func (s scope) stored(v any) (any, error) {
	if !s.objects {
		return v, nil
	}
	return s.withoutObjects(v, 0, false)
}

func (s scope) withoutObjects(v any, depth int, settle bool) (any, error) {
	switch v := v.(type) {
	case *value.Box:
		return s.withoutObjects(v.Value, depth, settle)
	case []any:
		if !value.HoldsObject(v) {
			return v, nil
		}
		list := make([]any, len(v))
		for i, item := range v {
			made, err := s.withoutObjects(item, depth, settle)
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
			made, err := s.withoutObjects(item, depth, settle)
			if err != nil {
				return nil, err
			}
			m[key] = made
		}
		return m, nil
	case *value.Dict:
		return s.dictWithoutObjects(v, depth, settle)
	case value.Object:
		return s.allOf(v, depth, settle)
	}
	return v, nil
}

func (s scope) dictWithoutObjects(d *value.Dict, depth int, settle bool) (any, error) {
	if !value.HoldsObject(d) {
		return d, nil
	}
	var failed error
	made := d.With(func(v any) any {
		made, err := s.withoutObjects(v, depth, settle)
		if err != nil && failed == nil {
			failed = err
		}
		return made
	})
	return made, failed
}

// allOf makes the map of an object.
func (s scope) allOf(o value.Object, depth int, settle bool) (any, error) {
	if p, ok := o.(value.Partial); ok {
		return nil, p.Whole()
	}
	if depth == maxObjects {
		return nil, value.Errorf(value.Failure, "name the entry that is meant", "the map holds itself, or is nested too deeply")
	}
	var missing []value.Missing
	m := value.NewDict(len(o.Keys()))
	for _, key := range o.Keys() {
		v, ok, err := s.entry(o, key)
		ok = ok && !value.IsNotGiven(v)
		if err == nil && ok && settle {
			v, err = s.settled(v, key)
		}
		if err == nil && ok {
			v, err = s.withoutObjects(v, depth+1, settle)
		}
		if unknown, isOpen := value.OpenOf(err); isOpen {
			missing = value.UniteMissing(missing, unknown.Missing)
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
	return s.ofForm(m), nil
}

// entry asks an object for a key.
func (s scope) entry(o value.Object, key string) (any, bool, error) {
	if err := s.spend(10); err != nil {
		return nil, false, err
	}
	v, ok := o.Get(key)
	return v, ok, nil
}
