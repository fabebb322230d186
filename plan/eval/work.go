package eval

import "sync/atomic"

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

// TooMuch reports whether a message says that all templates together did more than is allowed: the rest need not be tried.
func TooMuch(message string) bool { return message == tooMuchWork || message == tooMuchText }

const (
	tooMuchWork = "the templates of this playbook do too much work for a plan"
	tooMuchText = "the templates of this playbook make too much text for a plan"
)

// exceeded is the error for work beyond what is allowed.
func (e *Engine) exceeded(w *Work) *Error {
	switch {
	case !e.budget.bounded.Load():
	case int64(w.steps) > e.budget.steps.Load():
		return fault(Failed, "have a command do what is much to compute, in the run", tooMuchWork)
	case int64(w.bytes) > e.budget.bytes.Load():
		return fault(Failed, "name large files with `src`", tooMuchText)
	}
	return nil
}

// spend counts work.
func (r *rendering) spend(n int) *Error {
	if r.work.steps += n; r.work.steps > r.engine.maxSteps || r.work.steps < 0 {
		return errTooMuchWork()
	}
	return nil
}

// grow counts text that is made.
func (r *rendering) grow(n int) *Error {
	if n > maxText || n < 0 {
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

func errTooMuchWork() *Error {
	return fault(Failed, "", "the template does more than 10 million steps")
}

func errTooMuchText() *Error {
	return fault(Failed, "", "the text grows beyond 32 MiB")
}
