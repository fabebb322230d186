package eval

import (
	"slices"

	"moon/plan/eval/filters"
	"moon/plan/eval/jinja"
	"moon/plan/eval/lookups"
	"moon/plan/eval/value"
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
	known functionTable
	bound func(name string) binding
	refs  []Ref
	// guards are names whose absence some expression asks about: everywhere in the text their absence is provided for.
	guards []string
	// unknown are calls of functions that are neither built in nor bound where they are called, and of lookups that do not exist.
	unknown []*jinja.Call
	ignored []Ignored
}

// Ignored is an option that a lookup does not have, and that is passed over.
type Ignored struct {
	Lookup, Option string
	Offset         int // in bytes, in the text
}

// functionTable knows which functions there are.
type functionTable interface {
	isFunction(name string) bool
	functionNames() []string
	// lookupError is what is wrong with the name of a lookup; nil if there is one of that name.
	lookupError(name string) *value.Error
	// ignores reports whether a lookup passes over an option.
	ignores(name, option string) bool
}

// newCollector is for texts that bind no names.
func newCollector(known functionTable) *collector {
	return &collector{known: known, bound: func(string) binding { return free }}
}

// node walks an expression. provided is set below what provides for a missing value: x in `x is defined`.
func (c *collector) node(n jinja.Node, provided bool) {
	switch n := n.(type) {
	case nil, *jinja.Constant, *jinja.Absent:
	case *jinja.Variable:
		c.path(n, nil, provided)
	case *jinja.Member:
		c.chain(n, provided)
	case *jinja.Slicing:
		c.all(n.Of, n.From, n.To, n.Step)
	case *jinja.Call:
		c.call(n)
	case *jinja.Filtering:
		// Only the input is provided for: in x | default(y) a missing y is a mistake.
		c.node(n.In, filterOf(n).Guards)
		c.arguments(n.Args)
	case *jinja.Testing:
		c.node(n.In, testOf(n).Guards)
		c.arguments(n.Args)
	case *jinja.Negation:
		// `not (x is defined)` asks the same as without `not`.
		c.node(n.Of, provided)
	case *jinja.Signed:
		c.node(n.Of, false)
	case *jinja.Arithmetic:
		c.all(n.Left, n.Right)
	case *jinja.Comparison:
		c.node(n.Left, false)
		for _, r := range n.Rest {
			c.node(r.Right, false)
		}
	case *jinja.Logic:
		c.all(n.Left, n.Right)
	case *jinja.Choice:
		c.all(n.Cond, n.Then, n.Other)
	case *jinja.Listing:
		c.all(n.Items...)
	case *jinja.Dict:
		c.all(n.Keys...)
		c.all(n.Values...)
	case *jinja.Assignment:
		c.all(n.Target.Of, n.Value)
	case *jinja.Including:
		c.node(n.Of, false)
	case *jinja.Importing:
		c.node(n.Of, false)
	}
}

func (c *collector) all(nodes ...jinja.Node) {
	for _, n := range nodes {
		if n != nil {
			c.node(n, false)
		}
	}
}

func (c *collector) arguments(args []jinja.Argument) {
	for _, a := range args {
		c.node(a.Value, false)
	}
}

// chain notes x.y[i].z as a use of x.y and walks the computed keys.
func (c *collector) chain(n *jinja.Member, provided bool) {
	var base jinja.Node = n
	for {
		m, ok := base.(*jinja.Member)
		if !ok {
			break
		}
		// A computed key is an expression with names of its own.
		if _, isConstant := m.Key.(*jinja.Constant); !isConstant {
			c.node(m.Key, false)
		}
		base = m.Of
	}
	root, ok := base.(*jinja.Variable)
	if !ok {
		c.node(base, provided)
		return
	}
	c.path(root, constantPath(n), provided)
}

// constantPath gives the keys that follow the root of a chain, up to the first computed one.
func constantPath(n jinja.Node) []any {
	m, ok := n.(*jinja.Member)
	if !ok {
		return nil
	}
	if _, path, ok := jinja.PathOf(m); ok {
		return path
	}
	return constantPath(m.Of)
}

func (c *collector) path(root *jinja.Variable, path []any, provided bool) {
	b := c.bound(root.Name)
	// `maybe` still counts: on some way to here it is the variable that is read.
	if b == certain || root.Name == "omit" {
		return
	}
	if provided && !slices.Contains(c.guards, root.Name) {
		c.guards = append(c.guards, root.Name)
	}
	c.refs = append(c.refs, Ref{Name: root.Name, Path: path, Guarded: provided || b == maybe, Offset: root.Offset()})
}

func (c *collector) call(n *jinja.Call) {
	args := n.Args
	if f, ok := n.Function.(*jinja.Variable); ok {
		args, _ = splitRequired(f.Name, args)
	}
	c.arguments(args)
	switch f := n.Function.(type) {
	case *jinja.Variable:
		c.environment(n, f)
		c.looked(n, f)
		// Noted and judged at the end: a macro may be defined further down.
		if c.bound(f.Name) == free && !c.known.isFunction(f.Name) {
			c.unknown = append(c.unknown, n)
		}
	case *jinja.Member:
		c.node(f.Of, false)
	default:
		c.node(n.Function, false)
	}
}

// environment notes which variables env() reads.
func (c *collector) environment(n *jinja.Call, f *jinja.Variable) {
	if f.Name != "env" || c.bound(f.Name) != free || len(n.Args) == 0 {
		return
	}
	// Guarded, because env() has its own default and its own message.
	ref := Ref{Name: "facts", Path: []any{"env"}, Guarded: true, Offset: n.Offset(), Call: true}
	if name, ok := n.Args[0].Value.(*jinja.Constant); ok {
		ref.Path = append(ref.Path, name.Value)
	}
	for _, a := range n.Args {
		mark, ok := a.Value.(*jinja.Constant)
		ref.Secret = ref.Secret || a.Name == "secret" && ok && value.Truthy(mark.Value)
	}
	c.refs = append(c.refs, ref)
}

// looked notes which variables lookup('vars', …) and lookup('env', …) read, if their names are written out.
func (c *collector) looked(n *jinja.Call, f *jinja.Variable) {
	if !lookups.IsFunction(f.Name) || c.bound(f.Name) != free || len(n.Args) == 0 {
		return
	}
	name, ok := n.Args[0].Value.(*jinja.Constant)
	if !ok || n.Args[0].Name != "" || n.Args[0].Unpack != "" {
		return
	}
	if c.lookupError(name) != nil {
		c.unknown = append(c.unknown, n)
		return
	}
	for _, a := range n.Args[1:] {
		if a.Name != "" && value.IsString(name.Value) && c.known.ignores(value.Text(name.Value), a.Name) {
			c.ignored = append(c.ignored, Ignored{value.Text(name.Value), a.Name, a.At})
		}
	}
	switch name.Value {
	case "vars", "ansible.builtin.vars":
	case "env", "ansible.builtin.env":
		// Guarded, because what is not set is an empty text.
		for _, a := range n.Args[1:] {
			if name, ok := a.Value.(*jinja.Constant); ok && a.Name == "" && a.Unpack == "" && value.IsString(name.Value) {
				c.refs = append(c.refs, Ref{Name: "facts", Path: []any{"env", value.Text(name.Value)}, Guarded: true, Offset: a.At + 1, Call: true})
			}
		}
		return
	default:
		return
	}
	guarded := slices.ContainsFunc(n.Args, func(a jinja.Argument) bool { return a.Name == "default" || a.Unpack == "**" })
	for _, a := range n.Args[1:] {
		// A computed name is not known before it runs.
		if name, ok := a.Value.(*jinja.Constant); ok && a.Name == "" && a.Unpack == "" && value.IsString(name.Value) {
			c.refs = append(c.refs, Ref{Name: value.Text(name.Value), Guarded: guarded, Offset: a.At + 1})
		}
	}
}

// lookupError is the error for the name of a lookup that does not exist or is not available, or nil.
func (c *collector) lookupError(name *jinja.Constant) *value.Error {
	if !value.IsString(name.Value) {
		return nil // it is said when it is called
	}
	e := c.known.lookupError(value.Text(name.Value))
	if e != nil {
		e.Kind, e.Offset, e.Width = value.SyntaxError, name.Offset(), len(value.Text(name.Value))
	}
	return e
}

// unknownFunction is the error for the first call of a function that does not exist. Macros may be called before the
// text defines them, inside of other macros.
func (c *collector) unknownFunction(macros []string) error {
	for _, n := range c.unknown {
		f := n.Function.(*jinja.Variable)
		if slices.Contains(macros, f.Name) {
			continue
		}
		if c.known.isFunction(f.Name) {
			return c.lookupError(n.Args[0].Value.(*jinja.Constant))
		}
		if reason, ok := filters.Refused[f.Name]; ok {
			return &value.Error{
				Message: "the function `" + f.Name + "` is not available: " + reason, Offset: f.Offset(),
				Width: len(f.Name),
			}
		}
		e := value.Misspelt("function", f.Name, append(c.known.functionNames(), macros...))
		if hint := filters.FunctionHint(f.Name); hint != "" {
			e.Hint = hint
		}
		e.Offset, e.Width = f.Offset(), len(f.Name)
		return e
	}
	return nil
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
