package planner

import (
	"path/filepath"
	"strings"

	"moon/plan"
	"moon/plan/collection"
	"moon/plan/eval/value"
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

// enterRole is the context of what is inside a role.
func (p *playsState) enterRole(c *taskContext, t *playbook.Task, r *role) *taskContext {
	in := *c
	in.collections = r.searched()
	key := sceneKey{outer: c.scene, files: r.files, by: t, needs: false}
	sc, ok := p.scenes[key]
	if !ok {
		with := *c.scene
		with.Role = r.Role
		with.RoleVars = p.bindings.Lazy(r.files.Vars, c.scene.RoleVars, r.files.VarsFrom, c.chain)
		with.Defaults = p.bindings.Lazy(r.files.Defaults, c.scene.Defaults, r.files.DefsFrom, c.chain)
		sc = &with
		p.scenes[key] = sc
	}
	in.scene = sc
	if t.StepVars.Kind() == playbook.Map {
		if t.ActionKey == "" || t.Dynamic || t.ActionKey == "import_role" {
			in.params = p.paramsLayer(t, c.params, c.chain)
		} else {
			in.block = p.shareLayer(t, c.block, "role vars", c.chain)
		}
	}
	if t.RoleParams.Kind() == playbook.Map {
		key := taskKey{t, in.params}
		l, ok := p.roleParams[key]
		if !ok {
			l = p.bindings.Lazy(t.RoleParams.Entries(), in.params, "role parameters", c.chain)
			p.roleParams[key] = l
		}
		in.params = l
	}
	return &in
}

// newRole is a role that another one uses; nil for a play.
func newRole(found library.Role, parent *vars.Role, files *playbook.RoleFiles) *role {
	return &role{&vars.Role{Name: filepath.Base(found.Dir), Dir: found.Dir, Collection: found.Collection, Parent: parent}, files}
}

// searched are the collections that the tasks of the role search: as with Ansible, what the play says does not reach them.
func (r *role) searched() []string {
	return collection.Searched(r.Collection, r.files.Meta.Collections)
}

// needing is the scene in which the dependencies of a role stand.
func (p *playsState) needing(outer *vars.Scene, r *role, t *playbook.Task) *vars.Scene {
	key := sceneKey{outer: outer, files: r.files, by: t, needs: true}
	sc, ok := p.scenes[key]
	if !ok {
		with := *outer
		with.Role = r.Role
		sc = &with
		p.scenes[key] = sc
	}
	return sc
}

// visible lets the rest of the play see the variables of a role that a task uses. Those of `roles` are seen from the start.
func (p *playsState) visible(cs []*taskContext, t *playbook.Task, files *playbook.RoleFiles) {
	if t.Dynamic && !p.public(cs[0], t) || t.ActionKey == "" {
		return
	}
	for _, c := range cs {
		for _, one := range []struct {
			into    *vars.History
			entries []playbook.Entry
			from    string
		}{{&c.on.Names.ShownVars, files.Vars, files.VarsFrom}, {&c.on.Names.ShownDefaults, files.Defaults, files.DefsFrom}} {
			for _, e := range one.entries {
				b := p.bindings.Bind(e.Key, e.Value, one.from, origin(e.Pos, c.chain))
				one.into.Add(&b)
			}
		}
	}
}

// hasBeen reports whether a role has run in this play already with what it is given here.
func (p *playsState) hasBeen(c *taskContext, t *playbook.Task, files *playbook.RoleFiles) bool {
	if t.Dynamic || t.ActionKey == "import_role" || strings.HasSuffix(t.ActionKey, ".import_role") {
		return false
	}
	if dup := plan.FirstOf(t.AllowDup, files.Meta.AllowDup); !dup.IsZero() &&
		p.ReadFlag(dup, "allow_duplicates", p.Renderer(p.env(c, nil), c.chain), false) {
		return false
	}
	texts := []string{files.Dir, value.Text(plan.Plain(t.RoleParams)), value.Text(plan.Plain(t.StepVars))}
	for _, list := range [][]playbook.Value{t.When, t.Tags} {
		for _, v := range list {
			texts = append(texts, value.Text(plan.Plain(v)))
		}
		texts = append(texts, "")
	}
	key := c.scene.BatchKey() + strings.Join(texts, "\x00")
	if c.play.applied[key] {
		return true
	}
	c.play.applied[key] = true
	return false
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
	var walk func(c *taskContext, t *playbook.Task, parent *vars.Role)
	walked := 0
	walk = func(c *taskContext, t *playbook.Task, parent *vars.Role) {
		if t.Args.IsZero() || walked > mostDependencies {
			return
		}
		if walked++; walked > mostDependencies {
			p.Errorf(t.Args.Pos(), 0, c.chain, "have each role name what it depends on once",
				"the dependencies of roles lead to more than %d others", mostDependencies)
			return
		}
		name, ok := p.pathOf(c, t.Args, "which role to use", "use include_role with a `when` for each")
		if !ok {
			return
		}
		at := *c
		scene := sc
		scene.Role = parent
		at.scene = &scene
		said := len(p.Found)
		if len(t.Collections) > 0 {
			at.collections = collection.Searched("", t.Collections)
		}
		found, ok := p.FindRole(at.lookout(p.plan.Root), t.Args, name, at.chain)
		if !ok {
			p.Found = p.Found[:said] // it is said where the role is used
			return
		}
		for r := parent; r != nil; r = r.Parent {
			if r.Dir == found.Dir {
				return // that it uses itself is said there, too
			}
		}
		files := p.LoadRole(t, found.Dir, p.roleFiles(&at, t), at.chain)
		r := newRole(found, parent, files)
		at.collections = r.searched()
		for _, need := range files.Meta.Dependencies {
			walk(&at, need, r.Role)
		}
		sc.Roles = append(sc.Roles, r.FullName())
		sc.RoleVars = p.bindings.Lazy(files.Vars, sc.RoleVars, files.VarsFrom, c.chain)
		sc.Defaults = p.bindings.Lazy(files.Defaults, sc.Defaults, files.DefsFrom, c.chain)
		scene.Role = r.Role
		play.handlers.takeHandlers(files, t, func() []*handler {
			scene.RoleVars, scene.Defaults = sc.RoleVars, sc.Defaults
			h := at
			h.scene = &scene
			return p.handlersOf(files.Handlers, &h, r, t)
		})
	}
	for _, t := range play.src.Roles {
		walk(&with, t, nil)
	}
	own := p.handlersOf(playbook.TasksOf{File: c.file, Tasks: play.src.Handlers}, &with, nil, nil)
	play.handlers.list = append(play.handlers.list, own...)
}
