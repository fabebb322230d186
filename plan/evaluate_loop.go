package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// factNames puts the names of the variables that a set_fact sets in the place of the templates they are written as. The tasks after it use
// them, so they are known when the plan is made; the values need not be.
func (p *evaluator) factNames(k *task, t *playbook.Task, c *taskContext, e *env, guards []string) {
	templated := func(g arg) bool { return g.field == nil && eval.Templated(g.key) }
	if k.action.Name != "set_fact" || !slices.ContainsFunc(k.args, templated) {
		return
	}
	own := *k.compiled // the other hosts and rounds of the task have names of their own
	own.args = nil
	for _, g := range k.args {
		if templated(g) {
			key := playbook.Written(keyPos(t, g), g.key)
			r := p.renderer(e, c.chain)
			r.guards = guards
			name := r.text(key)
			switch {
			case r.failed || r.undefined: // said
			case len(r.missing) > 0:
				p.tooLate(key, c.chain, "set a variable with a name that is known, to a map: `found: {\"{{ … }}\": …}`", "the name of this variable", r.missing)
			case !variableName.MatchString(name):
				p.errorf(key.Pos(), utf8.RuneCountInString(g.key), c.chain, "letters, digits and _, not starting with a digit", "%s cannot be the name of a variable", quoted(name))
			default:
				g.name = name
			}
		}
		own.args = append(own.args, g)
	}
	k.compiled = &own
}

// keyPos is where the key of an argument is written.
func keyPos(t *playbook.Task, g arg) diag.Pos {
	for _, v := range []playbook.Value{t.Args, t.ExtraArgs} {
		for _, e := range v.Entries() {
			if e.Key == g.key {
				return e.Pos
			}
		}
	}
	return g.value.Pos()
}

// fileTree lists everything below a directory, sorted bytewise by full path. Links are listed, not followed; the
// directory itself may be a link.
func (p *evaluator) fileTree(c *taskContext, t *playbook.Task, r *renderer) ([]item, bool) {
	over := t.Loop.Over
	if over.IsZero() {
		return nil, false // the parser has said why
	}
	fail := func(hint, format string, args ...any) ([]item, bool) {
		p.errorf(over.Pos(), utf8.RuneCountInString(FirstLine(over.Text())), c.chain, hint, "with_filetree: "+format, args...)
		return nil, false
	}
	name := r.text(over)
	switch {
	case r.failed:
		return nil, false
	case len(r.missing) > 0:
		p.unknownLoop(c, t, r.missing)
		return nil, false
	case strings.TrimSpace(name) == "":
		return fail("name the directory", "the path is empty")
	}
	root := strings.TrimSuffix(p.resolve(name, c.dir), "/") // "" is the root of the file system
	entries, seen := p.disk.trees[root]
	if !seen {
		if info, err := p.disk.stat(cmp.Or(root, "/")); err != nil {
			if link, _ := os.Readlink(root); link != "" && errors.Is(err, fs.ErrNotExist) {
				return fail("", "%s is a link to %s, which does not exist", p.shown(root), link)
			}
			return fail(p.similar(root), "%s", p.fileError(err))
		} else if !info.IsDir() {
			return fail("", "%s is not a directory", p.shown(root))
		}
		all, count, err := entriesOf(root, p.o.MaxSteps)
		if err != nil {
			return fail("", "%s", p.fileError(err))
		}
		if count > p.o.MaxSteps {
			return fail("raise the limit with --max-steps, or name a directory further down",
				"%s has %d entries; the limit of steps is %d", p.shown(root), count, p.o.MaxSteps)
		}
		entries = all
		p.disk.trees[root] = entries
	}
	items := make([]item, len(entries))
	for i, e := range entries {
		items[i].value = e.item(root)
	}
	return items, true
}

// lookedUp are the items that a lookup gives: those of with_dict and the like. with_items makes one list of lists. What has no
// braces is a text, and no expression.
func (p *evaluator) lookedUp(t *playbook.Task, r *renderer, e *env) (items []item, typ string, ok bool) {
	over := t.Loop.Over
	terms := r.value(over)
	if r.failed {
		return nil, "", false
	}
	if len(r.missing) > 0 {
		if t.Loop.Key == "with_items" {
			if items, ok := p.resultsOf(over, e); ok {
				return items, "items", true
			}
		}
		p.unknownLoop(&taskContext{chain: r.chain}, t, r.missing)
		return nil, "", false
	}
	name := strings.TrimPrefix(t.Loop.Key, "with_")
	list, missing, err := p.engine.LookupItems(e, name, terms, sourceDirs[t.Action])
	if err != nil {
		r.wrong(over, err)
		return nil, "", false
	}
	if len(missing) > 0 {
		p.unknownLoop(&taskContext{chain: r.chain}, t, missing)
		return nil, "", false
	}
	items = make([]item, len(list))
	for i, v := range list {
		items[i].value = v
	}
	return items, "items", true
}

// resultsOf are the items of a loop over the results of another. How many there are is known, as is the item that each is about: what
// is not known is the rest, so the items are open.
func (p *evaluator) resultsOf(over playbook.Value, e *env) ([]item, bool) {
	m := loopResults.FindStringSubmatch(over.Text())
	if m == nil || e.frame.all.of == nil {
		return nil, false
	}
	var from *binding
	e.frame.each(m[1], func(b *binding) bool {
		from = b
		return true
	})
	if from == nil || from.by != nil && len(from.by.BreakWhen) > 0 {
		return nil, false
	}
	all, given := from.steps, []*binding{from}
	if from.how == relayed { // each host would have given as many
		given = from.relay
	}
	for _, one := range given {
		if one.how != collected || len(one.steps) != len(given[0].steps) {
			return nil, false
		}
	}
	return p.openResults(m[1], over, e, given[0], all), true
}

// openResults are the results of the steps of a loop, which all of some steps give.
func (p *evaluator) openResults(name string, over playbook.Value, e *env, from *binding, all []int) []item {
	items := make([]item, len(from.steps))
	for i, step := range from.steps {
		s := &p.plan.Steps[step]
		known := map[string]any{"ansible_loop_var": s.Loop.Var}
		if !s.NoLog {
			known[s.Loop.Var] = s.task.frame.loop.find(s.Loop.Var).value
		}
		items[i] = item{
			value: eval.Partial{Name: name, Known: known, Steps: slices.Clone(all)}, open: true,
			raw: playbook.Written(over.Pos(), fmt.Sprintf("{{ %s.results[%d] }}", name, i)), where: e.frame,
		}
	}
	return items
}
