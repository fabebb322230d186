package engine_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"moon/engine"
	"moon/engine/statefile"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/plan"
)

// maker is a runner whose steps make what they are called.
func maker(_ context.Context, job *exec.Job) exec.Result {
	name := cmdOf(job)
	r := exec.Result{Outcome: events.Changed, Resources: []events.Resource{{Type: "thing", Name: name, Change: events.ChangeCreate, Digest: "d"}}}
	if name == "gone" {
		r.Resources = append(r.Resources, events.Resource{Type: "thing", Name: "first", Change: events.ChangeDelete})
	}
	return r
}

func names(t *testing.T, dir string, p *plan.Plan) (list []string) {
	t.Helper()
	made, err := statefile.Of(dir, p.Root, p.RootFile).Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range made.Things {
		if !m.Created || m.Action != "shell" || m.Run == "" || m.Digest != "d" {
			t.Errorf("%+v", m)
		}
		list = append(list, m.Name)
	}
	return list
}

// TestStateAfterDeath dies after every record of a run, with the playbook's state as far as it had come, one line behind,
// in the middle of a line, or lost: when the run has been resumed the state has everything once, in its order.
func TestStateAfterDeath(t *testing.T) {
	p, g := build(t, "- shell: first\n- shell: second\n- shell: gone\n- shell: last\n")
	states := t.TempDir()
	config := engine.Config{
		Plan: p, Graph: g, Runner: &fake{do: maker}, Dry: &fake{}, Runs: filepath.Join(t.TempDir(), "runs"), States: states,
		Options: fact.Options{Forks: 1, OnFailure: fact.Drain},
	}
	s, err := engine.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	want := []string{"second", "gone", "last"}
	if got := names(t, states, p); !slices.Equal(got, want) {
		t.Fatalf("the state has %v", got)
	}
	files, err := filepath.Glob(filepath.Join(states, "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(s.Dir(), "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for k := 3; k < len(lines)-2; k++ {
		kept := bytes.Join(lines[:k], nil)
		n := bytes.Count(kept, []byte(`"attempt.finished"`))
		done := bytes.Join(bytes.SplitAfter(whole, []byte("\n"))[:n], nil)
		for _, had := range [][]byte{done, done[:len(done)/2], nil} {
			dir, states := filepath.Join(t.TempDir(), "run"), t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(s.Dir())); err != nil {
				t.Fatal(err)
			}
			for path, content := range map[string][]byte{
				filepath.Join(dir, "journal.jsonl"): kept, filepath.Join(states, filepath.Base(files[0])): had,
			} {
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			how := engine.Resumption{Dir: dir, Lost: fact.LostRetry, Planned: plans(p, g)}
			s, err := engine.Resume(engine.Config{Runner: &fake{do: maker}, Dry: &fake{}, States: states, Options: config.Options}, how)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Wait(); err != nil {
				t.Fatal(err)
			}
			if got := names(t, states, p); !slices.Equal(got, want) {
				t.Errorf("died after record %d with %d bytes of state: the state has %v", k, len(had), got)
			}
		}
	}
}
