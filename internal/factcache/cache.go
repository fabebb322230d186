package factcache

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"moon/plan/eval/value"
	"moon/plan/found"
	"moon/plan/vars"
)

// maxFile is more than the facts of any host take, in bytes.
const maxFile = 64 << 20

// Caches are those that the plans of a call of moon name. Its methods may be called at the same time.
type Caches struct {
	Warn func(text string) // required
	Now  func() time.Time  // nil: time.Now

	Clears bool // what is kept of a host is cleared when it is asked for first

	mu   sync.Mutex
	open map[vars.FactFiles]*cache
}

// of is the cache of a plan.
func (c *Caches) of(files vars.FactFiles) *cache {
	c.mu.Lock()
	defer c.mu.Unlock()
	one, ok := c.open[files]
	if !ok {
		if one = (&cache{FactFiles: files, warn: c.Warn, now: c.Now}); one.now == nil {
			one.now = time.Now
		}
		if c.open == nil {
			c.open = map[vars.FactFiles]*cache{}
		}
		c.open[files] = one
	}
	return one
}

// Read gives the facts of a host under the names that they have as variables; nil if the host has none, or if they are too old.
func (c *Caches) Read(files vars.FactFiles, host string) map[string]any {
	one := c.of(files)
	if c.Clears && one.isNew(host) {
		if err := one.clear(host); err != nil {
			c.Warn(err.Error())
		}
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	return one.read(host)
}

// isNew reports, once, that a host was not asked for.
func (c *cache) isNew(host string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked[host] {
		return false
	}
	if c.asked == nil {
		c.asked = map[string]bool{}
	}
	c.asked[host] = true
	return true
}

// cache is a directory with a file for each host.
type cache struct {
	vars.FactFiles

	warn func(text string)
	now  func() time.Time

	mu    sync.Mutex
	asked map[string]bool           // hosts, where what is kept is cleared
	known map[string]map[string]any // what was read or written by this process, which does not become too old
}

// path is the file of a host; "" for a name that would lead out of the directory.
func (c *cache) path(host string) string {
	if name := c.Prefix + host; host != "" && !strings.ContainsAny(host, "/\x00") && name != "." && name != ".." {
		return filepath.Join(c.Dir, name)
	}
	return ""
}

func (c *cache) read(host string) map[string]any {
	if known, ok := c.known[host]; ok {
		return known
	}
	path := c.path(host)
	if path == "" {
		return nil
	}
	facts, err := c.load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		c.warn(fmt.Sprintf("the facts of %s that were kept cannot be read: %s; remove the file", host, err))
		return nil
	case facts == nil:
		return nil
	}
	c.note(host, facts)
	return facts
}

// note remembers the facts of a host.
func (c *cache) note(host string, facts map[string]any) {
	if c.known == nil {
		c.known = map[string]map[string]any{}
	}
	c.known[host] = facts
}

// load reads a file; nil if it is too old.
func (c *cache) load(path string) (map[string]any, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s is larger than %d MiB", path, maxFile>>20)
	case c.Timeout > 0 && c.now().Sub(info.ModTime()) > c.Timeout:
		return nil, nil // as one that is missing
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var facts found.Fields
	if err := json.Unmarshal(text, &facts); err != nil {
		return nil, fmt.Errorf("%s is not a map in JSON: %w", path, err)
	}
	if facts == nil {
		return nil, fmt.Errorf("%s is not a map in JSON", path)
	}
	return facts, nil
}

// add puts facts of a host in the place of those of the same names.
func (c *cache) add(host string, facts map[string]any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := c.path(host)
	if path == "" {
		return fmt.Errorf("the facts of %s cannot be kept: the name of the host is not one of a file", host)
	}
	// A copy: planning has the one that was read.
	all := maps.Clone(c.read(host))
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, facts)
	c.note(host, all)
	layout := value.Layout{Indent: 4, PythonNumbers: true, ASCII: true, Sorted: true}
	text := value.AppendJSON(nil, value.Plain(value.Reveal(all)), layout, 0)
	if err := c.write(path, text); err != nil {
		return fmt.Errorf("the facts of %s cannot be kept: %w", host, err)
	}
	return nil
}

// write replaces a file at once: another process may be reading it. Only its owner can read it, as facts may be secret.
func (c *cache) write(path string, text []byte) error {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	// Ansible takes what begins with a point for no host.
	// The directory is as Ansible makes it; the files are private.
	f, err := os.CreateTemp(filepath.Dir(path), ".moon-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the cause is what counts
	}
	return err
}

// clear forgets the facts of a host.
func (c *cache) clear(host string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, host)
	path := c.path(host)
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the facts of %s that were kept cannot be cleared: %w", host, err)
	}
	return nil
}
