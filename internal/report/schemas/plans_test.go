package schemas

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"moon/engine"
	"moon/events"
	"moon/plan"
	"moon/plan/show"
)

// TestPlans holds the plans of all fixtures against the schema: of the planner, of the graph, and plays as Ansible has them.
func TestPlans(t *testing.T) {
	schema := compile(t, "plan")
	planned := 0
	for pattern, playbook := range map[string]string{
		"../../../plan/testdata/*.txtar": "playbook.yml", "../../../engine/graph/testdata/*.txtar": "playbook.yml",
		"../../../testdata/ansible/*.txtar": "site.yml",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: there are no fixtures (%v)", pattern, err)
		}
		for _, file := range files {
			if holdPlan(t, schema, file, playbook) {
				planned++
			}
		}
	}
	t.Logf("%d plans", planned)
	if planned < 100 {
		t.Errorf("only %d fixtures are plans", planned)
	}
}

// holdPlan holds the plan of a fixture against the schema, and reports whether it has one.
func holdPlan(t *testing.T, schema *jsonschema.Schema, file, playbook string) bool {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir, inventory := t.TempDir(), []string(nil)
	if playbook == "site.yml" { // those have the same hosts
		a.Files = append([]txtar.File{{Name: "inventory", Data: []byte("h1\nh2\nh3\n")}}, a.Files...)
	}
	for _, f := range a.Files {
		if slices.Contains([]string{"tree", "graph", "diagnostics"}, f.Name) { // what the fixture wants
			continue
		}
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		if f.Name == "hosts" || f.Name == "inventory" {
			inventory = []string{path}
		}
	}
	p, g, _ := engine.Build(plan.Options{
		Path: filepath.Join(dir, playbook), Dir: dir, Home: "/home/ada", User: "ada",
		Hosts: plan.HostSelection{Inventory: inventory, NoConnect: true}, Facts: plan.KnownFacts{Here: map[string]any{"os": "linux"}},
	})
	if p == nil || g == nil {
		return false
	}
	var b bytes.Buffer
	// With a prediction of each kind in turn, as --check has them.
	predictions := []any{
		nil, &events.Prediction{Diff: events.Diff{Kind: events.ChangeUpdate, Path: "/x", Summary: "s", Text: "t"}, Maybe: true},
		&events.Prediction{Skipped: "when", Cause: events.Edited}, &events.Prediction{Error: "no", Away: true},
	}
	err = show.WritePredictionsJSON(&b, p, g.JSON, time.Unix(0, 0).UTC(), func(step int) any { return predictions[step%len(predictions)] })
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("%s: %v", file, err)
	}
	return true
}
