package graph

import (
	"maps"
	"slices"

	"moon/events"
	"moon/plan"
	"moon/plan/sequence"
)

// goes is satisfied by whatever lets a host go on to clean up: not where it could not be reached, nor where what ran was lost.
const goes = events.OnFinish &^ (1<<events.Unreachable | 1<<events.Lost)

// helped are the failures that a rescue can do something about.
const helped = events.OnFailure &^ (1 << events.Lost)

// unharmed is satisfied where nothing went wrong: by what was left out, too.
const unharmed = events.OnSuccess | 1<<events.Omitted

// playBuilder builds plays: for every host a chain, and barriers between the tasks where the strategy wants them.
//
//	linear   h1: a ─▶ ┌┐ ─▶ b          a barrier waits for the end of a task on all hosts, however it was; what a host itself
//	         h2: a ─▶ └┘ ─▶ b          needs is the success of its own chain: 2·H·T edges
//	free     h1: a ─▶ b                chains alone
//	stops    a barrier that is met only if a task has ended well on all hosts, or on enough of them: all that follows waits for it
//	handlers changed edges from what notifies, into a barrier with join any
//	rescue   for each host: failure edges from its own body, join any
//	parallel h1: ┌▶ a ┐     all that is in the group begins where the host enters it; what follows waits for all of it
//	            ▶┤▶ b ├▶ c
type playBuilder struct {
	*planBuilder
	alive map[string][]Edge // of each host: what its next step waits for, over all plays
	order []string          // hosts in order of first appearance, so that maps decide nothing
	after []Edge            // what everything of the next play waits for

	entry   map[string][]Edge // of each host of the batch: what its first step has waited for
	did     map[string][]ID   // what it has done since
	cleared ID                // the last meta: clear_host_errors of the batch; -1: none
	since   map[string]int    // how many of did were there before that
	bodies  map[int]*body     // of steps in a parallel group: the body that each is in
	turns   map[int]int32     // of tasks with throttle, by their scopes: the pools of hosts
}

// playState is what the steps of a play have in common where they are built.
type playState struct {
	hosts   []string // of the batch, that have a step in it
	size    int      // of the batch, with the hosts that leave it before they do anything
	barrier []Edge   // the end of the task before, on all hosts; it only orders
	stops   []Edge   // what is met as long as no failure has ended this for all hosts
	linear  bool
	allowed int             // how many hosts may fail before all stop; -1: any number
	gone    map[string]Edge // of hosts that were in plays before: met if they had failed there
	at      attributes
	pools   map[string]int32 // of each host, in a parallel group with a limit
	group   *plan.Scope      // the outermost parallel group that this is in; nil for none
	body    *body            // the block with a rescue or an always that this is in; nil for none
	rescued bool
	cleans  bool // in an always, and not in a block with a rescue or an always of its own
}

// body is what a block needs to know of what was built inside it.
type body struct {
	outer  *body
	ended  map[string][]Edge // of each host: all has ended, and it is in reach
	failed map[string][]Edge // each is a failure that nothing inside has rescued
	well   map[string][]Edge // none of those has come about
	fatal  []Edge            // each is a failure that is one of all hosts
	gaveUp []Edge            // each is a task with run_once that has failed in a way that a rescue helps
	due    map[string][]Edge // of an always: what its host needs behind it, and not in the rest of it
}

func newBody(outer *body) *body {
	return &body{outer: outer, ended: map[string][]Edge{}, failed: map[string][]Edge{}, well: map[string][]Edge{}, due: map[string][]Edge{}}
}

// step adds a step.
func (in *body) step(host string, n ID) {
	in.ended[host] = append(in.ended[host], on(n, goes))
	in.failed[host] = append(in.failed[host], on(n, helped))
	in.well[host] = append(in.well[host], on(n, unharmed))
}

// plays builds the scopes of a playbook of plays, after the given ends.
func (b *playBuilder) plays(id int, after []Edge) []Edge {
	b.after = after
	b.inside(id)
	return b.after
}

// inside builds the plays below a scope: the playbook, or one that is imported.
func (b *playBuilder) inside(id int) {
	for _, child := range b.tree.Children(id) {
		switch b.p.Scopes[child].Kind {
		case plan.ScopePlay:
			b.play(child)
		case plan.ScopeOrphans: // only what they need from each other orders them, whatever host they are on
			b.after = b.scope(child, b.after, attributes{pool: -1})
		default:
			b.inside(child)
		}
	}
}

func (b *playBuilder) play(id int) {
	s := &b.p.Scopes[id]
	if s.Steps() == 0 {
		return
	}
	var batches []int
	for _, child := range b.tree.Children(id) {
		if b.p.Scopes[child].Kind == plan.ScopeBatch {
			batches = append(batches, child)
		}
	}
	if len(batches) == 0 {
		batches = []int{id}
	}
	for _, batch := range batches {
		b.batch(s, batch)
	}
}

// batch builds what some hosts of a play do. Where all of them fail in it, nothing more is done. A host that an earlier play has lost
// fails in none, so that those after it have their turn.
func (b *playBuilder) batch(play *plan.Scope, id int) {
	// -1 stands for no limit.
	st := &playState{hosts: b.hostsOf(id), linear: play.Strategy != "free", allowed: -1, gone: map[string]Edge{}, at: attributes{pool: -1}}
	if len(st.hosts) == 0 {
		return
	}
	st.size = max(len(st.hosts), b.p.Scopes[id].Hosts)
	anyFatal := play.AnyFatal && play.Strategy != "free" // as Ansible has it: nobody waits for the others, so nobody stops for them
	if play.MaxFail >= 0 && play.Strategy != "free" {
		st.allowed = st.size * play.MaxFail / 100
	}
	if len(b.after) > 1 {
		b.after = []Edge{on(b.barrier("play", All, false, b.after), onMet)}
	}
	began := b.after
	for _, host := range st.hosts {
		_, known := b.alive[host]
		if !known {
			b.order = append(b.order, host)
		}
		// A host that failed in an earlier play takes no part: its edges from there are missed.
		if known {
			st.gone[host] = missed(b.one("entry", b.alive[host], st))
		}
		b.alive[host] = append(b.alive[host], b.after...)
	}
	b.entry, b.did, b.cleared, b.since = maps.Clone(b.alive), map[string][]ID{}, -1, nil
	if play.Strategy == "graph" {
		b.unordered(id, st)
	} else {
		b.members(id, st)
	}
	for _, host := range st.hosts {
		// One edge for each host, so that later plays do not see every step of this one.
		b.alive[host] = []Edge{b.one("host", slices.Concat(b.alive[host], st.stops), st)}
	}
	b.takeIn(st)
	var ends []Edge
	for _, host := range st.hosts {
		if anyFatal || st.allowed >= 0 {
			ends = append(ends, b.spared(host, b.alive[host], st)...)
		} else {
			ends = append(ends, b.alive[host]...)
		}
	}
	b.after = nil
	if len(st.gone) > 0 { // a host that was lost before does not tell whether the run was at an end, or came to one here
		b.after = slices.Concat(began, st.stops)
	}
	switch {
	case anyFatal:
		b.after = append(b.after, on(b.barrier("ended", All, false, ends), onMet))
	case st.allowed >= 0:
		b.after = append(b.after, on(b.quorum("ended", ends, st.allowed, st.size), onMet))
	case st.size > len(st.hosts): // who does nothing does not fail, so they have not failed all
		b.after = slices.Concat(began, st.stops, []Edge{on(b.barrier("ended", All, false, ordering(ends)), onMet)})
	default:
		for _, host := range st.hosts {
			if gone, before := st.gone[host]; before {
				ends = append(ends, gone)
			}
		}
		b.after = append(b.after, on(b.barrier("ended", Any, false, ends), onMet))
	}
}

// missed is met where an edge is not.
func missed(e Edge) Edge { return on(e.From, events.OnFinish&^e.On) }

// spared are the ends of a host where failures count for all: none counts a second time that an earlier play has seen.
func (b *playBuilder) spared(host string, ends []Edge, st *playState) []Edge {
	gone, before := st.gone[host]
	if !before {
		return ends
	}
	return []Edge{on(b.barrier("host", Any, st.at.essential, []Edge{b.one("host", ends, st), gone}), onMet)}
}

// takeIn lets the hosts come back that had failed before a meta: clear_host_errors was reached, and not after it.
func (b *playBuilder) takeIn(st *playState) {
	if b.cleared < 0 {
		return
	}
	for _, host := range b.order {
		back := []Edge{on(b.cleared, onMet)}
		for _, n := range b.did[host][min(b.since[host], len(b.did[host])):] {
			back = append(back, on(n, unharmed))
		}
		ways := []Edge{b.one("host", b.alive[host], st), b.one("cleared", back, st)}
		b.alive[host] = []Edge{on(b.barrier("host", Any, false, ways), onMet)}
	}
}

// forgiven are the ends of a host behind an always in which there is a meta: clear_host_errors: what has failed in the block before it does
// not keep the host from continuing, and is not a failure of the block around.
func (b *playBuilder) forgiven(host string, exit Edge, own *body, st *playState) []Edge {
	cleared := on(b.cleared, onMet)
	if failed := own.failed[host]; len(failed) > 0 {
		kept := []Edge{b.any("failed", failed, st), on(b.cleared, 1<<events.Omitted)}
		own.failed[host] = []Edge{b.one("failed", kept, st)}
		own.well[host] = []Edge{b.any("well", []Edge{b.one("well", own.well[host], st), cleared}, st)}
	}
	back := b.one("cleared", append(slices.Clip(b.alive[host]), cleared), st)
	return []Edge{b.any("exit", []Edge{exit, back}, st)}
}

// quorum is a barrier that is met if no more than so many hosts have failed, and not all.
func (b *playBuilder) quorum(label string, edges []Edge, allowed, hosts int) ID {
	return b.Node(Node{Kind: Barrier, Step: -1, Label: label, Join: All, Pool: -1, Spare: int32(min(allowed, hosts-1))}, edges)
}

// hostsOf are the hosts of the steps in a scope, in their order.
func (b *playBuilder) hostsOf(id int) []string {
	var hosts []string
	seen := map[string]bool{}
	s := &b.p.Scopes[id]
	for i := s.First; i < s.Last; i++ {
		if host := b.p.Steps[i].Host; !seen[host] {
			seen[host] = true
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// unordered builds a play whose steps only needs and values order.
func (b *playBuilder) unordered(id int, st *playState) {
	s := &b.p.Scopes[id]
	start := map[string][]Edge{}
	for _, host := range st.hosts {
		start[host], b.alive[host] = b.alive[host], nil
	}
	for i := s.First; i < s.Last; i++ {
		host := b.p.Steps[i].Host
		n := b.hostStep(i, start[host], st)
		b.alive[host] = append(b.alive[host], on(n, events.OnSuccess))
	}
}

// members builds what is directly inside a scope, in the order of the plan or all at once.
func (b *playBuilder) members(id int, st *playState) {
	members := b.tree.Members(id)
	if b.tree.Parallel(id) > 0 && len(members) > 1 {
		b.together(id, members, st)
		return
	}
	for _, m := range members {
		b.playMember(m, st)
	}
}

func (b *playBuilder) playMember(m sequence.Member, st *playState) {
	if m.Scope < 0 {
		b.task([]sequence.Member{m}, false, st)
		return
	}
	s := &b.p.Scopes[m.Scope]
	switch {
	case s.Kind == plan.ScopeTask:
		// A loop stands for one task on its host.
		b.task(b.tree.Members(m.Scope), s.Once, st)
	case s.Kind == plan.ScopeLoop:
		b.task([]sequence.Member{m}, false, st)
	case s.Kind == plan.ScopeBlock:
		b.hostBlock(m.Scope, st)
	case s.Handlers && s.Force:
		b.forced(m.Scope, st)
	case s.Handlers && st.cleans:
		b.handlersOfAlways(m.Scope, st)
	default:
		b.members(m.Scope, st)
	}
}

// forced builds handlers that also run on hosts that have failed, but not where the host is out of reach.
func (b *playBuilder) forced(id int, st *playState) {
	hosts := b.hostsOf(id)
	before := map[string][]Edge{}
	for _, host := range hosts {
		edges := slices.Clone(b.entry[host])
		for _, n := range b.did[host] {
			edges = append(edges, on(n, goes))
		}
		before[host] = slices.Concat(b.alive[host], st.stops)
		b.alive[host] = []Edge{on(b.barrier("handlers", All, true, edges), onMet)}
		// What has gone well so far is behind this barrier, and need not be looked at again.
		b.entry[host], b.did[host] = b.alive[host], nil
	}
	inner := *st
	inner.at.essential = true
	inner.barrier, inner.stops = ordering(st.barrier, st.stops), nil
	b.members(id, &inner)
	st.barrier = inner.barrier
	for _, host := range hosts {
		b.alive[host] = []Edge{b.one("host", slices.Concat(before[host], b.alive[host], inner.stops), st)}
	}
}

// handlersOfAlways builds handlers that are flushed in an always: one that fails takes its host out of the play behind the always, and not
// out of the rest of it.
func (b *playBuilder) handlersOfAlways(id int, st *playState) {
	before, did := map[string][]Edge{}, map[string]int{}
	hosts := b.hostsOf(id)
	for _, host := range hosts {
		before[host], did[host] = b.alive[host], len(b.did[host])
	}
	b.members(id, st)
	for _, host := range hosts {
		st.body.due[host] = append(st.body.due[host], b.alive[host]...)
		rest := slices.Clone(before[host])
		for _, n := range b.did[host][did[host]:] {
			rest = append(rest, on(n, goes))
		}
		b.alive[host] = []Edge{b.one("handlers", rest, st)}
	}
}

// ordering are edges that only wait for the end of what others wait for.
func ordering(lists ...[]Edge) []Edge {
	edges := slices.Concat(lists...)
	for i := range edges {
		edges[i].On = events.OnFinish
	}
	return edges
}

// first is the first step of a member.
func (b *playBuilder) first(m sequence.Member) *plan.Step {
	if m.Scope >= 0 {
		return &b.p.Steps[b.p.Scopes[m.Scope].First]
	}
	return &b.p.Steps[m.Step]
}

// finds reports whether a member has found the items of a loop whose rounds on the host come next.
func (b *playBuilder) finds(m sequence.Member, host string) bool {
	place := b.first(m).Place
	return m.Scope < 0 && place != nil && b.first(m).Loops() && place.Opened && b.first(m).Host == host
}

// task builds one task: for each host a step, or the steps of its loop, behind the one that has found its items.
func (b *playBuilder) task(members []sequence.Member, once bool, st *playState) {
	// run_once: the first host that reaches the task runs it.
	var turn, ends, spared []Edge // turn is met where no host before has reached the task
	from := ID(len(b.g.Nodes))
	for i, m := range members {
		host := b.first(m).Host
		after := slices.Concat(b.alive[host], st.barrier, st.stops, turn)
		if i > 0 && b.finds(members[i-1], host) {
			after = b.alive[host]
		}
		if m.Scope >= 0 {
			b.alive[host] = b.items(m.Scope, after, st)
		} else {
			b.alive[host] = []Edge{on(b.hostStep(m.Step, after, st), events.OnSuccess)}
		}
		if i+1 < len(members) && b.finds(m, b.first(members[i+1]).Host) {
			continue // its rounds end the task on this host
		}
		ends = append(ends, b.alive[host]...)
		if st.allowed >= 0 && st.body == nil {
			spared = append(spared, b.spared(host, b.alive[host], st)...)
		}
		if once {
			// The next host takes over only where those before have failed earlier, and so never reached the task.
			first := m
			if i > 0 && b.finds(members[i-1], host) {
				first = members[i-1]
			}
			left := on(b.g.nodeOf[b.first(first).Index], 1<<events.Omitted)
			turn = []Edge{on(b.barrier(Turn, All, st.at.essential, append(turn, left)), onMet)}
		}
	}
	lead := b.first(members[0])
	var done []Edge
	switch {
	case once && len(members) > 1:
		// All hosts go on when one of them has done it.
		done = []Edge{on(b.barrier("once", Any, st.at.essential, ends), onMet)}
		for _, m := range members {
			host := b.first(m).Host
			b.alive[host] = append(slices.Clip(b.alive[host]), done...)
		}
		b.gaveUp(from, st)
		st.barrier = ordering(done)
	case !st.linear || len(st.hosts) < 2:
	case lead.AnyFatal:
		well := slices.Clone(st.stops)
		for n := from; n < ID(len(b.g.Nodes)); n++ {
			if b.g.Nodes[n].Kind == Barrier {
				continue
			}
			well = append(well, on(n, unharmed))
			if st.body != nil {
				st.body.fatal = append(st.body.fatal, on(n, events.Bad))
			}
		}
		st.stops = []Edge{on(b.barrier("task", All, st.at.essential, well), onMet)}
		st.barrier = ordering(st.stops)
	case st.allowed >= 0 && st.body == nil:
		b.count(spared, st)
	default:
		st.barrier = []Edge{on(b.barrier("task", All, st.at.essential, ordering(ends)), onMet)}
	}
	if lead.Clears {
		b.cleared, b.since = b.barrier("cleared", Any, false, ends), map[string]int{}
		for host, did := range b.did {
			b.since[host] = len(did)
		}
	}
}

// gaveUp takes down that a task with run_once may fail in a block with a rescue: the other hosts are then done with the block.
func (b *playBuilder) gaveUp(from ID, st *playState) {
	if !st.rescued || st.body == nil {
		return
	}
	var failed []Edge
	for n := from; n < ID(len(b.g.Nodes)); n++ {
		if b.g.Nodes[n].Kind == Step {
			failed = append(failed, on(n, helped))
		}
	}
	st.body.gaveUp = append(st.body.gaveUp, on(b.barrier("once failed", Any, st.at.essential, failed), onMet))
}

// items builds the steps of a loop on a host: one after the other, whatever became of the one before.
func (b *playBuilder) items(id int, after []Edge, st *playState) (ends []Edge) {
	s := &b.p.Scopes[id]
	at := *st
	parallel := b.tree.Parallel(id)
	if parallel > 0 && parallel < plan.Unlimited {
		at.at.pool, at.pools = b.Pool(s.Name, parallel), nil
	}
	if len(after) > 1 && s.Steps() > 2 {
		after = []Edge{on(b.barrier("enter", All, st.at.essential, after), onMet)}
	}
	next := after
	for i := s.First; i < s.Last; i++ {
		last := b.hostStep(i, next, &at)
		ends = append(ends, on(last, events.OnSuccess))
		// The items follow each other whatever becomes of one, unless it takes the host away.
		if parallel == 0 {
			next = append(slices.Clip(after), on(last, goes))
		}
	}
	if len(ends) > 1 {
		ends = []Edge{on(b.barrier("exit", All, st.at.essential, ends), onMet)}
	}
	return ends
}

// hostStep builds one step.
func (b *playBuilder) hostStep(i int, after []Edge, st *playState) ID {
	s := &b.p.Steps[i]
	edges := slices.Clone(after)
	at := st.at
	for _, need := range s.Needs {
		edges = append(edges, on(b.g.nodeOf[need.Step], needSets[need.On]))
	}
	for _, u := range s.Unknowns {
		edges = append(edges, b.data(u, b.usable(s, st))...)
	}
	edges = append(edges, b.notified(s, at)...)
	if pool, limited := st.pools[s.Host]; limited {
		at.pool = pool
	}
	if st.group != nil {
		b.bodies[i] = st.body
	}
	n := b.Node(Node{
		Kind: Step, Step: int32(i), Essential: at.essential, Rescued: at.rescued, Pool: at.pool, Open: s.Open(), Terminal: s.Terminal,
		Throttle: b.throttle(s),
	}, edges)
	b.did[s.Host] = append(b.did[s.Host], n)
	if st.body != nil {
		st.body.step(s.Host, n)
	}
	return n
}

// throttle is the pool of the hosts that do the task of a step, counted from 1. Of hosts with numbers of their own the lowest counts for
// all; a task on no more hosts than that needs no pool.
func (b *playBuilder) throttle(s *plan.Step) int32 {
	at := s.Scope
	for s.Throttle > 0 && at >= 0 && b.p.Scopes[at].Kind != plan.ScopeTask {
		at = b.p.Scopes[at].Parent
	}
	if s.Throttle == 0 || at < 0 {
		return 0
	}
	task := &b.p.Scopes[at]
	pool, known := b.turns[at]
	if known {
		return pool
	}
	most := s.Throttle
	for i := task.First; i < task.Last; i++ {
		if own := b.p.Steps[i].Throttle; own > 0 {
			most = min(most, own)
		}
	}
	if most < task.Hosts {
		pool = b.Pool(task.Name, most) + 1
	}
	b.turns[at] = pool
	return pool
}

// hostBlock builds a block with what it has of rescue and always, each host for itself.
func (b *playBuilder) hostBlock(id int, st *playState) {
	rescue, always := b.tree.Branches(id)
	if rescue < 0 && always < 0 {
		b.members(id, st)
		return
	}
	hosts := b.hostsOf(id)
	entry := map[string]Edge{}
	for _, host := range hosts {
		entry[host] = on(b.barrier("enter", All, st.at.essential, slices.Concat(b.alive[host], st.stops)), onMet)
		b.alive[host] = []Edge{entry[host]}
	}
	// What happens in the block is collected apart, and handed on when it is known what a rescue has dealt with.
	own := newBody(st.body)
	inner := *st
	inner.body = own
	inner.at.rescued = st.at.rescued || rescue >= 0 && !b.tree.Emptied(rescue)
	inner.rescued, inner.cleans = inner.at.rescued, false
	b.members(id, &inner)
	st.barrier = inner.barrier
	stops := inner.stops
	if rescue >= 0 {
		stops = b.rescue(rescue, hosts, own, stops, st)
	}
	if always >= 0 {
		stops = b.always(always, hosts, own, entry, stops, st)
	}
	st.stops = stops
	switch {
	case st.body != nil:
		b.hand(own, hosts, st)
	case st.allowed >= 0 && st.linear && len(st.hosts) > 1:
		// What no rescue has dealt with counts from here on, before the next task.
		var spared []Edge
		for _, host := range st.hosts {
			spared = append(spared, b.spared(host, b.alive[host], st)...)
		}
		b.count(spared, st)
	}
}

// count stops all hosts where too many have failed.
func (b *playBuilder) count(spared []Edge, st *playState) {
	enough := on(b.quorum("task", spared, st.allowed, st.size), onMet)
	st.stops = []Edge{b.one("task", append([]Edge{enough}, st.stops...), st)}
	st.barrier = ordering(st.stops)
}

// hand tells the block around of what was built in this one: in few edges, so that a step does not cost more the deeper it is.
func (b *playBuilder) hand(own *body, hosts []string, st *playState) {
	out := st.body
	for _, host := range hosts {
		if len(own.ended[host]) > 0 {
			out.ended[host] = append(out.ended[host], b.one("reached", own.ended[host], st))
		}
		if len(own.failed[host]) > 0 {
			out.failed[host] = append(out.failed[host], b.any("failed", own.failed[host], st))
			out.well[host] = append(out.well[host], b.one("well", own.well[host], st))
		}
	}
	if len(own.fatal) > 0 {
		out.fatal = append(out.fatal, b.any("failed", own.fatal, st))
	}
	if len(own.gaveUp) > 0 {
		out.gaveUp = append(out.gaveUp, b.any("once failed", own.gaveUp, st))
	}
}

// rescue builds the rescue of a block: for each host it begins when a step of its body has failed there, or on any host where that
// is fatal. stops are those of the body. It returns those of what comes after.
func (b *playBuilder) rescue(id int, hosts []string, own *body, stops []Edge, st *playState) []Edge {
	var fatal []Edge
	if len(own.fatal) > 0 {
		fatal = []Edge{b.any("failed", own.fatal, st)}
	}
	if len(own.gaveUp) > 0 {
		own.gaveUp = []Edge{b.any("once failed", own.gaveUp, st)}
	}
	ends, entered := map[string][]Edge{}, []string{}
	for _, host := range hosts {
		if len(own.failed[host]) == 0 {
			continue
		}
		entered = append(entered, host)
		ends[host] = []Edge{b.one("body", slices.Concat(b.alive[host], stops), st)}
		if len(own.gaveUp) > 0 {
			ends[host] = append(ends[host], b.one("spared", slices.Concat(own.gaveUp, own.well[host]), st))
		}
		head := slices.Concat(own.failed[host], fatal) // where that is fatal, also what has failed elsewhere
		if len(head) > 1 || len(own.ended[host]) > 1 { // one that failed may have gone out of reach since: in an always further in
			head = append(slices.Clip(own.ended[host]), b.any("failed", head, st))
		}
		b.alive[host] = []Edge{on(b.barrier("rescue", All, st.at.essential, head), onMet)}
	}
	inner, part := *st, newBody(st.body)
	inner.body, inner.cleans = part, false
	inner.barrier, inner.stops = ordering(st.barrier, stops), nil
	b.members(id, &inner)
	st.barrier = inner.barrier
	if b.tree.Emptied(id) { // as with Ansible, a failure is none the less one
		for _, host := range entered {
			b.alive[host] = ends[host][:1]
		}
		return stops
	}
	for _, host := range entered {
		ends[host] = append(ends[host], b.one("rescued", slices.Concat(b.alive[host], inner.stops), st))
		b.alive[host] = []Edge{on(b.barrier("ended", Any, st.at.essential, ends[host]), onMet)}
	}
	for _, host := range hosts {
		// A failure in the rescue is one of the block around.
		own.ended[host] = append(own.ended[host], part.ended[host]...)
	}
	own.failed, own.well, own.fatal, own.gaveUp = part.failed, part.well, part.fatal, part.gaveUp
	return st.stops
}

// one is a single edge for several.
func (b *playBuilder) one(label string, edges []Edge, st *playState) Edge {
	if len(edges) == 1 {
		return edges[0]
	}
	return on(b.barrier(label, All, st.at.essential, edges), onMet)
}

// any is a single edge for several of which one is enough.
func (b *playBuilder) any(label string, edges []Edge, st *playState) Edge {
	if len(edges) == 1 {
		return edges[0]
	}
	return on(b.barrier(label, Any, st.at.essential, edges), onMet)
}

// always builds what runs in any case on the hosts that entered the block, unless they are out of reach. stops are those of what is
// before it. It returns those of what comes after.
func (b *playBuilder) always(id int, hosts []string, own *body, entry map[string]Edge, stops []Edge, st *playState) []Edge {
	// The end of the block needs both: that what came before succeeded, and that the cleaning up did.
	ends := map[string][]Edge{}
	for _, host := range hosts {
		ends[host] = b.alive[host]
		head := b.barrier("always", All, true, slices.Concat([]Edge{entry[host]}, own.ended[host]))
		b.alive[host] = []Edge{on(head, onMet)}
	}
	inner, part := *st, newBody(st.body)
	inner.at.essential = true
	inner.body, inner.cleans = part, true
	inner.barrier, inner.stops = ordering(st.barrier, stops), nil
	before := b.cleared
	b.members(id, &inner)
	st.barrier = inner.barrier
	for _, host := range hosts {
		all := slices.Concat(ends[host], part.due[host], b.alive[host])
		exit := []Edge{on(b.barrier("exit", All, st.at.essential, all), onMet)}
		if b.cleared != before {
			exit = b.forgiven(host, exit[0], own, st)
		}
		b.alive[host] = exit
	}
	for _, host := range hosts {
		own.ended[host] = append(own.ended[host], part.ended[host]...)
		own.failed[host] = append(own.failed[host], part.failed[host]...)
		own.well[host] = append(own.well[host], part.well[host]...)
	}
	own.fatal = append(own.fatal, part.fatal...)
	own.gaveUp = append(own.gaveUp, part.gaveUp...)
	if len(inner.stops) == 0 {
		return stops
	}
	return []Edge{b.one("task", slices.Concat(stops, inner.stops), st)}
}
