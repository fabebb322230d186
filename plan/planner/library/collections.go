package library

import (
	"moon/plan/collection"
	"moon/plan/playbook"
)

// Collections finds what Ansible's collections hold. What it looks for and reads is an input of the plan.
func (l *Library) Collections() *collection.Finder {
	if l.finder == nil {
		l.finder = collection.New(collectionFiles{l}, l.o.Collections, l.o.Core)
	}
	return l.finder
}

// collectionFiles are the files of collections as the plan sees them.
type collectionFiles struct{ l *Library }

// Directory implements collection.Files.
func (f collectionFiles) Directory(path string) bool { return f.l.disk.Directory(path) }

// Regular implements collection.Files.
func (f collectionFiles) Regular(path string) bool { return f.l.disk.Regular(path) }

// Glob implements collection.Files.
func (f collectionFiles) Glob(dir, pattern string) []string { return f.l.disk.Glob(dir, pattern) }

// Values implements collection.Files.
func (f collectionFiles) Values(path string) playbook.Value {
	file, err := f.l.Read(path)
	if err != nil {
		f.l.ReportUnread("", playbook.Value{}, path, err, nil)
		return playbook.Value{}
	}
	v, _ := f.l.ParseVars(file)
	return v
}
