package state

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"moon/engine/graph"
	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/events/fact"
	"moon/internal/assault"
	"moon/plan"
)

// TestRandomRuns runs random graphs with random outcomes, failures, retries, pauses, commands, forks and crashes. It
// checks that nothing starts before its join is met or beyond a limit, that the counters say what looking at every edge
// says, that every step settles once, that nothing that ended well runs again after a crash, and that folding the facts
// again gives the same events; and, for every tenth, that each prefix of the facts folds to the state that was there then.
func TestRandomRuns(t *testing.T) {
	seeds := uint64(assault.Rounds(10_000, 40_000))
	looks, prefixes := 0, 0
	for seed := range seeds {
		b := randomRun(t, seed)
		looks, prefixes = looks+b.looks, prefixes+len(b.shots)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	assault.Tried(t, "simulated schedules", int(seeds))
	assault.Tried(t, "looks at every edge, against the counters", looks)
	assault.Tried(t, "prefixes of journals, folded", prefixes)
}

func randomRun(t *testing.T, seed uint64) *bench {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	n := 1 + r.IntN(40)
	if seed%100 == 99 {
		n = 1 + r.IntN(200)
	}
	p := graphtest.NewPlan(n)
	if r.IntN(2) == 0 {
		randomLimits(r, p)
	}
	g := randomGraph(t, r, p)
	o := fact.Options{
		Forks: 1 + r.IntN(4), OnFailure: []fact.Policy{fact.Drain, fact.Continue, fact.Cancel}[r.IntN(3)],
		Review: r.IntN(3) == 0, BreakOnFailure: r.IntN(3) == 0, KeepOpen: r.IntN(3) == 0,
	}
	b := newBench(t, p, g, o)
	if seed%10 == 0 {
		b.keeps, b.shots = true, make([][]byte, len(b.facts)) // of the first facts there is none
	}
	if r.IntN(2) == 0 {
		b.s.Prefer(randomRanks(r)) // the folds below know nothing of them
	}
	b.outcome = func(int, int) events.Outcome {
		return []events.Outcome{events.OK, events.OK, events.Changed, events.Changed, events.Skipped, events.Failed, events.Timeout}[r.IntN(7)]
	}
	if o.Review {
		b.send(events.Approve{Range: events.Range{From: 0, To: n}, Confirm: true})
	}
	for moves := 0; !b.s.finished; moves++ {
		if moves > 50*n+200 {
			t.Fatalf("seed %d never ends: paused %v %v halting %v stop %q left %d active %d open %d delayed %v solo %v again %v held %v\n%s\n%s", seed, b.s.paused, b.s.pause, b.s.halting, b.s.stop, b.s.left, b.s.active, b.s.open, b.s.delayed, b.s.solo, b.s.again, b.s.held, strings.Join(b.log[max(0, len(b.log)-20):], "\n"), b.s.Dump())
		}
		b.start()
		limits(t, b, g, o)
		naive(t, b, g)
		switch {
		case b.s.finished:
		case r.IntN(60) == 0:
			b.crash(r, p, g)
		case r.IntN(40) == 0 && b.s.active == 0:
			b.edit(r, g)
		case len(b.running) > 0 && r.IntN(4) > 0:
			b.now = b.now.Add(time.Duration(r.IntN(500)) * time.Millisecond)
			b.end(r.IntN(len(b.running)))
		case r.IntN(6) == 0 || len(b.running) == 0:
			b.now = b.now.Add(time.Second)
			randomCommand(b, r, n)
		}
	}
	for i := range p.Steps {
		if s := b.run.Steps[i]; s.State != events.Settled {
			t.Errorf("step %d is %v at the end", i, s.State)
		}
	}

	foldAgain(t, b, p, g)
	if sum := b.run.Summary(); sum.Executed != b.run.Result.Executed || sum.Skipped != b.run.Result.Skipped || sum.Failed != b.run.Result.Failed || sum.NotRun != b.run.Result.NotRun || sum.Cancelled != b.run.Result.Cancelled {
		t.Errorf("views count %+v, the engine %+v", sum, b.run.Result)
	}
	return b
}

// randomLimits puts the steps of a plan into scopes that may take only so long: one in the other, and perhaps a rescue or an always.
func randomLimits(r *rand.Rand, p *plan.Plan) {
	n := len(p.Steps)
	if r.IntN(3) == 0 {
		p.Scopes[0].Timeout = time.Duration(1+r.IntN(20)) * time.Second
	}
	first, last := 0, n
	for id := 1; id <= 3 && first < last; id++ {
		first += r.IntN(last - first)
		last -= r.IntN(last - first)
		s := plan.Scope{
			ID: id, Kind: plan.ScopeBlock, Parent: id - 1, Name: fmt.Sprint("s", id), Path: fmt.Sprint("s", id), First: first, Last: last,
			Timeout: time.Duration(r.IntN(6)) * time.Second,
		}
		if id == 3 && r.IntN(2) == 0 {
			s.Kind, s.Branch = plan.ScopeBranch, []string{"rescue", "always"}[r.IntN(2)]
		}
		p.Scopes = append(p.Scopes, s)
		for step := first; step < last; step++ {
			p.Steps[step].Scope = id
		}
	}
}

// randomCommand does what keeps a paused run going, or disturbs one that is not.
func randomCommand(b *bench, r *rand.Rand, n int) {
	step := r.IntN(n)
	one := events.Range{From: step, To: step + 1}
	switch r.IntN(19) {
	case 0:
		b.send(events.Break{Step: step, Clear: r.IntN(2) == 0})
	case 14:
		b.send(events.Break{Step: step, To: min(step+1+r.IntN(5), n), After: 1 + r.IntN(2)})
	case 15:
		b.send(events.Mark{Range: one})
	case 16:
		b.send(events.Rerun{Range: one, With: r.IntN(2) == 0})
	case 17:
		b.send(events.Rerun{Range: events.Range{From: step, To: min(step+1+r.IntN(5), n)}})
	case 18:
		b.send(events.Keep{Range: events.Range{From: 0, To: n}})
	case 1:
		b.send(events.Exclude{Range: one})
	case 2:
		b.send(events.Advance{Verb: "step"})
	case 3:
		b.send(events.Advance{Verb: "over", Range: events.Range{From: step, To: min(step+3, n)}, Approve: true})
	case 4:
		b.send(events.Pause{})
	case 5:
		b.send(events.Retry{Range: events.Range{From: 0, To: n}})
	case 6:
		b.send(events.Skip{Step: step})
	case 7:
		if r.IntN(20) == 0 {
			b.send(events.Stop{How: events.StopDrain})
		}
	case 8:
		b.send(events.Leave{})
	default:
		for i := range b.s.nodes {
			if b.s.nodes[i].state == waiting {
				b.add(fact.GateResolved{Step: int(b.s.graph.Nodes[i].Step), By: "test", Reject: r.IntN(3) == 0})
			}
		}
		b.send(events.Continue{})
	}
}

// edit changes the definition of some steps.
func (b *bench) edit(r *rand.Rand, g *graph.Graph) {
	p := *b.s.plan
	p.Digest = fmt.Sprint("edited ", len(b.facts))
	p.Steps = slices.Clone(p.Steps)
	for range 1 + r.IntN(4) {
		p.Steps[r.IntN(len(p.Steps))].Digest += "'"
	}
	b.plans[p.Digest] = &p
	rec := fact.Record{Seq: uint64(len(b.facts) + 1), At: b.now, Mono: b.now.Sub(time.Unix(1_000_000, 0)), Fact: fact.RunReplanned{
		Generation: b.s.generation + 1, Digest: p.Digest, Total: len(p.Steps), Fixed: r.IntN(2) == 0, Keeps: true,
	}}
	b.s.Replan(rec, &p, g)
	b.record(rec)
	for step := range p.Steps {
		if b.done[step] != b.s.Done(step) && b.done[step] {
			b.t.Errorf("step %d had ended well, and is not done after an edit", step)
		}
	}
}

// joined checks that a step about to start may: everything it waits for has ended, as its join wants. A step that a
// person tries again has met its join once, and what it hung on may be tried again beside it.
func (b *bench) joined(step int) {
	b.t.Helper()
	g, id := b.s.graph, b.s.id(step)
	if b.s.nodes[id].solo || b.s.nodes[id].attempt > 0 {
		return
	}
	hits := 0
	for _, e := range g.In(id) {
		from := b.s.nodes[e.From]
		if from.state != settled || from.unsent {
			b.t.Errorf("step %d starts before %s has ended", step, g.Name(e.From))
		}
		if e.On.Has(from.effective) {
			hits++
		}
	}
	if n := len(g.In(id)); g.Nodes[id].Join == graph.All && hits < n || n > 0 && hits == 0 {
		b.t.Errorf("step %d starts although its join is not met: %d of %d", step, hits, n)
	}
}

// crash forgets everything but the facts, and resumes. What runs is lost.
func (b *bench) crash(r *rand.Rand, p *plan.Plan, g *graph.Graph) {
	b.t.Helper()
	was := b.s
	b.s = foldOf(b.t, b.facts, b.plans, p, g, was.emit)
	p = was.plan
	resumed := fact.RunResumed{Generation: was.generation + 1, Digest: p.Digest, Total: len(p.Steps), Options: was.opts, Keeps: true}
	for _, step := range b.running {
		resumed.Lost = append(resumed.Lost, fact.Lost{Step: step, As: []fact.LostAs{fact.LostRetry, fact.LostOK, fact.LostFail}[r.IntN(3)]})
	}
	b.running = nil
	var done []int
	for step := range p.Steps {
		if was.Done(step) {
			done = append(done, step)
		}
	}
	rec := fact.Record{Seq: uint64(len(b.facts) + 1), At: b.now, Mono: b.now.Sub(time.Unix(1_000_000, 0)), Fact: resumed}
	b.s.Resume(rec, p, g)
	b.record(rec)
	for _, step := range done {
		if n := b.s.node(step); n.state == ready || n.state == running {
			b.t.Errorf("step %d had ended well and is to run again", step)
		}
	}
}

// foldOf folds facts, and publishes only what comes after them.
func foldOf(tb testing.TB, facts []fact.Record, plans map[string]*plan.Plan, p *plan.Plan, g *graph.Graph, emit func(int, events.Event)) *State {
	tb.Helper()
	s := New(p, g, nil)
	for _, r := range facts {
		if replaced(s, r, plans, p, g) {
			continue
		}
		if err := s.Apply(r); err != nil {
			tb.Fatalf("fold: %v", err)
		}
	}
	s.emit = emit
	return s
}

// replaced folds a fact that replaces the plan.
func replaced(s *State, r fact.Record, plans map[string]*plan.Plan, first *plan.Plan, g *graph.Graph) bool {
	of := func(digest string) *plan.Plan {
		if p := plans[digest]; p != nil {
			return p
		}
		return first
	}
	switch f := r.Fact.(type) {
	case fact.RunReplanned:
		s.Replan(r, of(f.Digest), g)
	case fact.RunResumed:
		s.Resume(r, of(f.Digest), g)
	default:
		return false
	}
	return true
}

// naive classifies every node by looking at all of its edges, as if there were no counters, and compares.
func naive(t *testing.T, b *bench, g *graph.Graph) {
	t.Helper()
	left := 0
	b.looks++
	for i := range b.s.nodes {
		n, id := &b.s.nodes[i], graph.ID(i)
		if n.state != settled {
			left++
		}
		if n.state != pending || n.attempt > 0 { // one that has run went ahead of what is tried again beside it
			continue
		}
		var open, hits, misses int32
		for _, e := range g.In(id) {
			switch from := b.s.nodes[e.From]; {
			case from.state != settled, from.unsent:
				open++
			case e.On.Has(from.effective):
				hits++
			default:
				misses++
			}
		}
		if open == 0 || open != n.pending || hits != n.hits || misses != n.misses {
			t.Errorf("%s waits for %d edges (%d hit, %d missed); by looking at them %d (%d, %d)", g.Name(id), n.pending, n.hits, n.misses, open, hits, misses)
		}
	}
	if left != b.s.left {
		t.Errorf("%d nodes have not settled, counted %d", left, b.s.left)
	}
}

// limits checks what must hold whenever the state is at rest.
func limits(t *testing.T, b *bench, g *graph.Graph, o fact.Options) {
	t.Helper()
	if b.s.active > o.Forks || b.s.active != len(b.running) {
		t.Errorf("%d attempts run (%d counted), %d allowed", len(b.running), b.s.active, o.Forks)
	}
	used := make([]int, len(g.Pools))
	for _, step := range b.running {
		id := g.NodeOf(step)
		if pool := g.Nodes[id].Pool; pool >= 0 {
			used[pool]++
		}
	}
	for i, p := range g.Pools {
		if used[i] > p.Slots {
			t.Errorf("%d nodes use pool %s of %d", used[i], p.Label, p.Slots)
		}
	}
}

// foldAgain folds the facts anew and compares the events.
func foldAgain(t *testing.T, b *bench, p *plan.Plan, g *graph.Graph) {
	t.Helper()
	var log []string
	s := New(p, g, func(step int, e events.Event) { log = logged(log, step, e) })
	for k, r := range b.facts {
		if !replaced(s, r, b.plans, p, g) {
			if err := s.Apply(r); err != nil {
				t.Fatalf("fold: %v", err)
			}
		}
		if b.keeps {
			if got := shotOf(s); b.shots[k] != nil && !bytes.Equal(got, b.shots[k]) {
				t.Fatalf("after fact %d (%T) the fold has\n%s\nthe run had\n%s", k+1, r.Fact, got, b.shots[k])
			}
		}
	}
	if !slices.Equal(log, b.log) {
		t.Errorf("folding the facts again gives other events")
	}
}

func randomGraph(t *testing.T, r *rand.Rand, p *plan.Plan) *graph.Graph {
	t.Helper()
	gb := graph.NewBuilder(len(p.Steps))
	pool := gb.Pool("pool", 1+r.IntN(2))
	var nodes []graph.ID
	sets := []events.OutcomeSet{events.OnSuccess, events.OnSuccess, events.OnFailure, events.OnFinish, events.OnFinish, events.OnChanged}
	edges := func() []graph.Edge {
		var list []graph.Edge
		for range r.IntN(4) {
			if len(nodes) > 0 {
				list = append(list, graph.Edge{From: nodes[r.IntN(len(nodes))], On: sets[r.IntN(len(sets))]})
			}
		}
		return list
	}
	for i := range p.Steps {
		if r.IntN(5) == 0 {
			nodes = append(nodes, gb.Node(graph.Node{Kind: graph.Barrier, Step: -1, Label: []string{"b", graph.Needs}[r.IntN(2)], Join: graph.Join(r.IntN(3)), Pool: -1}, edges()))
		}
		n := graph.Node{Step: int32(i), Join: graph.Join(r.IntN(4) / 3), Essential: r.IntN(6) == 0, Rescued: r.IntN(6) == 0, Pool: -1}
		if r.IntN(3) == 0 {
			n.Pool = pool
		}
		if r.IntN(5) == 0 {
			p.Steps[i].Queued = time.Duration(1+r.IntN(3)) * time.Second
		}
		if r.IntN(8) == 0 {
			n.Kind = graph.Gate
			n.Pool = -1
			p.Steps[i].Queued = 0
		}
		if r.IntN(3) == 0 {
			p.Steps[i].Retry.Max = r.IntN(3)
		}
		if r.IntN(6) == 0 {
			p.Steps[i].When = "x"
		}
		if i > 0 && r.IntN(4) == 0 {
			p.Steps[i].Needs = []plan.Need{{Place: plan.Place{Step: r.IntN(i)}}}
		}
		p.Steps[i].Excluded = r.IntN(10) == 0
		nodes = append(nodes, gb.Node(n, edges()))
	}
	g, err := gb.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// randomRanks prefers steps at random.
func randomRanks(r *rand.Rand) Rank {
	return func(p *plan.Plan, g *graph.Graph) []int64 {
		took := make([]int64, len(p.Steps))
		for i := range took {
			took[i] = r.Int64N(1000)
		}
		return g.Ranks(func(step int) int64 { return took[step] })
	}
}
