package queue

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/nats-io/nats.go/jetstream"
)

// planName is the saved plan in a pack; the files are below filesName.
const (
	planName  = "plan"
	filesName = "files"
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
	Sources *struct {
		Files []struct {
			Path   string  `json:"path"`
			Secret bool    `json:"secret"`
			Text   *string `json:"text"`
			Bytes  []byte  `json:"bytes"`
		} `json:"files"`
		Reads []struct {
			Path      string  `json:"path"`
			Directory bool    `json:"directory"`
			Entries   [][]any `json:"entries"`
		} `json:"reads"`
	} `json:"sources"`
}

func read(plan []byte) (d document, err error) {
	if err := json.Unmarshal(plan, &d); err != nil || d.Root == "" || d.Sources == nil {
		return d, errors.New("it is not a saved plan; make one with moon plan -o FILE")
	}
	return d, nil
}

// JobOf is a job to run a saved plan: its playbook, and the hosts that the plan names.
func JobOf(plan []byte) (j Job, err error) {
	d, err := read(plan)
	if err != nil {
		return j, err
	}
	j.Playbook = filepath.Join(d.Root, d.RootFile)
	if real, err := filepath.EvalSymlinks(j.Playbook); err == nil {
		j.Playbook = real
	}
	for _, s := range d.Steps {
		if s.Host != "" && !s.Skipped {
			j.Hosts = append(j.Hosts, s.Host)
		}
	}
	if len(j.Hosts) == 0 {
		j.Hosts = []string{"localhost"}
	}
	slices.Sort(j.Hosts)
	j.Hosts = slices.Compact(j.Hosts)
	return j, nil
}

// Pack is a saved plan with the files that its steps read, which the plan itself has only the digests of. Files that hold secrets are not
// in it, and neither are those outside the directory of the playbook: they have to be where the job is run.
func Pack(plan []byte) ([]byte, error) {
	d, err := read(plan)
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
	size := int64(0)
	for _, name := range d.reads() {
		info, serr := os.Stat(filepath.Join(d.Root, name))
		if serr != nil || !info.Mode().IsRegular() {
			continue // the plan says what it needs, and is refused without
		}
		if size += info.Size(); size > maxPack {
			return nil, fmt.Errorf("the files that its steps read are more than %d MiB; have them where the workers are", maxPack>>20)
		}
		text, rerr := os.ReadFile(filepath.Join(d.Root, name))
		if rerr != nil {
			return nil, rerr
		}
		put(filesName+"/"+name, int64(info.Mode().Perm()), text)
	}
	err = errors.Join(err, w.Close(), zip.Close())
	return out.Bytes(), err
}

// reads are the files in the directory of the playbook that steps read when they run.
func (d *document) reads() (names []string) {
	add := func(name string) {
		if filepath.IsLocal(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, r := range d.Sources.Reads {
		if !r.Directory {
			add(r.Path)
			continue
		}
		for _, e := range r.Entries {
			if path, is := e[0].(string); is {
				add(filepath.Join(r.Path, path))
			}
		}
	}
	return names
}

// Unpack writes a pack into a directory, and gives the file of the plan, the directory to run it in, and that of the playbook where it was
// submitted. They are the same if this machine has the playbook; or else the former is made of what the pack has.
func Unpack(pack []byte, dir string) (file, root, original string, err error) {
	zip, err := gzip.NewReader(bytes.NewReader(pack))
	if err != nil {
		return "", "", "", fmt.Errorf("the plan of the job cannot be read: %w", err)
	}
	r := tar.NewReader(zip)
	var plan []byte
	files := map[string][]byte{}
	modes := map[string]os.FileMode{}
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(io.LimitReader(r, 2*maxPack))
		}
		if err != nil {
			return "", "", "", fmt.Errorf("the plan of the job cannot be read: %w", err)
		}
		if h.Name == planName {
			plan = text
			continue
		}
		name, err := filepath.Rel(filesName, h.Name)
		if err != nil || !filepath.IsLocal(name) {
			return "", "", "", fmt.Errorf("the job has a file %q, which would be outside its directory", h.Name)
		}
		files[name], modes[name] = text, h.FileInfo().Mode().Perm()
	}
	d, err := read(plan)
	if err != nil {
		return "", "", "", err
	}
	if _, err := os.Stat(filepath.Join(d.Root, d.RootFile)); err == nil {
		root = d.Root
	} else {
		// The directory is of this machine, so its links are resolved as moon does it with the root of a plan.
		if root, err = filepath.EvalSymlinks(dir); err != nil {
			return "", "", "", err
		}
		root = filepath.Join(root, filesName)
		for _, f := range d.Sources.Files {
			if _, has := files[f.Path]; has || f.Secret || !filepath.IsLocal(f.Path) {
				continue
			}
			if files[f.Path], modes[f.Path] = f.Bytes, 0o600; f.Text != nil {
				files[f.Path] = []byte(*f.Text)
			}
		}
		if err := writeAll(root, files, modes); err != nil {
			return "", "", "", err
		}
		plan = moved(plan, d.Root, root)
	}
	file = filepath.Join(dir, planName)
	return file, root, d.Root, os.WriteFile(file, plan, 0o600)
}

func writeAll(root string, files map[string][]byte, modes map[string]os.FileMode) error {
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, modes[name]); err != nil {
			return err
		}
		if err := os.Chmod(path, modes[name]); err != nil { // the umask may have taken some away, and the plan compares modes
			return err
		}
	}
	return os.MkdirAll(root, 0o700)
}

// moved is a saved plan in another directory. Its third line has that, and is the only one that may differ.
func moved(plan []byte, from, to string) []byte {
	was, err1 := json.Marshal(from)
	is, err2 := json.Marshal(to)
	if err1 != nil || err2 != nil {
		return plan
	}
	return bytes.Replace(plan, append([]byte(`"root": `), was...), append([]byte(`"root": `), is...), 1)
}

// Store keeps a pack, and gives its name, which is its digest: the same plan is there once, however often it is submitted.
func (q *Queue) Store(ctx context.Context, pack []byte) (name string, err error) {
	sum := sha256.Sum256(pack)
	name = hex.EncodeToString(sum[:])
	if _, err := q.plans.GetInfo(ctx, name); err == nil {
		return name, nil
	}
	if _, err := q.plans.PutBytes(ctx, name, pack); err != nil {
		return "", fmt.Errorf("store the plan: %w", err)
	}
	return name, nil
}

// Load is a pack that was stored.
func (q *Queue) Load(ctx context.Context, name string) ([]byte, error) {
	pack, err := q.plans.GetBytes(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, errors.New("the plan of the job is gone")
	}
	if err != nil {
		return nil, fmt.Errorf("fetch the plan of the job: %w", err)
	}
	if sum := sha256.Sum256(pack); hex.EncodeToString(sum[:]) != name {
		return nil, errors.New("the plan of the job is not what was submitted")
	}
	return pack, nil
}
