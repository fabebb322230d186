package bindings

import (
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner/compile"
	"moon/plan/planner/known"
	"moon/plan/planner/library"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// Maker makes layers of variables.
type Maker struct {
	plan     *plan.Plan
	problems *problems.Collector
	library  *library.Library
	compiler *compile.Compiler
	known    *known.Reader
	note     func(name string)
	warned   map[string]bool // pairs of places that were said to set the same variable
}

// New makes the layers of a plan. note is given each name that gets a value.
func New(p *plan.Plan, list *problems.Collector, l *library.Library, c *compile.Compiler, k *known.Reader, note func(string)) *Maker {
	return &Maker{plan: p, problems: list, library: l, compiler: c, known: k, note: note, warned: map[string]bool{}}
}

// Site is where variables are written: in a directory, behind some includes.
type Site struct {
	Dir   string
	Chain []string
}

// Render renders a block of variables at a place. frame is what is in effect now, and add makes one more name visible in it.
func (m *Maker) Render(entries []playbook.Entry, from string, chain []string, frame func() *vars.Frame, add func(*vars.Binding)) {
	(&block{m: m, entries: entries, from: from, chain: chain, frame: frame, add: add}).render()
}

// Layer renders a block of variables, each into a layer of its own, so that a frame in the middle of the block sees
// what was there before it. place puts a layer into a copy of the frame.
func (m *Maker) Layer(entries []playbook.Entry, parent *vars.Layer, fr *vars.Frame, place func(*vars.Frame, *vars.Layer), from string,
	chain []string, lenient bool,
) *vars.Layer {
	l := parent
	vb := &block{
		m: m, entries: entries, from: from, chain: chain, lenient: lenient,
		frame: func() *vars.Frame {
			inside := *fr
			place(&inside, l)
			return &inside
		},
		add: func(b *vars.Binding) { l = &vars.Layer{Parent: l, Binds: []vars.Binding{*b}} },
	}
	vb.render()
	return l
}

// Own renders the variables of a file of steps: its vars_files, and above them its vars. Both may use the other's
// names.
func (m *Maker) Own(pb *playbook.Playbook, at Site, frame func() *vars.Frame, addFile, addOwn func(*vars.Binding)) {
	own := &block{m: m, entries: pb.Vars.Entries(), from: "vars", chain: at.Chain, frame: frame, add: addOwn}
	own.prepare()
	for _, v := range pb.VarsFiles {
		r := m.compiler.Renderer(&plan.Env{Plan: m.plan, Engine: m.plan.Engine, Frame: frame(), Pending: own.pending}, at.Chain)
		f, found, ok := m.File(r, v, "vars_files", at)
		if !ok {
			continue
		}
		file := &block{m: m, entries: found.Entries(), from: f.Name, chain: at.Chain, frame: frame, add: addFile, next: own.pending}
		file.render()
	}
	own.render()
}

// AsWritten are the variables of a file of steps as they are written: those of its vars_files, then its own.
func (m *Maker) AsWritten(pb *playbook.Playbook, at Site, e *plan.Env) (maps []playbook.Value) {
	for _, v := range pb.VarsFiles {
		r := m.compiler.Renderer(e, at.Chain)
		r.Report = nil // what is wrong with it is said where it is read for good
		name := r.Text(v)
		if r.Failed || len(r.Missing) > 0 {
			continue
		}
		if f, err := m.library.Read(m.library.Resolve(name, at.Dir)); err == nil {
			if found, ok := m.library.ParseVars(f); ok {
				maps = append(maps, found)
			}
		}
	}
	return append(maps, pb.Vars)
}

// File reads the file of variables whose path v is.
func (m *Maker) File(r *plan.Renderer, v playbook.Value, key string, at Site) (f *playbook.File, found playbook.Value, ok bool) {
	name := r.Text(v)
	width := utf8.RuneCountInString(plan.FirstLine(v.Text()))
	switch {
	case r.Failed || r.Undefined:
		return nil, found, false
	case len(r.Missing) > 0:
		m.known.ReportLate(v, at.Chain, "read each candidate with its own `when`", "which file of variables to read", r.Missing)
		return nil, found, false
	}
	target := m.library.Resolve(name, at.Dir)
	f, err := m.library.Read(target)
	if err != nil {
		m.problems.Errorf(v.Pos(), width, at.Chain, m.library.SuggestFix(target, err), "%s: %s", key, m.library.DescribeError(err))
		return nil, found, false
	}
	found, ok = m.library.ParseVars(f)
	return f, found, ok
}

// Lazy makes a layer of variables that are rendered where they are used. What has no template is what it is.
func (m *Maker) Lazy(entries []playbook.Entry, parent *vars.Layer, from string, chain []string) *vars.Layer {
	if len(entries) == 0 {
		return parent
	}
	l := &vars.Layer{Parent: parent}
	for _, e := range entries {
		l.Add(m.Bind(e.Key, e.Value, from, e.Pos.Origin(chain)))
	}
	return l
}

// Bind gives a value as written a name.
func (m *Maker) Bind(name string, v playbook.Value, from string, at diag.Origin) vars.Binding {
	m.note(name)
	b := vars.Binding{Name: name, From: from, Origin: at}
	if plan.TemplatedIn(v) {
		b.Lazy, b.Raw = true, v
		return b
	}
	b.Value = plan.AsWritten(v)
	return b
}
