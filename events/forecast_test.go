package events

import (
	"math/rand/v2"
	"testing"
	"time"
)

const second = time.Second

// chainOf is a forecast of steps one after the other.
func chainOf(took ...time.Duration) Forecast {
	f := Forecast{Slots: 1, Took: took, Rest: make([]time.Duration, len(took))}
	var rest time.Duration
	for i := len(took) - 1; i >= 0; i-- {
		rest += max(took[i], 0)
		f.Rest[i] = rest
	}
	return f
}

var zero = time.Unix(1_800_000_000, 0)

func at(d time.Duration) time.Time { return zero.Add(d) }

func begunAt(d time.Duration) *Step { return &Step{State: Active, Attempt: 1, Started: at(d)} }

func ended(from, to time.Duration) *Step {
	return &Step{State: Settled, Outcome: OK, Attempt: 1, Started: at(from), Ended: at(to)}
}

func wantLeft(t *testing.T, e *Estimate, now, want time.Duration) {
	t.Helper()
	if left, known := e.Left(at(now)); !known || left.Round(second) != want {
		t.Errorf("at %v: %v left, known %t; want %v", now, left, known, want)
	}
}

func TestEstimateCountsDown(t *testing.T) {
	e := NewEstimate(chainOf(30*second, 60*second, 10*second))
	wantLeft(t, e, 0, 100*second)
	e.See(0, begunAt(0))
	wantLeft(t, e, 20*second, 80*second)
	e.See(0, ended(0, 30*second))
	e.See(1, begunAt(30*second))
	wantLeft(t, e, 30*second, 70*second)
	wantLeft(t, e, 60*second, 40*second)
	e.See(1, ended(30*second, 90*second))
	wantLeft(t, e, 90*second, 10*second)
}

// A step that takes twice as long makes the others longer, by less than that, and says so before it has ended.
func TestEstimateGoesAtThePaceOfTheRun(t *testing.T) {
	e := NewEstimate(chainOf(20*second, 60*second))
	e.See(0, begunAt(0))
	wantLeft(t, e, 20*second, 60*second)
	wantLeft(t, e, 40*second, 90*second) // (40+20)/(20+20) of 60 s
	e.See(0, ended(0, 40*second))
	e.See(1, begunAt(40*second))
	wantLeft(t, e, 40*second, 90*second)
	e = NewEstimate(chainOf(20*second, 60*second))
	e.See(0, &Step{State: Settled, Outcome: OK, Kept: true, Attempt: 1, Started: at(0), Ended: at(1)})
	wantLeft(t, e, 40*second, 60*second) // what was done by another run says nothing of this one
}

func TestEstimateOfBranches(t *testing.T) {
	// A chain of 40 and 20 beside five of 20 each.
	f := Forecast{Slots: 4, Took: []time.Duration{40 * second, 20 * second, 20 * second, 20 * second, 20 * second, 20 * second, 20 * second}}
	f.Rest = append([]time.Duration{60 * second}, f.Took[1:]...)
	wantLeft(t, NewEstimate(f), 0, 60*second)
	f.Slots = 2
	e := NewEstimate(f)
	wantLeft(t, e, 0, 80*second)
	e.See(0, begunAt(0))
	e.See(2, begunAt(0))
	wantLeft(t, e, 10*second, 70*second)
	for i := 2; i < 7; i++ {
		e.See(i, ended(0, 20*second))
	}
	wantLeft(t, e, 10*second, 50*second) // the chain is left
	e.See(1, &Step{Excluded: true})
	wantLeft(t, e, 10*second, 30*second)
	e.See(1, &Step{})
	wantLeft(t, e, 10*second, 50*second)
}

func TestEstimateIsKnownOfMost(t *testing.T) {
	known := func(f Forecast) bool {
		_, known := NewEstimate(f).Left(at(0))
		return known
	}
	for _, c := range []struct {
		f    Forecast
		want bool
	}{
		{chainOf(20*second, 20*second, -1), true},
		{chainOf(20*second, -1), false},
		{chainOf(20*second, -1, 0, 0, 0), false}, // what is left out is not left
		{chainOf(3*second, 6*second), false},     // not worth a word
		{chainOf(3*second, 7*second), true},
		{chainOf(), false},
	} {
		if known(c.f) != c.want {
			t.Errorf("%v: known %t", c.f.Took, !c.want)
		}
	}
	e := NewEstimate(chainOf(20*second, 20*second, -1, 20*second))
	e.See(0, ended(0, 20*second))
	e.See(1, ended(20*second, 40*second))
	if _, known := e.Left(at(40 * second)); known {
		t.Error("of the two steps that are left one is known")
	}
}

// A second attempt that a person asked for begins when it begins.
func TestEstimateOfARetry(t *testing.T) {
	e := NewEstimate(chainOf(30*second, 10*second))
	e.See(0, begunAt(0))
	e.See(0, &Step{State: Settled, Outcome: Failed, Attempt: 1, Started: at(0), Ended: at(5 * second)})
	e.See(0, &Step{State: Active, Attempt: 2, Started: at(0), Since: at(time.Hour)})
	wantLeft(t, e, time.Hour+10*second, 30*second)
}

// TestEstimateIsTheNaiveOne compares it, through random changes, with looking at all steps each time.
func TestEstimateIsTheNaiveOne(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		f := Forecast{Slots: 1 + r.IntN(3)}
		for range 12 {
			took := time.Duration(r.IntN(100)-20) * second
			f.Took = append(f.Took, max(took, -1))
			f.Rest = append(f.Rest, max(took, 0)+time.Duration(r.IntN(200))*second)
		}
		e := NewEstimate(f)
		steps := make([]Step, len(f.Took))
		for move := range 60 {
			i, now := r.IntN(len(steps)), at(time.Duration(move)*second)
			switch r.IntN(3) {
			case 0:
				steps[i] = Step{}
			case 1:
				if steps[i].State != Active {
					steps[i] = Step{State: Active, Attempt: 1, Started: now}
				}
			case 2:
				steps[i] = Step{State: Settled, Outcome: Skipped}
			}
			e.See(i, &steps[i])
			got, known := e.Left(now)
			want, wantKnown := naiveLeft(f, steps, now)
			if !e.worthwhile {
				continue
			}
			if known != wantKnown || known && got.Round(second/100) != want.Round(second/100) {
				t.Fatalf("seed %d, move %d: %v %t, want %v %t", seed, move, got, known, want, wantKnown)
			}
		}
	}
}

// naiveLeft is for steps none of which has ended well.
func naiveLeft(f Forecast, steps []Step, now time.Time) (time.Duration, bool) {
	var chain, work, all, late, before time.Duration
	left, unknown := 0, 0
	for i := range steps {
		took := max(f.Took[i], 0)
		all += took
		if steps[i].State == Settled {
			continue
		}
		if f.Took[i] != 0 {
			left++
		}
		if f.Took[i] < 0 {
			unknown++
		}
		rest := f.Rest[i]
		if steps[i].State == Active {
			lasts := now.Sub(steps[i].Started)
			if lasts > took && took > 0 {
				late, before = late+lasts, before+took
			}
			rest -= min(lasts, took)
			took -= min(lasts, took)
		}
		work += took
		chain = max(chain, rest)
	}
	slack := max(all/4, 5*second)
	pace := float64(late+slack) / float64(before+slack)
	bound := max(min(chain, work), work/time.Duration(f.Slots))
	return time.Duration(min(max(pace, 0.25), 4) * float64(bound)), 2*unknown < left
}

func TestAbout(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "a few seconds", 4 * second: "a few seconds", 6 * second: "10s", 44 * second: "40s", 54 * second: "50s", 55 * second: "1m", 89 * second: "1m",
		90 * second: "2m", 59 * time.Minute: "59m", 59*time.Minute + 40*second: "1h", 74 * time.Minute: "1h 10m", 26 * time.Hour: "26h",
	} {
		if got := About(d); got != want {
			t.Errorf("%v is about %s, want %s", d, got, want)
		}
	}
}
