package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"moon/exec/pymodule"
	"moon/exec/pysource"
)

// core is the ansible-core that is installed here: its modules, and the libraries of all modules in Python.
type core struct {
	given   string // the directory of the Python package ansible; "" if there is none
	look    sync.Once
	dir     string // the same, if it can be used
	version string
}

// find reads the version of ansible-core, once.
func (c *core) find() (dir, version string) {
	c.look.Do(func() {
		if c.given == "" {
			return
		}
		text, err := pymodule.ReadFile(filepath.Join(c.given, "release.py"))
		if err != nil {
			return
		}
		if version, ok := pysource.Read(text).Text("__version__"); ok {
			c.dir, c.version = c.given, version
		}
	})
	return c.dir, c.version
}

// module is the file of one of its modules.
func (c *core) module(name string) (path string, ok bool) { return c.file("modules", name) }

// acts reports whether it has an action plugin of a name.
func (c *core) acts(name string) bool {
	_, ok := c.file(filepath.Join("plugins", "action"), name)
	return ok
}

// file is a file in one of its directories, by what it is called there.
func (c *core) file(in, name string) (path string, ok bool) {
	dir, _ := c.find()
	if dir == "" || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return "", false
	}
	path = filepath.Join(dir, in, name+".py")
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular()
}
