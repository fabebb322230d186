package facts_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"moon/exec/facts"
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
				writeFile(t, filepath.Join(root, f.Name), strings.ReplaceAll(string(f.Data), "^@", "\x00"), 0o644)
			}
			got := facts.GatherBelow(t.Context(), root, "/etc/ansible/facts.d", nil, 0)
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
	writeFile(t, filepath.Join(root, "proc/meminfo"), "MemTotal: 2048 kB\n", 0o644)
	writeFile(t, filepath.Join(root, "proc/loadavg"), "1.5 2 3 1/2 3\n", 0o644)
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
		facts := facts.GatherBelow(t.Context(), root, "/none", words, 0)
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
	if problems := spec.FactSubset(append(facts.FactGatherers(), "all", "!min", "network")); len(problems) > 0 {
		t.Error(problems)
	}
	if problems := spec.FactSubset([]string{"!netwrk"}); len(problems) != 1 || !strings.Contains(problems[0].String(), "network") {
		t.Error(problems)
	}
}
