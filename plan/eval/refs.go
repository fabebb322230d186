package eval

import (
	"cmp"
	"slices"
)

// binding says whether a name belongs to the template at some place.
type binding uint8

const (
	free    binding = iota // it comes from the environment
	maybe                  // it is set on some way to here, as in {% if c %}{% set x = 1 %}{% endif %}{{ x }}
	certain                // it is the template's own
)

// collector gathers the free variables of expressions.
type collector struct {
	engine *Engine
	bound  func(name string) binding
	refs   []Ref
	// guards are names whose absence some expression asks about: everywhere in the text their absence is provided for.
	guards []string
	// unknown are calls of functions that are neither built in nor bound where they are called.
	unknown []*call
}

// newCollector is for texts that bind no names.
func newCollector(e *Engine) *collector {
	return &collector{engine: e, bound: func(string) binding { return free }}
}

// node walks an expression. provided is set below what provides for a missing value: x in `x is defined`.
func (c *collector) node(n node, provided bool) {
	switch n := n.(type) {
	case nil, *constant, *absent:
	case *variable:
		c.path(n, nil, provided)
	case *member:
		c.chain(n, provided)
	case *slicing:
		c.all(n.of, n.from, n.to, n.step)
	case *call:
		c.call(n)
	case *filtering:
		c.node(n.in, n.def.guards)
		c.arguments(n.args)
	case *testing:
		c.node(n.in, n.def.guards)
		c.arguments(n.args)
	case *negation:
		c.node(n.of, provided)
	case *signed:
		c.node(n.of, false)
	case *arithmetic:
		c.all(n.left, n.right)
	case *comparison:
		c.node(n.left, false)
		for _, r := range n.rest {
			c.node(r.right, false)
		}
	case *logic:
		c.all(n.left, n.right)
	case *choice:
		c.all(n.cond, n.then, n.other)
	case *listing:
		c.all(n.items...)
	case *dict:
		c.all(n.keys...)
		c.all(n.values...)
	case *assignment:
		c.all(n.target.of, n.value)
	case *including:
		c.node(n.of, false)
	case *importing:
		c.node(n.of, false)
	}
}

func (c *collector) all(nodes ...node) {
	for _, n := range nodes {
		if n != nil {
			c.node(n, false)
		}
	}
}

func (c *collector) arguments(args []argument) {
	for _, a := range args {
		c.node(a.value, false)
	}
}

// chain notes x.y[i].z as a use of x.y and walks the computed keys.
func (c *collector) chain(n *member, provided bool) {
	var base node = n
	for {
		m, ok := base.(*member)
		if !ok {
			break
		}
		if _, isConstant := m.key.(*constant); !isConstant {
			c.node(m.key, false)
		}
		base = m.of
	}
	root, ok := base.(*variable)
	if !ok {
		c.node(base, provided)
		return
	}
	c.path(root, constantPath(n), provided)
}

// constantPath gives the keys that follow the root of a chain, up to the first computed one.
func constantPath(n node) []any {
	m, ok := n.(*member)
	if !ok {
		return nil
	}
	if _, path, ok := pathOf(m); ok {
		return path
	}
	return constantPath(m.of)
}

func (c *collector) path(root *variable, path []any, provided bool) {
	b := c.bound(root.name)
	if b == certain || root.name == "omit" && c.engine.Python {
		return
	}
	if provided && !slices.Contains(c.guards, root.name) {
		c.guards = append(c.guards, root.name)
	}
	c.refs = append(c.refs, Ref{Name: root.name, Path: path, Guarded: provided || b == maybe, Offset: root.offset()})
}

func (c *collector) call(n *call) {
	c.arguments(n.args)
	switch f := n.function.(type) {
	case *variable:
		c.environment(n, f)
		c.looked(n, f)
		if c.bound(f.name) == free && !c.engine.isFunction(f.name) {
			c.unknown = append(c.unknown, n)
		}
	case *member:
		c.node(f.of, false)
	default:
		c.node(n.function, false)
	}
}

// environment notes which variables env() reads.
func (c *collector) environment(n *call, f *variable) {
	if f.name != "env" || c.bound(f.name) != free || len(n.args) == 0 {
		return
	}
	ref := Ref{Name: "facts", Path: []any{"env"}, Guarded: true, Offset: n.offset(), Call: true}
	if name, ok := n.args[0].value.(*constant); ok {
		ref.Path = append(ref.Path, name.value)
	}
	for _, a := range n.args {
		mark, ok := a.value.(*constant)
		ref.Secret = ref.Secret || a.name == "secret" && ok && truthy(mark.value)
	}
	c.refs = append(c.refs, ref)
}

// looked notes which variables lookup('vars', …) reads, where their names are written out.
func (c *collector) looked(n *call, f *variable) {
	if !c.engine.Python || !isLookup(f.name) || c.bound(f.name) != free || len(n.args) == 0 {
		return
	}
	if name, ok := n.args[0].value.(*constant); !ok || name.value != "vars" && name.value != "ansible.builtin.vars" {
		return
	}
	guarded := slices.ContainsFunc(n.args, func(a argument) bool { return a.name == "default" })
	for _, a := range n.args[1:] {
		if name, ok := a.value.(*constant); ok && a.name == "" && isString(name.value) {
			c.refs = append(c.refs, Ref{Name: Text(name.value), Guarded: guarded, Offset: a.at + 1})
		}
	}
}

// unknownFunction is the error for the first call of a function that does not exist. Macros may be called before the
// text defines them, inside of other macros.
func (c *collector) unknownFunction(macros []string) error {
	for _, n := range c.unknown {
		f := n.function.(*variable)
		if slices.Contains(macros, f.name) {
			continue
		}
		if reason, ok := refused[f.name]; ok {
			return &Error{Message: "the function `" + f.name + "` is not available: " + reason, Offset: f.offset(), Width: len(f.name)}
		}
		e := misspelt("function", f.name, append(c.engine.functionNames(), macros...))
		if hint := functionHint(f.name); hint != "" {
			e.Hint = hint
		}
		if isLookup(f.name) {
			of, what := "", ""
			if len(n.args) > 0 {
				of = textOf(n.args[0].value)
			}
			if len(n.args) > 1 {
				what = textOf(n.args[1].value)
			}
			e = noLookup(f.name, of, what)
		}
		e.Offset, e.Width = f.offset(), len(f.name)
		return e
	}
	return nil
}

func isLookup(function string) bool {
	return function == "lookup" || function == "query" || function == "q"
}

// textOf is the text that an expression is, or "".
func textOf(n node) string {
	if c, ok := n.(*constant); ok && isString(c.value) {
		return Text(c.value)
	}
	return ""
}

// noLookup says what steps have instead of the lookup that users know from plays.
func noLookup(function, of, what string) *Error {
	hint := "read it in a step with `register`"
	switch of = unqualified(of); of {
	case "env":
		hint = "write `env('" + cmp.Or(what, "NAME") + "')`"
	case "vars":
		hint = "write the name itself: `" + cmp.Or(what, "NAME") + "`"
	case "pipe", "url":
		hint = "run it in a step with `register`, and use its result"
	case "file":
		hint = "read the file in a step, such as `shell: cat FILE` with `register`; for variables there is `vars_files:`"
	case "dict":
		hint = "write `NAME | dict2items`"
	case "sequence":
		hint = "write a range: `1..3`, or `range(1, 4)`"
	}
	return &Error{Message: "`" + function + "` is for plays", Hint: hint, Offset: -1, Lacking: true}
}

// done gives the refs in the order of the text. A name that is guarded anywhere is guarded everywhere: who asks whether
// a thing is there has thought of its absence.
func (c *collector) done() []Ref {
	for i := range c.refs {
		if slices.Contains(c.guards, c.refs[i].Name) {
			c.refs[i].Guarded = true
		}
	}
	slices.SortStableFunc(c.refs, func(a, b Ref) int { return a.Offset - b.Offset })
	// expr walks the middle of a < b < c twice.
	c.refs = slices.CompactFunc(c.refs, func(a, b Ref) bool { return a.Offset == b.Offset })
	return c.refs
}
