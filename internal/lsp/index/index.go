package index

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/planner/library"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/walk"
	"moon/secret"
)

// Kind is what a mark names.
type Kind uint8

// The kinds of things that have names.
const (
	Variable Kind = iota
	ID
	Handler
	File // a file of tasks, variables, a template …
	Role
)

// Place is where something is written: lines and columns from 1, in characters.
type Place struct {
	Path                string // absolute
	Line, Column, Width int
}

// Mark is a name where it is written.
type Mark struct {
	Kind  Kind
	Name  string
	At    Place
	Def   bool   // it is defined here, and not used
	To    string // of a file or a role: what it leads to, absolute
	About string // of a definition: what it is
}

// Task is a task where it is written.
type Task struct {
	*playbook.Task
	Path    string // of its file
	Steps   bool   // it is a step, and no task of a play
	Handler bool
	Dirs    source.Lookout
}

// Play is a play where it is written.
type Play struct {
	*playbook.Play
	Path string
}

// Index is what the files of a playbook name. Pieces with the same place are in it once.
type Index struct {
	Root  string // directory of the playbook
	Path  string // of the playbook
	Steps bool
	Marks []Mark
	Tasks []Task
	Plays []Play
	Files map[string]*playbook.File // that were read, by absolute path
	Texts map[string]string         // of templates, and their paths
	Doubt []string                  // why there may be more uses than are known

	engine *eval.Engine
	seen   map[Mark]bool
	kinds  map[string]string // of files: tasks, vars, document, other
}

// Request is what an index is made from.
type Request struct {
	Options plan.Options
	Disk    *source.Disk
}

// New reads a playbook and all that it names.
func New(r Request) *Index {
	dir := filepath.Dir(r.Options.Path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	x := &Index{
		Root: dir, Path: filepath.Join(dir, filepath.Base(r.Options.Path)), Files: map[string]*playbook.File{}, engine: eval.New(),
		Texts: map[string]string{}, seen: map[Mark]bool{}, kinds: map[string]string{},
	}
	p := &plan.Plan{Root: dir, Basis: &plan.Basis{O: r.Options}}
	found := problems.New(p)
	// Nothing is decrypted: what is encrypted names nothing that an editor could show.
	lib := library.New(library.Request{
		Plan: p, Problems: found, Disk: r.Disk, Secrets: secret.NewSet(), Options: &r.Options, WasRead: func([]byte) {}, Sealed: true,
	})
	v := &visitor{x: x, library: lib, disk: r.Disk, home: r.Options.Home, handlers: map[diag.Pos]bool{}}
	v.readRoot()
	w := walk.New(walk.Request{
		Library: lib, Problems: found, Disk: r.Disk, Options: &r.Options, Whole: true, Visitors: []walk.Visitor{v},
	})
	x.Steps = w.Playbook(x.Path, walk.Place{Lookout: source.Lookout{Dir: dir, Play: dir, Root: dir}})
	for _, f := range lib.Sources {
		x.Files[f.Path] = f
	}
	x.readVariables()
	x.sort()
	return x
}

// Take adds the files that planning has read and the walk has not: variables of groups and hosts.
func (x *Index) Take(files map[string]*playbook.File) {
	for _, f := range files {
		if x.Files[f.Path] != nil {
			continue
		}
		x.Files[f.Path] = f
		// An inventory has names in another way, which are not looked for.
		if !strings.Contains(f.Path, "/group_vars/") && !strings.Contains(f.Path, "/host_vars/") {
			x.kinds[f.Path] = "other"
		}
	}
	x.readVariables()
	x.sort()
}

// Defines reports whether the variables that a file defines are among the marks.
func (x *Index) Defines(path string) bool {
	return path == x.Path || x.kinds[path] == "tasks" || x.kinds[path] == "vars"
}

// readVariables finds the names that files of variables define.
func (x *Index) readVariables() {
	for _, path := range plan.SortedKeys(x.Files) {
		f := x.Files[path]
		if x.kinds[path] != "" || path == x.Path || f.Foreign != nil || f.Secret || !isYAML(path) || filepath.Base(filepath.Dir(path)) == "meta" {
			continue
		}
		x.kinds[path] = "vars"
		v, ok := playbook.ParseVars(f, new(diag.List))
		if !ok {
			continue
		}
		about := "in " + plan.ShownPath(x.Root, path)
		if kind := filepath.Base(filepath.Dir(path)); kind == "defaults" || kind == "vars" {
			about = kind + " of a role, " + about
		}
		x.defineEntries(v, path, about)
		x.readTemplates(v, path)
	}
}

func isYAML(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".yml" || ext == ".yaml" || ext == ""
}

// readTemplates notes what the texts of a value use.
func (x *Index) readTemplates(v playbook.Value, path string) {
	switch v.Kind() {
	case playbook.String:
		if !v.Literal() && eval.Templated(v.Text()) {
			if t, err := x.engine.Template(v.Text()); err == nil {
				x.noteRefs(v, path, t.Refs())
			}
		}
	case playbook.List:
		for _, item := range v.Items() {
			x.readTemplates(item, path)
		}
	case playbook.Map:
		for _, e := range v.Entries() {
			x.readTemplates(e.Value, path)
		}
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float:
	}
}

// noteRefs notes the variables that a text uses.
func (x *Index) noteRefs(v playbook.Value, path string, refs []eval.Ref) {
	for _, ref := range refs {
		if ref.Call {
			x.doubt(v.Pos(), "`"+ref.Name+"` is used by a function there, which does not name it")
			continue
		}
		if ref.Name == "hostvars" || ref.Name == "vars" {
			x.doubt(v.Pos(), "`"+ref.Name+"` may name any variable there")
		}
		x.add(Mark{Kind: Variable, Name: ref.Name, At: placeOf(v.PosAt(ref.Offset), path, ref.Name)})
	}
	if looksUp(v.Text()) {
		x.doubt(v.Pos(), "a lookup names variables there")
	}
}

// looksUp reports whether a text has a lookup of variables by their names.
func looksUp(text string) bool {
	if !strings.Contains(text, "lookup(") && !strings.Contains(text, "query(") && !strings.Contains(text, "q(") {
		return false
	}
	return strings.Contains(text, "vars'") || strings.Contains(text, `vars"`) || strings.Contains(text, "varnames")
}

func (x *Index) doubt(at diag.Pos, why string) {
	x.Doubt = append(x.Doubt, at.Origin(nil).String()+": "+why)
}

// defineEntries notes the keys of a map as variables.
func (x *Index) defineEntries(of playbook.Value, path, about string) {
	for _, e := range of.Entries() {
		if !e.NoText {
			x.define(Variable, e.Key, e.Pos, path, about)
		}
	}
}

func (x *Index) define(kind Kind, name string, at diag.Pos, path, about string) {
	if name != "" && at.Line > 0 {
		x.add(Mark{Kind: kind, Name: name, At: placeOf(at, path, name), Def: true, About: about})
	}
}

func placeOf(at diag.Pos, path, name string) Place {
	return Place{Path: path, Line: at.Line, Column: at.Column, Width: utf8.RuneCountInString(name)}
}

// add adds a mark, unless it is there.
func (x *Index) add(m Mark) {
	if !x.seen[m] {
		x.seen[m] = true
		x.Marks = append(x.Marks, m)
	}
}

// sort brings marks into the order of their places, and reasons into one that stays.
func (x *Index) sort() {
	slices.SortStableFunc(x.Marks, func(a, b Mark) int { return comparePlaces(a.At, b.At) })
	slices.SortStableFunc(x.Tasks, func(a, b Task) int {
		return comparePlaces(Place{a.Path, a.Pos.Line, a.Pos.Column, 0}, Place{b.Path, b.Pos.Line, b.Pos.Column, 0})
	})
	slices.Sort(x.Doubt)
	x.Doubt = slices.Compact(x.Doubt)
}

func comparePlaces(a, b Place) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Column - b.Column
}

// At are the marks at a place.
func (x *Index) At(path string, line, column int) (found []Mark) {
	for _, m := range x.Marks {
		if m.At.Path == path && m.At.Line == line && m.At.Column <= column && column <= m.At.Column+m.At.Width {
			found = append(found, m)
		}
	}
	return found
}

// Named are the marks of a name.
func (x *Index) Named(kind Kind, name string) (found []Mark) {
	for _, m := range x.Marks {
		if m.Kind == kind && m.Name == name {
			found = append(found, m)
		}
	}
	return found
}

// Names are the names that are defined, each once, with what they are.
func (x *Index) Names(kind Kind) map[string]string {
	names := map[string]string{}
	for _, m := range x.Marks {
		if m.Kind == kind && m.Def && names[m.Name] == "" {
			names[m.Name] = m.About
		}
	}
	return names
}

// TaskAt is the task that a line is in; nil if it is in none.
func (x *Index) TaskAt(path string, line int) *Task {
	var found *Task
	for i := range x.Tasks {
		if t := &x.Tasks[i]; t.Path == path && t.Pos.Line <= line {
			found = t
		}
	}
	return found
}
