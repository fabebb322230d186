package plan_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/planner"
	"moon/plan/playbook"
)

// keyValues has a value for every key of a step. What it is given must show in the plan, or be refused.
var keyValues = map[string]string{
	"name": "its name", "id": "mine", "when": "no", "register": "r", "tags": "left-out",
	"with_items": "[1, 2]", "with_filetree": "tree", "loop_control": "{label: x}",
	"needs": "first", "creates": "/nowhere", "removes": "/nowhere", "unless": "test -e /nowhere", "onlyif": "test -e /nowhere",
	"changed_when": "1 == 2", "failed_when": "1 == 2", "ignore_errors": "true",
	"retries": "5", "retry_delay": "7s", "until": "1 == 1", "timeout": "9s",
	"env": "{A: b}", "cwd": "tree", "become": "true", "become_user": "bob", "become_method": "su",
	"confirm": "sure?", "no_log": "true", "interactive": "true", "check_mode": "false", "diff": "true",
	"vars": "{v: given}", "args": "{validate: true %s}", "rescue": "[print: x]", "always": "[print: x]", "parallel": "2",
	"notify": "h", "listen": "h", "sources": "[a]", "generates": "[a]", "timeout_queued": "1s", "undo": "{shell: x}",
	"delegate_to": "h", "hosts": "localhost", "approve": "expanded", "moved": "old", "create_before": "true", "run_once": "true", "any_errors_fatal": "true", "async": "1", "poll": "1",
}

// carriers are all things that a key may be written on: every action, and what makes no step of its own.
func carriers(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{
		"include": "include: inc.yml", "block": "block: [print: \"{{ v | default('none') }}\"]", "preset": "preset: pre",
		"a vars step": "vars: {a: 1}", "include_vars": "include_vars: more.yml",
	}
	for _, a := range spec.All() {
		all[a.Name] = a.Least
	}
	for _, name := range []string{"add_host", "group_by"} { // of plays; a step with them is refused
		delete(all, name)
	}
	return all
}

// harmless are pairs without an effect that are let pass, each with its reason.
var harmless = map[string]string{
	"name on a vars step":  "says to the reader what the variables are for",
	"name on include_vars": "the same",
}

// TestKeysOnActions writes every key on every action: each has an effect that the plan shows, or is refused where it is
// written. Nothing is silently ignored.
func TestKeysOnActions(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"inc.yml": "- print: \"{{ v | default('none') }}\"", "pre.yml": "steps: [print: \"{{ v | default('none') }}\"]",
		"more.yml": "b: 2", "t.j2": "x", "tree/one": "", "tree/two": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for carrier, action := range carriers(t) {
		for _, k := range playbook.Keys {
			value, ok := keyValues[k.Name]
			if !ok {
				t.Fatalf("no value for the key %s", k.Name)
			}
			for _, key := range append([]string{k.Name}, k.Aliases...) {
				if strings.HasPrefix(action, key+":") {
					continue
				}
				effect(t, dir, carrier, action, key, value)
			}
		}
	}
}

func effect(t *testing.T, dir, carrier, action, key, value string) {
	t.Helper()
	without := []string{action}
	_, isAction := spec.Lookup(carrier)
	if isAction && key != "name" {
		without = append(without, "name: \"{{ v | default('none') }}\"")
	}
	switch {
	case isAction && key == "parallel":
		without = append(without, "hosts: localhost")
	case key == "loop_control" && !strings.Contains(carrier, "vars"):
		without = append(without, "loop: [1, 2]")
	case isAction && (key == "delay" || key == "retry_delay"):
		without = append(without, "until: 1 == 1")
	}
	with := append(append([]string(nil), without...), key+": "+value)
	before, _ := planned(t, dir, without)
	if before == "" {
		t.Fatalf("%s: the step without %s is refused", carrier, key)
	}
	after, line := planned(t, dir, with)
	what := key + " on " + carrier
	switch {
	case after == "":
		if !strings.Contains(line, key) && !strings.Contains(line, value) {
			t.Errorf("%s: refused at %q, which is not where it is written", what, line)
		}
	case after == before && harmless[what] == "":
		t.Errorf("%s: neither an effect nor refused", what)
	case after != before && harmless[what] != "":
		t.Errorf("%s: has an effect after all", what)
	}
}

// planned is all that a plan says of a step with these lines, or "" and the line that is wrong.
func planned(t *testing.T, dir string, lines []string) (fingerprint, wrong string) {
	t.Helper()
	text := "- id: first\n  shell: first\n- " + strings.Join(lines, "\n  ") + "\n"
	p, ds := planner.New(plan.Options{
		Path: "-", Stdin: strings.NewReader(text), Dir: dir, Home: dir, User: "ada", Select: plan.Selection{SkipTags: []string{"left-out"}},
		Facts: plan.KnownFacts{Here: map[string]any{}},
	})
	if p == nil {
		return "", ds[0].Source
	}
	out, err := json.Marshal([]any{p.Steps, p.Scopes, p.Vars})
	if err != nil {
		t.Fatal(err)
	}
	return string(out), ""
}
