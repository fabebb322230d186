package pinned

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"moon/exec/fsys"
	"moon/plan/source"
)

// Files are the files that a step reads, held to what they were when it was let through: what is compared is what is read.
type Files struct {
	fsys.OwnFiles
	want  map[string]string // digests by path
	trees []string          // directories all of whose files are in want
	links map[string]string // where the links in these lead, by path
	saved map[string][]byte // texts that are read in the place of their files
}

// New holds nothing yet.
func New() *Files {
	return &Files{want: map[string]string{}, links: map[string]string{}, saved: map[string][]byte{}}
}

// TakeSaved has a text read in the place of a file.
func (p *Files) TakeSaved(path string, text []byte) { p.saved[path] = text }

// Pin holds a source to what it is now.
func (p *Files) Pin(s *source.Source) {
	if !s.IsDir() {
		p.want[s.Path] = s.Digest
		return
	}
	p.trees = append(p.trees, s.Path)
	for _, e := range s.Entries {
		switch path := filepath.Join(s.Path, e.Name); e.Kind {
		case source.File:
			p.want[path] = e.Digest
		case source.Link:
			p.links[path] = e.Digest
		case source.Directory, source.Other: // they hold nothing themselves
		}
	}
}

// changedError says that a file is not what was approved.
type changedError struct{ path string }

func (e *changedError) Error() string {
	return e.path + " has changed since the plan was approved; put it back, or plan again"
}

// Stat implements exec.Files.
func (p *Files) Stat(path string) (fs.FileInfo, error) {
	info, err := p.OwnFiles.Stat(path)
	if text, ok := p.saved[filepath.Clean(path)]; ok && err == nil {
		return savedInfo{info, int64(len(text))}, nil
	}
	return info, err
}

// savedInfo is that of a file that has the text of a saved plan.
type savedInfo struct {
	fs.FileInfo
	size int64
}

func (i savedInfo) Size() int64 { return i.size }

// Open implements exec.Files.
func (p *Files) Open(path string) (io.ReadCloser, error) {
	clean := filepath.Clean(path)
	if text, ok := p.saved[clean]; ok {
		return io.NopCloser(bytes.NewReader(text)), nil
	}
	want, ok := p.want[clean]
	if !ok {
		for _, tree := range p.trees {
			if !strings.HasPrefix(clean, strings.TrimSuffix(tree, "/")+"/") {
				continue
			}
			// A file that was not in the directory when the plan was made has not been approved.
			if want, ok = p.linked(tree, clean); !ok {
				return nil, &changedError{path}
			}
			break
		}
	}
	f, err := p.OwnFiles.Open(path)
	if err != nil || !source.Hashed(want) {
		return f, err
	}
	return &checkedFile{ReadCloser: f, path: path, want: want, sum: sha256.New()}, nil
}

// linked is the digest of the file in a directory that a path leads to by links in it, which lead where they did: it was approved under its
// own name.
func (p *Files) linked(tree, path string) (digest string, ok bool) {
	for at := path; len(at) > len(tree); at = filepath.Dir(at) {
		if to, err := os.Readlink(at); err == nil && to != p.links[at] {
			return "", false
		}
	}
	root, err := filepath.EvalSymlinks(tree)
	if err != nil {
		return "", false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	name, err := filepath.Rel(root, real)
	if err != nil || !filepath.IsLocal(name) {
		return "", false
	}
	digest, ok = p.want[filepath.Join(tree, name)]
	return digest, ok
}

// checkedFile is an open file that ends in an error if what was read is not what was to be.
type checkedFile struct {
	io.ReadCloser
	path, want string
	sum        hash.Hash
}

func (f *checkedFile) Read(b []byte) (int, error) {
	n, err := f.ReadCloser.Read(b)
	// The digest is computed of what is really handed out, whatever became of the file since it was looked at.
	_, _ = f.sum.Write(b[:n]) // a hash takes everything
	if errors.Is(err, io.EOF) && hex.EncodeToString(f.sum.Sum(nil)) != f.want {
		err = &changedError{f.path}
	}
	return n, err
}

// Checked reads the whole file once, and gives it for reading anywhere. It implements exec.Checked.
func (f *checkedFile) Checked() (*os.File, error) {
	file, ok := f.ReadCloser.(*os.File)
	if !ok {
		return nil, fmt.Errorf("%s cannot be read twice", f.path)
	}
	_, err := io.Copy(io.Discard, f)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
