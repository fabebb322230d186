package plan

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"

	"moon/plan/dialect"
	"moon/plan/eval/value"
	"moon/plan/memo"
	"moon/plan/parameter"
	"moon/plan/vars"
)

// Lookup implements value.Env.
func (e *Env) Lookup(name string) (any, bool) {
	// A step's own result counts above all variables, or one of the same name would hide it.
	if v, ok := e.Extra[name]; ok {
		return makeEntry(v), true
	}
	if v, ok := e.Find(name); ok {
		return v, true
	}
	if e.Pending != nil {
		if v, ok := e.Pending(name); ok {
			return v, true
		}
	}
	if v, ok := e.promised(); ok {
		return v, true
	}
	return e.reached(name)
}

// promised stands for a name that nothing has set, behind an open place: what is found there may set it.
func (e *Env) promised() (any, bool) {
	var waits, gone []int
	if e.Settled {
		return nil, false
	}
	e.Frame.Promises(func(b *vars.Binding) bool {
		for _, step := range b.Steps {
			if _, absent := e.whyAbsent(step); absent {
				gone = append(gone, step)
			} else if _, over := e.registered(step); !over {
				waits = append(waits, step)
			}
		}
		return false
	})
	switch {
	case len(waits) > 0:
		sort.Ints(waits)
		return value.Unknown{Steps: slices.Compact(waits)}, true
	case len(gone) > 0 && e.Results == nil:
		return e.notGiven(gone), true
	}
	return nil, false
}

// Names implements value.Env.
func (e *Env) Names() []string {
	list := e.Frame.Names()
	for name := range e.Extra {
		list = append(list, name)
	}
	for name := range e.Frame.Costly() {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}

// Find is the value of a name. It may be value.Unknown.
func (e *Env) Find(name string) (val any, ok bool) {
	if e.Frame.OnHost() {
		if val, ok := e.magic(name); ok {
			return val, true
		}
		if e.Frame.MergesMaps() {
			return e.findMerged(name)
		}
	}
	f := finding{e: e, name: name}
	e.Frame.Each(name, func(b *vars.Binding) bool { return f.see(b) })
	return f.end()
}

// finding is the search for the value of a name among its bindings.
type finding struct {
	e       *Env
	name    string
	written bool // a value that is rendered where it is used is not rendered

	val     any
	ok      bool
	waits   []int
	may     []any         // what those would give that may not come; nil: it is not known
	lacking *vars.Binding // the newest one whose steps have given nothing, and will not
	late    any           // an Unknown that any older value takes the place of
}

// see looks at the next binding, and reports whether no other counts.
func (f *finding) see(b *vars.Binding) bool {
	e := f.e
	f.ok = true
	switch {
	case b.Lazy:
		if !f.written {
			f.val = e.lazily(b)
		}
		return true
	case b.Early && e.Results == nil && !e.absent(b) && e.take(b, &f.val):
		return true
	case b.How == vars.NotProduced && b.Open && (e.Results != nil || e.lost(b.Value)):
		// In the run with what is known by then; while planning only if what it waited for will never come.
		f.val = e.again(b)
		return true
	case b.How == vars.Measured && e.Results != nil:
		f.val = e.Frame.Measure(f.name)
		return true
	case b.How == vars.NotProduced || b.How == vars.Measured:
		f.val = b.Value
		if facts, ok := f.val.(vars.FactsOf); ok {
			f.val = factsOf{facts.Host, e}
		}
		return true
	case e.Results == nil && !e.absent(b):
		// A later assignment may not happen: then what it hides counts, and is waited for as well.
		f.waits = append(f.waits, e.Coming(b.Steps)...)
		f.may = append(f.may, b.Value)
		e.keep(b)
		return b.How != vars.Handed && b.How != vars.Promised && (b.How != vars.Assigned || b.Certain)
	}
	if f.val, f.ok = e.produce(b); f.ok {
		return true
	}
	if f.val != nil && f.late == nil {
		f.late = f.val
	}
	if f.lacking == nil && e.absent(b) {
		f.lacking = b
	}
	return false
}

// end is what was found.
func (f *finding) end() (any, bool) {
	differs := func(v any) bool { return v == nil || !reflect.DeepEqual(v, f.val) }
	switch {
	case len(f.waits) > 0 && !slices.ContainsFunc(f.may, differs): // they change nothing
		return f.val, true
	case len(f.waits) > 0:
		return value.Unknown{Steps: slices.Sorted(slices.Values(f.waits))}, true
	case f.ok:
		return f.val, true
	case f.lacking != nil:
		return f.e.notGiven(f.lacking.Steps), true
	}
	return f.late, f.late != nil
}

// take gives the value of a binding that is known before its steps run: that of an assignment, or of a result that was asked for.
func (e *Env) take(b *vars.Binding, val *any) bool {
	switch b.How {
	case vars.Assigned, vars.Relayed:
		*val = b.Value
	default:
		for _, step := range b.Steps {
			if _, known := e.registered(step); !known {
				return false
			}
		}
		found, done := e.produce(b)
		if !done {
			return false
		}
		*val = found
		e.keep(b)
	}
	// Noted: what is planned with this value must not run without the step that sets it (Shape).
	if e.Took != nil {
		*e.Took = append(*e.Took, b.Steps...)
	}
	return true
}

// produce takes a value from what steps have given. Steps that did not run, and assignments that were skipped, give way to what they
// hide: a value that is not done stands only for want of any other.
func (e *Env) produce(b *vars.Binding) (val any, done bool) {
	if b.How != vars.Assigned && e.absent(b) && !e.hasResult(b) {
		return nil, false
	}
	switch b.How {
	case vars.Assigned:
		var values map[string]any
		ok := false
		if e.Results != nil {
			values, ok = e.Results.Assigned(b.Steps[0])
		}
		if !ok && e.absent(b) {
			return nil, false
		}
		if !ok { // of a dry run, in which nobody knows what it would be
			return value.Unknown{Steps: b.Steps}, true
		}
		val, ok = values[b.Name]
		return val, ok
	case vars.Registered:
		if r, ok := e.registered(b.Steps[0]); ok {
			return AsValue(r), true
		}
	case vars.Collected:
		return e.collect(b.Steps), true
	case vars.Broken:
		if step := slices.IndexFunc(b.Steps, e.Results.Broken); step >= 0 {
			return e.failure(b.Steps[step], b.Name), true
		}
	case vars.BrokenOnHost: // one after the other: the last counts
		for _, step := range slices.Backward(b.Steps) {
			if e.Results.Broken(step) {
				return e.failure(step, b.Name), true
			}
		}
		return nil, false // nothing failed there
	case vars.PromisedFact:
		r, ok := e.registered(b.Steps[0])
		if ok {
			return vars.PromisedOf(r, b.Name)
		}
	case vars.Relayed:
		return e.relayed(b)
	case vars.Handed:
		return e.handed(b)
	case vars.Promised:
		// What has been found is in the plan, with steps that set the name. Otherwise nothing was found.
		if e.hasResult(b) {
			return nil, false
		}
	case vars.NotProduced, vars.Measured:
	}
	return value.Unknown{Steps: b.Steps}, true
}

// relayed is what the one host has set that a task with run_once ran on.
func (e *Env) relayed(b *vars.Binding) (val any, done bool) {
	var skipped any
	for _, one := range b.Relay {
		v, ok := e.produce(one)
		if _, open := v.(value.Unknown); !ok || open {
			continue
		}
		// A skipped result counts only if the task ran on no host at all.
		if r, isMap := v.(map[string]any); isMap && r["skipped"] == true && one.How != vars.Assigned {
			skipped = v
			continue
		}
		return v, true
	}
	if skipped != nil {
		return skipped, true
	}
	return value.Unknown{Steps: b.Steps}, b.How == vars.Relayed
}

// failure is what a rescue learns of the step that failed.
func (e *Env) failure(step int, name string) any {
	if slices.Contains(vars.FailedResultNames, name) {
		if rounds := e.Plan.rounds(step); rounds != nil && e.collecting().rescued {
			return e.collect(rounds)
		}
		if r, ok := e.Results.Registered(step); ok {
			return AsValue(r)
		}
		return Result{Failed: true}.Registered() // it was lost
	}
	s := &e.Plan.Steps[step]
	return map[string]any{"name": s.Title(), "action": s.Action, "id": s.ID(), "path": s.Path, "origin": s.Origin.String()}
}

// rounds are the steps of the loop that a step is a round of, on its host; nil if it is none.
func (p *Plan) rounds(step int) (list []int) {
	if p.Steps[step].Loop == nil {
		return nil
	}
	for i := p.Steps[step].Group; i < len(p.Steps) && p.Steps[i].Group == p.Steps[step].Group; i++ {
		if p.Steps[i].Loop != nil { // the step that has found the items is of the task, too
			list = append(list, i)
		}
	}
	return list
}

// collect makes a loop's registered value: the results of all items; the top level is the last item's, with changed
// and failed of any.
func (e *Env) collect(steps []int) any {
	all := make([]any, 0, len(steps))
	top := map[string]any{}
	changed, failed, skipped := false, false, true
	for _, s := range steps {
		item, r, ok := e.roundResult(s)
		if item == nil {
			return value.Unknown{Steps: steps}
		}
		all = append(all, item)
		if ok || len(top) == 0 {
			top = r
		}
		// What comes after an item that ended the loop was not reached, and is not among the results.
		if r["skipped"] != true && e.breaks(s) {
			changed, failed, skipped = changed || r["changed"] == true, failed || r["failed"] == true, false
			break
		}
		changed = changed || r["changed"] == true
		failed = failed || r["failed"] == true
		skipped = skipped && r["skipped"] == true
	}
	return e.collecting().sum(all, top, changed, failed, skipped)
}

// roundResult is the result of a round, as it stands among those of all; nil if it has not ended. r is what the round itself has
// registered, if it is ok.
func (e *Env) roundResult(step int) (item any, r map[string]any, ok bool) {
	if r, ok = e.registered(step); !ok {
		if _, gone := e.whyAbsent(step); !gone {
			return nil, nil, false
		}
		r = Result{Skipped: true, Dialect: e.Plan.Dialect}.Registered() // a round that was not reached, behind one that failed
	}
	m := make(map[string]any, len(r)+1)
	maps.Copy(m, r)
	if s := &e.Plan.Steps[step]; s.Loop != nil {
		e.collecting().name(m, s.Frame.Loop, s.Loop.Var, e.now)
	}
	return AsValue(m), r, ok
}

// Element implements value.Elements.
func (e *Env) Element(name string, index int) (any, bool) {
	if _, own := e.Extra[name]; own {
		return nil, false
	}
	if _, is := magicNames[name]; is && e.Frame.OnHost() {
		return nil, false
	}
	var rounds []int
	e.Frame.Each(name, func(b *vars.Binding) bool {
		if b.How == vars.Collected && !b.Lazy && !b.Early && !e.givesNone(b) {
			rounds = b.Steps
		}
		return true // what it hides counts only if it gives nothing, and then the whole is looked at
	})
	if index < 0 {
		index += len(rounds)
	}
	// A loop with break_when may end before it gets there.
	if index < 0 || index >= len(rounds) || len(e.Plan.Steps[rounds[0]].Task.Breaks) > 0 {
		return nil, false
	}
	if item, _, _ := e.roundResult(rounds[index]); item != nil {
		return item, true
	}
	return value.Unknown{Steps: rounds[index : index+1]}, true
}

// givesNone reports whether rounds of a loop give way to what the name was before; while planning, whether one might.
func (e *Env) givesNone(b *vars.Binding) bool {
	if e.Results == nil {
		return e.MissesAny(b.Steps)
	}
	return e.absent(b) && !e.hasResult(b)
}

// collecting is how the results of the rounds of a loop become one: name notes of a round's result which item it was for, and what
// else the round knew of its loop.
type collecting struct {
	name func(result map[string]any, round *vars.Layer, loopVar string, value func(b *vars.Binding) any)
	sum  func(all []any, top map[string]any, changed, failed, skipped bool) any

	rescued bool // a rescue gets it, and not the result of the round that failed
}

func (e *Env) collecting() collecting { return collectings.In(e.Plan.Dialect) }

// collectings are the two forms: in that of steps the names of the last round's result are also those of the whole.
var collectings = dialect.Of[collecting]{
	Steps: collecting{
		name: func(result map[string]any, round *vars.Layer, loopVar string, value func(b *vars.Binding) any) {
			result["item"] = value(round.Find(loopVar))
		},
		sum: func(all []any, top map[string]any, changed, failed, skipped bool) any {
			sum := make(map[string]any, len(top)+4)
			maps.Copy(sum, top)
			sum["results"], sum["changed"], sum["failed"], sum["skipped"] = all, changed, failed, skipped && len(all) > 0
			return AsValue(sum)
		},
	},
	Ansible: collecting{
		// The index too, under the name that it was given, and ansible_loop if the loop is extended.
		name: func(result map[string]any, round *vars.Layer, _ string, value func(b *vars.Binding) any) {
			for i := range round.Binds {
				result[round.Binds[i].Name] = value(&round.Binds[i])
			}
		},
		sum: collectedInPlays, rescued: true,
	},
}

// RoundNames are the entries of the result of a round that are known before it ran; if its item is hidden, those that do not show it.
func RoundNames(d dialect.Dialect, s *Step) map[string]any {
	names := map[string]any{}
	hidden := func(v any) bool { _, is := v.(value.Unknown); return is && s.NoLog }
	collectings.In(d).name(names, s.Frame.Loop, s.Loop.Var, func(b *vars.Binding) any {
		if s.NoLog && b.Name == s.Loop.Var {
			return value.Unknown{}
		}
		return b.Value
	})
	delete(names, "ansible_loop") // it has all items, of which some may be open or hidden
	maps.DeleteFunc(names, func(_ string, v any) bool { return hidden(v) })
	return names
}

// now is what a name of a frame is by now. The item of a round is taken from the frame: no_log keeps it from the step itself.
func (e *Env) now(b *vars.Binding) any {
	if b.Open {
		return e.again(b)
	}
	return b.Value
}

// again renders an open value with what is known now.
func (e *Env) again(b *vars.Binding) any {
	switch {
	case b.Given != nil:
		return e.parameters(b)
	case b.Rounds != nil:
		return b.Rounds.Extended(e.now)
	}
	return e.remembered(b, b.Where, func(m *memo.Memo) any {
		r := &Renderer{
			Engine: e.Engine, Marks: true,
			// What may not be executed for the step may not be for its variables either.
			Env: &Env{Plan: e.Plan, Engine: e.Engine, Frame: b.Where, Results: e.Results, Unapproved: e.Unapproved, Executes: e.Executes, Ahead: e.Ahead, memo: m},
		}
		v := ForNames(copyIfOpen(r, r.Value(b.Raw)))
		// A value that will never come is undefined and carries its cause, so `default` and `is defined` need no rule of their own.
		if r.Lacking != nil {
			e, _ := errors.AsType[*value.Error](r.err)
			return value.Fault{Err: e, From: b.Origin.String(), Absent: true}
		}
		if r.Failed {
			return b.Value
		}
		return v
	})
}

// parameters puts together what a preset was given. What was not known when planning gets its type now; one that has
// another stays as it is, and the step that uses it says so.
func (e *Env) parameters(b *vars.Binding) any {
	m := maps.Clone(b.Value.(map[string]any))
	for i := range b.Given.Values {
		one := &b.Given.Values[i]
		if !one.Open {
			continue
		}
		m[one.Name] = e.again(one)
		switch m[one.Name].(type) {
		case value.Fault, value.Unknown:
			continue
		}
		if typed, ok := parameter.Convert(b.Given.Types[i], m[one.Name]); ok {
			m[one.Name] = typed
		}
		if b.Given.Secret[one.Name] {
			m[one.Name] = value.Mark(e.Engine.Secrets, m[one.Name], value.Every)
		}
	}
	return m
}

// keep has steps keep their results, which nothing registers perhaps.
func (e *Env) keep(b *vars.Binding) {
	if b.How != vars.Handed || e.Plan.Basis.Facts.Done {
		return
	}
	for _, step := range b.Steps {
		e.Plan.Steps[step].Keeps = true
	}
}

// handed takes a fact from the result of the step that gives it. A step that gave none gives way to what it hides.
func (e *Env) handed(b *vars.Binding) (val any, done bool) {
	// Backwards, as a later round sets the fact again.
	var open any
	for _, step := range slices.Backward(b.Steps) {
		r, ok := e.registered(step)
		if !ok {
			open = value.Unknown{Steps: b.Steps}
			continue
		}
		if v, ok := vars.HandedOf(r, b.Name); ok {
			return v, true
		}
	}
	return open, false
}

// anyHanded is a fact that a module may have given whose facts nobody knows before it runs.
func (e *Env) anyHanded(m *vars.Machine, name string) (val any, ok bool) {
	var waits []int
	m.Handed.Before(vars.AnyName, e.Frame.ProducedAt, func(b *vars.Binding) bool {
		if e.Results == nil {
			if !e.absent(b) {
				e.keep(b)
				waits = append(waits, e.Coming(b.Steps)...)
			}
			return false
		}
		for _, step := range b.Steps {
			if r, given := e.Results.Registered(step); given {
				if val, ok = vars.HandedOf(r, name); ok {
					return true
				}
			}
		}
		return false
	})
	if len(waits) > 0 {
		slices.Sort(waits)
		return value.Unknown{Steps: waits}, true
	}
	return val, ok
}

// going are those of some hosts that have not failed or left. Planning takes it that none will; what is shown of it is asked again in the
// run.
func (e *Env) going(hosts []string) []string {
	at := -1
	if e.At != nil {
		at = e.At.Index
	}
	hosts = e.Frame.Scene.Staying(hosts, at, e.Results)
	if e.Results == nil {
		if e.Changes != nil {
			*e.Changes = true
		}
		return hosts
	}
	failed := e.Results.Failed()
	out, cleared := map[string]bool{}, e.clearedAt(failed)
	first, last := e.task()
	for _, step := range failed {
		// A host is back with the play after the clearing, and those that fail in this very task have begun it with the others.
		if step >= cleared && (step < first || step >= last) {
			out[e.Plan.Steps[step].Host] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(hosts), func(host string) bool { return out[host] })
}

// task are the steps of the task that is asked for: those of all hosts, and of all rounds.
func (e *Env) task() (first, last int) {
	if e.At == nil {
		return 0, 0
	}
	at := e.At.Scope
	if e.At.Loop != nil {
		at = e.Plan.Scopes[at].Parent
	}
	switch s := &e.Plan.Scopes[at]; {
	case s.Kind == ScopeTask:
		return s.First, s.Last
	case e.At.Loop != nil: // on a single host
		own := &e.Plan.Scopes[e.At.Scope]
		return own.First, own.Last
	}
	return e.At.Index, e.At.Index + 1
}

// clearedAt is the last step of earlier plays that has let hosts come back of those on which steps have failed; -1 if there is none.
func (e *Env) clearedAt(failed []int) int {
	if e.At == nil || len(failed) == 0 {
		return -1
	}
	play := 0
	for id := e.At.Scope; id > 0; id = e.Plan.Scopes[id].Parent {
		if e.Plan.Scopes[id].Kind == ScopePlay {
			play = id
		}
	}
	for step := e.Plan.Scopes[play].First - 1; step >= slices.Min(failed); step-- {
		if skipped, known := e.Results.Skipped(step); e.Plan.Steps[step].Clears && known && !skipped && !e.Results.Omitted(step) {
			return step
		}
	}
	return -1
}

// lazily renders the variable of a play where it is used.
func (e *Env) lazily(b *vars.Binding) any {
	return e.renderHere(b, func(r *Renderer) any { return r.Value(b.Raw) })
}

// renderHere renders what is the value of a binding where it is used.
func (e *Env) renderHere(b *vars.Binding, render func(*Renderer) any) any {
	at := b.Origin.String()
	if i := slices.Index(e.evaluating, b); i >= 0 {
		names := []string{}
		for _, one := range e.evaluating[i:] {
			names = append(names, one.Name)
		}
		names = append(names, b.Name)
		return value.Fault{Err: &value.Error{
			Kind: value.Failure, Message: "variables that need each other: " + strings.Join(names, " → "),
			Hint: "give one of them a value of its own", Offset: -1,
		}, From: at}
	}
	return e.remembered(b, e.Frame, func(m *memo.Memo) any {
		inner := *e
		inner.evaluating, inner.memo = append(slices.Clip(e.evaluating), b), m
		r := &Renderer{Engine: e.Engine, Env: &inner, Marks: true}
		v := render(r)
		// The error stays with the value: it is reported where that is used, with the place where it is written.
		if r.err != nil {
			found, ok := errors.AsType[*value.Error](r.err)
			if !ok {
				found = &value.Error{Kind: value.Failure, Message: r.err.Error(), Offset: -1}
			}
			return value.Fault{Err: found, From: at, Absent: found.Kind == value.UndefinedError}
		}
		return ForNames(copyIfOpen(r, v))
	})
}
