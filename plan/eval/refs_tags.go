package eval

import "slices"

// frame is one level of names during compilation.
type frame map[string]binding

// tagCollector gathers the free variables of a template with tags. It knows at each place which names the template has made.
type tagCollector struct {
	collector
	frames []frame
	macros []string // of the whole text: one may be called above where it is written
}

func newTagCollector(e *Engine) *tagCollector {
	c := &tagCollector{frames: []frame{{}}}
	c.collector = collector{engine: e, bound: c.binding}
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
		if c.binding(name) == free {
			outer[name] = maybe
		}
	}
}

// inside walks a body that has names of its own.
func (c *tagCollector) inside(body statements, names ...string) {
	c.push(names...)
	c.walk(body)
	c.pop()
}

func (c *tagCollector) walk(list statements) {
	for _, st := range list {
		c.statement(st)
	}
}

func (c *tagCollector) statement(st statement) {
	switch st := st.(type) {
	case *verbatim, *exitTag:
	case *printing:
		c.all(st.of)
	case *doTag:
		c.all(st.of)
	case *ifTag:
		for _, b := range st.branches {
			c.all(b.cond)
			c.push()
			c.walk(b.body)
			c.leaveBranch()
		}
	case *forTag:
		c.all(st.in)
		c.push(append(slices.Clone(st.names), "loop")...)
		c.all(st.cond)
		c.walk(st.body)
		c.pop() // the loop's names do not exist in its else
		c.inside(st.empty)
	case *setTag:
		c.all(st.value)
		c.bind(st.names...)
	case *captureTag:
		c.inside(st.body)
		c.bind(st.name)
		c.all(st.value)
	case *withTag:
		c.all(st.values...)
		c.inside(st.body, st.names...)
	case *macroTag:
		c.bind(st.name)
		c.macros = append(c.macros, st.name)
		c.push("caller", "varargs", "kwargs")
		c.macro(st)
		c.pop()
	case *callTag:
		c.callOf(st)
		c.macro(st.caller)
	case *filterTag:
		c.push(captured)
		c.all(st.chain)
		c.walk(st.body)
		c.pop()
	case *blockTag:
		c.walk(st.body)
	case *importTag:
		c.all(st.file)
		c.bind(st.name)
	case *fromTag:
		c.all(st.file)
		c.bind(st.names...)
	}
}

// macro walks a macro. A default may use the parameters before it.
func (c *tagCollector) macro(m *macroTag) {
	c.push()
	for _, p := range m.params {
		c.all(p.value)
		c.bind(p.name)
	}
	c.bind(m.varargs, m.kwargs)
	c.walk(m.body)
	c.pop()
}

// callOf notes what the arguments of a {% call %} use. Its macro is one of this text, or of a file that is imported.
func (c *tagCollector) callOf(st *callTag) {
	root, ok := st.of.function.(*variable)
	if m, isMember := st.of.function.(*member); isMember {
		root, ok = m.of.(*variable)
	}
	if !ok || c.binding(root.name) == free {
		panic(&Error{Message: notMacro, Offset: st.tagAt, Width: len("call")})
	}
	c.arguments(st.of.args)
}
