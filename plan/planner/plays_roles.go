package planner

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"moon/plan"
	"moon/plan/collection"
	"moon/plan/planner/bindings"
	"moon/plan/planner/calls"
	"moon/plan/planner/gates"
	"moon/plan/planner/library"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// roleFiles are the files of a role that a task asks for.
func (p *playsState) roleFiles(c *taskContext, t *playbook.Task) library.RoleNames {
	return library.RoleNames{
		Tasks: p.roleFileName(c, t.TasksFrom), Vars: p.roleFileName(c, t.VarsFrom), Defaults: p.roleFileName(c, t.DefaultsFrom),
		Handlers: p.roleFileName(c, t.HandlersFrom),
	}
}

// enterRole is the context of what is inside a role. The roles that it depends on have what this role is given, and its variables below
// their own; to the role itself theirs are visible, too.
func (p *playsState) enterRole(c *taskContext, t *playbook.Task, r *role, needs bool) *taskContext {
	in := *c
	in.collections = r.searched()
	key := sceneKey{outer: c.scene, files: r.files, by: t, needs: needs}
	sc, ok := p.scenes[key]
	if !ok {
		with := *c.scene
		with.Role = r.Role
		if !needs {
			for _, one := range p.varsOfNeeds(c, r) {
				p.bindings.PutUpon(one, &with.Defaults, &with.RoleVars)
			}
		}
		with.RoleVars = p.bindings.Lazy(r.files.Vars, with.RoleVars, r.files.VarsFrom, c.chain)
		with.Defaults = p.bindings.Lazy(r.files.Defaults, with.Defaults, r.files.DefsFrom, c.chain)
		sc = &with
		p.scenes[key] = sc
	}
	in.scene = sc
	if t.StepVars.Kind() == playbook.Map {
		// What is included during the play is given its variables as parameters; to other roles they are those of a block.
		if t.Dynamic {
			in.params = p.shareLayer(t, c.params, "include vars", c.chain)
		} else {
			in.block = p.shareLayer(t, c.block, "role vars", c.chain)
		}
	}
	if t.RoleParams.Kind() == playbook.Map {
		key := taskKey{t, in.params, "role params"}
		l, ok := p.roleParams[key]
		if !ok {
			l = p.bindings.Lazy(t.RoleParams.Entries(), in.params, "role parameters", c.chain)
			p.roleParams[key] = l
		}
		in.params = l
	}
	return &in
}

// varsOfNeeds are the variables of all roles that a role depends on, in the order in which these are done. What is wrong with a name is
// said where the dependency is planned.
func (p *playsState) varsOfNeeds(c *taskContext, r *role) (list []bindings.RoleVars) {
	if len(r.files.Meta.Dependencies) == 0 {
		return nil
	}
	defer func(said int) { p.Found = p.Found[:said] }(len(p.Found))
	var walk func(c *taskContext, r *role)
	walk = func(c *taskContext, r *role) {
		for _, need := range r.files.Meta.Dependencies {
			at := *c
			scene := *c.scene
			scene.Role = r.Role
			at.scene, at.dir, at.collections = &scene, filepath.Join(r.Dir, "meta"), r.searched()
			inner, ok := p.findRole(&at, need)
			if !ok || r.Within(inner.Dir) || len(list) > mostDependencies {
				continue
			}
			walk(&at, inner)
			list = append(list, bindings.RoleVars{Given: need.StepVars.Entries(), Files: inner.files, Chain: c.chain})
		}
	}
	walk(c, r)
	return list
}

// findRole is the role that a task names, at a place.
func (p *playsState) findRole(c *taskContext, t *playbook.Task) (*role, bool) {
	name, ok := p.pathOf(c, t.Args, "which role to use", "use include_role with a `when` for each")
	if !ok {
		return nil, false
	}
	found, ok := p.FindRole(c.lookout(p.plan.Root), t.Args, name, c.chain)
	if !ok {
		return nil, false
	}
	r := newRole(found, c.scene.Role, p.LoadRole(t, found.Dir, p.roleFiles(c, t), c.chain))
	r.ByTask = t.ActionKey != ""
	return r, true
}

// newRole is a role that another one uses; nil for a play.
func newRole(found library.Role, parent *vars.Role, files *playbook.RoleFiles) *role {
	return &role{&vars.Role{Name: found.Name, Dir: found.Dir, Collection: found.Collection, Parent: parent}, files}
}

// searched are the collections that the tasks of the role search: as with Ansible, what the play says does not reach them.
func (r *role) searched() []string {
	return collection.Searched(r.Collection, r.files.Meta.Collections)
}

// visible lets the rest of the play see the variables of a role that a task uses. Those of `roles` are seen from the start.
func (p *playsState) visible(cs []*taskContext, t *playbook.Task, r *role) {
	if t.Dynamic && !p.public(cs[0], t) || t.ActionKey == "" {
		return
	}
	c := cs[0]
	all := append(p.varsOfNeeds(c, r), bindings.RoleVars{Given: t.StepVars.Entries(), Files: r.files, Chain: c.chain})
	// As with Ansible it is the play that has them, also if only some of its hosts use the role.
	for _, host := range c.scene.Hosts {
		if m := p.machines[host]; m != nil {
			p.bindings.Show(all, m.Names)
		}
	}
}

// unused are the contexts of the hosts on which a role has not run in this play with what it is given here, and what says so. As with
// Ansible it has run where a task of its own was not skipped: elsewhere it has its turn here, and where only the run knows, that decides.
func (p *playsState) unused(cs []*taskContext, t *playbook.Task, r *role) (left []*taskContext, use string) {
	c := cs[0]
	dup, again := plan.FirstOf(t.AllowDup, r.files.Meta.AllowDup), t.Dynamic || strings.HasSuffix("."+t.ActionKey, ".import_role")
	if again || !dup.IsZero() && p.ReadFlag(dup, "allow_duplicates", p.Renderer(p.env(c, nil), c.chain), false) {
		return cs, ""
	}
	use = c.scene.BatchKey() + calls.UseOf(r.Name, r.Dir, t)
	uses := c.play.applied[use]
	for _, c := range cs {
		one := *c
		ran := func(scope int) bool {
			open, known := gates.OfRole(p.plan, scope, r.Role, c.on.Name, t.Pos)
			one.gates = append(slices.Clip(one.gates), open...)
			return known
		}
		if !slices.ContainsFunc(uses, ran) {
			left = append(left, &one)
		}
	}
	return left, use
}

// mostDependencies is how often the roles of a play may lead to another: two roles that each depend twice on the next are no more than
// that until they are some dozens deep.
const mostDependencies = 5000

// preload makes the handlers and the variables of a play's roles known before its first task.
func (p *playsState) preload(play *playPlanner, c *taskContext) {
	sc := *play.scene
	play.scene = &sc
	with := *c
	with.scene = &sc
	with.play, with.handlers = play, play.handlers
	l := &preloader{p, play, &sc, len(c.chain), 0}
	for _, t := range play.src.Roles {
		l.useRole(&with, nil, t, nil, true)
	}
	own := p.handlersOf(playbook.TasksOf{File: c.file, Tasks: play.src.Handlers}, &with, nil, nil)
	play.handlers.list = append(play.handlers.list, own...)
	for _, list := range [][]*playbook.Task{play.src.PreTasks, play.src.PostTasks, play.src.Tasks} { // Ansible's order
		l.importsIn(&with, nil, list, nil)
	}
}

// preloader reads what a play's roles and imports bring before its first task is planned. It has no host: an import whose name needs one
// brings its handlers where it is.
type preloader struct {
	*playsState
	play   *playPlanner
	scene  *vars.Scene // of the play
	begins int         // how much of a chain leads to the play
	walked int         // roles
}

// useRole takes what a role brings, and before it what those bring that it depends on. around is what the role is in; one that `roles`
// lists brings its variables, too.
func (l *preloader) useRole(c *taskContext, around []*playbook.Task, t *playbook.Task, parent *vars.Role, listed bool) {
	if t.Args.IsZero() || l.walked > mostDependencies {
		return
	}
	if l.walked++; l.walked > mostDependencies {
		l.Errorf(t.Args.Pos(), 0, c.chain, "have each role name what it depends on once",
			"the dependencies of roles lead to more than %d others", mostDependencies)
		return
	}
	at := *c
	scene := *l.scene
	scene.Role = parent
	at.scene = &scene
	said := len(l.Found)
	if len(t.Collections) > 0 {
		at.collections = collection.Searched("", t.Collections)
	}
	r, ok := l.findRole(&at, t)
	if !ok || parent.Within(r.Dir) {
		l.Found = l.Found[:said] // it is said where the role is used
		return
	}
	files := r.files
	at.collections = r.searched()
	around = append(slices.Clip(around), t)
	inner := append(slices.Clip(c.chain), origin(t.Pos, nil).String())
	for _, need := range files.Meta.Dependencies {
		before := at
		before.chain = inner
		l.useRole(&before, around, need, r.Role, listed)
	}
	if listed {
		if parent == nil {
			l.scene.Roles = append(l.scene.Roles, r.FullName())
		} else if !slices.Contains(l.scene.Needed, r.FullName()) {
			l.scene.Needed = append(l.scene.Needed, r.FullName())
		}
		own := bindings.RoleVars{Given: t.StepVars.Entries(), Files: files, Chain: c.chain}
		l.bindings.PutUpon(own, &l.scene.Defaults, &l.scene.RoleVars)
		scene.RoleVars, scene.Defaults = l.scene.RoleVars, l.scene.Defaults
	}
	scene.Role = r.Role
	given := at
	if t.StepVars.Kind() == playbook.Map || t.RoleParams.Kind() == playbook.Map {
		in := l.enterRole(&at, t, r, false) // names of handlers may use what a role is given
		given.params, given.block = in.params, in.block
	}
	l.play.handlers.takeHandlers(nil, r, t, func() []*handler {
		list := l.handlersOf(files.Handlers, &given, r, t)
		for _, one := range list {
			one.inside = slices.Concat(around, one.inside)
			one.chain = slices.Concat(c.chain[l.begins:], one.chain)
		}
		return list
	})
	l.play.preread[c.chained(t)] = true
	if files.Tasks.File == nil {
		return
	}
	given.chain, given.file, given.dir = inner, files.Tasks.File, filepath.Dir(files.Tasks.File.Path)
	l.Enter(library.Opened{Path: files.Tasks.File.Path}, files.Tasks.File.Name, t.Pos.Line)
	l.importsIn(&given, around, files.Tasks.Tasks, r.Role)
	l.Leave()
}

// importsIn takes the handlers of the roles that tasks import: as with Ansible they are there from the first task on.
func (l *preloader) importsIn(c *taskContext, around []*playbook.Task, tasks []*playbook.Task, parent *vars.Role) {
	for _, t := range tasks {
		in := *c
		in.block = l.shareLayer(t, c.block, "block vars", c.chain)
		switch {
		case t.Kind == playbook.Block:
			for _, part := range t.Parts() {
				l.importsIn(&in, append(slices.Clip(around), t), part.Tasks, parent)
			}
		case t.Dynamic || t.Args.IsZero():
		case t.Kind == playbook.Role:
			l.useRole(c, around, t, parent, false)
		case t.Kind == playbook.Include:
			said := len(l.Found)
			file, inside, ok := l.openImport(&in, t, l.LoadTasks)
			if !ok {
				l.Found = l.Found[:said] // it is said where the file is imported
				continue
			}
			l.importsIn(file, append(slices.Clip(around), t), inside, parent)
			l.Leave()
		}
	}
}

// chained is a task with the chain of what leads to it.
func (c *taskContext) chained(t *playbook.Task) string {
	return fmt.Sprint(t.Pos, c.chain)
}
