package engine_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"moon/engine"
	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
	"moon/plan"
)

// resumedPlays has what decides in plays about others, and is decided only in the run: includes, meta, break_when, a rescue, handlers.
const resumedPlays = `
- hosts: all
  gather_facts: false
  tasks:
    - shell: start
      register: r
    - include_tasks: more.yml
      when: r.rc == 0 and inventory_hostname == 'b'
    - meta: end_host
      when: r.rc == 0 and inventory_hostname == 'c'
    - shell: item {{ item }}
      loop: [1, 2, 3]
      loop_control: {break_when: r.rc == 0 and item == 2}
      notify: handle
    - block:
        - shell: bad
      rescue:
        - shell: rescued {{ ansible_failed_task.name }}
    - shell: once
      run_once: true
      register: o
    - shell: after {{ ansible_play_hosts | join(',') }} {{ o.rc }}
  handlers:
    - name: handle
      shell: handled
- hosts: all
  gather_facts: false
  tasks:
    - shell: second
`

// TestResumePlaysFromEverywhere dies after every record of a run of plays and resumes: what decided about others is known again, so
// that on each host the same comes of it as in an unbroken run, and nothing that ended well is run twice.
func TestResumePlaysFromEverywhere(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"site.yml": resumedPlays, "more.yml": "- shell: more\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, g := graphtest.PlanSite(t, dir, "site.yml", "a,b,c")
	var mu sync.Mutex
	run := func(did *[]string) *fake {
		return &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
			rc, cmd := 0, cmdOf(job)
			if cmd == "bad" {
				rc = 1
				return exec.Result{Outcome: events.Failed, Error: "exit status 1", RC: &rc}
			}
			mu.Lock()
			defer mu.Unlock()
			if job.Action == "shell" {
				*did = append(*did, job.HostName+" "+cmd)
			}
			return exec.Result{Outcome: events.OK, RC: &rc}
		}}
	}
	var whole []string
	s := begin(t, p, g, run(&whole), fact.Options{Forks: 1, OnFailure: fact.Host})
	w := watching(t, s, false)
	w.done()
	if err := s.Wait(); err != nil || w.run.Result.Outcome != events.RunDone {
		t.Fatalf("%v, %+v", err, w.run.Result)
	}
	slices.Sort(whole)
	want := strings.Split("a after a,b 0|a handled|a item 1|a item 2|a once|a rescued bad|a second|a start|"+
		"b after a,b 0|b handled|b item 1|b item 2|b more|b rescued bad|b second|b start|c second|c start", "|")
	if !slices.Equal(whole, want) {
		t.Fatalf("ran\n%s", strings.Join(whole, "\n"))
	}
	text, err := os.ReadFile(filepath.Join(s.Dir(), "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines = lines[:len(lines)-1]
	for k := 2; k < len(lines)-1; k++ {
		dir := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(dir, os.DirFS(s.Dir())); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "journal.jsonl"), bytes.Join(lines[:k], nil), 0o600); err != nil {
			t.Fatal(err)
		}
		did := endedOnHosts(t, dir, p)
		if _, err := resume(t, dir, p, g, run(&did), engine.Resumption{Lost: fact.LostRetry, RetryFailed: true}); err != nil {
			t.Fatalf("after %d records: %v", k, err)
		}
		slices.Sort(did)
		if !slices.Equal(did, want) {
			t.Errorf("after %d records ran\n%s", k, strings.Join(did, "\n"))
		}
	}
}

// TestResumeKeepsOrder: a map that a step has set has the same order after a run was resumed, also where only the run knew the map,
// and where it is too large for a record.
func TestResumeKeepsOrder(t *testing.T) {
	dir := t.TempDir()
	playbook := `
- hosts: a
  gather_facts: false
  tasks:
    - shell: first
      register: r
    - set_fact:
        known: {zeta: 1, alpha: {y: [{d: 1, c: 2}], b: 3}, 80: port}
        late: "{{ {'zeta': r.rc, 'alpha': {'y': [{'d': 1, 'c': 2}], 'b': 3}, 80: 'port'} }}"
        large: "{{ dict(range(900, 0, -1) | map('string') | map('regex_replace', '$', 'x' * (20 + r.rc)) | zip(range(900))) }}"
    - shell: show {{ known }} {{ late }} {{ large | dict2items | map(attribute='value') | join(' ') | hash }}
`
	if err := os.WriteFile(filepath.Join(dir, "site.yml"), []byte(playbook), 0o600); err != nil {
		t.Fatal(err)
	}
	p, g := graphtest.PlanSite(t, dir, "site.yml", "a,")
	run := func(did *[]string) *fake {
		return &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
			rc := 0
			if set, ok := job.Args.(*spec.SetFactArgs); ok {
				return exec.Result{Outcome: events.OK, Values: set.Values}
			}
			*did = append(*did, cmdOf(job))
			return exec.Result{Outcome: events.OK, RC: &rc}
		}}
	}
	var whole []string
	s := begin(t, p, g, run(&whole), fact.Options{Forks: 1, OnFailure: fact.Host})
	w := watching(t, s, false)
	w.done()
	if err := s.Wait(); err != nil || len(whole) != 2 {
		t.Fatalf("%v, ran %q", err, whole)
	}
	one := "{'zeta': %s, 'alpha': {'y': [{'d': 1, 'c': 2}], 'b': 3}, 80: 'port'}"
	if want := "show " + strings.Replace(one, "%s", "1", 1) + " " + strings.Replace(one, "%s", "0", 1) + " "; !strings.HasPrefix(whole[1],
		want) {
		t.Errorf("ran %q, want %q", whole[1], want)
	}
	text, err := os.ReadFile(filepath.Join(s.Dir(), "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for k := 2; k < len(lines); k++ {
		dir := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(dir, os.DirFS(s.Dir())); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "journal.jsonl"), bytes.Join(lines[:k], nil), 0o600); err != nil {
			t.Fatal(err)
		}
		did := endedOnHosts(t, dir, p)
		if slices.ContainsFunc(did, func(c string) bool { return strings.Contains(c, "show") }) {
			break // nothing is left to be run
		}
		did = nil
		if _, err := resume(t, dir, p, g, run(&did), engine.Resumption{Lost: fact.LostRetry}); err != nil {
			t.Fatalf("after %d records: %v", k, err)
		}
		if got := did[len(did)-1]; got != whole[1] {
			t.Errorf("after %d records ran %q, want %q", k, got, whole[1])
		}
	}
}

// endedOnHosts are the commands that had ended well, with their hosts, according to a journal.
func endedOnHosts(t *testing.T, dir string, p *plan.Plan) (did []string) {
	t.Helper()
	names := map[int]string{}
	if _, _, err := reopen(filepath.Join(dir, "journal.jsonl"), func(r fact.Record) {
		switch f := r.Fact.(type) {
		case fact.AttemptStarted:
			names[f.Step] = strings.TrimPrefix(f.Command, "shell: ")
		case fact.AttemptFinished:
			if s := &p.Steps[f.Step]; s.Action == "shell" && !events.Bad.Has(f.Outcome) {
				did = append(did, s.Host+" "+names[f.Step])
			}
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	return did
}

// TestResumeLostHost takes a step whose host went away while it ran for what the person says, and does nothing twice.
func TestResumeLostHost(t *testing.T) {
	dir := t.TempDir()
	site := "- hosts: all\n  gather_facts: false\n  tasks:\n    - shell: long\n    - shell: after\n"
	if err := os.WriteFile(filepath.Join(dir, "site.yml"), []byte(site), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hosts"), []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, g, ds := engine.Build(plan.Options{
		Path: filepath.Join(dir, "site.yml"), Dir: dir,
		Hosts: plan.HostSelection{Inventory: []string{filepath.Join(dir, "hosts")}},
	})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	for _, tt := range []struct {
		as   fact.LostAs
		ran  string
		want events.RunOutcome
	}{{fact.LostRetry, "b after|b long", events.RunDone}, {fact.LostOK, "b after", events.RunDone}, {fact.LostFail, "", events.RunFailed}} {
		var mu sync.Mutex
		var ran []string
		away := true
		f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
			mu.Lock()
			defer mu.Unlock()
			ran = append(ran, job.Host.Name+" "+cmdOf(job))
			if away && job.Host.Name == "b" {
				return exec.Result{Outcome: events.Lost, Class: fault.Transient, Error: "the connection broke"}
			}
			return exec.Result{Outcome: events.OK}
		}}
		s := begin(t, p, g, f, fact.Options{OnFailure: fact.Host})
		w := watching(t, s, false)
		w.done()
		if err := s.Wait(); err != nil || w.run.Result.Outcome != events.RunFailed {
			t.Fatalf("%v, %+v", err, w.run.Result)
		}
		var undecided *engine.UndecidedError
		_, err := resume(t, s.Dir(), p, g, f, engine.Resumption{RetryFailed: true})
		if !errors.As(err, &undecided) || len(undecided.Lost) != 1 || len(undecided.Failed) > 0 {
			t.Fatalf("resumed without a word about the lost step: %v", err)
		}
		away, ran = false, nil
		w, err = resume(t, s.Dir(), p, g, f, engine.Resumption{Lost: tt.as})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(ran)
		if got := strings.Join(ran, "|"); got != tt.ran || w.run.Result.Outcome != tt.want {
			t.Errorf("%s: ran %q, ended %+v", tt.as, got, w.run.Result)
		}
		for i := range w.run.Steps {
			if st := &w.run.Steps[i]; st.Outcome == events.Lost && st.Error != "the connection broke" {
				t.Errorf("%s: it is said to be lost because %q", tt.as, st.Error)
			}
		}
	}
}
