package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"moon/engine/planfile"
	"moon/plan/saved"
	"moon/plan/source"
)

// planName is the saved plan in a pack, and placesName says which directory each of those of the pack was.
const (
	planName   = "plan"
	placesName = "places"
)

// maxPack bounds the files of a pack, in bytes.
const maxPack = 256 << 20

// document is what is read of a saved plan here. moon run reads all of it, and checks that it is what was saved.
type document struct {
	Root     string `json:"root"`
	RootFile string `json:"root_file"`
	Steps    []struct {
		Host    string `json:"host"`
		Skipped bool   `json:"skipped"`
	} `json:"steps"`
	Sources *saved.Sources `json:"sources"`
}

func read(plan []byte) (d document, err error) {
	if err := json.Unmarshal(plan, &d); err != nil || d.Root == "" || d.Sources == nil {
		return d, errors.New("it is not a saved plan; make one with moon plan -o FILE")
	}
	return d, nil
}

// About says which playbook a saved plan runs, and on which hosts.
func About(plan []byte) (playbook string, hosts []string, err error) {
	d, err := read(plan)
	if err != nil {
		return "", nil, err
	}
	playbook = filepath.Join(d.Root, d.RootFile)
	if real, err := filepath.EvalSymlinks(playbook); err == nil {
		playbook = real
	}
	for _, s := range d.Steps {
		if s.Host != "" && !s.Skipped {
			hosts = append(hosts, s.Host)
		}
	}
	if len(hosts) == 0 {
		hosts = []string{"localhost"}
	}
	slices.Sort(hosts)
	return playbook, slices.Compact(hosts), nil
}

// Make packs a saved plan with the files that its steps read and the plugins that they use, of which the plan itself has only the digests. Files
// that hold secrets are not in it: they have to be where the job is run.
func Make(plan []byte) ([]byte, error) {
	d, err := read(plan)
	if err != nil {
		return nil, err
	}
	places := d.places()
	text, err := json.Marshal(places)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	put := func(name string, mode int64, text []byte) {
		err = errors.Join(err, w.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(text)), Typeflag: tar.TypeReg}))
		if err == nil {
			_, err = w.Write(text)
		}
	}
	put(planName, 0o600, plan)
	put(placesName, 0o600, text)
	size := int64(0)
	for _, path := range d.needs() {
		name := places.Here(path)
		info, serr := os.Stat(path)
		if filepath.IsAbs(name) || serr != nil || !info.Mode().IsRegular() {
			continue // the plan says what it needs, and is refused without
		}
		if size += info.Size(); size > maxPack {
			return nil, fmt.Errorf("the files that its steps read are more than %d MiB; have them where the workers are", maxPack>>20)
		}
		text, rerr := os.ReadFile(path)
		if rerr != nil {
			return nil, rerr
		}
		put(name, int64(info.Mode().Perm()), text)
	}
	err = errors.Join(err, w.Close(), zip.Close())
	return out.Bytes(), err
}

// Unpacked is where a pack was written to.
type Unpacked struct {
	Plan     string // the file of the plan
	Root     string // the directory to run it in
	Original string // that of the playbook where it was submitted: the same if this machine has it
}

// Unpack writes a pack into a directory. Only the plan is, if this machine has what the job needs where it was submitted; elsewhere says that
// it does not count. Or else the files are written, and the plan is moved to where they are.
func Unpack(pack []byte, dir string, elsewhere bool) (u Unpacked, err error) {
	plan, places, entries, err := open(pack)
	if err != nil {
		return u, err
	}
	d, err := read(plan)
	if err != nil {
		return u, err
	}
	u.Plan, u.Root, u.Original = filepath.Join(dir, planName), d.Root, d.Root
	if !elsewhere && d.isHere(places) {
		return u, os.WriteFile(u.Plan, plan, 0o600)
	}
	if err := d.secrets(places); err != nil {
		return u, err
	}
	// The directory is of this machine, so its links are resolved as moon does it with the root of a plan.
	if dir, err = filepath.EvalSymlinks(dir); err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return u, err
	}
	for i := range places {
		if !filepath.IsLocal(places[i].To) || !filepath.IsAbs(places[i].From) {
			return u, fmt.Errorf("the job has a place %q, which would be outside its directory", places[i].To)
		}
		places[i].To = filepath.Join(dir, places[i].To)
	}
	if err := d.write(dir, places, entries); err != nil {
		return u, err
	}
	u.Root = places.Here(d.Root)
	if plan, err = planfile.Move(plan, places); err != nil {
		return u, err
	}
	return u, os.WriteFile(u.Plan, plan, 0o600)
}

// entry is a file of a pack.
type entry struct {
	text []byte
	mode os.FileMode
}

// open reads a pack.
func open(pack []byte) (plan []byte, places source.Moved, entries map[string]entry, err error) {
	fail := func(err error) ([]byte, source.Moved, map[string]entry, error) {
		return nil, nil, nil, fmt.Errorf("the plan of the job cannot be read: %w", err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(pack))
	if err != nil {
		return fail(err)
	}
	r := tar.NewReader(zip)
	entries = map[string]entry{}
	left := int64(2 * maxPack) // a small pack may come to very much
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(io.LimitReader(r, left))
			left -= int64(len(text))
		}
		if err == nil && left == 0 {
			err = fmt.Errorf("it is more than %d MiB", 2*maxPack>>20)
		}
		if err != nil {
			return fail(err)
		}
		switch {
		case h.Name == planName:
			plan = text
		case h.Name == placesName:
			if err := json.Unmarshal(text, &places); err != nil {
				return fail(err)
			}
		case !filepath.IsLocal(h.Name):
			return nil, nil, nil, fmt.Errorf("the job has a file %q, which would be outside its directory", h.Name)
		default:
			entries[h.Name] = entry{text, h.FileInfo().Mode().Perm()}
		}
	}
	if len(places) == 0 {
		return fail(errors.New("it does not say where its files were; submit it again"))
	}
	return plan, places, entries, nil
}

// write writes what a job needs to the places where it is to be run.
func (d *document) write(dir string, places source.Moved, entries map[string]entry) error {
	for name, e := range entries {
		if err := writeFile(filepath.Join(dir, name), e.text, e.mode); err != nil {
			return err
		}
	}
	put := func(path string) (string, bool) {
		now := places.Here(d.abs(path))
		_, err := os.Lstat(now)
		return now, now != d.abs(path) && errors.Is(err, os.ErrNotExist)
	}
	for _, f := range d.Sources.Files {
		path, missing := put(f.Path)
		if !missing || f.Path == "-" || f.Text == nil && f.Bytes == nil {
			continue
		}
		text := f.Bytes
		if f.Text != nil {
			text = []byte(*f.Text)
		}
		if err := writeFile(path, text, 0o600); err != nil {
			return err
		}
	}
	// Of a directory that a step copies the plan has the links, the empty directories and the modes.
	for _, r := range d.Sources.Reads {
		if path, missing := put(r.Path); missing && r.Dir {
			if err := os.MkdirAll(path, 0o700); err != nil {
				return err
			}
		}
		for _, e := range slices.Backward(r.Entries) {
			if err := writeEntry(put, r.Path, e); err != nil {
				return err
			}
		}
	}
	return os.MkdirAll(places.Here(d.Root), 0o700)
}

// writeEntry writes an entry of a directory that is not a file. What is in a directory comes before it, as it may not be writable then.
func writeEntry(put func(string) (string, bool), in string, e [4]string) error {
	name, kind, mode, target := e[0], source.Kind(e[1]), e[2], e[3]
	path, missing := put(in + name)
	if !filepath.IsLocal(filepath.Join(".", name)) {
		return fmt.Errorf("the job has a file %q, which would be outside its directory", name)
	}
	switch {
	case kind == source.Link && missing:
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		return os.Symlink(target, path)
	case kind == source.Directory:
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
		var bits uint32
		if _, err := fmt.Sscanf(mode, "%o", &bits); err == nil {
			return os.Chmod(path, os.FileMode(bits)&os.ModePerm)
		}
	}
	return nil
}

func writeFile(path string, text []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path, text, mode); err != nil {
		return err
	}
	return os.Chmod(path, mode) // the umask may have taken some away, and the plan compares modes
}
