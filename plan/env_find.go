package plan

import (
	"errors"
	"maps"
	"slices"
	"sort"
	"strings"

	"moon/plan/eval"
)

// Lookup implements eval.Env.
func (e *env) Lookup(name string) (any, bool) {
	if v, ok := e.extra[name]; ok {
		return makeEntry(v), true
	}
	if v, ok := e.find(name); ok {
		return v, true
	}
	if e.pending != nil {
		return e.pending(name)
	}
	return nil, false
}

// Names implements eval.Env.
func (e *env) Names() []string {
	list := e.frame.names()
	for name := range e.extra {
		list = append(list, name)
	}
	for name := range e.frame.all.costly {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}

func (e *env) find(name string) (value any, ok bool) {
	if e.frame.scene != nil {
		if value, ok := e.magic(name); ok {
			return value, true
		}
	}
	var waits []int
	var lacking *binding // the newest one whose steps have given nothing, and will not
	var late any         // an Unknown that any older value takes the place of
	e.frame.each(name, func(b *binding) bool {
		ok = true
		switch {
		case b.lazy:
			value = e.lazily(b)
			return true
		case b.foreseen && e.results == nil && !e.absent(b):
			value = b.value
			if e.took != nil {
				*e.took = append(*e.took, b.steps...)
			}
			return true
		case b.how == notProduced && b.open && (e.results != nil || e.lost(b.value)):
			value = e.again(b)
			return true
		case b.how == measured && e.results != nil:
			value = e.frame.all.measure(name)
			return true
		case b.how == notProduced || b.how == measured:
			value = b.value
			if facts, ok := value.(factsOf); ok {
				facts.e = e
				value = facts
			}
			return true
		case e.results == nil && !e.absent(b):
			// A later assignment may not happen: then what it hides counts, and is waited for as well.
			waits = append(waits, e.coming(b.steps)...)
			e.keep(b)
			return b.how != handed && (b.how != assigned || b.certain)
		}
		if value, ok = e.produce(b); ok {
			return true
		}
		if value != nil && late == nil {
			late = value
		}
		if lacking == nil && e.absent(b) {
			lacking = b
		}
		return false
	})
	switch {
	case len(waits) > 0:
		sort.Ints(waits)
		return eval.Unknown{Steps: waits}, true
	case ok:
		return value, true
	case lacking != nil:
		return e.notGiven(lacking.steps), true
	case late != nil:
		return late, true
	}
	return nil, false
}

// produce takes a value from what steps have given. Steps that did not run, and assignments that were skipped, give way to what they
// hide: a value that is not done stands only for want of any other.
func (e *env) produce(b *binding) (value any, done bool) {
	if b.how != assigned && e.absent(b) && !e.hasResult(b) {
		return nil, false
	}
	switch b.how {
	case assigned:
		var values map[string]any
		ok := false
		if e.results != nil {
			values, ok = e.results.Assigned(b.steps[0])
		}
		if !ok && e.absent(b) {
			return nil, false
		}
		if !ok { // of a dry run, in which nobody knows what it would be
			return eval.Unknown{Steps: b.steps}, true
		}
		value, ok = values[b.name]
		return value, ok
	case registered:
		if r, ok := e.registered(b.steps[0]); ok {
			return asValue(r), true
		}
	case collected:
		return e.collect(b.steps), true
	case broken:
		steps := b.steps
		if e.plan.Plays { // of a host one after the other: the last counts
			steps = slices.Clone(steps)
			slices.Reverse(steps)
		}
		for _, step := range steps {
			if e.results.Broken(step) {
				return e.failure(step, b.name), true
			}
		}
		if e.plan.Plays {
			return nil, false // nothing failed there
		}
	case promisedFact:
		r, ok := e.registered(b.steps[0])
		if ok {
			return promisedOf(r, b.name)
		}
	case relayed:
		return e.relayed(b)
	case handed:
		return e.handed(b)
	case notProduced, measured:
	}
	return eval.Unknown{Steps: b.steps}, true
}

// relayed is what the one host has set that a task with run_once ran on.
func (e *env) relayed(b *binding) (value any, done bool) {
	var skipped any
	for _, one := range b.relay {
		v, ok := e.produce(one)
		if _, open := v.(eval.Unknown); !ok || open {
			continue
		}
		if r, isMap := v.(map[string]any); isMap && r["skipped"] == true && one.how != assigned {
			skipped = v
			continue
		}
		return v, true
	}
	if skipped != nil {
		return skipped, true
	}
	return eval.Unknown{Steps: b.steps}, b.how == relayed
}

// failure is what a rescue is told of the step that failed.
func (e *env) failure(step int, name string) any {
	if slices.Contains(failedResultNames, name) {
		if r, ok := e.results.Registered(step); ok {
			return asValue(r)
		}
		return Result{Failed: true}.Registered() // it was lost
	}
	s := &e.plan.Steps[step]
	return map[string]any{"name": s.Title(), "action": s.Action, "id": s.ID(), "path": s.Path, "origin": s.Origin.String()}
}

// collect makes a loop's registered value: the results of all items; the top level is the last item's, with changed
// and failed of any.
func (e *env) collect(steps []int) any {
	all := make([]any, 0, len(steps))
	top := map[string]any{}
	changed, failed, skipped := false, false, true
	for _, s := range steps {
		r, ok := e.registered(s)
		if !ok {
			if _, gone := e.whyAbsent(s); !gone {
				return eval.Unknown{Steps: steps}
			}
			r = Result{Skipped: true, Plays: e.plan.Plays}.Registered() // a round that was not reached, behind one that failed
		}
		item := make(map[string]any, len(r)+1)
		maps.Copy(item, r)
		if step := &e.plan.Steps[s]; step.Loop != nil {
			item["item"] = e.round(step)
			if e.plan.Plays {
				delete(item, "item")
				item[step.Loop.Var], item["ansible_loop_var"] = e.round(step), step.Loop.Var
			}
		}
		all = append(all, asValue(item))
		if ok || len(top) == 0 {
			top = r
		}
		if e.plan.Plays && r["skipped"] != true && e.breaks(s) {
			changed, failed, skipped = changed || r["changed"] == true, failed || r["failed"] == true, false
			break
		}
		changed = changed || r["changed"] == true
		failed = failed || r["failed"] == true
		skipped = skipped && r["skipped"] == true
	}
	if e.plan.Plays {
		return collectedInPlays(all, changed, failed, skipped)
	}
	sum := make(map[string]any, len(top)+4)
	maps.Copy(sum, top)
	sum["results"], sum["changed"], sum["failed"], sum["skipped"] = all, changed, failed, skipped && len(all) > 0
	return asValue(sum)
}

// round is the item of a step of a loop. It is taken from the frame: no_log keeps it from the step itself.
func (e *env) round(s *Step) any {
	b := s.task.frame.loop.find(s.Loop.Var)
	if b.open {
		return e.again(b)
	}
	return b.value
}

// again renders an open value with what is known now.
func (e *env) again(b *binding) any {
	if b.given != nil {
		return e.parameters(b)
	}
	return e.remembered(b, b.where, func(m *memo) any {
		r := &renderer{engine: e.engine, env: &env{plan: e.plan, engine: e.engine, frame: b.where, results: e.results, memo: m}, marks: true}
		v := forNames(copyIfOpen(r, r.value(b.raw)))
		if r.lacking != nil {
			e, _ := errors.AsType[*eval.Error](r.err)
			return eval.Fault{Err: e, From: b.origin.String(), Absent: true}
		}
		if r.failed {
			return b.value
		}
		return v
	})
}

// parameters puts together what a preset was given. What was not known when planning gets its type now; one that has
// another stays as it is, and the step that uses it says so.
func (e *env) parameters(b *binding) any {
	m := maps.Clone(b.value.(map[string]any))
	for i := range b.given.values {
		one := &b.given.values[i]
		if !one.open {
			continue
		}
		m[one.name] = e.again(one)
		switch m[one.name].(type) {
		case eval.Fault, eval.Unknown:
			continue
		}
		if typed, ok := convert(b.given.types[i], m[one.name]); ok {
			m[one.name] = typed
		}
		if b.given.secret[one.name] {
			m[one.name] = eval.Mark(e.engine.Secrets, m[one.name], eval.Every)
		}
	}
	return m
}

// keep has steps keep their results, which nothing registers perhaps.
func (e *env) keep(b *binding) {
	if b.how != handed || e.plan.made.facts.done {
		return
	}
	for _, step := range b.steps {
		e.plan.Steps[step].Keeps = true
	}
}

// handed takes a fact from the result of the step that gives it. A step that gave none gives way to what it hides.
func (e *env) handed(b *binding) (value any, done bool) {
	var open any
	for _, step := range slices.Backward(b.steps) {
		r, ok := e.registered(step)
		if !ok {
			open = eval.Unknown{Steps: b.steps}
			continue
		}
		if v, ok := handedOf(r, b.name); ok {
			return v, true
		}
	}
	return open, false
}

// anyHanded is a fact that a module may have given whose facts nobody knows before it runs.
func (e *env) anyHanded(m *plannedHost, name string) (value any, ok bool) {
	var waits []int
	m.handed.before(anyName, e.frame.producedAt, func(b *binding) bool {
		if e.results == nil {
			if !e.absent(b) {
				e.keep(b)
				waits = append(waits, e.coming(b.steps)...)
			}
			return false
		}
		for _, step := range b.steps {
			if r, given := e.results.Registered(step); given {
				if value, ok = handedOf(r, name); ok {
					return true
				}
			}
		}
		return false
	})
	if len(waits) > 0 {
		slices.Sort(waits)
		return eval.Unknown{Steps: waits}, true
	}
	return value, ok
}

// going are those of some hosts that have not failed. Planning takes it that none will; what is shown of it is asked again in the run.
func (e *env) going(hosts []string) []string {
	if e.results == nil {
		if e.changes != nil {
			*e.changes = true
		}
		return hosts
	}
	out := map[string]bool{}
	for _, step := range e.results.Failed() {
		s := &e.plan.Steps[step]
		began := e.at != nil && s.task.src.Pos == e.at.task.src.Pos && slices.Contains(e.frame.scene.batch, s.Host) // this very task, with it
		if !began {
			out[s.Host] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(hosts), func(host string) bool { return out[host] })
}

// lazily renders the variable of a play where it is used.
func (e *env) lazily(b *binding) any {
	at := b.origin.String()
	if i := slices.Index(e.evaluating, b); i >= 0 {
		names := []string{}
		for _, one := range e.evaluating[i:] {
			names = append(names, one.name)
		}
		names = append(names, b.name)
		return eval.Fault{Err: &eval.Error{
			Kind: eval.Failed, Message: "variables that need each other: " + strings.Join(names, " → "), Hint: "give one of them a value of its own", Offset: -1,
		}, From: at}
	}
	return e.remembered(b, e.frame, func(m *memo) any {
		inner := *e
		inner.evaluating, inner.memo = append(slices.Clip(e.evaluating), b), m
		r := &renderer{engine: e.engine, env: &inner, marks: true}
		v := r.value(b.raw)
		if r.err != nil {
			found, ok := errors.AsType[*eval.Error](r.err)
			if !ok {
				found = &eval.Error{Kind: eval.Failed, Message: r.err.Error(), Offset: -1}
			}
			return eval.Fault{Err: found, From: at, Absent: found.Kind == eval.Undefined}
		}
		return forNames(copyIfOpen(r, v))
	})
}
