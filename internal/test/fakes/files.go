package fakes

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// MoonIn calls moon in a directory, with a state of its own.
func MoonIn(t *testing.T, dir string) func(args ...string) (string, bool) {
	t.Helper()
	moon, err := exec.LookPath("moon")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	return func(args ...string) (string, bool) {
		cmd := exec.Command(moon, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+home, "XDG_CONFIG_HOME="+home, "HOME="+home)
		out, err := cmd.CombinedOutput()
		return string(out), err == nil
	}
}

// ListTree lists a tree: paths, modes, and what is in the files, without the directory's own name.
func ListTree(t *testing.T, root string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), ".moon-") { // what was being made, under the name it has until it is whole
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := strings.TrimPrefix(path, root) + " " + info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += " " + strings.ReplaceAll(string(text), filepath.Dir(root), "")
		}
		list = append(list, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
