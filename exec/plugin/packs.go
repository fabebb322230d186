package plugin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/pymodule"
)

// packs are the modules in Python that are kept on this machine, each under its digest, for its user alone. One that was kept by an
// earlier run is compared before it runs, and one that is not there is asked for.
type packs struct {
	mu   sync.Mutex
	dir  string             // "": not looked for yet
	temp bool               // it is removed at the end
	by   map[string]*packed // by their digests
}

// packed is one of them, which callers wait for.
type packed struct {
	mu   sync.Mutex
	path string
	is   fs.FileInfo // when it was compared
}

// find is the path of the pack that a call needs.
func (p *packs) find(c *exec.PluginCall) (string, error) {
	digest := c.Args.Plugin.Pack
	one, err := p.entry(digest)
	if err != nil {
		return "", err
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.unchanged() || one.compare(digest) {
		return one.path, nil
	}
	data, err := fetchPack(c)
	if err != nil {
		return "", err
	}
	// It may have come over a connection, from a machine that plans; what runs is what the plan says.
	if got, err := pymodule.SealOf(data); err != nil || got != digest {
		return "", errors.Join(exec.ErrNotVerified, err)
	}
	if err := writePack(one.path, data); err != nil {
		return "", err
	}
	if !one.compare(digest) {
		return "", exec.ErrNotVerified
	}
	return one.path, nil
}

// fetchPack is the pack of a call from the side that planned it.
func fetchPack(c *exec.PluginCall) ([]byte, error) {
	if c.Pack != nil {
		return c.Pack()
	}
	return pymodule.Pack(c.Args.Plugin)
}

func (p *packs) entry(digest string) (*packed, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dir == "" {
		if err := p.open(); err != nil {
			return nil, err
		}
	}
	one := p.by[digest]
	if one == nil {
		one = &packed{path: filepath.Join(p.dir, filepath.Base(digest)+".zip")}
		p.by[digest] = one
	}
	return one, nil
}

// open finds the directory where packs are kept: the user's own, or one for this process if other users can change that.
func (p *packs) open() error {
	p.by = map[string]*packed{}
	if cache, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(cache, "moon", "modules")
		if os.MkdirAll(dir, 0o700) == nil && fsys.ProgramOwner().Check(dir) == nil && writable(dir) {
			p.dir = dir
			removeOld(dir)
			return nil
		}
	}
	dir, err := os.MkdirTemp("", "moon-modules-")
	if err != nil {
		return err
	}
	p.dir, p.temp = dir, true
	return nil
}

func writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".try-")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// keptFor is how long a pack that is not used is kept.
const keptFor = 30 * 24 * time.Hour

func removeOld(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // what cannot be listed cannot be cleaned
	}
	for _, e := range entries {
		info, err := e.Info()
		// What Python has compiled of a pack lies next to it, and is made again if it is missed.
		kept := strings.HasSuffix(e.Name(), ".zip") || strings.Contains(e.Name(), ".code")
		if err == nil && kept && time.Since(info.ModTime()) > keptFor {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another moon may have done it
		}
	}
}

// close removes what is kept for this process alone.
func (p *packs) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.temp {
		_ = os.RemoveAll(p.dir) // in a directory that is cleaned
	}
	p.dir = ""
}

// unchanged reports whether it is the file that was compared, as far as the system says.
func (o *packed) unchanged() bool {
	is, err := os.Lstat(o.path)
	return err == nil && o.is != nil && os.SameFile(is, o.is) && is.Size() == o.is.Size() && is.ModTime().Equal(o.is.ModTime())
}

// compare reports whether the file is there and is what its name says, and notes that it is used.
func (o *packed) compare(digest string) bool {
	if fsys.ProgramOwner().Check(o.path) != nil {
		return false
	}
	data, err := pymodule.ReadFile(o.path)
	if err != nil {
		return false
	}
	if got, err := pymodule.SealOf(data); err != nil || got != digest {
		return false
	}
	now := time.Now()
	_ = os.Chtimes(o.path, now, now) // or it is sent again in a month
	o.is, err = os.Lstat(o.path)
	return err == nil
}

// writePack puts a pack in its place at once: another moon may write the same.
func writePack(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it may never have been there
	}
	return err
}
