package bind

import (
	"cmp"
	"fmt"
	"strings"

	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/loops"
	"moon/plan/playbook"
	"moon/plan/source"
)

// Items finds what an open loop runs over, or the values that an open place waits for: a name first. Where the list cannot be had and a
// condition of the task is false without any item, skipped is that condition, and there is no error: Ansible asks the condition then, too.
func (b *Bound) Items() (items []any, skipped string, err error) {
	if parts := b.Step.Task.Finds.Parts(); len(parts) > 0 {
		items, err = b.named(parts)
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
func (b *Bound) named(parts []playbook.Value) ([]any, error) {
	r, problems := b.collecting()
	r.Marks = true
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = r.Value(part)
		if _, omitted := list[i].(value.Omitted); omitted {
			list[i] = nil
		}
	}
	if err := b.failure(r, problems); err != nil {
		return nil, err
	}
	if b.Step.Place.What == "host" && strings.TrimSpace(value.Text(value.Reveal(list[0]))) == "" {
		return nil, &Problem{diag.Diagnostic{Pos: parts[0].Pos(), Message: "`delegate_to` names no host"}}
	}
	return list, nil
}

// tree are the entries of a directory: what with_filetree runs over.
func (b *Bound) tree(over playbook.Value) ([]any, error) {
	r, problems := b.collecting()
	name := r.Text(over)
	if err := b.failure(r, problems); err != nil {
		return nil, err
	}
	if strings.TrimSpace(name) == "" {
		return nil, &Problem{diag.Diagnostic{Pos: over.Pos(), Message: "with_filetree: the path is empty"}}
	}
	root := strings.TrimSuffix(source.ResolvePath(name, b.Step.Dir, b.plan.Home), "/") // "" is the root of the file system
	entries, count, err := source.EntriesOf(root, b.most())
	if err != nil {
		return nil, &Problem{diag.Diagnostic{Pos: over.Pos(), Message: "with_filetree: " + err.Error()}}
	}
	if count > b.most() {
		return nil, b.tooMany(over, count)
	}
	items := make([]any, len(entries))
	for i, e := range entries {
		items[i] = e.Item(root)
	}
	return items, nil
}

// most is how many items an open loop may have.
func (b *Bound) most() int { return cmp.Or(b.plan.Basis.O.MaxExpansion, 10_000) }

func (b *Bound) tooMany(over playbook.Value, n int) error {
	return &Problem{diag.Diagnostic{Pos: over.Pos(), Message: fmt.Sprintf(
		"this loop has %d items, and a run may find %d; raise the limit with --max-expansion", n, b.most())}}
}

func (b *Bound) items() ([]any, error) {
	loop, action := b.Step.Task.Finds.Src.Loop, b.Step.Task.Finds.Src.Action
	over := loop.Over
	if loop.Kind == playbook.FileTree {
		return b.tree(over)
	}
	val, err := b.listOf(over, loop.Kind == playbook.Lookup)
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
		return nil, &Problem{diag.Diagnostic{Pos: over.Pos(), Message: message + "; " + hint}}
	}
	if len(items) > b.most() {
		return nil, b.tooMany(over, len(items))
	}
	return items, nil
}

// listOf is the value that a loop is given: of a template, of a bare expression, of a map or list as written. What a lookup is given is no
// expression: with_lines has a command.
func (b *Bound) listOf(over playbook.Value, lookup bool) (any, error) {
	r, problems := b.collecting()
	r.Marks = true
	if lookup || over.Kind() != playbook.String || eval.Templated(over.Text()) {
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
