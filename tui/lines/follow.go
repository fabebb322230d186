package lines

import "moon/events/steplog"

// follow reads what steps print while they run.
type follow struct {
	of map[int]*steplog.Bounded
}

func (f *follow) begin(d *desk, step int) {
	f.close(step)
	s := &d.run.Steps[step]
	if !d.telling.following || d.o.OutDir == nil || len(s.Out) == 0 {
		return
	}
	if f.of == nil {
		f.of = map[int]*steplog.Bounded{}
	}
	f.of[step] = steplog.FollowBounded(d.o.OutDir(), s.Out[len(s.Out)-1])
}

func (f *follow) close(step int) {
	if l := f.of[step]; l != nil {
		_ = l.Close() // it was only read
		delete(f.of, step)
	}
}

func (f *follow) all(d *desk) {
	for i := range min(len(d.run.Steps), len(d.plan.Steps)) {
		if f.of[i] != nil {
			f.read(d, i)
		}
	}
}

func (f *follow) end(d *desk, step int) {
	if l := f.of[step]; l != nil {
		l.Finish()
		f.read(d, step)
		f.close(step)
	}
}

// read says what has come since, at most a page of it: the rest can be asked for. Of steps whose ends are only counted it
// says nothing.
func (f *follow) read(d *desk, step int) {
	left := 0
	number := d.outline.stepNumber(step)
	for n := 0; ; n++ {
		line, more, err := f.of[step].Next()
		if err != nil {
			d.say("the output of %s cannot be read: %s", d.called(step), sentence(clean(err.Error())))
			f.close(step)
			return
		}
		if !more {
			break
		}
		if line.Nothing {
			n--
			continue
		}
		if d.telling.left == 0 {
			continue
		}
		if n >= page {
			left++
			continue
		}
		d.say("%s: %s", number, clean(steplog.Marked(string(line.Text), line.Dropped, line.Binary)))
	}
	if left > 0 {
		d.say("%s: %s more; output %s says them.", number, count(left, "line"), number)
	}
}
