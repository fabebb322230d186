package planner

import (
	"fmt"
	"slices"
	"strconv"

	"moon/plan"
	"moon/plan/collection"
	"moon/plan/dialect"
	"moon/plan/planner/connect"
	"moon/plan/planner/gates"
	"moon/plan/planner/library"
	"moon/plan/planner/policy"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// beginPlays makes the planner one of plays.
func (p *planner) beginPlays(pb *playbook.Playbook) {
	p.ReadPlays()
	p.beginHosts()
	p.fileLayers = map[fileKey]*vars.Layer{}
	p.taskLayers = map[taskKey]*vars.Layer{}
	p.scenes, p.roleParams = map[sceneKey]*vars.Scene{}, map[taskKey]*vars.Layer{}
	p.plan.Dialect = dialect.Ansible
	p.engine.Dialect = dialect.Ansible
	p.names.Root = p.bindings.Lazy(pb.Vars.Entries(), nil, "vars", nil)
}

// planAllPlays plans a playbook of plays.
func (p *planner) planAllPlays(pb *playbook.Playbook, root int, orphans func(late bool)) {
	// Plays put the names of their hosts in the place of these; exports are again those of the playbook.
	names := p.names
	p.readInventory()
	if len(pb.Imports) > 0 {
		imported := p.importsOf(pb, p.hostlessContext(importContext{file: pb.File, dir: p.plan.Root}))
		p.names.Root = p.bindings.Lazy(pb.Vars.Entries(), imported, "vars", nil)
	}
	orphans(false)
	if !p.o.Prior.Destroy {
		p.planPlays(pb.Plays, importContext{file: pb.File, dir: p.plan.Root, scope: root, in: p.CollectionOf(pb.File.Path, "")})
		p.checkUnmatched()
	}
	orphans(true)
	p.names, p.Host = names, ""
}

// planPlays plans the plays of a file.
func (p *planner) planPlays(list []*playbook.Play, in importContext) {
	for _, pl := range list {
		if p.Full {
			return
		}
		if !pl.Import.IsZero() {
			p.importPlaybook(pl, in)
			continue
		}
		p.planPlay(pl, in)
	}
}

// importPlaybook plans the plays of another file.
func (p *planner) importPlaybook(pl *playbook.Play, in importContext) {
	c := p.hostlessContext(in)
	r := p.Renderer(p.env(c, nil), in.chain)
	name := r.Text(pl.Import)
	switch {
	case r.Failed:
		return
	case len(r.Missing) > 0:
		p.ReportLate(pl.Import, in.chain, "name the file", "which playbook to import", r.Missing)
		return
	}
	target, of := p.LocatePlaybook(name, in.dir, in.in)
	t := playbook.NewTask(playbook.Task{Args: pl.Import, Pos: pl.Pos})
	if p.RefuseCircle(target, t, c.chain) {
		return
	}
	f, list, err := p.LoadPlays(target)
	if err != nil {
		p.ReportUnread("import_playbook", pl.Import, target, err, in.chain)
		return
	}
	inside := importContext{
		file: f, in: of, when: append(slices.Clip(in.when), p.Conditions(pl.When, in.chain)...),
		tags: p.tagsOf(playbook.NewTask(playbook.Task{Tags: pl.Tags}), c),
	}
	inside.vars = p.bindings.Lazy(pl.Vars.Entries(), in.vars, "import_playbook vars", in.chain)
	label := f.Name
	scope := plan.Scope{
		Kind: plan.ScopeInclude, Parent: in.scope, Name: label, Origin: origin(pl.Pos, in.chain),
		When: plan.WhenText(inside.when),
	}
	if !pl.Name.IsZero() {
		scope.Name = plan.NameLine(pl.Name, pl.Name.Text())
	}
	leave := p.enter(c, scope, label, f, library.Opened{Path: target}, pl.Pos)
	inside.scope, inside.chain, inside.dir = c.scope, c.chain, c.dir
	p.planPlays(list, inside)
	leave()
}

// planPlay plans one play: its hosts, who they are, and what they do in which order.
func (p *planner) planPlay(pl *playbook.Play, in importContext) {
	if pl.Hosts.IsZero() {
		return // the parser has said so
	}
	c := p.hostlessContext(in)
	c.pos = pl.Pos
	c.scene.Vars = p.bindings.Lazy(pl.Vars.Entries(), in.vars, "play vars", in.chain)
	p.prompts(pl, c)
	r := p.Renderer(p.env(c, nil), in.chain)
	r.Lenient = true
	name := plan.NameLine(pl.Name, r.Text(pl.Name))
	r.Lenient, r.Missing = false, nil // the name waits for nothing
	pattern, awaits, ok := p.patternOf(pl, r)
	if !ok {
		return
	}
	head := plan.PlayHead{Pattern: pattern, Awaits: awaits}
	listed, ok := p.choose(pl, &head, in)
	if !ok {
		return
	}
	hosts, ok := p.ordered(pl, listed, in, r)
	if !ok {
		return
	}
	invited := p.additions.Gates(p.inventory, pattern, hosts, pl.Hosts.Pos(), in.chain)
	if name == "" {
		name = pattern
	}
	tags := p.tagsOf(playbook.NewTask(playbook.Task{Tags: pl.Tags}), c)
	play := &playPlanner{
		src: pl, handlers: newHandlerSet(), applied: map[string][]int{}, preread: map[string]bool{}, maxFail: -1,
	}
	play.scope = p.OpenScope(plan.Scope{
		Kind: plan.ScopePlay, Parent: in.scope, Name: name, Origin: origin(pl.Pos, in.chain),
		Hosts: len(hosts), Play: &plan.PlayHead{Pattern: pattern, Hosts: vars.HostNames(hosts), Tags: tags, Awaits: head.Awaits},
		Approves: pl.Approves,
	}, name)
	play.scene = c.scene
	// The lists that tasks see are in the order of the inventory, whatever `order` says.
	play.scene.Play, play.scene.Hosts = name, vars.HostNames(listed)
	// As with Ansible, what a play is has its value before its hosts have any of their own: what an open place may set does not count.
	r.Env.(*plan.Env).Settled = true
	p.policy(play, r)
	for _, m := range p.machines {
		m.Names.EndShown()
	}
	p.preload(play, c)
	machines := make([]*plannedHost, len(hosts))
	for i, h := range hosts {
		machines[i] = p.machine(h.Name)
		// As with Ansible, a host that has left one play is in the next again.
		machines[i].left = machines[i].gone
		machines[i].gates = nil
		for _, g := range invited[h.Name] {
			machines[i].gates = append(machines[i].gates, gates.At{Gate: plan.Gate{Step: g.Step, Ran: true}, Text: g.Text, Pos: g.Pos})
		}
	}
	batches := p.batches(pl, machines, r)
	for i, batch := range batches {
		if play.over {
			break
		}
		play.serial = i
		// As with Ansible, each batch goes through the whole play by itself, with its own notifications.
		clear(play.handlers.notified)
		clear(play.handlers.flushed)
		scope := play.scope
		if len(batch) < len(machines) {
			label := fmt.Sprintf("batch %d", i+1)
			scope = p.OpenScope(plan.Scope{
				Kind: plan.ScopeBatch, Parent: play.scope, Name: fmt.Sprintf("%s of %d", label, len(batches)),
				Origin: origin(pl.Pos, in.chain), Hosts: len(batch),
			}, label)
		}
		p.planBatch(play, batch, scope, tags, in)
		if scope != play.scope {
			p.CloseScope(scope)
		}
	}
	p.CloseScope(play.scope)
}

// planBatch plans what some hosts of a play do.
func (p *planner) planBatch(play *playPlanner, hosts []*plannedHost, scope int, tags []string, in importContext) {
	pl := play.src
	sc := *play.scene
	sc.Batch, sc.Left = nil, &[]vars.Leaving{}
	for _, m := range hosts {
		sc.Batch = append(sc.Batch, m.Name)
	}
	cs := make([]*taskContext, len(hosts))
	for i, m := range hosts {
		c := &taskContext{
			scope: scope, file: in.file, dir: in.dir, chain: in.chain, tags: tags, when: in.when,
			env: pl.Env, modules: pl.ModuleDefaults, approves: pl.Approves,
			become: connect.Become{Yes: pl.Become, User: pl.BecomeUser, Method: pl.BecomeHow, Flags: connect.FlagsIn(pl.BecomeFlags)},
		}
		c.form, c.pos, c.on, c.play, c.scene, c.handlers = p.onHosts, pl.Pos, m, play, &sc, play.handlers
		c.link = connect.Link{}.With(pl.Connection, pl.RemoteUser, pl.Port)
		c.inherit = policy.Inherited{
			NoLog: pl.NoLog, CheckMode: pl.CheckMode, Diff: pl.Diff, Timeout: pl.Timeout, Unreachable: pl.Unreachable,
			RunOnce: pl.RunOnce, AnyFatal: pl.AnyFatal, Throttle: pl.Throttle,
		}
		c.collections = collection.Searched(in.in, pl.Collections)
		if plan.TemplatedIn(pl.AnyFatal) {
			c.inherit.AnyFatal = playbook.Written(pl.AnyFatal.Pos(), strconv.FormatBool(play.anyFatal))
		}
		if !pl.Ignore.IsZero() {
			c.ignore = p.Flag(pl.Ignore, in.chain)
		}
		cs[i] = c
	}
	// The facts of this machine must not stand for those of another, even before that is asked.
	p.gatherDelegates(cs)
	e := p.env(p.hostlessContext(in), nil)
	e.Settled = true
	if r := p.Renderer(e, in.chain); p.ReadFlag(pl.Facts, "gather_facts", r, !p.o.Mode.NoFacts) {
		asked := slices.DeleteFunc(slices.Clone(cs), func(c *taskContext) bool { return p.o.Mode.Smart && c.on.IsGathered() })
		p.showAgain(asked)
		p.gather(asked)
		p.planTaskForHosts(p.always(asked), p.standins.Facts(pl))
	}
	// After the facts, which the names of the files may use.
	p.varsFiles(play, p.staying(cs))
	// Handlers have the play around them, and not the block or section that notifies them.
	for _, c := range cs {
		play.handlers.base[c.on] = c
	}
	section := func(name string, at []*playbook.Task) {
		if len(at) == 0 {
			return
		}
		scope := p.OpenScope(plan.Scope{Kind: plan.ScopeSection, Parent: scope, Name: name, Origin: origin(at[0].Pos, in.chain)}, name)
		p.planTasksForHosts(within(cs, scope), at)
		p.CloseScope(scope)
	}
	// As with Ansible, handlers run after each of the three parts; roles and tasks are one of them.
	section("pre_tasks", pl.PreTasks)
	p.flushHandlers(cs)
	for _, t := range pl.Roles {
		p.planTaskForHosts(cs, t)
	}
	p.planTasksForHosts(cs, pl.Tasks)
	p.flushHandlers(cs)
	section("post_tasks", pl.PostTasks)
	p.flushHandlers(cs)
}
