package cli

import (
	"os"
	"path/filepath"

	"moon/internal/diag"
	"moon/plan/collection"
	"moon/plan/playbook"
)

// collections finds modules in Ansible's collections, for the side that runs them. What planning reads of them it reads by itself.
type collections struct{ finder *collection.Finder }

func newCollections(dirs []string, core string) collections {
	return collections{collection.New(filesHere{}, dirs, core)}
}

// Dir implements plugin.Collections.
func (c collections) Dir(name string) (string, bool) {
	found, ok := c.finder.Collection(name)
	if !ok {
		return "", false
	}
	return found.Dir, true
}

// Module implements plugin.Collections.
func (c collections) Module(full string) (name, path string, known bool, err error) {
	found, err := c.finder.Resolve(collection.Modules, full)
	if _, missing := err.(*collection.Missing); missing { //nolint:errorlint // nothing wraps it
		return full, "", false, nil
	}
	if err != nil {
		return full, "", true, err
	}
	return found.Name, found.Path, true, nil
}

// Acts implements plugin.Collections.
func (c collections) Acts(full string) bool {
	_, err := c.finder.Resolve(collection.Action, full)
	return err == nil
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
