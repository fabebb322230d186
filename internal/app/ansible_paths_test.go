package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"moon/internal/app"
)

// TestCorePackage finds ansible-core by the program of its environment, by a variable, or not at all, and runs nothing for it.
func TestCorePackage(t *testing.T) {
	root := t.TempDir()
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	venv := filepath.Join(real, "venv")
	core := filepath.Join(venv, "lib/python3.11/site-packages/ansible")
	for _, dir := range []string{filepath.Join(core, "modules"), filepath.Join(venv, "bin"), filepath.Join(real, "bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(venv, "bin/ansible-playbook")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+filepath.Join(root, "ran")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(real, "bin/ansible-playbook")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ named, path, want string }{
		{"", filepath.Join(venv, "bin"), core},
		{"", filepath.Join(real, "bin"), core}, // which links to the program
		{core, "/nowhere", core},
		{"none", filepath.Join(venv, "bin"), ""},
	} {
		t.Setenv(app.CoreVariable, c.named)
		t.Setenv("PATH", c.path)
		if got, err := app.CorePackage("/nowhere"); err != nil || got != c.want {
			t.Errorf("%q, $PATH %s: %q, %v", c.named, c.path, got, err)
		}
	}
	for _, wrong := range []string{filepath.Join(real, "bin"), "venv/lib"} {
		t.Setenv(app.CoreVariable, wrong)
		if got, err := app.CorePackage("/nowhere"); err == nil {
			t.Errorf("%s is taken: %q", wrong, got)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "ran")); err == nil {
		t.Error("the program was run")
	}
}
