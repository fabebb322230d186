package planner

import (
	"path/filepath"
	"slices"
	"unicode/utf8"

	"moon/plan"
	"moon/plan/planner/bindings"
	"moon/plan/planner/library"
	"moon/plan/playbook"
)

// importRole puts a role in the place of a task, or of an entry of `roles`.
func (p *planner) importRole(cs []*taskContext, t *playbook.Task) {
	p.selectHost(cs[0])
	named := *cs[0]
	named.block = p.shareLayer(t, named.block, "import vars", named.chain)
	name, ok := p.pathOf(&named, t.Args, "which role to use", "use include_role")
	if !ok {
		return
	}
	p.planRole(cs, t, onHosts{what: name, files: p.roleFiles(&named, t)})
}

// includeRole plans a role that is included while the play goes on.
func (p *planner) includeRole(cs []*taskContext, t *playbook.Task) {
	p.includeOnHosts(cs, t, "which role to include", func(_ *taskContext, name string) string { return name }, p.planRole)
}

// planRole plans a role for some hosts: what it depends on first, then its tasks.
func (p *planner) planRole(cs []*taskContext, t *playbook.Task, group onHosts) {
	c, name := cs[0], group.what
	p.selectHost(c)
	found, ok := p.FindRole(c.lookout(p.plan.Root), t.Args, name, c.chain)
	if !ok {
		return
	}
	depth := 0
	for r := c.scene.Role; r != nil; r = r.Parent {
		depth++
		if r.Dir == found.Dir && !t.Dynamic || depth > 30 {
			p.Errorf(t.Args.Pos(), utf8.RuneCountInString(name), c.chain, "a role may be used twice, but not inside itself",
				"the role %s uses itself", plan.Quoted(name))
			return
		}
	}
	files := p.LoadRole(t, found.Dir, group.files, c.chain)
	r := newRole(found, c.scene.Role, files)
	r.ByTask = t.ActionKey != ""
	cs, use := p.unused(cs, t, r)
	if len(cs) == 0 {
		return
	}
	c = cs[0]
	scope := p.OpenScope(plan.Scope{
		Kind: plan.ScopeRole, Parent: c.scope, Name: r.FullName(), Role: r.FullName(), Origin: origin(t.Pos, c.chain),
		When: plan.WhenText(c.when), Hosts: len(cs), Item: group.item, Approves: t.Approves,
	}, group.label(r.FullName()))
	if use != "" {
		c.play.applied[use] = append(c.play.applied[use], scope)
	}
	for _, need := range files.Meta.Dependencies {
		inner := make([]*taskContext, len(cs))
		for i, c := range cs {
			p.selectHost(c)
			one := *p.enterRole(c, t, r, true)
			one.scope, one.file = scope, files.NeedsFile
			one.dir, one.collections = filepath.Join(found.Dir, "meta"), r.searched()
			one.chain = append(slices.Clip(c.chain), origin(t.Pos, nil).String())
			inner[i] = &one
		}
		p.planTaskForHosts(inner, need)
	}
	inner := make([]*taskContext, len(cs))
	for i, c := range cs {
		p.selectHost(c)
		one := *p.enterRole(c, t, r, false)
		one.scope, one.item, one.cwd = scope, nil, playbook.Value{}
		inner[i] = &one
	}
	// What the play reads before its first task is known already; an include brings its own here.
	if c.play != nil && !c.play.preread[c.chained(t)] {
		c.handlers.takeHandlers(c, r, t, func() []*handler { return p.handlersOf(files.Handlers, inner[0], r, t) })
	}
	p.visible(cs, t, r)
	p.bindings.WarnHidden(bindings.RoleVars{Files: r.files, Chain: c.chain}, r.Name, p.names.Root, c.scene.Vars)
	check := p.standins.Validating(t, r.files, r.Name, filepath.Base(group.files.Tasks))
	if !t.Validates.IsZero() && !p.ReadFlag(t.Validates, "rolespec_validate", p.Renderer(p.env(inner[0], nil), inner[0].chain), true) {
		check = nil
	}
	if files.Tasks.File != nil || check != nil {
		p.roleBody(inner, t, files, check)
	}
	p.CloseScope(scope)
}

// roleBody plans the tasks of a role, behind one that looks at its arguments.
func (p *planner) roleBody(cs []*taskContext, t *playbook.Task, files *playbook.RoleFiles, check []*playbook.Task) {
	c := cs[0]
	chain := append(slices.Clip(c.chain), origin(t.Pos, nil).String())
	for _, c := range cs {
		c.chain = chain
	}
	if files.Tasks.File == nil {
		p.planTasksForHosts(cs, check)
		return
	}
	target := files.Tasks.File.Path
	p.Enter(library.Opened{Path: target}, files.Tasks.File.Name, t.Pos.Line)
	for _, c := range cs {
		c.file, c.dir = files.Tasks.File, filepath.Dir(target)
	}
	p.planTasksForHosts(cs, check)
	p.planTasksForHosts(cs, files.Tasks.Tasks)
	p.Leave()
}
