package graph

import (
	"slices"

	"moon/events"
	"moon/plan"
	"moon/plan/sequence"
)

// together builds a parallel group: on each host, its members begin when the host enters it, and what follows waits until all have
// ended there. A limit is one of each host. Failures count for all hosts once the group has ended, not after each task.
func (b *playBuilder) together(id int, members []sequence.Member, st *playState) {
	s := &b.p.Scopes[id]
	hosts := b.hostsOf(id)
	inner := *st
	// Inside the group tasks do not wait for each other; quotas count at its end.
	inner.barrier, inner.stops, inner.allowed = nil, nil, -1
	if st.group == nil {
		inner.group = s
	}
	if limit := b.tree.Parallel(id); limit < plan.Unlimited {
		inner.pools = map[string]int32{}
		for _, host := range hosts {
			inner.pools[host] = b.Pool(s.Name, limit)
		}
	}
	entry, ends := map[string][]Edge{}, map[string][]Edge{}
	for _, host := range hosts {
		entry[host] = []Edge{on(b.barrier("enter", All, st.at.essential, slices.Concat(b.alive[host], st.barrier, st.stops)), onMet)}
	}
	var barriers, stops []Edge
	for _, m := range members {
		for _, host := range hosts {
			// Every member begins at the entry, not behind the one before.
			b.alive[host] = entry[host]
		}
		one := inner
		b.playMember(m, &one)
		barriers, stops = append(barriers, one.barrier...), append(stops, one.stops...)
		for _, host := range hosts {
			if !slices.Equal(b.alive[host], entry[host]) { // the host has a part in this member
				ends[host] = append(ends[host], b.alive[host]...)
			}
		}
	}
	var all []Edge
	for _, host := range hosts {
		b.alive[host] = []Edge{on(b.barrier("exit", All, st.at.essential, ends[host]), onMet)}
		all = append(all, b.alive[host]...)
	}
	if len(stops) > 0 {
		st.stops = []Edge{b.one("task", slices.Concat(st.stops, stops), st)}
	}
	switch {
	case !st.linear || len(st.hosts) < 2:
		if len(barriers) > 0 { // of run_once
			st.barrier = []Edge{b.one("task", barriers, st)}
		}
	case st.allowed >= 0 && st.body == nil:
		var spared []Edge
		for _, host := range hosts {
			spared = append(spared, b.spared(host, b.alive[host], st)...)
		}
		enough := on(b.quorum("task", spared, st.allowed, st.size), onMet)
		st.stops = []Edge{b.one("task", append([]Edge{enough}, st.stops...), st)}
		st.barrier = ordering(st.stops)
	default:
		st.barrier = []Edge{on(b.barrier("task", All, st.at.essential, ordering(all, barriers)), onMet)}
	}
}

// usable says which producers of a value must not have failed, so that a step of a parallel group may use it. Elsewhere the chain
// of the host decides that; here there is none between the two. A producer in a block that has rescued the failure may have failed.
func (b *playBuilder) usable(s *plan.Step, st *playState) func(producer int) events.OutcomeSet {
	if st.group == nil || st.at.essential {
		return ended
	}
	return func(producer int) events.OutcomeSet {
		by := &b.p.Steps[producer]
		if producer < st.group.First || producer >= st.group.Last || by.Host != s.Host && !by.Once {
			return events.OnFinish
		}
		in := b.bodies[producer]
		for around := st.body; ; around = around.outer {
			if around == in {
				return events.OnSound
			}
			if around == nil {
				return events.OnFinish
			}
		}
	}
}
