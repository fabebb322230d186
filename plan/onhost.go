package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// gates puts what decides whether a task is there at all before its own conditions.
func (p *outline) gates(k *task, c *scopeContext) {
	if own := p.gatesOf(c); len(c.gates)+len(own) > 0 {
		k.when = slices.Concat(gated(own), gated(c.gates), k.when)
	}
}

// gatesOf are the gates of the host that are about a place.
func (p *outline) gatesOf(c *scopeContext) []gateAt {
	elsewhere := func(g gateAt) bool { return g.role > 0 && !p.within(c.scope, g.role) }
	if !slices.ContainsFunc(c.on.gates, elsewhere) {
		return c.on.gates
	}
	return slices.DeleteFunc(slices.Clone(c.on.gates), elsewhere)
}

// place says of a step of a play where it belongs.
func (p *stepPlanner) place(s *Step, c *scopeContext) {
	s.Path = c.path
	if s.Loop != nil {
		s.Path += "#" + p.label(c.scope, p.portableLabel(s.Loop.Label))
	}
	s.Host, s.Group = c.on.name, c.group
	for _, g := range slices.Concat(p.gatesOf(c), c.gates) {
		s.Gates = append(s.Gates, Gate{g.step, g.ran})
	}
	s.Role, s.Handler, s.Notifiers, s.Once = c.roleName(), c.handler, c.notifiers, c.once
	if m := c.on; s.Action == "setup" && m.gatherer < 0 {
		m.gatherer, s.Keeps = s.Index, m.state == promised
	}
}

// portableLabel is the label of an item in a path, which is the same wherever the playbook lies.
func (p *library) portableLabel(label string) string {
	if filepath.IsAbs(label) {
		return p.shown(label)
	}
	return label
}

// environment renders a template that gives environment variables.
func (r *renderer) environment(v playbook.Value) map[string]string {
	got := r.value(v)
	m, ok := eval.Plain(eval.Reveal(got)).(map[string]any)
	if !ok {
		if got != nil && len(r.missing) == 0 && !r.failed && r.report != nil {
			r.failed = true
			r.report(diag.Diagnostic{Pos: v.Pos(), Chain: r.chain, Message: "`environment:` must be a map; this is " + described(eval.Plain(got))})
		}
		return nil
	}
	env := make(map[string]string, len(m))
	for name, value := range m {
		env[name] = eval.Text(value)
	}
	return env
}

// keeper is the host that has what a set_fact sets: that of the play, unless delegate_facts gives it to the one it is delegated to.
func (p *fleet) keeper(s *Step, c *scopeContext) *machine {
	if s.Delegate == "" || c.inherit.delegateFacts.IsZero() || !p.flag(c.inherit.delegateFacts, "delegate_facts", p.renderer(p.env(c, s.task.frame.step), c.chain), false) {
		return c.on
	}
	return p.machine(s.Delegate)
}

// foresee takes down what a set_fact will set, where that is known and nothing keeps it from happening: loops and includes may
// then depend on it.
func (p *stepPlanner) foresee(b *binding, s *Step, k *task, c *scopeContext) {
	if k.call == nil || !b.certain || s.Once || p.plan.Scopes[c.play.scope].Strategy == "graph" {
		return
	}
	v, ok := k.call.Raw[b.name]
	if !ok {
		return
	}
	b.foreseen, b.value = true, eval.Mixed(p.secrets, eval.InOrderOf(v, k.call.ordered[b.name]))
}

// roundOnHost are the variables of one round of a loop.
func (p *evaluator) roundOnHost(c *scopeContext, t *playbook.Task, items []item, i int, made *layer) *layer {
	l := &layer{parent: c.loop, binds: []binding{made.binds[0]}}
	from := made.binds[0].origin
	add := func(name string, v any) { l.add(binding{name: name, value: v, from: "loop", origin: from}) }
	if t.Loop.Index != "" {
		add(t.Loop.Index, i)
		add("ansible_index_var", t.Loop.Index)
	}
	add("ansible_loop_var", t.Loop.Var)
	if t.Extended.IsZero() || !p.flag(t.Extended, "extended", p.renderer(p.env(c, nil), c.chain), false) {
		return l
	}
	all := make([]any, len(items))
	for n, one := range items {
		all[n] = one.value
	}
	loop := map[string]any{
		"allitems": all, "index": i + 1, "index0": i, "first": i == 0, "last": i == len(items)-1, "length": len(items), "revindex": len(items) - i, "revindex0": len(items) - i - 1,
	}
	if i > 0 {
		loop["previtem"] = all[i-1]
	}
	if i+1 < len(items) {
		loop["nextitem"] = all[i+1]
	}
	add("ansible_loop", loop)
	return l
}

// search finds what a task copies: in the role, beside the file, beside the playbook.
type search struct {
	dirs []string
	disk *disk

	missed bool // something was looked for that is in none of them: an earlier step may make it, in any of them
}

func newSearch(dirs []string, d *disk) *search { return &search{dirs: dirs, disk: d} }

// sources are where the actions look for what they copy.
var sourceDirs = map[string]string{
	"template": "templates", "copy": "files", "script": "files", "unarchive": "files", "patch": "files", "assemble": "files",
}

// searching says where a task looks for what it copies. On the host itself there is nothing to look for.
func (p *stepPlanner) searching(k *task, c *scopeContext, r *renderer) {
	kind, ok := sourceDirs[k.action.Name]
	if !ok {
		return
	}
	if v, given := valueOf(k.args, "remote_src"); given {
		missing := r.missing
		yes, _ := spec.ParseBool(eval.Plain(r.value(v)))
		r.missing = missing
		if yes {
			return
		}
	}
	k.search = newSearch(p.lookout(c).files(kind), p.disk)
}

// find is the path of a file that a task names.
func (s *search) find(name, home string) string {
	if filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
		return resolvePath(name, s.dirs[0], home)
	}
	for _, dir := range s.dirs {
		if path := resolvePath(name, dir, home); s.disk.there(path) {
			return path
		}
	}
	s.missed = true
	return resolvePath(name, s.dirs[0], home)
}

// resolve makes a path of a task what it is on the machine where the task runs: of another user's home, or another machine's, only
// that knows.
func (k *task) resolve(path, home string) string {
	switch {
	case !k.plays:
		return resolvePath(path, k.dir, home)
	case k.away && (path == "~" || strings.HasPrefix(path, "~")):
		return path
	case k.remote && path != "" && !filepath.IsAbs(path):
		return "~/" + path
	}
	return resolvePath(path, k.base, home)
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
		p.unknownLoop(&scopeContext{chain: r.chain}, t, r.missing)
		return nil, "", false
	}
	name := strings.TrimPrefix(t.Loop.Key, "with_")
	list, missing, err := p.engine.LookupItems(e, name, terms, sourceDirs[t.Action])
	if err != nil {
		r.wrong(over, err)
		return nil, "", false
	}
	if len(missing) > 0 {
		p.unknownLoop(&scopeContext{chain: r.chain}, t, missing)
		return nil, "", false
	}
	items = make([]item, len(list))
	for i, v := range list {
		items[i].value = v
	}
	return items, "items", true
}
