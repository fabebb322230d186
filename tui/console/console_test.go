package console

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/internal/diag"
	"moon/plan"
	"moon/tui/tuitest"
)

func TestReview(t *testing.T) {
	k := newTalk(t, release())
	want := strings.TrimSpace(`
REVIEW site.yml a release, 10 steps, 1 excluded, 1 needs confirmation.
1. say hello, not approved.
2. include packages.yml, 3 steps, not approved.
2.1. update the index, not approved.
2.2. loop install, 2 steps, not approved.
2.2.1. install git, not approved.
2.2.2. install tmux, not approved.
3. block migrate the schema, 3 steps, not approved.
3.1. stop the app, not approved.
3.2. run the migration, not approved.
3.3. rescue, 1 step, not approved.
3.3.1. restore the backup, not approved.
4. drop the old tables, CONFIRM.
5. include windows.yml, skipped: os == "windows" is false.
6. vacuum, excluded.
7. check the site, not approved.
approve all, approve safe (all except what needs confirmation) or approve N. then run, or step. show N, skip N, break N, help, quit.`)
	if got := k.said(); got != want {
		t.Errorf("got\n%s", got)
	}
	k.says("", "REVIEW site.yml, 10 steps, 8 not approved, 1 needs confirmation, 1 excluded.",
		"nothing has run. approve all, approve safe, approve N, run, step, show, help, quit.")
	k.says("3.2", "3.2. run the migration, not approved.", "shell: do run the migration", "from site.yml line 35")
	k.says("show 4", "4. drop the old tables, CONFIRM.", "shell: do drop the old tables", "confirm: Drop the tables of 1.3?", "from site.yml line 37")
	k.says("show loop install", "2.2. loop install, 2 steps, not approved.", "loop: packages", "from site.yml line 12", "2.2.1. install git, not approved.", "2.2.2. install tmux, not approved.")
	k.says("find INSTALL", "2.2. loop install, 2 steps, not approved.", "2.2.1. install git, not approved.", "2.2.2. install tmux, not approved.")
	k.says("next", "4. drop the old tables, CONFIRM.")
	k.says("run", "nothing is approved. approve all, or approve safe; step runs one step.")
	if len(k.engine.Sent) > 0 {
		t.Errorf("looking has sent %v", k.engine.Sent)
	}
}

// TestCommands is what each line sends.
func TestCommands(t *testing.T) {
	all, digest, migration := events.Range{From: 0, To: 10}, release().Digest, release().Steps[5].Path
	tests := []struct {
		lines string // those before the last are for getting there
		want  events.Command
	}{
		{"approve safe", events.Approve{Range: all, Digest: digest}},
		{"approve all", events.Approve{Range: all, Digest: digest, Confirm: true}},
		{"a 4", events.Approve{Range: events.Range{From: 7, To: 8}, Digest: digest, Confirm: true}},
		{"approve 2", events.Approve{Range: events.Range{From: 1, To: 4}, Digest: digest}},
		{"approve 2.1, 3", events.Approve{Range: events.Range{From: 4, To: 7}, Digest: digest}},
		{"approve stop the app", events.Approve{Range: events.Range{From: 4, To: 5}, Digest: digest}},
		{"approve step-0003", events.Approve{Range: events.Range{From: 2, To: 3}, Digest: digest}},
		{"approve all;unapprove 2", events.Withdraw{Range: events.Range{From: 1, To: 4}}},
		{"skip 3", events.Exclude{Range: events.Range{From: 4, To: 7}}},
		{"x 2.2.2", events.Exclude{Range: events.Range{From: 3, To: 4}}},
		{"exclude 3;restore 3", events.Include{Range: events.Range{From: 4, To: 7}}},
		{"break 3", events.Break{Step: 4, To: 5}},
		{"break 3 if x == 1 after 2 log at {{ x }}", events.Break{Step: 4, To: 7, When: "x == 1", After: 2, Log: "at {{ x }}"}},
		{"b stop the app if a or b", events.Break{Step: 4, To: 5, When: "a or b"}},
		{"break 3;clear 3", events.Break{Step: 4, To: 7, Clear: true}},
		{"approve all;run", events.Continue{}},
		{"approve all;c", events.Continue{}},
		{"step", events.Advance{Verb: "step", Approve: true}},
		{"over", events.Advance{Verb: "over", Range: events.Range{From: 0, To: 1}, Approve: true}},
		{"step;over 2", events.Advance{Verb: "over", Range: events.Range{From: 1, To: 4}, Approve: true}},
		{"step;out", events.Advance{Verb: "out", Range: events.Range{From: 1, To: 4}}},
		{"approve all;until 3.2", events.Advance{Verb: "until", Range: events.Range{From: 0, To: 5}}},
		{"approve all;run;retry", events.Retry{Range: events.Range{From: 5, To: 6}}},
		{"approve all;run;retry all", events.Retry{Range: all}},
		{"approve all;run;r 3", events.Retry{Range: events.Range{From: 4, To: 7}}},
		{"approve all;run;skip", events.Skip{Step: 5}},
		{"approve all;run;c", events.Continue{}},
		{"set lock_timeout=60s", events.Fix{Values: []events.Override{{Name: "lock_timeout", Value: `"60s"`, From: "say hello"}}}},
		{"edit lock_timeout;  60  s ;y", events.Fix{Values: []events.Override{{Name: "lock_timeout", Value: `"60  s"`, From: "say hello"}}}},
		{"edit of 3.2;edit lock_timeout of 3.2;60s;yes", events.Fix{Values: []events.Override{{Name: "lock_timeout", Value: `"60s"`, At: migration, From: migration}}}},
		{"edit block lock_timeout of 3.2=60s", events.Fix{Values: []events.Override{{Name: "lock_timeout", Value: `"60s"`, At: "/migrate the schema", From: migration}}}},
		{"approve all;run;edit lock_timeout;60s;block", events.Fix{Values: []events.Override{{Name: "lock_timeout", Value: `"60s"`, At: "/migrate the schema", From: migration}}}},
		{"approve all;run;e 1;60s;maybe;rest", events.Fix{Values: []events.Override{{Name: "lock_timeout", Value: `"60s"`, From: migration}}}},
		{"approve all;run;edit cmd = true", events.Fix{Values: []events.Override{{Field: "args", Name: "cmd", Value: `"true"`, At: migration, From: migration}}}},
		{"approve all;run;edit args.cmd;true;y", events.Fix{Values: []events.Override{{Field: "args", Name: "cmd", Value: `"true"`, At: migration, From: migration}}}},
		{"approve all;run;edit cwd=/tmp", events.Fix{Values: []events.Override{{Field: "cwd", Value: `"/tmp"`, At: migration, From: migration}}}},
		{"approve 1;run;y", events.Approve{Range: events.Range{From: 1, To: 2}, Digest: digest}},
		{"approve 1;run;n", events.Exclude{Range: events.Range{From: 1, To: 2}}},
		{"quit", events.Stop{How: events.StopInterrupt}},
		{"step;quit;stop", events.Stop{How: events.StopInterrupt}},
		{"step;q;wait", events.Stop{How: events.StopDrain}},
		{"approve all;run;c;quit", events.Leave{}},
	}
	for _, tt := range tests {
		t.Run(tt.lines, func(t *testing.T) {
			k := newTalk(t, release(), func(_ *Options, f *tuitest.Engine) { f.Fails["run the migration"] = 1 })
			lines := strings.Split(tt.lines, ";")
			for _, line := range lines[:len(lines)-1] {
				k.types(line)
			}
			sent := len(k.engine.Sent)
			said := k.types(lines[len(lines)-1])
			if len(k.engine.Sent) == sent {
				t.Fatalf("nothing was sent; it says\n%s", said)
			}
			if got := k.last(); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("sent %#v, not %#v", got, tt.want)
			}
		})
	}
}

// TestNothingIsDone is what is wrong with a line, in words; nothing is sent.
func TestNothingIsDone(t *testing.T) {
	tests := []struct{ line, want string }{
		{"aprove all", "there is no command aprove. did you mean approve? nothing was done."},
		{"xyzzy", "there is no command xyzzy; help lists those there are. nothing was done."},
		{"ex", "ex may be exclude or exit. type more of it."},
		{"step 3", "step takes nothing after it, and 3 was typed. nothing was done."},
		{"run everything", "run takes nothing after it, and everything was typed. nothing was done."},
		{"approve", "approve what? all, safe (all except what needs confirmation), or numbers."},
		{"approve 9", "the plan has no 9. list lists its numbers."},
		{"approve 2 9", "the plan has no 9. list lists its numbers."},
		{"approve stop the ap", "no step is `stop the ap`; did you mean `stop the app`?"},
		{"skip 6", "excluded by tags or selection."},
		{"restore 1", "nothing here was excluded by skip."},
		{"until 1", "the run has already passed that, or is about to start it."},
		{"over 3", "the next step is step 1 say hello; over takes that, or a part of the plan that begins with it."},
		{"retry", "nothing to retry here."},
		{"pause", "it is already paused."},
		{"yes", "nothing is asking yet. approve all, approve safe, or approve N."},
		{"set lock_timeout", "set what? set NAME=VALUE."},
		{"edit lock_timeot", "there is no value lock_timeot; did you mean lock_timeout?"},
		{"set lock_timeot=60s", "there is no value lock_timeot; did you mean lock_timeout? nothing was done."},
		{"edit 7", "there is no value 7: edit lists them. for a step, write of before its number: edit of 7."},
		{"edit rest cwd of 1=/tmp", "cwd can be changed for this step only. nothing was done."},
		{"edit =5", "edit what? edit NAME=VALUE."},
		{"set lock_timeout=broken", "it cannot be planned so: site.yml:3: there is no such release. nothing was done."},
		{"set lock_timeout=5s", "lock_timeout is already that."},
		{"edit a.b of 1=1", "names have no dots; env.NAME and args.NAME are those of the step."},
		{"undo", "no value is overridden."},
		{"overrides", "no value is overridden."},
		{"watch x", "nothing can be evaluated here."},
		{"output 1 attempt 2", "step 1 say hello has not run."},
		{"shell 1", "a shell is not available here."},
		{"editor 1", "there is no editor here."},
		{"output 2", "2 is a part of the plan, and not a step. show 2 lists what is in it."},
		{"output 1", "step 1 say hello has not run."},
		{"diff 1", "unknown until it runs."},
		{"break 3 after 99999999999999999999", "after 99999999999999999999 is too often."},
		{"clear 1", "there was no breakpoint."},
		{"more", "there is no more."},
	}
	for _, tt := range tests {
		k := newTalk(t, release())
		k.says(tt.line, tt.want)
		if n := len(k.engine.Sent); n > 0 && tt.line != "clear 1" {
			t.Errorf("%s sent %v", tt.line, k.engine.Sent)
		}
	}
}

// TestFailure is a run from the review to its end: failure, another value, retry, a step that asks.
func TestFailure(t *testing.T) {
	var bell strings.Builder
	k := newTalk(t, release(), func(o *Options, f *tuitest.Engine) { f.Fails["run the migration"], o.Terminal = 1, &bell })
	k.says("approve safe", "approved 8 steps, 1 step needs confirmation: approve its own number, or all.")
	k.says("break 2.2.2", "stops before step 2.2.2 install tmux.")
	k.says("run",
		"running.",
		"ok step 1 say hello, 2 seconds.",
		"changed step 2.1 update the index, 2 seconds.",
		"ok step 2.2.1 install git, 2 seconds.",
		"PAUSED at the breakpoint before step 2.2.2 install tmux. step, over, run, show, diff, vars, quit.")
	if bell.Len() > 0 {
		t.Error("a breakpoint rings")
	}
	k.says("breaks", "step 2.2.2 install tmux.")
	k.says("run",
		"running.",
		"ok step 2.2.2 install tmux, 2 seconds.",
		"changed step 3.1 stop the app, 2 seconds.",
		"FAILED step 3.2 run the migration, rc 1, 2 seconds.",
		"  exit status 1",
		"  ERROR: lock timeout",
		"  cancelling",
		"PAUSED on failure of step 3.2 run the migration. retry, edit NAME, editor, skip, quit; run runs the rescue, then continues.")
	if bell.String() != "\a" {
		t.Errorf("a failure rings %q", bell.String())
	}
	k.says("why 3.3.1", "step 3.3.1 restore the backup is waiting because the run is paused.")
	k.says("vars", "step 3.2 run the migration uses:", "lock_timeout is 5s, from defaults.yml line 3")
	k.says("edit lock_timeout", "lock_timeout is 5s, from defaults.yml line 3. new value (empty keeps it):")
	k.says("", "unchanged.")
	k.says("retry", "trying 1 step again.", "ok step 3.2 run the migration, 2 seconds.", "PAUSED after step 3.2 run the migration, which is ok now. run continues, step runs one step, quit.")
	k.says("run",
		"running.",
		"skipped step 3.3.1 restore the backup, when: nothing failed.",
		"PAUSED before step 4 drop the old tables, which needs confirmation. Drop the tables of 1.3? yes, no, show, quit.")
	k.says("step", "step 4 drop the old tables needs confirmation: approve 4 confirms it.")
	k.says("run", "step 4 drop the old tables is not approved: yes approves it, no excludes it, approve all approves all.")
	k.says("y", "approved step 4 drop the old tables. step runs it, run continues.")
	k.says("y", "it is already approved. step runs it, run continues.")
	k.says("run", "running.", "changed step 4 drop the old tables, 2 seconds.", "ok step 7 check the site, 2 seconds.",
		"DONE (changed). 5 ok, 3 changed, 1 skipped, 1 excluded, 18 seconds.", "summary, output, diff, quit.")
	k.says("step", "the run has ended. summary, output, diff or quit.")
	k.says("why 3.3.1", "step 3.3.1 restore the backup: skipped.", "when: nothing failed.")
	k.says("events 3.2",
		"step 3.2 run the migration: started.",
		"step 3.2 run the migration: failed: exit status 1.",
		"step 3.2 run the migration: paused: failure.",
		"step 3.2 run the migration: attempt 2.",
		"step 3.2 run the migration: ok.")
	k.types("quit")
	if !k.exit.leaving {
		t.Error("quit does not leave")
	}
}

// TestBurst runs a thousand quick steps: who listens hears how many, and what fails.
func TestBurst(t *testing.T) {
	k := newTalk(t, many(1000), func(_ *Options, f *tuitest.Engine) {
		f.Takes = func(int) time.Duration { return time.Millisecond }
		f.Fails["thing 700"] = 1
	})
	k.types("approve all")
	lines := strings.Split(k.types("run"), "\n")
	if len(lines) > 32 {
		t.Errorf("%d lines were said", len(lines))
	}
	said := strings.Join(lines, "\n")
	for _, want := range []string{"then 454 ok, 226 changed.", "FAILED step 8.1 thing 700, rc 1.", "PAUSED on failure of step 8.1 thing 700"} {
		if !strings.Contains(said, want) {
			t.Errorf("never said: %s\n%s", want, said)
		}
	}
}

// TestBurstFollowed is the same where what steps print is said too.
func TestBurstFollowed(t *testing.T) {
	k := newTalk(t, many(1000), func(o *Options, f *tuitest.Engine) {
		f.Takes, o.Follow = func(int) time.Duration { return time.Millisecond }, true
	})
	k.types("approve all")
	if lines := strings.Split(k.types("run"), "\n"); len(lines) > 50 {
		t.Errorf("%d lines were said", len(lines))
	}
}

// TestSlowSteps are said one by one, however many there are.
func TestSlowSteps(t *testing.T) {
	k := newTalk(t, many(200), func(_ *Options, f *tuitest.Engine) { f.Takes = func(int) time.Duration { return time.Second } })
	k.types("approve all")
	if lines := strings.Split(k.types("run"), "\n"); len(lines) != 203 {
		t.Errorf("%d lines were said for 200 steps", len(lines))
	}
}

// TestProgress is what is said by itself while a step runs: once after a while, and then every minute.
func TestProgress(t *testing.T) {
	k := newTalk(t, release(), func(o *Options, f *tuitest.Engine) {
		o.Forecast = func(string) *events.Forecast {
			f := &events.Forecast{Slots: 1, Took: make([]time.Duration, 10), Rest: make([]time.Duration, 10)}
			for i := range f.Took {
				f.Took[i], f.Rest[i] = time.Minute, time.Duration(10-i)*time.Minute
			}
			return f
		}
	})
	k.types("approve all")
	k.heard.Reset()
	k.takeLine("run")
	k.engine.Tick()
	k.said()
	k.heard.Reset()
	begin := k.engine.Clock
	var said []string
	for s := 1; s <= 150; s++ {
		k.engine.Clock = begin.Add(time.Duration(s) * time.Second)
		k.handleTick(k.engine.Clock)
		if text := k.said(); text != "" {
			said = append(said, fmt.Sprintf("%d: %s", s, text))
		}
		k.heard.Reset()
	}
	want := []string{
		"10: 0 of 9, step 1 say hello is running for 10 seconds, about 10 minutes left.",
		"60: 0 of 9, step 1 say hello is running for 1 minute, about 9 minutes left.",
		"120: 0 of 9, step 1 say hello is running for 2 minutes, about 12 minutes left.",
	}
	if !reflect.DeepEqual(said, want) {
		t.Errorf("said\n%s", strings.Join(said, "\n"))
	}
}

// TestPaging stops after a page, and goes on when asked to.
func TestPaging(t *testing.T) {
	k := newTalk(t, many(150))
	if got := strings.Split(k.types("list"), "\n"); len(got) != 21 || got[20] != "more continues: 132 lines." {
		t.Errorf("got %d lines, the last of which is %q", len(got), got[len(got)-1])
	}
	if got := strings.Split(k.types("m"), "\n"); len(got) != 21 || got[0] != "1.20. thing 19, not approved." {
		t.Errorf("got %d lines, the first of which is %q", len(got), got[0])
	}
	if got := k.types("list 2"); !strings.HasPrefix(got, "2. block part 100, 50 steps, not approved.") && !strings.HasPrefix(got, "2. block part 1, 50 steps, not approved.") {
		t.Errorf("got %q", got)
	}
}

// TestOutput says what a step printed: its end, all of it, and as it comes.
func TestOutput(t *testing.T) {
	dir := t.TempDir()
	k := newTalk(t, release(), func(o *Options, f *tuitest.Engine) {
		o.OutDir = func() string { return dir }
		f.Print = func(_ *tuitest.Engine, i, attempt int) string {
			prefix := fmt.Sprintf("%d-%d", i, attempt)
			if i > 1 {
				return prefix
			}
			w := steplog.NewWriter(dir, prefix, func() {})
			for n := range 30 {
				fmt.Fprintf(w.Stdout(), "line %d \x1b[31mred\x1b[0m \a\n", n+1)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			return prefix
		}
	})
	k.types("approve all")
	k.types("step")
	lines := strings.Split(k.types("output 1"), "\n")
	if len(lines) != 21 || lines[0] != "the last 20 of 30 lines of step 1 say hello:" || lines[20] != "line 30 red ^G" {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
	k.says("output 1 2", "the last 2 of 30 lines of step 1 say hello:", "line 29 red ^G", "line 30 red ^G")
	if got := k.types("output 1 all"); !strings.HasPrefix(got, "line 1 red ^G\n") || !strings.HasSuffix(got, "more continues: 10 lines.") {
		t.Errorf("got\n%s", got)
	}
	k.says("follow on", "output of steps is said as it comes.")
	got := strings.Split(k.types("step"), "\n")
	if got[0] != "running step 2.1 update the index." || got[1] != "2.1: line 1 red ^G" || got[21] != "2.1: 10 lines more; output 2.1 says them." {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	k.says("follow off", "output of steps is not said; output N says it.")
	k.says("step", "ok step 2.2.1 install git, 2 seconds.", "PAUSED before step 2.2.2 install tmux. step, over, out, run, show, skip, quit.")
	k.says("output 2.2.1", "step 2.2.1 install git printed nothing.")
}

// TestPredictions says what steps would do.
func TestPredictions(t *testing.T) {
	k := newTalk(t, release(), func(o *Options, _ *tuitest.Engine) {
		o.PredictAll = func(_ context.Context, _ *plan.Plan, _ func(int) bool, tell func(*events.Prediction)) {
			tell(&events.Prediction{Step: 0, Diff: events.Diff{Kind: events.ChangeNone}})
			tell(&events.Prediction{Step: 1, Diff: events.Diff{Kind: events.ChangeUpdate, Path: "/etc/x", Summary: "mode 0644 → 0600", Text: "--- a\n+++ b\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"}})
			tell(&events.Prediction{Step: 2, Diff: events.Diff{Kind: events.ChangeCreate}, Maybe: true})
			tell(&events.Prediction{Step: 3, Skipped: "it is there"})
			tell(&events.Prediction{Step: 4, Error: "no such service"})
			tell(&events.Prediction{Step: 5, Diff: events.Diff{Kind: events.ChangeUnknown, Summary: "a command"}})
		}
	})
	<-k.predictedAll
	k.heard.Reset()
	k.announcer.sayPredicted()
	if got := k.said(); got != "predicted: 1 would fail, 1 create, 1 update, 1 no change. show N says more." {
		t.Errorf("got %q", got)
	}
	k.says("list 2", "2. include packages.yml, 3 steps, not approved.", "2.1. update the index, not approved, update.", "2.2. loop install, 2 steps, not approved.",
		"2.2.1. install git, not approved, perhaps create.", "2.2.2. install tmux, not approved, would be skipped.")
	k.says("diff 2.1", "preview, not applied yet.", "update /etc/x, mode 0644 to 0600.", "at line 1:", "same: one", "removed: two", "added: three")
	k.says("diff 3.1", "would fail: no such service.")
	k.says("diff 3.2", "unpredictable: a command.")
	k.says("diff 1", "preview, not applied yet.", "no change.")
}

// TestEditor opens the file of the step that failed, and says what is different then.
func TestEditor(t *testing.T) {
	var opened string
	edited := release()
	edited.Digest = "another"
	edited.Steps[5].Digest = "another"
	mistakes := diag.List{{Pos: diag.Pos{File: "site.yml", Line: 3}, Message: "unknown key `shel`", Hint: "did you mean `shell`?"}}
	ways := []struct {
		reload func(f *tuitest.Engine) (string, diag.List, error)
		want   []string
	}{
		{func(*tuitest.Engine) (string, diag.List, error) { return "", mistakes, nil }, []string{
			"1 mistake; the old plan stays. editor opens the file again.", "error at site.yml line 3: unknown key `shel`.", "  hint: did you mean `shell`?",
		}},
		{func(f *tuitest.Engine) (string, diag.List, error) {
			f.P = edited
			f.Say(-1, events.PlanLoaded{TotalSteps: 10, Digest: "another", Generation: 2})
			for i := range 5 {
				f.Say(i, events.StepCompleted{Kept: true})
			}
			f.Say(5, events.RunPaused{Reason: events.PauseFailure})
			return "another", nil, nil
		}, []string{
			"replanned: 1 step changed, 0 added, 0 gone.", "first change: step 3.2 run the migration.",
			"PAUSED at step 3.2 run the migration, which failed and was changed since. retry, skip, run, quit.",
		}},
	}
	for _, way := range ways {
		k := newTalk(t, release(), func(o *Options, f *tuitest.Engine) {
			f.Fails["run the migration"] = 1
			o.Editor = func(file string, line int) Program {
				opened = fmt.Sprintf("%s:%d", file, line)
				return program{}
			}
			o.Reload = func() (string, diag.List, error) { return way.reload(f) }
			o.PlanFor = func(string) *plan.Plan { return edited }
		})
		k.types("approve all")
		k.types("run")
		k.says("editor", way.want...)
		if opened != "/home/ann/app/site.yml:35" {
			t.Errorf("opened %s", opened)
		}
	}
}

// program is one that does nothing.
type program struct{ fails error }

func (p program) Run() error        { return p.fails }
func (program) SetStdin(io.Reader)  {}
func (program) SetStdout(io.Writer) {}
func (program) SetStderr(io.Writer) {}

// TestInterrupt is ctrl-c: it asks, then stops, then leaves by force.
func TestInterrupt(t *testing.T) {
	k := newTalk(t, release())
	k.types("approve all")
	k.takeLine("run")
	k.engine.Tick()
	k.said()
	k.heard.Reset()
	k.handleInterrupt()
	if got := k.said(); got != "quit? step 1 say hello is running. wait (let running steps finish, then stop), stop (interrupt them now) or stay." {
		t.Errorf("got %q", got)
	}
	k.takeLine("stay")
	k.handleInterrupt()
	k.handleInterrupt()
	if got := k.last(); got != (events.Stop{How: events.StopNow, Signal: true}) {
		t.Errorf("sent %#v", got)
	}
	// A question about something else is taken back by it, and nothing is stopped.
	k = newTalk(t, release())
	k.types("step")
	k.types("edit lock_timeout")
	k.handleInterrupt()
	if _, stopped := k.last().(events.Stop); stopped || k.question == nil || !k.question.leave {
		t.Errorf("sent %#v", k.last())
	}
}

// TestInterruptBeforeTheAnswer is ctrl-c between run and what the run says to it: steps may be running by then, so it asks.
func TestInterruptBeforeTheAnswer(t *testing.T) {
	k := newTalk(t, release())
	k.types("approve all")
	k.out = func(events.Order) {} // it says nothing yet
	k.takeLine("run")
	k.handleInterrupt()
	if k.stopping > 0 || k.question == nil || !k.question.leave {
		t.Errorf("stopped %d times, asks %v", k.stopping, k.question)
	}
}

// TestScript reads lines from a pipe: each is waiting for what the one before has led to, and the end of it leaves.
func TestScript(t *testing.T) {
	tests := []struct {
		name, lines string
		want        events.Command
		outcome     events.RunOutcome
	}{
		{"to the end", "approve all\nrun\n", events.Continue{}, events.RunDone},
		{"quit", "approve all\nrun\nquit\n", events.Continue{}, events.RunDone},
		{"nothing", "", events.Stop{How: events.StopInterrupt}, events.RunStopped},
		{"paused", "approve all\nstep", events.Stop{How: events.StopDrain}, events.RunStopped},
		{"a question at the end", "approve all\nstep\nedit lock_timeout\n", events.Stop{How: events.StopDrain}, events.RunStopped},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "lines")
			if err := os.WriteFile(file, []byte(tt.lines), 0o600); err != nil {
				t.Fatal(err)
			}
			in, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			f := newEngine(release())
			feed, commands := make(chan []events.Record), make(chan events.Command, 10)
			var held []events.Record
			f.Emit = func(batch []events.Record) { held = append(held, batch...) }
			go func() {
				defer close(feed)
				f.Begin()
				for {
					feed <- held
					held = nil
					if f.Run.Phase == events.Done {
						return
					}
					if !f.Tick() {
						f.Take(events.Order{Actor: Actor, Command: <-commands})
					}
				}
			}()
			var out strings.Builder
			err = Run(t.Context(), Options{Plan: f.P, Feed: feed, Send: func(o events.Order) { commands <- o.Command }, In: in, Out: &out})
			if err != nil {
				t.Fatal(err)
			}
			if f.Run.Result.Outcome != tt.outcome || !reflect.DeepEqual(f.Sent[len(f.Sent)-1], tt.want) {
				t.Errorf("the run is %s, sent were %#v\n%s", f.Run.Result.Outcome, f.Sent, out.String())
			}
		})
	}
}

// TestGate answers a step that asks whether to continue.
func TestGate(t *testing.T) {
	for answer, want := range map[string]struct {
		reject bool
		says   string
	}{
		"y": {false, "continuing."}, "no": {true, "rejected."}, "approve 1": {false, "continuing."}, "skip 1": {true, "rejected."},
	} {
		k := newTalk(t, release())
		k.engine.Say(-1, events.RunResumed{})
		k.heard.Reset()
		k.engine.Say(0, events.GateOpened{Reason: events.PauseUser, Message: "look at it"})
		if got := k.said(); got != "step 1 say hello asks whether to continue: look at it. yes or no." || !k.atRest() {
			t.Errorf("got %q, at rest %t", got, k.atRest())
		}
		k.says("run", "step 1 say hello asks whether to continue: yes or no.")
		k.says("", "RUNNING. step 1 say hello asks whether to continue: yes or no.")
		k.says(answer, want.says)
		if got := k.last(); got != (events.Answer{Step: 0, Reject: want.reject}) {
			t.Errorf("sent %#v", got)
		}
	}
}

// TestWrap breaks lines between words, loses none of them, and is never wider than the terminal.
func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  []string
	}{
		{"retry, edit NAME, editor, skip, quit.", 26, []string{"retry, edit NAME, editor,", "skip, quit."}},
		{"retry, edit NAME, editor", 24, []string{"retry, edit NAME, editor"}},
		{strings.Repeat("x", 45), 20, []string{strings.Repeat("x", 20), strings.Repeat("x", 20), "xxxxx"}},
		{"  indented words that go on", 20, []string{"  indented words", "that go on"}},
		{"größe größe größe größe", 20, []string{"größe größe größe", "größe"}},
		{"no width, no end", 0, []string{"no width, no end"}},
		{"", 20, []string{""}},
	} {
		if got := wrapLine(tt.text, tt.width); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q at %d: %q", tt.text, tt.width, got)
		}
	}
}

// TestSkipAfterwards asks to skip a failed step that the run has continued without: there is nothing left to decide.
func TestSkipAfterwards(t *testing.T) {
	k := newTalk(t, release())
	k.types("step")
	k.engine.Say(1, events.StepStarted{Name: "update the index"})
	k.engine.Say(1, events.StepFailed{Name: "update the index", Error: "no network"})
	k.types("where")
	sent := len(k.engine.Sent)
	k.says("skip 2.1", "it failed, and the run has continued without it.")
	if len(k.engine.Sent) > sent {
		t.Errorf("it sends %v", k.last())
	}
}

// TestValueOfExcluded says of the value of an excluded step that there is none, before the run has come to the step.
func TestValueOfExcluded(t *testing.T) {
	k := newTalk(t, release())
	k.types("skip 1")
	if got, want := k.whenKnown([]int{0}), "has no value: step 1 say hello is excluded"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestFollowWhileThePlanGrows says what a step prints under the number that it has once a loop before it has found its items.
func TestFollowWhileThePlanGrows(t *testing.T) {
	dir := t.TempDir()
	grown := func(rounds ...string) *plan.Plan {
		b := newBuilder()
		b.step("find")
		for _, name := range rounds {
			b.step("install " + name)
		}
		b.step("serve")
		p := b.Done()
		p.Digest += fmt.Sprint(len(rounds))
		return p
	}
	k := newTalk(t, grown(), func(o *Options, _ *tuitest.Engine) { o.OutDir = func() string { return dir } })
	next := grown("git", "tmux")
	k.plans[next.Digest] = next
	k.types("follow on")
	w := steplog.NewWriter(dir, "serve", func() {})
	hear := func(step int, e events.Event) {
		k.announcer.hearBatch([]events.Record{{Time: k.engine.Clock, Step: step, Event: e}})
	}
	prints := func(line string) string {
		fmt.Fprintln(w.Stdout(), line)
		k.heard.Reset()
		k.announcer.follow.readAll(false)
		return k.said()
	}
	hear(1, events.StepStarted{Name: "serve", Action: "shell", Out: "serve"})
	if got := prints("one"); !strings.HasSuffix(got, "\n2: one") {
		t.Errorf("before: %q", got)
	}
	hear(-1, events.PlanLoaded{TotalSteps: 4, Digest: next.Digest, Generation: 2, Expanded: []int{0}, Added: []events.Range{{From: 1, To: 3}}})
	if got := prints("two"); !strings.HasSuffix(got, "\n4: two") {
		t.Errorf("after: %q", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	k.heard.Reset()
	hear(3, events.StepCompleted{Name: "serve"})
	if len(k.announcer.follow.of) != 0 {
		t.Errorf("the files of what has ended are open: %v", k.announcer.follow.of)
	}
}
