package state

import (
	"container/heap"
	"slices"
	"time"

	"moon/engine/graph"
	"moon/plan"
)

// slots is what is ready and what limits how much of it runs at a time.
type slots struct {
	stepping
	ready   readyHeap
	blocked []graph.ID // ready, but no slot of their pool is free
	fenced  []graph.ID // ready, but outside what `advance` allows
	solo    []graph.ID
	again   []graph.ID
	delayed map[graph.ID]time.Time
	queued  map[graph.ID]time.Time // until when ready steps with timeout_queued may wait
	nextDue time.Time              // no earlier than that any of them is over
	used    []int                  // slots per pool
	turns   map[int]int            // tasks on a host that have a slot of a pool of hosts, by first step: the steps before this have settled
	lent    int                    // 1 while a step has the terminal
	active  int                    // attempts that run
	open    int                    // open gates
	rank    Rank                   // nil: by the number of steps; see Prefer
}

// take accounts for a slot of the node's pool, and for the terminal.
func (s *slots) take(id graph.ID, d int) {
	if pool := s.graph.Nodes[id].Pool; pool >= 0 {
		s.used[pool] += d
	}
	if s.graph.Nodes[id].Terminal {
		s.lent += d
	}
	if d > 0 {
		s.takeTurn(id)
	}
}

// wait starts the clock of a step that is ready and may wait for a slot only so long.
func (s *slots) wait(id graph.ID) {
	due := s.now.Add(s.plan.Steps[s.graph.Nodes[id].Step].Queued)
	s.queued[id] = due
	if s.nextDue.IsZero() || due.Before(s.nextDue) {
		s.nextDue = due
	}
}

// unblock gives nodes that wait for a slot of the same pool, or for the terminal, another chance.
func (s *slots) unblock(id graph.ID) {
	if n := &s.graph.Nodes[id]; n.Pool >= 0 || n.Terminal {
		s.unblockAll()
	}
}

func (s *slots) unblockAll() {
	for _, b := range s.blocked {
		// All of them, also those of other pools: they are looked at and blocked again.
		heap.Push(&s.ready, b)
	}
	s.blocked = nil
}

func (s *slots) unfence() {
	for _, id := range s.fenced {
		heap.Push(&s.ready, id)
	}
	s.fenced = nil
}

// slot reports whether another attempt may run now, as far as limits go.
func (s *slots) slot(id graph.ID) bool {
	pool := s.graph.Nodes[id].Pool
	if s.graph.Nodes[id].Terminal && s.lent > 0 {
		return false
	}
	if hosts, ok := s.graph.Nodes[id].HostPool(); ok && !s.hasTurn(id) && s.used[hosts] >= s.graph.Pools[hosts].Slots {
		return false
	}
	return s.active < s.opts.Forks && (pool < 0 || s.used[pool] < s.graph.Pools[pool].Slots)
}

// dueRetry finds a delayed attempt that may run, its time having come, and the earliest time of those whose has not. While the run
// is paused only attempts of steps that a person wants to run now count.
func (s *slots) dueRetry(now time.Time) (until time.Time, due graph.ID) {
	due = -1
	// The order of a map must not decide which goes first, or a fold would differ.
	for id, at := range s.delayed {
		switch {
		case s.waits() && !s.nodes[id].asked:
		case !at.After(now):
			if s.slot(id) && (due < 0 || id < due) {
				due = id
			}
		case until.IsZero() || at.Before(until):
			until = at
		}
	}
	return until, due
}

// overdue finds a step that has waited for a slot longer than it may, and the earliest time at which another may have.
// What a person holds back is not waiting for a slot. The steps are looked through only when one of them may be over:
// there may be many, and this is asked after every step.
func (s *slots) overdue(now time.Time) (until time.Time, over graph.ID) {
	over = -1
	switch {
	case len(s.queued) == 0:
		return time.Time{}, over
	case now.Before(s.nextDue):
		// Nothing can be over before the earliest time that was found in the last round.
		return s.nextDue, over
	}
	s.nextDue = time.Time{}
	for id, at := range s.queued {
		step := int(s.graph.Nodes[id].Step)
		reason, _ := s.hold(step)
		switch {
		case s.isLate(step):
			continue
		case s.nodes[id].state != ready || s.nodes[id].solo || reason != "" || s.outside(step):
			continue
		case !at.After(now) && (over < 0 || id < over):
			over = id
		}
		if s.nextDue.IsZero() || at.Before(s.nextDue) {
			s.nextDue = at
		}
	}
	return s.nextDue, over
}

// Rank gives what hangs on each node of a plan's graph: of what is ready goes first what holds up most.
type Rank func(p *plan.Plan, g *graph.Graph) []int64

// Prefer gives the ranks, also of plans that replace this one. They are no fact and not in the journal: they decide what Next chooses,
// and what was chosen is there.
func (s *slots) Prefer(rank Rank) {
	s.rank = rank
	s.ready.rank = s.ranks(s.plan, s.graph)
	heap.Init(&s.ready)
}

func (s *slots) ranks(p *plan.Plan, g *graph.Graph) []int64 {
	if s.rank == nil {
		return g.Ranks(nil)
	}
	return s.rank(p, g)
}

func remove(list []graph.ID, id graph.ID) []graph.ID {
	return slices.DeleteFunc(list, func(have graph.ID) bool { return have == id })
}

// readyHeap orders ready nodes: what has the longest path to the end first, then plan order.
type readyHeap struct {
	rank []int64
	ids  []graph.ID
}

func (h *readyHeap) Len() int { return len(h.ids) }
func (h *readyHeap) Less(i, j int) bool {
	a, b := h.ids[i], h.ids[j]
	if h.rank[a] != h.rank[b] {
		return h.rank[a] > h.rank[b]
	}
	return a < b
}
func (h *readyHeap) Swap(i, j int) { h.ids[i], h.ids[j] = h.ids[j], h.ids[i] }
func (h *readyHeap) Push(x any)    { h.ids = append(h.ids, x.(graph.ID)) }
func (h *readyHeap) Pop() any {
	last := len(h.ids) - 1
	id := h.ids[last]
	h.ids = h.ids[:last]
	return id
}

// renewLimits gives the scopes around a step their time again, because a person asks for another attempt or takes the step for done.
func (s *slots) renewLimits(step int) {
	for l, scope := range s.limitsOf(step) {
		again := l.over
		l.began, l.over, l.by = false, false, -1
		if !again {
			continue
		}
		// What was ready in it was not looked at any more.
		for i := s.plan.Scopes[scope].First; i < s.plan.Scopes[scope].Last; i++ {
			if n := s.node(i); n.state == ready && !n.solo && s.under(i, scope) {
				heap.Push(&s.ready, s.id(i))
			}
		}
	}
}
