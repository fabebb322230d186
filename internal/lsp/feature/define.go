package feature

import (
	"os"
	"path/filepath"
	"slices"

	"moon/internal/lsp/index"
	"moon/internal/lsp/wire"
	"moon/plan"
)

// Define gives the places where what is named at the site is defined.
func (s *Site) Define() []wire.Location {
	list := []wire.Location{}
	add := func(at wire.Location, ok bool) {
		if ok && !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	for _, m := range s.namedHere() {
		switch m.Kind {
		case index.File:
			add(s.beginning(m.To))
		case index.Role:
			add(s.beginning(mainOf(m.To)))
		case index.Variable, index.ID, index.Handler:
			// The plan knows which of several definitions is in effect; without one all of them are shown.
			if at, ok := s.inEffect(m); ok {
				add(at, true)
				continue
			}
			for _, d := range m.book.Index.Named(m.Kind, m.Name) {
				if d.Def {
					add(s.locate(d.At))
				}
			}
		}
	}
	return list
}

// namedHere are the marks at the site; of a text that has moved on since, the variable that is written there.
func (s *Site) namedHere() []marked {
	if found := s.marks(); len(found) > 0 {
		return found
	}
	if !surround(s.Text, s.Offset).template {
		return nil
	}
	var found []marked
	from, to := s.Text.Word(s.Offset)
	line, column := s.Text.Place(from)
	for _, b := range s.Books {
		name := s.Text.String()[from:to]
		if len(b.Index.Named(index.Variable, name)) > 0 {
			found = append(found, marked{index.Mark{Kind: index.Variable, Name: name, At: index.Place{
				Path: s.Path, Line: line,
				Column: column, Width: to - from,
			}}, b})
		}
	}
	return found
}

func (s *Site) beginning(path string) (wire.Location, bool) {
	info, err := os.Stat(path)
	if s.textOf(path) == nil && (err != nil || !info.Mode().IsRegular()) {
		return wire.Location{}, false
	}
	return wire.Location{URI: s.URIOf(path)}, true
}

// mainOf is the file that a role begins with.
func mainOf(role string) string {
	for _, name := range []string{"tasks/main.yml", "tasks/main.yaml", "meta/main.yml", "defaults/main.yml"} {
		if path := filepath.Join(role, name); isFile(path) {
			return path
		}
	}
	return filepath.Join(role, "tasks", "main.yml")
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// inEffect is where the value comes from that all steps of the task use.
func (s *Site) inEffect(m marked) (at wire.Location, ok bool) {
	if m.Kind != index.Variable || m.Def {
		return at, false
	}
	for _, u := range s.uses(m) {
		if u.Origin.Line == 0 {
			return wire.Location{}, false
		}
		next, found := s.locate(index.Place{
			Path: m.book.PathOf(u.Origin.File), Line: u.Origin.Line, Column: u.Origin.Column, Width: len([]rune(m.Name)),
		})
		if !found || ok && next != at {
			return wire.Location{}, false
		}
		at, ok = next, true
	}
	return at, ok
}

// uses are how the steps of the task at the site use a variable, as the last plan has it.
func (s *Site) uses(m marked) (uses []plan.Use) {
	for _, step := range s.steps(m.book) {
		for _, u := range step.Uses {
			if u.Name == m.Name && !step.NoLog {
				uses = append(uses, u)
			}
		}
	}
	return uses
}

// steps are those of the task at the site.
func (s *Site) steps(b *index.Book) []*plan.Step {
	line, _ := s.Text.Place(s.Offset)
	if t := b.Index.TaskAt(s.Path, line); t != nil {
		return b.StepsOf(t)
	}
	return nil
}
