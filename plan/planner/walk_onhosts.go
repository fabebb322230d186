package planner

import (
	"cmp"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/loops"
	"moon/plan/planner/relay"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// hostsOfSteps are the hosts that a pattern next to steps names. No host at all is a warning, as in plays.
func (p *fleet) hostsOfSteps(c *taskContext, written, atOnce playbook.Value, what string) (over *hostRounds, ok bool) {
	inv := p.hosts()
	pattern, ok := p.ReadPattern(written, what, p.Renderer(p.env(c, nil), c.chain))
	if !ok {
		return nil, false
	}
	hosts, err := inv.Match(pattern)
	if err != nil {
		p.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: written.Pos(), Chain: c.chain, Message: err.Error(), Hint: p.o.InventoryHint(),
		})
	}
	if hosts, ok = p.limited(hosts); !ok {
		return nil, false
	}
	if len(hosts) == 0 && err == nil {
		p.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: written.Pos(), Chain: c.chain,
			Message: "no hosts match `" + pattern + "`: " + what + " does nothing", Hint: p.o.InventoryHint(),
		})
	}
	over = &hostRounds{pattern: pattern, atOnce: p.ReadParallel(atOnce, p.rendererAt(c))}
	for _, h := range hosts {
		over.hosts = append(over.hosts, p.machine(h.Name))
	}
	return over, true
}

// planOnHosts plans a step, or a group of steps, for each of its hosts: a loop whose rounds are done on the hosts, with their variables.
func (p *planner) planOnHosts(c *taskContext, t *playbook.Task) {
	over := c.over
	if !t.Hosts.IsZero() {
		if c.scene.Host != nil || c.play != nil {
			p.Errorf(t.Hosts.Pos(), 0, c.chain, "write `delegate_to:` to have another host do it",
				"`hosts` inside of `hosts`: this runs on %s already", c.on.Name)
			return
		}
		var ok bool
		if over, ok = p.hostsOfSteps(c, t.Hosts, t.Parallel, "this step"); !ok {
			return
		}
		if t.Kind != playbook.Action { // next to `hosts` it is about those, and not about the steps inside
			t = t.Copy()
			t.Parallel = playbook.Value{}
		}
	}
	if t.Kind == playbook.Preset && t.Register != "" {
		p.Errorf(t.RegisterPos(), len(t.Register), c.chain, "put the preset into a block with `hosts:`, where each host has its own",
			"`register` on a preset with `hosts`: one name for the exports of all hosts")
		return
	}
	if !p.rounds(len(over.hosts), 1, t, c) {
		return
	}
	name, label := loops.Name(t)
	head := plan.Scope{
		Kind: plan.ScopeLoop, Parent: c.scope, Name: name, Origin: origin(t.Pos, c.chain), When: plan.WhenText(c.when),
		Items: len(over.hosts), Loop: "hosts " + over.pattern, Parallel: over.atOnce,
	}
	if len(over.hosts) == 0 {
		head.Skipped = plan.NoHosts
	}
	scope, first, outer := p.OpenScope(head, label), len(p.plan.Steps), p.perHost
	p.perHost = p.roundsOnHosts(c, t, over, scope)
	for i, round := range p.perHost {
		if p.Full {
			break
		}
		p.Host = round.on.Name // the same mistake on all of them is one
		round.group = len(p.plan.Steps)
		if over.of != nil {
			over.of[i].group = round.group
		}
		p.planHostRound(round, t)
		if t.Kind == playbook.Action {
			p.notify(round)
		}
	}
	p.perHost, p.Host = outer, ""
	p.CloseScope(scope)
	p.collectRegister(t, first, c)
	for _, m := range over.hosts {
		relay.Own(m.Machine, t)
	}
}

// roundsOnHosts are the contexts of the rounds over some hosts.
func (p *fleet) roundsOnHosts(c *taskContext, t *playbook.Task, over *hostRounds, scope int) []*taskContext {
	rounds := make([]*taskContext, len(over.hosts))
	for i, m := range over.hosts {
		round := *c
		round.scope, round.depth, round.over, round.on, round.pos = scope, c.depth+1, nil, m, t.Pos
		round.scene = p.sceneOfSteps(sceneOf{dir: c.dir, pattern: over.pattern, host: m.Machine})
		if t.DelegateTo.IsZero() {
			round.delegate = playbook.Value{} // that of what is around: this is nearer
		}
		const name = "inventory_hostname"
		round.loop = &vars.Layer{Parent: c.loop, Binds: []vars.Binding{
			{Name: name, Value: m.Name, From: "hosts", Origin: origin(t.Pos, c.chain)},
		}}
		round.item = &iteration{label: m.Name, context: plan.LoopContext{
			Type: "hosts", Item: m.Name, Index: i, First: i == 0, Last: i == len(over.hosts)-1, Depth: c.depth,
			Expression: over.pattern, Var: name, Label: m.Name,
		}}
		round.inLoop = &round.item.context
		if over.of != nil {
			round.notifiers, round.flushes, round.gates = over.of[i].notifiers, over.of[i].flushes, over.of[i].gates
		}
		rounds[i] = &round
	}
	names, host := p.names, p.Host
	// The facts of this machine must not stand for those of another, even before that is asked.
	p.gatherDelegates(rounds)
	p.names, p.Host = names, host
	return rounds
}

// planHostRound plans what is done on one host. A loop of its own is inside of the round.
func (p *planner) planHostRound(c *taskContext, t *playbook.Task) {
	if t.Loop.Kind == playbook.NoLoop {
		p.planRound(c, t)
		return
	}
	inside := *c
	inside.scope = p.OpenScope(plan.Scope{
		Kind: plan.ScopeBlock, Parent: c.scope, Name: p.groupName(c, t, t.ActionKey), Origin: origin(t.Pos, c.chain), Item: c.item.label,
	}, t.ActionKey)
	inside.item = nil
	p.planLoop(&inside, t)
	p.CloseScope(inside.scope)
}

// produce makes known what a step sets. What is set in a round on a host belongs to that host.
func (p *evaluator) produce(b *vars.Binding, c *taskContext) {
	if c.scene != nil && c.scene.Host != nil {
		c.on.Names.Produced.Add(b)
		return
	}
	p.names.Produced.Add(b)
}

// gatherOnDemand asks the hosts of the rounds that are planned for their facts, when one of them is used first.
func (p *fleet) gatherOnDemand(*vars.Machine) {
	if p.facts.Done {
		return
	}
	names, host, said := p.names, p.Host, len(p.Found)
	p.gather(p.perHost)
	p.names, p.Host, p.Found = names, host, p.Found[:said] // what uses the facts says why they are not known
	for _, c := range p.perHost {
		m := c.on
		m.Since = 0 // also for what asked for them
		if m.State != vars.FactsPromised || m.Gatherer >= 0 {
			continue
		}
		m.InPlace = value.Unknown{}
		if !p.Unasked && p.o.Unseen == nil {
			why := m.Why
			if why == "" {
				why = "no host is asked while this plan is made"
			}
			m.InPlace = value.Fault{Err: &value.Error{
				Kind: value.Failure, Message: plan.FirstLine(why), Offset: -1,
				Hint: "make sure that the host can be reached, exclude it with --limit, or take the value from a variable of the inventory",
			}, From: "a fact of " + m.Name}
		}
	}
}

// sceneOfSteps is the scene of the files of steps in a directory. They share it, so that they can share frames.
func (p *fleet) sceneOfSteps(of sceneOf) *vars.Scene {
	sc, ok := p.ofSteps[of]
	if ok {
		return sc
	}
	sc = &vars.Scene{Steps: true, Root: p.plan.Root, Dir: of.dir}
	if of.host != nil {
		sc.Inventory, sc.Grouped, sc.Machines, sc.Past, sc.Call = p.inventory, &p.grouped, p.knownMachine, p.past, p.o.Invocation()
		sc.Host, sc.Gather, sc.Play = of.host, p.gatherOnDemand, of.pattern
		hosts, _ := p.inventory.Match(of.pattern)
		sc.Hosts = vars.HostNames(hosts)
		sc.Batch = sc.Hosts
	}
	p.ofSteps[of] = sc
	return sc
}

// sceneIn is the scene of steps in another directory.
func (p *fleet) sceneIn(sc *vars.Scene, dir string) *vars.Scene {
	return p.sceneOfSteps(sceneOf{dir: dir, pattern: sc.Play, host: sc.Host})
}

// notifiedOn are contexts with those of the hosts on which a handler of steps was notified: at the end, and between steps that are for no
// host.
func (p *fleet) notifiedOn(cs []*taskContext, h *handler) []*taskContext {
	if h.around == nil || len(cs) == 0 || cs[0].scene.Host != nil || p.inventory == nil {
		return cs
	}
	var others []*plannedHost
	for at := range cs[0].handlers.notified {
		if at.of == h && at.on != cs[0].on {
			others = append(others, at.on)
		}
	}
	// In the order of the inventory; what it does not have, as this machine may be, comes first.
	slices.SortFunc(others, func(a, b *plannedHost) int {
		return cmp.Or(slices.Index(p.inventory.Hosts, a.Host)-slices.Index(p.inventory.Hosts, b.Host), strings.Compare(a.Name, b.Name))
	})
	all := slices.Clone(cs)
	for _, m := range others {
		one := *cs[0]
		one.on, one.scene = m, p.sceneOfSteps(sceneOf{dir: one.dir, pattern: m.Name, host: m.Machine})
		all = append(all, &one)
	}
	return all
}

// planHandler plans a handler of steps where it was notified: here, and on hosts.
func (p *planner) planHandler(list []*taskContext, h *handler) {
	var over *hostRounds
	for _, in := range list {
		if in.scene.Host == nil || h.around.scene.Host != nil {
			in.group = len(p.plan.Steps)
			p.planTask(in, h.task)
			continue
		}
		if over == nil {
			over = &hostRounds{pattern: in.on.Name}
		} else {
			over.pattern += "," + in.on.Name
		}
		over.hosts, over.of = append(over.hosts, in.on), append(over.of, in)
	}
	if over == nil {
		return
	}
	outer := *h.around
	outer.scope, outer.handler, outer.pos, outer.over = over.of[0].scope, true, h.task.Pos, over
	p.planTask(&outer, h.task)
}
