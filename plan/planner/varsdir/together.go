package varsdir

import (
	"slices"

	"moon/plan/playbook"
)

// Together are the variables that one task has read from several files. As with Ansible, a later file replaces those of the same name, also
// where maps of the same name from several tasks make one.
type Together []Found

// Found is one of them, and the file that it is from.
type Found struct {
	playbook.Entry
	File string
}

// Add adds the variables of a file.
func (t *Together) Add(file string, m playbook.Value) {
	for _, e := range m.Entries() {
		one := Found{e, file}
		if i := slices.IndexFunc(*t, func(f Found) bool { return f.Key == e.Key }); i >= 0 {
			(*t)[i] = one
		} else {
			*t = append(*t, one)
		}
	}
}

// Under is one map of all of them: that of the file, if there is one only.
func (t Together) Under(files []playbook.Value) playbook.Value {
	if len(files) == 1 || len(t) == 0 {
		return files[len(files)-1]
	}
	entries := make([]playbook.Entry, len(t))
	for i, f := range t {
		entries[i] = f.Entry
	}
	return playbook.WrittenMap(t[len(t)-1].Pos, entries...)
}
