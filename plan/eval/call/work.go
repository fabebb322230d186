package call

import (
	"sync/atomic"

	"moon/plan/eval/value"
)

// Work is what renderings have done. Those of variables that are rendered where they are used share one, since each may
// use others: what is bounded is the work for the name that was asked for first.
type Work struct {
	steps int // items visited, expressions evaluated, blocks of text made
	bytes int // of texts, those on the way to the result included
}

// worker is an environment whose renderings share their work. Work may return nil.
type worker interface{ Work() *Work }

// budget is what all renderings together may do; without one, each is bounded by itself only.
type budget struct {
	bounded      atomic.Bool
	steps, bytes atomic.Int64 // that are left
}

// Allow bounds what all renderings together may do from now on, or adds to what they may.
func (s *Shared) Allow(steps, bytes int) {
	s.budget.steps.Add(int64(steps))
	s.budget.bytes.Add(int64(bytes))
	s.budget.bounded.Store(true)
}

// Unbound ends what Allow has begun.
func (s *Shared) Unbound() { s.budget.bounded.Store(false) }

// Charge takes work that was shared off what is allowed.
func (s *Shared) Charge(w *Work) {
	if s.budget.bounded.Load() {
		s.budget.steps.Add(-int64(w.steps))
		s.budget.bytes.Add(-int64(w.bytes))
	}
}

// CheckBudget gives the error for work beyond what is allowed.
func (r *Rendering) CheckBudget() *value.Error {
	switch budget := &r.budget; {
	case !budget.bounded.Load():
	case int64(r.charged.steps) > budget.steps.Load():
		return value.Errorf(value.Failure, "have a command do what is much to compute, in the run", value.TooMuchWork)
	case int64(r.charged.bytes) > budget.bytes.Load():
		return value.Errorf(value.Failure, "name large files with `src`", value.TooMuchText)
	}
	return nil
}

// Spend counts work.
func (r *Rendering) Spend(n int) *value.Error {
	// Below 0 it has wrapped: n may be as large as a product of lengths.
	if r.charged.steps += n; r.charged.steps > r.MaxSteps || r.charged.steps < 0 {
		return errTooMuchWork()
	}
	return nil
}

// Grow counts text that is made.
func (r *Rendering) Grow(n int) *value.Error {
	// One text and all of them: many that are just small enough would fill the memory too.
	if n > value.MaxText || n < 0 {
		return TooMuchText()
	}
	if r.charged.bytes += n; r.charged.bytes > maxTexts {
		return TooMuchText()
	}
	if err := r.CheckBudget(); err != nil {
		return err
	}
	// Writing text is work as well.
	return r.Spend(n / 16)
}

func errTooMuchWork() *value.Error {
	return value.Errorf(value.Failure, "", "the template does more than 10 million steps")
}

// TooMuchText is the error for a text beyond the bounds.
func TooMuchText() *value.Error {
	return value.Errorf(value.Failure, "", "the text grows beyond 32 MiB")
}
