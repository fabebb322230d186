package value

import (
	"maps"
	"slices"
)

// Object is a map whose entries are made when they are asked for, such as hostvars. What takes one entry, asks for a key or
// walks the keys leaves the others alone; anything else gets an ordinary map of all of them.
type Object interface {
	// Get gives the entry of a key: a value as Env has them.
	Get(key string) (value any, ok bool)
	// Keys are in the order in which the entries are shown.
	Keys() []string
}

// KnownKeys are the keys of an object, for "did you mean". An object that takes down which of its entries are used has Known for that.
func KnownKeys(o Object) []string {
	if quiet, ok := o.(interface{ Known() []string }); ok {
		return quiet.Known()
	}
	return o.Keys()
}

// HoldsObject reports whether there is an Object in a value.
func HoldsObject(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, HoldsObject)
	case map[string]any:
		for _, item := range v {
			if HoldsObject(item) {
				return true
			}
		}
	case *Dict:
		return HoldsObject(v.values)
	case Object:
		return true
	}
	return false
}

// Partial is a map that a step will give and of which some entries are known before: what a loop over the results of another loop
// sees. Which other keys it has is not known either, so that nothing but its entries can be had of it.
type Partial struct {
	Name  string // the variable that it is the value of
	Known map[string]any
	Steps []int // that give the rest
}

// Get implements Object.
func (p Partial) Get(key string) (any, bool) {
	if v, ok := p.Known[key]; ok {
		return v, true
	}
	// Any other key may be there: it is not known, rather than missing.
	return Unknown{Steps: p.Steps}, true
}

// Keys are those that are known: there are others.
func (p Partial) Keys() []string { return SortedKeys(p.Known) }

// Whole is why all of it cannot be had.
func (p Partial) Whole() error {
	return &Open{[]Missing{{Name: p.Name, Steps: SortSteps(p.Steps)}}}
}

// IsPartial reports whether a value is a Partial.
func IsPartial(v any) bool {
	_, ok := v.(Partial)
	return ok
}

// Namespace is the one kind of value that a template may change from inside a loop: {% set ns.found = true %}.
type Namespace struct{ Fields map[string]any }

// Snapshot is what a namespace holds now, as a map.
func (ns *Namespace) Snapshot() map[string]any {
	m := make(map[string]any, len(ns.Fields))
	maps.Copy(m, ns.Fields)
	return m
}

// Held is what a name of the template holds, as a value.
func Held(v any) any {
	if ns, ok := v.(*Namespace); ok {
		return ns.Snapshot()
	}
	return v
}

// Storable refuses functions, which are no values.
func Storable(v any) *Error {
	// A list and not its opposite: what is new is refused until it is listed.
	switch v := v.(type) {
	case Range:
		return v.TooLong()
	case nil, bool, int, float64, string, Number, []any, map[string]any, *Dict, *Namespace, Omitted, Date, Span:
		return nil
	}
	return Errorf(TypeError, "call it with `()`", "%s is not a value", KindOf(v))
}

// NewNamespace makes a namespace of its first fields.
func NewNamespace(fields *Dict) *Namespace { return &Namespace{maps.Clone(fields.values)} }

// WithoutTimes is a value with the text of each date and span in its place.
func WithoutTimes(v any) any {
	switch v := v.(type) {
	case Date, Span:
		return Text(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = WithoutTimes(item)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, item := range v {
			m[key] = WithoutTimes(item)
		}
		return m
	case *Dict:
		return v.With(WithoutTimes)
	}
	return v
}
