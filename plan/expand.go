package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// iteration is one round of a loop.
type iteration struct {
	context LoopContext
	label   string
}

func (p *planner) tasks(c *scopeContext, tasks []*playbook.Task) {
	p.plan.Steps = slices.Grow(p.plan.Steps, min(len(tasks), p.o.MaxSteps)) // most tasks are one step
	for _, t := range tasks {
		p.one(c, t)
	}
}

// one expands a task into steps and scopes.
func (p *planner) one(c *scopeContext, t *playbook.Task) {
	if p.full {
		return
	}
	inside := *c
	inside.item = nil
	if mayHide(t.NoLog) {
		p.disk.keepNot(c.file.Path)
		p.facts.hiding = true
		defer func() { p.facts.hiding = false }()
	}
	own := p.own(t, c)
	inside.when = append(slices.Clip(c.when), own.when...)
	inside.tags = p.tagsOf(t, c)
	if t.Env.Kind() == playbook.Map {
		inside.env = append(slices.Clip(c.env), t.Env)
	}
	switch t.Kind {
	case playbook.Vars, playbook.IncludeVars:
		p.vars(&inside, t)
		return
	case playbook.Action, playbook.Include, playbook.Block, playbook.Preset, playbook.Role:
	}
	if t.Kind == playbook.Action && t.Action == "" {
		return // the parser has said why
	}
	if !t.Ignore.IsZero() {
		inside.ignore = p.conditions([]playbook.Value{t.Ignore}, c.chain)
	}
	if !t.Cwd.IsZero() {
		inside.cwd = t.Cwd
	}
	inside.become = c.become.with(t)
	if t.Loop.Kind == playbook.NoLoop {
		if p.reached(1, own, c) {
			p.single(&inside, t)
		}
		return
	}
	p.loop(&inside, t)
}

// single expands one round of a task.
func (p *planner) single(c *scopeContext, t *playbook.Task) {
	switch t.Kind {
	case playbook.Action:
		if p.room(1, t.Pos, c.chain) {
			p.step(c, t)
		}
	case playbook.Include:
		p.include(c, t)
	case playbook.Block:
		p.block(c, t)
	case playbook.Preset:
		p.preset(c, t)
	case playbook.IncludeVars: // in plays it is a step like any other
		if c.on != nil && p.room(1, t.Pos, c.chain) {
			p.step(c, t)
		}
	case playbook.Vars, playbook.Role:
	}
}

// own are the conditions a task itself is written with, compiled once.
func (p *compiler) own(t *playbook.Task, c *scopeContext) *compiled {
	if k, ok := p.compiled[t]; ok {
		return k
	}
	k := p.compile(t, c.chain)
	p.compiled[t] = k
	return k
}

// verdict is what the conditions of a group come to.
func (p *evaluator) verdict(c *scopeContext) verdict {
	return p.renderer(p.env(c, nil), c.chain).decide(c.when)
}

// skipped reports whether the conditions of a group are known to be false, and which one.
func (p *evaluator) skipped(c *scopeContext) (why string, skip bool) {
	v := p.verdict(c)
	return v.culprit, v.known && !v.holds
}

// lateVars plans steps that set the variables of an included file, where only the run decides whether the file is included. Inside they
// are known all the same; what comes after the include has to wait for the steps.
func (p *planner) lateVars(pb *playbook.Playbook, c *scopeContext) {
	for _, m := range p.ownMaps(pb, c) {
		if entries := m.Entries(); len(entries) > 0 && p.room(1, entries[0].Pos, c.chain) {
			pos := entries[0].Pos
			p.step(c, &playbook.Task{
				Kind: playbook.Vars, Pos: pos, ActionKey: "vars", ActionPos: pos, Args: m,
				Loop: playbook.Loop{Var: "item", Index: "index"}, PlayTask: new(playbook.PlayTask),
			})
		}
	}
}

func (p *planner) include(c *scopeContext, t *playbook.Task) {
	if t.Args.IsZero() {
		return // the parser has said why
	}
	inside := *c
	pos := t.Pos
	name := strings.TrimSpace(t.Args.Text())
	scope := Scope{Kind: ScopeInclude, Parent: c.scope, Name: name, Origin: origin(pos, c.chain), When: whenText(c.when)}
	if c.item != nil {
		scope.Item = c.item.label
	}
	held := p.verdict(c)
	if held.known && !held.holds {
		scope.Skipped = held.culprit
		p.close(p.open(scope, scope.Name))
		return
	}
	if t.StepVars.Kind() == playbook.Map {
		inside.params = p.layerOf(t.StepVars, c.params, p.frame(c, nil), func(fr *frame, l *layer) { fr.params = l }, "include vars", c.chain, false)
	}
	r := p.renderer(p.env(&inside, nil), c.chain)
	name = r.text(t.Args)
	if r.failed {
		return
	}
	if len(r.missing) > 0 {
		p.tooLate(t.Args, c.chain, "include each candidate with its own `when`", "which file to include", r.missing)
		return
	}
	scope.Name = name
	target := p.disk.real(p.resolve(name, c.dir))
	if p.circular(target, t, c) {
		return
	}
	said := len(p.ds)
	pb, err := p.load(target)
	if err != nil {
		p.errorf(t.Args.Pos(), 0, c.chain, p.similar(target), "include: %s", p.fileError(err))
		return
	}
	p.included(said, c.chain, t)
	if pb.Strategy != "" {
		p.errorf(t.Args.Pos(), 0, c.chain, "put it on the root playbook, or use `parallel`", "`strategy` in an included file (%s)", pb.File.Name)
	}
	for _, e := range pb.Exports {
		p.errorf(e.Pos, utf8.RuneCountInString(e.Key), c.chain, "put it on the root playbook", "`exports` in an included file (%s)", pb.File.Name)
	}
	label := pb.File.Name
	scope.Name = p.groupName(c, t, label)
	scope.Parallel = p.parallel(t.Parallel, c)
	if n := p.parallel(pb.Parallel, c); n > 0 && scope.Parallel == 0 {
		scope.Parallel = n
	}
	leave := p.enter(&inside, scope, label, pb.File, including{path: target}, pos)
	since := *p.names.document.now
	if !held.known || c.rescuing {
		p.lateVars(pb, &inside)
	}
	document := func(b *binding) {
		p.shadows(b)
		b.passing = !held.known || c.rescuing
		p.names.document.add(b)
	}
	p.ownVars(pb, &inside, func() *frame { return p.frame(&inside, nil) }, document, document)
	p.tasks(&inside, pb.Tasks)
	leave()
	if !held.known {
		p.names.document.forget(since)
	}
}

// included adds to what the parser says of an included file where that is included.
func (p *library) included(said int, chain []string, t *playbook.Task) {
	for i := said; i < min(len(p.ds), diag.Max); i++ { // behind them is only that there is more
		p.ds[i].Chain = append(slices.Clip(chain), fmt.Sprintf("%s:%d", t.Pos.File, t.Pos.Line))
	}
}

// circleShown is how many files of each end of a long circle are named.
const circleShown = 5

// circular reports an include of a file that is being included already.
func (p *library) circular(target string, t *playbook.Task, c *scopeContext) bool {
	at := slices.IndexFunc(p.including, func(i including) bool { return i.path == target })
	if at < 0 {
		return false
	}
	var parts []string
	for i := at; i < len(p.including); i++ {
		line := p.including[i].line
		if i == len(p.including)-1 {
			line = t.Pos.Line
		}
		parts = append(parts, fmt.Sprintf("%s:%d", p.including[i].name, line))
	}
	if n := len(parts) - 2*circleShown; n > 1 {
		parts = slices.Concat(parts[:circleShown], []string{fmt.Sprintf("… %d more …", n)}, parts[len(parts)-circleShown:])
	}
	parts = append(parts, p.including[at].name)
	p.errorf(t.Args.Pos(), 0, c.chain, "a file may be included twice, but not inside itself", "include cycle: %s", strings.Join(parts, " → "))
	return true
}

// groupName is what a block, an include or a preset is called: its own name as far as it is known, or otherwise.
func (p *evaluator) groupName(c *scopeContext, t *playbook.Task, otherwise string) string {
	r := p.renderer(p.env(c, nil), c.chain)
	r.lenient = true // an undefined name is shown as written
	return p.secrets.Redact(cmp.Or(nameLine(t.Name, r.text(t.Name)), otherwise))
}

func (p *planner) block(c *scopeContext, t *playbook.Task) {
	inside := *c
	scope := Scope{Kind: ScopeBlock, Parent: c.scope, Name: p.groupName(c, t, "block"), Origin: origin(t.Pos, c.chain), When: whenText(c.when), Parallel: p.parallel(t.Parallel, c)}
	if c.item != nil {
		scope.Item = c.item.label
	}
	if why, skip := p.skipped(c); skip {
		scope.Skipped = why
		p.close(p.open(scope, scope.Name))
		return
	}
	if t.StepVars.Kind() == playbook.Map {
		inside.block = p.layerOf(t.StepVars, c.block, p.frame(c, nil), func(fr *frame, l *layer) { fr.block = l }, "block vars", c.chain, false)
	}
	inside.scope = p.open(scope, scope.Name)
	inside.item = nil
	p.tasks(&inside, t.Body)
	for _, branch := range []struct {
		name  string
		pos   diag.Pos
		tasks []*playbook.Task
	}{{"rescue", t.RescuePos, t.Rescue}, {"always", t.AlwaysPos, t.Always}} {
		if len(branch.tasks) == 0 {
			continue
		}
		b := inside
		since := *p.names.document.now
		if branch.name == "rescue" {
			b.rescuing = true
			b.loop = p.rescueLayer(inside.scope, inside.loop, origin(branch.pos, c.chain))
		}
		b.scope = p.open(Scope{Kind: ScopeBranch, Parent: inside.scope, Name: branch.name, Branch: branch.name, Origin: origin(branch.pos, c.chain)}, branch.name)
		p.tasks(&b, branch.tasks)
		p.close(b.scope)
		if branch.name == "rescue" {
			p.names.document.forget(since)
		}
	}
	p.close(inside.scope)
}

// rescueLayer has the names that tell what failed in the block. All steps of the block may give them.
func (p *outline) rescueLayer(block int, outer *layer, from Origin) *layer {
	var steps []int
	for i := p.plan.Scopes[block].First; i < len(p.plan.Steps); i++ {
		steps = append(steps, i)
	}
	l := &layer{parent: outer}
	for _, name := range slices.Concat(failedTaskNames, failedResultNames) {
		l.add(binding{name: name, from: "rescue", origin: from, how: broken, steps: steps})
	}
	return l
}

// parallel reads `parallel`: 0 for no, a number, or Unlimited for yes.
func (p *evaluator) parallel(v playbook.Value, c *scopeContext) int {
	n := 0
	p.fixed(v, "parallel", "true, false or a number above 0", p.renderer(p.env(c, nil), c.chain), func(got any) bool {
		if i, ok := spec.ParseInt(got); ok {
			n = i
			return n > 0
		}
		yes, ok := spec.ParseBool(got)
		if yes {
			n = Unlimited
		}
		return ok
	})
	return n
}

// vars handles a `vars` or `include_vars` step: no step of the plan, unless the run decides whether it happens. What a rescue sets
// is known inside the rescue, and after it only if it was needed.
func (p *planner) vars(c *scopeContext, t *playbook.Task) {
	if p.excluded(c.tags) {
		p.unset(c, t)
		return
	}
	r := p.renderer(p.env(c, nil), c.chain)
	v := r.decide(c.when)
	switch {
	case v.known && !v.holds:
		return
	case t.Kind == playbook.IncludeVars && t.Args.IsZero():
		return // the parser has said why
	}
	from, chain := "vars", c.chain
	if t.Kind == playbook.IncludeVars {
		f, m, ok := p.fileOfVars(p.renderer(p.env(c, nil), c.chain), t.Args, "include_vars", c)
		if !ok {
			return
		}
		from, chain = f.Name, append(slices.Clip(c.chain), fmt.Sprintf("%s:%d", t.Args.Pos().File, t.Args.Pos().Line))
		read := *t
		read.Kind, read.Args = playbook.Vars, m
		t = &read
	}
	if (!v.known || c.rescuing) && p.room(1, t.Pos, c.chain) {
		p.step(c, t)
	}
	if v.known {
		p.documentVars(t.Args, c, from, chain)
	}
}

// unset makes of the names that excluded `vars` would set, and that have no other value, names without one, each with the reason. They
// are no step, so that nothing can be skipped because of one.
func (p *variables) unset(c *scopeContext, t *playbook.Task) {
	for _, e := range t.Args.Entries() {
		if _, ok := p.env(c, nil).Lookup(e.Key); ok {
			continue
		}
		why := fmt.Sprintf("the vars at %s:%d, which set it, are excluded by tags", t.Pos.File, t.Pos.Line)
		p.names.document.add(&binding{name: e.Key, from: "vars", origin: origin(e.Pos, c.chain), value: eval.Fault{
			Err: &eval.Error{Kind: eval.Undefined, Message: why, Hint: "ask for their tags too, or give the value with -e", Offset: -1}, Absent: true,
		}})
	}
}

// tooLate says that something that shapes the plan is known only during the run. A value that is missing because of a
// mistake waits for no step either; then the mistake has been said.
func (p *evaluator) tooLate(v playbook.Value, chain []string, hint, what string, missing []eval.Missing) {
	steps := stepsOf(missing)
	if len(steps) == 0 && p.ds.HasErrors() {
		return
	}
	is := "is"
	if strings.HasPrefix(what, "the items") {
		is = "are"
	}
	width := utf8.RuneCountInString(FirstLine(v.Text()))
	if !slices.ContainsFunc(steps, func(i int) bool { return i >= len(p.plan.Steps) || p.plan.Steps[i].Action != "setup" }) {
		switch {
		case p.unasked:
			return // the facts would be known if other mistakes had not been said
		case p.o.unseen != nil:
			p.unread = true
			p.o.unseen.Add(diag.Diagnostic{Severity: diag.Warning, Pos: v.Pos(), Width: width, Message: fmt.Sprintf("%s %s known only with the facts of the hosts, which are not asked for here", what, is)})
			return
		}
	}
	if e := (&env{plan: p.plan}); len(e.coming(steps)) < len(steps) {
		p.errorf(v.Pos(), width, chain, "let that step run too, or give the value with -e", "%s cannot be known: %s", what, e.absenceText(steps))
		return
	}
	p.errorf(v.Pos(), width, chain, hint, "%s %s known only after %s", what, is, p.after(missing))
}

// after names the steps that unknown values wait for: "step-0003 «read release»".
func (p *evaluator) after(missing []eval.Missing) string {
	var parts []string
	for _, s := range stepsOf(missing) {
		parts = append(parts, p.plan.StepRef(s))
	}
	if len(parts) == 0 {
		return AtStart
	}
	if len(parts) > 3 {
		parts = append(parts[:2], fmt.Sprintf("%d more", len(parts)-2))
	}
	return strings.Join(parts, ", ")
}

func (p *Plan) StepRef(s int) string {
	if s >= len(p.Steps) {
		return fmt.Sprintf("step-%04d", s+1)
	}
	return fmt.Sprintf("%s «%s»", p.Steps[s].ID(), p.Steps[s].Title())
}

// loop expands a task over its items, one round each.
func (p *planner) loop(c *scopeContext, t *playbook.Task) {
	items, typ, ok := p.items(c, t)
	if !ok {
		return
	}
	if !p.rounds(len(items), 1, t, c) {
		return
	}
	if c.on != nil && len(items) == 0 {
		p.nothing(c, t, noItems(t))
		return
	}
	name, label := loopName(t)
	limit := p.limit(c, t)
	hidden := mayHide(c.noLog(t))
	expression := loopExpression(t.Loop)
	scope := p.open(Scope{
		Kind: ScopeLoop, Parent: c.scope, Name: name, Origin: origin(t.Pos, c.chain), When: whenText(c.when),
		Items: len(items), Loop: expression, Parallel: limit,
	}, label)
	if c.on != nil {
		p.plan.Scopes[scope].Path = c.path
	}
	first := len(p.plan.Steps)
	p.plan.Steps = slices.Grow(p.plan.Steps, len(items)) // room has been checked
	from := origin(t.Loop.Pos, c.chain)
	var ends *layer
	for i, item := range items {
		round := *c
		round.scope = scope
		round.depth = c.depth + 1
		value := item.value
		if _, ok := value.(eval.Partial); !ok && item.open {
			value = forNames(copyOf(value))
		}
		if i <= 1 || i == len(items)-1 { // all rounds between the first and the last share these
			ends = &layer{parent: c.loop, binds: []binding{
				{name: "first", value: i == 0, from: "loop", origin: from},
				{name: "last", value: i == len(items)-1, from: "loop", origin: from},
			}}
		}
		round.loop = &layer{parent: ends, binds: []binding{
			{name: t.Loop.Var, value: value, open: item.open, raw: item.raw, where: item.where, from: "loop", origin: from},
			{name: t.Loop.Index, value: i, from: "loop", origin: from},
		}}
		if c.on != nil {
			round.loop = p.roundOnHost(&round, t, items, i, round.loop)
		}
		lc := p.roundContext(&round, t, items, i, LoopContext{Type: typ, Expression: expression})
		round.item = &iteration{context: lc, label: lc.Label}
		round.inLoop = &round.item.context
		if hidden {
			bare := lc
			bare.Item = nil // also for steps inside that have no no_log themselves
			round.inLoop = &bare
		}
		p.single(&round, t)
		if p.full {
			break
		}
	}
	p.close(scope)
	p.collectRegister(t, first, c)
}

// roundContext describes a round of a loop. What all its rounds share is given.
func (p *evaluator) roundContext(round *scopeContext, t *playbook.Task, items []item, i int, lc LoopContext) LoopContext {
	lc.Item, lc.Index, lc.First, lc.Last = items[i].shown(), i, i == 0, i == len(items)-1
	lc.Depth, lc.Var, lc.Labelled = round.depth-1, t.Loop.Var, !t.Loop.Label.IsZero()
	if lc.Type == "filetree" {
		lc.Depth, _ = items[i].value.(map[string]any)["depth"].(int)
	}
	if mayHide(round.noLog(t)) && !lc.Labelled {
		lc.Label = strconv.Itoa(i)
	} else {
		lc.Label = p.secrets.Redact(p.itemLabel(round, t, lc))
	}
	return lc
}

// noLog is the no_log of a task, its own or that of what it is in.
func (c *scopeContext) noLog(t *playbook.Task) playbook.Value {
	var applied playbook.Value // to what an include brings, and then to its items too
	if t.Apply.Kind() == playbook.Map {
		for _, e := range t.Apply.Entries() {
			if e.Key == "no_log" {
				applied = e.Value
			}
		}
	}
	return firstOf(t.NoLog, applied, c.inherit.noLog)
}

// mayHide reports whether no_log hides a task: then its items give its steps neither names nor paths. A value that is
// not written out counts as true, since it may be another one in each round.
func mayHide(noLog playbook.Value) bool {
	if noLog.IsZero() {
		return false
	}
	hide, written := spec.ParseBool(plain(noLog))
	return hide || !written
}

// loopName is how a loop is called, and its part of paths, which does not hold what the steps do.
func loopName(t *playbook.Task) (name, label string) {
	if name := FirstLine(t.Name.Text()); name != "" {
		return name, name
	}
	text := FirstLine(t.Args.Text())
	switch {
	case t.Kind == playbook.Include, t.Kind == playbook.Preset:
		return text, text
	case t.Kind == playbook.Action && text != "":
		return t.ActionKey + ": " + text, t.Action
	}
	return t.ActionKey, t.ActionKey
}

// collectRegister gives the loop's register name the results of all its items.
func (p *playsState) collectRegister(t *playbook.Task, first int, c *scopeContext) {
	if t.Register == "" || t.Kind != playbook.Action && t.Kind != playbook.IncludeVars {
		return
	}
	b := &binding{name: t.Register, from: "register", origin: origin(t.RegisterPos, c.chain), how: collected, by: t}
	for s := first; s < len(p.plan.Steps); s++ {
		b.steps = append(b.steps, s)
	}
	if len(b.steps) == 0 {
		b.how, b.steps = notProduced, nil
		b.value = map[string]any{"results": []any{}, "skipped": true, "changed": false, "failed": false}
	}
	p.names.produced.add(b)
}

// limit is how many iterations may run at once: 0 for one after the other.
func (p *evaluator) limit(c *scopeContext, t *playbook.Task) int {
	n := 0
	p.fixed(t.Loop.Limit, "limit", "a number above 0", p.renderer(p.env(c, nil), c.chain), func(got any) bool {
		i, ok := spec.ParseInt(got)
		n = i
		return ok && n > 0
	})
	if n == 1 {
		return 0
	}
	return n
}

func loopExpression(l playbook.Loop) string {
	switch l.Over.Kind() {
	case playbook.List:
		return fmt.Sprintf("list of %d", l.Over.Len())
	case playbook.Map:
		return fmt.Sprintf("map of %d", l.Over.Len())
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float, playbook.String:
	}
	return strings.TrimSpace(l.Over.Text())
}

// itemLabel is how an item is called in names and paths.
func (p *evaluator) itemLabel(c *scopeContext, t *playbook.Task, lc LoopContext) string {
	if !t.Loop.Label.IsZero() {
		return FirstLine(p.renderer(p.env(c, nil), c.chain).text(t.Loop.Label))
	}
	switch item := lc.Item.(type) {
	case map[string]any:
		for _, key := range []string{"name", "path", "key", "id", "dest", "src", "title"} {
			if v, ok := item[key]; ok {
				if s := eval.Text(v); s != "" {
					return FirstLine(s)
				}
			}
		}
		return fmt.Sprint(lc.Index)
	case []any:
		return fmt.Sprint(lc.Index)
	default:
		if s := FirstLine(eval.Text(item)); s != "" {
			return s
		}
		return fmt.Sprint(lc.Index)
	}
}

// item is an item of a loop as planned. An open one is rendered again when its step runs.
type item struct {
	value any
	open  bool
	raw   playbook.Value
	where *frame
}

// shown is the item as far as it is known, for display.
func (i item) shown() any {
	shown := i.value
	if partial, ok := shown.(eval.Partial); ok {
		shown = partial.Known[partial.Known["ansible_loop_var"].(string)]
	} else if i.open {
		shown = forDisplay(copyOf(shown))
	}
	return eval.Ordinary(shown)
}

// items evaluates what a loop runs over.
func (p *variables) items(c *scopeContext, t *playbook.Task) (items []item, typ string, ok bool) {
	// Variables of the step itself may feed the loop, and may use its item: those that do are left out here.
	var step *layer
	switch {
	case c.on != nil && t.StepVars.Kind() == playbook.Map:
		step = p.shareLayer(t, nil, "task vars", c.chain)
	case t.StepVars.Kind() == playbook.Map && t.Kind == playbook.Action:
		step = p.layerOf(t.StepVars, nil, p.frame(c, nil), func(fr *frame, l *layer) { fr.step = l }, "step vars", c.chain, true)
	}
	e := p.env(c, step)
	r := p.renderer(e, c.chain)
	r.marks = true
	if t.Loop.Kind == playbook.FileTree {
		items, ok = p.fileTree(c, t, r)
		return items, "filetree", ok
	}
	over := t.Loop.Over
	if c.on != nil && (t.Loop.Kind == playbook.Lookup || t.Loop.Key == "with_items") {
		return p.lookedUp(t, r, e)
	}
	switch over.Kind() {
	case playbook.List:
		for _, v := range over.Items() {
			one := p.renderer(e, c.chain)
			one.marks = true
			value := one.value(v)
			r.failed = r.failed || one.failed
			items = append(items, item{value: value, open: len(one.missing) > 0, raw: v, where: e.frame})
		}
		return items, "items", !r.failed
	case playbook.Map:
		for _, entry := range over.Entries() {
			items = append(items, item{value: map[string]any{"key": entry.Key, "value": r.value(entry.Value)}})
		}
		if len(r.missing) > 0 {
			p.unknownLoop(c, t, r.missing)
			return nil, "", false
		}
		return items, "items", !r.failed
	case playbook.Null:
		return nil, "", false // the parser has said so
	case playbook.Bool, playbook.Int, playbook.Float:
		p.noList(c, t, plain(over))
		return nil, "", false
	case playbook.String:
	}
	value := p.loopValue(r, t)
	if r.failed {
		return nil, "", false
	}
	if len(r.missing) > 0 {
		if items, ok := p.resultsOf(over, e); ok {
			return items, "items", true
		}
		p.unknownLoop(c, t, r.missing)
		return nil, "", false
	}
	switch value := value.(type) {
	case []any:
		items = make([]item, len(value))
		for i, v := range value {
			items[i].value = v
		}
	case map[string]any:
		for _, k := range sortedKeys(value) {
			items = append(items, item{value: map[string]any{"key": k, "value": value[k]}})
		}
	case *eval.Dict:
		for _, k := range value.Keys() {
			v, _ := value.Get(k)
			items = append(items, item{value: map[string]any{"key": k, "value": v}})
		}
	default:
		p.noList(c, t, value)
		return nil, "", false
	}
	return items, "items", true
}

// noList says that a loop is over something that has no items.
func (p *evaluator) noList(c *scopeContext, t *playbook.Task, value any) {
	over := t.Loop.Over
	text := FirstLine(over.Text())
	hint := "write a list: `[" + text + "]`"
	switch value.(type) {
	case string:
		if strings.Contains(text, "{{") || text != eval.Text(value) {
			hint = "split a text into a list: `.split(',')`, or `| split`"
		}
	case int, float64, eval.Number:
		hint = "to count, write a range: `1..3`"
	case nil:
		hint = "give it a list, or `| default([], true)`"
	}
	p.errorf(over.Pos(), utf8.RuneCountInString(text), c.chain, hint, "`%s:` needs a list or a map; this is %s", t.Loop.Key, described(value))
}

func (p *evaluator) unknownLoop(c *scopeContext, t *playbook.Task, missing []eval.Missing) {
	p.tooLate(t.Loop.Over, c.chain, "loop over values that are known before the run, or do the looping inside one step", "the items of this loop", missing)
}

// article names the type of a value: "a list", "text".
func article(v any) string {
	switch v.(type) {
	case eval.Secret:
		return "a secret"
	case nil:
		return "nothing"
	case bool:
		return "a boolean"
	case int, float64, eval.Number:
		return "a number"
	case string:
		return "text"
	case []any:
		return "a list"
	case map[string]any, *eval.Dict:
		return "a map"
	}
	return "not a plain value"
}

// nameLine is a name on one line: the first, where it is written on several. What a value brings along ends no name, such as
// the newline after what a command printed.
func nameLine(written playbook.Value, rendered string) string {
	if strings.Contains(strings.TrimSpace(written.Text()), "\n") {
		return FirstLine(rendered)
	}
	lines := strings.Split(rendered, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}

// copyOf copies lists and maps in depth, so that closing a display text does not change the value itself.
func copyOf(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = copyOf(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k := range v {
			m[k] = copyOf(v[k])
		}
		return m
	case *eval.Dict:
		return v.With(copyOf)
	}
	return v
}
