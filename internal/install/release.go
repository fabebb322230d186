package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan/playbook"
)

// Release is a version of a collection or a role, and where it is had from.
type Release struct {
	Kind    Kind
	Name    string
	Version string // "" of a role without one
	Origin  Origin
	Source  string // a URL or a path; of a server its URL
	Folder  string // in a repository
	Wanted  string // the branch, tag or commit that was asked for, of a repository
	Commit  string // of a repository: what that was
	Digest  string // of its tree; "" until it is had
	Needs   []*Requirement

	server *Server
	wanted *Requirement // the first that asked for it
	tree   string       // where it was unpacked; "" until it is had
}

func (r *Release) String() string {
	if r.Version == "" {
		return fmt.Sprintf("%s %s", r.Kind, r.Name)
	}
	return fmt.Sprintf("%s %s %s", r.Kind, r.Name, r.Version)
}

// manifest is MANIFEST.json of a collection.
type manifest struct {
	Info struct {
		Namespace    string            `json:"namespace"`
		Name         string            `json:"name"`
		Version      string            `json:"version"`
		Dependencies map[string]string `json:"dependencies"`
	} `json:"collection_info"`
	Files struct {
		Name   string `json:"name"`
		SHA256 string `json:"chksum_sha256"`
	} `json:"file_manifest_file"`
	Format int `json:"format"`
}

const (
	manifestFile = "MANIFEST.json"
	filesFile    = "FILES.json"
	sourceFile   = "galaxy.yml" // of a collection that was not built yet
	roleNote     = "meta/.galaxy_install_info"
)

// readManifest reads what an unpacked collection says of itself.
func readManifest(dir string) (manifest, error) {
	var m manifest
	text, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err == nil && (!isIdentifier(m.Info.Namespace) || !isIdentifier(m.Info.Name)) {
		err = errors.New("it does not say which collection it is")
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", manifestFile, err)
	}
	return m, nil
}

// checkFiles compares the files of an unpacked collection with what it says of them: each must be there unchanged, and no other.
func (m *manifest) checkFiles(dir string) error {
	if m.Files.Name == "" {
		return nil
	}
	sum, err := digestFile(filepath.Join(dir, filesFile))
	if err != nil {
		return err
	}
	if sum != m.Files.SHA256 {
		return fmt.Errorf("%s is not the one of %s: the archive is damaged", filesFile, manifestFile)
	}
	var list struct {
		Files []struct {
			Name   string `json:"name"`
			Type   string `json:"ftype"`
			SHA256 string `json:"chksum_sha256"`
		} `json:"files"`
	}
	text, err := os.ReadFile(filepath.Join(dir, filesFile))
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filesFile, err)
	}
	known := map[string]bool{manifestFile: true, filesFile: true}
	// An archive that was made by hand may name files outside of it here, too.
	for _, f := range list.Files {
		if known[f.Name] = true; f.Type != "file" {
			continue
		}
		if !filepath.IsLocal(f.Name) {
			return fmt.Errorf("%s names a file outside of the archive: %q", filesFile, f.Name)
		}
		if sum, err := digestFile(filepath.Join(dir, f.Name)); err != nil || sum != f.SHA256 {
			return fmt.Errorf("%s differs from what was packed: the archive is damaged", f.Name)
		}
	}
	return walkTree(dir, func(name string, info fs.FileInfo) error {
		if info.Mode().IsRegular() && !known[name] {
			return fmt.Errorf("%s was not packed with the others: the archive is damaged", name)
		}
		return nil
	})
}

// take takes over what an unpacked collection or role says of itself. The URL is where it comes from.
func (r *Release) take(dir string) error {
	if r.Kind == Role {
		needs, err := roleNeeds(dir, "role "+r.Name)
		r.Needs, r.tree = needs, dir
		return err
	}
	m, err := readManifest(dir)
	if err != nil {
		return err
	}
	name := m.Info.Namespace + "." + m.Info.Name
	if r.Name != "" && r.Name != name {
		return fmt.Errorf("it is the collection %s and not %s", name, r.Name)
	}
	r.Name, r.Version, r.tree = name, m.Info.Version, dir
	r.Needs, err = collectionNeeds(m.Info.Dependencies, r.String())
	return err
}

// collectionNeeds are the requirements of a collection.
func collectionNeeds(dependencies map[string]string, whose string) (needs []*Requirement, err error) {
	for _, name := range slices.Sorted(maps.Keys(dependencies)) {
		q, wrong := collectionOf(map[string]string{"name": name, "version": dependencies[name]}, "/")
		if wrong == "" {
			wrong = rangeProblem(q.Version)
		}
		if wrong != "" {
			return nil, fmt.Errorf("of what it needs: %s", wrong)
		}
		q.For = whose
		needs = append(needs, &q)
	}
	return needs, nil
}

// roleNeeds are the requirements of a role: what its meta/requirements.yml has, or the dependencies in its meta/main.yml that could be on
// a server.
func roleNeeds(dir, whose string) ([]*Requirement, error) {
	var ds diag.List
	read := func(path string) (*playbook.File, error) {
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		return &playbook.File{Name: whose + ": " + name, Path: path, Text: text}, err
	}
	var needs []*Requirement
	for _, ending := range []string{".yml", ".yaml"} {
		if path := filepath.Join(dir, "meta", "requirements"+ending); isFile(path) {
			needs = append(needs, Read(path, read, &ds)...)
		}
		path := filepath.Join(dir, "meta", "main"+ending)
		if !isFile(path) {
			continue
		}
		f, err := read(path)
		if err != nil {
			return nil, err
		}
		v, _ := playbook.Document(f, &ds)
		list, _ := v.Get("dependencies")
		for _, item := range list.Items() {
			if q, ok := dependency(item, filepath.Join(dir, "meta")); ok {
				needs = append(needs, &q)
			}
		}
	}
	for _, q := range needs {
		q.For = whose
	}
	if ds.HasErrors() {
		return nil, fmt.Errorf("%s: %s", ds[0].Pos.File, ds[0].Message)
	}
	return needs, nil
}

// dependency is the requirement of a dependency of a role. One whose name says nothing of where it would be had is the business of who
// uses the role, and so is what the dependency is given.
func dependency(v playbook.Value, dir string) (Requirement, bool) {
	var q Requirement
	wrong := ""
	if v.Kind() == playbook.Map {
		f := map[string]string{}
		for _, key := range []string{"src", "name", "version", "scm", "role"} {
			if field, ok := v.Get(key); ok {
				f[key] = field.Text()
			}
		}
		if f["src"] == "" && f["role"] == "" {
			f["role"] = f["name"]
		}
		q, wrong = roleOf(f, dir)
		if q.Origin == FromServer {
			q.Name = q.Source // `name` of a dependency is the role itself
		}
	} else {
		q, wrong = roleOfText(v.Text(), dir)
	}
	if q.Origin == FromFile || q.Origin == FromDir {
		return q, false // no dependency is had from the machine of who wrote it
	}
	// A role of a collection has two dots: the collection is what its requirements name.
	return q, wrong == "" && !strings.Contains(q.Name, "/")
}
