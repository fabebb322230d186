package plan

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan/playbook"
)

// inherit are the keys that a play or a block gives the tasks inside which have none of their own.
type inherit struct{ noLog, checkMode, diff, timeout, unreachable, runOnce, anyFatal, delegateFacts playbook.Value }

func (i inherit) with(t *playbook.Task) inherit {
	for _, one := range []struct {
		into *playbook.Value
		own  playbook.Value
	}{
		{&i.noLog, t.NoLog},
		{&i.checkMode, t.CheckMode},
		{&i.diff, t.Diff},
		{&i.timeout, t.Timeout},
		{&i.unreachable, t.Unreachable},
		{&i.runOnce, t.RunOnce},
		{&i.anyFatal, t.AnyFatal},
		{&i.delegateFacts, t.DelegateFact},
	} {
		if !one.own.IsZero() {
			*one.into = one.own
		}
	}
	return i
}

// gate is a step that decides whether others run: an include whose condition is asked once, the end of a play.
type gate struct {
	step int
	ran  bool // the others run if it did; otherwise, if it was skipped
}

// on makes a host the one that is planned for.
func (p *fleet) on(c *scopeContext) {
	p.names, p.host = c.on.names, c.on.name
	p.facts.at = c.pos
}

// together plans tasks for some hosts: task by task, and each for all of them.
func (p *planner) together(cs []*scopeContext, tasks []*playbook.Task) {
	if n := min(len(cs)*len(tasks), p.o.MaxSteps); cap(p.plan.Steps)-len(p.plan.Steps) < n { // most tasks are one step of each host
		p.plan.Steps = slices.Grow(p.plan.Steps, max(n, len(p.plan.Steps)))
	}
	for _, t := range tasks {
		p.each(cs, t)
	}
}

// staying are the contexts of the hosts that are still in the play.
func (p *playsState) staying(cs []*scopeContext) []*scopeContext {
	gone := func(c *scopeContext) bool { return c.on.left || c.on.leftRole > 0 && p.within(c.scope, c.on.leftRole) }
	if !slices.ContainsFunc(cs, gone) {
		return cs
	}
	return slices.DeleteFunc(slices.Clone(cs), gone)
}

// each plans one task for some hosts.
func (p *planner) each(cs []*scopeContext, t *playbook.Task) {
	cs = p.staying(cs)
	if p.full || len(cs) == 0 {
		return
	}
	if mayHide(t.NoLog) || !cs[0].inherit.noLog.IsZero() {
		p.disk.keepNot(cs[0].file.Path)
		p.facts.hiding = true
		defer func() { p.facts.hiding = false }()
	}
	if t.Action == "setup" || t.Action == "gather_facts" {
		p.showAgain(cs)
		p.gather(p.ungathered(cs))
	}
	switch t.Kind {
	case playbook.Action:
		switch t.Action {
		case "":
			if t.Absent {
				p.task(p.inside(cs, t), t)
			}
		case "meta":
			p.meta(p.inside(cs, t), t)
		case "add_host", "group_by":
			p.adding(p.inside(cs, t), t)
		default:
			p.task(p.inside(cs, t), t)
		}
	case playbook.IncludeVars:
		p.includeVars(p.inside(cs, t), t)
	case playbook.Vars: // it has no action, as the parser has said
	case playbook.Block:
		p.blockOfHosts(p.inside(cs, t), t)
	case playbook.Include:
		if t.Dynamic {
			p.includeTasks(cs, t)
		} else {
			p.importTasks(p.inside(cs, t), t)
		}
	case playbook.Role:
		if t.Dynamic {
			p.includeRole(cs, t)
		} else {
			p.importRole(p.inside(cs, t), t)
		}
	case playbook.Preset:
		for _, c := range p.inside(cs, t) {
			p.on(c)
			p.preset(c, t)
		}
	}
}

// ungathered are the contexts of hosts whose facts nobody has asked for.
func (p *playsState) ungathered(cs []*scopeContext) []*scopeContext {
	return slices.DeleteFunc(slices.Clone(cs), func(c *scopeContext) bool { return c.on.state != ungathered })
}

// inside are the contexts as a task has them, with its own keys.
func (p *planner) inside(cs []*scopeContext, t *playbook.Task) []*scopeContext {
	list := make([]*scopeContext, len(cs))
	for i, c := range cs {
		p.on(c)
		list[i] = p.into(c, t)
	}
	return list
}

func (p *planner) into(c *scopeContext, t *playbook.Task) *scopeContext {
	own := p.own(t, c)
	if t.Loop.Kind == playbook.NoLoop {
		p.reached(1, own, c)
	}
	in := *c
	in.item = nil
	in.pos = t.Pos
	in.looks = sourceDirs[t.Action]
	if t.Kind == playbook.IncludeVars {
		in.looks = "vars"
	}
	if len(own.when) > 0 {
		in.when = append(slices.Clip(c.when), own.when...)
	}
	in.tags = p.tagsOf(t, c)
	switch {
	case len(t.Envs) > 0:
		in.env = append(slices.Clip(c.env), t.Envs...)
	case t.Env.Kind() == playbook.Map:
		in.env = append(slices.Clip(c.env), t.Env)
	}
	if !t.Ignore.IsZero() {
		in.ignore = p.conditions([]playbook.Value{t.Ignore}, c.chain)
	}
	if !t.Cwd.IsZero() {
		in.cwd = t.Cwd
	}
	in.become = c.become.with(t)
	in.link = c.link.with(t.Connection, t.RemoteUser, t.Port)
	in.inherit = c.inherit.with(t)
	if !t.DelegateTo.IsZero() {
		in.delegate = t.DelegateTo
	}
	if len(t.Notify) > 0 {
		in.notify = t.Notify // in the place of what is around it
	}
	return &in
}

// task plans one task for some hosts: a step for each, or one for each item of its loop.
func (p *planner) task(cs []*scopeContext, t *playbook.Task) {
	label := FirstLine(t.Name.Text())
	if label == "" {
		label = t.ActionKey
	}
	once := p.once(cs)
	base, scope := "", -1
	if len(cs) > 1 {
		p.on(cs[0])
		scope = p.open(Scope{
			Kind: ScopeTask, Parent: cs[0].scope, Name: p.groupName(cs[0], t, p.unnamed(t)), Origin: origin(t.Pos, cs[0].chain), When: whenText(cs[0].when),
			Hosts: len(cs), Once: once, Role: cs[0].roleName(),
		}, label)
		base = p.plan.Scopes[scope].Path
	} else {
		base = p.plan.Scopes[cs[0].scope].Path + "/" + p.label(cs[0].scope, label)
	}
	for _, c := range cs {
		p.on(c)
		one := *c
		if scope >= 0 {
			one.scope = scope
		}
		one.path = base + "@" + c.on.name
		one.group = len(p.plan.Steps)
		one.once = once
		if t.Loop.Kind == playbook.NoLoop {
			if p.room(1, t.Pos, c.chain) {
				p.step(&one, t)
			}
		} else {
			p.loopOnHost(&one, t)
		}
		p.notify(&one)
		if p.full {
			break
		}
	}
	if scope >= 0 {
		p.close(scope)
	}
	if once {
		p.relay(cs, t)
	}
}

// unnamed is what a task without a name is called.
func (p *playsState) unnamed(t *playbook.Task) string {
	_, label := loopName(t)
	if text := FirstLine(t.Args.Text()); text != "" && label == t.Action {
		return label + ": " + text
	}
	return label
}

func (c *scopeContext) roleName() string {
	if c.scene == nil || c.scene.role == nil {
		return ""
	}
	return c.scene.role.name
}

// once reports whether a task runs on one host for all.
func (p *fleet) once(cs []*scopeContext) bool {
	v := cs[0].inherit.runOnce
	if v.IsZero() || len(cs) < 2 {
		return false
	}
	p.on(cs[0])
	return p.flag(v, "run_once", p.renderer(p.env(cs[0], nil), cs[0].chain), false)
}

// relay gives what a task with run_once sets to all hosts it was for: its host is known only in the run, because the first may
// have failed by then.
func (p *playsState) relay(cs []*scopeContext, t *playbook.Task) {
	names := map[string][]*binding{}
	var order []string
	for _, c := range cs {
		for name, versions := range c.on.names.produced.versions {
			last := versions[len(versions)-1]
			if last.by != t {
				continue
			}
			if names[name] == nil {
				order = append(order, name)
			}
			names[name] = append(names[name], last.binding)
		}
	}
	slices.Sort(order)
	for _, name := range order {
		from := names[name]
		var steps []int
		for _, b := range from {
			steps = append(steps, b.steps...)
		}
		slices.Sort(steps)
		all := &binding{name: name, from: from[0].from, origin: from[0].origin, how: relayed, relay: from, steps: slices.Compact(steps), by: t}
		if len(all.steps) == 0 { // none of them runs
			continue
		}
		if from[0].foreseen {
			all.foreseen, all.value = true, from[0].value
		}
		for _, c := range cs {
			c.on.names.produced.add(all)
		}
	}
	relayFacts(cs, t)
}

// loopOnHost plans the items of a task on one host. What the items are may depend on a name that its condition guards.
func (p *planner) loopOnHost(c *scopeContext, t *playbook.Task) {
	if t.Loop.Over.Kind() != playbook.List || templatedIn(t.Loop.Over) {
		quiet := p.renderer(p.env(c, nil), c.chain)
		quiet.report = func(diag.Diagnostic) {}
		if v := quiet.decide(c.when); v.known && !v.holds && !quiet.failed {
			said := p.ds
			p.ds = nil
			_, _, ok := p.items(c, t)
			p.ds = said
			if !ok {
				p.nothing(c, t, c.when)
				return
			}
		}
	}
	p.loop(c, t)
}

// nothing plans a task whose loop has no items: one step that is skipped.
func (p *planner) nothing(c *scopeContext, t *playbook.Task, when []condition) {
	empty, ok := p.empty[t]
	if !ok {
		one := *t
		one.Loop = playbook.Loop{Var: t.Loop.Var, Index: t.Loop.Index}
		one.Register = ""
		empty = &one
		p.empty[t] = empty
		p.compiled[empty] = p.own(t, c)
	}
	with := *c
	with.when = when
	p.step(&with, empty)
	if t.Register == "" {
		return
	}
	p.names.produced.add(&binding{
		name: t.Register, from: "register", origin: origin(t.RegisterPos, c.chain), by: t,
		value: map[string]any{"results": []any{}, "skipped": true, "changed": false, "skipped_reason": "No items in the list"},
	})
}

// noItems is the condition of a task whose loop is over nothing.
func noItems(t *playbook.Task) []condition {
	return []condition{{value: playbook.Written(t.Loop.Pos, "no items in the list"), constant: true}}
}

// blockOfHosts plans a block for some hosts. Its condition is asked before each task inside.
func (p *planner) blockOfHosts(cs []*scopeContext, t *playbook.Task) {
	if t.Loop.Kind != playbook.NoLoop {
		p.blockRounds(cs, t)
		return
	}
	p.blockOnce(cs, t, "")
}

// blockOnce plans a block for some hosts, or one round of it.
func (p *planner) blockOnce(cs []*scopeContext, t *playbook.Task, item string) {
	first := cs[0]
	p.on(first)
	group := p.group(first, t)
	scope := p.open(Scope{
		Kind: ScopeBlock, Parallel: group.atOnce, Parent: first.scope, Name: p.groupName(first, t, "block"), Origin: origin(t.Pos, first.chain), When: whenText(first.when), Hosts: len(cs), Item: item,
	}, FirstLine(cmp.Or(t.Name.Text(), "block")))
	inner := make([]*scopeContext, len(cs))
	for i, c := range cs {
		one := *c
		one.scope = scope
		if t.StepVars.Kind() == playbook.Map {
			one.block = p.shareLayer(t, c.block, "block vars", c.chain)
		}
		inner[i] = &one
	}
	began := *p.names.produced.now
	p.together(inParallel(inner, group), t.Body)
	if len(t.Rescue) > 0 {
		doubt(inner, began)
	}
	body := len(p.plan.Steps)
	for _, branch := range []struct {
		name  string
		pos   diag.Pos
		tasks []*playbook.Task
	}{{"rescue", t.RescuePos, t.Rescue}, {"always", t.AlwaysPos, t.Always}} {
		if len(branch.tasks) == 0 {
			continue
		}
		id := p.open(Scope{Kind: ScopeBranch, Parent: scope, Name: branch.name, Branch: branch.name, Origin: origin(branch.pos, first.chain)}, branch.name)
		to := within(inner, id)
		if branch.name == "rescue" {
			p.brokenOnHosts(to, scope, body, origin(branch.pos, first.chain))
			for _, c := range to {
				c.rescuing = true
			}
		}
		began := *p.names.produced.now
		p.together(to, branch.tasks)
		if branch.name == "rescue" {
			doubt(to, began)
		}
		p.close(id)
	}
	p.close(scope)
}

// doubt says that what has been set since a moment may not happen: a body may break off before it, and a rescue may not be needed.
// Inside of them it had happened for all that follows it; what comes after has to wait for the run.
func doubt(cs []*scopeContext, since int) {
	for _, c := range cs {
		for _, versions := range c.on.names.produced.versions {
			for _, v := range versions {
				if v.at > since {
					v.certain, v.foreseen = false, false
				}
			}
		}
	}
}

// brokenOnHosts makes known what failed, in the rescue of a block and after it: on each host one of its own steps.
func (p *playsState) brokenOnHosts(cs []*scopeContext, block, until int, from Origin) {
	steps := map[string][]int{}
	for i := p.plan.Scopes[block].First; i < until; i++ {
		s := &p.plan.Steps[i]
		steps[s.Host] = append(steps[s.Host], i)
	}
	for _, c := range cs {
		for _, name := range slices.Concat(failedTaskNames, failedResultNames) {
			c.on.names.produced.add(&binding{name: name, from: "rescue", origin: from, how: broken, steps: steps[c.on.name]})
		}
	}
}

// shareLayer is the layer of a task's `vars` upon others. Hosts share it.
func (p *variables) shareLayer(t *playbook.Task, below *layer, from string, chain []string) *layer {
	key := taskKey{t, below}
	if l, ok := p.taskLayers[key]; ok {
		return l
	}
	l := p.lazyLayer(t.StepVars.Entries(), below, from, chain)
	p.taskLayers[key] = l
	return l
}

type taskKey struct {
	of    *playbook.Task
	below *layer
}

// pathOf renders the path of a file of tasks, or a role's name. It reports what keeps it from being known.
func (p *evaluator) pathOf(c *scopeContext, v playbook.Value, what, hint string) (string, bool) {
	r := p.renderer(p.env(c, nil), c.chain)
	name := strings.TrimSpace(r.text(v))
	if r.failed {
		return "", false
	}
	if len(r.missing) > 0 {
		p.tooLate(v, c.chain, hint, what, r.missing)
		return "", false
	}
	return name, name != ""
}

// tasksFile finds a file of tasks: beside the file that names it, in the role's tasks, beside the playbook.
func (p *playsState) tasksFile(c *scopeContext, name string) string {
	for _, dir := range p.lookout(c).tasks() {
		path := p.disk.real(p.resolve(name, dir))
		if p.disk.regular(path) {
			return path
		}
	}
	return p.disk.real(p.resolve(name, c.dir))
}

// loadTasks reads a file of tasks of plays once.
func (p *library) loadTasks(path string) (*playbook.File, []*playbook.Task, error) {
	return p.loadAs(path, path, playbook.ParseTasks)
}

// loadHandlers reads a role's file of handlers once.
func (p *library) loadHandlers(path string) (*playbook.File, []*playbook.Task, error) {
	return p.loadAs("handlers "+path, path, playbook.ParseHandlers)
}

func (p *library) loadAs(key, path string, parse func(*playbook.File, playbook.Actions, *diag.List) []*playbook.Task) (*playbook.File, []*playbook.Task, error) {
	if got, ok := p.taskFiles[key]; ok {
		return got.file, got.tasks, nil
	}
	f, err := p.read(path)
	if err != nil {
		return nil, nil, err
	}
	if f.Secret {
		return nil, nil, errSecretSteps
	}
	tasks := parse(f, p.actions(), &p.ds)
	p.taskFiles[key] = tasksOf{f, tasks}
	return f, tasks, nil
}

type tasksOf struct {
	file  *playbook.File
	tasks []*playbook.Task
}

// importTasks puts the tasks of a file in the place of an import.
func (p *planner) importTasks(cs []*scopeContext, t *playbook.Task) {
	if t.Args.IsZero() {
		return
	}
	for i, c := range cs {
		if t.StepVars.Kind() == playbook.Map {
			one := *c
			one.block = p.shareLayer(t, c.block, "import vars", c.chain)
			cs[i] = &one
		}
	}
	p.on(cs[0])
	name, ok := p.pathOf(cs[0], t.Args, "which file to import", "import each candidate with its own `when`, or use include_tasks")
	if !ok {
		return
	}
	p.file(cs, t, p.tasksFile(cs[0], name), "import_tasks", "")
}

// file plans the tasks of a file for some hosts.
func (p *planner) file(cs []*scopeContext, t *playbook.Task, target, key, item string) {
	c := cs[0]
	if p.circular(target, t, c) {
		return
	}
	p.on(c)
	said := len(p.ds)
	f, tasks, err := p.loadTasks(target)
	if err != nil {
		p.errorf(t.Args.Pos(), utf8.RuneCountInString(FirstLine(t.Args.Text())), c.chain, p.similar(target), "%s: %s", key, p.fileError(err))
		return
	}
	p.included(said, c.chain, t)
	group := p.group(c, cmp.Or(p.applies[t], t))
	scope := Scope{
		Kind: ScopeInclude, Parallel: group.atOnce, Parent: c.scope, Name: p.groupName(c, t, f.Name), Origin: origin(t.Pos, c.chain), When: whenText(c.when), Hosts: len(cs), Item: item, Dynamic: t.Dynamic,
	}
	if t.Dynamic {
		scope.Name = f.Name
	}
	first := *c
	leave := p.enter(&first, scope, f.Name, f, including{path: target}, t.Pos)
	inner := make([]*scopeContext, len(cs))
	for i, c := range cs {
		one := *c
		one.scope, one.chain, one.file, one.dir, one.cwd, one.item = first.scope, first.chain, first.file, first.dir, first.cwd, nil
		inner[i] = &one
	}
	p.together(inParallel(inner, group), tasks)
	leave()
}

// includeTasks plans what is included while the play goes on: a step that asks the condition once, and the files' tasks for the
// hosts that include the same one.
func (p *planner) includeTasks(cs []*scopeContext, t *playbook.Task) {
	if t.Args.IsZero() {
		return
	}
	p.includeOnHosts(cs, t, func(c *scopeContext) (string, bool) {
		name, ok := p.pathOf(c, t.Args, "which file to include", "include each candidate with its own `when`")
		if !ok {
			return "", false
		}
		return p.tasksFile(c, name), true
	}, func(group []*scopeContext, target, item string) {
		p.file(group, t, target, "include_tasks", item)
	})
}

// includeOnHosts plans an include: the step that decides, then its groups of hosts. what names what a host includes, do plans that for
// all hosts that include the same.
func (p *planner) includeOnHosts(cs []*scopeContext, t *playbook.Task, what func(*scopeContext) (string, bool), do func(group []*scopeContext, what, item string)) {
	decider := p.decider(t)
	type round struct {
		item   string
		what   string
		number int
		cs     []*scopeContext
	}
	var rounds []*round
	inside := p.inside(cs, t)
	for i := range inside {
		inside[i].around = cs[i]
	}
	p.taskTelling(inside, decider, func(c *scopeContext, step int) {
		s := &p.plan.Steps[step]
		if s.Excluded || s.Prediction == WillSkip {
			return
		}
		outer := p.applied(c, t)
		outer.gates = append(slices.Clip(outer.gates), gateAt{gate{step, true}, s.When, t.Pos, 0})
		if s.When == "" || s.Prediction == WillRun {
			outer.gates = outer.gates[:len(outer.gates)-1]
		}
		target, ok := what(c)
		if !ok {
			return
		}
		s.Includes = p.shown(target)
		item, number := "", 0
		if s.Loop != nil {
			item, number = s.Loop.Label, s.Loop.Index
		}
		i := slices.IndexFunc(rounds, func(r *round) bool { return r.what == target && r.number == number && r.item == item })
		if i < 0 {
			i = len(rounds)
			rounds = append(rounds, &round{item: item, what: target, number: number})
		}
		rounds[i].cs = append(rounds[i].cs, outer)
	})
	slices.SortStableFunc(rounds, func(a, b *round) int { return a.number - b.number })
	for _, r := range rounds {
		do(r.cs, r.what, r.item)
	}
}

// decider is the step of an include: it does nothing but ask the condition.
func (p *playsState) decider(t *playbook.Task) *playbook.Task {
	d, ok := p.deciders[t]
	if !ok {
		one := *t
		one.Kind, one.Action = playbook.Action, strings.TrimPrefix(t.ActionKey, "ansible.builtin.")
		one.Args, one.ExtraArgs, one.StepVars = playbook.Value{}, playbook.Value{}, playbook.Value{}
		if one.Name.IsZero() {
			one.Name = playbook.Written(t.Pos, one.Action+": "+FirstLine(t.Args.Text()))
		}
		d = &one
		p.deciders[t] = d
	}
	return d
}

// applied is the context of what is inside an include: what was around it, with the keys of `apply`, its variables, and the item.
func (p *planner) applied(c *scopeContext, t *playbook.Task) *scopeContext {
	in := *c.around
	in.loop, in.item, in.inLoop = c.loop, nil, c.inLoop
	in.depth = c.depth
	if t.StepVars.Kind() == playbook.Map {
		in.params = p.paramsLayer(t, in.params, c.chain)
	}
	in.inherit.noLog = c.around.noLog(t) // hides what is inside too: its items would show there
	if t.Apply.Kind() != playbook.Map {
		return &in
	}
	apply, ok := p.applies[t]
	if !ok {
		apply = playbook.ParseApply(c.file, t.Apply, &p.ds)
		p.applies[t] = apply
	}
	with := p.into(&in, apply)
	if apply.StepVars.Kind() == playbook.Map {
		with.block = p.shareLayer(apply, with.block, "apply vars", c.chain)
	}
	return with
}

// paramsLayer are the variables that an include is given, upon others.
func (p *variables) paramsLayer(t *playbook.Task, below *layer, chain []string) *layer {
	key := taskKey{t, below}
	if l, ok := p.paramLayers[key]; ok {
		return l
	}
	l := p.lazyLayer(t.StepVars.Entries(), below, "include vars", chain)
	p.paramLayers[key] = l
	return l
}

// taskTelling plans the step of an include for some hosts, and tells of each step with the context it was planned in.
func (p *planner) taskTelling(cs []*scopeContext, t *playbook.Task, each func(c *scopeContext, step int)) {
	p.planned = func(c *scopeContext, step int) { each(c, step) }
	defer func() { p.planned = nil }()
	p.task(cs, t)
}
