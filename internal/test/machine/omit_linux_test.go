package machine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"moon/exec/spec"
	"moon/internal/assault"
)

// leastTasks are the shortest tasks of all actions, by name, with their arguments as a map.
func leastTasks(t *testing.T) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for _, a := range spec.All() {
		var task map[string]any
		if err := yaml.Unmarshal([]byte(a.Least), &task); err != nil {
			t.Fatal(err)
		}
		args, isMap := task[a.Name].(map[string]any)
		if !isMap {
			args = map[string]any{}
			if _, isList := task[a.Name].([]any); isList {
				args[a.FreeList] = task[a.Name]
			} else if task[a.Name] != nil {
				args[a.Free] = task[a.Name]
			}
		}
		if a.Name != "meta" && a.Name != "pause" { // one is none of a host's, and the other would wait
			all[a.Name] = args
		}
	}
	return all
}

// TestOmit leaves every argument that an action can do without out by `default(omit)`: that is the same as not writing it.
func TestOmit(t *testing.T) {
	assault.Long(t)
	t.Parallel()
	least := leastTasks(t)
	with := map[string]map[string]any{}
	for name, args := range least {
		a, _ := spec.Lookup(name)
		with[name] = maps.Clone(args)
		for _, f := range a.Fields() {
			given := slices.ContainsFunc(append([]string{f.Name}, f.Aliases...), func(alias string) bool { _, ok := args[alias]; return ok })
			if !given && !f.Required && f.Kind != spec.Object && f.Kind != spec.Conditions {
				with[name][f.Name] = "{{ never_set | default(omit) }}"
			}
		}
	}
	s := newScratch(t, false)
	want, got := s.endsOf(t, least), s.endsOf(t, with)
	for i, name := range slices.Sorted(maps.Keys(least)) {
		if got[i] != want[i] {
			t.Errorf("%s comes to\n%s\nand with all else left out to\n%s", name, want[i], got[i])
		}
	}
}

// endsOf is what comes of tasks in a dry run, in the order of the actions' names.
func (s *scratch) endsOf(t *testing.T, args map[string]map[string]any) (ends []string) {
	t.Helper()
	tasks := []any{}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		tasks = append(tasks, map[string]any{"name": name, name: args[name], "ignore_errors": true, "ignore_unreachable": true})
	}
	text, err := json.MarshalIndent([]any{map[string]any{"hosts": "localhost", "connection": "local", "gather_facts": false, "tasks": tasks}}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "site.yml", text, 0o644)
	said, code := s.do(t, "MOON_ANSIBLE_EXIT=1 moon run -C -i localhost, -o json site.yml")
	if code != 0 {
		t.Fatalf("exit status %d\n%s", code, said)
	}
	for line := range strings.Lines(said) {
		var e struct {
			Type, Name, Error, Reason, Detail string
			Changed                           bool
			Diff                              any
		}
		if json.Unmarshal([]byte(line), &e) == nil && slices.Contains([]string{"step.completed", "step.failed", "step.skipped"}, e.Type) {
			ends = append(ends, fmt.Sprintf("%+v", e))
		}
	}
	if len(ends) != len(tasks) {
		t.Fatalf("%d ends of %d tasks\n%s", len(ends), len(tasks), said)
	}
	return ends
}

// TestUnknownArguments: an argument that an action does not know is refused where it is written, or warned of.
func TestUnknownArguments(t *testing.T) {
	t.Parallel()
	s := newScratch(t, false)
	var b strings.Builder
	b.WriteString("- hosts: localhost\n  tasks:\n")
	line, want := 2, []string{}
	for _, name := range slices.Sorted(maps.Keys(leastTasks(t))) {
		if a, _ := spec.Lookup(name); a.Open {
			continue
		}
		args := leastTasks(t)[name]
		args["strnage"] = 1
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "    - %s: %s\n", name, text)
		line++
		says := "error: unknown argument `strnage` of `" + name + "`"
		if a, _ := spec.Lookup(name); a.Lax { // in plays it is warned of
			says = "warning: `strnage` does nothing: `" + name + "` has no such argument, and Ansible ignores it"
		}
		want = append(want, fmt.Sprintf("site.yml:%d:%d: %s", line, 9+len(name)+strings.Index(string(text), `"strnage"`), says))
	}
	s.write(t, "site.yml", []byte(b.String()), 0o644)
	said, code := s.do(t, "moon plan -i localhost, site.yml")
	if code == 0 {
		t.Error("nothing is wrong with unknown arguments")
	}
	for _, w := range want {
		if !strings.Contains(said, w+"\n") {
			t.Errorf("there is no\n%s", w)
		}
	}
	if t.Failed() {
		t.Logf("moon said\n%.3000s", said)
	}
}
