package cli

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

// member is one of several playbooks of a call.
type member struct {
	given string // as it was typed
	path  string // absolute, its directory without links, as its exports are kept
	needs []need // those of the call that it imports from
}

// need is an import from another playbook of the call.
type need struct {
	of  *member
	pos diag.Pos // of the path, in the file as it was typed
}

// orderPlaybooks puts playbooks behind those that they import from, and leaves them in the order of the call otherwise.
func orderPlaybooks(given []string) ([]*member, error) {
	home, _ := os.UserHomeDir() // without one, ~ stays as it is
	var list []*member
	imports := map[*member][]playbook.Import{}
	for _, path := range given {
		if path == "-" {
			return nil, app.Usage("standard input cannot be one of several playbooks; name a file")
		}
		m := &member{given: path, path: pathOfPlaybook(path, "", home)}
		if i := slices.IndexFunc(list, func(o *member) bool { return o.path == m.path }); i >= 0 {
			return nil, app.Usage("%s is named twice: %s is the same playbook", path, list[i].given)
		}
		text, err := os.ReadFile(m.path)
		if err != nil {
			return nil, app.Usage("%s", app.Unreadable(path, err))
		}
		imports[m] = playbook.ImportsOf(&playbook.File{Name: path, Path: m.path, Text: text})
		list = append(list, m)
	}
	for _, m := range list {
		for _, i := range imports[m] {
			from := pathOfPlaybook(i.From.Text(), filepath.Dir(m.path), home)
			// One that imports from itself has a mistake, which planning reports.
			if at := slices.IndexFunc(list, func(o *member) bool { return o.path == from && o != m }); at >= 0 {
				m.needs = append(m.needs, need{list[at], i.From.Pos()})
			}
		}
	}
	var ordered []*member
	for len(ordered) < len(list) {
		next := slices.IndexFunc(list, func(m *member) bool {
			return !slices.Contains(ordered, m) &&
				!slices.ContainsFunc(m.needs, func(n need) bool { return !slices.Contains(ordered, n.of) })
		})
		if next < 0 {
			left := slices.DeleteFunc(slices.Clone(list), func(m *member) bool { return slices.Contains(ordered, m) })
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
func circleOf(left []*member) error {
	// From any of them the first import that is left leads to the circle, sooner or later.
	var way []*member
	var places []diag.Pos
	at := left[0]
	for !slices.Contains(way, at) {
		way = append(way, at)
		i := slices.IndexFunc(at.needs, func(n need) bool { return slices.Contains(left, n.of) })
		places = append(places, at.needs[i].pos)
		at = at.needs[i].of
	}
	start := slices.Index(way, at)
	way, places = way[start:], places[start:]
	var names, lines []string
	for i, m := range way {
		next := way[(i+1)%len(way)]
		names = append(names, m.given)
		lines = append(lines, fmt.Sprintf("  %s:%d:%d  %s imports from %s", places[i].File, places[i].Line, places[i].Column, m.given, next.given))
	}
	names = append(names, way[0].given)
	return app.Usage("playbooks import from each other in a circle: %s\n%s\nnothing was run; one of them must do without the exports of the next",
		strings.Join(names, " → "), strings.Join(lines, "\n"))
}
