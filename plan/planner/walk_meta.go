package planner

import (
	"cmp"
	"math"
	"strings"
	"unicode/utf8"

	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/inventory"
	"moon/plan/planner/additions"
	"moon/plan/planner/gates"
	"moon/plan/playbook"
	"moon/plan/saved"
	"moon/plan/vars"
)

// clearErrors plans meta: clear_host_errors, once for all hosts: a step, because whether it is reached is known only in the run.
func (p *planner) clearErrors(cs []*taskContext, t *playbook.Task) {
	d := p.standins.Meta(t)
	once := playbook.Written(t.Pos, "true")
	for _, c := range cs {
		c.inherit.RunOnce = once
	}
	p.taskTelling(cs, d, func(_ *taskContext, step int) { p.plan.Steps[step].Clears = true })
}

// clearFacts plans meta: clear_facts: from here on the facts of all hosts of the play are undefined, until they are gathered again.
func (p *planner) clearFacts(cs []*taskContext, t *playbook.Task) {
	c := cs[0]
	p.selectHost(c)
	r := p.Renderer(p.env(c, nil), c.chain)
	v := r.Decide(c.when)
	switch {
	case r.Failed || v.Known && !v.Holds:
		return
	case !v.Known:
		p.ReportLate(t.Args, c.chain, "remove it, or write a condition that is known before the run", "whether the facts are cleared",
			r.Missing)
		return
	}
	*p.names.Produced.Now++
	for _, name := range c.scene.Hosts {
		if m := p.machines[name]; m != nil && !m.Hides(math.MaxInt) {
			m.Hidden = append(m.Hidden, vars.Hidden{From: *p.names.Produced.Now, Until: math.MaxInt})
		}
	}
	if p.o.Mode.FactFiles.Dir != "" { // then something is to be done in the run
		p.planTaskScope(cs, p.standins.Meta(t))
	}
}

// refresh plans meta: refresh_inventory, once for all hosts: what the sources say when the step runs is known then, and until then they are
// taken to say what they say now. What asks for groups, and plays whose hosts may be others, wait for it.
func (p *planner) refresh(cs []*taskContext, t *playbook.Task) {
	if _, ok := p.rereads(t, cs[0]); !ok {
		return
	}
	d := p.standins.Meta(t)
	once := playbook.Written(t.Pos, "true")
	for _, c := range cs {
		c.inherit.RunOnce = once
	}
	for _, h := range p.inventory.Hosts { // their secrets stand in what was read again as references
		p.machine(h.Name)
	}
	late := additions.NewLate(true)
	var said map[string]any
	p.taskTelling(cs, d, func(_ *taskContext, step int) {
		s := &p.plan.Steps[step]
		if s.Excluded || s.Prediction == plan.WillSkip {
			return
		}
		s.Adds, s.Keeps = &plan.Addition{Rereads: true}, true
		if of, found := p.o.Opened[p.secrets.Redact(s.Path)]; !found {
			late.Wait(s, inventory.Pending{New: true, Any: true})
		} else if items := saved.Items(of, p.secrets, false); len(items) > 0 {
			late.Found(s)
			s.Adds.Opened = true
			said, _ = value.Plain(value.Reveal(items[0])).(map[string]any)
		}
	})
	p.awaitAdded(late)
	if said != nil {
		p.readAgain(said, cs[0].play)
	}
}

// planMeta carries out what steers the play itself.
func (p *planner) planMeta(cs []*taskContext, t *playbook.Task) {
	what := strings.TrimSpace(t.Args.Text())
	c := cs[0]
	if p.tags.Exclude(c.tags) || p.steersParallel(c, t, what) {
		return
	}
	switch what {
	case "noop", "reset_connection":
	case "flush_handlers":
		var now []*taskContext
		for _, c := range cs {
			p.selectHost(c)
			if _, skip := p.skipped(c); !skip {
				now = append(now, c.flushing())
			}
		}
		p.flushHandlers(now)
	case "end_host", "end_play", "end_batch", "end_role":
		p.planEnd(cs, t, what)
	case "clear_host_errors":
		p.clearErrors(cs, t)
	case "clear_facts":
		p.clearFacts(cs, t)
	case "refresh_inventory":
		p.refresh(cs, t)
	default:
		p.checkMeta(t, c)
	}
}

// flushing is the context in which handlers run: conditions and the like of the task that flushes are not theirs.
func (c *taskContext) flushing() *taskContext {
	in := *c
	in.when, in.notify = nil, nil
	return &in
}

// planEnd lets hosts leave the play. Where it is known only in the run whether they do, a step decides for all that come after it: also
// in the body of a block, whose failure leads past it to the rescue and the always, which would otherwise be missing in the plan.
func (p *planner) planEnd(cs []*taskContext, t *playbook.Task, what string) {
	own := what == "end_host" || what == "end_role"
	// Of the others the first host that gets there is asked, for all. Unless all would say the same, the run decides: it may have failed.
	first := !own && p.plan.Scopes[cs[0].play.scope].Strategy == "linear"
	var leaving, undecided []*taskContext
	for _, c := range cs {
		p.selectHost(c)
		r := p.Renderer(p.env(c, nil), c.chain)
		v := r.Decide(c.when)
		switch {
		case v.Known && v.Holds && !c.maybe() && !c.caught:
			leaving = append(leaving, c)
		case v.Known && v.Holds, !v.Known && !r.Failed:
			undecided = append(undecided, c)
		}
	}
	if first && len(leaving)+len(undecided) > 0 && len(leaving) < len(cs) {
		leaving, undecided = nil, cs
	}
	all := func(list []*taskContext) (ms []*plannedHost) {
		switch {
		case what == "end_host":
			for _, c := range list {
				ms = append(ms, c.on)
			}
		case len(list) == 0:
		case what == "end_play": // also in the batches that follow
			for _, name := range cs[0].play.scene.Hosts {
				ms = append(ms, p.machines[name])
			}
		default:
			for _, name := range cs[0].scene.Batch {
				ms = append(ms, p.machines[name])
			}
		}
		return ms
	}
	role := 0
	if what == "end_role" {
		if role = p.RoleScope(cs[0].scope); role < 0 {
			p.Errorf(t.Args.Pos(), utf8.RuneCountInString(what), cs[0].chain, "remove it, or use end_host or end_play",
				"`meta: end_role` is not in a role")
			return
		}
		for _, c := range leaving {
			c.on.leftRole = role
		}
	} else {
		for _, m := range all(leaving) {
			m.left = true
			*cs[0].scene.Left = append(*cs[0].scene.Left, vars.Leaving{Host: m.Name, Step: len(p.plan.Steps), Sure: true})
		}
	}
	if what == "end_play" && len(leaving) > 0 {
		cs[0].play.over = true
	}
	if len(undecided) == 0 || len(leaving) > 0 && !own {
		return
	}
	d := p.standins.Meta(t)
	if once := playbook.Written(t.Pos, "true"); first {
		for _, c := range undecided {
			c.inherit.RunOnce = once
		}
	}
	var steps []int
	p.taskTelling(undecided, d, func(_ *taskContext, step int) { steps = append(steps, step) })
	var among []int
	if first && len(steps) > 0 { // the steps of a task are next to each other
		among, steps = steps, steps[:1]
	}
	for _, step := range steps {
		s := &p.plan.Steps[step]
		text := "not (" + cmp.Or(gates.OwnText(s.Task.When), what+" was reached") + ")"
		g := gates.At{Gate: plan.Gate{Step: step, Among: among, Ran: false}, Text: text, Pos: t.Pos, Role: role}
		if own {
			p.machines[s.Host].gates = append(p.machines[s.Host].gates, g)
			if what == "end_host" {
				*cs[0].scene.Left = append(*cs[0].scene.Left, vars.Leaving{Host: s.Host, Step: step})
			}
			continue
		}
		for _, m := range all(undecided) {
			m.gates = append(m.gates, g)
		}
	}
}
