package eval

import (
	"errors"
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
	case *value.Namespace:
		return v.Snapshot(), ok
	case *value.Unsettled:
		return value.Unknown{}, ok
	// Macros and loops stay behind: they belong to the scope that they were made in.
	case nil, bool, string, int, float64, value.Number, []any, map[string]any, *value.Dict, value.Object, value.Range, value.Date,
		value.Span:
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

// Templates that extend others: {% extends %}, {% block %}, super() and self.
//
//	child ──runs outside of its blocks: names only──▶ base ──its text──▶ {% block a %} ─▶ the a of the child, whose super() is its own
//
// What is open leaves such a template open as a whole: there is no text that what is known could stand in.

// blocks are the bodies that templates have for a name, that of the outermost child first.
type blocks map[string][]block

// block is a body where it is written.
type block struct {
	tag *jinja.BlockTag
	at  tagRunner
}

// base is the template that one extends.
type base struct {
	of   *jinja.ExtendsTag // nil as long as none was come past
	name string
	mark int // how long the text was then: what comes behind is not shown
}

// runTree runs a template, with that which it extends.
func (s tagRunner) runTree(t *jinja.Tree) error {
	if len(t.Blocks) == 0 && !t.Extends && s.blocks == nil {
		return s.run(t.Body)
	}
	if s.blocks == nil {
		s.blocks = blocks{}
	}
	self := &module{file: "this template", names: &call.Names{}}
	for _, b := range t.Blocks {
		s.blocks[b.Name] = append(s.blocks[b.Name], block{b, s})
	}
	for name, list := range s.blocks {
		self.names.Set(name, s.blockMacro(list, s.locals))
	}
	s.locals.Set(jinja.Self, self)
	if !t.Extends {
		return s.run(t.Body)
	}
	s.captures++
	defer func() { s.captures-- }()
	s.base = &base{}
	if err := s.run(t.Body); err != nil || s.base.of == nil {
		return err
	}
	s.out.b = s.out.b[:s.base.mark]
	return s.runBase()
}

// runExtends reads which template it is that this one extends. It is run when the names of this one are set.
func (s tagRunner) runExtends(st *jinja.ExtendsTag) error {
	switch {
	case s.base == nil:
		return &value.Error{Kind: value.Failure, Message: "`{% extends %}` inside of a block or a macro", Offset: st.Offset(), Width: 2}
	case s.base.of != nil:
		return &value.Error{Kind: value.Failure, Message: "a template extends one other, and this is the second", Offset: st.Offset(), Width: 2}
	}
	v, err := s.evalNamed(st.Of)
	if err != nil {
		return err
	}
	name, isText := v.(string)
	switch {
	case !isText:
		return value.PlaceError(value.Errorf(value.TypeError, "", "needs the name of a file, not %s", value.KindOf(v)), st.Of)
	case s.World.File == nil:
		return value.PlaceError(value.Errorf(value.Failure, "", "other files cannot be extended here"), st.Of)
	case s.files >= maxFiles:
		return value.PlaceError(value.Errorf(value.Failure, "", "templates extend each other without end"), st.Of)
	}
	*s.base = base{of: st, name: name, mark: len(s.out.b)}
	return s.count()
}

// runBase runs the template that this one extends. It has the names that this one has set, as Jinja has them.
func (s tagRunner) runBase() error {
	of, name := s.base.of.Of, s.base.name
	text, err := s.World.File(s.Env, "templates", name)
	if text, err = call.Ask("template", name, text, err); err != nil {
		return s.placed(err, of)
	}
	text = strings.TrimSuffix(text, "\n") // as Jinja reads files
	t, err := s.engine.DocumentIn(text, jinja.Style{})
	if err != nil {
		return s.placed(value.InFile(name, text, err), of)
	}
	inner := s.beginFile(s.Env, text)
	inner.file, inner.blocks, inner.captures = name, s.blocks, 1
	from := tagRunner{scope: scope{rendering: inner, locals: s.locals}, out: s.out}
	switch {
	case t.literal:
		err = from.putText(t.text)
	case t.tree != nil:
		err = from.runTree(t.tree)
	default: // it has no blocks
		var made Result
		if made, err = t.run(inner); err == nil {
			err = from.putText(value.Text(inner.Unmark(made.Value)))
		}
	}
	s.takeSecrets(inner)
	switch e, ok := errors.AsType[*blockError](err); {
	case ok && e.in == s.rendering:
		return e.err
	case ok, err == nil:
		return err
	}
	return s.placed(value.InFile(name, text, err), of)
}

// blockError is a mistake in a block, on its way to the template that the block is written in.
type blockError struct {
	err *value.Error
	in  *rendering
}

func (e *blockError) Error() string { return e.err.Error() }

// takeSecrets notes that a text holds what another rendering has put into it.
func (s tagRunner) takeSecrets(from *rendering) {
	s.Secret, s.Short = s.Secret || from.Secret, s.Short || from.Short
	s.Touched, s.Tainted = s.Touched || from.Touched, s.Tainted || from.Tainted
}

// runBlock writes a block: that of the outermost template that has one of the name.
func (s tagRunner) runBlock(st *jinja.BlockTag) error {
	if s.base != nil && s.base.of != nil { // the base says where it stands
		return nil
	}
	list := s.blocks[st.Name]
	if st.Required && list[0].tag == st {
		return &value.Error{
			Kind: value.Failure, Message: "the block `" + st.Name + "` is required, and no template that extends this one has it",
			Offset: st.Offset(), Width: 2,
		}
	}
	names := s.locals
	for !st.Scoped && names.Outer != nil {
		names = names.Outer
	}
	at := s.blockMacro(list, names).at
	body := list[0].tag.Body
	if at.rendering == s.rendering && s.captures == 0 { // what is open in it stays as it is written
		at.out = s.out
		if err := s.count(); err != nil {
			return err
		}
		return at.run(body)
	}
	leave, err := s.enterCall(st.Name, &jinja.Call{At: st.At})
	if err != nil {
		return err
	}
	defer leave()
	at.ChargeTo(&s.Rendering)
	text, err := at.captureText(func(at tagRunner) error { return at.run(body) })
	s.takeSecrets(at.rendering)
	if e, ok := value.AsError(err); ok && at.rendering != s.rendering {
		return &blockError{e, at.rendering}
	}
	if err != nil {
		return err
	}
	return s.putText(text)
}

// blockMacro is a block as something that can be called: by itself, by super() and as a part of self. names are those that it sees.
func (s tagRunner) blockMacro(list []block, names *call.Names) *macro {
	at := list[0].at
	at.base = nil
	at.locals = &call.Names{Outer: names}
	if len(list) > 1 {
		at.locals.Set(jinja.Super, s.blockMacro(list[1:], names))
	}
	return &macro{tag: &jinja.MacroTag{Name: list[0].tag.Name, Body: list[0].tag.Body}, at: at}
}
