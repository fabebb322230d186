package show_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moon/plan/selector"

	"pgregory.net/rapid"

	"moon/plan"
	"moon/plan/planner"
	"moon/plan/show"
)

// TestDiffCountsEveryStep checks, for random plans, that every step is counted once, that a plan does not differ from
// itself, and that what is called moved is enough to bring the rest into the same order.
func TestDiffCountsEveryStep(t *testing.T) {
	steps := rapid.Map(rapid.SliceOfNDistinct(rapid.IntRange(0, 12), 0, 12, rapid.ID[int]), func(ids []int) []show.Compared {
		list := make([]show.Compared, len(ids))
		for i, id := range ids {
			path := fmt.Sprintf("p.yml/%d", id)
			list[i] = show.Compared{
				Path: path, ID: fmt.Sprintf("step-%04d", i+1), Digest: path,
				Fields: map[string]string{"action": "shell"},
			}
		}
		return list
	})
	rapid.Check(t, func(t *rapid.T) {
		old := &show.Comparable{RootFile: "p.yml", Steps: steps.Draw(t, "old")}
		now := &show.Comparable{RootFile: "p.yml", Steps: steps.Draw(t, "new")}
		changed := rapid.SliceOfDistinct(rapid.IntRange(0, 12), rapid.ID[int]).Draw(t, "changed")
		for i := range now.Steps {
			for _, id := range changed {
				if now.Steps[i].Path == fmt.Sprintf("p.yml/%d", id) {
					now.Steps[i].Digest += " changed"
				}
			}
		}
		d := show.Diff(old, now)
		both := map[string]bool{}
		for _, s := range append(slices.Clone(d.Changed), d.Moved...) {
			both[s.Path] = true
		}
		if got := len(d.Added) + len(both) + d.Unchanged; got != len(now.Steps) {
			t.Fatalf("%d of %d new steps are counted: %+v", got, len(now.Steps), d)
		}
		if got := len(old.Steps) - len(d.Removed) + len(d.Added); got != len(now.Steps) {
			t.Fatalf("%d old steps, %d removed, %d added, %d new", len(old.Steps), len(d.Removed), len(d.Added), len(now.Steps))
		}
		moved := map[string]bool{}
		for _, s := range slices.Concat(d.Moved, d.Added, d.Removed) {
			moved[s.Path] = true
		}
		order := func(list []show.Compared) (paths []string) {
			for _, s := range list {
				if !moved[s.Path] {
					paths = append(paths, s.Path)
				}
			}
			return paths
		}
		if a, b := order(old.Steps), order(now.Steps); !slices.Equal(a, b) {
			t.Fatalf("without what moved, %v is %v", a, b)
		}
		if d := show.Diff(now, now); len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.Moved) > 0 || d.Unchanged != len(now.Steps) {
			t.Fatalf("a plan differs from itself: %+v", d)
		}
	})
}

// FuzzReadComparable checks that any file is either read or refused with words, and that what was read compares.
func FuzzReadComparable(f *testing.F) {
	p := planOf(f, "- name: one\n  shell: echo\n  needs: []\n- print: two\n")
	var doc bytes.Buffer
	if err := show.WriteJSON(&doc, p, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(doc.Bytes())
	f.Add([]byte(`{"format":1,"root_file":"p","steps":[{"id":"step-0001","loop_context":{"item":[1,{"a":null}]},"policy":null}],"scopes":[{}]}`))
	f.Add([]byte(`{"format":1,"root_file":"p","steps":[{"args":{"cmd":1e999}}]}`))
	now, err := show.ComparableOf(p)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		old, err := show.ReadComparable(doc)
		if err != nil {
			if text := err.Error(); text == "" || strings.Contains(text, "json:") || strings.Contains(text, "plan.") {
				t.Errorf("%q is no message for a person", text)
			}
			return
		}
		var b strings.Builder
		if err := show.Diff(old, now).Write(&b, 80); err != nil {
			t.Error(err)
		}
		if _, err := show.Diff(old, now).JSON(); err != nil {
			t.Error(err)
		}
	})
}

// FuzzMatch checks that any selector either names steps, ascending, or is refused with words.
func FuzzMatch(f *testing.F) {
	p := planOf(f, "- name: one\n  shell: echo\n  id: x\n- block:\n    - print: \"[two] {{ 1 }} (three\"\n  name: b*\n")
	for _, s := range []string{
		"", "x", "one", "step-0002", "p.yml:1", "p.yml:99999999999999999999", "*", "??", "[*", "b*", "p.yml/*", ":1",
		"p.yml:-1", "\xff*",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := selector.Match(p, text)
		if !slices.IsSorted(found) || len(found) > 0 && (found[0] < 0 || found[len(found)-1] >= len(p.Steps)) {
			t.Errorf("%q gives %v", text, found)
		}
		if message, hint := selector.NoMatch(p, text); message == "" || hint == "" {
			t.Errorf("%q: %q, hint %q", text, message, hint)
		}
	})
}

func planOf(tb testing.TB, text string) *plan.Plan {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.yml"), []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	p, ds := planner.New(plan.Options{Path: "p.yml", Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{}}})
	if p == nil {
		tb.Fatalf("%+v", ds)
	}
	return p
}
