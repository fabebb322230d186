package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

func sortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}

// fields collects what a step's fields still wait for, field by field.
type fields struct {
	r        *renderer
	field    string
	unknowns []Unknown
	all      []eval.Missing
}

// at closes the field before and opens the next.
func (f *fields) at(name string) {
	for _, m := range f.r.missing {
		f.unknowns = append(f.unknowns, Unknown{Field: f.field, Name: m.Name, Steps: m.Steps})
	}
	f.all = append(f.all, f.r.missing...)
	f.r.missing = nil
	f.field = name
}

// step plans one step: one task, one item.
func (p *stepPlanner) step(c *scopeContext, t *playbook.Task) {
	k := &task{compiled: p.own(t, c), when: c.when, ignore: c.ignore, env: c.env, cwd: c.cwd, dir: c.dir}
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
		p.place(&s, c)
	} else {
		s.Path = p.plan.Scopes[c.scope].Path + "/" + p.label(c.scope, p.stepLabel(&s, t))
	}
	p.reach(s.Path)
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
func (p *stepPlanner) absent(t *playbook.Task, c *scopeContext) {
	if way, ok := spec.ActionLater(t.ActionKey); ok {
		p.errorf(t.ActionPos, utf8.RuneCountInString(t.ActionKey), c.chain, way, "`%s` is not supported yet", t.ActionKey)
		return
	}
	p.errorf(t.ActionPos, utf8.RuneCountInString(t.ActionKey), c.chain, "`moon actions` lists the actions; a plugin or a module in library/ can bring more", "there is no module `%s`", t.ActionKey)
}

// hide takes out what no_log keeps from being shown and stored. Running the step renders it from what is written.
func (s *Step) hide() {
	s.Args, s.Env, s.Uses = nil, nil, nil
	for i := range s.Overridden {
		s.Overridden[i].Was, s.Overridden[i].Now = nil, nil
	}
	s.Summary = s.Action + " (hidden by no_log)"
	if s.Undo != nil {
		s.Undo.Args, s.Undo.Summary = nil, s.Undo.Action+" (hidden by no_log)"
	}
	if s.Loop != nil {
		s.Loop.Item = nil
	}
	if s.InLoop != nil {
		bare := *s.InLoop
		bare.Item = nil
		s.InLoop = &bare
	}
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

// documentOf compiles the text of a template in the style that the arguments of its step say.
func documentOf(engine *eval.Engine, text string, raw map[string]any) (*eval.Template, error) {
	if style := styleOf(raw); style != (eval.Style{}) {
		return engine.DocumentIn(text, style)
	}
	return engine.Document(text)
}

// styleOf is how the text of a template is written, as the arguments of its step say.
func styleOf(raw map[string]any) eval.Style {
	text := func(name string) string { s, _ := raw[name].(string); return s }
	is := func(name string, otherwise bool) bool {
		if b, ok := spec.ParseBool(raw[name]); ok {
			return b
		}
		return otherwise
	}
	return eval.Style{
		KeepBreaks: !is("trim_blocks", true), Lstrip: is("lstrip_blocks", false),
		BlockStart: text("block_start_string"), BlockEnd: text("block_end_string"),
		VariableStart: text("variable_start_string"), VariableEnd: text("variable_end_string"),
		CommentStart: text("comment_start_string"), CommentEnd: text("comment_end_string"),
	}
}

func lineColumn(text string, offset int) (line, column int) {
	if offset < 0 || offset > len(text) {
		return 0, 0
	}
	before := text[:offset]
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
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

// glob renders a pattern for files and looks for what is wrong with it.
func (p *compiler) glob(r *renderer, v playbook.Value, key string) {
	pattern := r.text(v)
	if len(r.missing) == 0 && !r.failed && !doublestar.ValidatePattern(pattern) {
		p.errorf(v.Pos(), utf8.RuneCountInString(FirstLine(v.Text())), r.chain, "* stands for any text but a slash, ** for any directories, ? for a character, [a-z] and {a,b} for one of them",
			"`%s:` has a pattern that is not complete: %s", key, quoted(pattern))
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

// decode turns known arguments into the action's typed ones, and finds what is wrong with them.
func (p *compiler) decode(k *task, raw map[string]any, chain []string) {
	typed, problems := k.action.Decode(raw)
	for _, problem := range problems {
		pos, width := k.src.ActionPos, utf8.RuneCountInString(k.src.ActionKey)
		if v, ok := valueOf(k.args, problem.Field); ok {
			pos, width = v.Pos(), utf8.RuneCountInString(FirstLine(v.Text()))
		} else if k.misspelt {
			continue
		}
		p.blame("argument "+problem.Field, diag.Diagnostic{Pos: pos, Width: width, Message: problem.Message, Hint: problem.Hint, Chain: chain})
	}
	if len(problems) == 0 && (k.search == nil || !k.search.missed) { // what is missing is looked for again in the run
		k.call = &Call{Action: k.action.Name, Args: typed, Raw: raw}
	}
}

// register makes the names known that the step will set.
func (p *stepPlanner) register(s *Step, k *task, t *playbook.Task, c *scopeContext) {
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
			p.keeper(s, c).names.produced.add(b)
			continue
		}
		into.add(b)
	}
}

// stepDigest is over all that defines the step. The playbook's place in the file system is not part of it. Of a step
// with no_log the text as written counts: a digest of what it comes to would let others try out what that is.
func (p *stepPlanner) stepDigest(s *Step, k *task) string {
	b := p.digested[:0]
	part := func(name string, v any) {
		text := eval.Text(v)
		text = p.secrets.Redact(strings.ReplaceAll(text, p.plan.Root, ""))
		b = append(append(b, name...), '=')
		b = append(strconv.AppendInt(b, int64(len(text)), 10), ':')
		b = append(append(b, text...), '\n')
	}
	t := k.src
	part("action", s.Action)
	if p.plan.Plays {
		part("host", s.Host+" "+s.Delegate)
		if s.Conn != nil {
			part("connection", s.Conn.String()+" "+s.Conn.Args)
			if s.Conn.Program != "" {
				part("connection program", s.Conn.Program)
			}
		}
		for _, n := range s.Notifiers {
			part("notified by", p.plan.Steps[n].Path)
		}
		for _, g := range s.Gates {
			part("gate", p.plan.Steps[g.Step].Path+" "+strconv.FormatBool(g.Ran))
		}
		part("once", fmt.Sprint(s.Once, s.GoesOn, s.AnyFatal))
	}
	if s.NoLog {
		part("written", []any{plain(t.Args), plain(t.ExtraArgs), plain(t.StepVars), plain(t.Loop.Over)})
		for _, env := range k.env {
			part("env", plain(env))
		}
	} else {
		part("args", any(s.Args))
		for _, name := range sortedKeys(s.Env) {
			part("env."+name, s.Env[name])
		}
	}
	if k.action.Plugin != nil {
		part("plugin", k.action.Plugin.Digest)
	}
	part("cwd", s.Cwd)
	part("when", s.When)
	part("register", s.Register)
	part("confirm", s.Confirm)
	part("retry", strconv.Itoa(s.Retry.Max)+" "+s.Retry.Delay.String()+s.Retry.Until)
	part("timeout", s.Timeout.String())
	if s.Queued > 0 {
		part("queued", s.Queued.String())
	}
	if len(t.Sources)+len(t.Generates) > 0 {
		part("incremental", texts(t.Sources)+"\n\n"+texts(t.Generates))
	}
	if s.Become != nil {
		part("become", s.Become.User+" "+s.Become.Method)
	}
	if s.Undo != nil {
		part("undo "+s.Undo.Action, []any{plain(t.Undo.Args), plain(t.Undo.ExtraArgs), plain(t.Undo.Env)})
		if !s.NoLog {
			part("undoes", any(s.Undo.Args))
		}
	}
	for _, o := range s.Overridden { // also of what shows nowhere else, such as a variable that a template's file uses
		part("override."+o.Label(), o.Now)
	}
	if s.Terminal {
		part("interactive", "true")
	}
	part("policy", whenText(k.changed)+"\n"+whenText(k.failed)+"\n"+whenText(k.ignore))
	part("guards", t.Creates.Text()+"\n"+t.Removes.Text()+"\n"+t.Unless.Text()+"\n"+t.OnlyIf.Text())
	part("flags", fmt.Sprint(s.NoLog, s.NoDiff, s.ShowDiff, s.CheckMode != nil, s.CheckMode != nil && *s.CheckMode, s.Excluded))
	if s.Loop != nil && !s.NoLog {
		part("item", eval.Plain(s.Loop.Item))
	}
	for _, d := range k.decisive {
		if !s.NoLog || d.verdict {
			part(d.name, eval.Plain(d.value))
		}
	}
	s.digestReads(k, p.plan.Root, part)
	p.digested = b
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// texts are values as written, a line each.
func texts(values []playbook.Value) string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = v.Text()
	}
	return strings.Join(list, "\n")
}

// digest is over the steps and their order, not over the place or the wording around them.
func (p *Plan) digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "moon plan %d\n%s\n%s\n", Format, p.RootFile, p.Strategy)
	for i := range p.Steps {
		s := &p.Steps[i]
		fmt.Fprintf(h, "%s %s\n", s.Digest, s.Path)
		for _, n := range s.Needs {
			fmt.Fprintf(h, "needs %d %s\n", n.Step, n.On)
		}
	}
	for _, s := range p.Scopes {
		fmt.Fprintf(h, "%s %s %d %d %d\n", s.Kind, s.Path, s.First, s.Last, s.Parallel)
	}
	return hex.EncodeToString(h.Sum(nil))
}
