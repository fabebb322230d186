package items

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/loops"
	"moon/plan/planner/compile"
	"moon/plan/planner/library"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
	"moon/secret"
)

// Item is an item of a loop as planned. An open one is rendered again when its step runs.
type Item struct {
	Value any
	Open  bool
	about any // of the result of a round: its item
	Raw   playbook.Value
	Where *vars.Frame
}

// Shown is the item as far as it is known, for display.
func (i Item) Shown() any { return value.Ordinary(i.InOrder()) }

// InOrder is the same, with maps whose keys are in the order in which they were written.
func (i Item) InOrder() any {
	shown := i.Value
	if value.IsPartial(shown) {
		shown = i.about
	} else if i.Open {
		shown = plan.ForDisplay(plan.CopyOf(shown))
	}
	return shown
}

// Reader finds out what loops run over.
type Reader struct {
	plan     *plan.Plan
	problems *problems.Collector
	library  *library.Library
	compiler *compile.Compiler
	secrets  *secret.Set
}

// New reads the items of the loops of a plan.
func New(p *plan.Plan, list *problems.Collector, l *library.Library, c *compile.Compiler, s *secret.Set) *Reader {
	return &Reader{plan: p, problems: list, library: l, compiler: c, secrets: s}
}

// Site is where a loop is written: in a directory, behind some includes.
type Site struct {
	Dir   string
	Chain []string
}

// Items evaluates what a loop runs over. late are the values that only the run gives and that it needs; then it is not ok.
func (l *Reader) Items(t *playbook.Task, e *plan.Env, at Site) (items []Item, typ string, late []value.Missing, ok bool) {
	r := l.compiler.Renderer(e, at.Chain)
	r.Marks = true
	if t.Loop.Kind == playbook.FileTree {
		items, late, ok = l.fileTree(at, t, r)
		return items, "filetree", late, ok
	}
	over := t.Loop.Over
	if t.Loop.Kind == playbook.Lookup {
		items, late, ok = l.lookedUp(t, r, e)
		return items, "items", late, ok
	}
	switch over.Kind() {
	case playbook.List:
		for _, v := range over.Items() {
			one := l.compiler.Renderer(e, at.Chain)
			one.Marks = true
			val := one.Value(v)
			r.Failed = r.Failed || one.Failed
			items = append(items, Item{Value: val, Open: len(one.Missing) > 0, Raw: v, Where: e.Frame})
		}
		return items, "items", nil, !r.Failed
	case playbook.Map:
		if !t.Loop.Pairs {
			l.refuse(at, t, plan.Plain(over))
			return nil, "", nil, false
		}
		for _, entry := range over.Entries() {
			items = append(items, Item{Value: map[string]any{"key": entry.Key, "value": r.Value(entry.Value)}})
		}
		return items, "items", r.Missing, !r.Failed && len(r.Missing) == 0
	case playbook.Null:
		return nil, "", nil, false // the parser has said so
	case playbook.Bool, playbook.Int, playbook.Float:
		l.refuse(at, t, plan.Plain(over))
		return nil, "", nil, false
	case playbook.String:
	}
	val := l.compiler.LoopValue(r, t)
	if r.Failed {
		return nil, "", nil, false
	}
	if len(r.Missing) > 0 {
		if items, ok := l.resultsOf(over, e); ok {
			return items, "items", nil, true
		}
		return nil, "", r.Missing, false
	}
	list, ok := loops.Items(t.Loop, l.plan.Engine.ReadItems(val))
	if !ok {
		l.refuse(at, t, val)
		return nil, "", nil, false
	}
	return Of(list), "items", nil, true
}

// Of are values as items of a loop.
func Of(values []any) []Item {
	items := make([]Item, len(values))
	for i, v := range values {
		items[i].Value = v
	}
	return items
}

// refuse says that a loop is over something that has no items.
func (l *Reader) refuse(at Site, t *playbook.Task, val any) {
	over := t.Loop.Over
	message, hint := loops.NoItems(t.Loop, val)
	l.problems.Errorf(over.Pos(), utf8.RuneCountInString(plan.FirstLine(over.Text())), at.Chain, hint, "%s", message)
}

// fileTree are the items of with_filetree: what is below a directory.
func (l *Reader) fileTree(at Site, t *playbook.Task, r *plan.Renderer) ([]Item, []value.Missing, bool) {
	over := t.Loop.Over
	if over.IsZero() {
		return nil, nil, false // the parser has said why
	}
	fail := func(hint, format string, args ...any) {
		l.problems.Errorf(over.Pos(), utf8.RuneCountInString(plan.FirstLine(over.Text())), at.Chain, hint, "with_filetree: "+format,
			args...)
	}
	name := r.Text(over)
	switch {
	case r.Failed:
		return nil, nil, false
	case len(r.Missing) > 0:
		return nil, r.Missing, false
	}
	list, ok := l.library.ListTree(name, at.Dir, fail)
	return Of(list), nil, ok
}

// lookedUp are the items that a lookup gives: those of with_dict and the like. with_items makes one list of lists. What has no
// braces is a text, and no expression.
func (l *Reader) lookedUp(t *playbook.Task, r *plan.Renderer, e *plan.Env) (items []Item, late []value.Missing, ok bool) {
	over := t.Loop.Over
	name := strings.TrimPrefix(t.Loop.Key, "with_")
	// Before the terms, which may be known only in the run.
	if err := l.plan.Engine.CheckLookup(name); err != nil {
		r.Wrong(over, err)
		return nil, nil, false
	}
	terms := termsOf(name, r, over)
	if r.Failed {
		return nil, nil, false
	}
	if len(r.Missing) > 0 {
		if t.Loop.Key == "with_items" {
			if items, ok := l.resultsOf(over, e); ok {
				return items, nil, true
			}
		}
		return nil, r.Missing, false
	}
	list, missing, err := l.plan.Engine.LookupItems(e, name, l.plan.Engine.ReadItems(terms), source.SourceDirs[t.Action])
	if err != nil {
		r.Wrong(over, err)
		return nil, nil, false
	}
	return Of(list), missing, len(missing) == 0
}

// termsOf are the terms of a lookup that is looped over. As in Ansible, a name of a file that needs an undefined name is the name of no
// file, nor does a map with such a name in it count, and the next one is looked for.
func termsOf(lookup string, r *plan.Renderer, over playbook.Value) any {
	if lookup != "first_found" || r.Lenient {
		return r.Value(over)
	}
	undefined := r.Undefined
	r.Lenient = true
	defer func() { r.Lenient, r.Undefined = false, undefined }()
	if over.Kind() != playbook.List {
		return r.Value(over)
	}
	terms := []any{}
	for _, one := range over.Items() {
		r.Undefined = false
		if term := r.Value(one); !r.Undefined || one.Kind() == playbook.String {
			terms = append(terms, term)
		}
	}
	return terms
}

// resultsOf are the items of a loop over the results of another. How many there are is known, as is the item that each is about: what
// is not known is the rest, so the items are open.
func (l *Reader) resultsOf(over playbook.Value, e *plan.Env) ([]Item, bool) {
	m := plan.LoopResults.FindStringSubmatch(over.Text())
	if m == nil {
		return nil, false
	}
	var from *vars.Binding
	e.Frame.Each(m[1], func(b *vars.Binding) bool {
		from = b
		return true
	})
	if from == nil || from.By != nil && len(from.By.BreakWhen) > 0 {
		return nil, false
	}
	all, given := from.Steps, []*vars.Binding{from}
	if from.How == vars.Relayed { // each host would have given as many
		given = from.Relay
	}
	for _, one := range given {
		if one.How != vars.Collected || len(one.Steps) != len(given[0].Steps) {
			return nil, false
		}
	}
	return l.openResults(m[1], over, e, given[0], all), true
}

// openResults are the results of the steps of a loop, which all of some steps give.
func (l *Reader) openResults(name string, over playbook.Value, e *plan.Env, from *vars.Binding, all []int) []Item {
	items := make([]Item, len(from.Steps))
	for i, step := range from.Steps {
		s := &l.plan.Steps[step]
		var about any
		if !s.NoLog {
			about = s.Frame.Loop.Find(s.Loop.Var).Value
		}
		waits := all
		if v, ok := e.Element(name, i); ok { // for this round alone
			if one, is := v.(value.Unknown); is {
				waits = one.Steps
			}
		}
		known := plan.RoundNames(l.plan.Dialect, s)
		items[i] = Item{
			about: about, Value: value.Partial{Name: name, Known: known, Steps: slices.Clone(waits)}, Open: true,
			Raw: playbook.Written(over.Pos(), fmt.Sprintf("{{ %s.results[%d] }}", name, i)), Where: e.Frame,
		}
	}
	return items
}
