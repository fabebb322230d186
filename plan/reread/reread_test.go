package reread_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/internal/diag"
	"moon/plan/inventory"
	"moon/plan/playbook"
	"moon/plan/reread"
)

// What was read gives the same inventory, also when it has been through JSON and its files are gone.
func TestReading(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("inv/hosts", "[web]\nw1 size=2\n", 0o600)
	program := write("inv/more", "#!/bin/sh\n", 0o700)
	write("inv/group_vars/web.yml", "said: true\nansible_password: hunter2\n", 0o600)
	shown := func(path string) string { return filepath.Base(path) }
	s := reread.Sources{Named: []string{"a,b", filepath.Join(dir, "inv")}, Root: dir, Shown: shown}
	if !s.Again() {
		t.Fatal("a directory can be read again")
	}
	if lists := (reread.Sources{Named: []string{"a,"}}); lists.Again() {
		t.Fatal("a list of hosts says the same")
	}
	broken := errors.New("it is broken")
	run := func(path string, args ...string) ([]byte, error) {
		if path != program {
			t.Fatalf("%s is no program", path)
		}
		return []byte(`{"db": ["d1"], "_meta": {"hostvars": {"d1": {"size": 3}}}}`), broken
	}
	if _, err := reread.Read(s, run); err == nil || !strings.Contains(err.Error(), "it is broken") {
		t.Fatalf("a program that fails: %v", err)
	}
	broken = nil
	got, err := reread.Read(s, run)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Secrets) != 1 || got.Secrets[0] != "hunter2" {
		t.Fatalf("secrets: %q in %v", got.Secrets, got.Said)
	}
	text, err := json.Marshal(got.Said)
	if err != nil {
		t.Fatal(err)
	}
	var said map[string]any
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	if !reread.Is(said) || reread.Is(map[string]any{"files": said["files"]}) {
		t.Fatalf("not known again: %s", text)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	d := reread.Disk(said)
	var ds diag.List
	inv := inventory.Load(s.Named, s.Root, inventory.Files{
		List: d.List, Kind: d.Kind,
		Read: func(path string) (*playbook.File, error) {
			seen, err := d.Read(path)
			if err != nil {
				return nil, err
			}
			return &playbook.File{Name: shown(path), Path: path, Text: seen.Text}, nil
		},
		Run: func(path string, args ...string) ([]byte, error) { return reread.Printed(d, path, args...) },
	}, &ds)
	if len(ds) > 0 {
		t.Fatalf("%v", ds)
	}
	var names, vars []string
	for _, h := range inv.Hosts {
		names = append(names, h.Name)
		for _, l := range inv.Layers(h, dir) {
			for _, v := range l.Vars {
				vars = append(vars, h.Name+"."+v.Name+"="+v.Value.Text())
			}
		}
	}
	if got := strings.Join(names, " "); got != "a b w1 d1" {
		t.Fatalf("hosts: %s", got)
	}
	if got := strings.Join(vars, " "); got != "w1.said=true w1.ansible_password=hunter2 w1.size=2 d1.size=3" {
		t.Fatalf("variables: %s", got)
	}
}
