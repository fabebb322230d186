package graph_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"moon/engine/graph"
	"moon/engine/graph/graphtest"
	"moon/plan"
	"moon/plan/planner"
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
			_, g := graphtest.PlanSite(t, dir, "playbook.yml", "a,b,c")
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
	p, ds := planner.New(plan.Options{Path: filepath.Join(dir, "p.yml"), Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{}}})
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

// TestEdgesOfPlays checks that edges grow with tasks times hosts, and not faster, whatever couples the hosts.
func TestEdgesOfPlays(t *testing.T) {
	for _, keys := range []string{
		"", "  strategy: free\n", "  any_errors_fatal: true\n", "  max_fail_percentage: 10\n", "  force_handlers: true\n", "  serial: 3\n",
	} {
		dir := t.TempDir()
		var b strings.Builder
		b.WriteString("- hosts: all\n  gather_facts: false\n" + keys +
			"  handlers: [{name: handle, shell: x}]\n  tasks:\n    - meta: clear_host_errors\n")
		const deep = 6
		for depth := range deep {
			b.WriteString(strings.Repeat("  ", 2*depth+2) + "- block:\n")
		}
		indent := strings.Repeat("  ", 2*deep+2)
		for i := range 60 {
			fmt.Fprintf(&b, "%s- shell: echo %d\n", indent, i)
			if key := []string{"", "notify: handle", "run_once: true", "loop: [1, 2]"}[i%4]; key != "" {
				b.WriteString(indent + "  " + key + "\n")
			}
		}
		for depth := deep - 1; depth >= 0; depth-- {
			indent := strings.Repeat("  ", 2*depth+2)
			fmt.Fprintf(&b, "%s  rescue:\n%s    - shell: x\n%s  always:\n%s    - shell: x\n", indent, indent, indent, indent)
		}
		b.WriteString("    - shell: x\n")
		if err := os.WriteFile(filepath.Join(dir, "p.yml"), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		hosts := make([]string, 40)
		for i := range hosts {
			hosts[i] = fmt.Sprintf("h%d", i)
		}
		p, ds := planner.New(plan.Options{
			Path: filepath.Join(dir, "p.yml"), Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{}},
			Hosts: plan.HostSelection{Inventory: []string{strings.Join(hosts, ",")}, NoConnect: true},
			Login: plan.Login{Connection: "local"},
		})
		if p == nil {
			t.Fatalf("%+v", ds)
		}
		g, err := graph.Build(p)
		if err != nil {
			t.Fatal(err)
		}
		if limit := 14 * len(p.Steps); g.Edges() > limit {
			t.Errorf("%q: %d edges for %d steps", keys, g.Edges(), len(p.Steps))
		}
	}
}
