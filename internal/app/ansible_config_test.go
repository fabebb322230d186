package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"moon/internal/app"
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
	if set, err := app.AnsibleConfig(dir); err != nil || set.File != "" {
		t.Error(set, err)
	}
	write("[defaults]\ninventory = hosts,\n   more\nroles_path = roles : ~/roles:$PLACE/roles\n[galaxy]\nroles_path = no\n")
	set, err := app.AnsibleConfig(dir)
	if err != nil || set.File != file {
		t.Fatal(set, err)
	}
	if want := []string{filepath.Join(dir, "hosts"), filepath.Join(dir, "more")}; !slices.Equal(set.Inventory, want) {
		t.Errorf("inventory %q, want %q", set.Inventory, want)
	}
	if want := []string{filepath.Join(dir, "roles"), filepath.Join(home, "roles"), "/srv/roles"}; !slices.Equal(set.RolesPath, want) {
		t.Errorf("roles_path %q, want %q", set.RolesPath, want)
	}
	if err := os.Chmod(dir, 0o777); err != nil { // that is the test
		t.Fatal(err)
	}
	if set, err := app.AnsibleConfig(dir); err != nil || set.File != "" {
		t.Error("what anybody could have written is read", set, err)
	}
}

// TestAnsibleConfigMistakes wants the file and the line of each mistake.
func TestAnsibleConfigMistakes(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil { // a directory
		t.Fatal(err)
	}
	t.Setenv("ANSIBLE_CONFIG", "")
	file := filepath.Join(dir, "ansible.cfg")
	for text, want := range map[string]string{
		"[defaults\ninventory=x\n":                            ":1: a setting is name = value",
		"[defaults]\n\ninventory\n":                           ":3: a setting is name = value",
		"# x\ninventory = x\n[defaults]\n":                    ":2: a setting before the first section, such as [defaults]",
		"[defaults]\n= x\n":                                   ":2: a setting is name = value",
		"[defaults]\nroles_path = a\nForks=1\nroles_path=b\n": ":4: setting roles_path is there twice in [defaults], first in line 2",
		"[defaults]\n[galaxy]\nx=1\n[defaults]\n":             ":4: section [defaults] is there twice, first in line 1",
		"[defaults]\nforks = 3\ninventory = hosts, none\n":    ":3: inventory: there is no file or directory " + filepath.Join(dir, "hosts"),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := app.AnsibleConfig(dir)
		if err == nil {
			_, err = set.InventoryPaths()
		}
		if err == nil || err.Error() != file+want {
			t.Errorf("%.40q: %v, want %s", text, err, file+want)
		}
	}
}
