package orphans

import (
	"cmp"
	"slices"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/plan/prior"
)

// Request is what the orphans are found from.
type Request struct {
	Plan  *plan.Plan // of the playbook without them
	Prior *plan.Prior
	Moves []prior.Move
	Fate  plan.OrphanFate // of those that can be removed
	// Reach says whether a host can be worked on: a run may be limited to others, and a host cannot be reached if no inventory has
	// it.
	Reach func(host string) (concerned, known bool)
}

// finder compares a state with a plan.
type finder struct {
	Request
	steps  map[string]int        // by path
	open   []string              // paths of places behind which the run adds steps, and of what is skipped
	names  map[prior.Key]bool    // what steps are known to make
	files  map[string][]string   // the files among it, by machine, sorted
	types  map[string][]string   // of steps of which all is known that they make: of which types
	undone map[string]*plan.Undo // what steps would be undone by, by path
	late   map[string]bool       // steps that make what is new before what is old is removed
	things []prior.Thing         // of the state, with the paths of now
}

// Find returns the orphans in the order in which they are to go.
func Find(r Request) []plan.Orphan {
	f := finder{
		Request: r, steps: map[string]int{}, names: map[prior.Key]bool{}, files: map[string][]string{}, types: map[string][]string{},
	}
	r.Plan.Moved = prior.Resolve(r.Moves, r.Prior.State)
	f.things = moved(r.Prior.State, r.Plan.Moved).Things
	if !r.Prior.Destroy {
		f.look()
	}
	chosen := f.selected()
	covered := f.covered(chosen)
	var list []plan.Orphan
	for i := range f.things {
		t := &f.things[i]
		if covered[t.Key()] || !chosen(i) {
			continue
		}
		concerned, known := f.Reach(t.Host)
		given, of := f.given(t)
		if given && f.replaced(t) {
			given, of = false, t.Step
		}
		if !concerned || given {
			continue
		}
		o := plan.Orphan{Thing: *t, Keys: []prior.Key{t.Key()}, Deposed: of != "" || t.Deposed, Of: of, Late: of != "" && f.late[of]}
		o.Fate, o.Why = f.fate(t, known)
		if f.replaced(t) {
			// Whatever becomes of the others: it was asked for by name. What replaces it has its name, so it cannot be there before.
			one := f
			one.Fate = plan.OrphanRemoved
			o.Fate, o.Why = one.fate(t, known)
			o.Late = false
		}
		if t.Type == prior.StepUndo {
			o.Keys = append(o.Keys, f.madeBy(t)...)
		}
		list = append(list, o)
	}
	list = attach(list)
	// As long as all is kept, only what moon has made is of interest.
	if f.Fate == plan.OrphanKept {
		list = slices.DeleteFunc(list, func(o plan.Orphan) bool { return !o.Thing.Created })
	}
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b plan.Orphan) int { return cmp.Compare(b.Thing.Phase, a.Thing.Phase) })
	for i, waits := range waitsOf(list, f.things) {
		list[i].Waits = waits
	}
	return list
}

// moved is a state with the paths that its steps have now.
func moved(s *prior.State, paths map[string]string) *prior.State {
	if len(paths) == 0 {
		return s
	}
	return prior.Fold([]prior.Record{{Serial: s.Serial, Whole: s.Things, Defined: s.Definitions}, {Serial: s.Serial, Moved: paths}})
}

// look takes down what the steps of the plan give.
func (f *finder) look() {
	f.undone, f.late = map[string]*plan.Undo{}, map[string]bool{}
	p := f.Plan
	for i := range p.Steps {
		s := &p.Steps[i]
		f.steps[s.Path] = i
		if s.Open() {
			f.open = append(f.open, strings.TrimSuffix(s.Path, "?"))
		}
		if s.Undo != nil {
			f.undone[s.Path] = s.Undo
		}
		if s.Task == nil {
			continue
		}
		f.late[s.Path] = s.CreateFirst
		if s.Task.Known == nil {
			continue
		}
		own := makes(s.Task.Known.Args)
		for _, name := range own.names {
			f.names[prior.Key{Host: s.Machine(), Type: own.typ, Name: name}] = true
			if own.typ == events.FileResource {
				f.files[s.Machine()] = append(f.files[s.Machine()], name)
			}
		}
		if own.typ != "" {
			f.types[s.Path] = []string{own.typ}
		}
	}
	for _, list := range f.files {
		slices.Sort(list)
	}
	for i := range p.Scopes {
		if p.Scopes[i].Skipped != "" {
			f.open = append(f.open, p.Scopes[i].Path)
		}
	}
}

// given reports whether a step of the plan gives a thing, or may. of is the step that gave it and makes something else now.
func (f *finder) given(t *prior.Thing) (given bool, of string) {
	if t.Type == prior.StepUndo {
		return f.stays(t), ""
	}
	if f.names[t.Key()] || t.Type == events.FileResource && f.inFile(t) {
		return true, ""
	}
	for _, path := range t.By() {
		step, there := f.steps[path]
		switch {
		case !there && f.mayCome(path):
			return true, ""
		case !there:
		// A label that the playbook uses twice moves to the next step when the first is taken out, so the name of a thing has the last
		// word.
		case t.Along || !slices.Contains(f.types[path], t.Type):
			return true, ""
		case f.Plan.Steps[step].Machine() == t.Host:
			of = path
		}
	}
	return false, of
}

// replaced reports whether a thing is to be made again.
func (f *finder) replaced(t *prior.Thing) bool {
	return slices.ContainsFunc(f.Prior.Replace, func(text string) bool { return t.Named(text) })
}

// inFile reports whether a file is part of what a step gives: in a tree that it copies, or a directory on the way to it.
func (f *finder) inFile(t *prior.Thing) bool {
	name := t.Name
	for dir := name; ; {
		at := strings.LastIndexByte(dir, '/')
		if at <= 0 {
			break
		}
		dir = dir[:at]
		if f.names[prior.Key{Host: t.Host, Type: t.Type, Name: dir}] && f.byTree(t) {
			return true
		}
	}
	list := f.files[t.Host]
	at, _ := slices.BinarySearch(list, name+"/")
	return at < len(list) && strings.HasPrefix(list[at], name+"/")
}

// byTree reports whether the step that made a file is still there: then the file may be one of many.
func (f *finder) byTree(t *prior.Thing) bool {
	return slices.ContainsFunc(t.By(), func(path string) bool { _, there := f.steps[path]; return there })
}

// mayCome reports whether the run may add the step with a path, or a condition keeps it out of the plan.
func (f *finder) mayCome(path string) bool {
	return slices.ContainsFunc(f.open, func(place string) bool {
		rest, ok := strings.CutPrefix(path, place)
		return ok && (rest == "" || strings.ContainsRune("/#?~@", rune(rest[0])))
	})
}

// stays reports whether the step is still there that an undo belongs to. Steps are known by what undoes them, too: the path may
// have gone
// over to another.
func (f *finder) stays(t *prior.Thing) bool {
	if f.mayCome(t.Step) {
		return true
	}
	step, there := f.steps[t.Step]
	if !there {
		return false
	}
	s := &f.Plan.Steps[step]
	// With nothing that undoes it now, the step is still the one that was recorded: what it did stays.
	return s.Action == t.Action || s.Undo == nil
}

// covered are the things that the undo of their step takes away.
func (f *finder) covered(chosen func(int) bool) map[prior.Key]bool {
	all := map[prior.Key]bool{}
	for i := range f.things {
		t := &f.things[i]
		if t.Type != prior.StepUndo || t.Undo == nil || !chosen(i) {
			continue
		}
		for _, k := range f.madeBy(t) {
			all[k] = true
		}
	}
	return all
}

// madeBy are the things that the step of an undo has created. What another action made under the same path belongs to a step that has left
// the path to this one: its undo knows nothing of that.
func (f *finder) madeBy(undo *prior.Thing) (keys []prior.Key) {
	for i := range f.things {
		t := &f.things[i]
		if t.Type != prior.StepUndo && t.Step == undo.Step && t.Host == undo.Host && t.Action == undo.Action {
			keys = append(keys, t.Key())
		}
	}
	return keys
}

// fate is what becomes of an orphan.
func (f *finder) fate(t *prior.Thing, known bool) (plan.OrphanFate, string) {
	switch {
	case f.Fate == plan.OrphanKept, f.Fate == plan.OrphanForgotten:
		return f.Fate, ""
	case !t.Created:
		return plan.OrphanForgotten, "it was there before, and was only changed"
	case t.Undo == nil && t.Withheld != "":
		return plan.OrphanStuck, t.Withheld
	case t.Undo == nil:
		return plan.OrphanStuck, "moon does not know how to take it away"
	case !known:
		return plan.OrphanStuck, "the inventory does not have " + t.Host + " any more"
	}
	return plan.OrphanRemoved, ""
}

// attach gives what was made along with something else, and goes with it, to that.
func attach(list []plan.Orphan) []plan.Orphan {
	type record struct{ host, step, run string }
	main := map[record]int{}
	of := func(t *prior.Thing) record { return record{t.Host, t.Step, t.Run} }
	for i := range list {
		if t := &list[i].Thing; !t.Along && list[i].Fate == plan.OrphanRemoved {
			main[of(t)] = i
		}
	}
	for i := range list {
		t := &list[i].Thing
		if at, ok := main[of(t)]; ok && t.Along && t.Undo == nil {
			list[at].Keys = append(list[at].Keys, t.Key())
			list[i].Keys = nil
		}
	}
	return slices.DeleteFunc(list, func(o plan.Orphan) bool { return len(o.Keys) == 0 })
}
