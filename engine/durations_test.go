package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"moon/engine"
	"moon/engine/durations"
	"moon/engine/graph"
	"moon/engine/history"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/plan"
)

// timed is a runner whose steps take the time that is said for their command, on a clock that only they move.
type timed struct {
	fake
	takes map[string]time.Duration
	clock atomic.Int64
}

func newTimed(takes map[string]time.Duration, do func(cmd string) exec.Result) *timed {
	f := &timed{takes: takes}
	f.do = func(_ context.Context, job *exec.Job) exec.Result {
		f.clock.Add(int64(f.takes[cmdOf(job)]))
		if do == nil {
			return exec.Result{Outcome: events.OK}
		}
		return do(cmdOf(job))
	}
	return f
}

func (f *timed) now() time.Time { return time.Unix(1_800_000_000, f.clock.Load()) }

func (f *timed) config(p *plan.Plan, g *graph.Graph, runs, durations string) engine.Config {
	return engine.Config{
		Plan: p, Graph: g, Runner: f, Dry: f, Runs: runs, Durations: durations, Now: f.now,
		Options: fact.Options{Forks: 1, OnFailure: fact.Drain},
	}
}

// runTo starts a run and waits for its end.
func runTo(t *testing.T, c engine.Config) *watch {
	t.Helper()
	s, err := engine.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	w := watching(t, s, false)
	w.done()
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	return w
}

// remembered is what the one file in a directory says, by the last word of a step's path.
func remembered(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) > 1 {
		t.Fatal(files, err)
	}
	got := map[string]string{}
	if len(files) == 0 {
		return got
	}
	info, err := os.Stat(files[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Steps map[string]int64 `json:"steps_us"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	for path, us := range f.Steps {
		got[path[strings.LastIndexByte(path, '/')+1:]] = (time.Duration(us) * time.Microsecond).String()
	}
	return got
}

func wantRemembered(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	if got := remembered(t, dir); !maps.Equal(got, want) {
		t.Errorf("remembered %v, want %v", got, want)
	}
}

const timedPlaybook = `
- name: slow
  shell: slow
- name: bad
  shell: bad
  ignore_errors: true
- name: never
  shell: never
  when: 1 == 2
- name: flaky
  shell: flaky
  retries: 1
  retry_delay: 0
- name: dry
  shell: dry
  check_mode: true
- name: real
  shell: real
  check_mode: false
`

// TestDurations runs a playbook again and again and looks at what is remembered of it.
func TestDurations(t *testing.T) {
	p, g := build(t, timedPlaybook)
	dir := filepath.Join(t.TempDir(), "durations")
	tries := 0
	takes := map[string]time.Duration{"slow": 10 * time.Second, "bad": time.Hour, "flaky": time.Second, "real": time.Second}
	f := newTimed(takes, func(cmd string) exec.Result {
		if cmd == "flaky" {
			tries++
		}
		if cmd == "bad" || cmd == "flaky" && tries == 1 {
			return exec.Result{Outcome: events.Failed, Error: "no"}
		}
		return exec.Result{Outcome: events.OK}
	})
	c := f.config(p, g, t.TempDir(), dir)
	runTo(t, c)
	wantRemembered(t, dir, map[string]string{"slow": "10s", "flaky": "2s", "real": "1s"}) // both attempts; nothing of what failed or was skipped

	takes["slow"], takes["flaky"] = 20*time.Second, 2*time.Second
	runTo(t, c)
	wantRemembered(t, dir, map[string]string{"slow": "13s", "flaky": "2s", "real": "1s"})

	takes["slow"], takes["real"] = time.Hour, time.Hour
	c.Options.Check = true
	runTo(t, c)
	wantRemembered(t, dir, map[string]string{"slow": "13s", "flaky": "2s", "real": "1s"})
	c.Options.Check = false

	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	takes["slow"], takes["real"] = 4*time.Second, time.Second
	for _, damaged := range []string{"", "{", `{"steps_us":{"x/a":-5}}`, `{"steps_us":{"x/a":"b"}}`, `[1]`} {
		if err := os.WriteFile(files[0], []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if w := runTo(t, c); w.run.Result.Outcome != events.RunDone {
			t.Errorf("%q: %+v", damaged, w.run.Result)
		}
		wantRemembered(t, dir, map[string]string{"slow": "4s", "flaky": "2s", "real": "1s"})
	}
}

// TestDurationsCannotBeKept gives a run no place to remember anything in: it ends as it would have, with a warning.
func TestDurationsCannotBeKept(t *testing.T) {
	p, g := build(t, "- shell: a\n")
	dir := filepath.Join(t.TempDir(), "durations")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := runTo(t, newTimed(nil, nil).config(p, g, t.TempDir(), dir))
	warned := false
	for _, r := range w.all {
		if e, ok := r.Event.(events.Warning); ok {
			warned = warned || strings.HasPrefix(e.Message, "how long the steps took is not remembered: ")
		}
	}
	if !warned || w.run.Result.Outcome != events.RunDone {
		t.Errorf("warned %t, %+v", warned, w.run.Result)
	}
}

// TestDurationsOfAResumedRun counts what a step took once, by the process that ran it.
func TestDurationsOfAResumedRun(t *testing.T) {
	p, g := build(t, "- name: a\n  shell: a\n- name: b\n  shell: b\n")
	dir, takes := t.TempDir(), map[string]time.Duration{"a": 3 * time.Second, "b": time.Second}
	broken := true
	f := newTimed(takes, func(cmd string) exec.Result {
		if cmd == "b" && broken {
			return exec.Result{Outcome: events.Failed, Error: "no"}
		}
		return exec.Result{Outcome: events.OK}
	})
	c := f.config(p, g, t.TempDir(), dir)
	s, err := engine.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	wantRemembered(t, dir, map[string]string{"a": "3s"})
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if err := os.Remove(files[0]); err != nil { // what is remembered again was counted again
		t.Fatal(err)
	}
	broken = false
	again, err := engine.Resume(c, engine.Resumption{Dir: s.Dir(), RetryFailed: true, Planned: plansOf(p, g)})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Wait(); err != nil {
		t.Fatal(err)
	}
	wantRemembered(t, dir, map[string]string{"b": "1s"})
}

// TestDurationsOfARetry has a person try a step again after a long while: what the person took is not the step's.
func TestDurationsOfARetry(t *testing.T) {
	p, g := build(t, "- name: a\n  shell: a\n")
	dir, broken := t.TempDir(), true
	f := newTimed(map[string]time.Duration{"a": 5 * time.Second}, func(string) exec.Result {
		if broken {
			return exec.Result{Outcome: events.Failed, Error: "no"}
		}
		return exec.Result{Outcome: events.OK}
	})
	c := f.config(p, g, t.TempDir(), dir)
	c.Options.BreakOnFailure = true
	s, err := engine.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	w := watching(t, s, false)
	w.until("the failure", func() bool { return w.run.Phase == events.Paused })
	f.clock.Add(int64(time.Hour))
	broken = false
	s.Send(events.Order{Command: events.Retry{Range: events.Range{From: 0, To: 1}}})
	w.until("the second attempt", func() bool { return w.run.Steps[0].Outcome == events.Changed })
	s.Send(events.Order{Command: events.Continue{}})
	w.done()
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	wantRemembered(t, dir, map[string]string{"a": "5s"})
}

// TestDurationsAreBounded keeps a file from growing with every playbook that was ever at its place.
func TestDurationsAreBounded(t *testing.T) {
	p := &plan.Plan{Steps: make([]plan.Step, 4)}
	for i := range p.Steps {
		p.Steps[i].Path = fmt.Sprintf("new/%d", i)
	}
	d := durations.Steps{"new/0": 1, "new/1": 1, "new/3": 1, "old/1": 1, "old/2": 1}
	d.Trim(p, 4)
	if want := (durations.Steps{"new/0": 1, "new/1": 1, "new/3": 1, "old/1": 1}); !maps.Equal(d, want) {
		t.Errorf("kept %v", d)
	}
	d.Trim(p, 2)
	if want := (durations.Steps{"new/0": 1, "new/1": 1}); !maps.Equal(d, want) {
		t.Errorf("kept %v", d)
	}
}

// TestLongestFirst runs two branches with one slot: first in the order they are written in, for nothing is known of them,
// and then the one that takes longer first. Both runs are told from their journals as they went, without what was
// remembered.
func TestLongestFirst(t *testing.T) {
	p, g := build(t, branches)
	runs, durations := t.TempDir(), t.TempDir()
	takes := map[string]time.Duration{"a1": time.Second, "a2": time.Second, "b1": time.Second, "b2": time.Minute}
	for _, want := range []string{"a1 b1 a2 b2", "b1 b2 a1 a2"} {
		f := newTimed(takes, nil)
		w := runTo(t, f.config(p, g, runs, durations))
		if got := strings.Join(f.order, " "); got != want {
			t.Errorf("ran %s, want %s", got, want)
		}
		past, err := history.Find(runs, w.run.ID)
		if err != nil {
			t.Fatal(err)
		}
		told, err := watched(t, past.Dir, p, g)
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, r := range told {
			if e, ok := r.Event.(events.StepStarted); ok {
				order = append(order, e.Name)
			}
		}
		if got := strings.Join(order, " "); got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	}
}

const branches = `
- parallel: true
  block:
    - block: [{shell: a1}, {shell: a2}]
    - block: [{shell: b1}, {shell: b2}]
`

// TestLongestFirstLater has what is known of the steps outlive an edit of the plan, and come back in another process.
func TestLongestFirstLater(t *testing.T) {
	for _, how := range []string{"edited", "resumed"} {
		t.Run(how, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "playbook.yml")
			planned := func(first string) (*plan.Plan, *graph.Graph) {
				if err := os.WriteFile(path, []byte("- shell: "+first+branches), 0o600); err != nil {
					t.Fatal(err)
				}
				return buildAt(t, path)
			}
			p, g := planned("good")
			durations := t.TempDir()
			f := newTimed(map[string]time.Duration{"b2": time.Minute}, func(cmd string) exec.Result {
				if cmd == "bad" {
					return exec.Result{Outcome: events.Failed, Error: "no"}
				}
				return exec.Result{Outcome: events.OK}
			})
			runTo(t, f.config(p, g, t.TempDir(), durations))
			bad, badGraph := planned("bad")
			c := f.config(bad, badGraph, t.TempDir(), durations)
			c.Options.BreakOnFailure = how == "edited"
			s, err := engine.Start(c)
			if err != nil {
				t.Fatal(err)
			}
			if how == "edited" {
				w := watching(t, s, false)
				w.until("the failure", func() bool { return w.run.Phase == events.Paused })
				if err := s.Replan(p, g); err != nil {
					t.Fatal(err)
				}
				s.Send(events.Order{Command: events.Continue{}})
				w.done()
			} else {
				if err := s.Wait(); err != nil {
					t.Fatal(err)
				}
				c.Plan, c.Graph = p, g
				s, err = engine.Resume(c, engine.Resumption{Dir: s.Dir(), RetryFailed: true, Planned: plansOf(bad, badGraph)})
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Wait(); err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Join(f.order[5:], " "), "bad good b1 b2 a1 a2"; got != want {
				t.Errorf("ran %s, want %s", got, want)
			}
		})
	}
}

// TestForecast compares what is expected of a plan with what its steps took: nothing before the first run, and in a dry
// run.
func TestForecast(t *testing.T) {
	p, g := build(t, "- shell: first\n"+branches+"- name: new\n  shell: new\n  when: 1 == 2\n")
	durations := t.TempDir()
	takes := map[string]time.Duration{"first": 8 * time.Second, "a1": time.Second, "a2": 2 * time.Second, "b1": 3 * time.Second, "b2": 4 * time.Second}
	f := newTimed(takes, nil)
	c := f.config(p, g, t.TempDir(), durations)
	c.Options.Forks = 3
	forecasts := func(c engine.Config) *events.Forecast {
		t.Helper()
		s, err := engine.Start(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Wait(); err != nil {
			t.Fatal(err)
		}
		if s.Forecast("another plan") != nil {
			t.Error("a plan that is not there has a forecast")
		}
		return s.Forecast(p.Digest)
	}
	if got := forecasts(f.config(p, g, t.TempDir(), durations)); got != nil {
		t.Errorf("before the first run: %+v", got)
	}
	got := forecasts(c)
	if got == nil {
		t.Fatal("nothing is known")
	}
	want := &events.Forecast{Slots: 3, Took: make([]time.Duration, 6), Rest: make([]time.Duration, 6)}
	for i, s := range [][2]time.Duration{{8, 15}, {1, 3}, {2, 2}, {3, 7}, {4, 4}, {0, 0}} {
		want.Took[i], want.Rest[i] = s[0]*time.Second, s[1]*time.Second
	}
	want.Took[5] = got.Took[5] // it never ran: not known, or known to be skipped
	want.Last = got.Last       // see TestLastRun
	if want.Took[5] > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	c.Options.Check = true
	if got := forecasts(c); got != nil {
		t.Errorf("in a dry run: %+v", got)
	}
}
