package exec_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"moon/events"
	"moon/exec"
	"moon/exec/spec"
)

// TestGatherFacts reads machines from testdata/facts: their files, and in want.json the facts that follow. A fact that
// must be missing is null there.
func TestGatherFacts(t *testing.T) {
	machines, err := filepath.Glob("testdata/facts/*.txtar")
	if err != nil || len(machines) == 0 {
		t.Fatal("no machines", err)
	}
	for _, path := range machines {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			root := t.TempDir()
			var want map[string]any
			for _, f := range archive.Files {
				if f.Name == "want.json" {
					if err := json.Unmarshal(f.Data, &want); err != nil {
						t.Fatal(err)
					}
					continue
				}
				write(t, filepath.Join(root, f.Name), strings.ReplaceAll(string(f.Data), "^@", "\x00"), 0o644)
			}
			got := exec.Gather(t.Context(), root, "/etc/ansible/facts.d", nil, 0)
			plain(t, "facts", got)
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			var is map[string]any
			if err := json.Unmarshal(text, &is); err != nil {
				t.Fatal(err)
			}
			for _, name := range slices.Sorted(maps.Keys(want)) {
				if !reflect.DeepEqual(is[name], want[name]) {
					t.Errorf("%s is %v, want %v", name, is[name], want[name])
				}
			}
		})
	}
}

func TestFactSubsets(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "proc/meminfo"), "MemTotal: 2048 kB\n", 0o644)
	write(t, filepath.Join(root, "proc/loadavg"), "1.5 2 3 1/2 3\n", 0o644)
	for subset, want := range map[string]string{
		"":                     "user_uid memtotal_mb loadavg interfaces virtualization_type",
		"all":                  "user_uid memtotal_mb loadavg interfaces virtualization_type",
		"!all":                 "user_uid",
		"!all,!min":            "",
		"!all,!min,memory":     "memtotal_mb",
		"hardware":             "user_uid memtotal_mb loadavg",
		"!hardware":            "user_uid",
		"all,!hardware":        "user_uid interfaces virtualization_type",
		"all,!hardware,memory": "user_uid memtotal_mb interfaces virtualization_type",
		"default_ipv4,!all":    "user_uid interfaces",
	} {
		words := strings.FieldsFunc(subset, func(r rune) bool { return r == ',' })
		facts := exec.Gather(t.Context(), root, "/none", words, 0)
		var has []string
		for name := range strings.FieldsSeq("user_uid memtotal_mb loadavg interfaces virtualization_type") {
			if _, ok := facts[name]; ok {
				has = append(has, name)
			}
		}
		if got := strings.Join(has, " "); got != want {
			t.Errorf("%q gathers %s, want %s", subset, got, want)
		}
	}
	if problems := spec.FactSubset(append(exec.FactGatherers(), "all", "!min", "network")); len(problems) > 0 {
		t.Error(problems)
	}
	if problems := spec.FactSubset([]string{"!netwrk"}); len(problems) != 1 || !strings.Contains(problems[0].String(), "network") {
		t.Error(problems)
	}
}

// TestLocalFacts has the three kinds of files, and one that is none.
func TestLocalFacts(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.fact"), `{"port": 80, "share": 0.5, "on": true}`, 0o644)
	write(t, filepath.Join(dir, "b.fact"), "# ours\n[Web]\nPort = 80\nname: x=y\n", 0o644)
	write(t, filepath.Join(dir, "c.fact"), "#!/bin/sh\necho '[1, \"'$((1 + 1))'\"]'\n", 0o755)
	write(t, filepath.Join(dir, "d.fact"), "nothing of the kind\n", 0o644)
	write(t, filepath.Join(dir, "e.fact"), "#!/bin/sh\nexit 3\n", 0o755)
	write(t, filepath.Join(dir, "f.txt"), "{}", 0o644)
	r := run(t, newJob(t, "setup", args{"gather_subset": "local,!all,!min", "fact_path": dir}))
	want(t, r, events.OK, "")
	local := r.Fields["ansible_facts"].(map[string]any)["ansible_local"].(map[string]any)
	for name, want := range map[string]any{
		"a": map[string]any{"port": 80, "share": 0.5, "on": true}, "b": map[string]any{"Web": map[string]any{"port": "80", "name": "x=y"}}, "c": []any{1, "2"},
	} {
		if !reflect.DeepEqual(local[name], want) {
			t.Errorf("%s is %v, want %v", name, local[name], want)
		}
	}
	for name, want := range map[string]string{"d": "error loading facts as JSON or ini", "e": "exit status 3"} {
		if !strings.Contains(fmt.Sprint(local[name]), want) {
			t.Errorf("%s is %v, want %s", name, local[name], want)
		}
	}
	if len(local) != 5 {
		t.Errorf("%v", local)
	}
}

func TestSetupFilters(t *testing.T) {
	r := run(t, newJob(t, "setup", args{"gather_subset": []any{"!all"}, "filter": []any{"ansible_user_*", "system", "nothing*"}}))
	want(t, r, events.OK, "")
	facts := r.Fields["ansible_facts"].(map[string]any)
	for _, name := range []string{"ansible_user_uid", "ansible_system", "gather_subset", "module_setup"} {
		if _, ok := facts[name]; !ok {
			t.Errorf("no %s in %v", name, facts)
		}
	}
	for _, name := range []string{"ansible_distribution", "ansible_python", "ansible_real_user_id"} {
		if _, ok := facts[name]; ok {
			t.Errorf("%s was filtered out", name)
		}
	}
	want(t, run(t, newJob(t, "ping", args{"data": "crash"})), events.Failed, "boom")
}
