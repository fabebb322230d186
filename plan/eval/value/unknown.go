package value

import (
	"errors"
	"slices"
)

// Unknown stands, anywhere inside a value, for what a step that has not run will give.
type Unknown struct {
	Steps []int // indexes of the producing steps, ascending
	Asked bool  // no step gives it: the run has it whenever it asks
}

// UnknownOf stands for what lacks some values.
func UnknownOf(missing []Missing) Unknown {
	var all []int
	for _, m := range missing {
		all = append(all, m.Steps...)
	}
	return Unknown{SortSteps(all), AllAsked(missing)}
}

// Open is the error that carries "this depends on something not known yet" through an evaluation. Every operation but
// and, or and not passes it on.
type Open struct{ Missing []Missing }

func (*Open) Error() string { return "the value is not known yet" }

// Unsettled is what a name of the template (set, with, a macro's parameter) holds when its value is open.
type Unsettled struct{ Missing []Missing }

// OpenOf finds an *Open in an error.
func OpenOf(err error) (*Open, bool) { return errors.AsType[*Open](err) }

// IsOpen reports whether an error says that something is not known yet.
func IsOpen(err error) bool { _, ok := OpenOf(err); return ok }

// IsUnsettled reports whether a name of the template has no value yet.
func IsUnsettled(v any) bool { _, ok := v.(*Unsettled); return ok }

// UniteMissing merges missing values: each name once, its steps ascending.
func UniteMissing(a, b []Missing) []Missing {
	out := slices.Clone(a)
	for _, m := range b {
		i := slices.IndexFunc(out, func(o Missing) bool { return o.Name == m.Name })
		if i < 0 {
			out = append(out, Missing{m.Name, SortSteps(m.Steps), m.Asked})
			continue
		}
		// Cloned, since the steps are still those of a.
		out[i].Steps = SortSteps(append(slices.Clone(out[i].Steps), m.Steps...))
	}
	return out
}

// AllAsked reports whether nothing but the answers of programs and the like is missing, which the run has whenever it asks.
func AllAsked(missing []Missing) bool {
	return len(missing) > 0 && !slices.ContainsFunc(missing, func(m Missing) bool { return !m.Asked || len(m.Steps) > 0 })
}

// SortSteps is a copy of steps, ascending, each once.
func SortSteps(steps []int) []int {
	if slices.IsSorted(steps) {
		return slices.Compact(slices.Clone(steps))
	}
	sorted := slices.Sorted(slices.Values(steps))
	return slices.Compact(sorted)
}

// Contents gathers what is not known inside of a value.
type Contents struct {
	Parts   int       // looked at; lists that hold the same list twice grow exponentially
	Here    bool      // as an Unknown
	Secret  bool      // there is a Secret
	Object  bool      // there is an Object
	Fault   *Fault    // the first
	Steps   []int     // that will produce it
	Asked   bool      // none will: the run has all of it whenever it asks
	Missing []Missing // of the template's own names
}

// Take looks through a value.
func (f *Contents) Take(v any) {
	// The caller sees that there were too many; walking on would take hours.
	if f.Parts++; f.Parts > MaxParts {
		return
	}
	switch v := v.(type) {
	case Unknown:
		f.Asked = (f.Asked || !f.Here) && v.Asked
		f.Here = true
		f.Steps = append(f.Steps, v.Steps...)
	case Secret:
		f.Secret = true
	case Fault:
		if f.Fault == nil {
			f.Fault = &v
		}
	case *Dict:
		// The map inside counts itself.
		f.Parts--
		f.Take(v.values)
	case Object:
		// Not looked into: its entries are made when they are asked for.
		f.Object = true
	case *Unsettled:
		f.Missing = UniteMissing(f.Missing, v.Missing)
	case []any:
		for _, item := range v {
			f.Take(item)
		}
	case map[string]any:
		for _, item := range v {
			f.Take(item)
		}
	}
}

// MaxParts bounds the lists, maps and scalars in one value.
const MaxParts = 10_000_000
