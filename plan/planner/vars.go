package planner

import (
	"slices"
	"strings"
	"unicode/utf8"

	"moon/plan/sequence"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// varsBlock renders a block of variables. They come in document order: a name means the value in effect so far, and a
// name without any value yet is taken from further down the block.
type varsBlock struct {
	p       *variables
	entries []playbook.Entry
	state   []sequence.Progress
	index   map[string]int // of the entries
	doing   []string       // names being rendered, for the message about a circle
	from    string
	chain   []string
	frame   func() *vars.Frame  // what is in effect now, the part of the block already rendered included; never changes later
	add     func(*vars.Binding) // makes one more name visible in frame
	lenient bool                // names may be missing: a loop's item is not known yet

	// next takes a name that the block does not have from the block after it; may be nil.
	next func(name string) (any, bool)
}

func (vb *varsBlock) render() {
	vb.prepare()
	for i := range vb.entries {
		vb.one(i)
	}
}

// prepare makes pending work before anything is rendered.
func (vb *varsBlock) prepare() {
	if vb.state != nil {
		return
	}
	vb.state = make([]sequence.Progress, len(vb.entries))
	vb.index = make(map[string]int, len(vb.entries))
	for i, e := range vb.entries {
		vb.index[e.Key] = i
	}
}

func (vb *varsBlock) one(i int) {
	if vb.state[i] != sequence.Waiting {
		return
	}
	vb.state[i] = sequence.Doing
	e := vb.entries[i]
	vb.doing = append(vb.doing, e.Key)
	r := vb.p.Renderer(&plan.Env{Plan: vb.p.plan, Engine: vb.p.engine, Frame: vb.frame(), Pending: vb.pending}, vb.chain)
	r.Lenient, r.Marks = vb.lenient, true
	b := &vars.Binding{Name: e.Key, From: vb.from, Origin: origin(e.Pos, vb.chain)}
	b.Value = plan.ForNames(r.Value(e.Value))
	// Kept as written as well: the run renders it again, with the values that it has by then.
	if b.Open = len(r.Missing) > 0; b.Open {
		// Taken after the rendering: it holds the names from further down that this one needed, and not this one
		// itself, which may extend what it hides.
		b.Raw, b.Where = e.Value, vb.frame()
	}
	vb.doing = vb.doing[:len(vb.doing)-1]
	vb.state[i] = sequence.Done
	if r.Undefined {
		return
	}
	vb.p.connector.NoteName(b.Name)
	vb.add(b)
}

// pending takes a name from further down the block.
func (vb *varsBlock) pending(name string) (any, bool) {
	i, ok := vb.index[name]
	switch {
	case !ok && vb.next != nil:
		return vb.next(name)
	case !ok:
		return nil, false
	case vb.state[i] == sequence.Doing:
		vb.circle(i)
		return value.Unknown{}, true
	case len(vb.doing) == plan.MaxChain:
		// Names from further down are rendered by recursion, and a stack that overflows ends the process.
		e := vb.entries[i]
		vb.p.Errorf(e.Pos, utf8.RuneCountInString(e.Key), vb.chain, "write what others need before them", "%s", plan.ChainTooLong(e.Key))
		return value.Unknown{}, true
	}
	vb.one(i)
	return (&plan.Env{Plan: vb.p.plan, Engine: vb.p.engine, Frame: vb.frame()}).Lookup(name)
}

// circle reports variables that need each other. What they give stays unknown, so that their users say nothing about it.
func (vb *varsBlock) circle(i int) {
	e := vb.entries[i]
	names := append(slices.Clone(vb.doing[slices.Index(vb.doing, e.Key):]), e.Key)
	message := "variables that need each other: " + strings.Join(names, " → ")
	hint := "give one of them a value of its own"
	if len(names) == 2 {
		hint = "give it a value before, or use another name"
		message = "the variable `" + e.Key + "` needs itself, and has no value yet"
	}
	vb.p.Report(diag.Diagnostic{
		Pos: e.Pos, Width: utf8.RuneCountInString(e.Key), Chain: vb.chain, Message: message, Hint: hint,
	})
}

// layerOf renders a block of variables, each into a layer of its own, so that a frame in the middle of the block sees
// what was there before it. place puts a layer into a copy of the frame.
func (p *variables) layerOf(m playbook.Value, parent *vars.Layer, fr *vars.Frame, place func(*vars.Frame, *vars.Layer), from string,
	chain []string, lenient bool,
) *vars.Layer {
	return p.layerFrom(m.Entries(), parent, fr, place, from, chain, lenient)
}

func (p *variables) layerFrom(entries []playbook.Entry, parent *vars.Layer, fr *vars.Frame, place func(*vars.Frame, *vars.Layer),
	from string, chain []string, lenient bool,
) *vars.Layer {
	l := parent
	vb := &varsBlock{
		p: p, entries: entries, from: from, chain: chain, lenient: lenient,
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

// ownVars renders the variables of a file of steps: its vars_files, and above them its vars. Both may use the other's
// names.
func (p *variables) ownVars(pb *playbook.Playbook, c *taskContext, frame func() *vars.Frame, addFile, addOwn func(*vars.Binding)) {
	own := &varsBlock{p: p, entries: pb.Vars.Entries(), from: "vars", chain: c.chain, frame: frame, add: addOwn}
	own.prepare()
	for _, v := range pb.VarsFiles {
		r := p.Renderer(&plan.Env{Plan: p.plan, Engine: p.engine, Frame: frame(), Pending: own.pending}, c.chain)
		f, m, ok := p.fileOfVars(r, v, "vars_files", c)
		if !ok {
			continue
		}
		file := &varsBlock{p: p, entries: m.Entries(), from: f.Name, chain: c.chain, frame: frame, add: addFile, next: own.pending}
		file.render()
	}
	own.render()
}

// ownMaps are the variables of a file of steps as they are written: those of its vars_files, then its own.
func (p *variables) ownMaps(pb *playbook.Playbook, c *taskContext) (maps []playbook.Value) {
	for _, v := range pb.VarsFiles {
		r := p.Renderer(p.env(c, nil), c.chain)
		r.Report = nil // what is wrong with it is said where it is read for good
		name := r.Text(v)
		if r.Failed || len(r.Missing) > 0 {
			continue
		}
		if f, err := p.Read(p.Resolve(name, c.dir)); err == nil {
			if m, ok := p.ParseVars(f); ok {
				maps = append(maps, m)
			}
		}
	}
	return append(maps, pb.Vars)
}

// fileOfVars reads the file of variables whose path v is.
func (p *variables) fileOfVars(r *plan.Renderer, v playbook.Value, key string,
	c *taskContext,
) (f *playbook.File, m playbook.Value, ok bool) {
	name := r.Text(v)
	width := utf8.RuneCountInString(plan.FirstLine(v.Text()))
	switch {
	case r.Failed || r.Undefined:
		return nil, m, false
	case len(r.Missing) > 0:
		p.ReportLate(v, c.chain, "read each candidate with its own `when`", "which file of variables to read", r.Missing)
		return nil, m, false
	}
	target := p.Resolve(name, c.dir)
	f, err := p.Read(target)
	if err != nil {
		p.Errorf(v.Pos(), width, c.chain, p.SuggestFix(target, err), "%s: %s", key, p.DescribeError(err))
		return nil, m, false
	}
	m, ok = p.ParseVars(f)
	return f, m, ok
}

// documentVars renders the variables of a `vars` or `include_vars` step into the document's history.
func (p *variables) documentVars(m playbook.Value, c *taskContext, from string, chain []string) {
	vb := &varsBlock{
		p: p, entries: m.Entries(), from: from, chain: chain,
		frame: func() *vars.Frame { return p.frame(c, nil) },
		add: func(b *vars.Binding) {
			p.shadows(b)
			b.Passing = c.rescuing
			p.names.Document.Add(b)
		},
	}
	vb.render()
}

// shadows warns about a variable that hides a fact.
func (p *variables) shadows(b *vars.Binding) {
	if _, ok := p.names.FactsMap[b.Name]; ok || b.Name == "facts" {
		p.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: diag.Pos{File: b.Origin.File, Line: b.Origin.Line, Column: b.Origin.Column}, Width: len(b.Name),
			Chain:   b.Origin.Chain,
			Message: "variable `" + b.Name + "` hides the fact of that name",
			Hint:    "the fact stays readable as `facts." + b.Name + "`",
		})
	}
}

func origin(pos diag.Pos, chain []string) diag.Origin {
	return diag.Origin{File: pos.File, Line: pos.Line, Column: pos.Column, Chain: chain}
}
