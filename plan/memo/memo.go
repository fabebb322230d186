package memo

import (
	"slices"

	"moon/plan/eval/call"
	"moon/plan/eval/value"
	"moon/plan/vars"
)

// MaxChain is how many variables may be rendered one because of the other: a stack that overflows cannot be recovered from.
const MaxChain = 1000

// Memo is what the variables below one name have given, while that name is rendered.
type Memo struct {
	Work call.Work // of all of them together

	depth  int
	faults int // variables that could not be had
	values map[key]any
	hosts  map[host]*vars.Frame
	step   *Step // nil: what they give is this name's alone
}

// Step is what variables have given for names of one step while it is planned.
type Step struct {
	values map[key]kept
	hosts  map[host]*vars.Frame
}

// key is a variable in what is in effect where it is rendered.
type key struct {
	of *vars.Binding
	in *vars.Frame
}

// kept is a value with the steps whose values are known ahead and were used for it.
type kept struct {
	value any
	took  []int
}

// host is one as hostvars shows it from somewhere.
type host struct {
	of   *vars.Machine
	from *vars.Frame
}

// New keeps nothing yet. What the names of a step share is in its Step, which may be nil.
func New(step *Step) *Memo {
	m := &Memo{values: map[key]any{}, step: step}
	if step == nil {
		m.hosts = map[host]*vars.Frame{}
	} else {
		m.hosts = step.hosts
	}
	return m
}

// NewStep keeps nothing yet.
func NewStep() *Step { return &Step{values: map[key]kept{}, hosts: map[host]*vars.Frame{}} }

// Value renders a variable at most once. took is given the steps whose values are known ahead and were used; it may be nil. One that would
// be rendered because of too many others is not: then it is not ok.
func (m *Memo) Value(of *vars.Binding, in *vars.Frame, took *[]int, render func() any) (v any, ok bool) {
	k := key{of, in}
	if v, ok := m.values[k]; ok {
		return v, true
	}
	if took == nil {
		took = new([]int)
	}
	if m.step != nil {
		if one, ok := m.step.values[k]; ok {
			*took = append(*took, one.took...)
			m.values[k] = one.value
			return one.value, true
		}
	}
	if m.depth == MaxChain {
		m.faults++
		return nil, false
	}
	faults, before := m.faults, len(*took)
	m.depth++
	v = render()
	m.depth--
	if _, is := v.(value.Fault); is {
		m.faults++
	}
	m.values[k] = v
	// What went wrong may have done so because of the way that led to it: from another name there may be none.
	if m.step != nil && m.faults == faults {
		m.step.values[k] = kept{v, slices.Clone((*took)[before:])}
	}
	return v, true
}

// Host is what a host shows of itself from somewhere: the same frame each time, as values go by their frame.
func (m *Memo) Host(of *vars.Machine, from *vars.Frame, show func() *vars.Frame) *vars.Frame {
	if m == nil {
		return show()
	}
	k := host{of, from}
	fr := m.hosts[k]
	if fr == nil {
		fr = show()
		m.hosts[k] = fr
	}
	return fr
}
