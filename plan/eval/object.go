package eval

import (
	"fmt"
	"slices"
	"strings"

	"moon/plan/eval/jinja"
)

// Object is a map whose entries are made when they are asked for, such as hostvars. What takes one entry, asks for a key or
// walks the keys leaves the others alone; anything else gets an ordinary map of all of them.
type Object interface {
	// Get gives the entry of a key: a value as Env has them.
	Get(key string) (value any, ok bool)
	// Keys are in the order in which the entries are shown.
	Keys() []string
}

// known are the keys of an object, for "did you mean". An object that takes down which of its entries are used has Known for that.
func known(o Object) []string {
	if quiet, ok := o.(interface{ Known() []string }); ok {
		return quiet.Known()
	}
	return o.Keys()
}

// Fault is the value of a name that has none because making it went wrong: its own text has a mistake, or uses a name without
// a value. It stands anywhere inside a value. Whoever reads it gets the error, under default() and `is defined` as well.
type Fault struct {
	Err  *Error
	From string // where the value is written, as a person is told: "group_vars/web.yml:3"
	// Absent makes a fault of kind Undefined count as a name without a value, for which default() and `is defined` provide:
	// Ansible has it so.
	Absent bool
}

// NotGiven is the value of a name that steps would have given which did not run: undefined, for default() and `is defined` too. Why
// says which steps, and continues "… has no value: ".
func NotGiven(steps []int, why string) Fault {
	return Fault{Err: &Error{Kind: Undefined, Message: why, Steps: steps, Offset: -1}, Absent: true}
}

// IsNotGiven reports whether a value is one of NotGiven.
func IsNotGiven(v any) bool {
	f, ok := v.(Fault)
	return ok && f.Absent && f.From == "" && len(f.Err.Steps) > 0
}

// maxObjects bounds objects in objects: one that gives itself has no end.
const maxObjects = 20

// at is the error for reading the value under a name.
func (f Fault) at(name string) *Error {
	says := "`" + name + "`"
	switch {
	case f.From != "":
		says += " (" + f.From + ") cannot be had"
	case len(f.Err.Steps) > 0:
		says += " has no value"
	default:
		says += " cannot be had"
	}
	e := &Error{
		Kind: f.Err.Kind, Name: name, Hint: f.Err.Hint, Offset: -1, Steps: f.Err.Steps, final: !f.Absent,
		through: append([]string{says}, f.Err.through...), cause: f.Err.cause,
	}
	if e.cause == "" {
		e.cause = f.Err.Message
	}
	way := e.through
	if n := len(way); n > 2*wayShown {
		way = slices.Concat(way[:wayShown], []string{fmt.Sprintf("… %d more …", n-2*wayShown)}, way[n-wayShown:])
	}
	e.Message = strings.Join(append(slices.Clip(way), e.cause), ": ")
	return e
}

// wayShown is how many variables of each end of a long chain are named.
const wayShown = 4

// broken is the error for reading a fault under the name that a node spells.
func (s scope) broken(f Fault, n jinja.Node) error {
	name := s.text[n.Offset():max(jinja.End(n), n.Offset())]
	if name == "" || strings.Contains(name, "\n") {
		name = "the value"
	}
	return s.lacking(placed(f.at(name), n))
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
	case *box:
		return s.withoutObjects(v.value, depth, settle)
	case []any:
		if !holdsObject(v) {
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
		if !holdsObject(v) {
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
	case *Dict:
		return s.dictWithoutObjects(v, depth, settle)
	case Object:
		return s.allOf(v, depth, settle)
	}
	return v, nil
}

func (s scope) dictWithoutObjects(d *Dict, depth int, settle bool) (any, error) {
	if !holdsObject(d) {
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
func (s scope) allOf(o Object, depth int, settle bool) (any, error) {
	if p, ok := o.(Partial); ok {
		return nil, p.whole()
	}
	if depth == maxObjects {
		return nil, fault(Failed, "name the entry that is meant", "the map holds itself, or is nested too deeply")
	}
	var missing []Missing
	m := NewDict(len(o.Keys()))
	for _, key := range o.Keys() {
		v, ok, err := s.entry(o, key)
		ok = ok && !IsNotGiven(v)
		if err == nil && ok && settle {
			v, err = s.settled(v, key)
		}
		if err == nil && ok {
			v, err = s.withoutObjects(v, depth+1, settle)
		}
		if unknown, isOpen := openOf(err); isOpen {
			missing = union(missing, unknown.missing)
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
		return nil, &open{missing}
	}
	return s.ofForm(m), nil
}

// entry asks an object for a key.
func (s scope) entry(o Object, key string) (any, bool, error) {
	if err := s.spend(10); err != nil {
		return nil, false, err
	}
	v, ok := o.Get(key)
	return v, ok, nil
}

func holdsObject(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, holdsObject)
	case map[string]any:
		for _, item := range v {
			if holdsObject(item) {
				return true
			}
		}
	case *Dict:
		return holdsObject(v.values)
	case *box:
		return holdsObject(v.value)
	case Object:
		return true
	}
	return false
}
