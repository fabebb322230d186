package planner

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"moon/plan"
)

// What the run evaluates shows in no field of the plan; the values that decide it count all the same.
func TestDigestCoversWhatDecides(t *testing.T) {
	const producer = "- shell: echo 7\n  register: r\n"
	const play = "- hosts: localhost\n  gather_facts: false\n  vars: {over: \"{{ r.rc }} {{ rate }}\"}\n  tasks:\n"
	for _, test := range []struct {
		name, steps string
		same        bool
	}{
		{"known condition", "- shell: x\n  when: rate == 2\n", false},
		{"known condition that comes to the same", "- shell: x\n  when: rate < 9\n", true},
		{"condition of the run", "- shell: x\n  when: r.rc == 0 and rate == 2\n", false},
		{"policy", "- shell: x\n  failed_when: rate == 2\n", false},
		{"policy on the result", "- shell: x\n  register: own\n  changed_when: own.rc == rate\n", false},
		{"until", "- shell: x\n  register: own\n  until: own.rc == rate\n  retries: 3\n", false},
		{"part of an expression", "- shell: x {{ r.stdout if rate == 2 else r.rc }}\n", false},
		{"entry of a map", "- shell: x {{ (r.rc, cfg.a) | join }}\n", false},
		{"another entry of a map", "- shell: x {{ (r.rc, cfg.b) | join }}\n", true},
		{"branch of a file", "- template: {src: t.j2, dest: /tmp/moon-no-such}\n", false},
		{"name that is not used", "- shell: x {{ r.stdout }}\n  when: r.rc == 0\n", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("t.j2", "{% if r.rc == 0 and rate == 2 %}yes{% endif %}")
			write("moon.yml", producer+test.steps)
			digest := func(rate int) string {
				p, ds := New(plan.Options{
					Path: filepath.Join(dir, "moon.yml"), Dir: dir, Home: dir,
					Values: plan.Values{Extra: []string{fmt.Sprintf(`{"rate": %d, "cfg": {"a": %[1]d, "b": 0}}`, rate)}},
				})
				if ds.HasErrors() {
					t.Fatal(ds)
				}
				return p.Steps[len(p.Steps)-1].Digest
			}
			if same := digest(1) == digest(2); same != test.same {
				t.Errorf("the same digest for other values: %t, want %t", same, test.same)
			}
		})
	}
	t.Run("text of a variable that the run gives", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "moon.yml")
		digest := func(text string) string {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p, ds := New(plan.Options{Path: path, Dir: dir, Home: dir, Values: plan.Values{Extra: []string{`{"rate": 1}`}}})
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			return p.Steps[len(p.Steps)-1].Digest
		}
		steps := func(text string) string { return producer + "- shell: x {{ a }}\n  vars: {a: \"" + text + "\"}\n" }
		plays := func(text string) string {
			return play + "  - shell: x\n    register: r\n  - shell: x {{ over }} {{ b }}\n    vars: {b: \"" + text + "\"}\n"
		}
		for _, form := range []func(string) string{steps, plays} {
			if digest(form("{{ r.rc }} a")) == digest(form("{{ r.rc }} b")) {
				t.Error("another text of a variable does not count")
			}
		}
	})
}
