package eval

import (
	"strconv"

	"github.com/nikolalohinski/gonja/v2/exec"
)

// A file that is imported is rendered for its names alone: macros, and what it sets. Unlike in Jinja it always sees the
// variables of the playbook; `with context` adds the names of the text that imports it.

// importing is the right side of {% import of as name %}: the names of another file.
type importing struct {
	at
	of      node
	context bool
}

// module is what a file gives that was imported.
type module struct {
	file, text string
	of         *rendering
	names      *exec.Context
}

// tagImport is {% import 'file' as name %}.
func (b *builder) tagImport(p *tagReader, pc piece) {
	n := &importing{at: at(pc.start), of: p.expression(true)}
	if !p.takeName("as") {
		p.unexpected(p.peek(), "`as`")
	}
	name := p.wantName("a name").text
	n.context = p.withContext()
	b.imported(name, n, pc)
}

// tagFrom is {% from 'file' import a, b as c %}.
func (b *builder) tagFrom(p *tagReader, pc piece) {
	n := &importing{at: at(pc.start), of: p.expression(true)}
	if !p.takeName("import") {
		p.unexpected(p.peek(), "`import`")
	}
	b.temps++
	file := "\x00import" + strconv.Itoa(b.temps)
	type taken struct{ name, as token }
	var all []taken
	for p.peek().kind == tokenName && !p.isContext() {
		one := taken{name: p.next()}
		one.as = one.name
		if p.takeName("as") {
			one.as = p.wantName("a name")
		}
		all = append(all, one)
		if !p.takeSign(",") {
			break
		}
	}
	if len(all) == 0 {
		p.unexpected(p.peek(), "a name")
	}
	n.context = p.withContext()
	b.imported(file, n, pc)
	for _, one := range all {
		b.imported(one.as.text, &member{
			at: at(one.name.start), of: &variable{at: at(one.name.start), name: file}, key: &constant{at: at(one.name.start), value: one.name.text},
			keyAt: one.name.start, end: one.name.end,
		}, pc)
	}
}

// imported binds a name of the text.
func (b *builder) imported(name string, n node, pc piece) {
	b.touches(name)
	b.use(n)
	b.set(name, n, pc.start)
	b.bind(name)
}

func (p *tagReader) isContext() bool {
	next := p.after()
	return (p.isName("with") || p.isName("without")) && next.kind == tokenName && next.text == "context"
}

func (p *tagReader) withContext() bool {
	if !p.isContext() {
		return false
	}
	with := p.next().text == "with"
	p.next()
	return with
}

// module renders a file for its names.
func (s scope) module(n *importing) (any, error) {
	v, err := s.eval(n.of)
	if err != nil {
		return nil, err
	}
	name, isText := v.(string)
	switch {
	case !isText:
		return nil, placed(fault(Type, "", "needs the name of a file, not %s", kindOf(v)), n.of)
	case s.engine.World.File == nil:
		return nil, placed(fault(Failed, "", "other files cannot be imported here"), n.of)
	case s.files >= maxFiles:
		return nil, placed(fault(Failed, "", "templates include each other without end"), n.of)
	}
	text, err := s.engine.World.File(s.env, "templates", name)
	if text, err = ask("template", name, text, err); err != nil {
		return nil, s.placed(err, n.of)
	}
	t, err := s.engine.DocumentIn(text, Style{})
	if err != nil {
		return nil, s.placed(inFile(name, text, err), n.of)
	}
	env := s.env
	if n.context {
		env = layered{s.env, s.visible}
	}
	inner := &rendering{engine: s.engine, env: env, text: text, work: s.work, files: s.files + 1, taken: s.taken}
	m := &module{file: name, text: text, of: inner, names: exec.EmptyContext()}
	if t.tree != nil {
		_, m.names, err = inner.treeNames(t)
	}
	if err != nil {
		return nil, s.placed(inFile(name, text, err), n.of)
	}
	return m, nil
}

// gonjaCaller is where gonja leaves the body of a {% call %} for the macro.
const gonjaCaller = "__gonja_caller__"

// get is a name of a module. What goes wrong in one of its macros goes wrong where it is called.
func (m *module) get(caller *rendering, name string) (any, bool) {
	v, ok := scope{rendering: m.of, locals: m.names}.local(name)
	macro, isMacro := v.(exec.Macro)
	if !ok || !isMacro {
		return v, ok
	}
	return exec.Macro(func(args *exec.VarArgs) *exec.Value {
		if caller.calling != nil {
			if body, ok := caller.calling.Get(gonjaCaller); ok {
				m.names.Set(gonjaCaller, body)
			}
		}
		m.of.work = caller.work
		m.of.captures++
		result := macro(args)
		m.of.captures--
		caller.touched = caller.touched || m.of.secret
		if err := m.of.raised; err != nil {
			m.of.raised = nil
			caller.raised = inFile(m.file, m.text, err)
		}
		return result
	}), true
}
