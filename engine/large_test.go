package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/engine"
	"moon/engine/graph"
	"moon/engine/history"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/exec/spec"
	"moon/internal/assault"
	"moon/plan"
)

// large is what every field of text is given: more than any record of the journal holds.
const large = 1 << 20

// textFields are the ways to give an action a large text: one step for each field, which a plan of its own has taken.
func textFields(t *testing.T, task func(step string) string, planned func(text string) *plan.Plan) (steps []string) {
	t.Helper()
	for _, a := range spec.All() {
		if a.Least == "" {
			continue
		}
		found := 0
		for _, f := range a.Fields() {
			switch f.Kind {
			case spec.String, spec.Path, spec.Strings, spec.Paths, spec.Any, spec.ScriptLine, spec.Map:
			default:
				continue
			}
			if len(f.Enum) > 0 {
				continue
			}
			value := map[spec.Kind]string{
				spec.Strings: `["{{ big.stdout }}"]`, spec.Paths: `["{{ big.stdout }}"]`,
				spec.Map: `{k: "{{ big.stdout }}"}`,
			}[f.Kind]
			if value == "" {
				value = `"{{ big.stdout }}"`
			}
			if step := withField(a, f.Name, value); planned(task(step)) != nil {
				steps = append(steps, step)
				found++
			}
		}
		if found == 0 {
			t.Logf("%s has no field that takes a text of the run", a.Name)
		}
	}
	return steps
}

// withField is the shortest step of an action with one field more, or another value for it.
func withField(a *spec.Action, field, value string) string {
	_, args, _ := strings.Cut(a.Least, ": ")
	args = strings.TrimSpace(args)
	if !strings.HasPrefix(args, "{") {
		return fmt.Sprintf("%s: {%s: %s}", a.Name, field, value)
	}
	kept := []string{field + ": " + value}
	for part := range strings.SplitSeq(strings.Trim(args, "{}"), ", ") {
		if name, _, _ := strings.Cut(part, ":"); strings.TrimSpace(name) != field {
			kept = append(kept, part)
		}
	}
	return fmt.Sprintf("%s: {%s}", a.Name, strings.Join(kept, ", "))
}

// tryPlan plans a playbook, if it can be planned.
func tryPlan(t *testing.T, text string) (*plan.Plan, *graph.Graph) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "playbook.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, g, _ := engine.Build(plan.Options{Path: path, Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{}}})
	return p, g
}

// TestLargeTexts gives every field of every action a text of 1 MiB, lets half of the steps fail with as much, and looks at the
// run live, resumed, in the history and without its plan.
func TestLargeTexts(t *testing.T) {
	const first = "name: big\nshell: big\nregister: big"
	steps := func(list []string) string {
		var b strings.Builder
		for _, s := range append([]string{first}, list...) {
			fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(s, "\n", "\n  "))
		}
		return b.String()
	}
	for name, playbook := range map[string]func([]string) string{
		"steps": steps,
		"plays": func(list []string) string {
			return "- hosts: localhost\n  connection: local\n  gather_facts: false\n  tasks:\n    " +
				strings.ReplaceAll(strings.TrimSpace(steps(list)), "\n", "\n    ") + "\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
			task := func(step string) string { return step + "\nignore_errors: true" }
			list := textFields(t, task, func(step string) *plan.Plan {
				p, _ := tryPlan(t, playbook([]string{step}))
				return p
			})
			if len(list) < 150 {
				t.Fatalf("only %d fields", len(list))
			}
			sample := list[:0]
			for i := range list {
				if assault.Sampled(i, 50) {
					sample = append(sample, task(list[i]))
				}
			}
			list = sample
			list = append(list, `name: "{{ big.stdout }}"`+"\nshell: named", `shell: asks`+"\n"+`when: "big.stdout == 'no'"`,
				"shell: breaks", "shell: last")
			runLarge(t, playbook(list), len(list)+1)
		})
	}
}

func runLarge(t *testing.T, playbook string, total int) {
	t.Helper()
	p, g := tryPlan(t, playbook)
	if p == nil {
		t.Fatal("the playbook cannot be planned")
	}
	big, zero := strings.Repeat("0123456789abcde\n", large/16), 0
	broken := true
	f := &fake{}
	f.do = func(_ context.Context, job *exec.Job) exec.Result {
		switch cmd := cmdOf(job); {
		case cmd == "big":
			fmt.Fprint(job.Output.Stdout(), big)
			return exec.Result{Outcome: events.Changed, RC: &zero}
		case cmd == "breaks" && broken:
			return exec.Result{
				Outcome: events.Failed, Error: big, Message: big, Fields: map[string]any{"msg": big},
				Warnings: []string{big},
			}
		case job.Action == "print", job.Action == "fail":
			return exec.Result{Outcome: events.OK, Message: big, Fields: map[string]any{"msg": big}}
		}
		return exec.Result{Outcome: events.Changed, Error: "", Detail: job.Action, RC: &zero}
	}
	s := begin(t, p, g, f, fact.Options{Forks: 2, OnFailure: fact.Drain, Review: true})
	s.Send(events.Order{Actor: "test", Command: events.Approve{Range: events.Range{To: total}, Confirm: true}})
	s.Send(events.Order{Actor: "test", Command: events.Continue{}})
	w := watching(t, s, false) // as moon attach does
	for batch := range w.feed {
		for _, r := range batch {
			w.run.Apply(r)
			w.all = append(w.all, r)
		}
	}
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(w.run.Steps) != total || w.run.Result.Outcome != events.RunFailed {
		t.Fatalf("%d steps of %d, %v", len(w.run.Steps), total, w.run.Result.Outcome)
	}
	if got := len(w.run.Steps[total-2].Error); got < 4096 {
		t.Errorf("the error has %d bytes", got)
	}
	broken = false
	again, err := resume(t, s.Dir(), p, g, f, engine.Resumption{RetryFailed: true})
	if err != nil || again.run.Result.Outcome != events.RunDone {
		t.Fatalf("resumed: %v, %v", again, err)
	}
	past, err := history.Find(filepath.Dir(s.Dir()), s.ID())
	if err != nil || past.Outcome != events.RunDone || past.Damaged != "" {
		t.Fatalf("%+v, %v", past, err)
	}
	records, err := history.Outline(past)
	if err != nil || len(records) < total {
		t.Errorf("the outline has %d events, %v", len(records), err)
	}
	whole := false
	for _, r := range w.all {
		if m, ok := r.Event.(events.PrintMessage); ok {
			whole = whole || m.Message == big
		}
	}
	if !whole {
		t.Error("no message is whole")
	}
}
