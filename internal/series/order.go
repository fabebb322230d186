package series

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/app"
	"moon/internal/diag"
	"moon/plan/playbook"
)

// Member is one of several playbooks of a call.
type Member struct {
	Given string // its path in the call
	Path  string // absolute, its directory without links, as its exports are kept
	Needs []Need // those of the call that it imports from
}

// Need is an import from another playbook of the call.
type Need struct {
	Of  *Member
	Pos diag.Pos // of the path, in the file by its path in the call
}

// Order puts playbooks behind those that they import from, and leaves them in the order of the call otherwise.
func Order(given []string) ([]*Member, error) {
	home, _ := os.UserHomeDir() // without one, ~ stays as it is
	var list []*Member
	imports := map[*Member][]playbook.Import{}
	for _, path := range given {
		if path == "-" {
			return nil, app.Usage("standard input cannot be one of several playbooks; name a file")
		}
		m := &Member{Given: path, Path: pathOfPlaybook(path, "", home)}
		if i := slices.IndexFunc(list, func(o *Member) bool { return o.Path == m.Path }); i >= 0 {
			return nil, app.Usage("%s is named twice: %s is the same playbook", path, list[i].Given)
		}
		text, err := os.ReadFile(m.Path)
		if err != nil {
			return nil, app.Usage("%s", app.Unreadable(path, err))
		}
		imports[m] = playbook.ImportsOf(&playbook.File{Name: path, Path: m.Path, Text: text})
		list = append(list, m)
	}
	for _, m := range list {
		for _, i := range imports[m] {
			from := pathOfPlaybook(i.From.Text(), filepath.Dir(m.Path), home)
			// One that imports from itself has a mistake, which planning reports.
			if at := slices.IndexFunc(list, func(o *Member) bool { return o.Path == from && o != m }); at >= 0 {
				m.Needs = append(m.Needs, Need{list[at], i.From.Pos()})
			}
		}
	}
	var ordered []*Member
	for len(ordered) < len(list) {
		next := slices.IndexFunc(list, func(m *Member) bool {
			return !slices.Contains(ordered, m) &&
				!slices.ContainsFunc(m.Needs, func(n Need) bool { return !slices.Contains(ordered, n.Of) })
		})
		if next < 0 {
			left := slices.DeleteFunc(slices.Clone(list), func(m *Member) bool { return slices.Contains(ordered, m) })
			return nil, circleOf(left)
		}
		ordered = append(ordered, list[next])
	}
	return ordered, nil
}

// pathOfPlaybook is the path by which the exports of a playbook are found.
func pathOfPlaybook(path, dir, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(home, rest)
	} else if dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(real, filepath.Base(path))
	}
	return path
}

// circleOf is the error about playbooks of which each has an import from another of them.
func circleOf(left []*Member) error {
	// From any of them the first import that is left leads to the circle, sooner or later.
	var way []*Member
	var places []diag.Pos
	at := left[0]
	for !slices.Contains(way, at) {
		way = append(way, at)
		i := slices.IndexFunc(at.Needs, func(n Need) bool { return slices.Contains(left, n.Of) })
		places = append(places, at.Needs[i].Pos)
		at = at.Needs[i].Of
	}
	start := slices.Index(way, at)
	way, places = way[start:], places[start:]
	var names, lines []string
	for i, m := range way {
		next := way[(i+1)%len(way)]
		names = append(names, m.Given)
		lines = append(lines, fmt.Sprintf("  %s:%d:%d  %s imports from %s", places[i].File, places[i].Line, places[i].Column, m.Given, next.Given))
	}
	names = append(names, way[0].Given)
	return app.Usage("playbooks import from each other in a circle: %s\n%s\nnothing was run; one of them must do without the exports of the next",
		strings.Join(names, " → "), strings.Join(lines, "\n"))
}

// sources are the playbooks of the call that a playbook imports from.
func (m *Member) sources() (names []string) {
	for _, n := range m.Needs {
		if !slices.Contains(names, n.Of.Given) {
			names = append(names, n.Of.Given)
		}
	}
	return names
}

// Awaits says which playbooks must have run before all of it can be planned.
func (m *Member) Awaits() string {
	names := m.sources()
	if len(names) == 1 {
		return names[0] + " has run"
	}
	return strings.Join(names, ", ") + " have run"
}

// AfterText says whose exports a playbook waits for.
func (m *Member) AfterText() string {
	if len(m.Needs) == 0 {
		return ""
	}
	return ", after " + strings.Join(m.sources(), ", ") + ", whose exports it imports"
}
