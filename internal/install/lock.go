package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
)

// Lock is what a lock file holds: what was installed for some requirements.
type Lock struct {
	Path    string
	Entries []*Entry

	text []byte // before anything changes it
}

// Entry is a release in a lock file. A directory of this machine has no digest: the user changes it at any time.
type Entry struct {
	Kind    Kind         `yaml:"kind"`
	Name    string       `yaml:"name"`
	Version string       `yaml:"version,omitempty"`
	Origin  Origin       `yaml:"from"`
	Source  string       `yaml:"source"` // a path is relative to the file
	Folder  string       `yaml:"folder,omitempty"`
	Wanted  string       `yaml:"wanted,omitempty"`
	Commit  string       `yaml:"commit,omitempty"`
	SHA256  string       `yaml:"sha256,omitempty"` // of the tree of its files
	Needs   []*EntryNeed `yaml:"needs,omitempty"`
}

// EntryNeed is a requirement of what is in a lock file.
type EntryNeed struct {
	Kind    Kind   `yaml:"kind"`
	Name    string `yaml:"name,omitempty"`
	Version string `yaml:"version,omitempty"`
	Origin  Origin `yaml:"from"`
	Source  string `yaml:"source,omitempty"`
	Folder  string `yaml:"folder,omitempty"`
}

const lockHead = `# Written by moon install. It holds what was installed for the file of requirements next to it: keep it with that file, and
# moon install gets the same again on every machine. sha256 is of the files, not of an archive.
`

// LockOf is the path of the lock file of a file of requirements.
func LockOf(requirements string) string {
	return strings.TrimSuffix(requirements, filepath.Ext(requirements)) + ".lock"
}

// ReadLock reads a lock file. One that is not there is empty.
func ReadLock(path string) (*Lock, error) {
	l := &Lock{Path: path}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	l.text = text
	var all struct {
		Installed []*Entry `yaml:"installed"`
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&all); err != nil {
		return nil, notLock(path, err)
	}
	for _, e := range all.Installed {
		if e == nil || e.Name == "" || e.Kind != Collection && e.Kind != Role || e.Origin == "" {
			return nil, notLock(path, errors.New("an entry lacks its name, kind or origin"))
		}
	}
	l.Entries = all.Installed
	return l, nil
}

func notLock(path string, why error) error {
	return fmt.Errorf("%s is not a lock file: %w; remove it, and moon install writes it again", path, why)
}

// shown is a source as the lock file has it, and back.
func (l *Lock) shown(o Origin, source string) string {
	if local := o == FromDir || o == FromFile || o == FromGit; !local || !filepath.IsAbs(source) {
		return source
	}
	rel, err := filepath.Rel(filepath.Dir(l.Path), source)
	if err != nil {
		return source
	}
	return rel
}

func (l *Lock) source(e *Entry) string {
	local := e.Origin == FromDir || e.Origin == FromFile || e.Origin == FromGit && !strings.Contains(e.Source, ":")
	if local && !filepath.IsAbs(e.Source) {
		return filepath.Join(filepath.Dir(l.Path), e.Source)
	}
	return e.Source
}

// find finds what was installed for a requirement.
func (l *Lock) find(q *Requirement) *Entry {
	for _, e := range l.Entries {
		if e.Kind != q.Kind || e.Origin != q.Origin || q.Name != "" && e.Name != q.Name {
			continue
		}
		if q.Origin != FromServer {
			if l.source(e) == q.Source && e.Folder == q.Folder && e.Wanted == q.Version {
				return e
			}
			continue
		}
		right := admits(q.Version, e.Version)
		if q.Kind == Role { // which has no ranges
			right = e.Wanted == q.Source && (q.anyVersion() || q.Version == e.Version)
		}
		if right && (q.Server == "" || strings.TrimSuffix(q.Server, "/") == strings.TrimSuffix(e.Source, "/")) {
			return e
		}
	}
	return nil
}

// release is what an entry stands for.
func (l *Lock) release(e *Entry) *Release {
	r := &Release{
		Kind: e.Kind, Name: e.Name, Version: e.Version, Origin: e.Origin, Source: l.source(e), Folder: e.Folder, Wanted: e.Wanted,
		Commit: e.Commit, Digest: e.SHA256,
	}
	for _, n := range e.Needs {
		r.Needs = append(r.Needs, &Requirement{
			Kind: n.Kind, Name: n.Name, Version: n.Version, Origin: n.Origin, Source: n.Source, Folder: n.Folder, For: r.String(),
		})
	}
	return r
}

// encode is the text of a lock file for releases.
func (l *Lock) encode(all []*Release) ([]byte, error) {
	var list []*Entry
	for _, r := range all {
		e := &Entry{
			Kind: r.Kind, Name: r.Name, Version: r.Version, Origin: r.Origin, Source: l.shown(r.Origin, r.Source), Folder: r.Folder,
			Wanted: r.Wanted, Commit: r.Commit, SHA256: r.Digest,
		}
		if r.Origin == FromDir {
			e.SHA256 = ""
		}
		for _, q := range r.Needs {
			e.Needs = append(e.Needs, &EntryNeed{q.Kind, q.Name, q.Version, q.Origin, q.Source, q.Folder})
		}
		list = append(list, e)
	}
	var b bytes.Buffer
	b.WriteString(lockHead)
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(map[string]any{"installed": list}); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}
