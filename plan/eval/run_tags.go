package eval

import (
	"errors"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
	"moon/secret"
)

// errBreak and errContinue leave the body of a loop.
var (
	errBreak    = errors.New("break")
	errContinue = errors.New("continue")
)

// tagRunner runs statements: a scope, and where its text goes.
type tagRunner struct {
	scope
	out  *sink
	base *base // what the template extends, outside of its blocks; nil if it extends none
}

// sink is where text goes: the template's own, or what a tag or a macro captures.
type sink struct{ b []byte }

// tree runs a template with tags.
func (r *rendering) tree(t *Template) (Result, error) {
	result, _, err := r.treeNames(t)
	return result, err
}

// treeNames also gives the names that the template has set.
func (r *rendering) treeNames(t *Template) (Result, *call.Names, error) {
	own := &call.Names{}
	if t.tree.Changes && r.Changes == nil {
		r.Changes = &value.Changes{}
	}
	out := &sink{b: make([]byte, 0, len(t.text))}
	err := tagRunner{scope: scope{rendering: r, locals: own}, out: out}.runTree(t.tree)
	if o, ok := value.OpenOf(err); ok { // only where nothing smaller could be left open
		return Result{Value: t.text, Missing: value.UniteMissing(r.unmet, o.Missing)}, own, nil
	}
	if err != nil {
		return Result{}, nil, err
	}
	text := string(out.b)
	shown := r.Secrets.Redact(text)
	if r.Short {
		// A secret that is too short to be found in the text may be anywhere in it.
		shown = secret.Mask
	}
	return r.result(text, shown), own, nil
}

// run runs statements one after the other. The error is an *Error, an *open, errBreak or errContinue.
func (s tagRunner) run(list jinja.Statements) error {
	for _, st := range list {
		if err := s.runStatement(st); err != nil {
			return err
		}
	}
	return nil
}

func (s tagRunner) runStatement(st jinja.Statement) error {
	// What a tag has written before it turned out to be open is cut off again.
	mark := len(s.out.b)
	switch st := st.(type) {
	case *jinja.Verbatim:
		return s.writeText(st.Text)
	case *jinja.Printing:
		return s.runPrinting(st)
	case *jinja.IfTag:
		return s.leaveOpen(s.runIf(st), &st.Span, mark)
	case *jinja.ForTag:
		return s.leaveOpen(s.runFor(st), &st.Span, mark)
	case *jinja.SetTag:
		return s.runSet(st)
	case *jinja.CaptureTag:
		return s.runCapture(st)
	case *jinja.WithTag:
		return s.runWith(st)
	case *jinja.MacroTag:
		// With the scope of this place: a macro sees what is set around it, also what is set later.
		s.locals.Set(st.Name, &macro{tag: st, at: s})
		return s.count()
	case *jinja.CallTag:
		return s.leaveOpen(s.runCall(st), &st.Span, mark)
	case *jinja.FilterTag:
		return s.leaveOpen(s.runFilter(st), &st.Span, mark)
	case *jinja.BlockTag:
		return s.runBlock(st)
	case *jinja.ExtendsTag:
		return s.runExtends(st)
	case *jinja.DoTag:
		return s.runDo(st)
	case *jinja.ExitTag:
		if st.Again {
			return errContinue
		}
		return errBreak
	case *jinja.ImportTag:
		v, err := s.evalBound(st.File)
		if err == nil {
			s.locals.Set(st.Name, v)
		}
		return err
	case *jinja.FromTag:
		return s.runFrom(st)
	}
	panic("a tag that cannot be run")
}

// count counts a tag that evaluates nothing: a loop may run over thousands of them.
func (s scope) count() error {
	if err := s.Spend(1); err != nil {
		return err
	}
	return nil
}

// writeText writes text of the template. Text that is captured counts as work, because it may be captured over and over.
func (s tagRunner) writeText(text string) error {
	if s.captures > 0 {
		if err := s.Grow(len(text)); err != nil {
			return err
		}
		if err := s.Spend(1); err != nil {
			return err
		}
	}
	return s.putText(text)
}

func (s tagRunner) putText(text string) error {
	// Before it is appended, which would double the memory first.
	if len(s.out.b)+len(text) > value.MaxText {
		return call.TooMuchText()
	}
	s.out.b = append(s.out.b, text...)
	return nil
}

func (s tagRunner) runPrinting(st *jinja.Printing) error {
	unmet := len(s.unmet)
	text, _, err := s.output(st.Of, st.Start, st.End)
	if err != nil {
		return err
	}
	if len(st.Changes) > 0 && len(s.unmet) > unmet {
		s.loseChanged(st.Changes, s.unmet)
	}
	if err := s.Spend(1); err != nil {
		return err
	}
	return s.putText(text)
}

// openBlock gives the scope of a block that has names of its own.
func (s tagRunner) openBlock() tagRunner {
	s.locals = &call.Names{Outer: s.locals}
	return s
}

// leaveOpen ends a tag. One that depends on something unknown stays as it is written, what it has written so far goes, and every
// name is open that it could have set. Inside of captured text that is the business of whoever captures.
func (s tagRunner) leaveOpen(err error, of *jinja.Span, mark int) error {
	if err == nil {
		return nil
	}
	o, isOpen := value.OpenOf(err)
	if !isOpen || s.captures > 0 {
		return err
	}
	s.unmet = value.UniteMissing(s.unmet, o.Missing)
	s.out.b = append(s.out.b[:mark], s.text[of.Start:of.End]...)
	s.unsettle(of, o)
	return nil
}

func (s tagRunner) unsettle(of *jinja.Span, o *value.Open) {
	// First, while the names still lead to what is changed.
	s.loseChanged(of.Changes, o.Missing)
	for _, name := range of.Sets {
		s.locals.Set(name, &value.Unsettled{Missing: o.Missing})
	}
}

// loseChanged has the lists and maps be open that would have been changed, under all names that they have: those that some names lead to.
func (s scope) loseChanged(names []string, missing []value.Missing) {
	if s.Changes == nil {
		return
	}
	for _, name := range names {
		v, known := s.local(name)
		if !known {
			v, known = s.looked[name]
		}
		if known {
			s.Changes.Lose(v, missing)
		} else { // it is a name inside of the tag, or no name tells
			s.Changes.LoseAll(missing)
		}
	}
}

// captureText runs something that writes, and gives what it has written: text that is not the template's own, so that nothing in
// it may be left open.
func (s tagRunner) captureText(run func(s tagRunner) error) (string, error) {
	if err := s.count(); err != nil {
		return "", err
	}
	// s is a copy, so the caller's output is untouched; captures is of the rendering, which all copies share.
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
func (s scope) evalNamed(n jinja.Node) (any, error) {
	outer := s.Touched
	// Reset, to learn whether this expression alone has read a secret.
	s.Touched = false
	v, err := s.eval(n)
	s.Tainted, s.Touched = s.Tainted || s.Touched, outer
	if s.Changes != nil && err == nil {
		v = value.Distinct(v)
	}
	return v, err
}

// evalBound gives the value for a name. An open one does not stop anything: whatever uses the name is open.
func (s scope) evalBound(n jinja.Node) (any, error) {
	// Bound as what it is: the error comes where the parameter is used.
	if a, ok := n.(*jinja.Absent); ok {
		return a, nil
	}
	v, err := s.evalNamed(n)
	if e := s.Spend(1); e != nil && err == nil {
		return nil, e
	}
	if o, ok := value.OpenOf(err); ok {
		return &value.Unsettled{Missing: o.Missing}, nil
	}
	return v, err
}

func (s tagRunner) runIf(st *jinja.IfTag) error {
	for _, b := range st.Branches {
		if b.Cond == nil {
			return s.run(b.Body)
		}
		// An open condition leaves the whole tag open, even if a later branch would hold.
		holds, err := s.evalCondition(b.Cond)
		if err != nil {
			return err
		}
		if holds {
			return s.run(b.Body)
		}
	}
	return nil
}

func (s scope) evalCondition(cond jinja.Node) (bool, error) {
	v, err := s.evalTruth(cond)
	if err != nil {
		return false, err
	}
	if err := s.Spend(1); err != nil {
		return false, err
	}
	return value.Truthy(v), nil
}

func (s tagRunner) runSet(st *jinja.SetTag) error {
	v, err := s.evalBound(st.Value)
	if err != nil {
		return err
	}
	if u, open := v.(*value.Unsettled); open {
		s.loseChanged(st.Changes, u.Missing)
	}
	// What is open cannot be taken apart: each name is open as a whole.
	if len(st.Names) == 1 || value.IsUnsettled(v) {
		for _, name := range st.Names {
			s.locals.Set(name, v)
		}
		return nil
	}
	if e := unpackable(v, len(st.Names)); e != nil {
		return value.PlaceError(e, st.Value)
	}
	for i, name := range st.Names {
		s.locals.Set(name, v.([]any)[i])
	}
	return nil
}

// runCapture runs {% set x %}…{% endset %}. If its text is open, the name is.
func (s tagRunner) runCapture(st *jinja.CaptureTag) error {
	text, err := s.captureText(func(s tagRunner) error { return s.openBlock().run(st.Body) })
	if o, ok := value.OpenOf(err); ok {
		// Not only its own name: what tags inside would have set is open as well.
		s.unsettle(&st.Span, o)
		return nil
	}
	if err != nil {
		return err
	}
	// Before the filters, which are a chain that begins with this name.
	s.locals.Set(st.Name, text)
	if st.Value == nil {
		return nil
	}
	v, err := s.evalBound(st.Value)
	if err == nil {
		s.locals.Set(st.Name, v)
	}
	return err
}

// runWith evaluates all values before it binds the first name.
func (s tagRunner) runWith(st *jinja.WithTag) error {
	if err := s.count(); err != nil {
		return err
	}
	inner := s.openBlock()
	values := make([]any, len(st.Values))
	for i, n := range st.Values {
		var err error
		if values[i], err = s.evalBound(n); err != nil {
			return err
		}
	}
	for i, name := range st.Names {
		// Values belong to the outside: {% with a=1, b=a %} reads the outer a, as in Jinja.
		inner.locals.Set(name, values[i])
	}
	return inner.run(st.Body)
}

func (s tagRunner) runFilter(st *jinja.FilterTag) error {
	text, err := s.captureText(func(s tagRunner) error { return s.openBlock().run(st.Body) })
	if err != nil {
		return err
	}
	inner := s.openBlock()
	inner.locals.Set(jinja.Captured, text)
	s.captures++ // what comes of it is open as a whole
	defer func() { s.captures-- }()
	return inner.runPrinting(&jinja.Printing{Of: st.Chain, Start: st.Start, End: st.End})
}

func (s tagRunner) runDo(st *jinja.DoTag) error {
	_, err := s.evalNamed(st.Of)
	if e := s.Spend(1); e != nil && err == nil {
		return e
	}
	// There is nothing to leave as it is written.
	if o, ok := value.OpenOf(err); ok {
		s.loseChanged(st.Changes, o.Missing)
		return nil
	}
	return err
}

func (s tagRunner) runFrom(st *jinja.FromTag) error {
	file, err := s.evalBound(st.File)
	if err != nil {
		return err
	}
	inner := s.openBlock()
	// Under a name that no text can spell, so that parts are ordinary members with ordinary errors.
	inner.locals.Set(jinja.Imported, file)
	for i, n := range st.Parts {
		v, err := inner.evalBound(n)
		if err != nil {
			return err
		}
		s.locals.Set(st.Names[i], v)
	}
	return nil
}
