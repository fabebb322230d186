package exact

import (
	"time"

	"moon/events"
	"moon/events/fact"
	"moon/exec/fault"
	"moon/plan"
)

// Deeds are what the steps of a run have done so far: on which machine and when each ran. They tell a change that the run has brought
// about from one that came from outside. Of a path the time of its last change says that; of anything else, such as a
// package, only whether a step ran that may change anything.
type Deeds struct {
	on    map[plan.Machine][]span
	began time.Time // of the run: what changed before is not its doing
}

// span is the time in which an attempt ran.
type span struct {
	of       key
	name     string // of its step, for people
	wide     bool   // it may have changed anything, and not only the path it names
	cut      bool   // nobody saw its end
	from, to time.Time
}

// grain is how far the clock of a file system may be behind: it is only moved on with the ticks of the kernel.
const grain = 10 * time.Millisecond

// margin is grain for the beginning of the run, where somebody may have edited a file just before; no step has done anything yet.
const margin = 2 * time.Millisecond

// confined are the actions that change only the path they name, which a prediction of what comes later has seen.
var confined = map[string]bool{
	"copy": true, "template": true, "file": true, "lineinfile": true, "blockinfile": true, "replace": true,
}

// looks are the actions that change nothing.
var looks = map[string]bool{
	"stat": true, "find": true, "slurp": true, "getent": true, "ping": true, "setup": true, "gather_facts": true, "assert": true,
	"package_facts": true, "service_facts": true,
}

// see takes note of what a record says of a step. inward says of an action that it touches no machine.
func (d *Deeds) see(p *plan.Plan, r fact.Record, inward func(action string) bool) {
	switch f := r.Fact.(type) {
	case fact.AttemptStarted:
		ps := &p.Steps[f.Step]
		if looks[ps.Action] || inward(ps.Action) || ps.Dry(false) {
			return
		}
		for _, m := range machinesOf(ps) {
			d.add(m, span{of: keyOf(ps), name: p.After([]int{f.Step}), wide: !confined[ps.Action], from: r.At})
		}
	case fact.AttemptFinished:
		ps := &p.Steps[f.Step]
		for _, m := range machinesOf(ps) {
			d.end(m, keyOf(ps), r.At, &f)
		}
	default:
	}
}

// machinesOf are those on which a step may change something.
func machinesOf(ps *plan.Step) []plan.Machine {
	on := ps.Conn.Machine()
	if on != plan.Here && (ps.Action == "fetch" || ps.Task != nil && ps.Task.OnController()) {
		return []plan.Machine{on, plan.Here}
	}
	return []plan.Machine{on}
}

func (d *Deeds) add(on plan.Machine, s span) {
	if d.on == nil {
		d.on = map[plan.Machine][]span{}
	}
	d.on[on] = append(d.on[on], s)
}

func (d *Deeds) end(on plan.Machine, of key, at time.Time, f *fact.AttemptFinished) {
	list := d.on[on]
	for i := len(list) - 1; i >= 0; i-- {
		s := &list[i]
		if s.of != of || !s.to.IsZero() {
			continue
		}
		if s.to = at; f.Class == fault.Drift { // it did nothing
			d.on[on] = append(list[:i], list[i+1:]...)
		} else if f.Outcome == events.Lost || f.Outcome == events.Unreachable {
			s.cut = true
		}
		return
	}
}

// cut ends what nobody has seen the end of. What happened since is not known to be the run's, but for what those steps do themselves.
func (d *Deeds) cut(at time.Time) {
	for _, list := range d.on {
		for i := range list {
			if list[i].to.IsZero() {
				list[i].to, list[i].cut = at, true
			}
		}
	}
}

// copyOf is what has been done by now on the machine of a step.
func (d *Deeds) copyOf(ps *plan.Step) *Deeds {
	on := ps.Conn.Machine()
	return &Deeds{began: d.began, on: map[plan.Machine][]span{on: append([]span(nil), d.on[on]...)}}
}

// By names the step of the run that may have brought about what a step now finds, or "". from and to are when it was looked at. When the
// age was taken in between is known but for the way there and back, which is long if the host is far away or this machine is busy: so what
// may have been done by the run counts as its doing.
func (d *Deeds) By(ps *plan.Step, now *events.Prediction, from, to time.Time) string {
	list := d.on[ps.Conn.Machine()]
	earliest, latest := from.Add(now.Took-now.Age), to.Add(-now.Age)
	early := now.Age > 0 && latest.Before(d.began.Add(-margin))
	for i := len(list) - 1; i >= 0; i-- {
		s := &list[i]
		switch {
		case s.of == keyOf(ps) && s.to.IsZero(): // the attempt that is about to be made
		case s.of == keyOf(ps) && s.cut: // it is tried again, and may have been done already
			return s.name
		case early:
		case now.Age <= 0: // it has none
			if s.wide {
				return s.name
			}
		case !latest.Before(s.from.Add(-grain)) && (s.to.IsZero() || !earliest.After(s.to)):
			return s.name
		}
	}
	return ""
}
