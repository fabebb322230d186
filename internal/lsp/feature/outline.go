package feature

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"moon/internal/lsp/index"
	"moon/internal/lsp/wire"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/playbook"
)

// Outline is the plan tree of what is written in the page. Until there is a plan it is what is written alone.
func (p *Page) Outline() []*wire.Symbol {
	for _, b := range p.Books {
		if b.Plan != nil {
			// Without hosts a play has no steps, and what is written is more.
			if list := p.planned(b); countSteps(list) > 0 {
				return list
			}
		}
	}
	for _, b := range p.Books {
		if list := p.written(b); len(list) > 0 {
			return list
		}
	}
	return []*wire.Symbol{}
}

func countSteps(list []*wire.Symbol) (n int) {
	for _, one := range list {
		if one.Kind == wire.SymbolFunction || one.Kind == wire.SymbolEvent {
			n++
		}
		n += countSteps(one.Children)
	}
	return n
}

// scopeKinds are the symbols of scopes. Others have no place of their own in a text.
var scopeKinds = map[plan.ScopeKind]int{
	plan.ScopeInclude: wire.SymbolModule, plan.ScopeBlock: wire.SymbolNamespace, plan.ScopePlay: wire.SymbolClass,
	plan.ScopeRole: wire.SymbolPackage, plan.ScopePreset: wire.SymbolPackage, plan.ScopeBranch: wire.SymbolNamespace,
}

// planned is the tree of a plan, as far as the page has it. Rounds of loops and hosts are one symbol, which counts them.
func (p *Page) planned(b *index.Book) []*wire.Symbol {
	o := &outline{page: p, at: map[[2]int]*entry{}}
	o.root = &entry{Symbol: &wire.Symbol{}}
	scopes := make([]*entry, len(b.Plan.Scopes)) // where what is in them belongs
	step := 0
	addSteps := func(upTo int) {
		for ; step < upTo; step++ {
			s := &b.Plan.Steps[step]
			in := scopes[s.Scope]
			if b.PathOf(s.Origin.File) != p.Path || in == nil {
				continue
			}
			kind := wire.SymbolFunction
			if s.Handler {
				kind = wire.SymbolEvent
			}
			o.add(in, s.Origin.Line, s.Origin.Column, cmp.Or(s.Name, s.Summary, s.Action), s.Action, kind, true)
		}
	}
	for i := range b.Plan.Scopes {
		s := &b.Plan.Scopes[i]
		addSteps(s.First)
		in := o.root
		if s.Parent >= 0 && scopes[s.Parent] != nil {
			in = scopes[s.Parent]
		}
		scopes[i] = in
		if kind := scopeKinds[s.Kind]; kind != 0 && b.PathOf(s.Origin.File) == p.Path && s.Origin.Line > 0 {
			scopes[i] = o.add(in, s.Origin.Line, s.Origin.Column, cmp.Or(s.Branch, s.Name, string(s.Kind)), string(s.Kind), kind, false)
		}
	}
	addSteps(len(b.Plan.Steps))
	return o.finish()
}

// written is the tree of the tasks as they are written.
func (p *Page) written(b *index.Book) []*wire.Symbol {
	o := &outline{page: p, at: map[[2]int]*entry{}}
	o.root = &entry{Symbol: &wire.Symbol{}}
	var add func(in *entry, list []*playbook.Task)
	inBlock := map[*playbook.Task]bool{} // the index lists what is in blocks and plays as well
	add = func(in *entry, list []*playbook.Task) {
		for _, t := range list {
			kind := map[playbook.TaskKind]int{
				playbook.Block: wire.SymbolNamespace, playbook.Include: wire.SymbolModule, playbook.Role: wire.SymbolPackage,
			}[t.Kind]
			e := o.add(in, t.Pos.Line, t.Pos.Column, cmp.Or(t.Name.Text(), t.Action, t.ActionKey, "step"), cmp.Or(t.Action, t.ActionKey),
				cmp.Or(kind, wire.SymbolFunction), false)
			for _, part := range t.Parts() {
				for _, inner := range part.Tasks {
					inBlock[inner] = true
				}
				add(e, part.Tasks)
			}
		}
	}
	inPlay := map[*playbook.Task]bool{}
	for i := range b.Index.Plays {
		pl := &b.Index.Plays[i]
		if pl.Path != p.Path {
			continue
		}
		e := o.add(o.root, pl.Pos.Line, pl.Pos.Column, cmp.Or(pl.Name.Text(), pl.Hosts.Text(), "play"), "play", wire.SymbolClass, false)
		for _, list := range [][]*playbook.Task{pl.PreTasks, pl.Roles, pl.Tasks, pl.PostTasks, pl.Handlers} {
			for _, t := range list {
				inPlay[t] = true
			}
			add(e, list)
		}
	}
	for i := range b.Index.Tasks {
		if t := &b.Index.Tasks[i]; t.Path == p.Path && !inPlay[t.Task] && !inBlock[t.Task] {
			add(o.root, []*playbook.Task{t.Task})
		}
	}
	return o.finish()
}

// outline is a tree of symbols while it grows.
type outline struct {
	page *Page
	root *entry
	at   map[[2]int]*entry // by line and column
}

type entry struct {
	*wire.Symbol
	line, column int
	parent       *entry
	inside       []*entry
	names        []string
	steps        int
}

// add adds a symbol, or counts one that has been added at the place.
func (o *outline) add(in *entry, line, column int, name, detail string, kind int, step bool) *entry {
	key := [2]int{line, column}
	e := o.at[key]
	if e == nil {
		e = &entry{Symbol: &wire.Symbol{Detail: detail, Kind: kind}, line: line, column: column, parent: in}
		// What was begun by a scope at this very place is inside of it.
		if in.line == line && in.column == column && in.Kind != 0 {
			return in
		}
		o.at[key] = e
		in.inside = append(in.inside, e)
	}
	if name = termtext.CleanName(name); !slices.Contains(e.names, name) {
		e.names = append(e.names, name)
	}
	if step {
		e.steps++
	}
	return e
}

// finish gives each symbol its text and its range: up to the next line that is indented no deeper.
func (o *outline) finish() []*wire.Symbol {
	var visit func(e *entry) []*wire.Symbol
	t := o.page.Text
	visit = func(e *entry) []*wire.Symbol {
		slices.SortStableFunc(e.inside, func(a, b *entry) int { return cmp.Or(a.line-b.line, a.column-b.column) })
		var list []*wire.Symbol
		for _, one := range e.inside {
			one.Name = cmp.Or(one.names[0], one.Detail, "step")
			if len(one.names) > 1 {
				one.Name += " …"
			}
			if one.steps > 1 {
				one.Detail += fmt.Sprintf(" × %d", one.steps)
			}
			from := t.Find(one.line, one.column)
			one.Range = t.Range(from, endOf(o.page, from))
			one.Selection = t.Range(from, from+len(strings.TrimRight(restOfLine(o.page, from), " \r")))
			one.Children = visit(one)
			list = append(list, one.Symbol)
		}
		return list
	}
	return visit(o.root)
}

func restOfLine(p *Page, from int) string {
	rest := p.Text.String()[from:]
	if i := strings.IndexAny(rest, "\r\n"); i >= 0 {
		return rest[:i]
	}
	return rest
}

// endOf is where something ends that begins at a byte: before the next line that is indented less, or as much as its item.
func endOf(p *Page, from int) int {
	begin := p.Text.Position(from)
	column := from - p.Text.Offset(wire.Position{Line: begin.Line})
	last := begin.Line
	for n := begin.Line + 1; n < p.Text.Lines(); n++ {
		line := p.Text.Line(n)
		content := strings.TrimLeft(line, " ")
		if content == "" || content[0] == '#' {
			continue
		}
		if len(line)-len(content) < column {
			break
		}
		last = n
	}
	return p.Text.Offset(wire.Position{Line: last, Character: 1 << 30})
}
