package saved

import (
	"cmp"
	"slices"
	"strings"

	"moon/plan"
	"moon/plan/source"
)

// SourceRead is what a step reads on the machine that moon runs on, by its digests, as a plan is saved with it.
type SourceRead struct {
	Path    string      `json:"path"`
	Digest  string      `json:"digest,omitempty"`
	Mode    string      `json:"mode,omitempty"`
	Parts   bool        `json:"parts,omitempty"`
	Secret  bool        `json:"secret,omitempty"` // no digest is kept
	Dir     bool        `json:"directory,omitempty"`
	Entries [][4]string `json:"entries,omitempty"`
}

// readsOf are what steps read, as they are saved.
func readsOf(m *plan.Basis, shown func(string) string) []SourceRead {
	keys := make([]source.ReadKey, 0, len(m.Disk.Reads))
	for key := range m.Disk.Reads {
		keys = append(keys, key)
	}
	rank := map[bool]int{true: 1}
	slices.SortFunc(keys, func(a, b source.ReadKey) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(rank[a.Parts], rank[b.Parts]))
	})
	var list []SourceRead
	for _, key := range keys {
		seen := m.Disk.Reads[key]
		r := SourceRead{Path: shown(key.Path), Parts: key.Parts, Secret: seen.Secret && seen.Digest != ""}
		if !r.Secret {
			r.Digest, r.Mode, r.Dir = seen.Digest, seen.Mode, seen.IsDir()
			for _, e := range seen.Entries {
				r.Entries = append(r.Entries, [4]string{e.Name, string(e.Kind), e.Mode, e.Digest})
			}
		}
		list = append(list, r)
	}
	return list
}

// source is the read as the planner saw it. That of which no digest is kept is taken as it is now.
func (r SourceRead) source(path string) *source.ReadSeen {
	s := &source.Source{Path: path, Parts: r.Parts, Digest: r.Digest, Mode: r.Mode}
	if r.Secret {
		if now, err := source.Look(path, r.Parts); err == nil {
			s = now
		}
		return &source.ReadSeen{Source: s, Secret: true, Sealed: true}
	}
	if r.Dir {
		s.Entries = []source.Entry{}
	}
	for _, e := range r.Entries {
		s.Entries = append(s.Entries, source.Entry{Name: e[0], Kind: source.Kind(e[1]), Mode: e[2], Digest: e[3]})
	}
	return &source.ReadSeen{Source: s}
}
