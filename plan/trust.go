package plan

import (
	"slices"
	"strings"

	"moon/plan/source"
)

// Trusts asks whether something that the playbook names may be executed before approval. what is as in Trusts.
func (p *Plan) Trusts(what string) bool {
	if p.Basis == nil || p.Basis.O.Trusts == nil { // it was put together by hand
		return false
	}
	return p.Basis.O.Trusts(what, p.Basis.deciding())
}

// Trusted reports whether the files of the playbook are trusted, without asking anybody.
func (p *Plan) Trusted() bool { return p.Trusts("") }

// Deciding are the files that a playbook was made from, by absolute path: those that Trusts is asked about.
func (p *Plan) Deciding() []Input { return slices.Clone(p.Basis.deciding()) }

// deciding are the files that a playbook was made from, but for those that the user has beside all playbooks.
func (m *Basis) deciding() []Input {
	m.looking.Lock()
	defer m.looking.Unlock()
	if len(m.Disk.Files) == m.decidedOf { // after planning no more are read
		return m.decided
	}
	var list []Input
	for _, path := range SortedKeys(m.Disk.Files) {
		f := m.Disk.Files[path]
		// Presets of the user's own do not come with the playbook, and trust is in what comes.
		own := m.O.Presets != "" && strings.HasPrefix(path, m.O.Presets+"/")
		if own || path == "-" || f.Program != "" {
			continue
		}
		// Made of the text, since of a file with secrets no digest is kept.
		list = append(list, Input{Path: path, Digest: source.DigestOf(f.Text)})
	}
	// What ssh is given decides what it executes, as what the inventory says of a host does.
	m.decided, m.decidedOf = append(list, m.O.Login.Steering...), len(m.Disk.Files)
	return m.decided
}
