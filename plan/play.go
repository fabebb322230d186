package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/inventory"
	"moon/plan/playbook"
)

// playing is a play while it is planned.
type playing struct {
	src      *playbook.Play
	scope    int
	scene    *scene // what all of its places have in common
	serial   int    // the batch that is planned, from 0
	over     bool   // meta: end_play
	force    bool   // handlers run on failed hosts too
	anyFatal bool
	maxFail  int // percentage of a batch that may fail; -1: any

	handlers []*handler
	notified map[*machine]map[*handler][]int
	flushed  map[*machine]map[*handler]flushed
	applied  map[string]bool // roles that have been, with what they were given
	base     map[*machine]*scopeContext
}

// around is what an import_playbook gives the plays of a file.
type around struct {
	file  *playbook.File
	dir   string
	chain []string
	scope int
	when  []condition
	tags  []string
	vars  *layer
}

// beginPlays makes the planner one of plays.
func (p *planner) beginPlays(pb *playbook.Playbook) {
	p.lang, p.machines, p.asking, p.past = eval.Jinja, map[string]*machine{}, new(sync.Mutex), &[]pastInventory{}
	p.layers, p.fileLayers, p.taskLayers, p.paramLayers = map[layerKey]*layer{}, map[fileKey]*layer{}, map[taskKey]*layer{}, map[taskKey]*layer{}
	p.taskFiles, p.roles, p.scenes, p.roleParams = map[string]tasksOf{}, map[string]*roleFiles{}, map[sceneKey]*scene{}, map[taskKey]*layer{}
	p.factTasks, p.warned = map[*playbook.Play]*playbook.Task{}, map[string]bool{}
	p.deciders, p.applies, p.empty = map[*playbook.Task]*playbook.Task{}, map[*playbook.Task]*playbook.Task{}, map[*playbook.Task]*playbook.Task{}
	p.plan.Plays, p.here = true, p.names
	p.disk.thorough = true
	p.plan.made.machines = p.machines
	p.engine.Python, p.engine.World = true, p.world()
	p.names.root = p.lazyLayer(pb.Vars.Entries(), nil, "vars", nil)
}

// readInventory reads the hosts. Without a source there is this machine.
func (p *fleet) readInventory() {
	var sources []string
	for _, source := range p.o.Inventory {
		if !inventory.IsList(source) {
			source = p.resolve(source, p.o.Dir)
		}
		sources = append(sources, source)
	}
	p.inventory = inventory.Load(sources, p.plan.Root, inventory.Files{
		Read: p.read, List: p.disk.list, Kind: p.disk.kind, Run: p.runInventory,
	}, &p.ds)
	p.besides = []string{p.plan.Root}
}

// beside is the number of the directory of a playbook: the plays of one that is imported have the group_vars and host_vars that lie
// beside it. All hosts get their variables at once, because a run asks for those of any host, from several steps.
func (p *fleet) beside(dir string) int {
	if i := slices.Index(p.besides, dir); i >= 0 {
		return i
	}
	p.inventory.Beside(dir)
	p.besides = append(p.besides, dir)
	for _, m := range p.machines {
		p.settle(m)
	}
	return len(p.besides) - 1
}

// runInventory is what an executable inventory says. It is kept with the plan, as a file would be.
func (p *library) runInventory(path string, args ...string) ([]byte, error) {
	p.programs = true
	key := path + " " + strings.Join(args, " ")
	f, ok := p.disk.files[key]
	if !ok {
		if p.disk.closed || p.o.RunInventory == nil {
			return nil, notThere(path)
		}
		text, err := p.o.RunInventory(path, args...)
		if err != nil {
			return nil, err
		}
		f = &fileSeen{text: text, digest: digestOf(text), program: path, args: args}
		p.disk.files[key] = f
	}
	p.plan.Inputs = append(p.plan.Inputs, Input{p.shown(path) + " " + strings.Join(args, " "), f.digest})
	return f.text, nil
}

// plays plans the plays of a file.
func (p *planner) plays(list []*playbook.Play, in around) {
	for _, pl := range list {
		if p.full {
			return
		}
		if !pl.Import.IsZero() {
			p.importPlaybook(pl, in)
			continue
		}
		p.play(pl, in)
	}
}

// importPlaybook plans the plays of another file.
func (p *planner) importPlaybook(pl *playbook.Play, in around) {
	c := p.nowhere(in)
	r := p.renderer(p.env(c, nil), in.chain)
	name := r.text(pl.Import)
	switch {
	case r.failed:
		return
	case len(r.missing) > 0:
		p.tooLate(pl.Import, in.chain, "name the file", "which playbook to import", r.missing)
		return
	}
	target := p.disk.real(p.resolve(name, in.dir))
	t := &playbook.Task{Args: pl.Import, Pos: pl.Pos}
	if p.circular(target, t, c) {
		return
	}
	f, err := p.read(target)
	if err != nil {
		p.errorf(pl.Import.Pos(), 0, in.chain, p.similar(target), "import_playbook: %s", p.fileError(err))
		return
	}
	list := playbook.ParsePlays(f, p.actions(), &p.ds)
	inside := around{file: f, when: append(slices.Clip(in.when), p.conditions(pl.When, in.chain)...), tags: p.tagsOf(&playbook.Task{Tags: pl.Tags}, c)}
	inside.vars = p.lazyLayer(pl.Vars.Entries(), in.vars, "import_playbook vars", in.chain)
	label := f.Name
	scope := Scope{Kind: ScopeInclude, Parent: in.scope, Name: label, Origin: origin(pl.Pos, in.chain), When: whenText(inside.when)}
	if !pl.Name.IsZero() {
		scope.Name = nameLine(pl.Name, pl.Name.Text())
	}
	leave := p.enter(c, scope, label, f, including{path: target}, pl.Pos)
	inside.scope, inside.chain, inside.dir = c.scope, c.chain, c.dir
	p.plays(list, inside)
	leave()
}

// nowhere is a context that belongs to no host: for what must be known to choose the hosts.
func (p *fleet) nowhere(in around) *scopeContext {
	m := p.machine("localhost")
	p.names = m.names
	sc := &scene{inventory: p.inventory, grouped: &p.grouped, machines: p.knownMachine, past: p.past, call: &p.o, root: p.plan.Root, dir: in.dir, beside: p.beside(in.dir), vars: in.vars}
	c := &scopeContext{scope: in.scope, file: in.file, dir: in.dir, chain: in.chain, tags: in.tags, when: in.when}
	c.on, c.scene = m, sc
	return c
}

// play plans one play: its hosts, who they are, and what they do in which order.
func (p *planner) play(pl *playbook.Play, in around) {
	if pl.Hosts.IsZero() {
		return // the parser has said so
	}
	c := p.nowhere(in)
	c.pos = pl.Pos
	c.scene.vars = p.lazyLayer(pl.Vars.Entries(), in.vars, "play vars", in.chain)
	p.prompts(pl, c)
	r := p.renderer(p.env(c, nil), in.chain)
	r.lenient = true
	name := nameLine(pl.Name, r.text(pl.Name))
	r.lenient = false
	pattern, ok := p.pattern(pl, r)
	if !ok {
		return
	}
	listed, ok := p.choose(pl, pattern, in)
	if !ok {
		return
	}
	hosts, ok := p.ordered(pl, listed, in)
	if !ok {
		return
	}
	if name == "" {
		name = pattern
	}
	tags := p.tagsOf(&playbook.Task{Tags: pl.Tags}, c)
	play := &playing{src: pl, notified: map[*machine]map[*handler][]int{}, flushed: map[*machine]map[*handler]flushed{}, applied: map[string]bool{}, base: map[*machine]*scopeContext{}, maxFail: -1}
	play.scope = p.open(Scope{Kind: ScopePlay, Parent: in.scope, Name: name, Origin: origin(pl.Pos, in.chain), Hosts: len(hosts), Play: &PlayHead{pattern, hostNames(hosts), tags}}, name)
	play.scene = c.scene
	play.scene.play, play.scene.hosts = name, hostNames(listed)
	p.policy(play, r)
	p.preload(play, c)
	machines := make([]*machine, len(hosts))
	for i, h := range hosts {
		machines[i] = p.machine(h.Name)
		machines[i].left = false
		machines[i].gates = nil
	}
	batches := p.batches(pl, machines, r)
	for i, batch := range batches {
		if play.over {
			break
		}
		play.serial = i
		clear(play.notified)
		clear(play.flushed)
		scope := play.scope
		if len(batch) < len(machines) {
			label := fmt.Sprintf("batch %d", i+1)
			scope = p.open(Scope{Kind: ScopeBatch, Parent: play.scope, Name: fmt.Sprintf("%s of %d", label, len(batches)), Origin: origin(pl.Pos, in.chain), Hosts: len(batch)}, label)
		}
		p.batch(play, batch, scope, tags, in)
		if scope != play.scope {
			p.close(scope)
		}
	}
	p.close(play.scope)
}

// pattern is the text that chooses the hosts.
func (p *evaluator) pattern(pl *playbook.Play, r *renderer) (string, bool) {
	var parts []string
	values := []playbook.Value{pl.Hosts}
	if pl.Hosts.Kind() == playbook.List {
		values = pl.Hosts.Items()
	}
	for _, v := range values {
		got := eval.Plain(r.value(v))
		if list, ok := got.([]any); ok {
			for _, one := range list {
				parts = append(parts, eval.Text(one))
			}
			continue
		}
		if got != nil {
			parts = append(parts, eval.Text(got))
		}
	}
	if len(r.missing) > 0 {
		p.tooLate(pl.Hosts, r.chain, "give the hosts with -e, or name their group", "which hosts this play is for", r.missing)
	}
	return strings.Join(parts, ","), !r.failed && len(r.missing) == 0
}

// choose gives the hosts of a play in their order. No host at all is a warning.
func (p *fleet) choose(pl *playbook.Play, pattern string, in around) ([]*inventory.Host, bool) {
	at := pl.Hosts.Pos()
	hosts, err := p.inventory.Match(pattern)
	if err != nil {
		p.report(diag.Diagnostic{Severity: diag.Warning, Pos: at, Chain: in.chain, Message: err.Error(), Hint: p.inventoryHint()})
	}
	if len(hosts) == 0 {
		p.unmatched = append(p.unmatched, unmatched{pl, in})
	}
	if p.o.Limit != "" && len(hosts) > 0 {
		limited, err := p.inventory.Limit(hosts, p.o.Limit, func(file string) ([]byte, error) {
			f, err := p.read(p.resolve(file, p.o.Dir))
			if err != nil {
				return nil, err
			}
			return f.Text, nil
		})
		if err != nil {
			p.errorf(diag.Pos{File: "--limit " + p.o.Limit}, 0, nil, "", "%s", err)
			return nil, false
		}
		hosts = limited
	}
	if len(hosts) == 0 {
		if err == nil {
			p.report(diag.Diagnostic{Severity: diag.Warning, Pos: at, Chain: in.chain, Message: "no hosts match `" + pattern + "`: this play does nothing", Hint: p.inventoryHint()})
		}
		label := pattern
		if !pl.Name.IsZero() {
			label = nameLine(pl.Name, pl.Name.Text())
		}
		p.close(p.open(Scope{Kind: ScopePlay, Parent: in.scope, Name: label, Origin: origin(pl.Pos, in.chain), Skipped: "no hosts matched", Play: &PlayHead{Pattern: pattern}}, label))
		return nil, false
	}
	return hosts, true
}

// ordered are the hosts of a play as its `order` has them. The lists that its tasks see stay in the order of the inventory.
func (p *playsState) ordered(pl *playbook.Play, hosts []*inventory.Host, in around) ([]*inventory.Host, bool) {
	switch order := pl.Order.Text(); order {
	case "", "inventory":
	case "sorted", "reverse_sorted":
		hosts = slices.Clone(hosts)
		slices.SortFunc(hosts, func(a, b *inventory.Host) int { return strings.Compare(a.Name, b.Name) })
		if order == "reverse_sorted" {
			slices.Reverse(hosts)
		}
	case "reverse_inventory":
		hosts = slices.Clone(hosts)
		slices.Reverse(hosts)
	default:
		p.errorf(pl.Order.Pos(), utf8.RuneCountInString(order), in.chain, "inventory, reverse_inventory, sorted or reverse_sorted", "`order: %s` is not supported: a plan has one order", order)
	}
	return hosts, true
}

func (p *library) inventoryHint() string {
	if len(p.o.Inventory) == 0 {
		return "give an inventory with -i; without one there is only localhost"
	}
	return ""
}

// policy reads what decides about failures.
func (p *playsState) policy(play *playing, r *renderer) {
	pl := play.src
	play.anyFatal = p.flag(pl.AnyFatal, "any_errors_fatal", r, false)
	play.force = p.flag(pl.Force, "force_handlers", r, p.o.ForceHandlers)
	p.fixed(pl.MaxFail, "max_fail_percentage", "a number from 0 to 100", r, func(v any) bool {
		n, ok := spec.ParseInt(strings.TrimSuffix(eval.Text(v), "%"))
		play.maxFail = n
		return ok && n >= 0
	})
	s := &p.plan.Scopes[play.scope]
	s.AnyFatal, s.MaxFail = play.anyFatal, play.maxFail
	s.Strategy = "linear"
	p.fixed(pl.Strategy, "strategy", "linear, free or graph", r, func(v any) bool {
		s.Strategy = strings.TrimPrefix(eval.Text(v), "ansible.builtin.")
		return slices.Contains([]string{"linear", "free", "host_pinned", "graph"}, s.Strategy)
	})
	if s.Strategy == "host_pinned" {
		s.Strategy = "free"
	}
}

// batches are the hosts that go through the play together, one batch after the other.
func (p *playsState) batches(pl *playbook.Play, all []*machine, r *renderer) [][]*machine {
	if pl.Serial.IsZero() {
		return [][]*machine{all}
	}
	var sizes []int
	values := []playbook.Value{pl.Serial}
	if pl.Serial.Kind() == playbook.List {
		values = pl.Serial.Items()
	}
	for _, v := range values {
		p.fixed(v, "serial", "a number of hosts, or a percentage of them", r, func(got any) bool {
			text := eval.Text(got)
			if percent, ok := strings.CutSuffix(text, "%"); ok {
				n, ok := spec.ParseInt(percent)
				sizes = append(sizes, max(n*len(all)/100, 1))
				return ok && n >= 0
			}
			n, ok := spec.ParseInt(text)
			if n <= 0 {
				n = len(all)
			}
			sizes = append(sizes, n)
			return ok
		})
	}
	var list [][]*machine
	for i := 0; len(all) > 0 && len(sizes) > 0; i++ {
		n := min(sizes[min(i, len(sizes)-1)], len(all))
		list = append(list, all[:n])
		all = all[n:]
	}
	if len(list) == 0 {
		return [][]*machine{all}
	}
	return list
}

// batch plans what some hosts of a play do.
func (p *planner) batch(play *playing, hosts []*machine, scope int, tags []string, in around) {
	pl := play.src
	sc := *play.scene
	sc.batch = nil
	for _, m := range hosts {
		sc.batch = append(sc.batch, m.name)
	}
	cs := make([]*scopeContext, len(hosts))
	for i, m := range hosts {
		c := &scopeContext{
			scope: scope, file: in.file, dir: in.dir, chain: in.chain, tags: tags, when: in.when,
			env: pl.Env, become: become{pl.Become, pl.BecomeUser, pl.BecomeHow},
		}
		c.pos, c.on, c.play, c.scene = pl.Pos, m, play, &sc
		c.link = link{}.with(pl.Connection, pl.RemoteUser, pl.Port)
		c.inherit = inherit{noLog: pl.NoLog, checkMode: pl.CheckMode, diff: pl.Diff, timeout: pl.Timeout, unreachable: pl.Unreachable, runOnce: pl.RunOnce, anyFatal: pl.AnyFatal}
		if !pl.Ignore.IsZero() {
			c.ignore = p.conditions([]playbook.Value{pl.Ignore}, in.chain)
		}
		cs[i] = c
	}
	p.elsewhere(cs)
	if r := p.renderer(p.env(p.nowhere(in), nil), in.chain); p.flag(pl.Facts, "gather_facts", r, true) {
		p.showAgain(cs)
		p.gather(cs)
		p.each(p.always(cs), p.factsTask(pl))
	}
	p.varsFiles(play, cs)
	for _, c := range cs {
		play.base[c.on] = c
	}
	section := func(name string, at []*playbook.Task) {
		if len(at) == 0 {
			return
		}
		scope := p.open(Scope{Kind: ScopeSection, Parent: scope, Name: name, Origin: origin(at[0].Pos, in.chain)}, name)
		p.together(within(cs, scope), at)
		p.close(scope)
	}
	section("pre_tasks", pl.PreTasks)
	p.flush(cs)
	for _, t := range pl.Roles {
		p.each(cs, t)
	}
	p.together(cs, pl.Tasks)
	p.flush(cs)
	section("post_tasks", pl.PostTasks)
	p.flush(cs)
}

// always are the contexts for what no tag leaves out.
func (p *playsState) always(cs []*scopeContext) []*scopeContext {
	list := make([]*scopeContext, len(cs))
	for i, c := range cs {
		one := *c
		one.tags = append(slices.Clip(c.tags), "always")
		one.env = nil
		list[i] = &one
	}
	return list
}

// factsTask is the task that gathers facts, the same for all batches.
func (p *playsState) factsTask(pl *playbook.Play) *playbook.Task {
	t, ok := p.factTasks[pl]
	if !ok {
		t = gatheringFacts(pl)
		p.factTasks[pl] = t
	}
	return t
}

// within are the contexts in a scope of their own.
func within(cs []*scopeContext, scope int) []*scopeContext {
	list := make([]*scopeContext, len(cs))
	for i, c := range cs {
		one := *c
		one.scope = scope
		list[i] = &one
	}
	return list
}

// varsFiles reads the files of variables of a play, which may be others for each host.
func (p *playsState) varsFiles(play *playing, cs []*scopeContext) {
	if len(play.src.VarsFiles) == 0 {
		return
	}
	scenes := map[*layer]*scene{}
	for _, c := range cs {
		p.names = c.on.names
		vars := c.scene.vars
		for _, candidates := range play.src.VarsFiles {
			vars = p.firstVarsFile(c, candidates, vars)
		}
		sc, ok := scenes[vars]
		if !ok {
			with := *c.scene
			with.vars = vars
			sc = &with
			scenes[vars] = sc
		}
		c.scene = sc
	}
}

// firstVarsFile is the first file of some that exists, above other variables.
func (p *playsState) firstVarsFile(c *scopeContext, candidates []playbook.Value, below *layer) *layer {
	if len(candidates) == 0 {
		return below
	}
	with := *c
	sc := *c.scene
	sc.vars = below
	with.scene = &sc
	var tried []string
	for _, v := range candidates {
		r := p.renderer(p.env(&with, nil), c.chain)
		name := r.text(v)
		switch {
		case r.failed:
			return below
		case len(r.missing) > 0:
			p.tooLate(v, c.chain, "gather the facts before the plan is made (without --no-connect), or read the file with include_vars", "which file of variables to read", r.missing)
			return below
		}
		path := p.resolve(name, c.dir)
		for _, path := range []string{path, filepath.Join(c.dir, "vars", name)} {
			f, err := p.read(path)
			if err == nil {
				return p.fileLayer(f, below)
			}
			if !errors.Is(err, fs.ErrNotExist) {
				p.errorf(v.Pos(), utf8.RuneCountInString(FirstLine(v.Text())), c.chain, p.wayTo(path, err), "vars_files: %s", p.fileError(err))
				return below
			}
		}
		tried = append(tried, p.shown(path))
	}
	v := candidates[0]
	if len(tried) == 1 {
		path := p.resolve(tried[0], p.plan.Root)
		p.errorf(v.Pos(), utf8.RuneCountInString(FirstLine(v.Text())), c.chain, p.similar(path), "vars_files: no such file: %s", tried[0])
	} else {
		p.errorf(v.Pos(), utf8.RuneCountInString(FirstLine(v.Text())), c.chain, "", "vars_files: none of these files exists: %s", strings.Join(tried, ", "))
	}
	return below
}

// fileLayer are the variables of a file upon others. Hosts that read the same share it.
func (p *variables) fileLayer(f *playbook.File, below *layer) *layer {
	key := fileKey{f.Path, below}
	if l, ok := p.fileLayers[key]; ok {
		return l
	}
	m, ok := p.parseVars(f)
	if !ok {
		return below
	}
	l := p.lazyLayer(m.Entries(), below, f.Name, nil)
	p.fileLayers[key] = l
	return l
}

type fileKey struct {
	path  string
	below *layer
}

// Answers are what was answered to the questions of the playbook (vars_prompt), by name. A plan that is made again with them in
// Options.Answers asks no more.
func (p *Plan) Answers() map[string]string { return p.made.o.Answers }

// prompts asks for the variables that a play wants to be typed, unless the command line gives them.
func (p *playsState) prompts(pl *playbook.Play, c *scopeContext) {
	var ask []Prompt
	for _, q := range pl.Prompts {
		given := false
		for _, l := range []*layer{p.names.extra, p.names.files} {
			given = given || l != nil && l.find(q.Name) != nil
		}
		if given {
			continue
		}
		r := p.renderer(p.env(c, nil), c.chain)
		for _, v := range []playbook.Value{q.Encrypt, q.Salt, q.SaltSize} {
			if !v.IsZero() && v.Kind() != playbook.Null {
				p.errorf(v.Pos(), 0, c.chain, "ask for the text, and use `| password_hash('sha512')` where it is needed", "vars_prompt: `encrypt` is not supported yet")
			}
		}
		ask = append(ask, Prompt{
			Name: q.Name, Text: r.text(q.Text), Default: r.text(q.Default), Private: p.flag(q.Private, "private", r, true),
			Confirm: p.flag(q.Confirm, "confirm", r, false),
		})
	}
	if len(ask) == 0 {
		return
	}
	answers := map[string]string{}
	var open []Prompt
	for _, q := range ask {
		if v, ok := p.o.Answers[q.Name]; ok {
			answers[q.Name] = v
		} else {
			open = append(open, q)
		}
	}
	if len(open) > 0 {
		if p.o.Ask == nil {
			for _, q := range open {
				if q.Default == "" {
					p.errorf(pl.Pos, 0, c.chain, "give it with -e "+q.Name+"=…", "`%s` is asked for (vars_prompt), and there is nobody to ask", q.Name)
				}
				answers[q.Name] = q.Default
			}
		} else {
			got, err := p.o.Ask(open)
			if err != nil {
				p.errorf(pl.Pos, 0, c.chain, "", "vars_prompt: %s", err)
				return
			}
			for _, q := range open {
				answers[q.Name] = got[q.Name]
			}
		}
	}
	l := &layer{parent: c.scene.vars}
	for _, q := range ask {
		p.o.Answers[q.Name] = answers[q.Name]
		p.plan.made.prompts = append(p.plan.made.prompts, q)
		var v any = answers[q.Name]
		if q.Private {
			v = eval.Mark(p.secrets, v, eval.Every)
		}
		l.add(binding{name: q.Name, value: v, from: "vars_prompt", origin: origin(pl.Pos, c.chain)})
	}
	c.scene.vars = l
}
