package prior

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Move says that something of the playbook has another path than before.
type Move struct{ From, To string }

// Resolve gives the paths of recorded steps that are other ones now: those of what has moved, and of all in it.
func Resolve(moves []Move, s *State) map[string]string {
	if len(moves) == 0 {
		return nil
	}
	paths := map[string]string{}
	for i := range s.Things {
		for _, path := range slices.Concat(s.Things[i].By(), s.Things[i].After) {
			for _, m := range moves {
				if rest, ok := strings.CutPrefix(path, m.From); ok && (rest == "" || strings.ContainsRune("/#?@", rune(rest[0]))) {
					paths[path] = m.To + rest
				}
			}
		}
	}
	return paths
}

// Named reports whether a selector means the thing: by the path or the title of its step, the place where that was written, or by its
// own name.
func (t *Thing) Named(text string) bool {
	means := func(name string) bool {
		if name == text {
			return true
		}
		ok, err := path.Match(text, name)
		return err == nil && ok && strings.ContainsAny(text, "*?[")
	}
	return means(t.Step) || t.Title != "" && means(t.Title) || means(t.Name) ||
		t.Line > 0 && text == fmt.Sprintf("%s:%d", t.File, t.Line)
}

// Unmatched are the selectors that mean nothing that is recorded.
func Unmatched(things []Thing, only []string) (list []string) {
	for _, text := range only {
		if !slices.ContainsFunc(things, func(t Thing) bool { return t.Named(text) }) {
			list = append(list, text)
		}
	}
	return list
}
