package events

import (
	"slices"
	"sort"
	"time"
)

// Times is how the time of a run has been spent so far. What neither ran nor waited, the time between two processes of a run, is
// in neither sum.
//
//	── review ──┬── steps ──┬── paused ──┬─ steps ─┬ (no process) ┬── steps ──┬── failed, undecided ──
//	   waited   │    ran    │   waited   │   ran   │              │    ran    │        waited
type Times struct {
	Ran    time.Duration // steps ran, or were about to
	Waited time.Duration // nothing ran, and a person had to decide: review, pauses, failures, questions

	at    time.Time     // what is summed up to
	mono  time.Duration // the same on the clock of the process
	waits bool          // what comes next is waiting
	over  bool
	idle  []idle // the stretches that do not count as run time, in order
}

// idle is a stretch of time that does not count as run time.
type idle struct {
	from, to time.Time
	sum      time.Duration // of it and all before it
}

// RanAt is the run time until now.
func (t *Times) RanAt(now time.Time) time.Duration {
	if t.waits || t.over || t.at.IsZero() {
		return t.Ran
	}
	return t.Ran + max(now.Sub(t.at), 0)
}

// Between is how much of a stretch of time was run time.
func (t *Times) Between(from, to time.Time) time.Duration {
	return max(to.Sub(from)-(t.idleUntil(to)-t.idleUntil(from)), 0)
}

// RunTime is a moment without the waiting before it: the distance of two of them is run time.
func (t *Times) RunTime(at time.Time) time.Time { return at.Add(-t.idleUntil(at)) }

// idleUntil is how much time up to a moment did not count as run time.
func (t *Times) idleUntil(at time.Time) (sum time.Duration) {
	n := sort.Search(len(t.idle), func(i int) bool { return t.idle[i].from.After(at) })
	if n > 0 {
		last := &t.idle[n-1]
		sum = last.sum
		// The moment lies within the last pause that had begun.
		if at.Before(last.to) {
			sum -= last.to.Sub(at)
		}
	}
	if t.waits && !t.over && at.After(t.at) {
		sum += at.Sub(t.at)
	}
	return sum
}

// advance sums up to a moment. Where records have no time of the process, that of the wall must do. What is told later than it
// happened has been counted.
func (t *Times) advance(at time.Time, mono time.Duration) {
	if t.over || t.at.IsZero() {
		t.at, t.mono = at, mono
		return
	}
	passed := mono - t.mono
	if mono == 0 && t.mono == 0 {
		passed = at.Sub(t.at)
	}
	if passed < 0 {
		return
	}
	if t.waits {
		t.Waited += passed
		t.skip(at)
	} else {
		t.Ran += passed
	}
	t.at, t.mono = at, mono
}

// skip notes that the time until a moment does not count as run time. It only appends: copies share what is there.
func (t *Times) skip(to time.Time) {
	if !to.After(t.at) {
		return
	}
	sum := to.Sub(t.at)
	if n := len(t.idle); n > 0 {
		sum += t.idle[n-1].sum
	}
	t.idle = append(t.idle, idle{t.at, to, sum})
}

// Waits reports whether the clock stands still: a person has to decide, or the run has ended.
func (t *Times) Waits() bool { return t.waits || t.over }

// Copy is what another fold can go on from.
func (t *Times) Copy() *Times {
	c := *t
	c.idle = slices.Clip(c.idle)
	return &c
}

// Clock tells the time in which a run runs from that in which it waits for a person. It is a fold over the events of the run: while
// any step is active, or nothing keeps the next one, the time is run time, also where the run is to pause; a step that waits for its
// next attempt, or for an answer of whoever is at its terminal, is active.
type Clock struct {
	Times
	active map[int]bool // steps with an attempt, or between two
	gates  map[int]bool // steps that are a question
	paused bool
}

// See folds an event.
func (c *Clock) See(r Record) {
	switch r.Event.(type) {
	case StepOutput, StepProgress, Gap: // which come when they are read
		return
	default:
	}
	c.advance(r.Time, r.Mono)
	switch e := r.Event.(type) {
	case RunStarted:
		*c = Clock{Times: Times{at: r.Time, mono: r.Mono}}
	case PlanLoaded:
		if e.Times != nil { // who begins to read here has not seen what was before
			c.Times = *e.Times
		}
		c.active, c.gates, c.paused = nil, nil, false
	case RunPaused:
		delete(c.gates, r.Step) // it was opened for the pause
		c.paused = true
	case RunResumed:
		c.paused = false
	case StepStarted, StepRetrying:
		put(&c.active, r.Step)
	case StepCompleted, StepSkipped, StepFailed, StepLost, StepCancelled, StepOmitted:
		delete(c.active, r.Step)
		delete(c.gates, r.Step)
	case GateOpened:
		put(&c.gates, r.Step)
	case GateResolved:
		delete(c.gates, r.Step)
	case RunCompleted:
		c.over = true
	default: // it changes nothing of who waits for whom
	}
	// Waiting is time in which a person is to decide and nothing runs.
	c.waits = len(c.active) == 0 && (c.paused || len(c.gates) > 0)
}

// Stop sums up to the end of the run.
func (c *Clock) Stop(at time.Time, mono time.Duration) { c.advance(at, mono) }

// Continue says that another process goes on with the run. The time since the last record was nobody's.
func (c *Clock) Continue(at time.Time, mono time.Duration) {
	if !c.at.IsZero() {
		c.skip(at)
	}
	c.at, c.mono, c.over, c.paused = at, mono, false, false
	c.active, c.gates, c.waits = nil, nil, false
}

func put(set *map[int]bool, step int) {
	if *set == nil {
		*set = map[int]bool{}
	}
	(*set)[step] = true
}
