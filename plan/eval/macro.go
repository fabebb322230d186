package eval

import (
	"cmp"

	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// macro is a macro that a template has come past, and the body of a {% call %}, which is one without name. It sees the names of
// where it is written, not of where it is called.
type macro struct {
	tag *jinja.MacroTag
	at  tagRunner // where it is written
}

// argued is an argument of a macro; name is empty for a positional one.
type argued struct {
	name  string
	value any
}

// callMacro calls a macro in an expression. The text that it gives is not the template's own, so nothing in it may be left
// open: the whole call is, also if only an argument is.
func (s scope) callMacro(n *jinja.Call, name string, m *macro) (any, error) {
	values, err := evalEach(len(n.Args), func(i int) (any, error) { return orNone(s.eval(n.Args[i].Value)) })
	if err != nil {
		return nil, err
	}
	args := make([]argued, len(values))
	for i, v := range values {
		args[i] = argued{n.Args[i].Name, v}
	}
	text, err := s.runMacro(n, name, m, args, nil)
	if err != nil {
		return nil, err
	}
	return text, nil
}

// orNone is an argument of a macro. A name without a value is none inside of the macro, too: `is defined` and default() provide for that,
// and what else uses the parameter gets the error.
func orNone(v any, err error) (any, error) {
	if e, ok := value.AsError(err); ok && value.IsUndefined(err) {
		return value.Fault{Err: e, Absent: true}, nil
	}
	return v, err
}

// runCall is {% call m(args) %}body{% endcall %}. Arguments that are open are bound as they are: the macro may not use them.
func (s tagRunner) runCall(st *jinja.CallTag) error {
	// The macro writes what the body gives, so nothing in either may be left open by itself.
	s.captures++
	text, err := s.callWithBody(st)
	s.captures--
	if err != nil {
		return err
	}
	return s.putText(text)
}

func (s tagRunner) callWithBody(st *jinja.CallTag) (string, error) {
	v, _, err := s.reach(st.Of.Function)
	if err != nil {
		return "", err
	}
	of := st.Of
	if jinja.Unpacks(of.Args) {
		if of, err = s.spreadCall(of); err != nil {
			return "", err
		}
	}
	args := make([]argued, len(of.Args))
	for i, a := range of.Args {
		v, err := orNone(s.evalBound(a.Value))
		if err != nil {
			return "", err
		}
		args[i] = argued{a.Name, v}
	}
	m, ok := v.(*macro)
	if !ok {
		return "", value.PlaceError(value.Errorf(value.TypeError, "", "%s, not of %s", jinja.NotMacro, value.KindOf(v)), st.Of.Function)
	}
	// The body is a macro that sees the names around the tag, and not those of the macro it is given to.
	return s.runMacro(of, m.tag.Name, m, args, &macro{tag: st.Caller, at: s})
}

// enterCall counts a call from inside of a template.
func (r *rendering) enterCall(name string, n *jinja.Call) (leave func(), err error) {
	// Calls within calls: a recursive macro must end long before the stack does.
	if r.calls++; r.calls > maxCalls {
		return nil, &value.Error{
			Kind: value.Failure, Message: "macro `" + name + "` calls itself too often", Offset: n.Offset(),
			Width: len(name),
		}
	}
	if err := r.Spend(20); err != nil {
		return nil, err
	}
	return func() { r.calls-- }, nil
}

// runMacro gives the text of a macro. caller is the body of the {% call %} that called it, or nil.
func (s scope) runMacro(n *jinja.Call, name string, m *macro, args []argued, caller *macro) (string, error) {
	leave, err := s.enterCall(name, n)
	if err != nil {
		return "", err
	}
	defer leave()
	elsewhere := m.at.rendering != s.rendering // it is of a file that was imported
	if elsewhere {
		// The rendering of its file has ended: this one pays.
		m.at.ChargeTo(&s.Rendering)
	}
	inner := m.at.openBlock()
	// Placed at the call: the macro is right, and may be in another file.
	if e := inner.bindArguments(m.tag, args); e != nil {
		e.Offset, e.Width = n.Offset(), len(name)
		return "", e
	}
	if caller != nil {
		inner.locals.Set("caller", caller)
	}
	text, err := inner.captureText(func(inner tagRunner) error {
		// Inside of the capture, so that an open default makes the text open.
		if err := inner.bindDefaults(m.tag); err != nil {
			return err
		}
		return inner.openBlock().run(m.tag.Body)
	})
	if elsewhere {
		// A secret that its file has read is one in this text.
		s.Touched = s.Touched || m.at.Secret
		if err != nil {
			err = value.InFile(m.at.file, m.at.text, err)
		}
	}
	return text, err
}

// bindArguments gives the parameters of a macro what it is called with.
func (s tagRunner) bindArguments(m *jinja.MacroTag, args []argued) *value.Error {
	rest, others := []any{}, value.NewDict(0)
	positional := 0
	for _, a := range args {
		switch {
		case a.name == "" && positional < len(m.Params):
			s.locals.Set(m.Params[positional].Name, a.value)
			positional++
		case a.name == "" && m.Varargs != "":
			rest = append(rest, value.Held(a.value))
		case a.name == "":
			return value.Errorf(value.Failure, "", "macro `%s` received %d arguments but expected only %d", spellMacro(m),
				countPositional(args),
				len(m.Params))
		// A positional argument has set it: the parser knew only the call, not the parameters.
		case m.Has(a.name) && s.locals.Has(a.name):
			return value.Errorf(value.Failure, "", "macro `%s` received the argument `%s` twice", spellMacro(m), a.name)
		case m.Has(a.name):
			s.locals.Set(a.name, a.value)
		case m.Kwargs != "":
			others.Set(a.name, value.Held(a.value))
		default:
			return value.Errorf(value.Failure, "", "macro `%s` takes no keyword argument `%s`", spellMacro(m), a.name)
		}
	}
	if m.Varargs != "" {
		s.locals.Set(m.Varargs, rest)
	}
	if m.Kwargs != "" {
		s.locals.Set(m.Kwargs, s.FinishMap(others))
	}
	return nil
}

func countPositional(args []argued) int {
	n := 0
	for _, a := range args {
		if a.name == "" {
			n++
		}
	}
	return n
}

// bindDefaults evaluates the defaults of the parameters that were left out. Each may use those before it.
func (s tagRunner) bindDefaults(m *jinja.MacroTag) error {
	for _, p := range m.Params {
		if s.locals.Has(p.Name) {
			continue
		}
		v, err := s.evalBound(p.Value)
		if err != nil {
			return err
		}
		s.locals.Set(p.Name, v)
	}
	return nil
}

// spellMacro gives the name of a macro in an error.
func spellMacro(m *jinja.MacroTag) string { return cmp.Or(m.Name, "caller") }
