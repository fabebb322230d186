package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"moon/exec/process"
)

// Installer installs requirements.
type Installer struct {
	Servers     []*Server
	Collections string // the directory that gets ansible_collections
	Roles       string // the directory of roles
	Ask         *process.Asker
	Lock        *Lock

	Upgrade bool // take the newest releases, and not those of the lock file or those that are there
	Locked  bool // take those of the lock file and no others
	Pre     bool // releases that are not finished may be taken
	Force   bool // replace what was changed since it was installed
	Alone   bool // omit what the requirements need
	Dry     bool // say what would be installed

	temp string
}

// State is what an installation comes to for one release.
type State string

// The states, as they are said.
const (
	Unchanged State = "unchanged"
	Installed State = "installed"
	Replaced  State = "replaced"
)

// Done is a release that is installed, or would be.
type Done struct {
	*Release
	Path  string
	State State
	Was   string // the version that was there, where it was replaced
}

// Install installs what is wanted. It gets everything and looks at all that is there before it changes anything, and returns what it did
// with the warnings of the choice.
func (i *Installer) Install(ctx context.Context, wanted []*Requirement) (all []Done, warnings []string, err error) {
	defer func() {
		if i.temp != "" {
			_ = os.RemoveAll(i.temp)
		}
	}()
	defer process.RemoveAtEnd(func() {
		if i.temp != "" {
			_ = os.RemoveAll(i.temp)
		}
	})()
	r, err := i.resolve(ctx, wanted)
	if err != nil {
		return nil, nil, err
	}
	for _, rel := range r.order {
		d, err := i.look(ctx, rel)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, d)
	}
	if i.Dry {
		return all, r.warnings, nil
	}
	for n := range all {
		if err := all[n].place(); err != nil {
			return all[:n], r.warnings, err
		}
	}
	return all, r.warnings, i.writeLock(r.order)
}

// serverAt is the server with a URL or a name; nil if there is none.
func (i *Installer) serverAt(address string) *Server {
	for _, s := range i.Servers {
		if s.Name != "" && s.Name == address || strings.TrimSuffix(s.URL, "/") == strings.TrimSuffix(address, "/") {
			return s
		}
	}
	return nil
}

// placeOf is where a release is installed.
func (i *Installer) placeOf(kind Kind, name string) string {
	if kind == Role {
		return filepath.Join(i.Roles, name)
	}
	return filepath.Join(i.Collections, "ansible_collections", filepath.FromSlash(strings.Replace(name, ".", "/", 1)))
}

// installedVersion is the version of a collection that is installed; "" if none is.
func (i *Installer) installedVersion(name string) string {
	m, err := readManifest(i.placeOf(Collection, name))
	if err != nil {
		return ""
	}
	return m.Info.Version
}

// look compares a release with what is there, and gets it if that is something else. What was changed there is not replaced.
func (i *Installer) look(ctx context.Context, r *Release) (Done, error) {
	d := Done{Release: r, Path: i.placeOf(r.Kind, r.Name), State: Installed}
	locked := r.Digest
	if r.tree != "" && r.Origin != FromDir {
		locked = ""
	}
	there := ""
	if _, err := os.Lstat(d.Path); err == nil {
		if there, err = digestTree(d.Path); err != nil {
			return d, fmt.Errorf("%s: %w", d.Path, err)
		}
		if there == locked && r.Origin != FromDir {
			d.State = Unchanged
			return d, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	if err := i.fetch(ctx, r); err != nil {
		return d, err
	}
	if locked != "" && r.Digest != locked && r.Origin != FromDir {
		return d, fmt.Errorf("%s from %s is not what it was: its files have the SHA-256 %s, and %s says %s. "+
			"If the new ones are right, run moon install --upgrade", r, r.Source, r.Digest, i.Lock.Path, locked)
	}
	switch there {
	case "":
	case r.Digest:
		d.State = Unchanged
	default:
		d.State = Replaced
		d.Was = i.versionThere(r.Kind, d.Path)
		if why := i.isForeign(r, d.Path, there); why != "" && !i.Force {
			return d, fmt.Errorf("%s is not replaced with %s: %s. Move it away, or run moon install --force to lose it", d.Path, r, why)
		}
	}
	return d, nil
}

// isForeign says why what is there may be the work of the user; "" if it is unchanged since it was installed.
func (i *Installer) isForeign(r *Release, path, digest string) string {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "it is a link"
	}
	for _, e := range i.Lock.Entries {
		if e.Kind == r.Kind && e.Name == r.Name && e.SHA256 == digest {
			return ""
		}
	}
	if r.Kind == Collection {
		m, err := readManifest(path)
		if err != nil {
			return "it was not installed as a collection is"
		}
		if err := m.checkFiles(path); err != nil {
			return "it was changed since: " + strings.TrimSuffix(err.Error(), ": the archive is damaged")
		}
		return ""
	}
	note, err := readNote(path)
	switch {
	case err != nil || note.Version == "" && note.Digest == "":
		return "it was not installed from elsewhere"
	case note.Digest != "" && note.Digest != digest:
		return "it was changed since"
	}
	return "" // by the program that has no digests
}

// note is what is written into a role that was installed, as Ansible has it.
type note struct {
	Date    string `yaml:"install_date"`
	Version string `yaml:"version"`
	Digest  string `yaml:"sha256,omitempty"`
}

func readNote(dir string) (n note, err error) {
	text, err := os.ReadFile(filepath.Join(dir, roleNote))
	if err == nil {
		err = yaml.Unmarshal(text, &n)
	}
	return n, err
}

func (i *Installer) versionThere(kind Kind, path string) string {
	if kind == Role {
		n, _ := readNote(path)
		return n.Version
	}
	m, _ := readManifest(path)
	return m.Info.Version
}

// place puts the files of a release where they belong: all at once, or not at all.
func (d *Done) place() error {
	if d.State == Unchanged {
		return nil
	}
	above := filepath.Dir(d.Path)
	if err := os.MkdirAll(above, 0o755); err != nil {
		return err
	}
	// Next to its place, so that it gets there by one rename: a moon that crashes has installed all of it or nothing.
	fresh, err := os.MkdirTemp(above, ".moon-install-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(fresh) }()
	tree, old := filepath.Join(fresh, "new"), filepath.Join(fresh, "old")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return err
	}
	if err := copyTree(d.tree, tree, func(string) bool { return false }); err != nil {
		return err
	}
	if d.Kind == Role {
		text, err := yaml.Marshal(note{time.Now().UTC().Format(time.ANSIC), d.Version, d.Digest})
		if err == nil {
			err = os.MkdirAll(filepath.Join(tree, "meta"), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(tree, roleNote), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if d.State == Replaced {
		if err := os.Rename(d.Path, old); err != nil {
			return err
		}
	}
	if err := os.Rename(tree, d.Path); err != nil {
		return errors.Join(err, os.Rename(old, d.Path))
	}
	return nil
}

// writeLock writes down what was installed, if that has changed.
func (i *Installer) writeLock(all []*Release) error {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b *Release) int {
		return strings.Compare(keyOf(a.Kind, a.Name), keyOf(b.Kind, b.Name))
	})
	text, err := i.Lock.encode(sorted)
	if err != nil || bytes.Equal(text, i.Lock.text) {
		return err
	}
	temp := i.Lock.Path + ".new"
	if err := os.WriteFile(temp, text, 0o644); err != nil {
		return err
	}
	return os.Rename(temp, i.Lock.Path)
}

// JSON is what was done, for programs.
func JSON(all []Done) ([]byte, error) {
	type entry struct {
		Kind    Kind   `json:"kind"`
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
		Source  string `json:"source"`
		Path    string `json:"path"`
		SHA256  string `json:"sha256"`
		State   State  `json:"state"`
		Was     string `json:"was,omitempty"`
	}
	list := []entry{}
	for _, d := range all {
		list = append(list, entry{d.Kind, d.Name, d.Version, d.Source, d.Path, d.Digest, d.State, d.Was})
	}
	return json.MarshalIndent(list, "", "  ")
}
