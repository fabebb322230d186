package index

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/engine/graph"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner"
	"moon/plan/playbook"
	"moon/plan/source"
)

// Found is a diagnostic with the file that it is in.
type Found struct {
	diag.Diagnostic
	Path string
	Open bool // only the facts of hosts could say it, which are not asked
}

// Book is a playbook that is being edited.
type Book struct {
	Path  string     // the playbook, links of its directory resolved
	Root  string     // its directory
	Plan  *plan.Plan // the last that could be made; nil if there was none
	Fresh bool       // it is of the texts as they are
	Index *Index
	// Stale are files that cannot be read as YAML now. Then Index is the one before, from when they could.
	Stale []string
	Found []Found
	Facts []string // names of the facts of this machine

	parsed *source.Parsed
	disk   *source.Disk
}

// Edits are the texts that an editor has not saved, and what ends their use.
type Edits struct {
	Texts  map[string][]byte // by absolute path
	Halted func() error      // as in source.Disk
}

// Disk is a disk with the texts of an editor.
func (e Edits) Disk() *source.Disk {
	d := source.NewDisk(strings.NewReader(""))
	d.Edited, d.Halted = e.Texts, e.Halted
	return d
}

// NewBook reads and plans a playbook. before is what was known of it; nil if nothing was.
func NewBook(o plan.Options, edits Edits, before *Book) *Book {
	b := &Book{parsed: new(source.Parsed), disk: edits.Disk()}
	if before != nil {
		b.Plan, b.parsed = before.Plan, before.parsed
	}
	b.disk.Parsed = b.parsed // a text that has not changed is not read again
	b.Facts = plan.SortedKeys(o.Facts.Here)
	b.Index = New(Request{Options: o, Disk: b.disk})
	b.Path, b.Root = b.Index.Path, b.Index.Root
	var open diag.List
	p, said := planner.Check(o, b.disk, &open)
	if p != nil {
		b.Plan, b.Fresh = p, true
		b.Index.Take(p.Files)
		if _, err := graph.Build(p); err != nil {
			said.Add(diag.Diagnostic{Pos: diag.Pos{File: p.RootFile, Line: 1, Column: 1}, Message: err.Error()})
		}
	}
	b.note(said, false)
	b.note(open, true)
	if b.Stale = b.unreadable(); len(b.Stale) > 0 && before != nil && before.Index != nil {
		b.Index = before.Index
	}
	return b
}

func (b *Book) note(list diag.List, open bool) {
	for _, d := range list {
		path := d.Pos.File
		if path == "" {
			path = b.Path
		} else if !filepath.IsAbs(path) {
			path = filepath.Join(b.Root, path)
		}
		b.Found = append(b.Found, Found{d, path, open})
	}
}

// unreadable are the files that are not YAML as they are.
func (b *Book) unreadable() (paths []string) {
	named := map[string]bool{}
	for i := range b.Index.Tasks {
		named[b.Index.Tasks[i].Path] = true
	}
	for _, path := range plan.SortedKeys(b.Index.Files) {
		f := b.Index.Files[path]
		if named[path] || !isYAML(path) || f.Foreign != nil || b.Index.kinds[path] == "document" || len(bytes.TrimSpace(f.Text)) == 0 {
			continue // what has tasks was read
		}
		if _, ok := playbook.Document(&playbook.File{Name: f.Name, Path: path, Text: f.Text}, new(diag.List)); !ok {
			paths = append(paths, path)
		}
	}
	return paths
}

// Has reports whether a file is part of the playbook.
func (b *Book) Has(path string) bool { return path == b.Path || b.Index.Files[path] != nil }

// Text is the text of a file that was read for this book, or else that on the disk.
func (b *Book) Text(path string) (string, bool) {
	if f := b.disk.Files[path]; f != nil && !f.Secret {
		return string(f.Text), true
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > playbook.MaxFileSize {
		return "", false
	}
	text, err := os.ReadFile(path)
	return string(text), err == nil
}

// Shown is a text without what is secret.
func (b *Book) Shown(text string) string {
	if b.Plan == nil || b.Plan.Basis == nil || b.Plan.Basis.Secrets == nil {
		return text
	}
	return b.Plan.Basis.Secrets.Redact(text)
}

// PathOf is the absolute path of a file as the plan shows it.
func (b *Book) PathOf(shown string) string {
	if filepath.IsAbs(shown) {
		return shown
	}
	return filepath.Join(b.Root, shown)
}

// StepsOf are the steps of the last plan that a task has become.
func (b *Book) StepsOf(t *Task) (steps []*plan.Step) {
	if b.Plan == nil {
		return nil
	}
	for i := range b.Plan.Steps {
		s := &b.Plan.Steps[i]
		if s.Origin.Line == t.Pos.Line && s.Origin.Column == t.Pos.Column && b.PathOf(s.Origin.File) == t.Path {
			steps = append(steps, s)
		}
	}
	return steps
}

// Doubts are the reasons why uses of a name may be unknown.
func (b *Book) Doubts() []string {
	doubts := slices.Clone(b.Index.Doubt)
	for _, path := range b.Stale {
		doubts = append(doubts, plan.ShownPath(b.Root, path)+" is not YAML at the moment")
	}
	return doubts
}
