package action_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"moon/events"
	"moon/exec/exectest"
)

// TestLocalFacts has the three kinds of files, and one that is none.
func TestLocalFacts(t *testing.T) {
	dir := t.TempDir()
	exectest.WriteFile(t, filepath.Join(dir, "a.fact"), `{"port": 80, "share": 0.5, "on": true}`, 0o644)
	exectest.WriteFile(t, filepath.Join(dir, "b.fact"), "# ours\n[Web]\nPort = 80\nname: x=y\n", 0o644)
	exectest.WriteFile(t, filepath.Join(dir, "c.fact"), "#!/bin/sh\necho '[1, \"'$((1 + 1))'\"]'\n", 0o755)
	exectest.WriteFile(t, filepath.Join(dir, "d.fact"), "nothing of the kind\n", 0o644)
	exectest.WriteFile(t, filepath.Join(dir, "e.fact"), "#!/bin/sh\nexit 3\n", 0o755)
	exectest.WriteFile(t, filepath.Join(dir, "f.txt"), "{}", 0o644)
	r := exectest.RunJob(t, exectest.NewJob(t, "setup", exectest.Args{"gather_subset": "local,!all,!min", "fact_path": dir}))
	exectest.WantOutcome(t, r, events.OK, "")
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
	r := exectest.RunJob(t, exectest.NewJob(t, "setup", exectest.Args{"gather_subset": []any{"!all"}, "filter": []any{"ansible_user_*", "system", "nothing*"}}))
	exectest.WantOutcome(t, r, events.OK, "")
	facts := r.Fields["ansible_facts"].(map[string]any)
	for _, name := range []string{"ansible_user_uid", "ansible_system"} {
		if _, ok := facts[name]; !ok {
			t.Errorf("no %s in %v", name, facts)
		}
	}
	for _, name := range []string{"ansible_distribution", "ansible_python", "ansible_real_user_id", "gather_subset", "module_setup"} {
		if _, ok := facts[name]; ok {
			t.Errorf("%s was filtered out", name)
		}
	}
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "ping", exectest.Args{"data": "crash"})), events.Failed, "boom")
}
