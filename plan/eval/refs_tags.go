package eval

import (
	"slices"

	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// frame is one level of names during compilation.
type frame map[string]binding

// tagCollector gathers the free variables of a template with tags. It knows at each place which names the template has made.
type tagCollector struct {
	collector
	frames []frame
	macros []string // of the whole text: one may be called above where it is written
}

func newTagCollector(known functionTable) *tagCollector {
	c := &tagCollector{frames: []frame{{}}}
	c.collector = collector{known: known, bound: c.binding}
	return c
}

func (c *tagCollector) binding(name string) binding {
	for _, f := range slices.Backward(c.frames) {
		if bound, ok := f[name]; ok {
			return bound
		}
	}
	return free
}

func (c *tagCollector) bind(names ...string) {
	for _, name := range names {
		c.frames[len(c.frames)-1][name] = certain
	}
}

func (c *tagCollector) push(names ...string) {
	c.frames = append(c.frames, frame{})
	c.bind(names...)
}

func (c *tagCollector) pop() { c.frames = c.frames[:len(c.frames)-1] }

// leaveBranch ends the names of a branch: whether they are set behind it depends on the way taken.
func (c *tagCollector) leaveBranch() {
	branch := c.frames[len(c.frames)-1]
	c.pop()
	outer := c.frames[len(c.frames)-1]
	for name := range branch {
		// A name that was certain before stays so: both ways give it a value.
		if c.binding(name) == free {
			outer[name] = maybe
		}
	}
}

// inside walks a body that has names of its own.
func (c *tagCollector) inside(body jinja.Statements, names ...string) {
	c.push(names...)
	c.walk(body)
	c.pop()
}

func (c *tagCollector) walk(list jinja.Statements) {
	for _, st := range list {
		c.statement(st)
	}
}

func (c *tagCollector) statement(st jinja.Statement) {
	switch st := st.(type) {
	case *jinja.Verbatim, *jinja.ExitTag:
	case *jinja.Printing:
		c.all(st.Of)
	case *jinja.DoTag:
		c.all(st.Of)
	case *jinja.IfTag:
		for _, b := range st.Branches {
			c.all(b.Cond)
			c.push()
			c.walk(b.Body)
			c.leaveBranch()
		}
	case *jinja.ForTag:
		c.all(st.In)
		// Behind what is looped over, which does not see the names of the loop.
		c.push(append(slices.Clone(st.Names), "loop")...)
		c.all(st.Cond)
		c.walk(st.Body)
		c.pop() // the loop's names do not exist in its else
		c.inside(st.Empty)
	case *jinja.SetTag:
		c.all(st.Value)
		// Behind its value: {% set x = x + 1 %} reads the variable.
		c.bind(st.Names...)
	case *jinja.CaptureTag:
		c.inside(st.Body)
		// Behind the body, and before its filters, which read it.
		c.bind(st.Name)
		c.all(st.Value)
	case *jinja.WithTag:
		c.all(st.Values...)
		c.inside(st.Body, st.Names...)
	case *jinja.MacroTag:
		c.bind(st.Name)
		// Bound before its body is walked, so that it may call itself.
		c.macros = append(c.macros, st.Name)
		c.push("caller", "varargs", "kwargs")
		c.macro(st)
		c.pop()
	case *jinja.CallTag:
		c.callOf(st)
		c.macro(st.Caller)
	case *jinja.FilterTag:
		c.push(jinja.Captured)
		c.all(st.Chain)
		c.walk(st.Body)
		c.pop()
	case *jinja.BlockTag:
		c.inside(st.Body, jinja.Super)
	case *jinja.ExtendsTag:
		c.all(st.Of)
	case *jinja.ImportTag:
		c.all(st.File)
		c.bind(st.Name)
	case *jinja.FromTag:
		c.all(st.File)
		c.bind(st.Names...)
	}
}

// macro walks a macro. A default may use the parameters before it.
func (c *tagCollector) macro(m *jinja.MacroTag) {
	c.push()
	for _, p := range m.Params {
		c.all(p.Value)
		// One by one, so that a default that names a later parameter means the variable.
		c.bind(p.Name)
	}
	c.bind(m.Varargs, m.Kwargs)
	c.walk(m.Body)
	c.pop()
}

// callOf notes what the arguments of a {% call %} use. Its macro is one of this text, or of a file that is imported.
func (c *tagCollector) callOf(st *jinja.CallTag) {
	root, ok := st.Of.Function.(*jinja.Variable)
	if m, isMember := st.Of.Function.(*jinja.Member); isMember {
		root, ok = m.Of.(*jinja.Variable)
	}
	// Thrown, as the statements have no errors; compileTags catches it.
	if !ok || c.binding(root.Name) == free {
		panic(&value.Error{Message: jinja.NotMacro, Offset: st.TagAt, Width: len("call")})
	}
	c.arguments(st.Of.Args)
}
