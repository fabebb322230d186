package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"moon/plan"
	"moon/plan/planner"
	"moon/plan/show"
)

// TestPlan plans the playbook of each testdata/*.txtar and compares the tree, or the diagnostics, with the fixture. A
// first line `# options: -e a=1 --tags x` of the comment gives options.
func TestPlan(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if dir, err = filepath.EvalSymlinks(dir); err != nil {
				t.Fatal(err)
			}
			expected := map[string]int{}
			for i, f := range ar.Files {
				if f.Name == "tree" || f.Name == "diagnostics" {
					expected[f.Name] = i
					continue
				}
				path := filepath.Join(dir, f.Name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if target, ok := strings.CutPrefix(string(f.Data), "-> "); ok {
					if err := os.Symlink(strings.TrimSpace(target), path); err != nil {
						t.Fatal(err)
					}
					continue
				}
				if err := os.WriteFile(path, f.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			o := plan.Options{
				Path: filepath.Join(dir, "playbook.yml"), Dir: dir, Home: "/home/ada", User: "ada",
				Facts: plan.KnownFacts{Here: map[string]any{
					"os": "linux", "linux": true, "cpu_cores": 4, "env": map[string]any{"LANG": "C"},
				}},
			}
			options(&o, string(ar.Comment))
			p, ds := planner.New(o)
			got := map[string]string{}
			var b strings.Builder
			if len(ds) > 0 {
				if err := ds.Print(&b); err != nil {
					t.Fatal(err)
				}
				got["diagnostics"] = b.String()
			}
			if p != nil {
				b.Reset()
				if err := show.WriteTree(&b, p, 0); err != nil {
					t.Fatal(err)
				}
				head, tree, _ := strings.Cut(b.String(), "\n\n")
				got["tree"] = strings.Split(head, ", plan")[0] + "\n" + tree
			}
			for name := range got {
				got[name] = strings.ReplaceAll(got[name], dir, "$WORK")
			}
			if os.Getenv("UPDATE") != "" {
				rewrite(t, file, ar, got)
				return
			}
			for _, name := range []string{"tree", "diagnostics"} {
				want := ""
				if i, ok := expected[name]; ok {
					want = string(ar.Files[i].Data)
				}
				if got[name] != want {
					t.Errorf("%s: got\n%s\nwant\n%s", name, got[name], want)
				}
			}
		})
	}
}

func options(o *plan.Options, comment string) {
	for line := range strings.Lines(comment) {
		words, ok := strings.CutPrefix(strings.TrimSpace(line), "# options: ")
		if !ok {
			continue
		}
		args := strings.Fields(words)
		for i := 0; i+1 < len(args); i += 2 {
			switch args[i] {
			case "-e":
				o.Values.Extra = append(o.Values.Extra, args[i+1])
			case "--vars-file":
				o.Values.Files = append(o.Values.Files, args[i+1])
			case "--tags":
				o.Select.Tags = append(o.Select.Tags, args[i+1])
			case "--skip-tags":
				o.Select.SkipTags = append(o.Select.SkipTags, args[i+1])
			case "--max-steps":
				o.MaxSteps = len(args[i+1]) // as many as there are letters
			}
		}
	}
}

func rewrite(t *testing.T, file string, ar *txtar.Archive, got map[string]string) {
	t.Helper()
	kept := ar.Files[:0]
	for _, f := range ar.Files {
		if f.Name != "tree" && f.Name != "diagnostics" {
			kept = append(kept, f)
		}
	}
	ar.Files = kept
	for _, name := range []string{"tree", "diagnostics"} {
		if text, ok := got[name]; ok {
			ar.Files = append(ar.Files, txtar.File{Name: name, Data: []byte(text)})
		}
	}
	if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
		t.Fatal(err)
	}
}
