package console

import (
	"moon/events/steplog"
)

// follow reads what steps print while they run.
type follow struct {
	*speaker
	*titles
	outDir func() string // nil: no output is kept

	on bool // what steps print is said
	of map[int]*steplog.Bounded
}

func (f *follow) beginStep(step int) {
	// Each attempt has files of its own.
	f.closeStep(step)
	s := &f.run.Steps[step]
	if !f.on || f.outDir == nil || len(s.Out) == 0 {
		return
	}
	if f.of == nil {
		f.of = map[int]*steplog.Bounded{}
	}
	f.of[step] = steplog.FollowBounded(f.outDir(), s.Out[len(s.Out)-1])
}

func (f *follow) closeStep(step int) {
	if l := f.of[step]; l != nil {
		_ = l.Close() // it was only read
		delete(f.of, step)
	}
}

// renumber continues with what runs under the numbers of a plan that has grown: of says which step of the plan before each one is.
func (f *follow) renumber(of []int) {
	now := make(map[int]*steplog.Bounded, len(f.of))
	for i, j := range of {
		if l := f.of[j]; l != nil {
			now[i] = l
			delete(f.of, j)
		}
	}
	for step := range f.of { // the plan does not have them any more
		f.closeStep(step)
	}
	f.of = now
}

func (f *follow) readAll(counted bool) {
	for i := range min(len(f.run.Steps), len(f.plan.Steps)) {
		if f.of[i] != nil {
			f.readStep(i, counted)
		}
	}
}

func (f *follow) endStep(step int, counted bool) {
	if l := f.of[step]; l != nil {
		// From now on a last line without a newline is a line as well.
		l.Finish()
		f.readStep(step, counted)
		f.closeStep(step)
	}
}

// readStep says what has come since, at most a page of it: the rest can be asked for. Of steps whose ends are only counted it
// says nothing.
func (f *follow) readStep(step int, counted bool) {
	left := 0
	number := f.outline.stepNumber(step)
	for n := 0; ; n++ {
		line, more, err := f.of[step].Next()
		if err != nil {
			f.say("the output of %s cannot be read: %s", f.called(step), sentence(clean(err.Error())))
			f.closeStep(step)
			return
		}
		if !more {
			break
		}
		if line.Nothing {
			n--
			continue
		}
		// Read anyway, or these lines would be said when ends are said again.
		if counted {
			continue
		}
		if n >= page {
			left++
			continue
		}
		f.say("%s: %s", number, clean(steplog.Marked(string(line.Text), line.Dropped, line.Binary)))
	}
	if left > 0 {
		f.say("%s: %s more; output %s says them.", number, count(left, "line"), number)
	}
}
