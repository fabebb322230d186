package statefile

import (
	"os"
	"slices"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
	"moon/plan/prior"
)

// Recorder turns the facts of a run into records of its playbook's state. It is given every fact, in a run and when a run is
// resumed, and
// adds what follows to the state once the facts are certain to stay: a run that dies in between adds it when it is resumed.
type Recorder struct {
	dir     string // of all states; "": nothing is kept
	run     string
	pending []prior.Record
	begun   bool // something was really started: what the plan says of the state itself counts from here on

	last map[string]string // of plays: the last step on each machine that has made something
	// Steps that have made something, in this run or before, by their paths, with their digests; nil: not looked at yet.
	makers map[string]string
	above  map[int][]string
	of     *graph.Graph // above is for
	where  string       // the machine that the run was on
	self   string       // and this one
}

// NewRecorder is the recorder of a run.
func NewRecorder(dir string) *Recorder {
	name, _ := os.Hostname() // as the run has it, too
	return &Recorder{dir: dir, last: map[string]string{}, self: name}
}

// See takes in a fact of the run.
func (r *Recorder) See(p *plan.Plan, check bool, rec fact.Record) {
	if r.dir == "" || p == nil {
		return
	}
	r.run = rec.Run
	switch f := rec.Fact.(type) { //nolint:gochecksumtype // of the others nothing is made
	case fact.RunCreated:
		r.where = f.Host
	case fact.RunResumed:
		r.where = f.Host
	case fact.AttemptFinished:
		if f.Step < len(p.Steps) && !p.Steps[f.Step].Dry(check) {
			r.begin(p)
			r.ended(p, rec, f)
		}
	case fact.RunFinished:
		if !check && f.Outcome == events.RunDone {
			r.forget(p)
		}
	}
}

// begin records what the plan knows of steps that have other paths than before.
func (r *Recorder) begin(p *plan.Plan) {
	if r.begun {
		return
	}
	r.begun = true
	if len(p.Moved) > 0 {
		r.add(prior.Record{Maker: prior.Maker{Run: r.run}, Moved: p.Moved})
	}
}

// forget records what a run leaves alone and no longer counts as made by its playbook.
func (r *Recorder) forget(p *plan.Plan) {
	var gone []prior.Key
	for _, o := range p.Orphans {
		if o.Fate == plan.OrphanForgotten {
			gone = append(gone, o.Keys...)
		}
	}
	if len(gone) > 0 {
		r.add(prior.Record{Maker: prior.Maker{Run: r.run}, Gone: gone})
	}
}

// ended records what a step has made.
func (r *Recorder) ended(p *plan.Plan, rec fact.Record, f fact.AttemptFinished) {
	ps := &p.Steps[f.Step]
	var gone, deposed []prior.Key
	settled := f.Outcome == events.OK || f.Outcome == events.Changed
	switch {
	case ps.Orphan > 0 && settled:
		gone = p.Orphans[ps.Orphan-1].Keys
	case ps.Orphan == 0 && settled:
		for _, o := range p.Orphans {
			if o.Deposed && o.Of == ps.Path {
				deposed = append(deposed, o.Keys...)
			}
		}
	}
	known := r.known(p)
	// A step that finds all as it wants it has made nothing; that it wants something else than before is to be known anyway.
	digest, made := known[ps.Path]
	redefined := settled && made && digest != ps.Digest && ps.Orphan == 0
	if !redefined && len(f.Resources) == 0 && f.Undo == nil && f.UndoWithheld == "" && len(gone) == 0 && len(deposed) == 0 {
		return
	}
	one := prior.Record{
		Host: ps.Machine(), Attempt: f.Attempt, Things: f.Resources, Undo: f.Undo, Withheld: f.UndoWithheld, Gone: gone, Deposed: deposed,
		Maker: prior.Maker{
			Step: ps.Path, Title: ps.Title(), Action: ps.Action, File: ps.Origin.File, Line: ps.Origin.Line, Run: r.run,
			Time: rec.At.UTC(), After: f.After, Definition: ps.Digest,
		},
	}
	one.Phase, one.Play = p.PhaseOf(f.Step)
	if ps.Become != nil {
		one.Become = &prior.Become{User: ps.Become.User, Method: ps.Become.Method, Flags: ps.Become.Flags}
	}
	// A run may have come from another machine. What its steps have made there on the machine itself is not here.
	if shared == nil || r.where == r.self || !isHere(one.Host) {
		r.add(one)
	}
	if ps.Orphan > 0 {
		return
	}
	r.last[one.Host] = ps.Path
	if !made {
		r.above = nil // what comes after it has it before it now
	}
	known[ps.Path] = ps.Digest
}

func (r *Recorder) add(one prior.Record) { r.pending = append(r.pending, one) }

// Flush adds to the state what has been seen since the last time.
func (r *Recorder) Flush(p *plan.Plan) error {
	if len(r.pending) == 0 {
		return nil
	}
	err := Of(r.dir, p.Root, p.RootFile).Append(r.pending...)
	r.pending = r.pending[:0]
	return err
}

// CatchUp drops of what a resumed run has made what its state has already: a crash between the journal and the state leaves only
// the rest.
func (r *Recorder) CatchUp(p *plan.Plan) error {
	// One that is shared is read in any case: what others have recorded by now, the run continues after.
	if len(r.pending) == 0 && (shared == nil || r.dir == "") {
		return nil
	}
	all, err := Of(r.dir, p.Root, p.RootFile).Records()
	if err != nil {
		return err
	}
	type end struct {
		step, host string
		attempt    int
	}
	known := map[end]bool{}
	for i := range all {
		if one := &all[i]; one.Run == r.run {
			known[end{one.Step, one.Host, one.Attempt}] = true
		}
	}
	r.pending = slices.DeleteFunc(r.pending, func(one prior.Record) bool { return known[end{one.Step, one.Host, one.Attempt}] })
	return nil
}

// After are the paths of the nearest steps before one, on the same machine or giving it values, that have made something: what must be
// taken away after it.
func (r *Recorder) After(p *plan.Plan, g *graph.Graph, step int) []string {
	if r.dir == "" {
		return nil
	}
	// In a play each host does one task after the other. To look through the barriers of a thousand hosts would cost more than it tells.
	if inPlay(p, step) {
		if last := r.last[p.Steps[step].Machine()]; last != "" && last != p.Steps[step].Path {
			return []string{last}
		}
		return nil
	}
	r.known(p)
	if r.of != g || r.above == nil {
		r.of, r.above = g, map[int][]string{}
	}
	return r.nearest(p, g, step)
}

// inPlay reports whether a step is one of a play.
func inPlay(p *plan.Plan, step int) bool {
	_, play := p.PhaseOf(step)
	return play != ""
}

// known are the steps that have made something before, and in this run.
func (r *Recorder) known(p *plan.Plan) map[string]string {
	if r.makers != nil {
		return r.makers
	}
	r.makers = map[string]string{}
	// Without it the order is that of the records, and every definition counts as new.
	// What other machines have recorded since the run began counts at its next record.
	records, err := Of(r.dir, p.Root, p.RootFile).settled()
	if err != nil {
		return r.makers
	}
	have := prior.Fold(records)
	for i := range have.Things {
		for _, step := range have.Things[i].By() {
			r.makers[step] = have.Definitions[step]
		}
	}
	return r.makers
}

// made reports whether a step has made something.
func (r *Recorder) made(step string) bool {
	_, made := r.makers[step]
	return made
}

// nearest looks through the steps that have made nothing. It keeps what it finds, since those after a step ask for the same.
func (r *Recorder) nearest(p *plan.Plan, g *graph.Graph, step int) []string {
	stack := []int{step} // not by recursion: a chain may have a hundred thousand steps
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		if _, known := r.above[top]; known {
			stack = stack[:len(stack)-1]
			continue
		}
		var found []string
		ready := true
		for _, l := range g.Before(top) {
			before := &p.Steps[l.Step]
			switch {
			case before.Orphan > 0 || !l.Data && before.Machine() != p.Steps[top].Machine():
			case r.made(before.Path):
				found = append(found, before.Path)
			default:
				above, known := r.above[l.Step]
				if !known {
					stack, ready = append(stack, l.Step), false
				}
				found = append(found, above...)
			}
		}
		if ready {
			slices.Sort(found)
			r.above[top], stack = slices.Compact(found), stack[:len(stack)-1]
		}
	}
	return r.above[step]
}
