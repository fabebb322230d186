package plan

import (
	"fmt"

	"moon/plan/eval"
)

// env looks names up in a frame. It is the evaluator's view of variables, the same when planning (results nil) and
// when running.
type env struct {
	plan    *Plan
	engine  *eval.Engine
	frame   *frame
	results Results
	at      *Step                         // whose values are asked for, in the run
	pending func(name string) (any, bool) // names further down in the block of vars being rendered
	extra   map[string]any                // a step's own result, for changed_when and the like

	unapproved bool       // nothing was approved: no lookup may run a command
	ahead      bool       // a dry run asks: what commands and servers would answer is not looked up
	evaluating []*binding // lazy ones around, to find one that needs itself
	memo       *memo      // while a variable is rendered where it is used
	took       *[]int     // while planning: is given the steps whose values are known ahead and were used; may be nil
	changes    *bool      // is set where a value is known for planning and may be another in the run; may be nil
}

// magic gives a variable that says where a template stands.
func (e *env) magic(name string) (any, bool) {
	get, ok := magicNames[name]
	if !ok {
		return nil, false
	}
	return get(e)
}

// as is the environment of another host, as hostvars shows it.
func (e *env) as(m *plannedHost) *env {
	key := hostKey{m, e.frame}
	var fr *frame
	if e.memo != nil {
		fr = e.memo.hosts[key]
	}
	if fr == nil {
		sc := *e.frame.scene
		sc.role, sc.vars, sc.roleVars, sc.defaults = nil, nil, nil, nil
		fr = &frame{all: m.names, documentAt: e.frame.documentAt, producedAt: e.frame.producedAt, scene: &sc}
	}
	if e.memo != nil {
		e.memo.hosts[key] = fr
	}
	other := *e
	other.frame, other.extra, other.pending = fr, nil, nil
	return &other
}

// maxChain is how many variables may be rendered one because of the other: a stack that overflows cannot be recovered from.
const maxChain = 1000

func chainTooLong(name string) string {
	return fmt.Sprintf("the variable `%s` is needed by a chain of more than %d others", name, maxChain)
}

// memo keeps what the variables below one name have given while that name is rendered. A variable that is rendered where it is
// used may name others many times over, and they others: without it the work would double with each.
type memo struct {
	work   eval.Work
	depth  int
	values map[memoKey]any
	hosts  map[hostKey]*frame
}

// memoKey is a variable in what is in effect where it is rendered.
type memoKey struct {
	of *binding
	in *frame
}

// hostKey is a host as hostvars shows it from somewhere.
type hostKey struct {
	of   *plannedHost
	from *frame
}

// Work lets the renderings of all variables below one name share a bound.
func (e *env) Work() *eval.Work {
	if e.memo == nil {
		return nil
	}
	return &e.memo.work
}

// remembered renders a variable at most once below one name.
func (e *env) remembered(b *binding, in *frame, render func(*memo) any) any {
	m := e.memo
	if m == nil {
		m = &memo{values: map[memoKey]any{}, hosts: map[hostKey]*frame{}}
		defer e.engine.Spent(&m.work)
	}
	key := memoKey{b, in}
	if v, ok := m.values[key]; ok {
		return v
	}
	if m.depth == maxChain {
		return eval.Fault{Err: &eval.Error{Kind: eval.Failed, Message: chainTooLong(b.name), Offset: -1}, From: b.origin.String()}
	}
	m.depth++
	v := render(m)
	m.depth--
	m.values[key] = v
	return v
}
