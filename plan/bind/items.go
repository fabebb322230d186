package bind

import (
	"fmt"
	"strings"

	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/loops"
	"moon/plan/playbook"
	"moon/plan/source"
)

// Items finds what an open loop runs over, or the one name that an open place waits for. Where the list cannot be had and a condition
// of the task is false without any item, skipped is that condition, and there is no error: Ansible asks the condition then, too.
func (b *Bound) Items() (items []any, skipped string, err error) {
	if name := b.Step.Task.Finds.Name; !name.IsZero() {
		items, err = b.named(name)
		return items, "", err
	}
	items, err = b.items()
	if err == nil {
		return items, "", nil
	}
	r, problems := b.collecting()
	if v := r.Decide(b.Step.Task.Finds.Guard); v.Known && !v.Holds && len(*problems) == 0 {
		return nil, v.Culprit, nil
	}
	return nil, "", err
}

// named finds what is named at an open place. An empty name is one, and what is behind the place says what is wrong with it.
func (b *Bound) named(name playbook.Value) ([]any, error) {
	r, problems := b.collecting()
	r.Marks = true
	val := r.Value(name)
	if err := b.failure(r, problems); err != nil {
		return nil, err
	}
	if b.Step.Place.What == "host" && strings.TrimSpace(value.Text(value.Reveal(val))) == "" {
		return nil, &Problem{diag.Diagnostic{Pos: name.Pos(), Message: "`delegate_to` names no host"}}
	}
	return []any{val}, nil
}

func (b *Bound) items() ([]any, error) {
	loop, action := b.Step.Task.Finds.Src.Loop, b.Step.Task.Finds.Src.Action
	over := loop.Over
	problem := func(message, hint string) error {
		return &Problem{diag.Diagnostic{Pos: over.Pos(), Message: message, Hint: hint}}
	}
	val, err := b.listOf(over)
	if err != nil {
		return nil, err
	}
	if loop.Kind == playbook.Lookup {
		name := strings.TrimPrefix(loop.Key, "with_")
		list, missing, err := b.plan.Engine.LookupItems(b.env, name, val, source.SourceDirs[action])
		if err == nil && len(missing) > 0 {
			err = missingOf(missing)
		}
		if err != nil {
			return nil, err
		}
		val = list
	}
	items, ok := loops.Items(loop, val)
	if !ok {
		message, hint := loops.NoItems(loop, val)
		return nil, problem(message+"; "+hint, "")
	}
	most := b.plan.Basis.O.MaxExpansion
	if most == 0 {
		most = 10_000
	}
	if len(items) > most {
		return nil, problem(fmt.Sprintf("this loop has %d items, and a run may find %d; raise the limit with --max-expansion",
			len(items), most), "")
	}
	return items, nil
}

// listOf is the value that a loop is given: of a template, of a bare expression, of a map or list as written.
func (b *Bound) listOf(over playbook.Value) (any, error) {
	r, problems := b.collecting()
	r.Marks = true
	if over.Kind() != playbook.String || eval.Templated(over.Text()) {
		val := r.Value(over)
		return val, b.failure(r, problems)
	}
	x, err := b.plan.Engine.Expression(over.Text(), languageOf(b.plan))
	if err != nil {
		return nil, err
	}
	result, err := x.Value(b.env)
	if m := (&Names{b: b}).lacks(b.env, err); m != nil {
		return nil, m
	}
	if err == nil && len(result.Missing) > 0 {
		err = missingOf(result.Missing)
	}
	return result.Value, err
}
