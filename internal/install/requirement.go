package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan/playbook"
)

// Kind is what a requirement is for.
type Kind string

// The kinds of what is installed.
const (
	Collection Kind = "collection"
	Role       Kind = "role"
)

// Origin is where something is had from.
type Origin string

// The origins, in the words that requirements have for them.
const (
	FromServer Origin = "galaxy"
	FromURL    Origin = "url"
	FromFile   Origin = "file"
	FromDir    Origin = "dir"
	FromGit    Origin = "git"
)

// Requirement is something that is wanted.
type Requirement struct {
	Kind    Kind
	Name    string // NAMESPACE.NAME of a collection, the directory of a role; "" where only what is had says it
	Origin  Origin
	Source  string // a URL, an absolute path, the name of a role on a server; "" for a collection of any server
	Folder  string // the directory in a repository of git; "": all of it
	Server  string // the only server that is asked; "": all that are known
	Version string // as written: a version, a range, a branch; "" or "*": any

	At  diag.Pos // where it is written; zero where it is needed by something else
	For string   // what needs it, in words
}

// what names a requirement for people.
func (r *Requirement) what() string {
	name := r.Name
	if name == "" {
		name = r.Source
	}
	return fmt.Sprintf("%s %s", r.Kind, name)
}

func (r *Requirement) anyVersion() bool { return r.Version == "" || r.Version == "*" }

// reader reads files of requirements, which may include others.
type reader struct {
	read func(path string) (*playbook.File, error)
	ds   *diag.List
	all  []*Requirement
	open []string // the files that include each other
}

// Read reads a file of requirements, with the files that it includes. Paths in it start in its directory.
func Read(path string, read func(path string) (*playbook.File, error), ds *diag.List) []*Requirement {
	r := &reader{read: read, ds: ds}
	r.file(path, diag.Pos{})
	return r.all
}

func (r *reader) wrong(at diag.Pos, hint, format string, args ...any) {
	r.ds.Add(diag.Diagnostic{Pos: at, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (r *reader) file(path string, included diag.Pos) {
	if slices.Contains(r.open, path) {
		r.wrong(included, "", "this file includes itself")
		return
	}
	f, err := r.read(path)
	if err != nil {
		r.wrong(included, "", "requirements cannot be read: %s", err)
		return
	}
	r.open = append(r.open, path)
	defer func() { r.open = r.open[:len(r.open)-1] }()
	v, ok := playbook.Document(f, r.ds)
	if !ok {
		return
	}
	dir := filepath.Dir(path)
	switch v.Kind() {
	case playbook.List: // of the time before collections
		r.roles(v, dir)
	case playbook.Map:
		for _, e := range v.Entries() {
			switch e.Key {
			case "collections":
				r.collections(e.Value, dir)
			case "roles":
				r.roles(e.Value, dir)
			default:
				hint := suggest.DidYouMean(e.Key, []string{"collections", "roles"})
				r.wrong(e.Name.Pos(), hint, "unknown key `%s`: requirements are `collections` and `roles`", e.Key)
			}
		}
	case playbook.Null:
	default:
		r.wrong(v.Pos(), "", "requirements are a map with `collections` and `roles`, or a list of roles; this is %s", v.Kind())
	}
}

// fields reads a map of texts. Keys that are not among the known ones are wrong.
func (r *reader) fields(v playbook.Value, known ...string) (map[string]string, bool) {
	all, ok := map[string]string{}, true
	for _, e := range v.Entries() {
		switch kind := e.Value.Kind(); {
		case !slices.Contains(known, e.Key):
			r.wrong(e.Name.Pos(), suggest.DidYouMean(e.Key, known), "unknown key `%s` of a requirement", e.Key)
			ok = false
		case kind == playbook.Null:
		case kind == playbook.List || kind == playbook.Map:
			r.wrong(e.Value.Pos(), "", "`%s` must be text, found %s", e.Key, kind)
			ok = false
		default:
			all[e.Key] = strings.TrimSpace(e.Value.Text())
		}
	}
	return all, ok
}

// each calls a function for the texts and maps of a list.
func (r *reader) each(v playbook.Value, what string, text func(playbook.Value), fields func(playbook.Value)) {
	if v.Kind() == playbook.Null {
		return
	}
	if v.Kind() != playbook.List {
		r.wrong(v.Pos(), "", "`%s` must be a list, found %s", what, v.Kind())
		return
	}
	for _, item := range v.Items() {
		switch item.Kind() {
		case playbook.String:
			text(item)
		case playbook.Map:
			fields(item)
		default:
			r.wrong(item.Pos(), "", "a requirement is text or a map, found %s", item.Kind())
		}
	}
}

// add takes a requirement in. wrong is what is wrong with it, "" for nothing.
func (r *reader) add(q Requirement, at diag.Pos, wrong string) {
	q.At, q.For = at, fmt.Sprintf("%s:%d", at.File, at.Line)
	if wrong != "" {
		r.wrong(at, "", "%s", wrong)
		return
	}
	r.all = append(r.all, &q)
}

func (r *reader) collections(v playbook.Value, dir string) {
	r.each(v, "collections", func(v playbook.Value) {
		q, wrong := collectionOf(map[string]string{"name": v.Text()}, dir)
		r.add(q, v.Pos(), wrong)
	}, func(v playbook.Value) {
		if _, signed := v.Get("signatures"); signed {
			r.wrong(v.Pos(), "moon compares digests with those of the lock file instead", "`signatures` are not checked")
			return
		}
		if f, ok := r.fields(v, "name", "version", "source", "type"); ok {
			q, wrong := collectionOf(f, dir)
			r.add(q, v.Pos(), wrong)
		}
	})
}

// collectionOf is what the fields of a collection ask for, and what is wrong with them.
func collectionOf(f map[string]string, dir string) (q Requirement, wrong string) {
	q = Requirement{Kind: Collection, Version: f["version"], Origin: Origin(f["type"])}
	name := f["name"]
	source := name
	if at := f["source"]; at != "" && (name == "" || q.Origin != "" && q.Origin != FromServer) { // the name is only that of what is there
		source = at
	}
	if source == "" {
		return q, "a collection needs a `name`"
	}
	if q.Origin == "" {
		q.Origin = originOf(source, dir)
		if q.Origin == FromFile && !isFile(inDir(dir, source)) {
			q.Origin = FromServer
		}
	}
	switch q.Origin {
	case FromServer:
		if !isCollectionName(name) {
			return q, fmt.Sprintf("`%s` is not the name of a collection, which is NAMESPACE.NAME, and no file, directory or URL", name)
		}
		q.Name, q.Server = name, f["source"]
	case FromGit:
		q.Source, q.Folder, q.Version = gitSource(source, q.Version, dir)
	case FromURL:
		q.Source = source
	case FromFile, FromDir:
		q.Source = inDir(dir, source)
	case "subdirs":
		return q, "`type: subdirs` is not supported; name each of the directories with `type: dir`"
	default:
		return q, fmt.Sprintf("`type` is galaxy, git, url, file or dir, and not `%s`", q.Origin)
	}
	if source != name && isCollectionName(name) {
		q.Name = name
	}
	return q, ""
}

// originOf tells from how a source is written where it is had from. What looks like nothing else is a file.
func originOf(source, dir string) Origin {
	for _, start := range []string{"git+", "git@", "ssh://", "git://"} {
		if strings.HasPrefix(source, start) {
			return FromGit
		}
	}
	switch {
	case strings.HasPrefix(source, "http://"), strings.HasPrefix(source, "https://"):
		if strings.HasSuffix(source, ".git") {
			return FromGit
		}
		return FromURL
	}
	if info, err := os.Stat(inDir(dir, source)); err == nil && info.IsDir() {
		return FromDir
	}
	return FromFile
}

// gitSource takes apart git+URL#/FOLDER,VERSION.
func gitSource(text, version, dir string) (source, folder, branch string) {
	source = strings.TrimPrefix(text, "git+")
	if rest, v, ok := strings.Cut(source, ","); ok {
		source = rest
		if version == "" {
			version = v
		}
	}
	source, folder, _ = strings.Cut(source, "#")
	if !strings.Contains(source, "://") && !strings.HasPrefix(source, "git@") {
		source = inDir(dir, source)
	}
	return source, strings.Trim(folder, "/"), version
}

func inDir(dir, path string) string {
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(path, "~/") {
		path = home + path[1:]
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isCollectionName(name string) bool {
	namespace, rest, ok := strings.Cut(name, ".")
	return ok && isIdentifier(namespace) && isIdentifier(rest)
}

// isIdentifier reports whether a text can be a name in Python.
func isIdentifier(text string) bool {
	for i, c := range text {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return text != ""
}
