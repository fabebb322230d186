package planner

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/inventory"
	"moon/plan/playbook"
	"moon/plan/reread"
	"moon/plan/vars"
)

// inventoryVars are the variables that the groups of a machine have now, and above them what add_host has given it.
func (p *fleet) inventoryVars(m *plannedHost) (layers []*vars.Layer) {
	if m.Host == nil {
		return nil
	}
	for _, dir := range p.besides {
		chain := p.inventoryLayers(m.Host, dir)
		for _, l := range m.added {
			chain = &vars.Layer{Parent: chain, Binds: l.Binds, Last: l.Last}
		}
		layers = append(layers, chain)
	}
	return layers
}

// machine is the host of a name; it makes one that no inventory has.
func (p *fleet) machine(name string) *plannedHost {
	if m, ok := p.machines[name]; ok {
		return m
	}
	m := &plannedHost{Machine: p.connector.Machine(name, p.inventory.Host(name), p.facts)}
	m.Names = &vars.Globals{
		FactsMap: p.here.FactsMap, Costly: p.here.Costly, Started: p.here.Started, Files: p.names.Files, Extra: p.names.Extra,
		Root: p.names.Root, Of: m.Machine,
	}
	// All hosts share the planner's two clocks: the moments of a frame must mean the same in each of their histories.
	m.Names.Document.Now, m.Names.ShownVars.Now = p.names.Document.Now, p.names.Document.Now
	m.Names.ShownDefaults.Now = p.names.Document.Now
	m.Names.Produced.Now, m.Handed.Now = p.names.Produced.Now, p.names.Produced.Now
	m.Inventory = p.inventoryVars(m)
	p.machines[name], p.plan.Basis.Machines[name] = m, m.Machine
	return m
}

// inventoryLayers are the variables that an inventory has for a host. Those of groups are shared.
func (p *fleet) inventoryLayers(h *inventory.Host, beside string) *vars.Layer {
	var chain *vars.Layer
	for _, l := range p.inventory.Layers(h, beside) {
		// The same group may lie above other groups for another host, so what is below is part of the key.
		shared, ok := p.layers[layerKey{of: l, below: chain}]
		if !ok {
			shared = &vars.Layer{Parent: chain}
			for _, v := range l.Vars {
				p.LearnNamed(v, l.From)
				shared.Add(p.bindings.Bind(v.Name, v.Value, l.From, origin(v.Value.Pos(), nil)))
			}
			p.layers[layerKey{of: l, below: chain}] = shared
		}
		chain = shared
	}
	return chain
}

// knownMachine is a host that exists: of the inventory, or one that a play or a delegation has named. In a run several steps may ask
// at once for one that no play is for.
func (p *fleet) knownMachine(name string) *vars.Machine {
	p.asking.Lock()
	defer p.asking.Unlock()
	if m, ok := p.machines[name]; ok {
		return m.Machine
	}
	if p.inventory.Host(name) == nil && !inventory.IsLocalhost(name) {
		return nil
	}
	return p.machine(name).Machine
}

// rereads are the sources that a meta: refresh_inventory reads again. Where they would say the same that is warned of.
func (p *fleet) rereads(t *playbook.Task, c *taskContext) (*reread.Sources, bool) {
	s := &reread.Sources{Named: p.inventorySources(), Root: p.plan.Root, Shown: p.ShowPath, Decrypt: p.plan.Decrypt}
	if !s.Again() {
		p.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: t.Args.Pos(), Width: utf8.RuneCountInString(t.Args.Text()), Chain: c.chain,
			Message: "there is no file or program to read again: `meta: refresh_inventory` does nothing",
			Hint:    "remove it; add_host adds a host to this run",
		})
		return nil, false
	}
	p.plan.Basis.Rereads = s
	return s, true
}

// readAgain lets the inventory be what its sources said when the run read them again. As with Ansible, a host that they have no more
// leaves the play, and one that they have now is in the next.
func (p *fleet) readAgain(said map[string]any, play *playPlanner) {
	known := map[string]bool{}
	for _, h := range p.inventory.Hosts {
		known[h.Name] = true
	}
	p.changeInventory(func() { p.inventory.Refresh(p.Reread(reread.Disk(said))) })
	for _, m := range p.machines {
		m.Host = p.inventory.Host(m.Name)
		m.Regroup(*p.names.Produced.Now, p.inventoryVars(m))
	}
	for _, h := range p.inventory.Hosts {
		if !known[h.Name] {
			p.machine(h.Name).late = true
		}
	}
	// The pattern may match nothing any more: then the play is over.
	still, _ := p.inventory.Match(p.plan.Scopes[play.scope].Play.Pattern)
	for _, name := range play.scene.Hosts { // also those of later batches
		m := p.machines[name]
		m.left = m.left || !slices.ContainsFunc(still, func(h *inventory.Host) bool { return h.Name == name })
	}
}

// factHost is the host that has what a set_fact sets: that of the play, unless delegate_facts gives it to the one it is delegated to.
func (p *fleet) factHost(s *plan.Step, c *taskContext) *plannedHost {
	if s.Delegate == "" || c.inherit.DelegateFacts.IsZero() ||
		!p.ReadFlag(c.inherit.DelegateFacts, "delegate_facts", p.Renderer(p.env(c, s.Frame.Step), c.chain), false) {
		return c.on
	}
	return p.machine(s.Delegate)
}

// beginHosts makes the planner one that knows hosts.
func (p *fleet) beginHosts() {
	p.machines, p.asking, p.past, p.here = map[string]*plannedHost{}, new(sync.Mutex), &[]vars.PastInventory{}, p.names
	p.layers, p.plan.Basis.Machines = map[layerKey]*vars.Layer{}, map[string]*vars.Machine{}
}

// hosts is the inventory. A playbook of steps reads it when something first asks for a host: most never do.
func (p *fleet) hosts() *inventory.Inventory {
	if p.inventory == nil {
		p.beginHosts()
		p.readInventory()
	}
	return p.inventory
}

// inventorySources are files, directories, programs, and lists of hosts.
func (p *fleet) inventorySources() (sources []string) {
	for _, source := range p.o.Hosts.Inventory {
		sources = append(sources, inventory.Resolve(source, func(path string) string { return p.Resolve(path, p.o.Dir) }, p.disk.There))
	}
	return sources
}

// readInventory reads the hosts. Without a source there is this machine.
func (p *fleet) readInventory() {
	p.inventory = inventory.Load(p.inventorySources(), p.plan.Root, inventory.Files{
		Read: p.Read, List: p.disk.List, Kind: p.disk.Kind, Run: p.RunInventory,
	}, &p.Found)
	p.besides = []string{p.plan.Root}
}

// playbookDirIndex is the number of the directory of a playbook: the plays of one that is imported have the group_vars and host_vars that
// lie beside it. All hosts get their variables at once, because a run asks for those of any host, from several steps.
func (p *fleet) playbookDirIndex(dir string) int {
	if i := slices.Index(p.besides, dir); i >= 0 {
		return i
	}
	p.inventory.Beside(dir)
	p.besides = append(p.besides, dir)
	for _, m := range p.machines {
		m.Inventory = p.inventoryVars(m)
	}
	return len(p.besides) - 1
}

// hostlessContext is a context that belongs to no host: for what must be known to choose the hosts.
func (p *fleet) hostlessContext(in importContext) *taskContext {
	m := p.machine("localhost")
	p.names = m.Names
	sc := &vars.Scene{
		Inventory: p.inventory, Grouped: &p.grouped, Machines: p.knownMachine, Past: p.past, Call: p.o.Invocation(),
		Root: p.plan.Root, Dir: in.dir, Beside: p.playbookDirIndex(in.dir), Vars: in.vars,
	}
	c := &taskContext{scope: in.scope, file: in.file, dir: in.dir, chain: in.chain, tags: in.tags, when: in.when}
	c.form, c.on, c.scene = p.onHosts, m, sc
	return c
}

// patternOf is the pattern of a play, and the steps after which its hosts may be others. A pattern that only those steps give has no
// hosts until then, and is shown as it is written.
func (p *fleet) patternOf(pl *playbook.Play, r *plan.Renderer) (pattern string, awaits []int, ok bool) {
	if len(p.inventory.Pending) > 0 {
		quiet := *r
		quiet.Report = func(diag.Diagnostic) {}
		quiet.Value(pl.Hosts)
		steps := plan.StepsOf(quiet.Missing)
		adds := func(step int) bool { return p.plan.Steps[step].AddsLate() || p.plan.Steps[step].Open() }
		if len(steps) > 0 && !quiet.Failed && p.comes(quiet.Missing) && !slices.ContainsFunc(steps, func(s int) bool { return !adds(s) }) {
			return strings.TrimSpace(pl.Hosts.Text()), steps, true
		}
	}
	pattern, ok = p.ReadPattern(pl.Hosts, "this play", r)
	return pattern, p.inventory.After(*p.names.Produced.Now, p.unended).For(pattern), ok
}

// choose gives the hosts of a play in their order. No host at all is a warning, unless some may come in the run.
func (p *fleet) choose(pl *playbook.Play, head *plan.PlayHead, in importContext) (hosts []*inventory.Host, ok bool) {
	at, pattern := pl.Hosts.Pos(), head.Pattern
	var err error
	if !eval.Templated(pattern) {
		hosts, err = p.inventory.Match(pattern)
	}
	if _, none := errors.AsType[*inventory.NoMatch](err); none && len(head.Awaits) > 0 { // it may name what comes
		err = nil
	}
	if err != nil {
		p.Report(diag.Diagnostic{Severity: diag.Warning, Pos: at, Chain: in.chain, Message: err.Error(), Hint: p.o.InventoryHint()})
	}
	if p.additions.RefuseRemoved(p.inventory, pattern, hosts, at, in.chain) {
		return nil, false
	}
	hosts, moved := p.settled(hosts)
	head.Awaits = append(slices.Clone(head.Awaits), moved...)
	// Noted before --limit: a play that only --limit empties is not checked for mistakes.
	if len(hosts) == 0 && len(moved) == 0 {
		p.unmatched = append(p.unmatched, hostlessPlay{pl, in})
	}
	if hosts, ok = p.limited(hosts); !ok {
		return nil, false
	}
	if len(hosts) == 0 {
		skipped := plan.NoHosts
		switch {
		case len(head.Awaits) > 0:
			skipped = ""
		case err == nil:
			p.Report(diag.Diagnostic{
				Severity: diag.Warning, Pos: at, Chain: in.chain,
				Message: "no hosts match `" + pattern + "`: this play does nothing", Hint: p.o.InventoryHint(),
			})
		}
		// An empty scope keeps the play visible in the plan.
		label := pattern
		if !pl.Name.IsZero() {
			label = plan.NameLine(pl.Name, pl.Name.Text())
		}
		p.CloseScope(p.OpenScope(plan.Scope{
			Kind: plan.ScopePlay, Parent: in.scope, Name: label, Origin: origin(pl.Pos, in.chain),
			Skipped: skipped, Play: head,
		}, label))
		return nil, false
	}
	return hosts, true
}

// limited are those of some hosts that --limit names.
func (p *fleet) limited(hosts []*inventory.Host) (left []*inventory.Host, ok bool) {
	p.plan.Basis.Limited = true
	if p.o.Hosts.Limit == "" || len(hosts) == 0 {
		return hosts, true
	}
	left, err := p.inventory.Limit(hosts, p.o.Hosts.Limit, func(file string) ([]byte, error) {
		f, err := p.Read(p.Resolve(file, p.o.Dir))
		if err != nil {
			return nil, err
		}
		return f.Text, nil
	})
	if err != nil {
		p.Errorf(diag.Pos{File: "--limit " + p.o.Hosts.Limit}, 0, nil, "", "%s", err)
	}
	return left, err == nil
}

// reachOrphans says of hosts whether this run is about them, and whether they can be reached.
func (p *fleet) reachOrphans() func(host string) (concerned, known bool) {
	return func(host string) (bool, bool) {
		if host == "localhost" {
			return true, true
		}
		if !p.hosts().Has(host) {
			return true, false
		}
		limited, ok := p.limited([]*inventory.Host{p.inventory.Host(host)})
		return !ok || len(limited) > 0, true
	}
}

// rounds reports whether there is room for a loop of n items over a task, on some hosts.
func (p *fleet) rounds(n, hosts int, t *playbook.Task, c *taskContext) bool {
	return p.Rounds(n*hosts, t, c.chain) && p.Reached(n, p.CompileTask(t, c.chain), len(p.machines), c.chain)
}

// selectHost makes a host the one that is planned for.
func (p *fleet) selectHost(c *taskContext) {
	p.names, p.Host = c.on.Names, c.on.Name
	p.facts.At = c.pos
}

// once reports whether a task runs on one host for all.
func (p *fleet) once(cs []*taskContext) bool {
	v := cs[0].inherit.RunOnce
	if v.IsZero() || len(cs) < 2 {
		return false
	}
	p.selectHost(cs[0])
	return p.ReadFlag(v, "run_once", p.Renderer(p.env(cs[0], nil), cs[0].chain), false)
}

// connect fills in where a step of a play runs.
func (p *fleet) connect(s *plan.Step, k *plan.Task, c *taskContext, e *plan.Env, r *plan.Renderer) {
	s.Host = c.on.Name
	m, ok := p.delegated(s, c, r)
	if !ok {
		return
	}
	if k.OnController() {
		return // it only is about that host
	}
	s.Conn = p.connector.ConnectionTo(c.place(), p.connector.SyncedWith(k, c.place(), c.on.Machine, m.Machine, c.delegate, e, r), e, r)
	if k.Action != nil && k.Action.Plugin != nil {
		p.connector.PythonOn(c.place(), k, m.Machine, e, r)
	}
	p.connector.BecomeOnHost(s, k, c.place(), c.on.Name, e, r)
}

// delegated is the host that does a step: another one than the one that it is for, if the step is delegated.
func (p *fleet) delegated(s *plan.Step, c *taskContext, r *plan.Renderer) (m *plannedHost, ok bool) {
	if c.delegate.IsZero() {
		return c.on, true
	}
	missing := len(r.Missing)
	name := strings.TrimSpace(r.Text(c.delegate))
	switch {
	case len(r.Missing) > missing:
		p.ReportLate(c.delegate, r.Chain, "delegate to a host that is known before the run", "the host to delegate to",
			r.Missing[missing:])
		// It was reported: as missing of the step it would be one more value to wait for.
		r.Missing = r.Missing[:missing]
		return nil, false
	case name == "" || r.Failed:
		return nil, false
	case name == c.on.Name:
		return c.on, true
	}
	p.hosts()
	s.Delegate = name
	return p.machine(name), true
}

// connectDelegated fills in where a step runs that is delegated in a playbook of steps. There is no other host whose variables could
// say who it becomes, so those of the host that does it count.
func (p *fleet) connectDelegated(s *plan.Step, k *plan.Task, c *taskContext, m *plannedHost, r *plan.Renderer) {
	place, e := c.place(), *r.Env.(*plan.Env)
	fr := *e.Frame
	sc := *fr.Scene
	sc.Inventory, sc.Grouped, sc.Machines, sc.Past, sc.Call = p.inventory, &p.grouped, p.knownMachine, p.past, p.o.Invocation()
	fr.Scene, e.Frame = &sc, &fr
	place.Pos = k.Src.Pos
	there := e.On(m.Machine)
	s.Conn = p.connector.ConnectionTo(place, p.connector.SyncedWith(k, place, m.Machine, m.Machine, playbook.Value{}, there, r), there, r)
	if k.Action != nil && k.Action.Plugin != nil {
		p.connector.PythonOn(place, k, m.Machine, there, r)
	}
	p.connector.BecomeOnHost(s, k, place, m.Name, there, r)
}
