package plan

import (
	"errors"
	"io/fs"
	"slices"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// planStep plans one step: one task, one item.
func (p *stepPlanner) planStep(c *taskContext, t *playbook.Task) {
	k := &task{compiled: p.compileTask(t, c), when: c.when, ignore: c.ignore, env: c.env, cwd: c.cwd, dir: c.dir}
	p.lookedAt = p.lookedAt[:0]
	if k.action == nil {
		return
	}
	if c.on != nil {
		p.gates(k, c)
	}
	i := len(p.plan.Steps)
	s := Step{
		Index: i, UserID: t.ID, Scope: c.scope, Action: k.action.Name, Dir: c.dir, Tags: c.tags, Register: t.Register,
		When: whenText(k.when), Origin: origin(t.Pos, c.chain), Host: "localhost", Group: i,
	}
	if t.Kind == playbook.Vars {
		s.Action = "vars"
	}
	if c.item != nil {
		s.Loop = &c.item.context // a round with a step of its own is that step's alone
	} else {
		s.InLoop = c.inLoop // many steps share it
	}
	if c.on != nil {
		p.breaking(k, &s, c)
		s.When = whenText(k.when)
		p.placeStep(&s, c)
	} else {
		s.Path = p.plan.Scopes[c.scope].Path + "/" + p.uniqueLabel(c.scope, p.stepLabel(&s, t))
	}
	p.activateOverrides(s.Path)
	defer func() { p.at = "" }()
	before := *k
	p.override(k, c)
	if s.ExcludedBy = p.excludedBy(&s); c.handler && s.ExcludedBy == ByTags {
		s.ExcludedBy = "" // what has notified it was asked for
	}
	s.Excluded = s.ExcludedBy != ""

	// The step's own variables may need names that its condition guards: they are rendered again, strictly, when it
	// is known that the step may run.
	var vars *layer
	renderVars := func(lenient bool) {
		if t.StepVars.Kind() == playbook.Map && (t.Kind == playbook.Action || t.Kind == playbook.IncludeVars) {
			if c.on != nil {
				vars = p.shareLayer(t, nil, "task vars", c.chain)
				return
			}
			vars = p.layerOf(t.StepVars, nil, p.frame(c, nil), func(fr *frame, l *layer) { fr.step = l }, "step vars", c.chain, lenient)
		}
		if t.Kind != playbook.Vars {
			return
		}
		if entries := p.usedBeside(t.Args); len(entries) > 0 {
			vars = p.layerFrom(entries, nil, p.frame(c, nil), func(fr *frame, l *layer) { fr.step = l }, "vars", c.chain, lenient)
		}
	}
	renderVars(true)
	e := p.env(c, vars)
	changes := false
	var took []int
	e.changes, e.took = &changes, &took
	r := p.renderer(e, c.chain)
	r.lenient = s.Excluded
	f := &fields{r: r, field: "when"}
	v := r.decide(k.when)
	s.Prediction = MaySkip
	switch {
	case v.known && v.holds:
		s.Prediction = WillRun
	case v.known:
		s.Prediction = WillSkip
	}
	f.at("vars")
	idle := s.Excluded || s.Prediction == WillSkip
	if t.Absent && !idle {
		p.absent(t, c)
	}
	if !idle {
		renderVars(false)
	}
	k.frame = p.frame(c, vars)
	e.frame = k.frame
	r.lenient, r.idle = idle, idle && c.on != nil
	r.guards = guarded(k.when)

	if r.lacking != nil {
		idle = true
	}
	if c.on != nil {
		f.at("connection")
		k.plays, k.base = true, p.plan.Root
		if !idle {
			p.connect(&s, k, c, e, r)
			k.remote = s.Conn != nil
			k.away = k.remote || s.Become != nil
		}
		p.searching(k, c, r)
	}
	f.at("name")
	name := r.lenient
	r.lenient = true // an undefined name in a name is shown as written
	s.Name = nameLine(t.Name, r.text(t.Name))
	r.lenient = name
	r.failed = false
	if !idle {
		p.factNames(k, t, c, e, r.guards)
	}
	raw := p.fillArgs(&s, k, r, f)
	p.fillProcess(&s, k, r, f)
	p.fillPolicy(&s, k, c.inherit, r, f)
	p.fillUndo(&s, k, r)
	f.at("become_user")
	if !idle && c.on == nil && !k.onController() {
		p.become(&s, k, c.become, r)
	}
	f.at("")
	s.Unknowns = f.unknowns
	k.open = len(f.all) > 0 || changes
	slices.Sort(took)
	k.took = slices.Compact(took)
	s.NoLog = p.flag(c.noLog(t), "no_log", r, false)
	s.Terminal = p.flag(t.Interactive, "interactive", r, false)
	if k.sound && !k.open && !r.failed && !r.undefined && !idle {
		p.decode(k, raw, c.chain)
		if k.call != nil {
			k.call.ordered = r.ordered
		}
	}
	if r.lacking != nil && !s.Excluded {
		s.Prediction, s.Lacks, idle = WillSkip, r.lacking, true
	}
	p.readsOf(&s, k, raw)
	s.Args = raw // both are only read
	if k.open {
		s.Args, _ = forDisplay(copyOf(raw)).(map[string]any)
	}
	s.Summary = p.plan.summary(s.Action, s.Args)
	if s.Action == "pause" && t.Confirm.IsZero() {
		s.Confirm, _ = spec.PauseAsks(s.Args)
	}
	s.Uses = usesOf(r.used, e)
	s.task = k
	p.overridden(&s, k, before, r)
	if !idle {
		p.inArguments(&s, k, raw)
	}
	k.decisive = r.decisives(e)
	p.concealStep(&s)
	s.Digest = p.stepDigest(&s, k)
	if s.NoLog {
		s.hide()
	}
	p.plan.Steps = append(p.plan.Steps, s)
	p.foreclose(&s)
	p.register(&s, k, t, c)
	if p.planned != nil {
		p.planned(c, i)
	}
}

// foreclose notes of a step that it will give nothing, if that is known.
func (p *stepPlanner) foreclose(s *Step) {
	switch {
	case s.Excluded:
		p.plan.ahead.miss(s.Index, Exclusion(s.ExcludedBy))
	case s.Lacks != nil:
		p.plan.ahead.miss(s.Index, willBeSkipped)
	}
}

// absent says that there is no module of the name a task has. Roles have tasks for machines of other kinds: where it is known that
// a task is left out, it does not matter.
func (p *stepPlanner) absent(t *playbook.Task, c *taskContext) {
	if way, ok := spec.ActionLater(t.ActionKey); ok {
		p.errorf(t.ActionPos, utf8.RuneCountInString(t.ActionKey), c.chain, way, "`%s` is not supported yet", t.ActionKey)
		return
	}
	p.errorf(t.ActionPos, utf8.RuneCountInString(t.ActionKey), c.chain, "`moon actions` lists the actions; a plugin or a module in library/ can bring more", "there is no module `%s`", t.ActionKey)
}

// stepLabel is the step's part of its path. It does not hold what the step does, so that an edited step keeps its path.
func (p *stepPlanner) stepLabel(s *Step, t *playbook.Task) string {
	label := FirstLine(t.Name.Text())
	if label == "" {
		label = s.Action
	}
	if s.Loop != nil {
		label += "#" + s.Loop.Label
	}
	return label
}

// fillArgs renders the action's arguments.
func (p *stepPlanner) fillArgs(s *Step, k *task, r *renderer, f *fields) map[string]any {
	raw := k.values(r, k.args, p.o.Home, "", f.at)
	if k.action.Name == "template" || k.action.Name == "copy" {
		if src, ok := raw["src"].(string); ok && src != "" && (!k.plays || k.search != nil) && !s.Excluded && s.Prediction != WillSkip && r.lacking == nil {
			f.at("src")
			p.source(s, k, r, src, raw)
		}
	}
	return raw
}

// source looks at the file a step copies or renders. A missing one is a warning: an earlier step may make it.
func (p *stepPlanner) source(s *Step, k *task, r *renderer, src string, raw map[string]any) {
	v, _ := valueOf(k.args, "src")
	if err := p.disk.exists(src, k.action.Name == "template"); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			p.blame("no such file yet", diag.Diagnostic{
				Severity: diag.Warning, Pos: v.Pos(), Width: utf8.RuneCountInString(v.Text()), Chain: s.Origin.Chain,
				Message: "no such file yet: " + p.shown(src), Hint: p.similar(src),
			})
		}
		return
	}
	if k.action.Name != "template" {
		return
	}
	f, err := p.read(src)
	if err != nil {
		p.errorf(v.Pos(), 0, s.Origin.Chain, "", "template: %s", p.fileError(err))
		return
	}
	t, err := documentOf(p.engine, string(f.Text), raw)
	if err == nil {
		r.use(v, t.Refs())
		with := *r.env.(*env)
		with.extra = k.templateNames(r, src, raw, false)
		if vars, ok := raw["vars"].(map[string]any); ok {
			with.extra = joined(with.extra, eval.Mixed(p.secrets, forNames(copyOf(vars))).(map[string]any))
		}
		var result eval.Result
		result, err = t.Render(&with)
		r.miss(result.Missing)
		if err != nil || len(result.Missing) > 0 {
			r.leaves(t.Refs())
		}
		if err == nil && !s.NoLog {
			p.rendersTo(k, result.Value, func() (any, error) {
				again, err := t.Render(&with)
				return again.Value, err
			})
		}
	}
	var found *eval.Error
	if !errors.As(err, &found) {
		return
	}
	for _, e := range found.All() {
		if steps := r.lacks(e); len(steps) > 0 {
			r.needs(e, steps)
			continue
		}
		if r.excused(e) {
			continue
		}
		line, column := lineColumn(string(f.Text), e.Offset)
		p.report(diag.Diagnostic{
			Pos: diag.Pos{File: f.Name, Line: line, Column: column}, Width: e.Width, Message: e.Message, Hint: e.Hint,
			Chain: append(slices.Clip(s.Origin.Chain), s.Origin.String()),
		})
		r.failed = true
	}
}

// fillProcess renders what concerns the process: environment, directory, creates and the like.
func (p *stepPlanner) fillProcess(s *Step, k *task, r *renderer, f *fields) {
	t := k.src
	for _, m := range k.env {
		if m.Kind() != playbook.Map {
			f.at("environment")
			for name, value := range r.environment(m) {
				if s.Env == nil {
					s.Env = map[string]string{}
				}
				s.Env[name] = value
			}
			continue
		}
		for _, e := range m.Entries() {
			f.at("env." + e.Key)
			if s.Env == nil {
				s.Env = map[string]string{}
			}
			s.Env[e.Key] = r.text(e.Value)
		}
	}
	f.at("cwd")
	s.Cwd = k.dir
	switch {
	case k.remote:
		s.Cwd = "~"
	case k.plays:
		s.Cwd = k.base
	}
	if !k.cwd.IsZero() {
		s.Cwd = r.text(k.cwd)
		if len(r.missing) == 0 {
			s.Cwd = k.resolve(s.Cwd, p.o.Home)
		}
	}
	for _, g := range []struct {
		name  string
		value playbook.Value
	}{{"creates", t.Creates}, {"removes", t.Removes}, {"unless", t.Unless}, {"onlyif", t.OnlyIf}} {
		if !g.value.IsZero() {
			f.at(g.name)
			r.text(g.value)
		}
	}
	for _, g := range []struct {
		name   string
		values []playbook.Value
	}{{"sources", t.Sources}, {"generates", t.Generates}} {
		for _, v := range g.values {
			f.at(g.name)
			p.glob(r, v, g.name)
		}
	}
}

// fillUndo renders the step that reverses this one. It may use the result of this one, which is not known yet; what else
// it waits for is not waited for by this one.
func (p *stepPlanner) fillUndo(s *Step, k *task, r *renderer) {
	if k.undo == nil || k.undo.action == nil {
		return
	}
	with := *r.env.(*env)
	with.extra = map[string]any{}
	for _, name := range p.plan.resultNames(k.src.Register) {
		with.extra[name] = eval.Unknown{}
	}
	sub := &renderer{engine: r.engine, env: &with, report: r.report, lack: r.lack, facts: r.facts, lenient: r.lenient, guards: r.guards, chain: r.chain}
	u := &task{compiled: k.undo, dir: k.dir}
	raw := u.values(sub, u.args, p.o.Home, "", func(string) {})
	for _, m := range u.src.Env.Entries() {
		sub.text(m.Value)
	}
	if !u.src.Cwd.IsZero() {
		sub.text(u.src.Cwd)
	}
	if u.sound && !sub.failed && !sub.undefined && len(sub.missing) == 0 && !r.lenient {
		p.decode(u, raw, r.chain)
	}
	s.Undo = &Undo{Action: u.action.Name}
	s.Undo.Args, _ = forDisplay(copyOf(raw)).(map[string]any)
	s.Undo.Summary = p.plan.summary(s.Undo.Action, s.Undo.Args)
}

// register makes the names known that the step will set.
func (p *stepPlanner) register(s *Step, k *task, t *playbook.Task, c *taskContext) {
	if c.on != nil {
		p.handOver(s, k, t, c)
	}
	if t.Register != "" && t.Loop.Kind == playbook.NoLoop {
		p.names.produced.add(&binding{name: t.Register, from: "register", origin: origin(t.RegisterPos, c.chain), how: registered, steps: []int{s.Index}, by: t})
	}
	if k.action.Name != "set_fact" || s.Prediction == WillSkip && s.Lacks == nil && !s.Excluded {
		return
	}
	into := &p.names.produced
	if t.Kind == playbook.Vars {
		into = &p.names.document
	}
	for _, g := range k.args {
		b := &binding{
			name: g.name, from: s.Action, origin: origin(g.value.Pos(), c.chain), how: assigned, steps: []int{s.Index}, by: t,
			certain: s.Prediction == WillRun && t.Creates.IsZero() && t.Removes.IsZero() && t.Unless.IsZero() && t.OnlyIf.IsZero(),
		}
		if c.on != nil {
			if g.name == "cacheable" {
				continue
			}
			p.noteName(b.name)
			p.foresee(b, s, k, c)
			p.factHost(s, c).names.produced.add(b)
			continue
		}
		into.add(b)
	}
}

// placeStep says of a step of a play where it belongs.
func (p *stepPlanner) placeStep(s *Step, c *taskContext) {
	s.Path = c.path
	if s.Loop != nil {
		s.Path += "#" + p.uniqueLabel(c.scope, p.portableLabel(s.Loop.Label))
	}
	s.Host, s.Group = c.on.name, c.group
	for _, g := range slices.Concat(p.gatesOf(c), c.gates) {
		s.Gates = append(s.Gates, g.Gate)
	}
	s.Role, s.Handler, s.Notifiers, s.Once = c.roleName(), c.handler, c.notifiers, c.once
	if m := c.on; s.Action == "setup" && m.gatherer < 0 {
		m.gatherer, s.Keeps = s.Index, m.state == promised
	}
}

// foresee takes down what a set_fact will set, where that is known and nothing keeps it from happening: loops and includes may
// then depend on it.
func (p *stepPlanner) foresee(b *binding, s *Step, k *task, c *taskContext) {
	if k.call == nil || !b.certain || s.Once || p.plan.Scopes[c.play.scope].Strategy == "graph" {
		return
	}
	v, ok := k.call.Raw[b.name]
	if !ok {
		return
	}
	b.foreseen, b.value = true, eval.Mixed(p.secrets, eval.InOrderOf(v, k.call.ordered[b.name]))
}

// searching says where a task looks for what it copies. On the host itself there is nothing to look for.
func (p *stepPlanner) searching(k *task, c *taskContext, r *renderer) {
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
