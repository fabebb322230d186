package plan

import (
	"fmt"

	"moon/plan/eval"
)

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
	of   *machine
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
