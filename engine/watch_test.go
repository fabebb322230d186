package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"moon/engine"
	"moon/engine/graph"
	"moon/engine/history"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/plan"
)

// plansOf gives one plan, by its digest.
func plansOf(p *plan.Plan, g *graph.Graph) func(string) (*plan.Plan, *graph.Graph, error) {
	return func(digest string) (*plan.Plan, *graph.Graph, error) {
		if digest != p.Digest {
			return nil, nil, errors.New("no such plan")
		}
		return p, g, nil
	}
}

// watched are all the events that a run's directory gives, with lines of output.
func watched(t *testing.T, dir string, p *plan.Plan, g *graph.Graph) ([]events.Record, error) {
	t.Helper()
	past, err := history.Find(filepath.Dir(dir), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	w, err := engine.NewWatch(past, plansOf(p, g))
	if err != nil {
		t.Fatal(err)
	}
	feed, ended := w.Follow(t.Context(), true)
	var all []events.Record
	for batch := range feed {
		all = append(all, batch...)
	}
	return all, ended()
}

// TestWatchTellsTheSame compares the events of a run as it went with those of its directory afterwards.
func TestWatchTellsTheSame(t *testing.T) {
	p, g := build(t, reference)
	var flaky bool
	do := doer(&flaky)
	f := &fake{do: func(ctx context.Context, job *exec.Job) exec.Result {
		if job.Action == "shell" {
			fmt.Fprintf(job.Output.Stdout(), "%s\nand no newline", cmdOf(job))
		}
		return do(ctx, job)
	}}
	s := begin(t, p, g, f, fact.Options{Forks: 1})
	live := watching(t, s, true)
	live.done()
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	got, err := watched(t, s.Dir(), p, g)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]events.Record{got, live.all} {
		for i := range list {
			if _, line := list[i].Event.(events.StepOutput); line {
				list[i].Time, list[i].Mono = time.Time{}, 0 // exact to 50 ms
			}
		}
	}
	// What has been through JSON has other types of numbers; a record shows both alike.
	if len(got) != len(live.all) {
		t.Fatalf("%d events, and live %d", len(got), len(live.all))
	}
	for i := range got {
		a, errA := got[i].JSON(events.Where{})
		b, errB := live.all[i].JSON(events.Where{})
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%d:\n%s\nlive\n%s", i, a, b)
		}
	}

	past, err := history.Find(filepath.Dir(s.Dir()), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	outline, err := history.Outline(past)
	if err != nil {
		t.Fatal(err)
	}
	var full, rough events.Run
	for _, r := range got {
		full.Apply(r)
	}
	for _, r := range outline {
		rough.Apply(r)
	}
	for i := range full.Steps {
		a, b := &full.Steps[i], &rough.Steps[i]
		if b.State == events.Waiting || a.Rescued {
			continue // follows from the plan
		}
		if a.Outcome != b.Outcome || a.Attempt != b.Attempt || a.Error != b.Error || !reflect.DeepEqual(a.Out, b.Out) {
			t.Errorf("%s is\n%+v\nand without the plan\n%+v", events.StepID(i), a, b)
		}
	}
}

// TestWatchOfBrokenRuns reads a run that died, and what it has become when it was resumed: one run with one end.
func TestWatchOfBrokenRuns(t *testing.T) {
	p, g := build(t, "- shell: a\n- shell: b\n- shell: c\n")
	bad := true
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		fmt.Fprintln(job.Output.Stdout(), "says "+cmdOf(job))
		if cmdOf(job) == "b" && bad {
			return exec.Result{Outcome: events.Failed, Error: "no"}
		}
		return exec.Result{Outcome: events.OK}
	}}
	s := begin(t, p, g, f, fact.Options{Forks: 1})
	watching(t, s, false).done()
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	bad = false
	if _, err := resume(t, s.Dir(), p, g, f, engine.Resumption{RetryFailed: true}); err != nil {
		t.Fatal(err)
	}
	all, err := watched(t, s.Dir(), p, g)
	if err != nil {
		t.Fatal(err)
	}
	failures, ends := 0, 0
	for i, r := range all {
		switch r.Event.(type) {
		case events.StepFailed:
			failures++
		case events.RunCompleted:
			ends = len(all) - i
		default:
		}
		if r.Seq != uint64(i+1) {
			t.Errorf("event %d has number %d", i+1, r.Seq)
		}
	}
	if failures != 1 || ends != 1 {
		t.Errorf("%d failures, and the end is %d from the end", failures, ends)
	}

	// Cut inside step b of the first process, with its output written: a run that died.
	path := filepath.Join(s.Dir(), "journal.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if err := os.WriteFile(path, bytes.Join(lines[:5], nil), 0o600); err != nil { // created, started, a, a, b
		t.Fatal(err)
	}
	if all, err = watched(t, s.Dir(), p, g); err != nil {
		t.Fatal(err)
	}
	if last, ok := all[len(all)-1].Event.(events.StepOutput); !ok || last.Line != "says b" {
		t.Errorf("the last that is known of it: %+v", all[len(all)-1])
	}

	// Damage in front of whole records: what stands before it is told, and then why there is no more.
	lines[3] = []byte("nonsense\n")
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err = watched(t, s.Dir(), p, g)
	if err == nil || len(all) == 0 {
		t.Errorf("of a damaged journal %d events, and %v", len(all), err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := history.Find(filepath.Dir(s.Dir()), s.ID()); err == nil || !strings.Contains(err.Error(), "had not begun") {
		t.Errorf("of an empty journal: %v", err)
	}
}
