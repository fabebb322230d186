package planner

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner/items"
	"moon/plan/planner/library"
	"moon/plan/planner/tags"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// verdict is what the conditions of a group come to.
func (p *evaluator) verdict(c *taskContext) plan.Verdict {
	return p.Renderer(p.env(c, nil), c.chain).Decide(c.when)
}

// skipped reports whether the conditions of a group are known to be false, and which one.
func (p *evaluator) skipped(c *taskContext) (why string, skip bool) {
	v := p.verdict(c)
	return v.Culprit, v.Known && !v.Holds
}

// mayFail reports whether a task of a play may fail for an undefined name, as its author has provided for that: by ignore_errors, or by a
// rescue around it. Anywhere else such a name is a mistake, which is found before anything runs.
func (p *evaluator) mayFail(c *taskContext) bool {
	if c.play == nil || c.breaking || len(c.ignore) == 0 {
		return c.play != nil && c.breaking
	}
	v, ok := p.quietly(c, c.ignore)
	return ok && v.Known && v.Holds
}

// quietly decides conditions, and says nothing of what is wrong with them: that is said where they are decided for their own sake.
func (p *evaluator) quietly(c *taskContext, list []plan.Condition) (v plan.Verdict, ok bool) {
	r := p.Renderer(p.env(c, nil), c.chain)
	r.Report = func(diag.Diagnostic) {}
	v = r.Decide(list)
	return v, !r.Failed
}

// groupName is what a block, an include or a preset is called: its own name as far as it is known, or otherwise.
func (p *evaluator) groupName(c *taskContext, t *playbook.Task, otherwise string) string {
	r := p.Renderer(p.env(c, nil).Early(), c.chain)
	r.Lenient = true // an undefined name is shown as written
	return p.secrets.Redact(cmp.Or(plan.NameLine(t.Name, r.Text(t.Name)), otherwise))
}

// rendererAt renders what is written at a place, in its context.
func (p *evaluator) rendererAt(c *taskContext) *plan.Renderer {
	return p.Renderer(p.env(c, nil), c.chain)
}

// roundContext describes a round of a loop. What all its rounds share is given.
func (p *evaluator) roundContext(round *taskContext, t *playbook.Task, list []items.Item, i int, lc plan.LoopContext) plan.LoopContext {
	lc.Depth = round.depth - 1
	hidden := plan.MayHide(round.noLog(t))
	return p.loops.Context(t, list, i, lc, hidden, func() *plan.Renderer { return p.rendererAt(round) })
}

// handlersOf are the handlers in a file.
func (p *evaluator) handlersOf(of playbook.TasksOf, c *taskContext, r *role, by *playbook.Task) []*handler {
	model := handler{role: r, file: of.File, dir: c.dir, scene: c.scene, by: by}
	if r != nil && of.File != nil {
		model.dir = filepath.Dir(of.File.Path)
	}
	return p.handlersLike(model, of.Tasks, c)
}

// handlersLike are handlers that have what a model has. As with Ansible, what a block or an import holds are handlers of their own.
func (p *evaluator) handlersLike(model handler, tasks []*playbook.Task, c *taskContext) []*handler {
	var list []*handler
	for _, t := range tasks {
		if c.play != nil && t.Kind == playbook.Block || t.Kind == playbook.Include && c.play != nil && !t.Dynamic {
			in := model
			in.inside = append(slices.Clip(model.inside), t)
			if t.Kind == playbook.Block {
				list = append(list, p.handlersLike(in, t.Body, c)...)
			} else {
				list = append(list, p.importedHandlers(in, t, c)...)
			}
			continue
		}
		one := model
		h := &one
		h.task = t
		// A handler may never be notified, so a name that cannot be rendered is not reported here.
		render := p.Renderer(p.env(c, nil), c.chain)
		render.Lenient = true
		h.name = strings.TrimSpace(render.Text(t.Name))
		for _, v := range t.Listen {
			h.topics = append(h.topics, strings.TrimSpace(render.Text(v)))
		}
		list = append(list, h)
	}
	return list
}

// importedHandlers are the handlers of a file that is imported among others.
func (p *evaluator) importedHandlers(model handler, t *playbook.Task, c *taskContext) []*handler {
	at := *c
	at.file, at.dir, at.chain = model.file, model.dir, slices.Concat(c.chain, model.chain)
	in, tasks, ok := p.openImport(&at, t, p.LoadHandlers)
	if !ok {
		return nil
	}
	defer p.Leave()
	model.file, model.dir, model.chain = in.file, in.dir, in.chain[len(c.chain):]
	return p.handlersLike(model, tasks, c)
}

// tasksFile finds a file of tasks: beside the file that names it, in the role's tasks, beside the playbook.
func (p *evaluator) tasksFile(c *taskContext, name string) string {
	path, _ := c.lookout(p.plan.Root).FindTasks(name, p.o.Home, p.disk)
	return path
}

// openImport is what an import stands for, and the context of that. The caller leaves the file.
func (p *evaluator) openImport(c *taskContext, t *playbook.Task, load func(path string) (*playbook.File, []*playbook.Task, error)) (
	in *taskContext, tasks []*playbook.Task, ok bool,
) {
	if t.Args.IsZero() {
		return nil, nil, false
	}
	name, ok := p.pathOf(c, t.Args, "which file to import", "import each candidate with its own `when`, or use include_tasks")
	if !ok {
		return nil, nil, false
	}
	target := p.tasksFile(c, name)
	if p.RefuseCircle(target, t, c.chain) {
		return nil, nil, false
	}
	said := len(p.Found)
	f, tasks, err := load(target)
	if err != nil {
		p.ReportUnread(t.ActionKey, t.Args, target, err, c.chain)
		return nil, nil, false
	}
	p.TraceInclude(said, c.chain, t)
	inner := *c
	inner.file, inner.dir = f, filepath.Dir(target)
	inner.chain = append(slices.Clip(c.chain), p.Enter(library.Opened{Path: target}, f.Name, t.Pos.Line))
	return &inner, tasks, true
}

// roundOnHost are the variables of one round of a loop.
func (p *evaluator) roundOnHost(c *taskContext, t *playbook.Task, list []items.Item, i int, made *vars.Layer) *vars.Layer {
	extended := !t.Extended.IsZero() && p.ReadFlag(t.Extended, "extended", p.rendererAt(c), false)
	return items.OnHost(t, list, i, c.loop, made.Binds[0], extended)
}

// frame is what is in effect here and now; steps that see the same values share it.
func (p *evaluator) frame(c *taskContext, step *vars.Layer) *vars.Frame {
	fr := vars.Frame{
		All: p.names, DocumentAt: *p.names.Document.Now, ProducedAt: *p.names.Produced.Now,
		Block: c.block, Step: step, Params: c.params, Loop: c.loop,
	}
	if p.overrides.Any() {
		fr.Over = p.overrides.Layer(c.scope)
	}
	fr.Scene, fr.Looks = c.scene, c.looks
	if c.scene != nil && c.scene.Call != nil {
		fr.Reach = p.reachOf(c)
	}
	if p.last == nil || *p.last != fr {
		kept := fr // and not fr itself, which would then be on the heap whether it is kept or not
		p.last = &kept
	}
	return p.last
}

// reachOf is what is written about where a task runs. All hosts share it.
func (p *evaluator) reachOf(c *taskContext) *vars.Reach {
	now := vars.Reach{Connection: c.link.Connection, User: c.link.User, Delegate: c.delegate, Env: c.env}
	if p.reach == nil || !p.reach.Same(&now) {
		kept := now // as in frame
		p.reach = &kept
	}
	return p.reach
}

func (p *evaluator) env(c *taskContext, step *vars.Layer) *plan.Env {
	return &plan.Env{Plan: p.plan, Engine: p.engine, Frame: p.frame(c, step)}
}

// roleFileName is the name of the file of a role that a task asks for: main unless it says otherwise.
func (p *evaluator) roleFileName(c *taskContext, v playbook.Value) string {
	if v.IsZero() {
		return "main"
	}
	name, ok := p.pathOf(c, v, "which file of the role to use", "name the file, or use include_role")
	if !ok {
		return "main"
	}
	return name
}

func (p *evaluator) public(c *taskContext, t *playbook.Task) bool {
	return !t.Public.IsZero() && p.ReadFlag(t.Public, "public", p.Renderer(p.env(c, nil), c.chain), false)
}

// tagsOf are the tags of a task with those it inherits.
func (p *evaluator) tagsOf(t *playbook.Task, c *taskContext) []string {
	if len(t.Tags) == 0 {
		return c.tags
	}
	all := slices.Clone(c.tags)
	for _, v := range t.Tags {
		// As with Ansible, tags are what they are before anything runs: what an open place may set does not count.
		e := p.env(c, nil)
		e.Settled = true
		r := p.Renderer(e, c.chain)
		list := tags.Of(v, r, p.plan.Dialect.Rules().CommaTags)
		if len(r.Missing) > 0 {
			p.Errorf(v.Pos(), 0, c.chain, "tags select steps before anything runs: write a tag that is known then, and use `when` for the rest",
				"this tag is known only after %s", p.DescribeSteps(r.Missing))
		}
		for _, tag := range list {
			if tag = strings.TrimSpace(tag); tag != "" && !slices.Contains(all, tag) {
				all = append(all, tag)
				p.tags.Note(tag)
			}
		}
	}
	return all
}

// excludedBy says what leaves a step out; "" if nothing does.
func (p *evaluator) excludedBy(s *plan.Step) string {
	if p.tags.Exclude(s.Tags) {
		return plan.ByTags
	}
	return p.leftOut[s.Path]
}

// pathOf renders the path of a file of tasks, or a role's name. It reports what keeps it from being known.
func (p *evaluator) pathOf(c *taskContext, v playbook.Value, what, hint string) (string, bool) {
	e := p.env(c, nil)
	defer p.shaping(e, c, "what is included", v.Pos())()
	r := p.Renderer(e, c.chain)
	name := strings.TrimSpace(r.Text(v))
	if r.Failed {
		return "", false
	}
	if len(r.Missing) > 0 {
		p.ReportLate(v, c.chain, hint, what, r.Missing)
		return "", false
	}
	if name == "" {
		p.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: v.Pos(), Chain: c.chain,
			Message: "this is empty, so nothing is included", Hint: "write a `when` that is false then",
		})
	}
	return name, name != ""
}

// shaping has an environment note that what is evaluated with it decides what is planned. The caller calls done when it is evaluated.
func (p *evaluator) shaping(e *plan.Env, c *taskContext, what string, at diag.Pos) (done func()) {
	var took []int
	e.Took = &took
	return func() {
		e.Took = nil
		p.noteShape(c, what, at, took)
	}
}

func (p *evaluator) noteShape(c *taskContext, what string, at diag.Pos, took []int) {
	if len(took) > 0 {
		p.plan.Shapes = append(p.plan.Shapes, plan.Shape{What: what, At: at, By: took, Host: c.on.Name, First: len(p.plan.Steps)})
	}
}

// noteMoved takes down that what runs have made under an old path belongs to a task. It is called when the task has been planned.
func (p *evaluator) noteMoved(c *taskContext, t *playbook.Task, scopes, steps int) {
	if t.Moved.IsZero() {
		return
	}
	r := p.rendererAt(c)
	old := r.Text(t.Moved)
	if r.Failed || r.Undefined || len(r.Missing) > 0 {
		return
	}
	if move, ok := p.Move(old, c.scope, scopes, steps); ok {
		p.moves = append(p.moves, move)
	}
}
