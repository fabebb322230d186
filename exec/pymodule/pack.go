package pymodule

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed" // the wrapper
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"moon/exec/spec"
)

//go:embed wrapper.py
var wrapper string

// made are the members of a pack that are not files: the wrapper, and packages that have no file of their own.
func made(g *spec.Plugin) map[string]string {
	m := map[string]string{
		"__main__.py": "MODULE = " + strconv.Quote(g.Module) + "\n" + wrapper,
		// As modules know it: with its version, and with what else of it is installed there.
		"ansible/__init__.py": "from pkgutil import extend_path\n__path__ = extend_path(__path__, __name__)\n" +
			"__version__ = " + strconv.Quote(g.Version) + "\n__author__ = 'Ansible, Inc.'\n",
	}
	there := map[string]bool{}
	for _, member := range g.Members {
		there[member.Name] = true
	}
	for _, member := range g.Members {
		for dir := path.Dir(member.Name); dir != "."; dir = path.Dir(dir) {
			if init := dir + "/__init__.py"; !there[init] && m[init] == "" {
				m[init] = ""
			}
		}
	}
	return m
}

// Seal is the digest of what a module is packed from.
func Seal(g *spec.Plugin) string {
	digests := map[string]string{}
	for name, text := range made(g) {
		digests[name] = digestOf([]byte(text))
	}
	for _, member := range g.Members {
		digests[member.Name] = member.Digest
	}
	return seal(digests)
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func seal(digests map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		fmt.Fprintf(&b, "%s  %q\n", digests[name], name)
	}
	return digestOf([]byte(b.String()))
}

// built are the packs that this process has made, by their digests: each is the same bytes for all hosts.
var built sync.Map

// Pack is a module with all that it needs. It is an error if a file is not what it was when the plan was made.
func Pack(g *spec.Plugin) ([]byte, error) {
	once, _ := built.LoadOrStore(g.Pack, sync.OnceValues(func() ([]byte, error) { return build(g) }))
	data, err := once.(func() ([]byte, error))()
	if err != nil {
		built.Delete(g.Pack) // the file may be put back
	}
	return data, err
}

func build(g *spec.Plugin) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	write := func(name string, text []byte) error {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
	texts := made(g)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := write(name, []byte(texts[name])); err != nil {
			return nil, err
		}
	}
	for _, member := range g.Members {
		text, err := ReadFile(member.Path)
		if err != nil {
			return nil, err
		}
		if digestOf(text) != member.Digest {
			return nil, fmt.Errorf("%s is not what it was when the plan was made; plan again", member.Path)
		}
		if err := write(member.Name, text); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if digest, err := SealOf(out.Bytes()); err != nil || digest != g.Pack {
		return nil, errors.Join(fmt.Errorf("the files of the module %s are not what the plan says; plan again", g.Action), err)
	}
	return out.Bytes(), nil
}

// mostUnpacked bounds what a pack holds: it may have come from elsewhere.
const mostUnpacked = 64 << 20

// SealOf is the digest of a pack by what is in it, which is what runs: each name once, and nothing that is not a file.
func SealOf(data []byte) (string, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return "", err
	}
	digests, left := map[string]string{}, int64(mostUnpacked)
	for _, f := range z.File {
		if _, twice := digests[f.Name]; twice || !f.Mode().IsRegular() {
			return "", fmt.Errorf("a pack with the member %q", f.Name)
		}
		r, err := f.Open()
		if err != nil {
			return "", err
		}
		h := sha256.New()
		n, err := io.Copy(h, io.LimitReader(r, left+1))
		if err = errors.Join(err, r.Close()); err != nil {
			return "", err
		}
		if left -= n; left < 0 {
			return "", errors.New("a pack that is too large")
		}
		digests[f.Name] = hex.EncodeToString(h.Sum(nil))
	}
	return seal(digests), nil
}
