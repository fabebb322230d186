package planner

import (
	"slices"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/loops"
	"moon/plan/planner/connect"
	"moon/plan/planner/gates"
	"moon/plan/planner/known"
	"moon/plan/planner/outline"
	"moon/plan/planner/place"
	"moon/plan/planner/policy"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
)

// planStep plans one step: one task, one item.
func (p *stepPlanner) planStep(c *taskContext, t *playbook.Task) {
	k := &plan.Task{Compiled: p.CompileTask(t, c.chain), When: c.when, Ignore: c.ignore, Env: c.env, Cwd: c.cwd, Dir: c.dir, Base: c.dir}
	k.Dialect = p.plan.Dialect
	// The files that lookups read from here on are part of this step's identity.
	p.lookups.Read = p.lookups.Read[:0]
	if k.Action == nil {
		return
	}
	before := slices.Concat(gates.About(c.on.gates, func(role int) bool { return p.Within(c.scope, role) }), c.gates)
	if len(before) > 0 {
		k.When = append(gates.Conditions(before), k.When...)
	}
	i := len(p.plan.Steps)
	s := p.spareStep.Take() // the plan has a copy
	defer p.spareStep.Give(s)
	*s = plan.Step{
		Index: i, UserID: t.ID, Scope: c.scope, Action: k.Action.Name, Dir: c.dir, Tags: c.tags, Register: t.Register,
		Origin: origin(t.Pos, c.chain), Host: "localhost", Group: i,
	}
	s.CreateFirst = t.CreateFirst
	if t.Kind == playbook.Vars {
		s.Action = "vars"
	}
	if c.item != nil {
		s.Loop = &c.item.context // a round with a step of its own is that step's alone
	} else {
		s.InLoop = c.inLoop // many steps share it
	}
	if c.finds != nil && !c.finds.Ask {
		p.makePlace(s, k, c)
	}
	if len(k.Breaks) > 0 && c.item != nil {
		gates.Breaking(p.plan, k, s)
	}
	s.When = plan.WhenText(k.When)
	c.form.place(p, s, t, c)
	for _, g := range before {
		s.Gates = append(s.Gates, g.Gate)
	}
	s.Handler, s.Notifiers, s.Named, s.Flushes = c.handler, c.notifiers.Steps, c.notifiers.Namings, c.flushes
	// An override names its step by path, which is complete only now.
	p.overrides.Begin(s.Path)
	defer p.overrides.End()
	written := k
	if p.overrides.Any() {
		copied := *k
		written = &copied
	}
	p.overrides.Apply(k, c.chain)
	if s.ExcludedBy = p.excludedBy(s); c.handler && s.ExcludedBy == plan.ByTags {
		s.ExcludedBy = "" // what has notified it was asked for
	}
	s.Excluded = s.ExcludedBy != ""

	// The step's own variables may need names that its condition guards: they are rendered again, strictly, when it
	// is known that the step may run.
	var own *vars.Layer
	renderVars := func(lenient bool) {
		if t.Kind != playbook.Vars {
			own = c.form.ownVars(&p.variables, t, c, lenient)
			return
		}
		if entries := p.UsedBeside(t.Args); len(entries) > 0 {
			own = p.bindings.Layer(entries, nil, p.frame(c, nil), func(fr *vars.Frame, l *vars.Layer) { fr.Step = l }, "vars",
				c.chain, lenient)
		}
	}
	renderVars(true)
	e := p.env(c, own)
	changes := false
	var took []int
	e.Changes, e.Took = &changes, &took
	e.ShareBelow()
	r := p.Renderer(e, c.chain)
	r.Lenient, r.Settled, r.MayFail = s.Excluded, c.settled, p.mayFail(c)
	f := &plan.Fields{R: r, Field: "when"}
	// The condition comes first: what it keeps from running need not have values.
	v := r.Decide(k.When)
	s.Prediction = plan.MaySkip
	switch {
	case v.Known && v.Holds:
		s.Prediction = plan.WillRun
	case v.Known:
		s.Prediction = plan.WillSkip
	}
	f.At("vars")
	idle := s.Excluded || s.Prediction == plan.WillSkip
	unsure := c.play != nil && !v.Known && !r.Failed
	p.RefuseAction(k, idle, unsure, func(t *playbook.Task) diag.Diagnostic { return p.NoModule(t, c.collections, c.chain) })
	if !idle {
		renderVars(false)
	}
	s.Frame = p.frame(c, own)
	e.Frame = s.Frame
	// As in Ansible, which looks at the rest of a task when its condition holds: what may never be needed is not a mistake yet.
	r.Lenient, r.Idle, r.Unsure = idle, idle && c.form.forgives(), unsure
	r.Guards = plan.Guarded(k.When)

	// The condition itself lacks a value of a step that is excluded: nothing else of the step counts any more.
	if r.Lacking != nil {
		idle = true
	}
	if len(c.modules) > 0 {
		f.At("module_defaults")
		k.Compiled = p.defaults.Add(k.Compiled, c.modules, r, idle)
	}
	c.form.connect(p, s, k, c, f, idle)
	f.At("name")
	name, report := r.Lenient, r.Report
	r.Lenient = true           // an undefined name in a name is shown as written
	if t.Name.Pos() == t.Pos { // it is made of what the task includes, whose mistakes are reported there
		r.Report = func(diag.Diagnostic) {}
	}
	e.Settled = s.Loops() // it may name the item, which nothing will set
	r.Env = e.Early()
	s.Name = plan.NameLine(t.Name, r.Text(t.Name))
	r.Env = e
	e.Settled = false
	r.Lenient, r.Report = name, report
	r.Failed = false
	if !idle {
		p.Spread(k, r)
		p.NameFacts(k, t, c.chain, func() *plan.Renderer {
			of := p.Renderer(e, c.chain)
			of.Guards = r.Guards
			return of
		})
	}
	if of := c.finds; of != nil && of.Ask && !idle && p.isPlace(c, own, s.Prediction == plan.WillRun && !c.rescuing) {
		p.makePlace(s, k, c)
	}
	inviting := t.Action == "add_host" || t.Action == "group_by"
	s.Approves = c.approves && (s.Place != nil || inviting)
	p.ReportUnfit(k, r)
	open := len(f.All)
	raw := p.fillArgs(s, k, r, f)
	if f.At(""); !idle { // the last argument is closed, too
		k.Sets = known.FactsOf(k, raw, f, p.secrets)
	}
	// What is planned later needs to know who would be added, also where the condition is open.
	adds := inviting && len(f.All) == open
	p.FillProcess(s, k, r, f, p.o.Home)
	p.policies.Fill(s, k, c.inherit, r, f)
	c.form.checkKeys(&p.evaluator, k, r)
	p.FillUndo(s, k, r, p.o.Home)
	f.At("")
	s.Unknowns = f.Unknowns
	k.Open = len(f.All) > 0 || changes || s.Place != nil || r.Fails
	slices.Sort(took)
	k.Took = slices.Compact(took)
	s.NoLog = p.ReadFlag(c.noLog(t), "no_log", r, false)
	// The items that an open loop finds are kept with the run, which what no_log hides must not be.
	hides := func(step int) bool { return p.plan.Steps[step].NoLog }
	hidden := func(u plan.Unknown) bool { return slices.ContainsFunc(u.Steps, hides) }
	s.NoLog = s.NoLog || s.Place != nil && slices.ContainsFunc(s.Unknowns, hidden)
	s.Terminal = p.ReadFlag(t.Interactive, "interactive", r, false)
	// What is still open is decoded by the run, with the same code (bind).
	if k.Sound && (!k.Open || adds && !changes) && !r.Failed && !r.Undefined && !idle {
		p.Decode(k, raw, r)
		for _, text := range k.Action.Secrets(raw) {
			p.secrets.Add("", text)
		}
		if k.Known != nil {
			k.Known.Ordered = r.Ordered
		}
	}
	// Only here, as arguments may lack a value as well as conditions.
	if r.Lacking != nil && !s.Excluded {
		s.Prediction, s.Lacks, idle = plan.WillSkip, r.Lacking, true
	}
	p.concealer.NoteReads(s, k, raw, p.lookups.Read)
	s.Args = raw // both are only read
	if k.Open {
		s.Args, _ = plan.ForDisplay(plan.CopyOf(raw)).(map[string]any)
	}
	s.Summary = p.plan.Summary(s.Action, s.Args)
	if s.Action == "pause" && t.Confirm.IsZero() && t.Confirmers == nil {
		s.Confirm, _ = spec.PauseAsks(s.Args)
	}
	s.Uses = plan.UsesOf(r.Used, e)
	s.Task = k
	p.overrides.ListIn(s, k, written, r)
	if !idle {
		p.concealer.CheckArguments(s, k, raw)
	}
	// In this order: the digest is made of texts without secrets, but before no_log hides the rest of the step.
	k.Decisive = r.Decisives(e)
	p.concealer.HideStep(s)
	s.Digest = p.concealer.Digest(s, k)
	if s.NoLog {
		p.lookups.NoteHidden(s)
		s.Hide()
	}
	p.plan.Steps = append(p.plan.Steps, *s)
	p.prober.Foreclose(s)
	p.prober.Note(s, c.play != nil || !c.breaking)
	p.register(s, k, t, c)
	if p.planned != nil {
		p.planned(c, i)
	}
}

// contextIn is the context of what is in a task, to be changed.
func (p *stepPlanner) contextIn(c *taskContext) *taskContext {
	inside := p.spareContext.Take()
	*inside = *c
	return inside
}

// dropContext lets the context of a step be used again. In plays, and where steps are given away with theirs, others may keep it.
func (p *stepPlanner) dropContext(c *taskContext) {
	if c.play == nil && c.over == nil && p.planned == nil {
		p.spareContext.Give(c)
	}
}

// makePlace makes a step one of an open place.
func (p *stepPlanner) makePlace(s *plan.Step, k *plan.Task, c *taskContext) {
	k.Finds = c.finds
	src := k.Finds.Src
	s.Keeps, s.Place = true, place.New(k.Finds)
	s.UserID = src.ID // the task that stands in for it has none, as an id belongs to one task
}

// isPlace reports whether a step that names something is an open place: if the name is known only in the run, or if it must be certain
// that the step is reached and is not, as where a file includes itself: only the run knows how often.
func (p *stepPlanner) isPlace(c *taskContext, own *vars.Layer, sure bool) bool {
	of := c.finds
	if !of.Ask {
		return true
	}
	r := p.Renderer(p.env(c, own), c.chain)
	r.Report = nil // it is said where the name is used
	for _, part := range of.Parts() {
		r.Text(part)
	}
	must := of.Sure || of.Src.Kind == playbook.Include && len(r.Missing) == 0 && p.IsOpen(r.Text(of.Name), func(name string) string {
		return p.tasksFile(c, name)
	})
	return !r.Failed && (must && !sure || len(r.Missing) > 0) && (len(r.Missing) == 0 || p.comes(r.Missing))
}

// fillArgs renders the action's arguments.
func (p *stepPlanner) fillArgs(s *plan.Step, k *plan.Task, r *plan.Renderer, f *plan.Fields) map[string]any {
	if k.Finds != nil && s.Place.What != "" {
		return place.Fill(s, k.Finds, r, f)
	}
	if k.Finds != nil {
		f.At("over")
		if loop := k.Finds.Src.Loop; loop.Over.Kind() == playbook.String && loop.Kind != playbook.Lookup {
			p.LoopValue(r, k.Finds.Src)
		} else {
			r.Value(loop.Over)
		}
		return map[string]any{"over": loops.Expression(k.Finds.Src.Loop), "action": s.Place.Action}
	}
	raw := k.Values(r, k.Args, p.o.Home, "", f.At)
	if k.Action.Name == "template" || k.Action.Name == "copy" {
		if src, ok := raw["src"].(string); ok && src != "" && k.ReadsSource() && !s.Excluded &&
			s.Prediction != plan.WillSkip && r.Lacking == nil {
			f.At("src")
			p.content.Look(s, k, r, src, raw)
		}
	}
	return raw
}

// register makes the names known that the step will set.
func (p *stepPlanner) register(s *plan.Step, k *plan.Task, t *playbook.Task, c *taskContext) {
	c.form.handFacts(p, s, k, t, c)
	if t.Register != "" && t.Loop.Kind == playbook.NoLoop {
		p.produce(&vars.Binding{
			Name: t.Register, From: "register", Origin: origin(t.RegisterPos, c.chain), How: vars.Registered,
			Steps: []int{s.Index}, By: t, Early: p.prober.Asks(s.Index),
		}, c)
	}
	// What its condition skips sets nothing. What is excluded or lacks a value keeps its bindings, so that its users know what they lack.
	if k.Action.Name != "set_fact" || s.Prediction == plan.WillSkip && s.Lacks == nil && !s.Excluded {
		return
	}
	for _, g := range k.Args {
		b := &vars.Binding{
			Name: g.Name, From: s.Action, Origin: origin(g.Value.Pos(), c.chain), How: vars.Assigned, Steps: []int{s.Index}, By: t,
			Certain: s.Prediction == plan.WillRun && t.Creates.IsZero() && t.Removes.IsZero() && t.Unless.IsZero() && t.OnlyIf.IsZero(),
		}
		c.form.setFact(p, b, s, k, c)
	}
}

// noteSetFact takes down what a set_fact will set, where that is known: loops and includes may depend on it if nothing keeps it from
// happening, or if the name has that value without it.
func (p *stepPlanner) noteSetFact(b *vars.Binding, s *plan.Step, k *plan.Task, c *taskContext) {
	// With run_once only the run knows the host, and with `strategy: graph` nothing says what comes before what.
	v, ok := k.Sets[b.Name]
	if ok && !s.Once && p.plan.Scopes[c.play.scope].Strategy != "graph" {
		b.Early, b.Value = b.Certain, v
	}
}

// searching says where a task looks for what it copies. On the host itself there is nothing to look for.
func (p *stepPlanner) searching(k *plan.Task, c *taskContext, r *plan.Renderer) {
	kind, ok := source.SourceDirs[k.Action.Name]
	if !ok {
		return
	}
	if v, given := plan.ValueOf(k.Args, "remote_src"); given {
		// This only looks ahead: the argument is rendered among the others, where what it lacks is counted.
		missing := r.Missing
		yes, _ := spec.ParseBool(value.Plain(r.Value(v)))
		r.Missing = missing
		if yes {
			return
		}
	}
	k.Search = source.NewSearch(c.lookout(p.plan.Root).Files(kind), p.disk)
}

// takeLiteral takes a step over from the plan before: one whose task is written out, in a place where nothing around it decides what it
// does. Planning such a step again would give the same, but for its number, its path and the variables that it could see.
func (p *stepPlanner) takeLiteral(c *taskContext, t *playbook.Task) bool {
	before := p.literals.Of(t)
	if before == nil || !t.Moved.IsZero() || !c.isBare() || before.Dir != c.dir || !p.secrets.Empty() ||
		!slices.Equal(before.Tags, c.tags) || !slices.Equal(before.Origin.Chain, c.chain) || !p.HasRoom(1, t.Pos, c.chain) {
		return false
	}
	p.engine.Allow(outline.TaskWork, outline.TaskText) // the budget is that of the whole plan, and others may need it
	i := len(p.plan.Steps)
	p.plan.Steps = append(p.plan.Steps, *before)
	s := &p.plan.Steps[i]                                   // nothing below adds steps
	s.Index, s.Group, s.Scope, s.Needs = i, i, c.scope, nil // what it needs is found at the end
	s.Frame, s.Written = p.frame(c, nil), true
	if c.form.place(p, s, t, c); s.Path != before.Path {
		s.Digest = p.concealer.Digest(s, s.Task)
	}
	p.prober.Note(s, c.play != nil || !c.breaking)
	p.register(s, s.Task, t, c)
	if p.planned != nil {
		p.planned(c, i)
	}
	return true
}

// isBare reports whether nothing around a task of the step form decides what its step does. Of a playbook with hosts nothing is taken over.
func (c *taskContext) isBare() bool {
	switch {
	case c.play != nil, c.scene == nil || c.scene.Host != nil, len(c.on.gates)+len(c.gates) > 0:
		return false
	case c.link != connect.Link{}, c.become != connect.Become{}, c.inherit != policy.Inherited{}, !c.delegate.IsZero():
		return false
	case c.looks != "", c.path != "", c.once:
		return false
	case len(c.when)+len(c.env)+len(c.ignore)+len(c.notify)+len(c.notifiers.Steps) > 0, !c.cwd.IsZero(), c.handler, c.over != nil:
		return false
	}
	return c.item == nil && c.finds == nil && c.inLoop == nil && c.loop == nil && !c.grown
}
