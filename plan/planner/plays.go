package planner

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/inventory"
	"moon/plan/loops"
	"moon/plan/planner/connect"
	"moon/plan/planner/pointless"
	"moon/plan/planner/varsdir"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// collectRegister gives the loop's register name the results of all its items.
func (p *playsState) collectRegister(t *playbook.Task, first int, c *taskContext) {
	if t.Register == "" || t.Kind != playbook.Action && t.Kind != playbook.IncludeVars {
		return
	}
	b := &vars.Binding{Name: t.Register, From: "register", Origin: origin(t.RegisterPos(), c.chain), How: vars.Collected, By: t}
	for s := first; s < len(p.plan.Steps); s++ {
		if at := p.plan.Steps[s].Place; at == nil || !at.Opened { // what has found a host stands before the round
			b.Steps = append(b.Steps, s)
		}
	}
	b.Early = p.prober.Asks(b.Steps...)
	// A loop without items still registers, as with Ansible: tasks after it use `.results` without asking.
	if len(b.Steps) == 0 {
		b.How, b.Steps = vars.NotProduced, nil
		b.Value = map[string]any{"results": []any{}, "skipped": true, "changed": false, "failed": false}
	}
	p.produce(b, c)
}

// showAgain ends what a clear_facts has begun: the hosts are asked again.
func (p *playsState) showAgain(cs []*taskContext) {
	for _, c := range cs {
		m := c.on
		if !m.Hides(math.MaxInt) {
			continue
		}
		*m.Names.Produced.Now++
		m.Hidden[len(m.Hidden)-1].Until = *m.Names.Produced.Now
	}
}

// metas are what meta can be asked for.
var metas = []string{
	"noop", "reset_connection", "flush_handlers", "end_host", "end_play", "end_batch", "end_role", "clear_host_errors",
	"clear_facts", "refresh_inventory",
}

// checkMeta refuses what is none of them.
func (p *playsState) checkMeta(t *playbook.Task, c *taskContext) {
	if what := strings.TrimSpace(t.Args.Text()); !slices.Contains(metas, what) {
		p.Errorf(t.Args.Pos(), utf8.RuneCountInString(what), c.chain, suggest.DidYouMean(what, metas), "`meta: %s` is not known", what)
	}
}

// parallelKey is the key that makes a group parallel.
const parallelKey = "parallel"

// parallelGroup is what `parallel` on a block or an include of a play asks for.
type parallelGroup struct {
	atOnce int // as in Scope.Parallel
	pos    diag.Pos
}

// group reads `parallel` of a group of tasks in a play. With `strategy: graph` a block is not a part of the order, so neither a limit
// nor a rescue has anything to go by.
func (p *playsState) group(c *taskContext, t *playbook.Task) parallelGroup {
	g := parallelGroup{atOnce: p.ReadParallel(t.Parallel, p.rendererAt(c)), pos: t.Parallel.Pos()}
	if i := slices.IndexFunc(t.Keys, func(e playbook.Entry) bool { return e.Key == parallelKey }); i >= 0 {
		g.pos = t.Keys[i].Pos
	}
	if p.plan.Scopes[c.play.scope].Strategy != "graph" {
		return g
	}
	pointless.CheckUnordered(p.Collector, t, g.atOnce, g.pos, c.chain)
	return g
}

// inParallel are the contexts inside a group.
func inParallel(cs []*taskContext, g parallelGroup) []*taskContext {
	if g.atOnce == 0 {
		return cs
	}
	return altered(cs, func(c *taskContext) { c.parallel = g.pos })
}

// ordersPlay are the metas that divide a play into what comes before them and what comes after.
var ordersPlay = []string{"flush_handlers", "end_host", "end_play", "end_batch", "end_role", "clear_host_errors", "clear_facts"}

// steersParallel refuses a meta that is about what comes before or after it, where the tasks have no order.
func (p *playsState) steersParallel(c *taskContext, t *playbook.Task, what string) bool {
	if c.parallel.Line == 0 || !slices.Contains(ordersPlay, what) {
		return false
	}
	p.Errorf(c.parallel, len(parallelKey), c.chain, "move the `meta` in front of the parallel tasks or behind them",
		"`meta: %s` (line %d) needs an order of the tasks, and `parallel` gives them none", what, t.Pos.Line)
	return true
}

// ordered are the hosts of a play as its `order` has them. The lists that its tasks see stay in the order of the inventory.
func (p *playsState) ordered(pl *playbook.Play, hosts []*inventory.Host, in importContext, r *plan.Renderer) ([]*inventory.Host, bool) {
	order := pl.Order.Text()
	if plan.TemplatedIn(pl.Order) {
		order = strings.TrimSpace(r.Text(pl.Order))
		if r.Failed {
			return nil, false
		}
		if len(r.Missing) > 0 {
			p.ReportLate(pl.Order, in.chain, "write the order", "in which order the hosts are", r.Missing)
			return nil, false
		}
	}
	hosts, ok := inventory.InOrder(hosts, order)
	if !ok { // shuffle is none of them: the same files would give another plan each time
		p.Errorf(pl.Order.Pos(), utf8.RuneCountInString(order), in.chain, "inventory, reverse_inventory, sorted or reverse_sorted",
			"`order: %s` is not supported: a plan has one order", order)
	}
	return hosts, true
}

// policy reads what decides about failures.
func (p *playsState) policy(play *playPlanner, r *plan.Renderer) {
	of := p.policies.OfPlay(play.src, &p.o.Mode, r)
	play.anyFatal, play.handlers.force, play.maxFail = of.AnyFatal, of.Force, of.MaxFail
	s := &p.plan.Scopes[play.scope]
	s.AnyFatal, s.MaxFail, s.Strategy = of.AnyFatal, of.MaxFail, of.Strategy
}

// batches are the hosts that go through the play together, one batch after the other.
func (p *playsState) batches(pl *playbook.Play, all []*plannedHost, r *plan.Renderer) (list [][]*plannedHost) {
	for _, n := range p.ReadBatches(pl.Serial, len(all), r) {
		list = append(list, all[:n])
		all = all[n:]
	}
	return list
}

// always are the contexts for what no tag leaves out.
func (p *playsState) always(cs []*taskContext) []*taskContext {
	return altered(cs, func(c *taskContext) {
		known := c.env
		if c.tags, c.env = append(slices.Clip(c.tags), "always"), nil; c.on.State == vars.FactsPromised && len(known) > 0 {
			c.env = known
			c.env = connect.AsWritten(p.environmentOf(c), c.pos)
		}
	})
}

// varsFiles reads the files of variables of a play, which may be others for each host.
func (p *playsState) varsFiles(play *playPlanner, cs []*taskContext) {
	if len(play.src.VarsFiles) == 0 {
		return
	}
	scenes := map[*vars.Layer]*vars.Scene{}
	// The name of a file may use facts and variables of the host, so each host is asked.
	for _, c := range cs {
		p.names = c.on.Names
		below := c.scene.Vars
		for _, candidates := range play.src.VarsFiles {
			below = p.firstVarsFile(c, candidates, below)
		}
		// Mostly all hosts read the same files, and then share a scene and what is kept for it.
		sc, ok := scenes[below]
		if !ok {
			with := *c.scene
			with.Vars = below
			sc = &with
			scenes[below] = sc
		}
		c.scene = sc
	}
}

// firstVarsFile is the first file of some that exists, above other variables.
func (p *playsState) firstVarsFile(c *taskContext, candidates []playbook.Value, below *vars.Layer) *vars.Layer {
	with := *c
	sc := *c.scene
	sc.Vars = below
	with.scene = &sc
	from := varsdir.Candidates{
		Library: p.Library, Known: p.Reader, Chain: c.chain,
		Find:     func(name string) string { return c.lookout(p.plan.Root).FindVars(name, p.o.Home, p.disk) },
		Renderer: func() *plan.Renderer { return p.rendererAt(&with) },
	}
	if f := from.First(candidates); f != nil {
		return p.fileLayer(f, below)
	}
	return below
}

// prompts asks for the variables that a play wants to be typed.
func (p *playsState) prompts(pl *playbook.Play, c *taskContext) {
	c.scene.Vars = p.askFor(pl.Prompts, c, c.scene.Vars)
}

// staying are the contexts of the hosts that are still in the play.
func (p *playsState) staying(cs []*taskContext) []*taskContext {
	gone := func(c *taskContext) bool {
		return c.on.left || c.on.leftRole > 0 && p.Within(c.scope, c.on.leftRole)
	}
	if !slices.ContainsFunc(cs, gone) {
		return cs
	}
	// DeleteFunc works in place, and the list belongs to the caller.
	return slices.DeleteFunc(slices.Clone(cs), gone)
}

// ungathered are the contexts of hosts whose facts nobody has asked for.
func (p *playsState) ungathered(cs []*taskContext) []*taskContext {
	return slices.DeleteFunc(slices.Clone(cs), func(c *taskContext) bool { return c.on.State != vars.FactsUnasked })
}

// gatherBehind gathers facts that count behind the task that is planned: its own `when` may ask whether there are any. The caller calls done
// when it is planned.
func (p *playsState) gatherBehind(cs []*taskContext) (done func()) {
	p.gather(cs)
	for _, c := range cs {
		c.on.Since++
	}
	return func() { *p.names.Produced.Now++ }
}

// unnamed is what a task without a name is called.
func (p *playsState) unnamed(t *playbook.Task) string {
	_, label := loops.Name(t)
	if text := plan.FirstLine(t.Args.Text()); text != "" && label == t.Action {
		return label + ": " + text
	}
	return label
}
