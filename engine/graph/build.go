package graph

import (
	"fmt"
	"slices"

	"moon/events"
	"moon/plan"
	"moon/plan/dialect"
	"moon/plan/sequence"
)

// onMet is satisfied by a barrier that was met. A join that nothing satisfied ends skipped, which OnSuccess would let
// through.
const onMet events.OutcomeSet = 1 << events.OK

var needSets = map[string]events.OutcomeSet{
	"success": events.OnSuccess, "failure": events.OnFailure, "finish": events.OnFinish, "changed": events.OnChanged,
}

// Build makes the execution graph of a plan.
//
//	in order       a ─▶ b ─▶ c                        chain of success edges
//	parallel       ┌▶ a ┐
//	             ▶┤▶ b ├▶ exit                        one barrier each side
//	               └▶ c ┘
//	block/rescue   body ──ok──────────────▶ any ─▶    rescue's head: failure edges from the body, join any, without those
//	                 └─failure─▶ rescue ──▶           that a rescue further in has handled
//	always         finish edges from body and rescue, and the entry: it runs once the block was entered
//	needed scope   finish edges from its steps, into a barrier that ends as the scope does: with join whole
//	handlers       changed edges from what notifies, into a barrier with join any; behind all else where the rest has no order
func Build(p *plan.Plan) (*Graph, error) {
	b := &planBuilder{
		Builder: NewBuilder(len(p.Steps)), p: p, tree: sequence.Of(p), collectors: map[string]ID{}, collected: map[Edge]collection{},
		within: map[int]int{}, needed: p.NeededScopes(),
	}
	buildWhole.In(p.Dialect)(b)
	return b.Graph()
}

// buildWhole makes the nodes of the whole plan: of a scope of steps, or of plays that take their tasks host by host.
var buildWhole = dialect.Of[func(*planBuilder)]{
	Steps: func(b *planBuilder) {
		b.g.Beyond = 1 << events.Unreachable // of a host that a step is delegated to, as in plays
		b.scope(0, nil, attributes{pool: -1})
	},
	Ansible: func(b *planBuilder) {
		b.g.Beyond = 1<<events.Lost | 1<<events.Unreachable // as in Ansible
		(&playBuilder{planBuilder: b, alive: map[string][]Edge{}, bodies: map[int]*body{}, turns: map[int]int32{}}).plays(0, nil)
	},
}

type planBuilder struct {
	*Builder
	p          *plan.Plan
	tree       *sequence.Tree
	collectors map[string]ID       // barriers that gather the producers of one value
	collected  map[Edge]collection // by the first of them: the last such barrier
	failed     []Edge              // each is a failure, in the block that is built, that nothing inside has rescued
	within     map[int]int         // by step: the innermost block with a rescue whose body has it
	needed     map[int]bool        // scopes that are needed as a whole
	whole      map[int]ID          // their barriers
	flushed    ID                  // what was built when handlers last ran in any case
}

// attributes are what nodes inherit from the scopes around them.
type attributes struct {
	essential bool
	rescued   bool
	bodies    []int // blocks with a rescue whose bodies these nodes are in, from the outermost
	pool      int32
	needs     []Edge // of all that is inside
}

// scope builds what is inside a scope, after the given ends, and returns its own ends.
func (b *planBuilder) scope(id int, after []Edge, at attributes) []Edge {
	s := &b.p.Scopes[id]
	if len(s.Needs) > 0 && s.Steps() > 0 {
		after, at = b.needing(s.Needs, after, at)
	}
	var ends []Edge
	switch {
	case s.Kind == plan.ScopeBlock:
		ends = b.block(id, after, at)
	case s.Handlers && s.Force:
		ends = b.forced(id, after, at)
	default:
		ends = b.list(id, after, at)
	}
	if b.needed[id] {
		b.addWhole(id, ends)
	}
	return ends
}

// forced builds handlers that also run after a failure: when all before them has ended.
func (b *planBuilder) forced(id int, after []Edge, at attributes) []Edge {
	var ended []Edge
	for n := b.flushed; n < ID(len(b.g.Nodes)); n++ {
		if b.g.Nodes[n].Kind == Step {
			ended = append(ended, on(n, events.OnFinish))
		}
	}
	head := b.barrier("handlers", All, true, ended)
	b.flushed = head // those before it need not be looked at again
	inner := at
	inner.essential = true
	ends := b.list(id, []Edge{on(head, onMet)}, inner)
	return []Edge{on(b.barrier("exit", All, at.essential, slices.Concat(after, ends)), onMet)}
}

func (b *planBuilder) list(id int, after []Edge, at attributes) []Edge {
	parallel := b.tree.Parallel(id)
	members := b.tree.Members(id)
	// What no step gives any more goes before all else, or after it, whatever order the rest has.
	orphans := func(m sequence.Member) bool { return m.Scope >= 0 && b.p.Scopes[m.Scope].Kind == plan.ScopeOrphans }
	if parallel > 0 && len(members) > 0 && orphans(members[0]) {
		after, members = b.member(members[0], after, at), members[1:]
	}
	if last := len(members) - 1; parallel > 0 && last >= 0 && orphans(members[last]) {
		end := members[last]
		return b.member(end, b.listed(id, parallel, members[:last], after, at), at)
	}
	return b.listed(id, parallel, members, after, at)
}

// listed builds the members of a scope, in their order or all at once.
func (b *planBuilder) listed(id, parallel int, members []sequence.Member, after []Edge, at attributes) []Edge {
	// A group of one member needs no barriers: it is a list.
	if parallel == 0 || len(members) < 2 {
		for _, m := range members {
			after = b.member(m, after, at)
		}
		return after
	}
	name := b.p.Scopes[id].Name
	if parallel < plan.Unlimited {
		at.pool = b.Pool(name, parallel)
	}
	// One barrier takes m edges in and gives n out, instead of m times n.
	if len(after) > 1 {
		after = []Edge{on(b.barrier("enter", All, at.essential, after), onMet)}
	}
	var ends []Edge
	var last []sequence.Member
	for _, m := range members {
		if m.Scope >= 0 && b.p.Scopes[m.Scope].Handlers { // whatever has no order, they come when it is done
			last = append(last, m)
			continue
		}
		ends = append(ends, b.member(m, after, at)...)
	}
	ends = []Edge{on(b.barrier("exit", All, at.essential, ends), onMet)}
	for _, m := range last {
		at.pool = -1
		ends = b.member(m, ends, at)
	}
	return ends
}

func (b *planBuilder) member(m sequence.Member, after []Edge, at attributes) []Edge {
	if m.Scope >= 0 {
		return b.scope(m.Scope, after, at)
	}
	return b.step(m.Step, after, at)
}

func (b *planBuilder) step(i int, after []Edge, at attributes) []Edge {
	s := &b.p.Steps[i]
	edges := append(slices.Clone(b.behind(s.Needs, after)), at.needs...)
	for _, need := range s.Needs {
		edges = append(edges, b.need(need))
		at.essential = at.essential || need.On == "failure" // the failure it waits for stops everything else
	}
	for _, u := range s.Unknowns {
		edges = append(edges, b.data(u, b.sound(i, at))...)
	}
	edges = append(edges, b.notified(s, at)...)
	n := b.Node(Node{
		Kind: Step, Step: int32(i), Essential: at.essential, Rescued: at.rescued, Pool: at.pool, Open: s.Open(), Terminal: s.Terminal,
	}, edges)
	// The failures that a rescue further out looks at.
	if at.rescued {
		b.failed = append(b.failed, on(n, events.OnFailure))
		b.within[i] = at.bodies[len(at.bodies)-1]
	}
	return []Edge{on(n, events.OnSuccess)}
}

// notified is the edge into a handler that is met if a step that notifies it has changed something.
func (b *planBuilder) notified(s *plan.Step, at attributes) []Edge {
	if len(s.Notifiers) == 0 {
		return nil
	}
	var changed []Edge
	for _, by := range s.Notifiers {
		changed = append(changed, on(b.g.nodeOf[by], events.OnChanged))
	}
	return []Edge{on(b.barrier(Notified, Any, at.essential, changed), onMet)}
}

// entry reports whether a node says that the construct around a step was entered.
func (b *planBuilder) entry(n ID) bool {
	switch b.g.Nodes[n].Label {
	case "enter", "rescue", "always":
		return b.g.Nodes[n].Kind == Barrier
	}
	return false
}

// sound says of the steps that give values which must not have failed, so that a step may use the value: those whose failure is not
// what the step is there for. A step does not run on the result of a failure, unless a rescue has dealt with it, the step cleans
// up, or asks for the failure by its needs. Between steps of one body, side by side, the rescue has not dealt with it yet.
func (b *planBuilder) sound(step int, at attributes) func(producer int) events.OutcomeSet {
	needs := b.p.NeedsOf(step)
	return func(producer int) events.OutcomeSet {
		asked := slices.ContainsFunc(needs, func(n plan.Need) bool {
			first, last := b.p.StepsAt(n.Place)
			return producer >= first && producer < last
		})
		body, inBody := b.within[producer]
		rescued := inBody && !slices.Contains(at.bodies, body)
		if at.essential || asked || rescued {
			return events.OnFinish
		}
		return events.OnSound
	}
}

// ended lets any end do for a value, in plays: what happens after a failure is decided by the chain of each host.
func ended(int) events.OutcomeSet { return events.OnFinish }

// data are the edges that carry a value. Whether the value is there is seen when the step is about to start. Producers that are
// many (a loop) are gathered by one barrier, so that m users of n items cost m+n edges.
func (b *planBuilder) data(u plan.Unknown, set func(producer int) events.OutcomeSet) []Edge {
	edges := make([]Edge, len(u.Steps))
	ends := events.OnFinish
	for i, s := range u.Steps {
		edges[i] = Edge{From: b.g.nodeOf[s], On: set(s), Data: true}
		if edges[i].On == events.OnSound {
			ends = onMet
		}
	}
	if len(edges) <= 2 {
		return edges
	}
	// Steps of a loop ask for the same producers again and again: one barrier serves them all.
	key := fmt.Sprint(ends, u.Steps)
	if ends == onMet { // not all users ask the same of each
		key = fmt.Sprint(edges)
	}
	c, ok := b.collectors[key]
	if !ok {
		c = b.collect(edges, ends)
		b.collectors[key] = c
	}
	return []Edge{{From: c, On: ends, Data: true}}
}

// collection is the barrier of some producers.
type collection struct {
	edges   []Edge
	barrier ID
}

// collect is a barrier of producers. Rounds of a loop that add to what those before have set ask for one more each: such a barrier stands
// upon the one before, so that n of them cost 2n edges.
func (b *planBuilder) collect(edges []Edge, ends events.OutcomeSet) ID {
	first := edges[0]
	last, ok := b.collected[first]
	own := edges
	if n := len(last.edges); ok && n < len(edges) && slices.Equal(last.edges, edges[:n]) {
		own = append([]Edge{{From: last.barrier, On: ends, Data: true}}, edges[n:]...)
	}
	c := b.barrier("values", All, false, own)
	b.collected[first] = collection{edges, c}
	return c
}

// block builds body, rescue and always.
func (b *planBuilder) block(id int, after []Edge, at attributes) []Edge {
	rescue, always := b.tree.Branches(id)
	if rescue < 0 && always < 0 {
		return b.list(id, after, at)
	}
	entry := b.barrier("enter", All, at.essential, after)
	first := ID(len(b.g.Nodes))
	inside := at
	// Clip makes append copy: sibling blocks must not share what they append.
	if rescue >= 0 && !b.tree.Emptied(rescue) {
		inside.rescued, inside.bodies = true, append(slices.Clip(at.bodies), id)
	}
	around := b.failed
	b.failed = nil
	ends := b.list(id, []Edge{on(entry, onMet)}, inside)
	if rescue >= 0 {
		failed := b.failed
		head := b.barrier("rescue", Any, at.essential, failed)
		b.failed = nil // those are handled: for a block around only what fails in the rescue counts
		rescued := b.list(rescue, []Edge{on(head, onMet)}, at)
		// One of the two ends decides: the body if all went as planned, the rescue otherwise.
		bodyEnd := b.barrier("body", All, at.essential, ends)
		rescueEnd := b.barrier("rescued", All, at.essential, rescued)
		decide := []Edge{on(bodyEnd, onMet), on(rescueEnd, onMet)}
		if b.tree.Emptied(rescue) {
			decide, b.failed = decide[:1], failed // nothing handles them
		}
		ends = []Edge{on(b.barrier("ended", Any, at.essential, decide), onMet)}
	}
	if always < 0 {
		b.hand(around, at)
		return ends
	}
	edges := []Edge{on(entry, onMet)}
	// Ids are given in order, so these are exactly the nodes that were built since the entry.
	for n := first; n < ID(len(b.g.Nodes)); n++ {
		if b.g.Nodes[n].Kind == Step {
			edges = append(edges, on(n, events.OnFinish))
		}
	}
	head := b.barrier("always", All, true, edges)
	cleanup := at
	cleanup.essential = true
	cleaned := b.list(always, []Edge{on(head, onMet)}, cleanup)
	b.hand(around, at)
	return []Edge{on(b.barrier("exit", All, at.essential, append(ends, cleaned...)), onMet)}
}

// hand tells the block around which failures this one has left: in one edge, so that a step does not cost more the deeper it is.
func (b *planBuilder) hand(around []Edge, at attributes) {
	if len(b.failed) > 1 {
		b.failed = []Edge{on(b.barrier("failed", Any, at.essential, b.failed), onMet)}
	}
	b.failed = append(around, b.failed...)
}
