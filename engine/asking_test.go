package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"moon/engine"
	"moon/engine/control"
	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/events/rundir"
	"moon/exec"
	"moon/internal/assault"
	"moon/plan"
)

const patient = 20 * time.Second

var asks atomic.Int64

// asker is a client of a run, and gives the reason why a request is refused, or "".
func asker(t *testing.T, dir string) func(control.Request) string {
	t.Helper()
	c, err := control.Dial(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return func(r control.Request) string {
		t.Helper()
		if r.ID == "" {
			r.ID = fmt.Sprint(asks.Add(1))
		}
		a, err := c.Send(r, patient)
		if err != nil {
			t.Fatal(err)
		}
		if a.ID != r.ID || a.Accepted != (a.Reason == "") {
			t.Errorf("to %+v the answer was %+v", r, a)
		}
		return a.Reason
	}
}

// gated runs steps that each wait until they are let go.
func gated(t *testing.T, playbook string) (s *engine.Session, w *watch, p *plan.Plan, g *graph.Graph, let func()) {
	t.Helper()
	p, g = build(t, playbook)
	gate := make(chan struct{})
	f := &fake{do: func(ctx context.Context, _ *exec.Job) exec.Result {
		select {
		case <-gate:
			return exec.Result{Outcome: events.OK}
		case <-ctx.Done():
			return exec.Result{Outcome: events.Cancelled}
		}
	}}
	s = begin(t, p, g, f, fact.Options{Forks: 1})
	w = watching(t, s, false)
	w.until("the first step runs", func() bool { return w.run.Counts.Running == 1 })
	return s, w, p, g, func() {
		t.Helper()
		select {
		case gate <- struct{}{}:
		case <-time.After(patient):
			t.Fatal("no step runs")
		}
	}
}

// TestCommandsOfAnotherProcess pauses a run, steps, skips and goes on through the socket.
func TestCommandsOfAnotherProcess(t *testing.T) {
	s, w, p, _, let := gated(t, "- name: one\n  shell: a\n- name: two\n  shell: b\n- name: three\n  shell: c\n- name: four\n  shell: d\n- name: five\n  shell: e\n")
	ask := asker(t, s.Dir())
	for _, tt := range []struct {
		r    control.Request
		want string
	}{
		{control.Request{Do: "pause"}, ""},
		{control.Request{Do: "pause"}, "the run is paused already"},
		{control.Request{Do: "dance"}, `there is no command "dance"; there are ` + engine.Verbs},
		{control.Request{Do: "skip"}, "skip needs a step: an id, a path, a name, file:line, or all"},
		{control.Request{Do: "pause", Step: "one"}, "pause takes no step"},
		{control.Request{Do: "skip", Step: "one", How: "now"}, "skip has no ways"},
		{control.Request{Do: "stop", How: "gently"}, "stop is drain, interrupt or now, and not gently"},
		{control.Request{Do: "skip", Step: "nothing"}, "no step is `nothing`; give an id, a path, a name (* stands for any text) or file:line; moon plan --flat lists the steps"},
		{control.Request{Do: "retry", Step: "two"}, "there is nothing to retry here"},
		{control.Request{Do: "answer", Step: "two"}, "this step asks nothing now"},
		{control.Request{Do: "skip", Step: "three", Digest: "of another"}, "the plan is another one; look again"},
		{control.Request{Do: "skip", Step: "t*", Digest: p.Digest}, ""},
		{control.Request{Do: "skip", Step: "four"}, ""},
		{control.Request{Do: "restore", Step: "step-0004"}, ""},
		{control.Request{Do: "approve", Step: "all"}, ""},
		{control.Request{ID: strings.Repeat("x", 101), Do: "pause"}, "a command needs an id of at most 100 bytes, by which it is known when it is sent again"},
	} {
		if got := ask(tt.r); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.r, got, tt.want)
		}
	}
	let() // one ends
	w.until("one has ended", func() bool { return w.run.Counts.Changed == 1 })
	if got := ask(control.Request{Do: "step"}); got != "" {
		t.Error(got)
	}
	let() // four
	w.until("paused again", func() bool { return w.run.Phase == events.Paused && w.run.Counts.Changed == 2 })
	if got := ask(control.Request{Do: "skip", Step: "one"}); got != "nothing here can be skipped any more" {
		t.Error(got)
	}
	if got := ask(control.Request{Do: "continue"}); got != "" {
		t.Error(got)
	}
	let()
	w.done()
	if r := w.run.Result; r.Executed != 3 || r.Skipped != 2 || r.Outcome != events.RunDone {
		t.Errorf("%+v", r)
	}
	if first, last, r := w.all[0], w.all[len(w.all)-1], w.run.Result; r.Duration+r.Waited != last.Mono-first.Mono || r.Waited <= 0 || !w.run.Started.Equal(first.Time) {
		t.Errorf("it ran %s and waited %s of %s, started %s after the start", r.Duration, r.Waited, last.Mono-first.Mono, w.run.Started.Sub(first.Time))
	}
	for _, r := range w.all {
		if c, ok := r.Event.(events.CommandAccepted); ok && (!strings.HasSuffix(c.Actor, " (attach)") || c.ID == "") {
			t.Errorf("a command of %q, id %q", c.Actor, c.ID)
		}
	}
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Dial(s.Dir()); !errors.Is(err, control.ErrNobody) {
		t.Errorf("a run that has ended: %v", err)
	}
}

// TestSameIDActsOnce sends commands twice, also to the process that resumes the run.
func TestSameIDActsOnce(t *testing.T) {
	s, w, p, g, _ := gated(t, "- shell: a\n- shell: b\n")
	ask := asker(t, s.Dir())
	for range 3 {
		if got := ask(control.Request{ID: "p", Do: "pause"}); got != "" {
			t.Error(got)
		}
		if got := ask(control.Request{ID: "q", Do: "pause"}); got != "the run is paused already" {
			t.Error(got)
		}
	}
	if got := ask(control.Request{ID: "s", Do: "stop", How: "now"}); got != "" {
		t.Error(got)
	}
	w.done()
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, r := range w.all {
		switch r.Event.(type) {
		case events.CommandAccepted, events.CommandRejected:
			commands++
		default:
		}
	}
	if commands != 3 {
		t.Errorf("%d commands were recorded, want 3", commands)
	}
	// A dead moon leaves its socket; the next takes its place, and knows what was asked before.
	if err := os.WriteFile(rundir.Socket(s.Dir()), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	f := &fake{do: func(context.Context, *exec.Job) exec.Result { <-release; return exec.Result{Outcome: events.OK} }}
	again, err := engine.Resume(engine.Config{Runner: f, Dry: f, Options: fact.Options{Forks: 1, OnFailure: fact.Drain}},
		engine.Resumption{Dir: s.Dir(), Planned: plansOf(p, g), RetryFailed: true})
	if err != nil {
		t.Fatal(err)
	}
	w = watching(t, again, false)
	if got := asker(t, s.Dir())(control.Request{ID: "s", Do: "stop", How: "now"}); got != "" {
		t.Error(got)
	}
	close(release)
	w.done()
	if w.run.Result.Outcome != events.RunDone || again.Wait() != nil {
		t.Errorf("the stop of before acted again: %+v", w.run.Result)
	}
}

// TestBadClients connects to a run in every wrong way: it goes on, and takes the commands of others.
func TestBadClients(t *testing.T) {
	assault.Tried(t, "readers that sleep, go away or lie", 8)
	s, w, _, _, let := gated(t, "- shell: a\n- shell: b\n")
	dial := func() net.Conn {
		c, err := net.Dial("unix", rundir.Socket(s.Dir()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	for range 5 {
		dial() // says nothing, reads nothing
	}
	fmt.Fprint(dial(), `{"id":"half`)
	dial().Close()
	deaf := dial() // asks and never listens
	go func() {
		for i := range 100_000 {
			deaf.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			if _, err := fmt.Fprintf(deaf, `{"id":"deaf","do":"dance","n":%d}`+"\n", i); err != nil {
				return
			}
		}
	}()
	long := dial()
	long.SetDeadline(time.Now().Add(patient))
	n, err := long.Write(bytes.Repeat([]byte("x"), 64<<20))
	if err == nil || n > 1<<20 {
		t.Errorf("a run took %d bytes of a line: %v", n, err)
	}
	broken := dial()
	fmt.Fprintln(broken, "nonsense")
	broken.SetReadDeadline(time.Now().Add(patient))
	answer := make([]byte, 1000)
	if n, err := broken.Read(answer); err != nil || !strings.HasPrefix(string(answer[:n]), `{"id":"","accepted":false,"reason":"not a command: `) {
		t.Errorf("%q, %v", answer[:n], err)
	}
	if got := asker(t, s.Dir())(control.Request{Do: "pause"}); got != "" {
		t.Error(got)
	}
	if got := asker(t, s.Dir())(control.Request{Do: "continue"}); got != "" {
		t.Error(got)
	}
	// More than are let in are sent away.
	for range 30 {
		dial()
	}
	let()
	let()
	w.done()
	if err := s.Wait(); err != nil || w.run.Result.Outcome != events.RunDone {
		t.Errorf("%v, %+v", err, w.run.Result)
	}
}

// TestFarAway runs in a directory whose name is too long for a socket.
func TestFarAway(t *testing.T) {
	p, g := build(t, "- shell: a\n")
	release := make(chan struct{})
	let := sync.OnceFunc(func() { close(release) })
	f := &fake{do: func(context.Context, *exec.Job) exec.Result { <-release; return exec.Result{Outcome: events.OK} }}
	runs := filepath.Join(t.TempDir(), strings.Repeat("long/", 40))
	s, err := engine.Start(engine.Config{Plan: p, Graph: g, Runner: f, Dry: f, Runs: runs, Options: fact.Options{Forks: 1, OnFailure: fact.Drain}})
	if err != nil {
		t.Fatal(err)
	}
	w := watching(t, s, false)
	t.Cleanup(let)
	info, err := os.Stat(rundir.Socket(s.Dir()))
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if got := asker(t, s.Dir())(control.Request{Do: "pause"}); got != "" {
		t.Error(got)
	}
	if got := asker(t, s.Dir())(control.Request{Do: "continue"}); got != "" {
		t.Error(got)
	}
	let()
	w.done()
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(rundir.Socket(s.Dir())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}
