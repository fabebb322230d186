package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"moon/engine"
	"moon/engine/graph"
	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/plan"
)

// reference has every way in which a step can end and go on: large values, conditions, loops, a retry, an ignored
// failure, a rescued one, values that are set.
const reference = `
- shell: a
  register: r
- set_fact: { big: "{{ r.stdout }}", n: "{{ r.rc }}" }
- shell: b {{ item }}
  loop: [1, 2, 3]
- shell: c
  when: r.rc == 1
- shell: flaky
  retries: 2
  retry_delay: 0
- shell: bad
  ignore_errors: true
- block:
    - shell: broken
    - shell: never
  rescue:
    - shell: mend
  always:
    - shell: clean
- shell: "{{ big | length }} {{ r.stdout | length }} {{ n + 1 }}"
`

// doer runs the reference. flaky fails once in its life.
func doer(flaky *bool) func(context.Context, *exec.Job) exec.Result {
	return func(_ context.Context, job *exec.Job) exec.Result {
		rc := 0
		switch cmd := cmdOf(job); {
		case job.Action == "set_fact":
			return exec.Result{Outcome: events.OK, Values: job.Raw}
		case cmd == "a":
			fmt.Fprint(job.Output.Stdout(), strings.Repeat("x", 300_000))
		case cmd == "bad", cmd == "broken", cmd == "flaky" && !*flaky:
			*flaky = *flaky || cmd == "flaky"
			rc = 1
			return exec.Result{Outcome: events.Failed, Error: "exit status 1", RC: &rc}
		}
		return exec.Result{Outcome: events.OK, RC: &rc}
	}
}

// plans gives the one plan there is.
func plans(p *plan.Plan, g *graph.Graph) func(digest string) (*plan.Plan, *graph.Graph, error) {
	return func(digest string) (*plan.Plan, *graph.Graph, error) {
		if digest != p.Digest {
			return nil, nil, errors.New("no such plan")
		}
		return p, g, nil
	}
}

// resume goes on with the run in dir, to its end, and gives what was run for it.
func resume(t *testing.T, dir string, p *plan.Plan, g *graph.Graph, f *fake, how engine.Resumption) (*watch, error) {
	t.Helper()
	how.Dir = dir
	how.Planned = plans(p, g)
	s, err := engine.Resume(engine.Config{Runner: f, Dry: f, Options: fact.Options{Forks: 1, OnFailure: fact.Drain}}, how)
	if err != nil {
		return nil, err
	}
	w := watching(t, s, false)
	w.done()
	return w, s.Wait()
}

// TestResumeFromEverywhere dies after every record of a run, and in the middle of it, and resumes: nothing that had
// ended well is run again, and the end is that of an unbroken run.
func TestResumeFromEverywhere(t *testing.T) {
	p, g := build(t, reference)
	var flaky bool
	f := &fake{do: doer(&flaky)}
	s := begin(t, p, g, f, fact.Options{Forks: 1})
	whole := watching(t, s, false)
	whole.done()
	if err := s.Wait(); err != nil || whole.run.Result.Outcome != events.RunDone {
		t.Fatalf("%v, %+v", err, whole.run.Result)
	}
	text, err := os.ReadFile(filepath.Join(s.Dir(), "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines = lines[:len(lines)-1]
	for k := 2; k < len(lines); k++ {
		for _, torn := range []bool{false, true} {
			kept := bytes.Join(lines[:k], nil)
			if torn {
				kept = append(kept, lines[k][:len(lines[k])/2]...)
			}
			dir := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(dir, os.DirFS(s.Dir())); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "journal.jsonl"), kept, 0o600); err != nil {
				t.Fatal(err)
			}
			ended, started := endedWell(t, dir)
			flaky := slices.Contains(started, "flaky")
			f := &fake{do: doer(&flaky)}
			w, err := resume(t, dir, p, g, f, engine.Resumption{Lost: fact.LostRetry, RetryFailed: true})
			if err != nil {
				t.Fatalf("after %d records: %v", k, err)
			}
			for _, cmd := range ended {
				if slices.Contains(f.order, cmd) {
					t.Errorf("after %d records: %s was run again", k, cmd)
				}
			}
			got, want := w.run.Result, whole.run.Result
			got.Duration, got.DurationMS, want.Duration, want.DurationMS = 0, 0, 0, 0
			if !reflect.DeepEqual(got, want) {
				t.Errorf("after %d records, torn %v: ended as\n%+v\nan unbroken run as\n%+v\nran %v", k, torn, got, want, f.order)
			}
			if last := "300000 300000 1"; !slices.Contains(ended, last) && f.order[len(f.order)-1] != last {
				t.Errorf("after %d records: the last step was %q", k, f.order[len(f.order)-1])
			}
			// What was written can be read again, and there is nothing left to do.
			if _, err := resume(t, dir, p, g, f, engine.Resumption{Lost: fact.LostRetry}); !errors.Is(err, engine.ErrFinished) {
				t.Errorf("after %d records: resumed twice: %v", k, err)
			}
		}
	}
}

// endedWell are the commands of the steps that ended well according to a journal, and of those that were started.
func endedWell(t *testing.T, dir string) (ended, started []string) {
	t.Helper()
	names := map[int]string{}
	_, _, err := reopen(filepath.Join(dir, "journal.jsonl"), func(r fact.Record) {
		switch f := r.Fact.(type) {
		case fact.AttemptStarted:
			names[f.Step] = f.Name
			started = append(started, f.Name)
		case fact.AttemptFinished:
			if (f.Outcome == events.OK || f.Outcome == events.Changed) && f.Step > 1 {
				ended = append(ended, names[f.Step])
			}
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return ended, started
}

// reopen reads what can be read.
func reopen(path string, take func(fact.Record)) (int, bool, error) {
	r, err := journal.Open(path)
	if err != nil {
		return 0, false, err
	}
	defer r.Close()
	for n := 0; ; n++ {
		rec, err := r.Next()
		if err != nil {
			return n, true, nil
		}
		take(rec)
	}
}

// TestResumeAsks refuses to decide by itself about steps that were lost or failed.
func TestResumeAsks(t *testing.T) {
	p, g := build(t, "- shell: a\n- name: second\n  shell: b\n- shell: c\n")
	bad := true
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
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
	_, err := resume(t, s.Dir(), p, g, f, engine.Resumption{})
	var undecided *engine.UndecidedError
	if !errors.As(err, &undecided) || strings.Join(undecided.Failed, "") != "step-0002 «second»" {
		t.Fatalf("resumed a failed run: %v", err)
	}
	bad = false
	f.order = nil
	w, err := resume(t, s.Dir(), p, g, f, engine.Resumption{RetryFailed: true})
	if err != nil || strings.Join(f.order, "") != "bc" || w.run.Result.Outcome != events.RunDone {
		t.Fatalf("%v: ran %v, %+v", err, f.order, w.run.Result)
	}
}

// TestResumeLost takes a lost step for what the person says.
func TestResumeLost(t *testing.T) {
	for _, tt := range []struct {
		as   fact.LostAs
		ran  string
		want events.RunOutcome
	}{{fact.LostRetry, "bc", events.RunDone}, {fact.LostOK, "c", events.RunDone}, {fact.LostFail, "", events.RunFailed}} {
		p, g := build(t, "- shell: a\n- shell: b\n- shell: c\n")
		f := &fake{}
		s := begin(t, p, g, f, fact.Options{Forks: 1})
		watching(t, s, false).done()
		if err := s.Wait(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(s.Dir(), "journal.jsonl")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		if err := os.WriteFile(path, []byte(strings.Join(lines[:5], "")), 0o600); err != nil { // created, started, a, a, b
			t.Fatal(err)
		}
		f.order = nil
		if _, err := resume(t, s.Dir(), p, g, f, engine.Resumption{}); err == nil || !strings.Contains(err.Error(), "step-0002") {
			t.Fatalf("resumed without a word about the lost step: %v", err)
		}
		w, err := resume(t, s.Dir(), p, g, f, engine.Resumption{Lost: tt.as})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(f.order, ""); got != tt.ran || w.run.Result.Outcome != tt.want {
			t.Errorf("%s: ran %q, ended %+v", tt.as, got, w.run.Result)
		}
	}
}

// TestResumeIsAlone refuses a run that another process has.
func TestResumeIsAlone(t *testing.T) {
	p, g := build(t, "- shell: a\n")
	release := make(chan struct{})
	f := &fake{do: func(context.Context, *exec.Job) exec.Result { <-release; return exec.Result{Outcome: events.OK} }}
	s := begin(t, p, g, f, fact.Options{})
	defer close(release)
	for range 100 {
		if _, err := resume(t, s.Dir(), p, g, f, engine.Resumption{}); err == nil || !strings.Contains(err.Error(), "another moon runs it") {
			t.Fatalf("two moons: %v", err)
		}
	}
}

// TestResumedIsNeverSeenInReview resumes a run that was reviewed: what a reader gets first says already that it has gone on, or a screen
// would show the review once more, and predict what steps would do.
func TestResumedIsNeverSeenInReview(t *testing.T) {
	p, g := build(t, "- shell: a\n- shell: b\n")
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result { return exec.Result{Outcome: events.OK} }}
	s := begin(t, p, g, f, fact.Options{Forks: 1, Review: true})
	w := watching(t, s, false)
	s.Send(events.Order{Command: events.Approve{Range: events.Range{To: 2}}})
	s.Send(events.Order{Command: events.Advance{Verb: "step"}})
	w.until("a pause after the first step", func() bool { return w.run.Phase == events.Paused })
	s.Send(events.Order{Command: events.Stop{How: events.StopDrain}})
	w.done()
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := engine.Resume(engine.Config{Runner: f, Dry: f, Options: fact.Options{Forks: 1, Review: true, OnFailure: fact.Drain}},
			engine.Resumption{Dir: s.Dir(), Planned: plans(p, g)})
		if err != nil {
			t.Fatal(err)
		}
		feed, failed := again.Follow(t.Context(), false)
		first := <-feed
		var run events.Run
		for _, r := range first {
			run.Apply(r)
		}
		if run.Phase != events.Paused {
			t.Errorf("begins with %v, in phase %v", first, run.Phase)
		}
		again.Send(events.Order{Command: events.Stop{How: events.StopDrain}})
		for range feed {
		}
		if err := errors.Join(failed(), again.Wait()); err != nil {
			t.Fatal(err)
		}
	}
}
