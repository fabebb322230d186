package events

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Forecast is how long a plan may take, by how long its steps took in earlier runs. It is no event, and not in the
// journal: a run that is told again later is told without.
type Forecast struct {
	Slots int             // how many steps may run at once; required
	Took  []time.Duration // per step; 0 is known to take none, and below 0 nothing is known
	Rest  []time.Duration // per step: the longest chain of steps that begins with it
	Last  []Last          // per step: how it ended last, in any earlier run; may be nil
}

// Last is how a step ended in the last run that had it. The zero value is a step that has never ended.
type Last struct {
	At      time.Time
	Outcome Outcome // OK, Changed or Failed
	Took    time.Duration
}

// Worthwhile is how long a run must take for its time to be worth a word.
const Worthwhile = 10 * time.Second

// Estimate is how long a run will still take: a Forecast, and what has become of its steps. It is a bound from below,
// the longer of the longest chain that is left and of all that is left in so many slots at once; times how much slower
// than before the run has been so far. What is not known of a step counts as nothing.
type Estimate struct {
	Forecast
	order []int32 // the steps, those with the longest rest first
	place []int32 // of a step in it
	first int     // all before it have begun

	states  []estimated
	running map[int]time.Time // when they began
	left    int               // steps that have not ended and take time, or may
	unknown int               // of those
	work    time.Duration     // of those

	before, now time.Duration // what steps that ended well in this run took before, and now
	slack       time.Duration // of both; the more, the less a single step says about the others
	worthwhile  bool
}

type estimated uint8

const (
	toCome estimated = iota
	begun
	over
)

// NewEstimate begins with a run in which nothing has happened.
func NewEstimate(f Forecast) *Estimate {
	e := &Estimate{
		Forecast: f, order: make([]int32, len(f.Rest)), place: make([]int32, len(f.Rest)),
		states: make([]estimated, len(f.Took)), running: map[int]time.Time{},
	}
	for i := range e.order {
		e.order[i] = int32(i)
	}
	// The heaviest first, so that the bound is the first one that has not begun.
	slices.SortStableFunc(e.order, func(a, b int32) int { return cmp.Compare(f.Rest[b], f.Rest[a]) })
	for at, step := range e.order {
		e.place[step] = int32(at)
	}
	for i := range e.Took {
		e.count(i, +1)
	}
	// The slack keeps a few fast steps from deciding the pace.
	e.slack = max(e.work/4, 5*time.Second)
	whole, _ := e.bound(time.Time{})
	e.worthwhile = whole >= Worthwhile
	return e
}

func (e *Estimate) count(step, d int) {
	switch took := e.Took[step]; {
	case took > 0:
		e.left += d
		e.work += time.Duration(d) * took
	case took < 0:
		e.left += d
		e.unknown += d
	}
}

// See takes what has become of a step.
func (e *Estimate) See(step int, s *Step) {
	if step >= len(e.states) {
		return
	}
	was, is := e.states[step], toCome
	switch {
	case s.State == Settled, s.Excluded:
		is = over
	case s.State == Active, s.State == Backoff:
		is = begun
	}
	if was == is {
		return
	}
	e.states[step] = is
	if was == over {
		e.count(step, +1)
	}
	if is == toCome {
		e.first = min(e.first, int(e.place[step]))
	}
	began, ran := e.running[step]
	delete(e.running, step)
	if !ran && s.Attempt > 0 {
		began, ran = s.Began(), true // not its first attempt, where a person had it tried again hours later
	}
	if is == begun {
		e.running[step] = began
	}
	if is != over {
		return
	}
	e.count(step, -1)
	// Only what succeeded, and is known from earlier runs, says something about the pace.
	if well := s.Outcome == OK || s.Outcome == Changed; well && ran && !s.Kept && e.Took[step] > 0 {
		e.before += e.Took[step]
		e.now += max(s.Ended.Sub(began), 0)
	}
}

// Left is how long the run will still take if nobody keeps it waiting. It reports false where that is not known of most
// of the steps that are left, or the whole run is not worth a word.
func (e *Estimate) Left(now time.Time) (time.Duration, bool) {
	if !e.worthwhile || 2*e.unknown >= e.left {
		return 0, false
	}
	bound, pace := e.bound(now)
	return time.Duration(min(max(pace, 0.25), 4) * float64(bound)), true
}

// bound is what is left, by what the steps took before, and how much slower than then it has gone so far. Each step is
// passed by once in a run, and those that run are few.
func (e *Estimate) bound(now time.Time) (bound time.Duration, pace float64) {
	for e.first < len(e.order) && e.states[e.order[e.first]] != toCome {
		e.first++
	}
	var chain time.Duration
	if e.first < len(e.order) {
		chain = e.Rest[e.order[e.first]]
	}
	work, before, spent := e.work, e.before, e.now
	for step, began := range e.running {
		took, lasts := max(e.Took[step], 0), max(now.Sub(began), 0)
		chain = max(chain, e.Rest[step]-min(lasts, took))
		work -= min(lasts, took)
		if lasts > took && took > 0 { // it is late, and says so before its end
			before += took
			spent += lasts
		}
	}
	chain = min(chain, work) // of a chain some may be left out by now
	return max(chain, work/time.Duration(max(e.Slots, 1))), float64(spent+e.slack) / float64(before+e.slack)
}

// About says a time as roughly as it is known: "a few seconds", "40s", "3m", "2h 10m".
func About(d time.Duration) string {
	switch d = Roughly(d); {
	case d == 0:
		return "a few seconds"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dh %dm", d/time.Hour, d%time.Hour/time.Minute)
}

// Roughly rounds a time to what About tells apart.
func Roughly(d time.Duration) time.Duration { return d.Round(Grain(d)) }

// Grain is to what a time is rounded.
func Grain(d time.Duration) time.Duration {
	switch {
	case d < 55*time.Second:
		return 10 * time.Second
	case d < time.Hour-30*time.Second:
		return time.Minute
	}
	return 10 * time.Minute
}
