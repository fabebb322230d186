package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestAnsibleConfig(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("ANSIBLE_CONFIG", "")
	t.Setenv("PLACE", "/srv")
	file := filepath.Join(dir, "ansible.cfg")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if set, err := ansibleConfig(dir); err != nil || set.File != "" {
		t.Error(set, err)
	}
	write("[defaults]\ninventory = hosts,\n   more\nroles_path = roles : ~/roles:$PLACE/roles\n[galaxy]\nroles_path = no\n")
	set, err := ansibleConfig(dir)
	if err != nil || set.File != file {
		t.Fatal(set, err)
	}
	if want := []string{filepath.Join(dir, "hosts"), filepath.Join(dir, "more")}; !slices.Equal(set.Inventory, want) {
		t.Errorf("inventory %q, want %q", set.Inventory, want)
	}
	if want := []string{filepath.Join(dir, "roles"), filepath.Join(home, "roles"), "/srv/roles"}; !slices.Equal(set.RolesPath, want) {
		t.Errorf("roles_path %q, want %q", set.RolesPath, want)
	}
	if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // that is the test
		t.Fatal(err)
	}
	if set, err := ansibleConfig(dir); err != nil || set.File != "" {
		t.Error("what anybody could have written is read", set, err)
	}
}
