package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/plan"
	"moon/plan/planner"
)

// TestFilesChangeWhilePlanning changes every file of a playbook, and its tree, at each look that the planner takes at a
// fact, also between the two passes of a selection. The plan is that of the first content, throughout.
func TestFilesChangeWhilePlanning(t *testing.T) {
	for _, only := range [][]string{nil, {"*"}} {
		dir := t.TempDir()
		write := func(name, text string) {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("p.yml", "- print: \"{{ item.path }}\"\n  with_filetree: tree\n- include: a.yml\n- print: \"{{ look }}\"\n- include: a.yml\n")
		write("a.yml", "- print: first\n")
		write("tree/one", "")
		looks := 0
		look := func() any {
			looks++
			write("p.yml", "- print: another\n")
			write("a.yml", "- print: changed\n")
			write("tree/two", "")
			return "seen"
		}
		p, ds := planner.New(plan.Options{
			Path: filepath.Join(dir, "p.yml"), Dir: dir, Select: plan.Selection{Only: only},
			Facts: plan.KnownFacts{Here: map[string]any{}, Costly: map[string]func() any{"look": look}},
		})
		if p == nil {
			t.Fatal(ds)
		}
		var got []string
		for i := range p.Steps {
			got = append(got, p.Steps[i].Summary)
		}
		if s, want := strings.Join(got, " "), "/one first seen first"; s != want {
			t.Errorf("only %v: %s, want %s", only, s, want)
		}
		if looks == 0 {
			t.Error("nothing was changed: the fact was not looked at")
		}
	}
}
