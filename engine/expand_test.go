package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"moon/engine"
	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/plan"
	"moon/secret/vault"
)

// expanding is a playbook with a loop over what a step prints, next to a step that takes as long as the test wants.
const expanding = `
- name: both
  parallel: true
  block:
    - {name: slow, shell: slow, register: s, retries: 1, retry_delay: 0}
    - name: group
      block:
        - {name: list, shell: list, register: r}
        - {name: loop, shell: "round {{ item }}", loop: "{{ r.stdout_lines }}", register: all}
    - name: other
      block:
        - {name: list2, shell: list, register: r2}
        - {name: loop2, shell: "other {{ item }}", loop: "{{ r2.stdout_lines[:2] }}", failed_when: "s is defined and false"}
- {name: after, shell: "after {{ s.stdout }} {{ all.results | length }}"}
`

// lister runs steps that print, and holds slow until the test lets it go.
func lister(release <-chan struct{}, fails int) *fake {
	f := &fake{}
	f.do = func(ctx context.Context, job *exec.Job) exec.Result {
		switch cmd := cmdOf(job); cmd {
		case "list":
			fmt.Fprint(job.Output.Stdout(), "a\nb\nc\n")
		case "slow":
			select {
			case <-release:
			case <-ctx.Done():
				return exec.Result{Outcome: events.Cancelled}
			}
			fmt.Fprint(job.Output.Stdout(), "done")
			f.mu.Lock()
			fails--
			failing := fails >= 0
			f.mu.Unlock()
			if failing {
				return exec.Result{Outcome: events.Failed, Error: "not yet"}
			}
		}
		return exec.Result{Outcome: events.OK}
	}
	return f
}

// A step that runs while the plan gets the rounds of loops is not waited for. It ends under the new plan, with the number that it has there,
// its attempts and its output, and what comes after it has its result.
func TestExpandWhileStepsRun(t *testing.T) {
	for fails, outcome := range []events.RunOutcome{events.RunDone, events.RunDone, events.RunFailed} {
		t.Run(fmt.Sprint(fails), func(t *testing.T) {
			p, g := build(t, expanding)
			release := make(chan struct{})
			f := lister(release, fails)
			s := begin(t, p, g, f, fact.Options{OnFailure: fact.Continue})
			w := watching(t, s, true)
			ended := func() (n int) {
				for i := range w.run.Steps {
					if w.run.Steps[i].State == events.Settled {
						n++
					}
				}
				return n
			}
			// list, loop and three rounds; list2, loop2 and two rounds
			w.until("the rounds of both loops", func() bool { return ended() == 9 })
			now := s.PlanFor(w.run.Digest)
			slow := now.IndexOfPath(p.Steps[0].Path)
			if one := w.run.Steps[slow]; one.State != events.Active || one.Attempt != 1 || len(one.Out) != 1 || w.run.Counts.Running != 1 {
				t.Fatalf("slow: %+v of %+v", one, w.run.Counts)
			}
			close(release)
			w.done()
			one := w.run.Steps[now.IndexOfPath(p.Steps[0].Path)]
			if w.run.Result.Outcome != outcome || one.Attempt != min(fails, 1)+1 || len(one.Out) != one.Attempt {
				t.Errorf("%s; slow: %+v", w.run.Result.Outcome, one)
			}
			count := map[string]int{}
			for _, cmd := range f.order {
				count[cmd]++
			}
			for cmd, n := range map[string]int{
				"slow": min(fails, 1) + 1, "list": 2, "round a": 1, "round b": 1, "round c": 1, "other a": 1, "other b": 1,
				"after done 3": map[bool]int{true: 1}[outcome == events.RunDone],
			} {
				if count[cmd] != n {
					t.Errorf("%s ran %d times, not %d: %v", cmd, count[cmd], n, f.order)
				}
			}
		})
	}
}

// growing is a playbook of so many steps that do nothing, with loops of ten items among them, one after another. If they are open, a step
// before each gives its items.
func growing(steps, loops int, open bool) string {
	var b strings.Builder
	every := steps / loops
	for i := range loops {
		for k := range every - 11 {
			fmt.Fprintf(&b, "- {name: step %d of %d, shell: 'true %d.%d'}\n", k, i, i, k)
		}
		fmt.Fprintf(&b, "- {name: list %d, shell: list, register: r%d}\n", i, i)
		if open {
			fmt.Fprintf(&b, "- {name: loop %d, shell: 'round {{ item }}', loop: '{{ r%d.stdout_lines }}'}\n", i, i)
		} else {
			fmt.Fprintf(&b, "- {name: loop %d, shell: 'round {{ item }}', loop: [a, b, c, d, e, f, g, h, i, j]}\n", i)
		}
	}
	return b.String()
}

// BenchmarkExpand is a run of steps that do nothing with a hundred loops of ten items, which the run finds, against the same run with items
// that the plan has: x-known is the ratio, and x-processor that of the processor time. The runner starts no processes: where steps do, they
// take most of the time, and the ratio is smaller.
func BenchmarkExpand(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			best, busy := map[bool]time.Duration{}, map[bool]time.Duration{}
			for b.Loop() {
				for _, open := range []bool{false, true} {
					took, worked := runGrowing(b, growing(n, 100, open))
					if best[open] == 0 || took < best[open] {
						best[open] = took
					}
					if busy[open] == 0 || worked < busy[open] {
						busy[open] = worked
					}
				}
			}
			b.ReportMetric(best[true].Seconds()/best[false].Seconds(), "x-known")
			b.ReportMetric(busy[true].Seconds()/busy[false].Seconds(), "x-processor")
			b.ReportMetric(best[false].Seconds(), "known-s")
			b.ReportMetric((best[true]-best[false]).Seconds()*1000/100, "ms/expansion")
		})
	}
}

// processorTime is what this process has used so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func runGrowing(b *testing.B, text string) (took, worked time.Duration) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "playbook.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	collects := debug.SetGCPercent(400) // as the commands set it until the plan is made
	p, g, ds := engine.Build(plan.Options{Path: path, Dir: filepath.Dir(path), Facts: plan.KnownFacts{Here: map[string]any{}}})
	debug.SetGCPercent(collects)
	if p == nil {
		b.Fatalf("%+v", ds)
	}
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		if cmdOf(job) == "list" {
			fmt.Fprint(job.Output.Stdout(), "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n")
		}
		return exec.Result{Outcome: events.OK}
	}}
	began, before := time.Now(), processorTime(b)
	s, err := engine.Start(engine.Config{
		Plan: p, Graph: g, Runner: f, Dry: f, Runs: b.TempDir(), Options: fact.Options{Forks: 4, OnFailure: fact.Drain},
	})
	if err != nil {
		b.Fatal(err)
	}
	feed, failed := s.Follow(b.Context(), false)
	for range feed { // as a front end does: plans that it has passed are released
	}
	if err := errors.Join(failed(), s.Wait()); err != nil {
		b.Fatal(err)
	}
	took, worked = time.Since(began), processorTime(b)-before
	rounds := 0
	for _, cmd := range f.order {
		if strings.HasPrefix(cmd, "round") {
			rounds++
		}
	}
	if rounds != 1000 {
		b.Fatalf("%d rounds", rounds)
	}
	return took, worked
}

// A run that is stopped while the rounds of a loop are planned ends without them, and resuming it plans them first: nothing runs twice.
func TestStopWhilePlanning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "playbook.yml")
	text := `
vars:
  hidden: !vault | # it makes planning ask for a password
    $ANSIBLE_VAULT;1.1;AES256
    30613232343166643130363331336233623130373561303332353163393733383533313330643034
    3436306664656562343231643139373031306166663061310a623132633236366533633863333865
    33393834313933643665663333663136636332646537353666656331656631376364376538663532
    6435343763623334360a376566343564656336363836643432313065636137353832353963356663
    6464
steps:
  - {name: list, shell: list, register: r}
  - {name: loop, shell: "round {{ item }}", loop: "{{ r.stdout_lines }}"}
  - {name: after, shell: after}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var runs atomic.Bool
	planning, release := make(chan struct{}), make(chan struct{})
	o := plan.Options{Path: path, Dir: filepath.Dir(path), Facts: plan.KnownFacts{Here: map[string]any{}}}
	o.Outside.Vault = func() ([]vault.Password, error) {
		if runs.CompareAndSwap(true, false) {
			close(planning)
			<-release
		}
		return []vault.Password{{Text: "open sesame"}}, nil
	}
	p, g, ds := engine.Build(o)
	if p == nil {
		t.Fatalf("%+v", ds)
	}
	f := lister(nil, 0)
	runs.Store(true)
	cfg := engine.Config{Plan: p, Graph: g, Runner: f, Dry: f, Runs: t.TempDir(), Options: fact.Options{Forks: 4, OnFailure: fact.Drain}}
	s, err := engine.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	<-planning
	s.Send(events.Order{Command: events.Stop{How: events.StopDrain}})
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	close(release)
	if got := strings.Join(f.order, " "); got != "list" {
		t.Errorf("before it was stopped: %s", got)
	}
	resumed, err := engine.Resume(engine.Config{Runner: f, Dry: f, Options: cfg.Options}, engine.Resumption{
		Dir: s.Dir(), Planned: func(digest string) (*plan.Plan, *graph.Graph, error) {
			k, err := engine.ReadKept(s.Dir(), digest)
			if err != nil {
				return nil, nil, err
			}
			return k.Plan(o)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := resumed.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.order, ", "); got != "list, round a, round b, round c, after" {
		t.Errorf("resumed: %s", got)
	}
}

// interrupted runs a playbook with so many open loops until its last step fails, and gives what resumes it. taking says whether a plan is
// made from the one before it, as the commands do.
func interrupted(tb testing.TB, steps, loops int, taking bool) (f *fake, resume func() *engine.Session) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "playbook.yml")
	if err := os.WriteFile(path, []byte(growing(steps, loops, true)+"- {name: last, shell: last}\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	o := plan.Options{Path: path, Dir: filepath.Dir(path), Facts: plan.KnownFacts{Here: map[string]any{}}}
	p, g, ds := engine.Build(o)
	if p == nil {
		tb.Fatalf("%+v", ds)
	}
	fails := true
	f = &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		switch {
		case cmdOf(job) == "list":
			fmt.Fprint(job.Output.Stdout(), "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n")
		case cmdOf(job) == "last" && fails:
			return exec.Result{Outcome: events.Failed}
		}
		return exec.Result{Outcome: events.OK}
	}}
	cfg := engine.Config{Plan: p, Graph: g, Runner: f, Dry: f, Runs: tb.TempDir(), Options: fact.Options{Forks: 4, OnFailure: fact.Drain}}
	s, err := engine.Start(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		tb.Fatal(err)
	}
	fails = false
	return f, func() *engine.Session {
		plans := &engine.Remade{Make: func(digest string, other *plan.Plan) (*plan.Plan, *graph.Graph, error) {
			k, err := engine.ReadKept(s.Dir(), digest)
			if err != nil {
				return nil, nil, err
			}
			if !taking {
				return k.Plan(o)
			}
			return k.PlanFrom(other, o)
		}}
		resumed, err := engine.Resume(engine.Config{Runner: f, Dry: f, Options: cfg.Options}, engine.Resumption{
			Dir: s.Dir(), RetryFailed: true, Planned: plans.By,
		})
		if err != nil {
			tb.Fatal(err)
		}
		return resumed
	}
}

// A run that has had many plans is resumed, and nothing runs twice. The text of its playbook is kept once, and not with each plan.
func TestResumeAfterManyPlans(t *testing.T) {
	const loops = 50
	f, resume := interrupted(t, 20*loops, loops, true)
	s := resume()
	w := watching(t, s, true)
	w.done()
	if w.run.Result.Outcome != events.RunDone {
		t.Errorf("it ended %s", w.run.Result.Outcome)
	}
	count := map[string]int{}
	for _, cmd := range f.order {
		count[cmd]++
	}
	for cmd, n := range count {
		want := 1
		switch {
		case cmd == "list", strings.HasPrefix(cmd, "round "):
			want = loops
		case cmd == "last":
			want = 2
		}
		if n != want {
			t.Errorf("%s ran %d times, not %d", cmd, n, want)
		}
	}
	if len(count) != loops*(20-11)+1+10+1 {
		t.Errorf("%d commands ran", len(count))
	}
	files := func(pattern string) (n int, size int64) {
		paths, err := filepath.Glob(filepath.Join(s.Dir(), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			size = max(size, info.Size())
		}
		return len(paths), size
	}
	if n, _ := files("blobs/*"); n != 1 {
		t.Errorf("%d texts are kept", n)
	}
	if n, size := files("plans/*.json"); n != loops+1 || size > 20_000 {
		t.Errorf("%d plans are kept, of up to %d bytes", n, size)
	}
}

// BenchmarkResume resumes a run of 10,000 steps that has fifty plans, one for each of its open loops: each is made from the one before it, or
// from its sources alone.
func BenchmarkResume(b *testing.B) {
	for _, taking := range []bool{true, false} {
		b.Run(fmt.Sprintf("taking=%t", taking), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				_, resume := interrupted(b, 10_000, 50, taking)
				b.StartTimer()
				s := resume()
				b.StopTimer()
				if err := s.Wait(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
