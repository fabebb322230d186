package plain_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
	"moon/tui/plain"
)

// ended is a run of four steps that ends so: the last two are never reached.
func ended(how events.RunOutcome, second events.Event) (*plan.Plan, *events.Run) {
	p := &plan.Plan{RootFile: "site.yml", Scopes: []plan.Scope{{Parent: -1}}}
	for i, name := range []string{"install", "migrate", "start", "notify"} {
		p.Steps = append(p.Steps, plan.Step{Index: i, Name: name, Host: "localhost", Origin: diag.Origin{File: "tasks/db.yml", Line: 4 + i}})
	}
	p.Steps[1].Host = "db1"
	run := &events.Run{}
	at := time.Unix(1_800_000_000, 0)
	say := func(step int, e events.Event) {
		at = at.Add(time.Second)
		run.Apply(events.Record{Time: at, Step: step, Event: e})
	}
	say(-1, events.RunStarted{TotalSteps: 4})
	say(-1, events.PlanLoaded{TotalSteps: 4})
	say(0, events.StepStarted{Name: "install", Out: "step-0001.1"})
	say(0, events.StepCompleted{Name: "install", Changed: true})
	say(1, events.StepStarted{Name: "migrate", Out: "step-0002.1"})
	say(1, second)
	if how == events.RunDone {
		say(2, events.StepCompleted{})
		say(3, events.StepCompleted{})
	} else {
		say(2, events.StepOmitted{})
		say(3, events.StepOmitted{})
	}
	sum := run.Summary()
	sum.Outcome, sum.Duration = how, 211*time.Second
	say(-1, sum)
	return p, run
}

func TestReportWaited(t *testing.T) {
	p, run := ended(events.RunDone, events.StepCompleted{})
	for waited, want := range map[time.Duration]string{900 * time.Millisecond: "3:31\n", 41 * time.Second: "3:31   waited 41.0s\n"} {
		var b strings.Builder
		run.Result.Waited = waited
		if err := (plain.Report{Plan: p, Run: run}).Write(&b); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%v, %q is not in\n%s", err, want, b.String())
		}
	}
}

func TestReport(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"step-0002.1.out": "begin\n", "step-0002.1.err": "lock timeout\n"} {
		if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rc := 3
	failed := events.StepFailed{Error: "exit status 3\ncanceling statement\ndue to lock timeout", RC: &rc}
	resume := "Resume   moon resume                              (review first)\n"
	retry := "Retry    moon resume --retry-failed --no-tui      (retries failures, then the rest)\n"
	failure := `
✗ migrate   db1   rc 3   tasks/db.yml:5
    canceling statement
    due to lock timeout

Output   DIR/out/step-0002.1.err
` + resume + retry
	for _, c := range []struct {
		name   string
		how    events.RunOutcome
		second events.Event
		want   string
	}{
		{"failed", events.RunFailed, failed, "moon  site.yml   FAILED   2 of 4   3:31\n  ✓ 0 ok   ~ 1 changed   ✗ 1 failed   · 2 not run\n" + failure},
		{"failed and stopped", events.RunStopped, failed, "moon  site.yml   FAILED   2 of 4   3:31   stopped by you\n  ✓ 0 ok   ~ 1 changed   ✗ 1 failed   · 2 not run\n" + failure},
		{"stopped", events.RunStopped, events.StepCompleted{}, "moon  site.yml   STOPPED by you   2 of 4   3:31\n  ✓ 1 ok   ~ 1 changed   ✗ 0 failed   · 2 not run\n\nOutput   DIR/out\n" + resume},
		{"interrupted", events.RunInterrupted, events.StepCancelled{}, "moon  site.yml   INTERRUPTED   2 of 4   3:31\n  ✓ 0 ok   ~ 1 changed   ✗ 0 failed   × 1 cancelled   · 2 not run\n\nOutput   DIR/out\n" + resume},
		{"done", events.RunDone, events.StepCompleted{}, "moon  site.yml   DONE (changed)   4 of 4   3:31\n  ✓ 3 ok   ~ 1 changed   ✗ 0 failed\n\nOutput   DIR/out\n"},
		{"ignored", events.RunDone, events.StepFailed{Error: "no", Ignored: true}, "moon  site.yml   DONE (changed)   4 of 4   3:31\n  ✓ 2 ok   ~ 1 changed   ✗ 0 failed   ✗ 1 failed (ignored)\n\nOutput   DIR/out\n"},
	} {
		p, run := ended(c.how, c.second)
		var b strings.Builder
		if err := (plain.Report{Plan: p, Run: run, Dir: dir}).Write(&b); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(b.String(), dir, "DIR"); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.name, got, c.want)
		}
	}
}

// What was put in the place of other values is listed once, where a step ran with it, with the place to keep it in.
func TestOverridesUsed(t *testing.T) {
	one := plan.Overridden{Override: plan.Override{Name: "port"}, Was: 80, Now: 8080, Origin: diag.Origin{File: "site.yml", Line: 3}}
	other := plan.Overridden{Override: plan.Override{Name: "never"}, Now: "x"}
	p := &plan.Plan{RootFile: "site.yml", Scopes: []plan.Scope{{Parent: -1}}, Steps: []plan.Step{
		{Name: "serve", Overridden: []plan.Overridden{one}}, {Name: "again", Overridden: []plan.Overridden{one}}, {Name: "later", Overridden: []plan.Overridden{other}},
	}}
	run := &events.Run{Steps: []events.Step{{Attempt: 1, State: events.Settled}, {Kept: true, State: events.Settled}, {}}}
	for _, tt := range []struct {
		report plain.Report
		want   string
	}{
		{plain.Report{}, "\nOverrides used (not in your files)\n  port 80 → 8080   serve\n    to keep it, edit site.yml:3\n"},
		{plain.Report{ASCII: true}, "  port 80 -> 8080   serve\n"},
		{plain.Report{Words: true}, "  port 80 becomes 8080   serve\n"},
	} {
		tt.report.Plan, tt.report.Run = p, run
		var b strings.Builder
		if err := tt.report.Write(&b); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.Contains(got, tt.want) || strings.Contains(got, "again") || strings.Contains(got, "later") {
			t.Errorf("%q is not in\n%s", tt.want, got)
		}
	}
	s := plain.Show{PlanFor: func(string) *plan.Plan { return p }}
	s.Take(events.Record{Step: -1, Event: events.PlanLoaded{TotalSteps: 3, Digest: "d"}})
	s.Take(events.Record{Step: 0, Event: events.StepStarted{Name: "serve"}})
	var b strings.Builder
	if err := s.Write(&b); err != nil || !strings.Contains(b.String(), "to keep it, edit site.yml:3") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// What counts as done because a person has said so is named in each report, and counted as run in none that says what ran.
func TestMarkedByHand(t *testing.T) {
	p, run := ended(events.RunDone, events.StepCompleted{Marked: true})
	var b strings.Builder
	if err := (plain.Report{Plan: p, Run: run}).Write(&b); err != nil || !strings.Contains(b.String(), "\nMarked as done by hand (not run)\n  migrate   db1   tasks/db.yml:5\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
	var text, xml strings.Builder
	records := []events.Record{
		{Step: -1, Event: events.RunStarted{TotalSteps: 4}}, {Step: -1, Event: events.PlanLoaded{TotalSteps: 4}},
		{Step: 1, Event: events.StepStarted{Name: "migrate"}}, {Step: 1, Event: events.StepFailed{Name: "migrate", Error: "no"}},
		{Step: 1, Event: events.StepCompleted{Name: "migrate", Marked: true}}, {Step: -1, Event: run.Result},
	}
	feed := func() <-chan []events.Record {
		c := make(chan []events.Record, 1)
		c <- records
		close(c)
		return c
	}
	planFor := func(string) *plan.Plan { return p }
	if _, err := (&plain.Text{W: &text, PlanFor: planFor}).Follow(feed()); err != nil {
		t.Fatal(err)
	}
	junit := &plain.JUnit{PlanFor: planFor, Out: t.TempDir()}
	junit.Follow(feed())
	if err := junit.Write(&xml); err != nil {
		t.Fatal(err)
	}
	for what, in := range map[string]string{
		"  marked as done by hand\n": text.String(), "Marked as done by hand (not run)\n  step-0002  db1  migrate  (tasks/db.yml:5)\n": text.String(),
		`<skipped message="marked as done by hand">`: xml.String(),
	} {
		if !strings.Contains(in, what) {
			t.Errorf("%q is not in\n%s", what, in)
		}
	}
}
