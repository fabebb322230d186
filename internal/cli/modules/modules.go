package modules

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"moon/internal/diag"
	"moon/plan/collection"
	"moon/plan/playbook"
)

// Collections are those of some directories, as plugins ask for them.
type Collections struct{ finder *collection.Finder }

// In finds collections in directories. core is where ansible-core is.
func In(dirs []string, core string) Collections {
	return Collections{collection.New(filesHere{}, dirs, core)}
}

// Dir implements plugin.Collections.
func (c Collections) Dir(name string) (string, bool) {
	found, ok := c.finder.Collection(name)
	if !ok {
		return "", false
	}
	return found.Dir, true
}

// Module implements plugin.Collections.
func (c Collections) Module(full string) (name, path string, known bool, err error) {
	found, err := c.finder.Resolve(collection.Modules, full)
	if _, missing := err.(*collection.Missing); missing { //nolint:errorlint // nothing wraps it
		return full, "", false, nil
	}
	if err != nil {
		return full, "", true, err
	}
	return found.Name, found.Path, true, nil
}

// Callee implements plugin.Collections.
func (c Collections) Callee(kind, full string) (name string, paths []string, known bool, err error) {
	found, err := c.finder.Resolve(collection.Kind(kind), full)
	missing, isMissing := errors.AsType[*collection.Missing](err)
	switch {
	case err == nil && single(kind):
		return found.Name, []string{found.Path}, true, nil
	case err == nil: // the file that is called like it need not be the one that has it
		return found.Name, found.Collection.Plugins(collection.Kind(kind)), true, nil
	case isMissing && missing.In != nil && !single(kind):
		return missing.Name, missing.In.Plugins(collection.Kind(kind)), true, nil
	case isMissing && (missing.In != nil || missing.Collection == collection.Builtin):
		return full, nil, false, nil
	}
	return full, nil, false, err
}

// single reports whether a file has one plugin of a kind, which is called like it.
func single(kind string) bool {
	return slices.Contains([]collection.Kind{collection.Lookup, collection.Inventory, collection.Action}, collection.Kind(kind))
}

// Acting implements plugin.Collections.
func (c Collections) Acting(module string) string {
	if found, err := c.finder.Resolve(collection.Modules, module); err == nil && found.Action != "" {
		return found.Action
	}
	return module
}

// filesHere are the files of this machine.
type filesHere struct{}

// Directory implements collection.Files.
func (filesHere) Directory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Regular implements collection.Files.
func (filesHere) Regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Glob implements collection.Files.
func (filesHere) Glob(dir, pattern string) []string {
	entries, _ := os.ReadDir(dir) // what is not there matches nothing
	var names []string
	for _, e := range entries {
		if ok, err := filepath.Match(pattern, e.Name()); ok && err == nil && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// Values implements collection.Files. What is wrong with a file is said by planning, which reads it too.
func (filesHere) Values(path string) playbook.Value {
	text, err := os.ReadFile(path)
	if err != nil {
		return playbook.Value{}
	}
	var wrong diag.List
	v, _ := playbook.ParseVars(&playbook.File{Name: path, Path: path, Text: text}, &wrong)
	return v
}
