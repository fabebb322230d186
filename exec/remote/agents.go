package remote

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FoundAgent is a program for hosts of a system, and why it is not sent if that is so.
type FoundAgent struct {
	System string
	Path   string
	Err    error
}

// FindAgents lists the programs for hosts that are where moon looks for them, one for each system and sorted by it: what a release or a
// package has. check says whether a program was built from the sources of this one. They are chosen as for a host, but not read: of
// those that are not sent the first is listed, if none is.
func FindAgents(check func(path string) error) (found []FoundAgent) {
	for _, dir := range agentsDirs() {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // most have none
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name(), "moon")
			if _, err := os.Stat(path); err != nil || !nameOfSystem.MatchString(e.Name()) {
				continue
			}
			a := FoundAgent{System: e.Name(), Path: path, Err: checkNamed(path)}
			if a.Err == nil && check != nil {
				a.Err = check(path)
			}
			i := slices.IndexFunc(found, func(f FoundAgent) bool { return f.System == a.System })
			switch {
			case i < 0:
				found = append(found, a)
			case found[i].Err != nil && a.Err == nil:
				found[i] = a
			}
		}
	}
	slices.SortFunc(found, func(a, b FoundAgent) int { return strings.Compare(a.System, b.System) })
	return found
}
