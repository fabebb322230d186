package eval

import "cmp"

// macro is a macro that a template has come past, and the body of a {% call %}, which is one without name. It sees the names of
// where it is written, not of where it is called.
type macro struct {
	tag   *macroTag
	scope scope
}

// argued is an argument of a macro; name is empty for a positional one.
type argued struct {
	name  string
	value any
}

// callMacro calls a macro in an expression. The text that it gives is not the template's own, so nothing in it may be left
// open: the whole call is, also if only an argument is.
func (s scope) callMacro(n *call, name string, m *macro) (any, error) {
	nodes := make([]node, len(n.args))
	for i, a := range n.args {
		nodes[i] = a.value
	}
	values, err := s.evalAll(nodes)
	if err != nil {
		return nil, err
	}
	args := make([]argued, len(values))
	for i, v := range values {
		args[i] = argued{n.args[i].name, boxed(v)}
	}
	text, err := s.runMacro(n, name, m, args, nil)
	if err != nil {
		return nil, err
	}
	return text, nil
}

// runCall is {% call m(args) %}body{% endcall %}. Arguments that are open are bound as they are: the macro may not use them.
func (s scope) runCall(st *callTag) error {
	s.captures++
	text, err := s.callWithBody(st)
	s.captures--
	if err != nil {
		return err
	}
	return s.putText(text)
}

func (s scope) callWithBody(st *callTag) (string, error) {
	args := make([]argued, len(st.of.args))
	v, _, err := s.reach(st.of.function)
	if err != nil {
		return "", err
	}
	for i, a := range st.of.args {
		v, err := s.evalBound(a.value)
		if err != nil {
			return "", err
		}
		args[i] = argued{a.name, v}
	}
	m, ok := v.(*macro)
	if !ok {
		return "", placed(fault(Type, "", "%s, not of %s", notMacro, kindOf(v)), st.of.function)
	}
	return s.runMacro(st.of, m.tag.name, m, args, &macro{tag: st.caller, scope: s})
}

// enterCall counts a call from inside of a template.
func (r *rendering) enterCall(name string, n *call) (leave func(), err error) {
	if r.calls++; r.calls > maxCalls {
		return nil, &Error{Kind: Failed, Message: "macro `" + name + "` calls itself too often", Offset: n.offset(), Width: len(name)}
	}
	if err := r.spend(20); err != nil {
		return nil, err
	}
	return func() { r.calls-- }, nil
}

// runMacro gives the text of a macro. caller is the body of the {% call %} that called it, or nil.
func (s scope) runMacro(n *call, name string, m *macro, args []argued, caller *macro) (string, error) {
	leave, err := s.enterCall(name, n)
	if err != nil {
		return "", err
	}
	defer leave()
	elsewhere := m.scope.rendering != s.rendering // it is of a file that was imported
	if elsewhere {
		m.scope.work = s.work
	}
	inner := m.scope.openBlock()
	if e := inner.bindArguments(m.tag, args); e != nil {
		e.Offset, e.Width = n.offset(), len(name)
		return "", e
	}
	if caller != nil {
		inner.locals.set("caller", caller)
	}
	text, err := inner.captureText(func(inner scope) error {
		if err := inner.bindDefaults(m.tag); err != nil {
			return err
		}
		return inner.openBlock().run(m.tag.body)
	})
	if elsewhere {
		s.touched = s.touched || m.scope.secret
		if err != nil {
			err = inFile(m.scope.file, m.scope.text, err)
		}
	}
	return text, err
}

// bindArguments gives the parameters of a macro what it is called with.
func (s scope) bindArguments(m *macroTag, args []argued) *Error {
	rest, others := []any{}, NewDict(0)
	positional := 0
	for _, a := range args {
		switch {
		case a.name == "" && positional < len(m.params):
			s.locals.set(m.params[positional].name, a.value)
			positional++
		case a.name == "" && m.varargs != "":
			rest = append(rest, unboxed(a.value))
		case a.name == "":
			return fault(Failed, "", "macro `%s` received %d arguments but expected only %d", m.spelled(), countPositional(args), len(m.params))
		case m.has(a.name) && s.locals.has(a.name):
			return fault(Failed, "", "macro `%s` received the argument `%s` twice", m.spelled(), a.name)
		case m.has(a.name):
			s.locals.set(a.name, a.value)
		case m.kwargs != "":
			others.Set(a.name, unboxed(a.value))
		default:
			return fault(Failed, "", "macro `%s` takes no keyword argument `%s`", m.spelled(), a.name)
		}
	}
	if m.varargs != "" {
		s.locals.set(m.varargs, rest)
	}
	if m.kwargs != "" {
		s.locals.set(m.kwargs, s.ofForm(others))
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
func (s scope) bindDefaults(m *macroTag) error {
	for _, p := range m.params {
		if s.locals.has(p.name) {
			continue
		}
		v, err := s.evalBound(p.value)
		if err != nil {
			return err
		}
		s.locals.set(p.name, v)
	}
	return nil
}

// spelled is the name of a macro in an error.
func (m *macroTag) spelled() string { return cmp.Or(m.name, "caller") }
