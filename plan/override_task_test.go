package plan_test

import (
	"os"
	"path/filepath"
	"testing"

	"moon/plan"
	"moon/plan/planner"
)

// A value for a task of a play reaches the task on all of its hosts, and all rounds of its loop.
func TestOverrideOfTask(t *testing.T) {
	text := "- hosts: web1,web2\n  gather_facts: false\n  connection: local\n  vars: {x: 1}\n  tasks:\n    - name: migrate\n      shell: echo {{ x }}\n    - name: migrate@web3\n      shell: echo {{ x }}\n    - name: each\n      shell: echo {{ x }} {{ item }}\n      loop: [a, b]\n"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "playbook.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, ds := planner.New(plan.Options{
		Path: "playbook.yml", Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{}},
		Hosts: plan.HostSelection{Inventory: []string{"web1,web2,"}},
	})
	if p == nil {
		t.Fatal(ds)
	}
	changed := func(at string) (n int) {
		next, ds := planner.New(p.WithOverrides([]plan.Override{{Name: "x", Value: "2", At: at}}))
		if next == nil {
			t.Fatal(ds)
		}
		for i := range next.Steps {
			if next.Steps[i].Digest != p.Steps[i].Digest {
				n++
			}
		}
		return n
	}
	for at, want := range map[string]int{
		"playbook.yml/web1,web2/migrate": 2, "playbook.yml/web1,web2/migrate@web1": 1, "playbook.yml/web1,web2/migrate@web3": 2,
		"playbook.yml/web1,web2/each": 4, "playbook.yml/web1,web2/each@web2": 2, "playbook.yml/web1,web2": 8,
	} {
		if got := changed(at); got != want {
			t.Errorf("%s changes %d steps, want %d", at, got, want)
		}
	}
}
