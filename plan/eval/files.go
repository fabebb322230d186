package eval

import (
	"strings"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/lookups"
	"moon/plan/eval/value"
)

// Files that a template reads: {% include %}, {% import %} and {% from %}, which only plays have.

// module is what a file gives that was imported: its macros, and what it sets. It was rendered for its names alone. Unlike in
// Jinja it always sees the variables of the playbook; `with context` adds the names of the text that imports it.
type module struct {
	file  string
	names *call.Names
}

// Kind implements Thing.
func (*module) Kind() string { return "an imported file" }

// module renders a file for its names.
func (s scope) module(n *jinja.Importing) (any, error) {
	v, err := s.eval(n.Of)
	if err != nil {
		return nil, err
	}
	name, isText := v.(string)
	switch {
	case !isText:
		return nil, value.PlaceError(value.Errorf(value.TypeError, "", "needs the name of a file, not %s", value.KindOf(v)), n.Of)
	case s.World.File == nil:
		return nil, value.PlaceError(value.Errorf(value.Failure, "", "other files cannot be imported here"), n.Of)
	// Counted in levels: a file may import itself.
	case s.files >= maxFiles:
		return nil, value.PlaceError(value.Errorf(value.Failure, "", "templates include each other without end"), n.Of)
	}
	text, err := s.World.File(s.Env, "templates", name)
	if text, err = call.Ask("template", name, text, err); err != nil {
		return nil, s.placed(err, n.Of)
	}
	t, err := s.engine.DocumentIn(text, jinja.Style{})
	if err != nil {
		return nil, s.placed(value.InFile(name, text, err), n.Of)
	}
	env := s.Env
	// Without `with context` Jinja hides the names of this text.
	if n.Context {
		env = call.Layered{Env: s.Env, Extra: s.visible}
	}
	inner := s.beginFile(env, text)
	inner.file = name
	m := &module{file: name, names: &call.Names{}}
	if t.tree != nil {
		// Its text is not wanted; what it prints, and what is open in it, does not matter.
		_, m.names, err = inner.treeNames(t)
	}
	if err != nil {
		return nil, s.placed(value.InFile(name, text, err), n.Of)
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
	if s.World.File == nil {
		return nil, value.PlaceError(value.Errorf(value.Failure, "", "other files cannot be included here"), n.Of)
	}
	env := s.Env
	if !n.Alone {
		env = call.Layered{Env: s.Env, Extra: s.visible}
	}
	var last error
	for _, v := range names {
		name, isText := v.(string)
		if !isText {
			return nil, value.PlaceError(value.Errorf(value.TypeError, "", "needs the name of a file, not %s", value.KindOf(v)), n.Of)
		}
		text, err := s.World.File(s.Env, "templates", name)
		text, err = call.Ask("template", name, text, err)
		// Which file will be there is not known: the next one must not be taken in its place.
		if value.IsOpen(err) {
			return nil, err
		}
		if err != nil {
			// Only the last is reported, if none was there.
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
	// The value and not the box, so that another text cannot change it.
	case *value.Box:
		return v.Value, ok
	case *value.Namespace:
		return v.Snapshot(), ok
	case *value.Unsettled:
		return value.Unknown{}, ok
	// Macros and loops stay behind: they belong to the scope that they were made in.
	case nil, bool, string, int, float64, value.Number, []any, map[string]any, *value.Dict, value.Object, value.Range:
		return v, ok
	}
	return nil, false
}

// CheckLookup says what is wrong with the name of a lookup, without looking anything up: it does not exist, or is not available.
func (e *Engine) CheckLookup(name string) error {
	if _, e := lookups.Find(&e.Shared, name); e != nil {
		return e
	}
	return nil
}

// LookupItems gives the items of a with_NAME loop over terms, a value as it was rendered. dir is where the action searches its
// files, "" for "files". Missing lists what the items depend on; then there are none.
func (e *Engine) LookupItems(env value.Env, name string, terms any, dir string) (items []any, missing []value.Missing, err error) {
	defer recovered(&err)
	p, lookupErr := lookups.Find(&e.Shared, name)
	if lookupErr != nil {
		return nil, nil, lookupErr
	}
	r := e.begin(env, "")
	s := scope{rendering: r}
	// The terms are values and not text, so what is open in them is found here and not while rendering.
	plain, err := s.Settle(terms, "with_"+name)
	if err == nil {
		plain, err = s.ExpandObjects(plain)
	}
	list, isList := plain.([]any)
	switch {
	case isList:
	case name == "items" && value.IsMapping(plain): // as Python walks it
		if err == nil {
			list, err = value.ItemsOf(plain)
		}
	default:
		list = []any{plain}
	}
	if err == nil {
		c := &call.Input{Scope: s.forCall(), Name: name, Dir: dir}
		items, err = p.Run(c, list)
	}
	if o, ok := value.OpenOf(err); ok {
		return nil, o.Missing, nil
	}
	if err != nil {
		return nil, nil, located(s.calleeError("lookup", name, err, -1, 0), "")
	}
	if r.Touched {
		// Whatever was made from a secret is one.
		items, _ = r.Conceal(items).([]any)
	}
	return items, nil, nil
}

// renderFile renders the text of another file. Its mistakes name it: their place is not in this text.
func (r *rendering) renderFile(name, text string, style jinja.Style, env value.Env) (any, error) {
	if r.files >= maxFiles {
		return nil, value.Errorf(value.Failure, "", "templates include each other without end")
	}
	t, err := r.engine.DocumentIn(text, style)
	if err != nil {
		return nil, value.InFile(name, text, err)
	}
	if t.literal {
		return t.text, nil
	}
	inner := r.beginFile(env, text)
	result, err := t.run(inner)
	if err != nil {
		return nil, value.InFile(name, text, err)
	}
	// What is open stays as it is written only in its own text: in this one it is all or nothing.
	if len(result.Missing) > 0 {
		return nil, &value.Open{Missing: result.Missing}
	}
	if marked, ok := result.Value.(value.Secret); ok {
		// The mark is noted in this rendering, which puts it on what comes of the whole.
		return r.Unmark(marked), nil
	}
	return result.Value, nil
}

// maxFiles bounds templates that include templates.
const maxFiles = 20
