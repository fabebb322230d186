package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"moon/engine"
	"moon/engine/graph"
	"moon/engine/journal"
	"moon/engine/state"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/exec/spec"
	"moon/plan"
)

// fake is a Runner that does what a function says, and counts.
type fake struct {
	do func(ctx context.Context, job *exec.Job) exec.Result

	mu     sync.Mutex
	active int
	most   int
	order  []string
}

func (f *fake) Run(ctx context.Context, job *exec.Job) exec.Result {
	f.mu.Lock()
	f.active++
	f.most = max(f.most, f.active)
	f.order = append(f.order, cmdOf(job))
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.active--
		f.mu.Unlock()
	}()
	if f.do == nil {
		return exec.Result{Outcome: events.OK}
	}
	return f.do(ctx, job)
}

func cmdOf(job *exec.Job) string {
	if a, ok := job.Args.(*spec.ShellArgs); ok {
		return a.Cmd
	}
	return job.Action
}

func build(t *testing.T, playbook string) (*plan.Plan, *graph.Graph) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "playbook.yml")
	if err := os.WriteFile(path, []byte(playbook), 0o600); err != nil {
		t.Fatal(err)
	}
	return buildAt(t, path)
}

func buildAt(t *testing.T, path string) (*plan.Plan, *graph.Graph) {
	t.Helper()
	p, g, ds := engine.Build(plan.Options{Path: path, Dir: filepath.Dir(path), Facts: plan.KnownFacts{Here: map[string]any{}}})
	if p == nil {
		t.Fatalf("%+v", ds)
	}
	return p, g
}

func begin(t *testing.T, p *plan.Plan, g *graph.Graph, r engine.Runner, o fact.Options) *engine.Session {
	t.Helper()
	if o.Forks == 0 {
		o.Forks = 4
	}
	if o.OnFailure == "" {
		o.OnFailure = fact.Drain
	}
	s, err := engine.Start(engine.Config{Plan: p, Graph: g, Runner: r, Dry: r, Runs: t.TempDir(), Options: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Send(events.Order{Command: events.Stop{How: events.StopNow}})
		if err := s.Wait(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// watch folds a session's events and lets a test wait for a state.
type watch struct {
	t    *testing.T
	feed <-chan []events.Record
	run  events.Run
	all  []events.Record
}

func watching(t *testing.T, s interface {
	Follow(ctx context.Context, lines bool) (<-chan []events.Record, func() error)
}, lines bool,
) *watch {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	feed, ended := s.Follow(ctx, lines)
	t.Cleanup(func() {
		if t.Failed() {
			leave() // the run may be paused, and is stopped only after this
		}
		defer leave()
		for range feed {
		}
		if err := ended(); err != nil && !t.Failed() {
			t.Error(err)
		}
	})
	return &watch{t: t, feed: feed}
}

// until reads events until the condition holds.
func (w *watch) until(what string, f func() bool) {
	w.t.Helper()
	deadline := time.After(5 * time.Minute)
	for !f() {
		select {
		case batch, ok := <-w.feed:
			if !ok {
				w.t.Fatalf("the run ended before: %s", what)
			}
			for _, r := range batch {
				w.run.Apply(r)
				w.all = append(w.all, r)
			}
		case <-deadline:
			w.t.Fatalf("never: %s", what)
		}
	}
}

func (w *watch) done() {
	w.t.Helper()
	w.until("the end", func() bool { return w.run.Phase == events.Done })
}

func TestForksAndPools(t *testing.T) {
	var b strings.Builder
	b.WriteString("- shell: \"{{ item }}\"\n  with_items: \"{{ range(0, 1000) | list }}\"\n  loop_control: { limit: 50 }\n")
	p, g := build(t, b.String())
	// The first ones run until there are as many as may be: then another that comes is one too many.
	var begun atomic.Int32
	full := make(chan struct{})
	f := &fake{do: func(ctx context.Context, _ *exec.Job) exec.Result {
		if begun.Add(1) == 50 {
			close(full)
		}
		select {
		case <-full:
			time.Sleep(time.Millisecond)
		case <-ctx.Done():
		}
		return exec.Result{Outcome: events.OK}
	}}
	s := begin(t, p, g, f, fact.Options{Forks: 200})
	w := watching(t, s, false)
	w.done()
	if f.most != 50 {
		t.Errorf("%d ran at once, want 50", f.most)
	}
	if w.run.Result.Executed != 1000 {
		t.Errorf("%+v", w.run.Result)
	}
}

// TestSlowReader checks that a reader who sleeps slows nothing and loses nothing.
func TestSlowReader(t *testing.T) {
	p, g := build(t, "- shell: \"{{ item }}\"\n  with_items: \"{{ range(0, 40) | list }}\"\n")
	const lines = 2000
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		for i := range lines {
			fmt.Fprintf(job.Output.Stdout(), "line %d\n", i)
		}
		return exec.Result{Outcome: events.OK}
	}}
	s := begin(t, p, g, f, fact.Options{})
	feed, ended := s.Follow(context.Background(), true)
	if err := s.Wait(); err != nil { // nobody has read anything yet
		t.Fatal(err)
	}
	seq, count, last := uint64(0), 0, ""
	for batch := range feed {
		if len(batch) > 600 {
			t.Fatalf("a batch of %d", len(batch))
		}
		for _, r := range batch {
			if seq++; r.Seq != seq {
				t.Fatalf("event %d after %d", r.Seq, seq-1)
			}
			if _, ok := r.Event.(events.StepOutput); ok {
				count++
			}
			last = events.Type(r.Event)
		}
	}
	if err := ended(); err != nil {
		t.Fatal(err)
	}
	if count != 40*lines || last != "run.completed" {
		t.Errorf("%d lines, last event %s", count, last)
	}
}

// TestFollowBlocks has whoever takes blocks read the lines that others read, in fewer events.
func TestFollowBlocks(t *testing.T) {
	p, g := build(t, "- shell: a\n- shell: b\n")
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		for i := range 2000 {
			fmt.Fprintf(job.Output.Stdout(), "line %d\n", i)
		}
		return exec.Result{Outcome: events.OK}
	}}
	s := begin(t, p, g, f, fact.Options{})
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	var lines [2][]string
	var count [2]int
	single, _ := s.Follow(context.Background(), true)
	blocks, _ := s.FollowBlocks(context.Background())
	for i, feed := range []<-chan []events.Record{single, blocks} {
		for batch := range feed {
			for _, r := range batch {
				e, ok := r.Event.(events.StepOutput)
				if !ok {
					continue
				}
				count[i]++
				for line := range strings.SplitSeq(e.Line, "\n") {
					lines[i] = append(lines[i], fmt.Sprintf("%s %s", events.StepID(r.Step), line))
				}
			}
		}
	}
	if len(lines[0]) != 4000 || !slices.Equal(lines[0], lines[1]) || count[0] != 4000 || count[1] > 400 {
		t.Errorf("%d lines in %d events, and %d in %d", len(lines[0]), count[0], len(lines[1]), count[1])
	}
}

// TestJournalIsTheRun folds the journal of a run from disk and checks that it says what the events said, and that each
// start is durable before the work.
func TestJournalIsTheRun(t *testing.T) {
	p, g := build(t, "- shell: a\n  register: r\n- shell: b\n  when: r.rc == 0\n- shell: c\n  when: r.rc == 1\n- shell: d\n")
	var s *engine.Session
	ready := make(chan struct{})
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		<-ready
		if !slices.Contains(starts(t, s.Dir()), job.Raw["cmd"].(string)) {
			t.Errorf("%s runs before its start is in the journal", job.Raw["cmd"])
		}
		rc := 0
		return exec.Result{Outcome: events.OK, RC: &rc}
	}}
	s = begin(t, p, g, f, fact.Options{})
	close(ready)
	w := watching(t, s, false)
	w.done()
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.order, ""); got != "abd" {
		t.Errorf("ran %s", got)
	}
	r, err := journal.Open(filepath.Join(s.Dir(), "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var words []string
	folded := state.New(p, g, func(step int, e events.Event) { words = append(words, fmt.Sprint(events.Type(e), step)) })
	var last fact.Record
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := folded.Apply(rec); err != nil {
			t.Fatal(err)
		}
		last = rec
	}
	if _, ok := last.Fact.(fact.RunFinished); !ok {
		t.Errorf("the last record is %s", fact.Kind(last.Fact))
	}
	var seen []string
	for _, e := range w.all {
		seen = append(seen, fmt.Sprint(events.Type(e.Event), e.Step))
	}
	if !slices.Equal(words, seen) {
		t.Errorf("the journal says\n%v\nthe events said\n%v", words, seen)
	}
}

// starts are the names of the attempts that a journal says were started.
func starts(t *testing.T, dir string) (names []string) {
	t.Helper()
	r, err := journal.Open(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		t.Error(err)
		return nil
	}
	defer r.Close()
	for {
		rec, err := r.Next()
		if err != nil {
			return names
		}
		if f, ok := rec.Fact.(fact.AttemptStarted); ok {
			names = append(names, f.Name)
		}
	}
}

// TestFixAndRetry walks the way a person goes: a step fails, the playbook is edited and read again, the step is tried
// again, the run goes on, and nothing that was done is done twice.
func TestFixAndRetry(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "playbook.yml")
	text := "- name: one\n  shell: one\n  register: r\n- name: two\n  shell: tow\n- name: three\n  shell: three {{ r.rc }}\n"
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	p, g := buildAt(t, path)
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		rc := 0
		if cmdOf(job) == "tow" {
			rc = 127
			return exec.Result{Outcome: events.Failed, RC: &rc, Error: "exit status 127"}
		}
		return exec.Result{Outcome: events.OK, RC: &rc}
	}}
	s := begin(t, p, g, f, fact.Options{Review: true, BreakOnFailure: true, KeepOpen: true})
	w := watching(t, s, false)
	send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
	w.until("review", func() bool { return w.run.Phase == events.Review && len(w.run.Steps) == 3 })
	send(events.Approve{Range: events.Range{From: 0, To: 3}, Digest: p.Digest})
	send(events.Continue{})
	w.until("a failure", func() bool { return w.run.Phase == events.Paused && w.run.Pause.Reason == events.PauseFailure })

	write(strings.Replace(text, "tow", "two", 1))
	p2, g2 := buildAt(t, path)
	if err := s.Replan(p2, g2); err != nil {
		t.Fatal(err)
	}
	w.until("the new plan", func() bool { return w.run.Generation == 2 && w.run.Phase == events.Paused })
	if k := w.run.Steps[0]; k.Kept || k.Attempt != 1 || len(k.Out) != 1 || k.Started.IsZero() || k.Outcome != events.Changed {
		t.Errorf("the first step was not kept: %+v", k)
	}
	if w.run.Steps[1].Approved {
		t.Error("the edited step is approved without having been looked at")
	}
	send(events.Retry{Range: events.Range{From: 1, To: 2}})
	w.until("the second attempt", func() bool { return w.run.Steps[1].Outcome == events.Changed })
	if w.run.Phase != events.Paused {
		t.Error("a retry goes on by itself")
	}
	send(events.Approve{Range: events.Range{From: 0, To: 3}, Digest: p2.Digest})
	send(events.Continue{})
	w.done()
	if got := strings.Join(f.order, ","); got != "one,tow,two,three 0" {
		t.Errorf("ran %s", got)
	}
	if w.run.Result.Outcome != events.RunDone || w.run.Result.Executed != 3 {
		t.Errorf("%+v", w.run.Result)
	}
	if out := w.run.Steps[1].Out; !strings.Contains(strings.Join(out, " "), "plan2") {
		t.Errorf("the edited step's output would be written over the first one's: %v", out)
	}
}

func TestReplanIsRefusedWhileStepsRun(t *testing.T) {
	p, g := build(t, "- shell: a\n")
	block := make(chan struct{})
	f := &fake{do: func(context.Context, *exec.Job) exec.Result { <-block; return exec.Result{Outcome: events.OK} }}
	s := begin(t, p, g, f, fact.Options{})
	w := watching(t, s, false)
	w.until("a start", func() bool { return len(w.run.Steps) == 1 && w.run.Steps[0].State == events.Active })
	p2, g2 := build(t, "- shell: b\n")
	if err := s.Replan(p2, g2); err == nil {
		t.Error("the plan was replaced under a running step")
	}
	close(block)
	w.done()
}

// TestLargeResults checks that what does not fit into a record goes to a file, and that nothing is lost for the steps
// that use it.
func TestLargeResults(t *testing.T) {
	p, g := build(t, "- shell: a\n  register: r\n- shell: \"{{ r.stdout | length }}\"\n- set_fact: { big: \"{{ r.stdout }}\" }\n- shell: \"{{ big | length }}\"\n")
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		if job.Action == "set_fact" {
			return exec.Result{Outcome: events.OK, Values: job.Raw}
		}
		if cmdOf(job) == "a" {
			fmt.Fprint(job.Output.Stdout(), strings.Repeat("x", 300_000))
			return exec.Result{Outcome: events.OK, Message: strings.Repeat("m", 100_000)}
		}
		return exec.Result{Outcome: events.OK}
	}}
	s := begin(t, p, g, f, fact.Options{})
	w := watching(t, s, false)
	w.done()
	if got := strings.Join(f.order, ","); got != "a,300000,set_fact,300000" {
		t.Errorf("ran %s", got)
	}
	if w.run.Result.Outcome != events.RunDone {
		t.Errorf("%+v", w.run.Result)
	}
}

func TestNoLogLeavesNothing(t *testing.T) {
	p, g := build(t, "- shell: echo s3cret\n  name: quiet\n  no_log: true\n  register: r\n  ignore_errors: true\n- shell: got {{ r.stdout }}\n  no_log: true\n")
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		fmt.Fprint(job.Output.Stdout(), "s3cret")
		return exec.Result{
			Outcome: events.Failed, Error: "s3cret is wrong", Message: "s3cret", Fields: map[string]any{"x": "s3cret"},
			Warnings: []string{"s3cret"},
		}
	}}
	s := begin(t, p, g, f, fact.Options{})
	w := watching(t, s, true)
	w.done()
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	if f.order[1] != "got s3cret" {
		t.Errorf("the value did not reach the step that uses it: %q", f.order[1])
	}
	err := filepath.WalkDir(s.Dir(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "s3cret") {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWaitingIsSilent(t *testing.T) {
	p, g := build(t, "- shell: a\n")
	s := begin(t, p, g, &fake{}, fact.Options{Review: true})
	w := watching(t, s, false)
	w.until("review", func() bool { return w.run.Phase == events.Review && len(w.run.Steps) == 1 })
	select {
	case batch := <-w.feed:
		t.Errorf("a run that waits for a person publishes %v", batch)
	case <-time.After(100 * time.Millisecond):
	}
	s.Send(events.Order{Command: events.Stop{How: events.StopInterrupt}})
	w.done()
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Error("a run that never started is kept")
	}
}
