package state

import (
	"slices"

	"moon/engine/graph"
	"moon/events"
)

// Why says of steps of the plan what keeps them from beginning, at this moment; of the first also what is at the end of the chain
// it waits in. It changes nothing.
func (s *State) Why(steps []int) []events.Wait {
	// Each query may look at so many edges: it is asked while people scroll.
	w := wonderer{State: s, left: mostLooks}
	list := make([]events.Wait, len(steps))
	for i, step := range steps {
		list[i] = w.why(step)
		if i == 0 && len(list[i].Steps) > 0 && w.node(step).state == pending {
			w.root(&list[i])
		}
	}
	return list
}

// mostLooks bounds how many edges one question follows: the loop has better things to do.
const mostLooks = 10_000

// wonderer looks for what keeps steps from beginning. It changes nothing of the state.
type wonderer struct {
	*State
	left int // edges that may still be looked at
}

func (w *wonderer) why(step int) events.Wait {
	none := events.Wait{Root: -1}
	if step < 0 || step >= len(w.plan.Steps) || !w.begun {
		return none
	}
	id := w.id(step)
	switch n := &w.nodes[id]; n.state {
	case running, settled:
		return none
	case failed:
		return events.Wait{For: events.WaitFailed, Root: -1}
	case waiting:
		return events.Wait{For: events.WaitAnswer, Root: -1}
	case again, backoff:
		return events.Wait{For: events.WaitRetry, Due: w.delayed[id], Root: -1}
	case pending:
		return w.behind(id)
	case ready:
		return w.kept(id)
	}
	return none
}

// kept is what keeps a ready node, in the order in which next looks.
func (w *wonderer) kept(id graph.ID) events.Wait {
	g, step := &w.graph.Nodes[id], int(w.graph.Nodes[id].Step)
	wait := events.Wait{Root: -1, Held: w.gate(step), Limit: w.plan.Steps[step].Queued}
	alone := w.nodes[id].solo
	switch {
	case w.waits() && !alone:
		return w.atPause(step)
	case w.active >= w.opts.Forks:
		wait.For, wait.Slots = events.WaitForks, w.opts.Forks
		w.holders(&wait, func(graph.ID) bool { return true })
	case g.Terminal && w.lent > 0:
		wait.For = events.WaitTerminal
		w.holders(&wait, func(n graph.ID) bool { return w.graph.Nodes[n].Terminal })
	case g.Pool >= 0 && w.used[g.Pool] >= w.graph.Pools[g.Pool].Slots:
		wait.For, wait.Name, wait.Slots = events.WaitPool, w.graph.Pools[g.Pool].Label, w.graph.Pools[g.Pool].Slots
		w.holders(&wait, func(n graph.ID) bool { return w.graph.Nodes[n].Pool == g.Pool })
	case !w.slot(id): // of its pool of hosts
		hosts, _ := g.HostPool()
		wait.For, wait.Name, wait.Slots = events.WaitPool, w.graph.Pools[hosts].Label, w.graph.Pools[hosts].Slots
		w.holders(&wait, func(n graph.ID) bool { return w.graph.Nodes[n].Throttle == g.Throttle })
	case w.outside(step) && !alone:
		return events.Wait{For: events.WaitStepping, Root: -1, Held: wait.Held}
	case wait.Held != "" && !alone:
		return events.Wait{For: wait.Held, Root: -1}
	default:
		return events.Wait{For: events.WaitTurn, Root: -1}
	}
	return wait
}

// atPause is a wait for a person. What is to be said of the step itself goes before what is to be said of the run.
func (w *wonderer) atPause(step int) events.Wait {
	switch held := w.gate(step); {
	case held != "" && (w.pause.Step == step || w.pause.Step < 0):
		return events.Wait{For: held, Root: -1}
	case w.pause.Step == step:
		return events.Wait{For: events.WaitStepping, Root: -1}
	case w.pause.Step >= 0 && w.pause.Reason == events.PauseFailure && w.node(w.pause.Step).state != settled: // a retry may have gone well
		return events.Wait{For: events.WaitPaused, Root: w.pause.Step, Is: events.WaitFailed, Held: held}
	case w.pause.Step >= 0:
		return events.Wait{For: events.WaitPaused, Root: w.pause.Step, Is: w.gate(w.pause.Step), Held: held}
	default:
		return events.Wait{For: events.WaitPaused, Root: -1, Held: held}
	}
}

// gate is what a person has to do about a step before it may begin.
func (w *wonderer) gate(step int) events.WaitFor {
	reason, _ := w.hold(step)
	switch reason {
	case events.PauseConfirm:
		return events.WaitConfirm
	case events.PauseBreakpoint:
		return events.WaitBreakpoint
	case events.PauseUndecided:
		return events.WaitApproval
	default:
		return ""
	}
}

// holders names the steps that run, of those that have what is asked for.
func (w *wonderer) holders(wait *events.Wait, has func(graph.ID) bool) {
	var steps []int
	for step := range w.names { // those of the attempts that run; of a plan's steps there may be many more
		if id := w.id(step); w.nodes[id].state == running && has(id) {
			steps = append(steps, step)
		}
	}
	slices.Sort(steps)
	name(wait, steps)
}

// name gives the steps of a wait, the first of many.
func name(wait *events.Wait, steps []int) {
	n := min(len(steps), events.MostWaits)
	wait.Steps, wait.More = steps[:n], len(steps)-n
}

// behind is what a pending node waits for: the steps it comes after that have not ended, and what those do.
func (w *wonderer) behind(id graph.ID) events.Wait {
	step := int(w.graph.Nodes[id].Step)
	wait := events.Wait{For: events.WaitSteps, Root: -1, Held: w.gate(step)}
	if w.halting && !w.graph.Nodes[id].Essential {
		return events.Wait{For: events.WaitStopping, Root: -1}
	}
	before := w.before(id)
	if len(before) == 0 {
		wait.For = "" // more edges than may be looked at
		return wait
	}
	if first := before[0]; first.data {
		wait.For, wait.Name = events.WaitValue, w.valueOf(step, first.step)
	} else {
		if !first.on.Has(events.OK) {
			wait.For = events.WaitOutcome
		}
		wait.Name = first.in
	}
	steps := make([]int, len(before))
	for i := range before {
		steps[i] = before[i].step
	}
	name(&wait, steps)
	return wait
}

// blocker is a step that another waits for.
type blocker struct {
	step int
	on   events.OutcomeSet
	data bool
	in   string // a scope that is waited for as a whole, and that it is in
}

// before are the steps right before a node that have not ended, with barriers looked through.
func (w *wonderer) before(id graph.ID) (list []blocker) {
	at := map[graph.ID]int{} // of a node, in list; -1 for barriers
	var look func(id graph.ID, data bool, whole graph.Edge)
	look = func(id graph.ID, data bool, whole graph.Edge) {
		for _, e := range w.graph.In(id) {
			if w.left--; w.left < 0 {
				return
			}
			if w.nodes[e.From].state == settled {
				continue
			}
			i, again := at[e.From]
			switch from := &w.graph.Nodes[e.From]; {
			case again && i >= 0: // an order and a value
				list[i].data = list[i].data || data || e.Data
			case again:
			case from.Step >= 0:
				at[e.From] = len(list)
				one := blocker{step: int(from.Step), on: e.On, data: data || e.Data}
				// What counts is how the scope ends, and not how its steps do.
				if whole.On != 0 {
					one.on, one.in = whole.On, w.graph.Nodes[whole.From].Label
				}
				list = append(list, one)
			case from.Join == graph.Whole && whole.On == 0:
				at[e.From] = -1
				look(e.From, data, e)
			default:
				at[e.From] = -1
				look(e.From, data || e.Data, whole)
			}
		}
	}
	look(id, false, graph.Edge{})
	slices.SortStableFunc(list, func(a, b blocker) int { return w.stage(a.step) - w.stage(b.step) })
	return list
}

// stage orders steps by how near they are to their end.
func (w *wonderer) stage(step int) int {
	switch w.node(step).state {
	case running:
		return 0
	case failed, waiting, again, backoff:
		return 1
	case ready:
		return 2
	default:
		return 3
	}
}

// root follows what a step waits for to one that does not wait for another, and says what keeps that one.
func (w *wonderer) root(wait *events.Wait) {
	step := wait.Steps[0]
	// Ends, since every pending node has an unsettled one before it and the graph has no circle.
	for w.node(step).state == pending {
		before := w.before(w.id(step))
		if len(before) == 0 {
			return
		}
		step = before[0].step
	}
	wait.Root, wait.Is = step, events.WaitRuns
	if w.node(step).state != running {
		wait.Is = w.why(step).For
	}
}

// valueOf is the name of the value that a step gets from another.
func (w *wonderer) valueOf(step, from int) string {
	for _, u := range w.plan.Steps[step].Unknowns {
		if slices.Contains(u.Steps, from) {
			return u.Name
		}
	}
	return ""
}
