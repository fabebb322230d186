package pymodule

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"moon/exec/fsys"
	"moon/exec/pysource"
)

// Places says where the parts of modules are looked for.
type Places struct {
	Utils     []string // directories of module_utils that came with a playbook and its roles; the first that has a file is taken
	Fragments []string // directories of documentation that several modules share
	Core      string   // of the installed Python package ansible; "" if there is none
	Version   string   // of that
	// Collection is the directory of a collection such as community.general; nil: there are none.
	Collection func(name string) (dir string, ok bool)

	read  map[string]*source
	there map[string]bool // by path: whether it is a file. A project's modules share what they import, and all of it is looked for each time
}

// source is a file that was read.
type source struct {
	digest string
	file   *pysource.File
	err    error
}

// mostBytes bounds a file in Python: more than any is.
const mostBytes = 8 << 20

// load reads a file once.
func (p *Places) load(path string) *source {
	if s := p.read[path]; s != nil {
		return s
	}
	s := &source{}
	text, err := ReadFile(path)
	if s.err = err; err == nil {
		s.digest, s.file = DigestOf(text), pysource.Read(text)
	}
	if p.read == nil {
		p.read = map[string]*source{}
	}
	p.read[path] = s
	return s
}

// DigestOf is the SHA-256 of a text, in hexadecimal digits.
func DigestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// ReadFile reads the text of a file in Python.
func ReadFile(path string) ([]byte, error) {
	f, err := fsys.OwnFiles{}.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err == nil && len(text) > mostBytes {
		err = fmt.Errorf("it has more than %d MB", mostBytes>>20)
	}
	return text, err
}

// The packages that a pack may hold.
const (
	utilsPackage       = "ansible.module_utils"
	collectionsPackage = "ansible_collections"
)

// within reports whether a name is a package, or in it.
func within(name, of string) bool { return name == of || strings.HasPrefix(name, of+".") }

// find is the file of a module or package of Python by its full name.
func (p *Places) find(name string) (path string, isPackage, ok bool) {
	words := strings.Split(name, ".")
	switch {
	case within(name, utilsPackage):
		dirs := p.Utils
		if p.Core != "" {
			dirs = append(slices.Clip(dirs), filepath.Join(p.Core, "module_utils"))
		}
		for _, dir := range dirs {
			if path, isPackage, ok := p.pythonFile(filepath.Join(append([]string{dir}, words[2:]...)...)); ok {
				return path, isPackage, true
			}
		}
	case within(name, collectionsPackage) && len(words) > 3 && p.Collection != nil:
		if dir, ok := p.Collection(words[1] + "." + words[2]); ok {
			return p.pythonFile(filepath.Join(append([]string{dir}, words[3:]...)...))
		}
	}
	return "", false, false
}

// pythonFile is the file of a module, or of a package with that path. A package is taken first, as Python does.
func (p *Places) pythonFile(path string) (file string, isPackage, ok bool) {
	if init := filepath.Join(path, "__init__.py"); p.regular(init) {
		return init, true, true
	}
	if file := path + ".py"; p.regular(file) {
		return file, false, true
	}
	return "", false, false
}

// regular reports whether a file is there. The first answer counts: what was read of files is kept as well.
func (p *Places) regular(path string) bool {
	is, asked := p.there[path]
	if !asked {
		info, err := fsys.OwnFiles{}.Stat(path)
		is = err == nil && info.Mode().IsRegular()
		if p.there == nil {
			p.there = map[string]bool{}
		}
		p.there[path] = is
	}
	return is
}
