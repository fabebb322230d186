package plugin

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"moon/exec"
	"moon/exec/process"
	"moon/exec/pymodule"
	"moon/exec/pysource"
)

// core is the ansible-core that is installed here: its modules, and the libraries of all modules in Python.
type core struct {
	asker   *process.Asker
	given   string // where it is, if that is known already; "": it is looked for
	look    sync.Once
	dir     string // of the Python package ansible; "" if there is none
	version string
}

// locate has a python say where it would import Ansible from, and import nothing.
const locate = "import importlib.util as u; s = u.find_spec('ansible'); print(s.submodule_search_locations[0] if s else '')"

// find looks for ansible-core, once: with the Python that ansible-playbook runs with, the one that is usual here, the system's.
func (c *core) find() (dir, version string) {
	c.look.Do(func() {
		if c.given != "" {
			c.take(c.given)
			return
		}
		var candidates []string
		if path, err := exec.LookPath("ansible-playbook"); err == nil {
			// Its first line names the Python of its virtual environment.
			if text, err := readHead(path); err == nil {
				candidates = append(candidates, readInterpreter(text)...)
			}
		}
		var tried []string
		for _, name := range append(candidates, "python3", "/usr/bin/python3") {
			path, err := exec.LookPath(name)
			if err != nil || slices.Contains(tried, path) || !strings.HasPrefix(filepath.Base(path), "python") {
				continue
			}
			tried = append(tried, path)
			if dir := c.ask(path); dir != "" && c.take(dir) {
				return
			}
		}
	})
	return c.dir, c.version
}

// take takes a directory if ansible-core is there.
func (c *core) take(dir string) bool {
	text, err := pymodule.ReadFile(filepath.Join(dir, "release.py"))
	if err != nil {
		return false
	}
	version, ok := pysource.Read(text).Text("__version__")
	if ok {
		c.dir, c.version = dir, version
	}
	return ok
}

// ask has a python print where Ansible is.
func (c *core) ask(python string) string {
	var out bytes.Buffer
	if c.asker.Output(context.Background(), []string{python, "-c", locate}, "/", "", &out, nil) != "" {
		return ""
	}
	if dir := strings.TrimSpace(out.String()); filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

// module is the file of one of its modules.
func (c *core) module(name string) (path string, ok bool) {
	dir, _ := c.find()
	if dir == "" || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return "", false
	}
	path = filepath.Join(dir, "modules", name+".py")
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular()
}

// acts reports whether Ansible does the work of a module, or a part, where it runs itself.
func (c *core) acts(name string) bool {
	dir, _ := c.find()
	info, err := os.Stat(filepath.Join(dir, "plugins", "action", name+".py"))
	return err == nil && info.Mode().IsRegular()
}
