package planner

import (
	"fmt"
	"slices"
	"strings"

	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/loops"
	"moon/plan/planner/library"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// planSteps plans a playbook of steps, with its handlers at the end.
func (p *planner) planSteps(c *taskContext, pb *playbook.Playbook) {
	p.ReadDuration(pb.Timeout, "timeout", p.Renderer(p.env(c, nil), nil), &p.plan.Scopes[c.scope].Timeout)
	c.inherit.Timeout, c.inherit.Queued = pb.Defaults.Timeout, pb.Defaults.Queued
	c.handlers = newHandlerSet()
	c.handlers.home = c.on
	c.handlers.force = p.ReadFlag(pb.Force, "force_handlers", p.Renderer(p.env(c, nil), nil), p.o.Mode.ForceHandlers)
	p.defineHandlers(c, pb.Handlers)
	list := *c
	if !pb.Hosts.IsZero() {
		var ok bool
		if list.over, ok = p.hostsOfSteps(c, pb.Hosts, pb.Parallel, "this playbook"); !ok {
			return
		}
	}
	p.planTasks(&list, pb.Tasks)
	p.flushHandlers([]*taskContext{c})
}

func (p *planner) planTasks(c *taskContext, tasks []*playbook.Task) {
	p.plan.Steps = slices.Grow(p.plan.Steps, min(len(tasks), p.o.MaxSteps)) // most tasks are one step
	for _, t := range tasks {
		p.planTask(c, t)
	}
}

// planTask expands a task into steps and scopes.
func (p *planner) planTask(c *taskContext, t *playbook.Task) {
	if p.Full || p.takeLiteral(c, t) {
		return
	}
	scopes, steps := len(p.plan.Scopes), len(p.plan.Steps)
	defer func() {
		p.NoteGroup(t, scopes, c.chain)
		p.noteMoved(c, t, scopes, steps)
	}()
	inside := p.contextIn(c)
	inside.item = nil
	inside.group = len(p.plan.Steps)
	if len(t.Notify) > 0 {
		inside.notify = t.Notify // in the place of what is around it
	}
	if plan.MayHide(t.NoLog) {
		p.disk.KeepNot(c.file.Path)
		p.facts.Hiding = true
		defer func() { p.facts.Hiding = false }()
	}
	inside.approves = c.approves || t.Approves
	own := p.CompileTask(t, c.chain)
	inside.when = append(slices.Clip(c.when), own.When...)
	inside.tags = p.tagsOf(t, c)
	if t.Env.Kind() == playbook.Map {
		inside.env = append(slices.Clip(c.env), t.Env)
	}
	switch t.Kind {
	case playbook.Vars, playbook.IncludeVars:
		p.planVars(inside, t)
		return
	case playbook.Action, playbook.Include, playbook.Block, playbook.Preset, playbook.Role:
	}
	if t.Kind == playbook.Action && t.Action == "" {
		return // the parser has said why
	}
	if t.FlushesHandlers() {
		p.flushHere(inside, t)
		return
	}
	if !t.Ignore.IsZero() {
		inside.ignore = p.Conditions([]playbook.Value{t.Ignore}, c.chain)
	}
	if !t.Cwd.IsZero() {
		inside.cwd = t.Cwd
	}
	inside.become = c.become.With(t)
	if !t.DelegateTo.IsZero() {
		inside.delegate = t.DelegateTo
	}
	if inside.over != nil || !t.Hosts.IsZero() {
		p.planOnHosts(inside, t)
		return
	}
	if t.Loop.Kind == playbook.NoLoop {
		if p.Reached(1, own, len(p.machines), c.chain) {
			p.planRound(inside, t)
		}
	} else {
		p.planLoop(inside, t)
	}
	if t.Kind == playbook.Action {
		p.notify(inside)
		p.dropContext(inside)
	}
}

// planRound expands one round of a task.
func (p *planner) planRound(c *taskContext, t *playbook.Task) {
	switch t.Kind {
	case playbook.Action, playbook.IncludeVars: // in plays this is a step like any other, and in the step form planVars has it
		if p.HasRoom(1, t.Pos, c.chain) {
			p.planOne(c, t)
		}
	case playbook.Include:
		p.planInclude(c, t)
	case playbook.Block:
		p.planBlock(c, t)
	case playbook.Preset:
		p.planPreset(c, t)
	case playbook.Vars, playbook.Role:
	}
}

// lateVars plans steps that set the variables of an included file, where only the run decides whether the file is included. Inside they
// are known all the same; what comes after the include has to wait for the steps.
func (p *planner) lateVars(pb *playbook.Playbook, c *taskContext) {
	for _, m := range p.bindings.AsWritten(pb, c.writtenAt(), p.env(c, nil)) {
		if entries := m.Entries(); len(entries) > 0 && p.HasRoom(1, entries[0].Pos, c.chain) {
			pos := entries[0].Pos
			p.planStep(c, playbook.NewTask(playbook.Task{
				Kind: playbook.Vars, Pos: pos, ActionKey: "vars", ActionPos: pos, Args: m,
				Loop: &playbook.Loop{Var: "item", Index: "index"},
			}))
		}
	}
}

func (p *planner) planInclude(c *taskContext, t *playbook.Task) {
	if t.Args.IsZero() {
		return // the parser has said why
	}
	inside := *c
	pos := t.Pos
	name := strings.TrimSpace(t.Args.Text())
	scope := plan.Scope{Kind: plan.ScopeInclude, Parent: c.scope, Name: name, Origin: origin(pos, c.chain), When: plan.WhenText(c.when)}
	if c.item != nil {
		scope.Item = c.item.label
	}
	// Asked before the path is rendered, which may need names that the condition guards.
	held := p.verdict(c)
	if held.Known && !held.Holds {
		scope.Skipped = held.Culprit
		p.CloseScope(p.OpenScope(scope, scope.Name))
		return
	}
	if t.StepVars.Kind() == playbook.Map {
		inside.params = p.bindings.Layer(t.StepVars.Entries(), c.params, p.frame(c, nil),
			func(fr *vars.Frame, l *vars.Layer) { fr.Params = l },
			"include vars", c.chain, false)
	}
	r := p.Renderer(p.env(&inside, nil), c.chain)
	name = r.Text(t.Args)
	if r.Failed {
		return
	}
	place := ""
	if len(r.Missing) > 0 {
		step, ok := len(p.plan.Steps), false
		name, ok = p.findName(&inside, t, "which file to include", "include each candidate with its own `when`", r.Missing)
		if !ok {
			return
		}
		place = p.placeLabel(c, &p.plan.Steps[step], c.scope)
	}
	scope.Name = name
	// Links are followed, or a file that includes itself under another name would never be recognised.
	target := p.disk.Real(p.Resolve(name, c.dir))
	if p.RefuseCircle(target, t, c.chain) {
		return
	}
	said := len(p.Found)
	pb, err := p.LoadSteps(target)
	if err != nil {
		p.ReportUnread(t.ActionKey, t.Args, target, err, c.chain)
		return
	}
	p.TraceInclude(said, c.chain, t)
	p.bindings.CheckIncluded(pb, t, c.chain)
	label := pb.File.Name
	scope.Name = p.groupName(c, t, label)
	scope.Parallel, scope.Approves = p.ReadParallel(t.Parallel, p.rendererAt(c)), t.Approves || pb.Approves
	p.ReadDuration(plan.FirstOf(t.Timeout, pb.Timeout), "timeout", p.Renderer(p.env(c, nil), c.chain), &scope.Timeout)
	inside.inherit.Timeout, inside.inherit.Queued = pb.Defaults.Over(c.inherit.Timeout, c.inherit.Queued)
	inside.approves = c.approves || pb.Approves
	// That of the include counts above that of the file.
	if n := p.ReadParallel(pb.Parallel, p.rendererAt(c)); n > 0 && scope.Parallel == 0 {
		scope.Parallel = n
	}
	leave := p.enter(&inside, scope, place+label, pb.File, library.Opened{Path: target}, pos)
	since := *p.names.Document.Now
	if !held.Known || c.rescuing {
		p.lateVars(pb, &inside)
	}
	document := func(b *vars.Binding) {
		p.shadows(b)
		b.Passing = !held.Known || c.rescuing
		p.names.Document.Add(b)
	}
	p.bindings.Own(pb, inside.writtenAt(), func() *vars.Frame { return p.frame(&inside, nil) }, document, document)
	p.defineHandlers(&inside, pb.Handlers)
	p.planTasks(&inside, pb.Tasks)
	leave()
	// What comes after takes the variables from the steps of lateVars: here they were known only inside.
	if !held.Known {
		p.names.Document.Forget(since)
	}
}

func (p *planner) planBlock(c *taskContext, t *playbook.Task) {
	inside := *c
	scope := plan.Scope{
		Kind: plan.ScopeBlock, Parent: c.scope, Name: p.groupName(c, t, "block"), Origin: origin(t.Pos, c.chain),
		When: plan.WhenText(c.when), Parallel: p.ReadParallel(t.Parallel, p.rendererAt(c)), Approves: t.Approves,
	}
	p.ReadDuration(t.Timeout, "timeout", p.Renderer(p.env(c, nil), c.chain), &scope.Timeout)
	if c.item != nil {
		scope.Item = c.item.label
	}
	if why, skip := p.skipped(c); skip {
		scope.Skipped = why
		p.CloseScope(p.OpenScope(scope, scope.Name))
		return
	}
	if t.StepVars.Kind() == playbook.Map {
		inside.block = p.bindings.Layer(t.StepVars.Entries(), c.block, p.frame(c, nil),
			func(fr *vars.Frame, l *vars.Layer) { fr.Block = l }, "block vars",
			c.chain, false)
	}
	inside.scope = p.OpenScope(scope, scope.Name)
	inside.item = nil
	// Only the body is covered by the rescue: a failure in the branches is one of what is around the block.
	body := inside
	body.breaking = c.breaking || len(t.Rescue) > 0
	p.planTasks(&body, t.Body)
	for _, branch := range t.Parts()[1:] {
		if len(branch.Tasks) == 0 {
			continue
		}
		b := inside
		since := *p.names.Document.Now
		if branch.Name == "rescue" {
			b.rescuing = true
			b.loop = p.RescueLayer(inside.scope, inside.loop, origin(branch.Pos, c.chain))
		}
		b.scope = p.OpenScope(plan.Scope{
			Kind: plan.ScopeBranch, Parent: inside.scope, Name: branch.Name, Branch: branch.Name,
			Origin: origin(branch.Pos, c.chain),
		}, branch.Name)
		p.planTasks(&b, branch.Tasks)
		p.CloseScope(b.scope)
		// The rescue may not be needed, so what it sets is certain only inside.
		if branch.Name == "rescue" {
			p.names.Document.Forget(since)
		}
	}
	p.CloseScope(inside.scope)
}

// planVars handles a `vars` or `include_vars` step: no step of the plan, unless the run decides whether it happens. What a rescue sets
// is known inside the rescue, and after it only if it was needed.
func (p *planner) planVars(c *taskContext, t *playbook.Task) {
	if p.tags.Exclude(c.tags) {
		p.unset(c, t)
		return
	}
	r := p.Renderer(p.env(c, nil), c.chain)
	v := r.Decide(c.when)
	switch {
	case v.Known && !v.Holds:
		return
	case t.Kind == playbook.IncludeVars && t.Args.IsZero():
		return // the parser has said why
	}
	from, chain := "vars", c.chain
	if t.Kind == playbook.IncludeVars {
		if t = p.settled(c, t); t == nil {
			return
		}
		f, m, ok := p.bindings.File(p.Renderer(p.env(c, nil), c.chain), t.Args, "include_vars", c.writtenAt())
		if !ok {
			return
		}
		from, chain = f.Name, append(slices.Clip(c.chain), fmt.Sprintf("%s:%d", t.Args.Pos().File, t.Args.Pos().Line))
		read := t.Copy()
		read.Kind, read.Args = playbook.Vars, m
		t = read
	}
	if (!v.Known || c.rescuing) && p.HasRoom(1, t.Pos, c.chain) {
		p.planStep(c, t)
	}
	if v.Known {
		p.documentVars(t.Args, c, from, chain)
	}
}

// settled is an include_vars with the name of its file, which an open place may have to find; nil if it is not found yet.
func (p *planner) settled(c *taskContext, t *playbook.Task) *playbook.Task {
	r := p.Renderer(p.env(c, nil), c.chain)
	r.Report = nil // what is wrong with it is said where the file is read
	if r.Text(t.Args); r.Failed || r.Undefined || len(r.Missing) == 0 {
		return t
	}
	name, ok := p.findName(c, t, "which file of variables to read", "read each candidate with its own `when`", r.Missing)
	if !ok {
		return nil
	}
	known := t.Copy()
	known.Args = playbook.Written(t.Args.Pos(), name)
	return known
}

// planLoop expands a task over its items, one round each.
func (p *planner) planLoop(c *taskContext, t *playbook.Task) {
	list, typ, late, ok, failing := p.itemsOrFailure(c, t)
	switch {
	case failing != nil:
		p.planStep(c, failing)
		return
	case len(late) > 0 && p.saysNo(c):
		if why, _ := p.skipped(c); t.Kind != playbook.Action {
			p.skipLoop(c, t, why)
			return
		}
		p.planEmptyLoop(c, t, c.when)
		return
	case len(late) > 0:
		list, ok = p.findItems(c, t, late)
	}
	if !ok {
		return
	}
	if !p.rounds(len(list), 1, t, c) {
		return
	}
	if len(list) == 0 && c.form.emptyLoop(p, c, t) {
		return
	}
	name, label := loops.Name(t)
	if len(late) > 0 && t.Kind != playbook.Action {
		label += "?" // what is in it must not be taken for what is in another group of that name
	}
	limit := p.ReadLimit(t.Loop.Limit, p.rendererAt(c))
	hidden := plan.MayHide(c.noLog(t))
	expression := loops.Expression(t.Loop)
	scope := p.OpenScope(plan.Scope{
		Kind: plan.ScopeLoop, Parent: c.scope, Name: name, Origin: origin(t.Pos, c.chain), When: plan.WhenText(c.when),
		Items: len(list), Loop: expression, Parallel: limit, Approves: t.Approves && len(late) == 0,
	}, label)
	c.form.openLoop(&p.plan.Scopes[scope], c)
	first := len(p.plan.Steps)
	p.plan.Steps = slices.Grow(p.plan.Steps, len(list)) // room has been checked
	from := origin(t.Loop.Pos, c.chain)
	var ends *vars.Layer
	for i, item := range list {
		round := p.contextIn(c)
		round.scope = scope
		round.depth, round.grown = c.depth+1, len(late) > 0
		val := item.Value
		if _, ok := val.(value.Partial); !ok && item.Open {
			val = plan.ForNames(plan.CopyOf(val))
		}
		if i <= 1 || i == len(list)-1 { // all rounds between the first and the last share these
			ends = &vars.Layer{Parent: c.loop, Binds: []vars.Binding{
				{Name: "first", Value: i == 0, From: "loop", Origin: from},
				{Name: "last", Value: i == len(list)-1, From: "loop", Origin: from},
			}}
		}
		round.loop = &vars.Layer{Parent: ends, Binds: []vars.Binding{
			{Name: t.Loop.Var, Value: val, Open: item.Open, Raw: item.Raw, Where: item.Where, From: "loop", Origin: from},
			{Name: t.Loop.Index, Value: i, From: "loop", Origin: from},
		}}
		round.loop = c.form.roundVars(&p.evaluator, round, t, list, i, round.loop)
		lc := p.roundContext(round, t, list, i, plan.LoopContext{Type: typ, Expression: expression})
		round.item = &iteration{context: lc, label: lc.Label}
		round.inLoop = &round.item.context
		if hidden {
			bare := lc
			bare.Item = nil // also for steps inside that have no no_log themselves
			round.inLoop = &bare
		}
		p.planRound(round, t)
		if p.Full {
			break
		}
		if t.Kind == playbook.Action {
			p.dropContext(round)
		}
	}
	p.CloseScope(scope)
	p.collectRegister(t, first, c)
}

// skipLoop plans a group whose loop will not run, so that nothing has to know its items.
func (p *planner) skipLoop(c *taskContext, t *playbook.Task, why string) {
	name, label := loops.Name(t)
	p.CloseScope(p.OpenScope(plan.Scope{
		Kind: plan.ScopeLoop, Parent: c.scope, Name: name, Origin: origin(t.Pos, c.chain), When: plan.WhenText(c.when), Skipped: why,
		Loop: loops.Expression(t.Loop),
	}, label))
}
