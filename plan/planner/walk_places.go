package planner

import (
	"fmt"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/loops"
	"moon/plan/planner/compile"
	"moon/plan/planner/connect"
	"moon/plan/planner/items"
	"moon/plan/planner/library"
	"moon/plan/planner/place"
	"moon/plan/planner/policy"
	"moon/plan/playbook"
	"moon/plan/saved"
	"moon/plan/source"
	"moon/plan/vars"
)

// closed are the actions whose rounds other parts of the plan must know: facts of hosts, and the order.
var closed = []string{"meta", "setup", "gather_facts"}

// opens reports whether a loop can be an open place.
func (p *playsState) opens(t *playbook.Task, late []value.Missing) bool {
	return !slices.Contains(closed, t.Action) && p.comes(late)
}

// findItems plans the step of an open loop. Where the run has found the items, it gives them.
func (p *playsState) findItems(c *taskContext, t *playbook.Task, late []value.Missing) (found []items.Item, ok bool) {
	report := func() {
		p.ReportLate(t.Loop.Over, c.chain, "loop over values that are known before the run, or do the looping inside one step",
			"the items of this loop", late)
	}
	opens := p.opens(t, late)
	if !opens && !p.neverComes(late) {
		report()
		return nil, false
	}
	if !p.HasRoom(1, t.Pos, c.chain) {
		return nil, false
	}
	with := *c
	// Its conditions are asked for each item, and for the place only if there is no list.
	with.when, with.finds = nil, &plan.Finding{Src: t, Guard: c.when}
	with.onlyFinds()
	with.settled = p.settledWithout(c, t)
	step := len(p.plan.Steps)
	p.planStep(&with, p.standins.Finder(t, false))
	if step == len(p.plan.Steps) {
		return nil, false
	}
	s := &p.plan.Steps[step]
	if !opens && !s.Excluded { // what is excluded itself needs no items
		report()
	}
	list, ok := p.takeFound(s, c)
	if !ok {
		p.promise(t, s, c)
		return nil, false
	}
	return items.Of(list), true
}

// planOne plans a step, behind one that finds the host to delegate it to, and keys that the plan must know, where only the run knows them.
func (p *playsState) planOne(c *taskContext, t *playbook.Task) {
	late := p.lateDelegate(c, t)
	of := plan.Finding{Src: t}
	if len(late) > 0 {
		of.Name = c.delegate
	}
	late = p.lateKeys(c, t, &of, late)
	switch {
	case len(late) > 0 && p.opens(t, late):
		p.planFinding(c, t, of)
	case place.Includes(t):
		with := *c
		with.settled = p.settledWithout(c, t)
		p.planStep(&with, t) // which reports what is missing
	default:
		p.planStep(c, t)
	}
}

// planFinding plans a step with keys that the run finds, and the task itself if it has found them.
func (p *playsState) planFinding(c *taskContext, t *playbook.Task, of plan.Finding) {
	with := *c
	if with.finds = &of; !of.Name.IsZero() {
		p.hosts()
	}
	with.onlyFinds()
	with.settled = place.Settle(of.Keys, nil)
	step := len(p.plan.Steps)
	p.planStep(&with, p.standins.Finder(t, true))
	if step == len(p.plan.Steps) {
		return
	}
	s := &p.plan.Steps[step]
	list, found := p.takeFound(s, c)
	switch {
	case s.Excluded || s.Prediction == plan.WillSkip:
	case !found:
		p.promise(t, s, c)
	case len(list) > 0:
		with := *c
		if !of.Name.IsZero() {
			with.delegate = playbook.Written(c.delegate.Pos(), strings.TrimSpace(value.Text(value.Reveal(list[0]))))
			list = list[1:]
		}
		with.settled = place.Settle(of.Keys, list)
		p.planStep(&with, t)
	}
}

// lateKeys adds to an open place the keys of a task that the plan must know and only the run does, and returns what is missing for all of
// it.
// Those of an include are for what is inside, where they are asked again.
func (p *playsState) lateKeys(c *taskContext, t *playbook.Task, of *plan.Finding, late []value.Missing) []value.Missing {
	var e *plan.Env
	look := func(key plan.Part) {
		if !plan.TemplatedIn(key.Value) || place.Includes(t) {
			return
		}
		if e == nil {
			e = p.env(c, c.form.ownVars(&p.variables, t, c, true))
		}
		r := p.Renderer(e, c.chain)
		r.Report = func(diag.Diagnostic) {} // it is said where the key is read
		if r.Value(key.Value); r.Failed || r.Undefined || len(r.Missing) == 0 || !p.comes(r.Missing) {
			return
		}
		of.Keys = append(of.Keys, key)
		late = append(late, r.Missing...)
	}
	for _, key := range policy.Keys(t, c.inherit) {
		look(key)
	}
	look(plan.Part{Key: compile.WholeKey, Value: p.WholeOf(t, p.CompileTask(t, c.chain).Action)})
	look(plan.Part{Key: "no_log", Value: c.noLog(t)})
	look(plan.Part{Key: "become", Value: c.become.Yes})
	look(plan.Part{Key: "become_method", Value: c.become.Method})
	if len(of.Keys) > 0 && p.saysNo(c) { // what they come to does not matter
		return nil
	}
	return late
}

// settledWithout settles the keys of a step that finds items or decides about an include, where they are not known: it needs none of them,
// and what may be hidden is.
func (p *playsState) settledWithout(c *taskContext, t *playbook.Task) map[string]any {
	v := c.noLog(t)
	if !plan.TemplatedIn(v) {
		return nil
	}
	r := p.Renderer(p.env(c, c.form.ownVars(&p.variables, t, c, true)), c.chain)
	r.Report = func(diag.Diagnostic) {} // it may name the item
	if r.Value(v); !r.Failed && !r.Undefined && len(r.Missing) == 0 {
		return nil
	}
	return map[string]any{"no_log": true}
}

// lateDelegate is what is missing to know the host that a task is delegated to. It does not matter for one that will not run.
func (p *playsState) lateDelegate(c *taskContext, t *playbook.Task) []value.Missing {
	if c.delegate.IsZero() || !plan.TemplatedIn(c.delegate) || p.saysNo(c) {
		return nil
	}
	r := p.Renderer(p.env(c, c.form.ownVars(&p.variables, t, c, true)), c.chain)
	r.Report = func(diag.Diagnostic) {}
	r.Value(c.delegate)
	return r.Missing
}

// onlyFinds takes out what only the rounds of a loop have, which may name the item, or what is inside a group: the place itself runs
// nothing.
func (c *taskContext) onlyFinds() {
	c.env, c.cwd, c.delegate, c.become = nil, playbook.Value{}, playbook.Value{}, connect.Become{}
	c.inherit.CheckMode, c.inherit.Timeout, c.inherit.Diff = playbook.Value{}, playbook.Value{}, playbook.Value{}
}

// takeFound is what the run has found at an open place.
func (p *playsState) takeFound(s *plan.Step, c *taskContext) ([]any, bool) {
	of, found := p.o.Opened[p.secrets.Redact(s.Path)]
	if !found {
		return nil, false
	}
	s.Place.Opened, s.Place.Items = true, len(of.Items)
	return saved.Items(of, p.secrets, c.play != nil), true
}

// foundNames are the names that the run has found at an open place: none until it has, and what is behind the place waits for it.
func (p *playsState) foundNames(s *plan.Step, c *taskContext) (names []string) {
	list, found := p.takeFound(s, c)
	if !found {
		p.promiseNames(s, c, append(loops.Sets(s.Task.Finds.Src), vars.AnyName)...)
	}
	for _, one := range list {
		name := ""
		if one != nil {
			name = strings.TrimSpace(value.Text(value.Reveal(one)))
		}
		names = append(names, name)
	}
	return names
}

// foundName is the first of them.
func (p *playsState) foundName(s *plan.Step, c *taskContext) (string, bool) {
	names := p.foundNames(s, c)
	return strings.Join(names[:min(len(names), 1)], ""), len(names) > 0
}

// findName plans the step of a place at which a step names what only the run knows: what it includes. Where the run has found it, it
// gives that.
func (p *playsState) findName(c *taskContext, t *playbook.Task, what, hint string, late []value.Missing) (name string, found bool) {
	comes := p.comes(late)
	if !comes && !p.neverComes(late) {
		p.ReportLate(t.Args, c.chain, hint, what, late)
		return "", false
	}
	if !p.HasRoom(1, t.Pos, c.chain) {
		return "", false
	}
	with := *c
	with.finds = &plan.Finding{Src: t, Name: t.Args}
	with.onlyFinds()
	step := len(p.plan.Steps)
	p.planStep(&with, p.standins.Finder(t, true))
	switch s := &p.plan.Steps[step]; {
	case s.Excluded:
	case !comes:
		p.ReportLate(t.Args, c.chain, hint, what, late)
	case s.Prediction != plan.WillSkip:
		return p.foundName(s, c)
	}
	return "", false
}

// placeLabel is what paths of what comes of an open place begin with. The path of the place is in it, so that whatever else is found
// later cannot take it.
func (p *playsState) placeLabel(c *taskContext, s *plan.Step, scope int) string {
	if s.Place == nil && !c.grown {
		return ""
	}
	base := strings.TrimPrefix(s.Path, p.plan.Scopes[scope].Path+"/")
	if i := strings.LastIndex(base, "@"+s.Host); i >= 0 {
		base = base[:i] + "?"
	}
	if s.Loop != nil {
		base += fmt.Sprintf("%d:", s.Loop.Index)
	}
	return base
}

// nameOfVars is the name of the file or directory that an include_vars reads. Until it is certain that it is read, what it sets waits.
func (p *playsState) nameOfVars(c *taskContext, s *plan.Step, written playbook.Value) (string, bool) {
	r := p.Renderer(p.env(c, s.Frame.Step), c.chain)
	name := strings.TrimSpace(r.Text(written))
	switch open := len(r.Missing) > 0; {
	case r.Failed:
		return "", false
	case s.Place == nil && open:
		p.ReportLate(written, c.chain, "read each candidate with its own `when`", "which file of variables to read", r.Missing)
		return "", false
	case s.Place == nil:
		return name, true
	case open:
		return p.foundName(s, c)
	}
	if _, found := p.takeFound(s, c); found {
		return name, true
	}
	p.promiseNames(s, c, p.namesOfVars(c, s.Task.Finds.Src, name)...)
	return "", false
}

// namesOfVars are the names that an include_vars will set which may not be reached. A file that is not there may not be needed.
func (p *playsState) namesOfVars(c *taskContext, t *playbook.Task, name string) (names []string) {
	if under, given := t.ExtraArgs.Get("name"); given {
		return []string{p.Renderer(p.env(c, nil), c.chain).Text(under)}
	}
	path := source.NewSearch(c.lookout(p.plan.Root).Files("vars"), p.disk).Find(name, p.o.Home)
	if t.Args.IsZero() || !p.disk.Regular(path) {
		return []string{vars.AnyName}
	}
	if f, err := p.Read(path); err == nil {
		if m, ok := p.ParseVars(f); ok {
			for _, e := range m.Entries() {
				names = append(names, e.Key)
			}
		}
	}
	return names
}

// nameIncluded is the name of what a task includes, with the files of a role. s is its step.
func (p *playsState) nameIncluded(
	c *taskContext, t *playbook.Task, s *plan.Step, what string,
) (name string, files library.RoleNames, ok bool) {
	if s.Place == nil {
		name, ok = p.pathOf(c, t.Args, what, "include each candidate with its own `when`")
		return name, p.roleFiles(c, t), ok
	}
	names := p.foundNames(s, c)
	if len(names) == 0 {
		return "", files, false
	}
	return names[0], library.RoleNamesOf(names[1:]), true
}

// promiseNames makes names wait for an open place: what is found there sets them. vars.AnyName stands for all that nothing else has set.
func (p *playsState) promiseNames(s *plan.Step, c *taskContext, names ...string) {
	if c.handlers != nil {
		c.handlers.awaits = append(c.handlers.awaits, s.Index)
	}
	for _, name := range names {
		p.produce(&vars.Binding{Name: name, From: s.Action, Origin: s.Origin, How: vars.Promised, Steps: []int{s.Index}}, c)
	}
}

// promise makes the names wait for the step of an open loop that its rounds will set.
func (p *playsState) promise(t *playbook.Task, s *plan.Step, c *taskContext) {
	if t.Kind != playbook.Action || place.Includes(t) {
		p.promiseNames(s, c, append(loops.Sets(t), vars.AnyName)...)
		return
	}
	if t.Register != "" {
		p.names.Produced.Add(&vars.Binding{
			Name: t.Register, From: "register", Origin: origin(t.RegisterPos(), c.chain), How: vars.Registered,
			Steps: []int{s.Index}, By: t,
		})
	}
	if t.Action != "set_fact" {
		return
	}
	k := p.CompileTask(t, c.chain)
	if named := func(g plan.Arg) bool { return strings.Contains(g.Key, "{{") }; !p.WholeOf(t, k.Action).IsZero() || slices.ContainsFunc(k.Args, named) {
		p.promiseNames(s, c, vars.AnyName)
	}
	for _, g := range k.Args {
		c.form.setFact(&p.stepPlanner, &vars.Binding{
			Name: g.Name, From: t.Action, Origin: origin(g.Value.Pos(), c.chain), How: vars.Assigned, Steps: []int{s.Index}, By: t,
		}, s, s.Task, c)
	}
}

// saysNo reports whether the conditions of a task are known to be false without an item.
func (p *playsState) saysNo(c *taskContext) bool {
	v, ok := p.quietly(c, c.when)
	return ok && v.Known && !v.Holds
}
