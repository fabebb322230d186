package graph_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"moon/engine/graph"
	"moon/plan"
)

// TestBuild compares the execution graphs of the playbooks in testdata/*.txtar with the text beside each.
func TestBuild(t *testing.T) {
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
			want := -1
			for i, f := range ar.Files {
				if f.Name == "graph" {
					want = i
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p, ds := plan.New(plan.Options{Path: filepath.Join(dir, "playbook.yml"), Dir: dir, Facts: map[string]any{}})
			if p == nil {
				t.Fatalf("%+v", ds)
			}
			g, err := graph.Build(p)
			if err != nil {
				t.Fatal(err)
			}
			if os.Getenv("UPDATE") != "" {
				if want < 0 {
					ar.Files = append(ar.Files, txtar.File{Name: "graph"})
					want = len(ar.Files) - 1
				}
				ar.Files[want].Data = []byte(g.Text())
				if err := os.WriteFile(file, txtar.Format(ar), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want < 0 {
				t.Fatal("the fixture has no graph")
			}
			if got := g.Text(); got != string(ar.Files[want].Data) {
				t.Errorf("got\n%s\nwant\n%s", got, ar.Files[want].Data)
			}
		})
	}
}

// TestEdgesStayLinear checks that many users of many items cost their sum and not their product.
func TestEdgesStayLinear(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("- shell: echo {{ item }}\n  with_items: \"{{ range(0, 300) | list }}\"\n  register: all\n")
	for range 300 {
		b.WriteString("- print: \"{{ all.results | length }}\"\n")
	}
	if err := os.WriteFile(filepath.Join(dir, "p.yml"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p, ds := plan.New(plan.Options{Path: filepath.Join(dir, "p.yml"), Dir: dir, Facts: map[string]any{}})
	if p == nil {
		t.Fatalf("%+v", ds)
	}
	g, err := graph.Build(p)
	if err != nil {
		t.Fatal(err)
	}
	if g.Edges() > 3*len(g.Nodes) {
		t.Errorf("%d edges for %d nodes", g.Edges(), len(g.Nodes))
	}
}
