package bindings

import (
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/memo"
	"moon/plan/playbook"
	"moon/plan/sequence"
	"moon/plan/vars"
)

// block renders a block of variables. They come in document order: a name means the value in effect so far, and a
// name without any value yet is taken from further down the block.
type block struct {
	m       *Maker
	entries []playbook.Entry
	state   []sequence.Progress
	index   map[string]int // of the entries
	doing   []string       // names being rendered, for the message about a circle
	from    string
	chain   []string
	frame   func() *vars.Frame  // what is in effect now, the part of the block already rendered included; never changes later
	add     func(*vars.Binding) // makes one more name visible in frame
	lenient bool                // names may be missing: a loop's item is not known yet

	// next takes a name that the block does not have from the block after it; may be nil.
	next func(name string) (any, bool)
}

func (vb *block) render() {
	vb.prepare()
	for i := range vb.entries {
		vb.one(i)
	}
}

// prepare makes pending work before anything is rendered.
func (vb *block) prepare() {
	if vb.state != nil {
		return
	}
	vb.state = make([]sequence.Progress, len(vb.entries))
	vb.index = make(map[string]int, len(vb.entries))
	for i, e := range vb.entries {
		vb.index[e.Key] = i
	}
}

func (vb *block) one(i int) {
	if vb.state[i] != sequence.Waiting {
		return
	}
	vb.state[i] = sequence.Doing
	e := vb.entries[i]
	vb.doing = append(vb.doing, e.Key)
	r := vb.m.compiler.Renderer(&plan.Env{Plan: vb.m.plan, Engine: vb.m.plan.Engine, Frame: vb.frame(), Pending: vb.pending}, vb.chain)
	r.Lenient, r.Marks = vb.lenient, true
	b := &vars.Binding{Name: e.Key, From: vb.from, Origin: e.Pos.Origin(vb.chain)}
	b.Value = plan.ForNames(r.Value(e.Value))
	// Kept as written as well: the run renders it again, with the values that it has by then.
	if b.Open = len(r.Missing) > 0; b.Open {
		// Taken after the rendering: it holds the names from further down that this one needed, and not this one
		// itself, which may extend what it hides.
		b.Raw, b.Where = e.Value, vb.frame()
	}
	vb.doing = vb.doing[:len(vb.doing)-1]
	vb.state[i] = sequence.Done
	if r.Undefined {
		return
	}
	vb.m.note(b.Name)
	vb.add(b)
}

// pending takes a name from further down the block.
func (vb *block) pending(name string) (any, bool) {
	i, ok := vb.index[name]
	switch {
	case !ok && vb.next != nil:
		return vb.next(name)
	case !ok:
		return nil, false
	case vb.state[i] == sequence.Doing:
		vb.circle(i)
		return value.Unknown{}, true
	case len(vb.doing) == memo.MaxChain:
		// Names from further down are rendered by recursion, and a stack that overflows ends the process.
		e := vb.entries[i]
		vb.m.problems.Errorf(e.Pos, utf8.RuneCountInString(e.Key), vb.chain, "write what others need before them", "%s",
			plan.ChainTooLong(e.Key))
		return value.Unknown{}, true
	}
	vb.one(i)
	return (&plan.Env{Plan: vb.m.plan, Engine: vb.m.plan.Engine, Frame: vb.frame()}).Lookup(name)
}

// circle reports variables that need each other. What they give stays unknown, so that their users say nothing about it.
func (vb *block) circle(i int) {
	e := vb.entries[i]
	names := append(slices.Clone(vb.doing[slices.Index(vb.doing, e.Key):]), e.Key)
	message := "variables that need each other: " + strings.Join(names, " → ")
	hint := "give one of them a value of its own"
	if len(names) == 2 {
		hint = "give it a value before, or use another name"
		message = "the variable `" + e.Key + "` needs itself, and has no value yet"
	}
	vb.m.problems.Report(diag.Diagnostic{
		Pos: e.Pos, Width: utf8.RuneCountInString(e.Key), Chain: vb.chain, Message: message, Hint: hint,
	})
}
