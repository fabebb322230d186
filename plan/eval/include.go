package eval

import (
	"strings"

	"github.com/nikolalohinski/gonja/v2/exec"
)

// tagInclude is {% include 'file' %}, {% include file ignore missing %}, {% include file without context %}.
func (b *builder) tagInclude(p *tagReader, pc piece) {
	n := &including{at: at(pc.start), of: p.expression(true)}
	if p.takeName("ignore") {
		if !p.takeName("missing") {
			p.unexpected(p.peek(), "`missing`")
		}
		n.absent = true
	}
	if p.isName("with") || p.isName("without") {
		n.alone = p.next().text == "without"
		if !p.takeName("context") {
			p.unexpected(p.peek(), "`context`")
		}
	}
	b.output(n, pc.start, pc.end)
}

// include renders the first of the files that is there.
func (s scope) include(n *including) (any, error) {
	v, err := s.eval(n.of)
	if err != nil {
		return nil, err
	}
	names, isList := v.([]any)
	if !isList {
		names = []any{v}
	}
	if s.engine.World.File == nil {
		return nil, placed(fault(Failed, "", "other files cannot be included here"), n.of)
	}
	env := s.env
	if !n.alone {
		env = layered{s.env, s.visible}
	}
	var last error
	for _, v := range names {
		name, isText := v.(string)
		if !isText {
			return nil, placed(fault(Type, "", "needs the name of a file, not %s", kindOf(v)), n.of)
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
		made, err := s.renderFile(name, strings.TrimSuffix(text, "\n"), Style{}, env) // as Jinja reads files
		return made, s.placed(err, n.of)
	}
	if n.absent || last == nil {
		return "", nil
	}
	return nil, s.placed(last, n.of)
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
	case exec.Macro, func(*exec.VarArgs) *exec.Value:
		return nil, false
	}
	return nil, false
}
