package eval

import (
	"errors"

	"moon/secret"
)

// errBreak and errContinue leave the body of a loop.
var (
	errBreak    = errors.New("break")
	errContinue = errors.New("continue")
)

// sink is where text goes: the template's own, or what a tag or a macro captures.
type sink struct{ b []byte }

// tree runs a template with tags.
func (r *rendering) tree(t *Template) (Result, error) {
	result, _, err := r.treeNames(t)
	return result, err
}

// treeNames also gives the names that the template has set.
func (r *rendering) treeNames(t *Template) (Result, *names, error) {
	own := &names{}
	out := &sink{b: make([]byte, 0, len(t.text))}
	err := scope{rendering: r, locals: own, out: out}.run(t.tree)
	if o, ok := openOf(err); ok { // only where nothing smaller could be left open
		return Result{Value: t.text, Missing: union(r.unmet, o.missing)}, own, nil
	}
	if err != nil {
		return Result{}, nil, err
	}
	text := string(out.b)
	shown := r.engine.Secrets.Redact(text)
	if r.short {
		shown = secret.Mask
	}
	return r.result(text, shown), own, nil
}

// run runs statements one after the other. The error is an *Error, an *open, errBreak or errContinue.
func (s scope) run(list statements) error {
	for _, st := range list {
		if err := s.runStatement(st); err != nil {
			return err
		}
	}
	return nil
}

func (s scope) runStatement(st statement) error {
	mark := len(s.out.b)
	switch st := st.(type) {
	case *verbatim:
		return s.writeText(st.text)
	case *printing:
		return s.runPrinting(st)
	case *ifTag:
		return s.leaveOpen(s.runIf(st), &st.span, mark)
	case *forTag:
		return s.leaveOpen(s.runFor(st), &st.span, mark)
	case *setTag:
		return s.runSet(st)
	case *captureTag:
		return s.runCapture(st)
	case *withTag:
		return s.runWith(st)
	case *macroTag:
		s.locals.set(st.name, &macro{tag: st, scope: s})
		return s.count()
	case *callTag:
		return s.leaveOpen(s.runCall(st), &st.span, mark)
	case *filterTag:
		return s.leaveOpen(s.runFilter(st), &st.span, mark)
	case *blockTag:
		if err := s.count(); err != nil {
			return err
		}
		return s.run(st.body)
	case *doTag:
		return s.runDo(st)
	case *exitTag:
		if st.again {
			return errContinue
		}
		return errBreak
	case *importTag:
		v, err := s.evalBound(st.file)
		if err == nil {
			s.locals.set(st.name, v)
		}
		return err
	case *fromTag:
		return s.runFrom(st)
	}
	panic("a tag that cannot be run")
}

// count counts a tag that evaluates nothing: a loop may run over thousands of them.
func (s scope) count() error {
	if err := s.spend(1); err != nil {
		return err
	}
	return nil
}

// writeText writes text of the template. Text that is captured counts as work, because it may be captured over and over.
func (s scope) writeText(text string) error {
	if s.captures > 0 {
		if err := s.grow(len(text)); err != nil {
			return err
		}
		if err := s.spend(1); err != nil {
			return err
		}
	}
	return s.putText(text)
}

func (s scope) putText(text string) error {
	if len(s.out.b)+len(text) > maxText {
		return errTooMuchText()
	}
	s.out.b = append(s.out.b, text...)
	return nil
}

func (s scope) runPrinting(st *printing) error {
	text, _, err := s.output(st.of, st.start, st.end)
	if err != nil {
		return err
	}
	if err := s.spend(1); err != nil {
		return err
	}
	return s.putText(text)
}

// openBlock gives the scope of a block that has names of its own.
func (s scope) openBlock() scope {
	s.locals = &names{outer: s.locals}
	return s
}

// leaveOpen ends a tag. One that depends on something unknown stays as it is written, what it has written so far goes, and every
// name is open that it could have set. Inside of captured text that is the business of whoever captures.
func (s scope) leaveOpen(err error, of *span, mark int) error {
	if err == nil {
		return nil
	}
	o, isOpen := openOf(err)
	if !isOpen || s.captures > 0 {
		return err
	}
	s.unmet = union(s.unmet, o.missing)
	s.out.b = append(s.out.b[:mark], s.text[of.start:of.end]...)
	s.unsettle(of, o)
	return nil
}

func (s scope) unsettle(of *span, o *open) {
	for _, name := range of.sets {
		s.locals.set(name, &unsettled{o.missing})
	}
}

// captureText runs something that writes, and gives what it has written: text that is not the template's own, so that nothing in
// it may be left open.
func (s scope) captureText(run func(s scope) error) (string, error) {
	if err := s.count(); err != nil {
		return "", err
	}
	s.out = &sink{}
	s.captures++
	err := run(s)
	s.captures--
	if err != nil {
		return "", err
	}
	return string(s.out.b), nil
}

// evalNamed evaluates what is bound to names of the template. From a secret on, everything that the template prints counts as one:
// a name may be bound to it by many ways, through loops, macros and what append puts into a list.
func (s scope) evalNamed(n node) (any, error) {
	outer := s.touched
	s.touched = false
	v, err := s.eval(n)
	s.tainted, s.touched = s.tainted || s.touched, outer
	return v, err
}

// evalBound gives the value for a name. An open one does not stop anything: whatever uses the name is open.
func (s scope) evalBound(n node) (any, error) {
	if a, ok := n.(*absent); ok {
		return a, nil
	}
	v, err := s.evalNamed(n)
	if e := s.spend(1); e != nil && err == nil {
		return nil, e
	}
	if o, ok := openOf(err); ok {
		return &unsettled{o.missing}, nil
	}
	return boxed(v), err
}

func (s scope) runIf(st *ifTag) error {
	for _, b := range st.branches {
		if b.cond == nil {
			return s.run(b.body)
		}
		holds, err := s.evalCondition(b.cond)
		if err != nil {
			return err
		}
		if holds {
			return s.run(b.body)
		}
	}
	return nil
}

func (s scope) evalCondition(cond node) (bool, error) {
	v, err := s.eval(cond)
	if err != nil {
		return false, err
	}
	if err := s.spend(1); err != nil {
		return false, err
	}
	return truthy(v), nil
}

func (s scope) runSet(st *setTag) error {
	v, err := s.evalBound(st.value)
	if err != nil {
		return err
	}
	if len(st.names) == 1 || isUnsettled(v) {
		for _, name := range st.names {
			s.locals.set(name, v)
		}
		return nil
	}
	items := unboxed(v)
	if e := unpackable(items, len(st.names)); e != nil {
		return placed(e, st.value)
	}
	for i, name := range st.names {
		s.locals.set(name, boxed(items.([]any)[i]))
	}
	return nil
}

// runCapture runs {% set x %}…{% endset %}. If its text is open, the name is.
func (s scope) runCapture(st *captureTag) error {
	text, err := s.captureText(func(s scope) error { return s.openBlock().run(st.body) })
	if o, ok := openOf(err); ok {
		s.unsettle(&st.span, o)
		return nil
	}
	if err != nil {
		return err
	}
	s.locals.set(st.name, text)
	if st.value == nil {
		return nil
	}
	v, err := s.evalBound(st.value)
	if err == nil {
		s.locals.set(st.name, v)
	}
	return err
}

// runWith evaluates all values before it binds the first name.
func (s scope) runWith(st *withTag) error {
	if err := s.count(); err != nil {
		return err
	}
	inner := s.openBlock()
	values := make([]any, len(st.values))
	for i, n := range st.values {
		var err error
		if values[i], err = s.evalBound(n); err != nil {
			return err
		}
	}
	for i, name := range st.names {
		inner.locals.set(name, values[i])
	}
	return inner.run(st.body)
}

func (s scope) runFilter(st *filterTag) error {
	text, err := s.captureText(func(s scope) error { return s.openBlock().run(st.body) })
	if err != nil {
		return err
	}
	inner := s.openBlock()
	inner.locals.set(captured, text)
	s.captures++ // what comes of it is open as a whole
	defer func() { s.captures-- }()
	return inner.runPrinting(&printing{of: st.chain, start: st.start, end: st.end})
}

func (s scope) runDo(st *doTag) error {
	_, err := s.evalNamed(st.of)
	if e := s.spend(1); e != nil && err == nil {
		return e
	}
	if _, ok := openOf(err); ok {
		return nil
	}
	return err
}

func (s scope) runFrom(st *fromTag) error {
	file, err := s.evalBound(st.file)
	if err != nil {
		return err
	}
	inner := s.openBlock()
	inner.locals.set(imported, file)
	for i, n := range st.parts {
		v, err := inner.evalBound(n)
		if err != nil {
			return err
		}
		s.locals.set(st.names[i], v)
	}
	return nil
}
