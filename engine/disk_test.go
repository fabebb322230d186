package engine_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"moon/engine"
	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/internal/assault"
)

// failing lets the n-th change to the files of a run fail, and every one after it, and knows what was durable by then.
type failing struct {
	mu      sync.Mutex
	left    int
	lines   int // written to the journal
	durable int // of them
}

func (f *failing) watch(op journal.Op) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left <= 0 {
		return syscall.EIO
	}
	if filepath.Base(op.Path) == "journal.jsonl" {
		f.lines += bytes.Count(op.Data, []byte("\n"))
		if op.Kind == journal.OpSync {
			f.durable = f.lines
		}
	}
	return nil
}

// TestFailingDisk lets every change to the files of a run fail in turn. The run comes to its end and says why, nothing
// was published or started that was not durable, and on a disk that works again it is gone on with.
func TestFailingDisk(t *testing.T) {
	p, g := build(t, reference)
	failed := 0
	for n := 1; ; n++ {
		disk := &failing{left: n}
		var flaky bool
		run := doer(&flaky)
		rec := &recorder{printed: map[string]int{}}
		runner := &promising{recorder: rec, do: run}
		cfg := engine.Config{
			Plan: p, Graph: g, Runner: runner, Dry: runner, Runs: t.TempDir(),
			Options: fact.Options{Forks: 1, OnFailure: fact.Drain}, Disk: journal.Disk{Watch: disk.watch},
		}
		s, err := engine.Start(cfg)
		if err != nil {
			if !errors.Is(err, syscall.EIO) {
				t.Fatalf("change %d: %v", n, err)
			}
			failed++
			continue
		}
		result := follow(t, s, rec)
		if err := s.Wait(); err == nil {
			if result.Outcome != events.RunDone || failed < 40 {
				t.Fatalf("after %d failures: %+v", failed, result)
			}
			assault.Tried(t, "changes of files that fail", failed)
			return // there are no more changes
		} else if !errors.Is(err, syscall.EIO) {
			t.Fatalf("change %d: %v", n, err)
		}
		failed++
		known := durable(t, s.Dir(), disk.durable)
		for _, c := range rec.changes {
			if !known[c.promise] {
				t.Errorf("change %d fails: %q, and it is not durable", n, c.promise)
			}
		}
		if disk.durable == 0 {
			continue
		}
		w, err := resume(t, s.Dir(), p, g, &fake{do: run}, engine.Resumption{Lost: fact.LostRetry, RetryFailed: true})
		if err != nil && !errors.Is(err, engine.ErrFinished) || err == nil && w.run.Result.Outcome != events.RunDone {
			t.Errorf("change %d fails: resumed: %v", n, err)
		}
	}
}

// durable is what the first records of a journal say, in the words of promises.
func durable(t *testing.T, dir string, records int) map[string]bool {
	t.Helper()
	var facts []fact.Fact
	_, _, err := reopen(filepath.Join(dir, "journal.jsonl"), func(r fact.Record) {
		if r.Seq <= uint64(records) {
			facts = append(facts, r.Fact)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return promisesIn(facts)
}

// TestOutputLost ends a run in order whose output cannot be stored: what runs ends, the journal says why, and the run is
// gone on with.
func TestOutputLost(t *testing.T) {
	p, g := build(t, "- shell: a\n- parallel: true\n  block:\n    - shell: prints\n    - shell: long\n- shell: b\n")
	broken := true
	runs := t.TempDir()
	stopping := make(chan struct{})
	f := &fake{}
	f.do = func(ctx context.Context, job *exec.Job) exec.Result {
		switch cmd := cmdOf(job); {
		case cmd == "prints" && broken:
			dirs, err := filepath.Glob(filepath.Join(runs, "*", "out"))
			if err != nil || len(dirs) != 1 {
				t.Errorf("%v, %v", dirs, err)
				return exec.Result{Outcome: events.Failed}
			}
			if err := errors.Join(os.RemoveAll(dirs[0]), os.WriteFile(dirs[0], nil, 0o600)); err != nil { // root may write anywhere else
				t.Error(err)
			}
			_, _ = job.Output.Stdout().Write([]byte("lost"))
		case cmd == "long" && broken:
			select {
			case <-stopping:
			case <-ctx.Done():
				return exec.Result{Outcome: events.Cancelled}
			}
		}
		return exec.Result{Outcome: events.OK}
	}
	s, err := engine.Start(engine.Config{Plan: p, Graph: g, Runner: f, Dry: f, Runs: runs, Options: fact.Options{Forks: 4, OnFailure: fact.Drain}})
	if err != nil {
		t.Fatal(err)
	}
	w := watching(t, s, false)
	w.until("a warning", func() bool {
		for _, r := range w.all {
			if e, ok := r.Event.(events.Warning); ok && strings.Contains(e.Message, "the run stops: step-0002: keep output") {
				return true
			}
		}
		return false
	})
	close(stopping)
	w.done()
	if err := s.Wait(); err == nil || !strings.Contains(err.Error(), "step-0002: keep output") {
		t.Errorf("the run ended with %v", err)
	}
	if w.run.Result.Outcome != events.RunStopped || w.run.Result.Executed != 3 || w.run.Result.NotRun != 1 {
		t.Errorf("%+v", w.run.Result)
	}
	broken, f.order = false, nil
	if err := errors.Join(os.Remove(s.OutDir()), os.Mkdir(s.OutDir(), 0o700)); err != nil {
		t.Fatal(err)
	}
	w, err = resume(t, s.Dir(), p, g, f, engine.Resumption{})
	if err != nil || strings.Join(f.order, "") != "b" || w.run.Result.Outcome != events.RunDone {
		t.Errorf("resumed: %v, ran %v, %+v", err, f.order, w.run.Result)
	}
}

// TestValueLost takes a step for failed whose value cannot be stored, since a resumed run could not go on after it.
func TestValueLost(t *testing.T) {
	p, g := build(t, "- set_fact: { big: x }\n- shell: \"{{ big | length }}\"\n")
	broken := true
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		if job.Action == "set_fact" {
			return exec.Result{Outcome: events.OK, Values: map[string]any{"big": strings.Repeat("x", 100_000)}}
		}
		return exec.Result{Outcome: events.OK}
	}}
	disk := journal.Disk{Watch: func(op journal.Op) error {
		if broken && filepath.Base(filepath.Dir(op.Path)) == "blobs" {
			return syscall.ENOSPC
		}
		return nil
	}}
	s, err := engine.Start(engine.Config{Plan: p, Graph: g, Runner: f, Dry: f, Runs: t.TempDir(), Disk: disk, Options: fact.Options{Forks: 1, OnFailure: fact.Drain}})
	if err != nil {
		t.Fatal(err)
	}
	w := watching(t, s, false)
	w.done()
	if err := s.Wait(); !errors.Is(err, syscall.ENOSPC) || w.run.Result.Failed != 1 || w.run.Result.NotRun != 1 {
		t.Errorf("%v, %+v", err, w.run.Result)
	}
	broken, f.order = false, nil
	w, err = resume(t, s.Dir(), p, g, f, engine.Resumption{RetryFailed: true})
	if err != nil || strings.Join(f.order, ",") != "set_fact,100000" || w.run.Result.Outcome != events.RunDone {
		t.Errorf("resumed: %v, ran %v, %+v", err, f.order, w.run.Result)
	}
}

// TestIDsThatAreTaken has the first ids that a run draws belong to others: many may begin in the same second.
func TestIDsThatAreTaken(t *testing.T) {
	p, g := build(t, "- shell: a\n")
	start := func(taken int) (*engine.Session, []string, error) {
		var drawn []string
		runs := t.TempDir()
		disk := journal.Disk{Watch: func(op journal.Op) error {
			if op.Kind == journal.OpMkdir && filepath.Dir(op.Path) == runs {
				if drawn = append(drawn, filepath.Base(op.Path)); len(drawn) <= taken {
					return fs.ErrExist
				}
			}
			return nil
		}}
		r := &fake{}
		s, err := engine.Start(engine.Config{
			Plan: p, Graph: g, Runner: r, Dry: r, Runs: runs, Disk: disk, Options: fact.Options{Forks: 1, OnFailure: fact.Drain},
		})
		return s, drawn, err
	}
	s, drawn, err := start(2)
	if err != nil || len(drawn) != 3 || s.ID() != drawn[2] || slices.Contains(drawn[:2], s.ID()) {
		t.Fatalf("%q, %v", drawn, err)
	}
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	if _, drawn, err := start(math.MaxInt); !errors.Is(err, fs.ErrExist) || len(drawn) < 10 {
		t.Errorf("%d drawn, %v", len(drawn), err)
	}
}
