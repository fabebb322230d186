package eval

import (
	"strings"

	"moon/plan/eval/jinja"
)

// Files that a template reads: {% include %}, {% import %} and {% from %}, which only plays have.

// module is what a file gives that was imported: its macros, and what it sets. It was rendered for its names alone. Unlike in
// Jinja it always sees the variables of the playbook; `with context` adds the names of the text that imports it.
type module struct {
	file  string
	names *names
}

// module renders a file for its names.
func (s scope) module(n *jinja.Importing) (any, error) {
	v, err := s.eval(n.Of)
	if err != nil {
		return nil, err
	}
	name, isText := v.(string)
	switch {
	case !isText:
		return nil, placed(fault(Type, "", "needs the name of a file, not %s", kindOf(v)), n.Of)
	case s.engine.World.File == nil:
		return nil, placed(fault(Failed, "", "other files cannot be imported here"), n.Of)
	case s.files >= maxFiles:
		return nil, placed(fault(Failed, "", "templates include each other without end"), n.Of)
	}
	text, err := s.engine.World.File(s.env, "templates", name)
	if text, err = ask("template", name, text, err); err != nil {
		return nil, s.placed(err, n.Of)
	}
	t, err := s.engine.DocumentIn(text, jinja.Style{})
	if err != nil {
		return nil, s.placed(inFile(name, text, err), n.Of)
	}
	env := s.env
	if n.Context {
		env = layered{s.env, s.visible}
	}
	inner := &rendering{engine: s.engine, env: env, text: text, file: name, work: s.work, files: s.files + 1, taken: s.taken}
	m := &module{file: name, names: &names{}}
	if t.tree != nil {
		_, m.names, err = inner.treeNames(t)
	}
	if err != nil {
		return nil, s.placed(inFile(name, text, err), n.Of)
	}
	return m, nil
}

// include renders the first of the files that is there.
func (s scope) include(n *jinja.Including) (any, error) {
	v, err := s.eval(n.Of)
	if err != nil {
		return nil, err
	}
	names, isList := v.([]any)
	if !isList {
		names = []any{v}
	}
	if s.engine.World.File == nil {
		return nil, placed(fault(Failed, "", "other files cannot be included here"), n.Of)
	}
	env := s.env
	if !n.Alone {
		env = layered{s.env, s.visible}
	}
	var last error
	for _, v := range names {
		name, isText := v.(string)
		if !isText {
			return nil, placed(fault(Type, "", "needs the name of a file, not %s", kindOf(v)), n.Of)
		}
		text, err := s.engine.World.File(s.env, "templates", name)
		text, err = ask("template", name, text, err)
		if isOpen(err) {
			return nil, err
		}
		if err != nil {
			last = err
			continue
		}
		made, err := s.renderFile(name, strings.TrimSuffix(text, "\n"), jinja.Style{}, env) // as Jinja reads files
		return made, s.placed(err, n.Of)
	}
	if n.Absent || last == nil {
		return "", nil
	}
	return nil, s.placed(last, n.Of)
}

// visible is a name of this text as a value for another.
func (s scope) visible(name string) (any, bool) {
	v, ok := s.local(name)
	switch v := v.(type) {
	case *box:
		return v.value, ok
	case *namespace:
		return v.snapshot(), ok
	case *unsettled:
		return Unknown{}, ok
	case nil, bool, string, int, float64, Number, []any, map[string]any, *Dict, Object:
		return v, ok
	}
	return nil, false
}
