package planner

import (
	"cmp"
	"slices"

	"moon/plan"
	"moon/plan/collection"
	"moon/plan/loops"
	"moon/plan/planner/additions"
	"moon/plan/planner/gates"
	"moon/plan/planner/library"
	"moon/plan/planner/place"
	"moon/plan/planner/relay"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
)

// adding plans add_host and group_by: the inventory has what they add from here on. add_host is done once for all hosts.
func (p *planner) adding(cs []*taskContext, t *playbook.Task) {
	if t.Action == "add_host" {
		// As with Ansible, add_host is one task for all hosts, although nothing in the task says so.
		once := playbook.Written(t.Pos, "true")
		for _, c := range cs {
			c.inherit.RunOnce = once
		}
	}
	late, by := additions.NewLate(t.Action == "add_host"), ""
	p.planned = func(c *taskContext, step int) {
		s := &p.plan.Steps[step]
		switch {
		case s.Excluded || s.Prediction == plan.WillSkip:
		case s.Place != nil && !p.found(s):
			late.Wait(s, additions.PendingOf(s, p.CompileTask(t, c.chain), p.inventory, c.on.Name))
		case s.Place != nil: // its rounds come
			late.Found(s)
		case s.Task.Known == nil:
			p.addLate(c, s, t, late)
		// Of add_host in a loop only one host's rounds add: those of the others would add the same hosts again.
		case t.Action == "group_by" || by == "" || s.Loop != nil && s.Host == by:
			by = s.Host
			p.addArgs(c, s, t, s.Task.Known.Args)
		}
	}
	p.planTaskScope(cs, t)
	p.planned = nil
	p.awaitAdded(late)
}

// blockRounds plans a block that loops: once for each item, and each time for all hosts that have that item.
func (p *planner) blockRounds(cs []*taskContext, t *playbook.Task) {
	type round struct {
		label string
		index int
		cs    []*taskContext
	}
	var rounds []*round
	for _, c := range cs {
		// Each host has its own items: a fact or a variable of the host may give them.
		p.selectHost(c)
		list, typ, late, ok := p.itemsOf(c, t)
		if len(late) > 0 {
			p.ReportLate(t.Loop.Over, c.chain, "put the tasks into a file, and loop over it with `include_tasks`", "the items of this loop",
				late)
		}
		if !ok || !p.rounds(len(list), len(cs), t, c) {
			continue
		}
		from := origin(t.Loop.Pos, c.chain)
		expression := loops.Expression(t.Loop)
		for i, item := range list {
			one := *c
			one.depth = c.depth + 1
			made := &vars.Layer{Binds: []vars.Binding{{
				Name: t.Loop.Var, Value: item.Value, Open: item.Open, Raw: item.Raw,
				Where: item.Where, From: "loop", Origin: from,
			}}}
			one.loop = p.roundOnHost(&one, t, list, i, made)
			lc := p.roundContext(&one, t, list, i, plan.LoopContext{Type: typ, Expression: expression})
			// The steps inside may have no no_log of their own, and would show the item.
			if plan.MayHide(one.noLog(t)) {
				lc.Item = nil
			}
			one.inLoop = &lc
			// Hosts may have different items at one place. A round is what the hosts have in common, so the label counts too.
			at := slices.IndexFunc(rounds, func(r *round) bool { return r.index == i && r.label == lc.Label })
			if at < 0 {
				at = len(rounds)
				rounds = append(rounds, &round{label: lc.Label, index: i})
			}
			rounds[at].cs = append(rounds[at].cs, &one)
		}
	}
	// A host with items of its own has added its rounds behind all others: this puts first items before second ones again.
	slices.SortStableFunc(rounds, func(a, b *round) int { return a.index - b.index })
	for _, r := range rounds {
		if p.Full {
			return
		}
		p.blockOnce(r.cs, t, r.label)
	}
}

// planTasksForHosts plans tasks for some hosts: task by task, and each for all of them.
func (p *planner) planTasksForHosts(cs []*taskContext, tasks []*playbook.Task) {
	if n := min(len(cs)*len(tasks), p.o.MaxSteps); cap(p.plan.Steps)-len(p.plan.Steps) < n {
		// Most tasks are one step of each host, and handlers follow.
		p.plan.Steps = slices.Grow(p.plan.Steps, max(n+n/8, len(p.plan.Steps)))
	}
	for _, t := range tasks {
		p.planTaskForHosts(cs, t)
	}
}

// planTaskForHosts plans one task for some hosts.
func (p *planner) planTaskForHosts(cs []*taskContext, t *playbook.Task) {
	// A meta in an earlier task may have taken hosts out of the play, or out of this role.
	cs = p.staying(cs)
	if p.Full || len(cs) == 0 {
		return
	}
	if !t.Module.IsZero() {
		p.planModules(cs, t)
		return
	}
	defer p.plan.CloseShapes(len(p.plan.Shapes))
	if !t.Moved.IsZero() {
		scopes, steps := len(p.plan.Scopes), len(p.plan.Steps)
		defer func() { p.noteMoved(cs[0], t, scopes, steps) }()
	}
	// A saved plan keeps the text of the files it read. Of one with no_log the text may hold what is hidden, so only a digest is kept.
	if plan.MayHide(t.NoLog) || !cs[0].inherit.NoLog.IsZero() {
		p.disk.KeepNot(cs[0].file.Path)
		p.facts.Hiding = true
		defer func() { p.facts.Hiding = false }()
	}
	if len(t.Collections) > 0 {
		cs = searching(cs, collection.Searched("", t.Collections))
	}
	t = p.ResolveModule(t, cs[0].collections)
	// With `gather_facts: false` it is this task that makes facts known, and a clear_facts before it ends here.
	if t.Action == "setup" || t.Action == "gather_facts" {
		p.showAgain(cs)
		if plan.FirstOf(t.DelegateTo, cs[0].delegate).IsZero() { // another host gives its own, in the run
			defer p.gatherBehind(p.ungathered(cs))()
		}
	}
	switch t.Kind {
	case playbook.Action:
		if len(p.o.Facts.Excluded) > 0 && (t.Action == "setup" || t.Action == "gather_facts") {
			defer excludeHosts(p, cs, t)
		}
		switch t.Action {
		case "":
			if t.Absent {
				p.planTaskScope(p.deriveContexts(cs, t), t)
			}
		case "meta":
			p.planMeta(p.deriveContexts(cs, t), t)
		case "add_host", "group_by":
			p.adding(p.deriveContexts(cs, t), t)
		default:
			p.planTaskScope(p.deriveContexts(cs, t), t)
		}
	case playbook.IncludeVars:
		p.includeVars(p.deriveContexts(cs, t), t)
	case playbook.Vars: // it has no action, as the parser has said
	case playbook.Block:
		p.blockOfHosts(p.deriveContexts(cs, t), t)
	case playbook.Include:
		// The keys of a dynamic include belong to the step that decides, and not to what is inside. So the contexts go in underived.
		if t.Dynamic || t.Old && cs[0].included {
			p.includeTasks(cs, t)
		} else {
			p.importTasks(p.deriveContexts(cs, t), t)
		}
	case playbook.Role:
		if t.Dynamic {
			p.includeRole(cs, t)
		} else {
			p.importRole(p.deriveContexts(cs, t), t)
		}
	case playbook.Preset:
		for _, c := range p.deriveContexts(cs, t) {
			p.selectHost(c)
			p.planPreset(c, t)
		}
	}
}

// deriveContexts are the contexts as a task has them, with its own keys.
func (p *planner) deriveContexts(cs []*taskContext, t *playbook.Task) []*taskContext {
	list := make([]*taskContext, len(cs))
	for i, c := range cs {
		p.selectHost(c)
		list[i] = p.deriveContext(c, t)
	}
	return list
}

// searching are the contexts where these collections are searched.
func searching(cs []*taskContext, in []string) []*taskContext {
	return altered(cs, func(c *taskContext) { c.collections = in })
}

func (p *planner) deriveContext(c *taskContext, t *playbook.Task) *taskContext {
	own := p.CompileTask(t, c.chain)
	if t.Loop.Kind == playbook.NoLoop {
		p.Reached(1, own, len(p.machines), c.chain)
	}
	in := *c
	in.item = nil
	in.pos = t.Pos
	in.looks = source.SourceDirs[t.Action]
	if t.Kind == playbook.IncludeVars {
		in.looks = "vars"
	}
	if len(own.When) > 0 {
		// Clipped here and below: siblings append to the same slice, and must not write into each other's room.
		in.when = append(slices.Clip(c.when), own.When...)
	}
	in.tags, in.approves = p.tagsOf(t, c), c.approves || t.Approves
	switch {
	case len(t.Envs) > 0:
		in.env = append(slices.Clip(c.env), t.Envs...)
	case t.Env.Kind() == playbook.Map:
		in.env = append(slices.Clip(c.env), t.Env)
	}
	if len(t.ModuleDefaults) > 0 {
		in.modules = append(slices.Clip(c.modules), t.ModuleDefaults...)
	}
	if !t.Ignore.IsZero() {
		in.ignore = p.Flag(t.Ignore, c.chain)
	}
	if !t.Cwd.IsZero() {
		in.cwd = t.Cwd
	}
	in.become = c.become.With(t)
	in.link = c.link.With(t.Connection, t.RemoteUser, t.Port)
	in.inherit = c.inherit.With(t)
	if !t.DelegateTo.IsZero() {
		in.delegate = t.DelegateTo
	}
	if len(t.Notify) > 0 {
		in.notify = t.Notify // in the place of what is around it
	}
	return &in
}

// planTaskScope plans one task for some hosts: a step for each, or one for each item of its loop.
func (p *planner) planTaskScope(cs []*taskContext, t *playbook.Task) {
	label := plan.FirstLine(t.Name.Text())
	if label == "" {
		label = t.ActionKey
	}
	once := p.once(cs)
	base, scope := "", -1
	// A single host has no scope for the task. The label is made in the same way, so the path stays when a second host comes.
	if len(cs) > 1 {
		p.selectHost(cs[0])
		scope = p.OpenScope(plan.Scope{
			Kind: plan.ScopeTask, Parent: cs[0].scope, Name: p.groupName(cs[0], t, p.unnamed(t)), Origin: origin(t.Pos, cs[0].chain),
			When:  plan.WhenText(cs[0].when),
			Hosts: len(cs), Once: once, Role: cs[0].roleName(),
		}, label)
		base = p.plan.Scopes[scope].Path
	} else {
		base = p.plan.Scopes[cs[0].scope].Path + "/" + p.UniqueLabel(cs[0].scope, label)
	}
	for _, c := range cs {
		p.selectHost(c)
		if scope >= 0 {
			c.scope = scope
		}
		c.path, c.group, c.once = base+"@"+c.on.Name, len(p.plan.Steps), once
		if t.Loop.Kind == playbook.NoLoop {
			if p.HasRoom(1, t.Pos, c.chain) {
				p.planOne(c, t)
			}
		} else {
			p.loopOnHost(c, t)
		}
		p.notify(c)
		if p.Full {
			break
		}
	}
	if scope >= 0 {
		p.CloseScope(scope)
	}
	if once {
		relay.Once(machinesOf(cs), t)
	}
}

// loopOnHost plans the items of a task on one host. What the items are may depend on a name that its condition guards.
func (p *planner) loopOnHost(c *taskContext, t *playbook.Task) {
	// Ansible keeps an error in the list until the condition was asked: `loop: "{{ found.results }}"` with `when: found is defined` is
	// skipped.
	if t.Loop.Over.Kind() != playbook.List || plan.TemplatedIn(t.Loop.Over) {
		if p.saysNo(c) {
			// What the list complains of is excused by the condition, so it must not show.
			said := p.Found
			p.Found = nil
			_, _, _, ok := p.itemsOf(c, t)
			p.Found = said
			if !ok {
				p.planEmptyLoop(c, t, c.when)
				return
			}
		}
	}
	p.planLoop(c, t)
}

// planEmptyLoop plans a task whose loop has no items: one step that is skipped.
func (p *planner) planEmptyLoop(c *taskContext, t *playbook.Task, when []plan.Condition) {
	with := *c
	with.when = when
	p.planStep(&with, p.standins.Empty(t, func(empty *playbook.Task) { p.Adopt(empty, p.CompileTask(t, c.chain)) }))
	if t.Register == "" {
		return
	}
	p.names.Produced.Add(&vars.Binding{
		Name: t.Register, From: "register", Origin: origin(t.RegisterPos(), c.chain), By: t,
		Value: map[string]any{"results": []any{}, "skipped": true, "changed": false, "skipped_reason": "No items in the list"},
	})
}

// blockOfHosts plans a block for some hosts. Its condition is asked before each task inside.
func (p *planner) blockOfHosts(cs []*taskContext, t *playbook.Task) {
	if t.Loop.Kind != playbook.NoLoop {
		p.blockRounds(cs, t)
		return
	}
	p.blockOnce(cs, t, "")
}

// blockOnce plans a block for some hosts, or one round of it.
func (p *planner) blockOnce(cs []*taskContext, t *playbook.Task, item string) {
	first := cs[0]
	p.selectHost(first)
	group := p.group(first, t)
	scope := p.OpenScope(plan.Scope{
		Kind: plan.ScopeBlock, Parallel: group.atOnce, Parent: first.scope, Name: p.groupName(first, t, "block"),
		Origin: origin(t.Pos, first.chain), When: plan.WhenText(first.when), Hosts: len(cs), Item: item, Approves: t.Approves,
	}, plan.FirstLine(cmp.Or(t.Name.Text(), "block")))
	inner := altered(cs, func(c *taskContext) {
		c.scope = scope
		c.block = p.shareLayer(t, c.block, "block vars", c.chain)
	})
	began := *p.names.Produced.Now
	inBody := inParallel(inner, group)
	if len(t.Rescue)+len(t.Always) > 0 {
		inBody = within(inBody, scope)
		for _, c := range inBody {
			c.breaking, c.caught = c.breaking || len(t.Rescue) > 0, true
		}
	}
	p.planTasksForHosts(inBody, t.Body)
	// A body may break off anywhere: what it sets is certain inside, while what comes after the block waits for the run.
	if len(t.Rescue) > 0 {
		markUncertain(inner, began)
	}
	// What the rescue may be needed for ends here: its own steps come after, and do not count.
	body := len(p.plan.Steps)
	for _, branch := range t.Parts()[1:] {
		on := inner
		if branch.Name == "rescue" { // where the body does nothing, as a meta without handlers, there is nothing to rescue
			on = slices.DeleteFunc(slices.Clone(inner), func(c *taskContext) bool { return !p.plan.HasSteps(scope, body, c.on.Name) })
		}
		if len(branch.Tasks) == 0 || len(on) == 0 {
			continue
		}
		id := p.OpenScope(plan.Scope{
			Kind: plan.ScopeBranch, Parent: scope, Name: branch.Name, Branch: branch.Name,
			Origin: origin(branch.Pos, first.chain),
		}, branch.Name)
		to := within(on, id)
		if branch.Name == "rescue" {
			relay.Broken(p.plan, machinesOf(to), scope, body, origin(branch.Pos, first.chain))
			for _, c := range to {
				c.rescuing = true
			}
		}
		began := *p.names.Produced.Now
		p.planTasksForHosts(to, branch.Tasks)
		if branch.Name == "rescue" {
			markUncertain(to, began)
		}
		p.CloseScope(id)
	}
	p.CloseScope(scope)
}

// importTasks puts the tasks of a file in the place of an import.
func (p *planner) importTasks(cs []*taskContext, t *playbook.Task) {
	if t.Args.IsZero() {
		return
	}
	for _, c := range cs { // made for this task by deriveContexts
		if t.Old && slices.ContainsFunc(t.Keys, func(e playbook.Entry) bool { return e.Key == "vars" }) { // as with Ansible they count as those of include_tasks
			c.params = p.shareLayer(t, c.params, "include vars", c.chain)
		} else {
			c.block = p.shareLayer(t, c.block, "import vars", c.chain)
		}
	}
	// An import is static, as with Ansible: the first host answers for all of them.
	p.selectHost(cs[0])
	name, ok := p.pathOf(cs[0], t.Args, "which file to import", "import each candidate with its own `when`, or use include_tasks")
	if !ok {
		return
	}
	p.planTaskFile(cs, t, onHosts{what: p.tasksFile(cs[0], name)})
}

// planTaskFile plans the tasks of a file for some hosts.
func (p *planner) planTaskFile(cs []*taskContext, t *playbook.Task, group onHosts) {
	c, target := cs[0], group.what
	if p.RefuseCircle(target, t, c.chain) {
		return
	}
	p.selectHost(c)
	// Mistakes that reading the file finds do not know who includes it; that is added to those from here on.
	said := len(p.Found)
	f, tasks, err := library.LoadIncluded(p.Library, target, c.handler)
	if err != nil {
		p.ReportUnread(t.ActionKey, t.Args, target, err, c.chain)
		return
	}
	p.TraceInclude(said, c.chain, t)
	side := p.group(c, cmp.Or(p.standins.Applied(t), t))
	scope := plan.Scope{
		Kind: plan.ScopeInclude, Parallel: side.atOnce, Parent: c.scope, Name: p.groupName(c, t, f.Name), Origin: origin(t.Pos, c.chain),
		When: plan.WhenText(c.when), Hosts: len(cs), Item: group.item, Dynamic: t.Dynamic, Approves: t.Approves,
	}
	if t.Dynamic {
		scope.Name = f.Name
	}
	// Entered once for all hosts: the scope, the chain and the file are the same for each.
	first := *c
	leave := p.enter(&first, scope, group.label(f.Name), f, library.Opened{Path: target}, t.Pos)
	inner := altered(cs, func(c *taskContext) {
		c.scope, c.chain, c.file, c.dir, c.cwd, c.item = first.scope, first.chain, first.file, first.dir, first.cwd, nil
	})
	p.planTasksForHosts(inParallel(inner, side), tasks)
	leave()
}

// includeTasks plans what is included while the play goes on: a step that asks the condition once, and the files' tasks for the
// hosts that include the same one.
func (p *planner) includeTasks(cs []*taskContext, t *playbook.Task) {
	if t.Args.IsZero() {
		return
	}
	p.includeOnHosts(cs, t, "which file to include", p.tasksFile, p.planTaskFile)
}

// onHosts is what some hosts include together.
type onHosts struct {
	what   string // the path of a file, the name of a role
	files  library.RoleNames
	item   string // of the loop around
	number int    // of the item
	place  string // what paths begin with if it was found in the run
	cs     []*taskContext
}

// label is its part of paths. Of what was found at an open place it holds that of the place: whatever is found later cannot take it.
func (g *onHosts) label(name string) string { return g.place + name }

// includeOnHosts plans an include: the step that decides, then its groups of hosts. find says what a name stands for, do plans that for
// all hosts that include the same.
func (p *planner) includeOnHosts(cs []*taskContext, t *playbook.Task, what string, find func(c *taskContext, name string) string,
	do func(cs []*taskContext, t *playbook.Task, group onHosts),
) {
	decider := p.standins.Decider(t)
	var rounds []*onHosts
	inside := p.deriveContexts(cs, t)
	for i, c := range inside {
		c.around = cs[i]
		c.block = p.shareLayer(t, c.block, "include vars", c.chain) // what is included, and whether, may be said by them
		c.finds = &plan.Finding{Src: t, Name: t.Args, With: place.RoleParts(t), Ask: true}
	}
	p.taskTelling(inside, decider, func(c *taskContext, step int) {
		s := &p.plan.Steps[step]
		if s.Excluded || s.Prediction == plan.WillSkip || s.Task.Src.Action != decider.Action { // it fails for its loop
			return
		}
		outer := p.applied(c, t)
		outer.gates = append(slices.Clip(outer.gates),
			gates.At{Gate: plan.Gate{Step: step, Ran: true}, Text: gates.OwnText(s.Task.When), Pos: t.Pos, Role: 0})
		// An answer that is known needs no gate: what is inside would wait for a step that decides nothing.
		if s.When == "" || s.Prediction == plan.WillRun {
			outer.gates = outer.gates[:len(outer.gates)-1]
		}
		name, files, ok := p.nameIncluded(c, t, s, what)
		if !ok {
			return
		}
		group := onHosts{what: find(c, name), files: files, place: p.placeLabel(c, s, c.around.scope)}
		s.Includes = p.ShowPath(group.what)
		if s.Loop != nil {
			group.item, group.number = s.Loop.Label, s.Loop.Index
		}
		// As Ansible groups them: hosts that include the same for the same item go through it together. Other files of a role are not the
		// same, which Ansible forgets: its first host answers for all of them.
		i := slices.IndexFunc(rounds, func(r *onHosts) bool {
			return r.what == group.what && r.files == group.files && r.number == group.number && r.item == group.item
		})
		if i < 0 {
			i = len(rounds)
			rounds = append(rounds, &group)
		}
		rounds[i].cs = append(rounds[i].cs, outer)
	})
	slices.SortStableFunc(rounds, func(a, b *onHosts) int { return a.number - b.number })
	for _, r := range rounds {
		do(r.cs, t, *r)
	}
}

// applied is the context of what is inside an include: what was around it, with the keys of `apply`, its variables, and the item.
func (p *planner) applied(c *taskContext, t *playbook.Task) *taskContext {
	// None of the include's own keys reach what is inside: `when` or `tags` decide about the include, and `apply` is for the rest.
	in := *c.around
	in.included = true
	in.loop, in.item, in.inLoop = c.loop, nil, c.inLoop
	in.depth, in.approves = c.depth, c.approves
	if t.StepVars.Kind() == playbook.Map {
		// As parameters: in Ansible's order they count above what set_fact and register have given.
		in.params = p.shareLayer(t, in.params, "include vars", c.chain)
	}
	in.inherit.NoLog = c.around.noLog(t) // hides what is inside too: its items would show there
	if t.Apply.Kind() != playbook.Map {
		return &in
	}
	apply := p.standins.Apply(c.file, t, &p.Found)
	with := p.deriveContext(&in, apply)
	with.block = p.shareLayer(apply, with.block, "apply vars", c.chain)
	return with
}

// taskTelling plans the step of an include for some hosts, and tells of each step with the context it was planned in.
func (p *planner) taskTelling(cs []*taskContext, t *playbook.Task, each func(c *taskContext, step int)) {
	p.planned = func(c *taskContext, step int) {
		if !p.plan.Steps[step].Loops() { // of an open loop the rounds count, and they come later
			each(c, step)
		}
	}
	defer func() { p.planned = nil }()
	p.planTaskScope(cs, t)
}
