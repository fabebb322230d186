package collection

import (
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/pattern"
)

// Requirements are the files that say which collections and roles a project needs, as they are looked for in its directory.
var Requirements = []string{"requirements.yml", "requirements.yaml", "collections/requirements.yml", "roles/requirements.yml"}

// Kind is what a plugin is for: the name of its directory below plugins/.
type Kind string

// The kinds of plugins that something here looks for.
const (
	Modules      Kind = "modules"
	ModuleUtils  Kind = "module_utils"
	Action       Kind = "action"
	Filter       Kind = "filter"
	Test         Kind = "test"
	Lookup       Kind = "lookup"
	Connection   Kind = "connection"
	Inventory    Kind = "inventory"
	Callback     Kind = "callback"
	DocFragments Kind = "doc_fragments"
)

// Word is what people call a plugin of the kind.
func (k Kind) Word() string {
	switch k {
	case Modules:
		return "module"
	case ModuleUtils:
		return "library of modules"
	case DocFragments:
		return "documentation fragment"
	case Action, Filter, Test, Lookup, Connection, Inventory, Callback:
	}
	return string(k)
}

// Collection is one that is installed.
type Collection struct {
	Name string // NAMESPACE.NAME
	Dir  string

	files   Files
	core    bool // it is the Python package `ansible`, whose modules are not below plugins/
	runtime *Runtime
}

// pluginDir is the directory of a kind.
func (c *Collection) pluginDir(kind Kind) string {
	if c.core && (kind == Modules || kind == ModuleUtils) {
		return filepath.Join(c.Dir, string(kind))
	}
	return filepath.Join(c.Dir, "plugins", string(kind))
}

// ignored are the endings of files that are next to plugins and are none.
var ignored = []string{".pyc", ".pyo", ".yml", ".yaml", ".json", ".ini", ".swp", ".bak", ".rpm", ".md", ".txt", ".orig", ".rej", ".toml"}

// Plugin finds the file of a plugin. One in a folder is named with dots.
func (c *Collection) Plugin(kind Kind, name string) (path string, ok bool) {
	if !pluginName.MatchString(name) {
		return "", false
	}
	parts := strings.Split(name, ".")
	base := parts[len(parts)-1]
	dir := filepath.Join(append([]string{c.pluginDir(kind)}, parts[:len(parts)-1]...)...)
	// Only modules may be programs of any kind; all other plugins are Python.
	patterns := []string{base + ".py"}
	if kind == Modules {
		patterns = []string{base, base + ".py", base + ".*"}
	}
	for _, pattern := range patterns {
		for _, found := range c.files.Glob(dir, pattern) {
			if !slices.Contains(ignored, filepath.Ext(found)) {
				return filepath.Join(dir, found), true
			}
		}
	}
	return "", false
}

var pluginName = pattern.New(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// Plugins are the files of a kind, in order. A file of filters may have many.
func (c *Collection) Plugins(kind Kind) []string {
	var paths []string
	dir := c.pluginDir(kind)
	for _, name := range c.files.Glob(dir, "*") {
		if name != "__init__.py" && !slices.Contains(ignored, filepath.Ext(name)) {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}

// Role finds the directory of a role. One in a folder is named with dots.
func (c *Collection) Role(name string) (dir string, ok bool) {
	if !pluginName.MatchString(name) {
		return "", false
	}
	dir = filepath.Join(c.Dir, "roles", filepath.FromSlash(strings.ReplaceAll(name, ".", "/")))
	return dir, c.files.Directory(dir)
}

// Playbook finds the file of a playbook.
func (c *Collection) Playbook(name string) (path string, ok bool) {
	name, _ = strings.CutSuffix(name, ".yml") // the ending may be written
	name, _ = strings.CutSuffix(name, ".yaml")
	if !pluginName.MatchString(name) {
		return "", false
	}
	for _, ending := range []string{".yml", ".yaml"} {
		path := filepath.Join(c.Dir, "playbooks", filepath.FromSlash(strings.ReplaceAll(name, ".", "/"))+ending)
		if c.files.Regular(path) {
			return path, true
		}
	}
	return "", false
}
