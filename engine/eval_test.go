package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moon/engine"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/plan"
)

const evalPlaybook = `
- include_vars: all.secret.yml
- vars: {size: 3, names: [a, b]}
- name: ask
  shell: x
  register: answer
- name: quiet
  shell: x
  register: hidden
  no_log: true
- name: each
  shell: "{{ item }}"
  loop: [p, q]
- name: last
  shell: x
`

// What is watched is evaluated with what the run knows, and no secret comes of it.
func TestEval(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "playbook.yml")
	for name, text := range map[string]string{"playbook.yml": evalPlaybook, "all.secret.yml": "token: seCret-of-all-1234\nlogin: {user: ann, password: seCret-of-login-56}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, g := buildAt(t, path)
	r := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		if job.NoLog {
			_, _ = job.Output.Stdout().Write([]byte("seCret-of-no-log\n"))
		} else {
			_, _ = job.Output.Stdout().Write([]byte("forty-two\n"))
		}
		return exec.Result{Outcome: events.OK}
	}}
	s := begin(t, p, g, r, fact.Options{Forks: 1, Review: true, KeepOpen: true})
	w := watching(t, s, false)
	w.until("the review", func() bool { return w.run.Phase == events.Review && len(w.run.Steps) > 0 })

	last := len(p.Steps) - 1
	says := func(step int, text string) string {
		value, err := s.Eval(p, step, text)
		if missing, ok := errors.AsType[*plan.Missing](err); ok {
			return "after " + p.After(missing.Steps)
		}
		if err != nil {
			return "error: " + err.Error()
		}
		return value
	}
	check := func(step int, text, want string) {
		t.Helper()
		if got := says(step, text); got != want {
			t.Errorf("%s is %q, not %q", text, got, want)
		}
	}
	check(last, "size * 14", "42")
	check(last, "names", `["a","b"]`)
	check(last, "answer.stdout", "after step-0001 «ask»")
	check(last, "[1, answer]", "after step-0001 «ask»")
	check(last, "sise", "error: undefined variable `sise`; did you mean `size`?")
	check(last, "1 +", "error: "+strings.TrimPrefix(says(last, "1 +"), "error: "))
	check(3, "item", "q")
	check(1, "size", "error: the values of this step are hidden: no_log")
	check(last+1, "size", "error: there is no such step")
	for _, text := range []string{"token", "login", "token + 'x'", "[token, login.password]", "upper(token)", "'seCret-of-all-1234'", "token.nothing", "seCret-of-all-1234 +"} {
		if got := says(last, text); strings.Contains(strings.ToLower(got), "secret-of") {
			t.Errorf("%s gives a secret away: %s", text, got)
		}
	}

	s.Send(events.Order{Command: events.Approve{Range: events.Range{From: 0, To: len(p.Steps)}}})
	s.Send(events.Order{Command: events.Break{Step: last}})
	s.Send(events.Order{Command: events.Continue{}})
	w.until("the breakpoint", func() bool { return w.run.Phase == events.Paused })
	check(last, "answer.stdout", "forty-two\n")
	check(last, "hidden.stdout", "••••••••")
	if hits := w.run.Steps[last].Stop.Hits; hits != 1 {
		t.Errorf("hit %d times", hits)
	}

	// Another plan: what is asked of the old one is refused, what is kept is known to the new one.
	text := strings.Replace(evalPlaybook, "name: last\n", "name: last\n  tags: [new]\n", 1) + "- name: one more\n  shell: x\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p2, g2 := buildAt(t, path)
	if err := s.Replan(p2, g2); err != nil {
		t.Fatal(err)
	}
	check(last, "answer.stdout", "error: the plan has changed")
	p = p2
	check(last, "answer.stdout", "forty-two\n")
	s.Send(events.Order{Command: events.Stop{How: events.StopNow}})
	w.done()
	check(last, "answer.stdout", "forty-two\n") // also when it is over
}

// The steps of one breakpoint count together.
func TestHits(t *testing.T) {
	p, _ := build(t, "- {name: x, id: each, shell: x, loop: [a, b, c, d]}\n")
	list, why := engine.ParseBreak(p, "each")
	if why != "" {
		t.Fatal(why)
	}
	var run events.Run
	say := func(step int, e events.Event) { run.Apply(events.Record{Step: step, Event: e}) }
	say(-1, events.RunStarted{TotalSteps: 4})
	say(-1, events.PlanLoaded{TotalSteps: 4, Digest: p.Digest})
	for _, c := range list {
		say(-1, events.CommandAccepted{Order: events.Order{Command: c}})
	}
	var hits []int
	for i := range 4 {
		say(i, events.RunPaused{Reason: events.PauseBreakpoint})
		hits = append(hits, run.Steps[3].Stop.Hits)
	}
	say(3, events.RunPaused{Reason: events.PauseUser})
	if want := []int{1, 2, 3, 4}; !slices.Equal(hits, want) || run.Steps[0].Stop.Hits != 4 {
		t.Errorf("hits %v, then %d", hits, run.Steps[0].Stop.Hits)
	}
	say(-1, events.CommandAccepted{Order: events.Order{Command: events.Break{Step: 1, Clear: true}}})
	if run.Steps[1].Stop != nil || run.Steps[2].Stop == nil {
		t.Error("clearing one clears others, or none")
	}
}
