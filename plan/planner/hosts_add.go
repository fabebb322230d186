package planner

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/inventory"
	"moon/plan/planner/additions"
	"moon/plan/playbook"
	"moon/plan/saved"
	"moon/plan/vars"
)

// addLate takes what the run has found that a step adds, or waits for it.
func (p *fleet) addLate(c *taskContext, s *plan.Step, t *playbook.Task, late *additions.Late) {
	for _, u := range s.Unknowns {
		v, ok := plan.ValueOf(s.Task.Args, u.Field)
		if missing := []value.Missing{{Name: u.Name, Steps: u.Steps}}; ok && !p.comes(missing) {
			p.ReportLate(v, c.chain, "add what is known before the run, or have the inventory give it", "what "+t.Action+" adds", missing)
			return
		}
	}
	if len(s.Unknowns) == 0 {
		return // a mistake
	}
	s.Adds, s.Keeps = &plan.Addition{}, true
	of, found := p.o.Opened[p.secrets.Redact(s.Path)]
	if !found {
		coming := additions.PendingOf(s, s.Task.Compiled, p.inventory, c.on.Name)
		late.Wait(s, coming)
		p.promiseAdded(c, s, t, coming.Host)
		return
	}
	late.Found(s)
	s.Adds.Opened = true
	for _, one := range saved.Items(of, p.secrets, true) {
		fields, _ := value.Plain(one).(map[string]any)
		args, wrong := additions.ArgsOf(s.Task.Action, fields)
		if len(wrong) > 0 {
			p.Errorf(t.ActionPos, utf8.RuneCountInString(t.ActionKey), c.chain, wrong[0].Hint, "%s", wrong[0].Message)
			return
		}
		p.addArgs(c, s, t, args)
	}
}

// promiseAdded lets the names wait for an add_host that it gives to a host which there is already, and which has no such variables yet. Of
// group_by it is not known which variables the group has.
func (p *fleet) promiseAdded(c *taskContext, s *plan.Step, t *playbook.Task, host string) {
	m := c.on
	promise := func(name string) {
		m.Names.Produced.Add(&vars.Binding{Name: name, From: t.Action, Origin: s.Origin, How: vars.Promised, Steps: []int{s.Index}, By: t})
	}
	switch {
	case t.Action == "group_by":
		promise(vars.AnyName)
		return
	case !p.inventory.Has(host):
		return
	}
	m = p.machine(host)
	e := p.env(c, nil).On(m.Machine)
	for _, g := range s.Task.Args {
		// How it is reached is not promised: until the host is planned again it is the host that it was.
		if _, has := e.Find(g.Name); !has && !vars.Reaches(g.Name) {
			promise(g.Name)
		}
	}
}

// found reports whether the run has found what a step looks for.
func (p *fleet) found(s *plan.Step) bool {
	_, found := p.o.Opened[p.secrets.Redact(s.Path)]
	return found
}

// addArgs changes the inventory as the arguments of a step say.
func (p *fleet) addArgs(c *taskContext, s *plan.Step, t *playbook.Task, args any) {
	switch args := args.(type) {
	case *spec.AddHostArgs:
		p.addHost(c, s, t, args)
	case *spec.GroupByArgs:
		p.groupHost(c, s, t, args)
	}
}

// awaitAdded lets what is planned from here on know what steps may still add.
func (p *fleet) awaitAdded(late *additions.Late) {
	coming, over := late.Close()
	for _, step := range over {
		if s := &p.plan.Steps[step]; s.AddsLate() {
			s.Adds = nil
		}
	}
	for _, one := range coming {
		*p.names.Produced.Now++
		one.From = *p.names.Produced.Now
		p.inventory.Pending = append(p.inventory.Pending, one)
	}
}

// moveLate lets a host leave the plan where a set_fact says how it is reached, and only the run knows what it says: what comes after is
// planned when that is known. Where it is known only in the run whether the fact is set, what comes after is refused.
func (p *fleet) moveLate(c *taskContext, b *vars.Binding, set *plan.Step) {
	step := set.Index
	s := &p.plan.Steps[step]
	// Facts that were gathered are those of the machine that the host was: they would be taken for those of the other.
	if c.on.State != vars.FactsUnasked {
		return
	}
	if b.Early || !b.Certain || s.Excluded || !vars.Reaches(b.Name) || s.Loop != nil || s.Once || s.MayFail || p.factHost(s, c) != c.on ||
		c.maybe() || c.caught || !p.inOrder(s) {
		return
	}
	if of, found := p.o.Opened[p.secrets.Redact(s.Path)]; found {
		s.Adds, s.Keeps = &plan.Addition{Opened: true}, true
		for _, one := range saved.Items(of, p.secrets, true) {
			if facts, ok := value.Plain(one).(map[string]any); ok {
				b.Early, b.Value = true, value.Mixed(p.secrets, facts[b.Name])
			}
		}
		return
	}
	late := plan.StepsOf(s.LacksIn(b.Name))
	if s.AddsLate() || len(p.unended(late)) == 0 {
		return
	}
	s.Adds, s.Keeps, c.on.left = &plan.Addition{}, true, true
	*p.names.Produced.Now++
	p.inventory.Pending = append(p.inventory.Pending, inventory.Pending{
		Steps: []int{step}, From: *p.names.Produced.Now, Host: c.on.Name, Groups: []string{}, Moves: true,
	})
	head := p.plan.Scopes[c.play.scope].Play
	head.Awaits = append(slices.Clone(head.Awaits), step)
}

// inOrder reports whether the hosts of the play do a step one task after the other.
func (p *fleet) inOrder(s *plan.Step) bool {
	for at := s.Scope; at >= 0; at = p.plan.Scopes[at].Parent {
		if c := &p.plan.Scopes[at]; c.Parallel != 0 || c.Kind == plan.ScopePlay && c.Strategy != "linear" {
			return false
		}
	}
	return true
}

// settled are those of some hosts of which it is known how they are reached, and the steps that say so of the others.
func (p *fleet) settled(hosts []*inventory.Host) (known []*inventory.Host, awaits []int) {
	if len(p.inventory.Pending) == 0 {
		return hosts, nil
	}
	coming := p.inventory.After(*p.names.Produced.Now, p.unended)
	for _, h := range hosts {
		if steps := coming.Moving(h.Name); len(steps) > 0 {
			awaits = append(awaits, steps...)
		} else {
			known = append(known, h)
		}
	}
	return known, awaits
}

// comes reports whether values that are not known will come in the run. What an excluded step would have given never comes.
func (p *fleet) comes(late []value.Missing) bool {
	steps := plan.StepsOf(late)
	facts := func(step int) bool { return step < len(p.plan.Steps) && p.plan.Steps[step].Action == "setup" }
	if p.o.Unseen != nil && !slices.ContainsFunc(steps, func(step int) bool { return !facts(step) }) {
		return false // a survey, which asks no host
	}
	return value.AllAsked(late) || len(steps) > 0 && len((&plan.Env{Plan: p.plan}).Coming(steps)) == len(steps)
}

// neverComes reports whether some values that are not known never come, as what gives them is excluded.
func (p *fleet) neverComes(late []value.Missing) bool {
	steps := plan.StepsOf(late)
	return len((&plan.Env{Plan: p.plan}).Coming(steps)) < len(steps)
}

// unended are those of some steps that may still give something.
func (p *fleet) unended(steps []int) []int { return (&plan.Env{Plan: p.plan}).Coming(steps) }

// hostOf is the host of the inventory that a machine is. One that no inventory has is taken in.
func (p *fleet) hostOf(m *plannedHost) *inventory.Host {
	if m.Host == nil {
		m.Host = p.inventory.AddHost(m.Name, nil)
	}
	return m.Host
}

// groupHost puts a host into the group that its values name.
func (p *fleet) groupHost(c *taskContext, s *plan.Step, t *playbook.Task, args *spec.GroupByArgs) {
	host := p.hostOf(c.on)
	group := inventory.GroupName(args.Key)
	p.addMembership(c, s, t, host.Name, []string{group}, func() {
		p.inventory.AddToGroup(host, group, inventory.GroupNames(args.Parents))
	})
}

// addMembership changes the inventory for what comes after a step, and takes down what is so only if the step is reached.
func (p *fleet) addMembership(c *taskContext, s *plan.Step, t *playbook.Task, host string, groups []string, add func()) {
	before := vars.GroupsOfHost(p.inventory.Host(host))
	known := p.inventory.Has(host)
	p.changeInventory(add)
	// What the run has found has been added.
	sure := s.Adds != nil || s.Prediction == plan.WillRun && !c.rescuing && !c.breaking && !c.handler
	gate := additions.Gate{Step: s.Index, Text: cmp.Or(strings.TrimSpace(s.When), t.Action+" added "+host), Pos: t.Pos}
	p.additions.Note(inventory.Membership{Host: host}, gate, sure, known)
	for _, group := range groups {
		p.additions.Note(inventory.Membership{Host: host, Group: group}, gate, sure, slices.Contains(before, group))
	}
}

// addHost takes a host into the inventory, as far as what is planned from here on is concerned.
func (p *fleet) addHost(c *taskContext, s *plan.Step, t *playbook.Task, args *spec.AddHostArgs) {
	name, l := additions.VarsOf(args, s.Origin, p.connector.NoteName)
	known := p.inventory.Has(name)
	p.addMembership(c, s, t, name, args.Groups, func() { p.inventory.AddHost(name, args.Groups) })
	m := p.machine(name)
	_, found := p.o.Opened[p.secrets.Redact(c.path)+"?"] // the loop that this is a round of
	m.late = m.late || !known && (found || s.Adds != nil)
	m.Host = p.inventory.Host(name)
	m.added = append(m.added, l)
	m.Regroup(*p.names.Produced.Now, p.inventoryVars(m))
}

// changeInventory lets the inventory change between two moments: what was planned before sees it as it was.
func (p *fleet) changeInventory(change func()) {
	now := p.names.Produced.Now
	*now++
	past := vars.PastOf(p.inventory, *now)
	*p.past = append(*p.past, past)
	change()
	for _, m := range p.machines {
		if m.Host != nil && !slices.Equal(past.Of[m.Name], vars.GroupsOfHost(m.Host)) {
			m.Regroup(*p.names.Produced.Now, p.inventoryVars(m))
		}
	}
}
