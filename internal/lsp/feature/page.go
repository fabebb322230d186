package feature

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/internal/lsp/index"
	"moon/internal/lsp/wire"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// RunCommand is the command of a lens. The client runs `moon run` with its arguments: the playbook, and a target.
const RunCommand = "moon.run"

// Lenses are the commands that run steps, plays and blocks. Steps of a role or an included file are run by the playbook.
func (p *Page) Lenses() []wire.Lens {
	list := []wire.Lens{}
	for _, b := range p.Books {
		if b.Plan == nil || !b.Fresh {
			continue
		}
		if b.Path == p.Path {
			list = append(list, wire.Lens{Range: p.Text.Range(0, 0), Command: wire.Command{Title: "▶ run", Command: RunCommand, Arguments: []any{b.Path}}})
		}
		seen := map[int]bool{}
		add := func(file string, line, column int, title, target string) {
			if b.PathOf(file) != p.Path || line == 0 || seen[line] {
				return
			}
			seen[line] = true
			at := p.Text.Find(line, column)
			list = append(list, wire.Lens{Range: p.Text.Range(at, at), Command: wire.Command{
				Title: title, Command: RunCommand, Arguments: []any{b.Path, ":" + target},
			}})
		}
		for i := range b.Plan.Scopes {
			// Blocks have lenses of their own only if they can be named.
			if s := &b.Plan.Scopes[i]; s.UserID != "" {
				add(s.Origin.File, s.Origin.Line, s.Origin.Column, "▶ run this block", s.UserID)
			}
		}
		for i := range b.Plan.Steps {
			s := &b.Plan.Steps[i]
			if s.Handler || s.Excluded || s.Orphan != 0 || s.Task != nil && s.Action == "setup" && s.Name == "Gathering Facts" {
				continue
			}
			target := s.UserID
			if target == "" {
				target = s.Origin.String()
			}
			add(s.Origin.File, s.Origin.Line, s.Origin.Column, "▶ run this step", target)
		}
		slices.SortStableFunc(list, func(a, b wire.Lens) int { return a.Range.Start.Line - b.Range.Start.Line })
		break // one playbook runs it
	}
	return list
}

// shownHint is how many characters of a value stand within a line.
const shownHint = 60

// Hints are the values that templates have in the plan, at the ends of their lines.
func (p *Page) Hints(in wire.Range) []wire.Hint {
	list := []wire.Hint{}
	for _, b := range p.Books {
		if b.Plan == nil || !b.Fresh {
			continue // they would stand behind other lines
		}
		steps := stepsByLine(b, p.Path)
		for i := range b.Index.Tasks {
			t := &b.Index.Tasks[i]
			of := steps[[2]int{t.Pos.Line, t.Pos.Column}]
			if t.Path != p.Path || len(of) == 0 {
				continue
			}
			for _, a := range templatesOf(t) {
				if h, ok := p.hint(b, of, a); ok && h.Position.Line >= in.Start.Line && h.Position.Line <= in.End.Line {
					list = append(list, h)
				}
			}
		}
		break
	}
	return list
}

func stepsByLine(b *index.Book, path string) map[[2]int][]*plan.Step {
	steps := map[[2]int][]*plan.Step{}
	for i := range b.Plan.Steps {
		if s := &b.Plan.Steps[i]; b.PathOf(s.Origin.File) == path {
			key := [2]int{s.Origin.Line, s.Origin.Column}
			steps[key] = append(steps[key], s)
		}
	}
	return steps
}

// argument is a template that an argument has. The name is "" for that of the task.
type argument struct {
	name  string
	value playbook.Value
}

// templatesOf are the arguments of a task that are templates of one line, and its name if it is one.
func templatesOf(t *index.Task) (list []argument) {
	add := func(name string, v playbook.Value) {
		if v.Kind() == playbook.String && eval.Templated(v.Text()) && !v.Literal() && !strings.Contains(v.Text(), "\n") {
			list = append(list, argument{name, v})
		}
	}
	add("", t.Name)
	if t.Kind != playbook.Action {
		return list
	}
	if a, ok := spec.Lookup(t.Action); ok && a.Free != "" {
		add(a.Free, t.Args)
	}
	for _, v := range []playbook.Value{t.Args, t.ExtraArgs} {
		if v.Kind() == playbook.Map {
			for _, e := range v.Entries() {
				add(e.Key, e.Value)
			}
		}
	}
	return list
}

// hint is what stands behind the line of a template.
func (p *Page) hint(b *index.Book, steps []*plan.Step, a argument) (h wire.Hint, ok bool) {
	var texts []string
	for _, s := range steps {
		text := s.Name
		if a.name != "" {
			v, given := s.Args[a.name]
			if !given || s.NoLog {
				continue
			}
			text = value.Text(v)
			if waits := s.LacksIn(a.name); len(waits) > 0 {
				text = "known after " + b.Plan.After(waits[0].Steps)
			}
		}
		text = termtext.CleanName(b.Shown(text))
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 || texts[0] == a.value.Text() {
		return h, false
	}
	at := a.value.Pos()
	line := p.Text.Position(p.Text.Find(at.Line, at.Column)).Line
	end := p.Text.Offset(wire.Position{Line: line, Character: 1 << 30})
	h = wire.Hint{Position: p.Text.Position(end), Label: "= " + shorten(texts[0], shownHint), PadLeft: true}
	if len(texts) > 1 {
		h.Label = fmt.Sprintf("= %s and %d more", shorten(texts[0], shownHint), len(texts)-1)
	}
	if len(texts) > 1 || strings.HasSuffix(h.Label, "…") {
		h.Tooltip = shorten(strings.Join(texts[:min(len(texts), mostValues)], "\n"), longest)
	}
	return h, true
}

// meant is what a hint of a diagnostic says was meant. Only a name can be put in the place of what is there.
var meant = regexp.MustCompile("^did you mean `([^`\\s]+)`\\?")

// Diagnostic is a diagnostic of a book as the protocol has it.
func (p *Page) Diagnostic(b *index.Book, f *index.Found) wire.Diagnostic {
	d := wire.Diagnostic{
		Range: p.Text.Span(f.Pos.Line, f.Pos.Column, f.Width), Severity: wire.SeverityError, Source: "moon", Message: b.Shown(f.Message),
	}
	switch {
	case f.Open:
		d.Severity = wire.SeverityInformation
	case f.Severity != 0:
		d.Severity = wire.SeverityWarning
	}
	if f.Hint != "" {
		d.Message += "\nhint: " + b.Shown(f.Hint)
	}
	if f.Pos.Line == 0 { // the file as a whole: its first line
		d.Range = p.Text.Range(0, len(p.Text.Line(0)))
	}
	for _, place := range f.Chain {
		file, number, _ := strings.Cut(place, ":")
		var line int
		if n, err := fmt.Sscanf(number, "%d", &line); n == 1 && err == nil {
			if at, ok := p.locate(index.Place{Path: b.PathOf(file), Line: line, Column: 1, Width: 1}); ok {
				d.Related = append(d.Related, wire.Related{Location: at, Message: "included from here"})
			}
		}
	}
	return d
}

// Fixes are what can be done about the diagnostics of a range.
func (p *Page) Fixes(in wire.Range) []wire.CodeAction {
	list := []wire.CodeAction{}
	for _, b := range p.Books {
		for i := range b.Found {
			f := &b.Found[i]
			m := meant.FindStringSubmatch(f.Hint)
			if f.Path != p.Path || m == nil || f.Pos.Line == 0 {
				continue
			}
			d := p.Diagnostic(b, f)
			if d.Range.End.Line < in.Start.Line || d.Range.Start.Line > in.End.Line {
				continue
			}
			at := d.Range
			// The hint names what is to be there; of a path such as result.field only the whole takes its place.
			if f.Width == 0 {
				from := p.Text.Find(f.Pos.Line, f.Pos.Column)
				_, to := p.Text.Word(from)
				at = p.Text.Range(from, to)
			}
			if at.Start == at.End {
				continue
			}
			list = append(list, wire.CodeAction{
				Title: "Change to `" + m[1] + "`", Kind: "quickfix", Diagnostics: []wire.Diagnostic{d}, Preferred: true,
				Edit: &wire.WorkspaceEdit{Changes: map[string][]wire.TextEdit{p.URI: {{Range: at, NewText: m[1]}}}},
			})
		}
		if len(list) > 0 {
			break
		}
	}
	return list
}
