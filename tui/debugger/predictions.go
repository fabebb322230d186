package debugger

import (
	"context"
	"slices"
	"sync"

	"moon/events"
	"moon/plan"
	"moon/tui/status"
)

// PredictAll finds out what the steps of a plan would do, except those that are excluded, and tells of each, until the context ends.
type PredictAll func(ctx context.Context, p *plan.Plan, excluded func(step int) bool, tell func(*events.Prediction))

// Predictions are what the steps of a plan would do, as far as it is known by now. They are found in the background during the review.
// One goroutine begins and halts; any may look.
type Predictions struct {
	cancel   context.CancelFunc
	excluded []bool // when it began

	mu     sync.Mutex
	plan   *plan.Plan
	of     []*events.Prediction // by step of the plan
	counts PredictionCounts
	scopes []PredictionCounts // by scope of the plan, with all that is inside
	late   []int              // steps that were predicted to depend on others, in order
	rounds int                // that have begun
	round  int                // the one that is running, or 0
}

// PredictionCounts are how many steps would do what.
type PredictionCounts struct {
	Create, Update, Delete, Same int
	Fail                         int
	Away                         int // on hosts that were not reached
}

func (c *PredictionCounts) add(one *events.Prediction, n int) {
	switch {
	case one.Away:
		c.Away += n
	case one.Error != "":
		c.Fail += n
	case one.Skipped != "":
	default:
		switch one.Diff.Kind {
		case events.ChangeCreate:
			c.Create += n
		case events.ChangeUpdate:
			c.Update += n
		case events.ChangeDelete:
			c.Delete += n
		case events.ChangeNone:
			c.Same += n
		case events.ChangeUnknown:
		}
	}
}

// Follow keeps the predictions up with the run: it begins to find them, begins again if other steps are excluded than before, and
// halts when the review is over. guard runs what is done in the background; news is called from there, for each prediction and at
// the end.
func (f *Predictions) Follow(at Position, predict PredictAll, guard func(do func()), news func()) {
	switch {
	case predict == nil:
		return
	case at.Phase != events.Review:
		f.Halt()
		return
	case f.cancel != nil && f.excludes(at):
		return
	}
	f.Halt()
	p, excluded := at.Plan, make([]bool, len(at.Plan.Steps))
	for i := range excluded {
		// Copied: the goroutine asks for it while decisions change the states.
		excluded[i] = at.Steps.State(i) == status.Excluded
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel, f.excluded = cancel, excluded
	f.mu.Lock()
	f.reset(p)
	// A number never comes twice, so what a halted round still sends is recognised.
	f.rounds++
	f.round = f.rounds
	round := f.round
	f.mu.Unlock()
	go guard(func() {
		// Deferred first, so it runs last: by then the round has ended and Busy says so.
		defer news()
		defer f.end(round)
		predict(ctx, p, func(step int) bool { return excluded[step] }, func(one *events.Prediction) {
			if f.take(round, one) {
				news()
			}
		})
	})
}

// excludes reports whether the steps that are excluded are those of the last time.
func (f *Predictions) excludes(at Position) bool {
	if len(f.excluded) != len(at.Plan.Steps) {
		return false
	}
	for i, was := range f.excluded {
		if was != (at.Steps.State(i) == status.Excluded) {
			return false
		}
	}
	return true
}

// Halt stops finding more. What is known stays.
func (f *Predictions) Halt() {
	if f.cancel != nil {
		f.cancel()
		f.cancel = nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.round = 0
}

func (f *Predictions) end(round int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.round == round {
		f.round = 0
	}
}

// take keeps a prediction, unless its round has been halted: it would be about another plan, or other exclusions.
func (f *Predictions) take(round int, one *events.Prediction) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.round != round || one.Step >= len(f.of) {
		return false
	}
	f.put(one)
	return true
}

// reset forgets everything; what comes is about a plan.
func (f *Predictions) reset(p *plan.Plan) {
	f.plan, f.of, f.late = p, make([]*events.Prediction, len(p.Steps)), nil
	f.counts, f.scopes = PredictionCounts{}, make([]PredictionCounts, len(p.Scopes))
}

func (f *Predictions) put(one *events.Prediction) {
	// A step may be predicted again, and must count once.
	if was := f.of[one.Step]; was != nil {
		f.count(was, -1)
		if at, late := slices.BinarySearch(f.late, one.Step); late {
			f.late = slices.Delete(f.late, at, at+1)
		}
	}
	f.of[one.Step] = one
	f.count(one, 1)
	if len(one.After) > 0 {
		at, _ := slices.BinarySearch(f.late, one.Step) // at the end, as a rule: steps are predicted in their order
		f.late = slices.Insert(f.late, at, one.Step)
	}
}

// count adds a prediction to the counts, and to those of the scopes around its step: they are kept up with each, so that a frame
// never counts the plan.
func (f *Predictions) count(one *events.Prediction, n int) {
	f.counts.add(one, n)
	for s := f.plan.Steps[one.Step].Scope; s > 0 && s < len(f.scopes); {
		f.scopes[s].add(one, n)
		above := f.plan.Scopes[s].Parent
		if above >= s { // a damaged plan
			return
		}
		s = above
	}
}

// Replace keeps what is known better by now of a step of a plan.
func (f *Predictions) Replace(one *events.Prediction, p *plan.Plan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.renumber(p)
	if one.Step >= 0 && one.Step < len(f.of) {
		f.put(one)
	}
}

// Renumber keeps what is known of the steps that another plan has as well: steps that come have moved those behind them.
func (f *Predictions) Renumber(p *plan.Plan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.renumber(p)
}

func (f *Predictions) renumber(p *plan.Plan) {
	if f.plan == p {
		return
	}
	was, of := f.plan, f.of
	f.reset(p)
	if was == nil {
		return
	}
	index := make(map[string]int, len(p.Steps))
	for i := range p.Steps {
		index[p.Steps[i].Path] = i
	}
	renumbered := func(i int) int {
		if i < 0 || i >= len(was.Steps) {
			return -1
		}
		if at, ok := index[was.Steps[i].Path]; ok && p.Steps[at].Digest == was.Steps[i].Digest {
			return at
		}
		return -1
	}
	for i, one := range of {
		if one == nil || renumbered(i) < 0 {
			continue
		}
		moved := *one
		moved.Step, moved.After = renumbered(i), nil
		for _, before := range one.After {
			moved.After = append(moved.After, renumbered(before))
		}
		// What it depends on is another step by now, so it may do something else.
		if !slices.Contains(moved.After, -1) {
			f.put(&moved)
		}
	}
}

// In counts what would be done in a scope by the steps that are still to come, as Now has it for each of them.
func (f *Predictions) In(scope int, steps events.Range, at Position) PredictionCounts {
	f.mu.Lock()
	var c PredictionCounts
	switch {
	case scope == 0:
		c = f.counts
	case scope > 0 && scope < len(f.scopes):
		c = f.scopes[scope]
	default:
		f.mu.Unlock()
		return c
	}
	from, _ := slices.BinarySearch(f.late, steps.From)
	to, _ := slices.BinarySearch(f.late, steps.To)
	late := slices.Clone(f.late[from:max(from, to)])
	f.mu.Unlock()
	for _, i := range late {
		if one := f.Step(i); one != nil && f.Now(i, at) == nil {
			c.add(one, -1)
		}
	}
	return c
}

// Busy reports whether there is more to come.
func (f *Predictions) Busy() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.round > 0
}

// Counts counts what would be done.
func (f *Predictions) Counts() PredictionCounts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts
}

// Step is what was predicted of a step, or nil.
func (f *Predictions) Step(i int) *events.Prediction {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i < 0 || i >= len(f.of) {
		return nil
	}
	return f.of[i]
}

// Now is what a step would do. That it could not be known before others had ended counts no longer when they have.
func (f *Predictions) Now(i int, at Position) *events.Prediction {
	one := f.Step(i)
	if one == nil || len(one.After) == 0 || slices.ContainsFunc(one.After, func(of int) bool { return at.has(of) && !at.Over(of) }) {
		return one
	}
	return nil
}
