package plan

import (
	"errors"
	"maps"
	"slices"
	"sort"

	"moon/plan/eval"
	"moon/plan/playbook"
)

// binding is one value of one name, and where it comes from.
type binding struct {
	name   string
	value  any // as known when planning; may contain eval.Unknown
	open   bool
	from   string
	origin Origin

	// An open value is rendered again when a step that uses it runs: the text as written, where it was written.
	raw   playbook.Value
	where *frame

	given *given // of the map `parameters`; raw is empty then

	lazy bool // raw is rendered wherever the name is used, with what is in effect there: a variable of a play

	// Set by steps while running. Steps are those of one task, more than one in a loop.
	steps    []int
	how      production
	certain  bool           // an assignment that nothing known keeps from happening
	relay    []*binding     // of run_once: what each of the hosts would have set
	by       *playbook.Task // that sets it, in a play
	passing  bool           // known inside a rescue, and after it only if that was needed
	foreseen bool           // an assignment whose value is known before it happens
}

// production is how running steps give a name its value.
type production uint8

const (
	notProduced  production = iota
	registered              // the result of the step
	collected               // the results of a loop
	assigned                // by set_fact or a late vars step; may not happen
	broken                  // the step of a block that failed, in its rescue
	measured                // when the run starts: a fact that changes
	promisedFact            // by the step that gathers facts
	relayed                 // by one of the hosts of a task with run_once
	handed                  // a fact that a task gives beside those that are gathered; may not happen
)

// layer holds the names one construct brings: a block's vars, a loop's item, an include's parameters.
type layer struct {
	parent *layer
	binds  []binding
	last   map[string]int // of each name the place in binds; nil as long as there are few
}

// fewNames is up to how many names of a layer are looked through one by one.
const fewNames = 12

func (l *layer) add(b binding) {
	l.binds = append(l.binds, b)
	switch {
	case l.last != nil:
		l.last[b.name] = len(l.binds) - 1
	case len(l.binds) > fewNames:
		l.last = make(map[string]int, 2*len(l.binds))
		for i := range l.binds {
			l.last[l.binds[i].name] = i
		}
	}
}

// find is the binding of a name in this layer alone: the last one, which hides those before it.
func (l *layer) find(name string) *binding {
	if l.last != nil {
		if i, ok := l.last[name]; ok {
			return &l.binds[i]
		}
		return nil
	}
	for i := len(l.binds) - 1; i >= 0; i-- {
		if l.binds[i].name == name {
			return &l.binds[i]
		}
	}
	return nil
}

// history holds the names that are set in document order and stay set: `vars` and `include_vars` steps, and what
// running steps register or assign. A frame sees the versions before its own moment.
type history struct {
	versions map[string][]version
	now      *int // shared by the hosts of an inventory, so that a moment is the same for all
}

type version struct {
	at   int
	gone int // from when on it is not there any more; 0: it stays
	*binding
}

func (h *history) add(b *binding) {
	if h.versions == nil {
		h.versions = map[string][]version{}
	}
	*h.now++
	h.versions[b.name] = append(h.versions[b.name], version{at: *h.now, binding: b})
}

// forget takes the values that hold only for a time out of what comes after, if they were set after a moment.
func (h *history) forget(since int) {
	*h.now++
	for _, all := range h.versions {
		for i := range all {
			if v := &all[i]; v.at > since && v.gone == 0 && v.passing {
				v.gone = *h.now
			}
		}
	}
}

// before calls f with the versions of name as of the moment, newest first, until it returns true.
func (h *history) before(name string, moment int, f func(*binding) bool) bool {
	all := h.versions[name]
	n := sort.Search(len(all), func(i int) bool { return all[i].at > moment })
	for i := n - 1; i >= 0; i-- {
		if gone := all[i].gone; gone > 0 && gone <= moment {
			continue
		}
		if f(all[i].binding) {
			return true
		}
	}
	return false
}

// names are the variables that do not depend on the place: given from outside, or at the root of the playbook.
type names struct {
	facts     *layer
	factsMap  map[string]any // read only; those that change are unknown
	costly    map[string]func() any
	started   func() map[string]any // all facts, as they are when the run starts
	varsFiles *layer
	root      *layer
	files     *layer // --vars-file
	extra     *layer // -e
	document  history
	produced  history

	// Of plays: what roles show that are used by tasks, from there on. Their moments are those of document.
	shownVars     history
	shownDefaults history

	of *machine // the host of an inventory whose they are; nil in the step form
}

// frame is the variables in effect at one place of the playbook. Frames are immutable once a step has one, and are
// shared by all steps that see the same values.
type frame struct {
	all        *names
	documentAt int
	producedAt int
	block      *layer
	step       *layer
	params     *layer
	loop       *layer
	over       *layer // of overrides, which are made during a run

	scene *scene // the play and the role around; nil in the step form
	looks string // of plays: the directory of a role in which the task looks for files; "" for files
}

// each calls f with the bindings of name, from the one that counts to the ones it hides, until f returns true. The
// order is LANGUAGE.md's precedence.
func (fr *frame) each(name string, f func(*binding) bool) bool {
	try := func(l *layer) bool {
		for ; l != nil; l = l.parent {
			if b := l.find(name); b != nil && f(b) {
				return true
			}
		}
		return false
	}
	if fr.all.of != nil {
		return fr.eachOfHost(name, f)
	}
	return try(fr.over) || try(fr.all.extra) || try(fr.all.files) || try(fr.loop) || try(fr.params) ||
		fr.all.produced.before(name, fr.producedAt, f) ||
		try(fr.step) || try(fr.block) ||
		fr.all.document.before(name, fr.documentAt, f) ||
		try(fr.all.root) || try(fr.all.varsFiles) || try(fr.all.facts) || fr.fact(name, f)
}

func (fr *frame) fact(name string, f func(*binding) bool) bool {
	if name == "facts" {
		return f(&binding{name: name, value: fr.all.factsMap, from: "facts", how: measured})
	}
	v, ok := fr.all.factsMap[name]
	if get, costly := fr.all.costly[name]; costly && !ok {
		v, ok = get(), true
	}
	if !ok {
		return false
	}
	b := binding{name: name, value: v, from: "fact"}
	if _, changes := v.(eval.Unknown); changes {
		b.how = measured
	}
	return f(&b)
}

// names lists every name that can be looked up, for "did you mean".
func (fr *frame) names() []string {
	seen := map[string]bool{}
	for _, l := range []*layer{fr.over, fr.all.extra, fr.all.files, fr.loop, fr.params, fr.step, fr.block, fr.all.root, fr.all.varsFiles} {
		for ; l != nil; l = l.parent {
			for _, b := range l.binds {
				seen[b.name] = true
			}
		}
	}
	add := func(h *history, moment int) {
		for name := range h.versions {
			h.before(name, moment, func(*binding) bool { seen[name] = true; return true })
		}
	}
	add(&fr.all.document, fr.documentAt)
	add(&fr.all.produced, fr.producedAt)
	for name := range fr.all.factsMap {
		seen[name] = true
	}
	if fr.all.of != nil {
		fr.namesOfHost(seen)
	}
	list := make([]string, 0, len(seen))
	for name := range seen {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}

// Results are what the steps of a run have produced so far. The engine keeps them; while planning there are none.
type Results interface {
	// Registered is what `register` gives for the step. It is not ok for a step that has no result: not run yet,
	// omitted, cancelled.
	Registered(step int) (result map[string]any, ok bool)
	// Assigned are the variables the step has set. It is not ok for a step that did not run, or was skipped.
	Assigned(step int) (values map[string]any, ok bool)
	// Skipped reports whether the step was skipped. It is not ok for a step that has not ended, or never will.
	Skipped(step int) (skipped, ok bool)
	// Omitted reports whether the step was never reached, and will not be.
	Omitted(step int) bool
	// Absent says why the step has given nothing. It is not ok for one that has run, or still may.
	Absent(step int) (Absence, bool)
	// Failed are the steps that have failed for good: neither ignored nor rescued, nor taken back since.
	Failed() []int
	// Broken reports whether the step failed and has a rescue. Its result is then registered, whatever it registers.
	Broken(step int) bool
}

// env looks names up in a frame. It is the evaluator's view of variables, the same when planning (results nil) and
// when running.
type env struct {
	plan    *Plan
	engine  *eval.Engine
	frame   *frame
	results Results
	at      *Step                         // whose values are asked for, in the run
	pending func(name string) (any, bool) // names further down in the block of vars being rendered
	extra   map[string]any                // a step's own result, for changed_when and the like

	unapproved bool       // nothing was approved: no lookup may run a command
	ahead      bool       // a dry run asks: what commands and servers would answer is not looked up
	evaluating []*binding // lazy ones around, to find one that needs itself
	memo       *memo      // while a variable is rendered where it is used
	took       *[]int     // while planning: is given the steps whose values are known ahead and were used; may be nil
	changes    *bool      // is set where a value is known for planning and may be another in the run; may be nil
}

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

// promisedOf takes a fact from the result of the step that has gathered it.
func promisedOf(r map[string]any, name string) (value any, known bool) {
	own, _ := r["moon_facts"].(map[string]any)
	facts, _ := r["ansible_facts"].(map[string]any)
	switch {
	case name == "facts":
		return own, own != nil
	case name == "ansible_facts":
		return shortNames(facts), true
	case ownFacts[name]:
		value, known = own[name]
	default:
		value, known = factOf(facts, name)
	}
	return value, known
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

// The names that tell a rescue what failed.
var (
	failedTaskNames   = []string{"failed_task", "ansible_failed_task"}
	failedResultNames = []string{"failed_result", "ansible_failed_result"}
)

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

// collectedInPlays is what a loop registers in a play.
func collectedInPlays(all []any, changed, failed, skipped bool) any {
	sum := map[string]any{"results": all, "changed": changed, "skipped": skipped && len(all) > 0, "msg": "All items completed"}
	switch {
	case failed:
		sum["failed"], sum["msg"] = true, "One or more items failed"
	case skipped:
		sum["msg"] = "All items skipped"
	}
	return sum
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

// given is what a preset was given, one by one. It is behind a pointer because loops make many bindings and presets few.
type given struct {
	values []binding
	types  []string
	secret map[string]bool // by name
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
