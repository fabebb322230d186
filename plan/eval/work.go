package eval

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
func (e *Engine) Allow(steps, bytes int) {
	e.budget.steps.Add(int64(steps))
	e.budget.bytes.Add(int64(bytes))
	e.budget.bounded.Store(true)
}

// Unbound ends what Allow has begun.
func (e *Engine) Unbound() { e.budget.bounded.Store(false) }

// Spent takes work that was shared off what is allowed.
func (e *Engine) Spent(w *Work) {
	if e.budget.bounded.Load() {
		e.budget.steps.Add(-int64(w.steps))
		e.budget.bytes.Add(-int64(w.bytes))
	}
}

// exceeded is the error for work beyond what is allowed.
func (e *Engine) exceeded(w *Work) *value.Error {
	switch {
	case !e.budget.bounded.Load():
	case int64(w.steps) > e.budget.steps.Load():
		return value.Errorf(value.Failure, "have a command do what is much to compute, in the run", value.TooMuchWork)
	case int64(w.bytes) > e.budget.bytes.Load():
		return value.Errorf(value.Failure, "name large files with `src`", value.TooMuchText)
	}
	return nil
}

// spend counts work.
func (r *rendering) spend(n int) *value.Error {
	if r.work.steps += n; r.work.steps > r.engine.maxSteps || r.work.steps < 0 {
		return errTooMuchWork()
	}
	return nil
}

// grow counts text that is made.
func (r *rendering) grow(n int) *value.Error {
	if n > value.MaxText || n < 0 {
		return errTooMuchText()
	}
	if r.work.bytes += n; r.work.bytes > maxTexts {
		return errTooMuchText()
	}
	if err := r.engine.exceeded(r.work); err != nil {
		return err
	}
	return r.spend(n / 16)
}

func errTooMuchWork() *value.Error {
	return value.Errorf(value.Failure, "", "the template does more than 10 million steps")
}

func errTooMuchText() *value.Error {
	return value.Errorf(value.Failure, "", "the text grows beyond 32 MiB")
}
