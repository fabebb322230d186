package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"moon/events"
	"moon/events/fact"
	"moon/exec"
)

// A failed step is tried again with another value, in one command; what ran keeps its result, what is approved stays approved,
// and the journal tells another process the same.
func TestFix(t *testing.T) {
	p, g := build(t, "vars: { host: bad }\nsteps:\n  - shell: before {{ host }}\n    register: r\n  - shell: use {{ host }}\n  - shell: after {{ host }} {{ r.rc }}\n")
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		rc := 0
		if cmdOf(job) == "use bad" {
			return exec.Result{Outcome: events.Failed, Error: "no such host"}
		}
		return exec.Result{Outcome: events.OK, RC: &rc}
	}}
	s := begin(t, p, g, f, fact.Options{Review: true, BreakOnFailure: true})
	w := watching(t, s, false)
	send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
	w.until("review", func() bool { return len(w.run.Steps) > 0 && w.run.Phase == events.Review })
	send(events.Approve{Range: events.Range{From: 0, To: 3}})
	send(events.Continue{})
	w.until("the failure", func() bool { return w.run.Phase == events.Paused })
	at := p.Steps[1].Path

	refused := func(why string, c events.Fix) {
		t.Helper()
		send(c)
		w.until("refused: "+why, func() bool {
			last, ok := w.all[len(w.all)-1].Event.(events.CommandRejected)
			return ok && strings.Contains(last.Reason, why)
		})
	}
	refused("no value to change", events.Fix{})
	refused("override of host", events.Fix{Values: []events.Override{{Name: "host", Value: "["}}, Retry: at})

	send(events.Fix{Values: []events.Override{{Name: "host", Value: "good", From: at}}, Retry: at})
	w.until("the retry", func() bool { return len(w.run.Steps) == 3 && w.run.Steps[1].Outcome == events.Changed })
	if w.run.Phase != events.Paused || !w.run.Steps[2].Approved || w.run.Steps[0].Outcome != events.Changed || w.run.Steps[1].Attempt != 2 || len(w.run.Steps[1].Out) != 2 {
		t.Errorf("phase %d, %+v", w.run.Phase, w.run.Steps)
	}
	send(events.Continue{})
	w.done()
	if got := strings.Join(f.order, ", "); got != "before bad, use bad, use good, after good 0" {
		t.Errorf("ran %s", got)
	}
	if now := s.PlanFor(w.run.Digest); now == nil || now.Steps[1].Overridden[0].Text() != "host bad → good" || len(now.Steps[0].Overridden) != 0 {
		t.Errorf("the plan does not say what was overridden")
	}
}

// A secret that a person types is in no file of the run, also where the command is refused.
func TestFixKeepsSecrets(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"v.secret.yml": "token: hunter2hunter2\n", "playbook.yml": "vars_files: [v.secret.yml]\nsteps:\n  - shell: login\n    env: { T: \"{{ token }}\" }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, g := buildAt(t, filepath.Join(dir, "playbook.yml"))
	const value = "swordfish99"
	var seen string
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		seen = job.Env["T"]
		return exec.Result{Outcome: events.OK}
	}}
	s := begin(t, p, g, f, fact.Options{Review: true})
	w := watching(t, s, false)
	send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
	fix := events.Fix{Values: []events.Override{{Name: "token", Value: value}}}
	w.until("review", func() bool { return len(w.run.Steps) > 0 && w.run.Phase == events.Review })
	send(fix)
	send(events.Fix{Values: []events.Override{{Name: "token", Value: "[" + value, Secret: true}}})
	send(events.Approve{Range: events.Range{From: 0, To: 1}})
	send(events.Continue{})
	w.done()
	send(fix)
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	if seen != value {
		t.Errorf("the step did not get it: %q", seen)
	}
	err := filepath.WalkDir(s.Dir(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), value) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What asks to be confirmed asks again when a value changes what it would do.
func TestFixAsksAgain(t *testing.T) {
	p, g := build(t, "vars: { host: a }\nsteps:\n  - shell: drop {{ host }}\n    confirm: really?\n  - shell: keep {{ host }}\n")
	s := begin(t, p, g, &fake{}, fact.Options{Review: true})
	w := watching(t, s, false)
	send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
	w.until("review", func() bool { return len(w.run.Steps) > 0 && w.run.Phase == events.Review })
	send(events.Approve{Range: events.Range{From: 0, To: 2}, Confirm: true})
	w.until("confirmed", func() bool { return w.run.Steps[0].Confirmed })
	send(events.Fix{Values: []events.Override{{Name: "host", Value: "b"}}})
	w.until("the new plan", func() bool { return w.run.Generation == 2 && len(w.run.Steps) == 2 && w.run.Steps[1].Approved })
	if w.run.Steps[0].Confirmed || !w.run.Steps[0].Approved {
		t.Errorf("%+v", w.run.Steps[0])
	}
	send(events.Fix{Values: []events.Override{{Name: "host", Clear: true}}})
	w.until("the old plan", func() bool { return w.run.Generation == 3 })
	if now := s.PlanFor(w.run.Digest); now.Digest != p.Digest || len(s.Overrides()) != 0 {
		t.Error("what was overridden is not as it was")
	}
	send(events.Stop{How: events.StopDrain})
	w.done()
}

// Who sets a variable from a second terminal has not seen what changes: what does must be approved again, as after an edit.
func TestSetWithdraws(t *testing.T) {
	p, g := build(t, "vars: { host: a }\nsteps:\n  - shell: use {{ host }}\n  - shell: other\n")
	s := begin(t, p, g, &fake{}, fact.Options{Review: true})
	w := watching(t, s, false)
	send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
	send(events.Approve{Range: events.Range{From: 0, To: 2}})
	w.until("approved", func() bool { return len(w.run.Steps) == 2 && w.run.Steps[1].Approved })
	send(events.Set{Variable: "host=b"})
	w.until("the new plan", func() bool { return w.run.Generation == 2 && len(w.run.Steps) == 2 && w.run.Steps[1].Approved })
	if w.run.Steps[0].Approved {
		t.Errorf("%+v", w.run.Steps[0])
	}
	send(events.Stop{How: events.StopDrain})
	w.done()
}

// The output of an attempt whose failure was rescued is still there when the plan is replaced.
func TestReplanKeepsOutputOfRescued(t *testing.T) {
	p, g := build(t, "steps:\n  - block:\n      - shell: fail\n    rescue:\n      - shell: mend\n  - shell: stop here\n  - shell: end\n")
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		if cmdOf(job) == "fail" {
			return exec.Result{Outcome: events.Failed, Error: "no"}
		}
		return exec.Result{Outcome: events.OK}
	}}
	s := begin(t, p, g, f, fact.Options{Review: true})
	w := watching(t, s, false)
	send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
	send(events.Approve{Range: events.Range{From: 0, To: 4}})
	send(events.Break{Step: 2})
	send(events.Continue{})
	w.until("the breakpoint", func() bool { return w.run.Phase == events.Paused })
	before := w.run.Steps[0]
	send(events.Fix{Values: []events.Override{{Name: "unused", Value: "1", At: p.Steps[3].Path}}})
	w.until("the new plan", func() bool {
		return w.run.Generation == 2 && len(w.run.Steps) == 4 && w.run.Steps[0].State == events.Settled
	})
	if now := w.run.Steps[0]; !reflect.DeepEqual(now.Out, before.Out) || len(now.Out) != 1 || now.Attempt != 1 || !now.Ended.Equal(before.Ended) {
		t.Errorf("before %+v\nnow %+v", before, now)
	}
	send(events.Stop{How: events.StopDrain})
	w.done()
}
