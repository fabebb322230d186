package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/secret"
	"moon/tui/tuitest"
)

// broken is a run that is paused on the failure of step 3.2.
func broken(t *testing.T, with ...func(*Options, *tuitest.Engine)) *talk {
	t.Helper()
	k := newTalk(t, release(), append(with, func(_ *Options, f *tuitest.Engine) { f.Fails["run the migration"] = 1 })...)
	k.types("approve all")
	k.types("run")
	return k
}

const paused = "PAUSED at step 3.2 run the migration, which failed and was changed since. retry, skip, run, quit."

// TestFix gives a failed step another value, tries it again, and runs to the end.
func TestFix(t *testing.T) {
	k := broken(t)
	k.says("edit",
		"step 3.2 run the migration uses:",
		"value 1: lock_timeout is 5s, from defaults.yml line 3.",
		"value 2: cmd is do run the migration, from site.yml line 35.",
		"value 3: cwd is /home/ann/app, from site.yml line 35.",
		"edit with a number or a name asks for another value; edit NAME=VALUE takes one.")
	const ask = "apply it: yes, for this step; block, for this block; rest, for the rest of the run, which also changes 1 other step; no."
	k.says("edit lock_timeout", "lock_timeout is 5s, from defaults.yml line 3. new value (empty keeps it):")
	k.says("60s", "now: do run the migration", "will be: do it in 60s", ask)
	k.says("", ask)
	k.says("perhaps", "perhaps is not an answer. "+ask)
	k.says("no", "unchanged.")
	k.types("edit lock_timeout")
	k.says("", "unchanged.")
	k.types("edit lock_timeout")
	k.says("broken", "it cannot be planned so: site.yml:3: there is no such release.", "lock_timeout is 5s, from defaults.yml line 3. new value (empty keeps it):")
	if _, was := k.last().(events.Fix); was {
		t.Fatal("a value was taken that nobody said yes to")
	}
	k.types("60s")
	k.says("yes", "lock_timeout is 60s for this step; no file is changed.", paused)
	k.says("retry", "trying 1 step again.", "ok step 3.2 run the migration, 2 seconds.", "PAUSED after step 3.2 run the migration, which is ok now. run continues, step runs one step, quit.")
	k.says("vars", "step 3.2 run the migration uses:", "lock_timeout is 60s, for this run only; it was 5s, from defaults.yml line 3")
	k.says("edit of 3.2", "step 3.2 run the migration has run already: edit the values of one that has not.")
	if got := k.types("summary"); !strings.HasSuffix(got, "\noverridden: lock_timeout 5s to 60s, for step 3.2 run the migration; to keep it, write it to defaults.yml line 3.") {
		t.Errorf("got\n%s", got)
	}
	if got := k.types("show 3.2"); !strings.Contains(got, "\nfor this run only: lock_timeout 5s to 60s.\n") {
		t.Errorf("got\n%s", got)
	}
}

// TestFixOfOthers edits what the step at hand does not use, and what no step is at hand for.
func TestFixOfOthers(t *testing.T) {
	k := newTalk(t, release())
	k.says("edit", "the playbook uses:", "value 1: lock_timeout is 5s, from defaults.yml line 3.", "edit with a number or a name asks for another value; edit NAME=VALUE takes one.")
	k.says("set lock_timeout=60s", "it changes 2 steps: run the migration, check the site.", "lock_timeout is 60s for the rest of the run; no file is changed.",
		"REVIEW. nothing has run. approve, then run, or step.")
}

// TestFixKinds asks before a number becomes a text.
func TestFixKinds(t *testing.T) {
	p := release()
	p.Steps[0].Uses = []plan.Use{{Name: "port", Value: 80, From: "--extra-vars"}}
	k := newTalk(t, p)
	k.says("edit port", "port is 80, from --extra-vars. new value (empty keeps it):")
	k.says("eighty", "port was a number and becomes text: yes, or no to type another.")
	k.says("80", "80 is not an answer: yes or no.")
	k.says("no", "port is 80, from --extra-vars. new value (empty keeps it):")
	k.says("[", "port: not valid YAML: a `[` is not closed.", "port is 80, from --extra-vars. new value (empty keeps it):")
	k.says("81", "it changes 1 step: say hello.", "apply it: yes, for the rest of the run; no.")
	k.types("yes")
	if want := (events.Fix{Values: []events.Override{{Name: "port", Value: "81", From: "say hello"}}}); !reflect.DeepEqual(k.last(), want) {
		t.Errorf("%+v", k.last())
	}
	k = newTalk(t, p)
	k.says("set port=eighty", "port was a number and becomes text.", "it changes 1 step: say hello.", "port is eighty for the rest of the run; no file is changed.", "REVIEW. nothing has run. approve, then run, or step.")
}

// TestFixSecret types a secret: it is asked for unseen, and said nowhere.
func TestFixSecret(t *testing.T) {
	for _, person := range []bool{true, false} {
		p := release()
		p.Steps[5].Uses[0] = plan.Use{Name: "token", Value: value.Mark(secret.NewSet(), "hunter2hunter2", value.Every), Origin: diag.Origin{File: "db.secret.yml", Line: 1}}
		k := newTalk(t, p, func(o *Options, f *tuitest.Engine) { o.Person, f.Fails["run the migration"] = person, 1 })
		said := k.types("approve all") + k.types("run") + k.types("edit") + k.types("edit token")
		if !strings.HasSuffix(said, "token is (hidden), from db.secret.yml line 1. what you type is not shown. new value (empty keeps it):") {
			t.Errorf("got\n%s", said)
		}
		if k.question == nil || !k.question.secret {
			t.Error("what is typed shows")
		}
		said += k.types("swordfish99")
		if k.question.secret {
			t.Error("the answer to how far it reaches does not show")
		}
		said += k.types("yes")
		want := events.Fix{Values: []events.Override{{Name: "token", Value: `"swordfish99"`, At: p.Steps[5].Path, From: p.Steps[5].Path, Secret: true}}}
		if !reflect.DeepEqual(k.last(), want) {
			t.Errorf("%+v", k.last())
		}
		said += k.types("retry") + k.types("overrides") + k.types("vars") + k.types("summary") + k.types("events")
		if !person {
			said += k.types("set token of 7 = swordfish99") + k.types("edit env.X of 3.2=1")
		}
		if strings.Contains(said, "sword") || strings.Contains(said, "hunter") {
			t.Errorf("a secret was said in\n%s", said)
		}
	}
}

// TestFixSecretInOneLine does not repeat what a script gives with the name.
func TestFixSecretInOneLine(t *testing.T) {
	p := release()
	p.Steps[5].Uses[0] = plan.Use{Name: "token", Value: value.Mark(secret.NewSet(), "hunter2hunter2", value.Every)}
	p.Steps[0].NoLog, p.Steps[0].Args = true, nil
	k := newTalk(t, p, func(o *Options, _ *tuitest.Engine) { o.Person = false })
	for _, line := range []string{"set token=swordfish99", "edit token of 3.2 = swordfish99", "edit env.PW of 1=swordfish99"} {
		said := k.types(line)
		if strings.Contains(said, "sword") || !strings.Contains(said, "(hidden)") {
			t.Errorf("%s: it says\n%s", line, said)
		}
	}
	k.says("set lock_timeout of 7=9s", "> set lock_timeout of 7=9s", "now: do check the site", "will be: do it in 9s", "lock_timeout is 9s for this step; no file is changed.", "REVIEW. nothing has run. approve, then run, or step.")
}

// TestFixRefused keeps what was typed.
func TestFixRefused(t *testing.T) {
	k := broken(t, func(_ *Options, f *tuitest.Engine) { f.Refuse = refuseFix("steps are still running") })
	k.types("edit lock_timeout")
	k.types("60s")
	k.says("rest", "lock_timeout is 60s for the rest of the run; no file is changed.", "refused: steps are still running.", "what you typed is kept: edit lock_timeout continues from it.")
	k.engine.Refuse = nil
	k.says("edit lock_timeout", "lock_timeout: what you typed before is kept.", "now: do run the migration", "will be: do it in 60s",
		"apply it: yes, for this step; block, for this block; rest, for the rest of the run, which also changes 1 other step; no.")
	k.says("y", "lock_timeout is 60s for this step; no file is changed.", paused)
	k.says("edit lock_timeout", "lock_timeout is 60s, for this run; it was 5s. new value (empty keeps it):")
}

// TestFixWhileItRuns changes nothing, and says what to do.
func TestFixWhileItRuns(t *testing.T) {
	k := newTalk(t, release())
	k.types("approve all")
	k.takeLine("run")
	k.engine.Tick()
	k.said()
	for _, line := range []string{"edit", "edit lock_timeout", "set lock_timeout=60s"} {
		k.heard.Reset()
		k.takeLine(line)
		if got := k.said(); got != "steps are still running: pause, and edit when they have finished." {
			t.Errorf("got %q", got)
		}
	}
}

// rewrites is an editor that puts another text in a file.
type rewrites struct {
	file, text string
}

func (rewrites) SetStdin(io.Reader)  {}
func (rewrites) SetStdout(io.Writer) {}
func (rewrites) SetStderr(io.Writer) {}
func (e rewrites) Run() error        { return os.WriteFile(e.file, []byte(e.text), 0o600) }

// TestFixInEditor opens what has several lines.
func TestFixInEditor(t *testing.T) {
	p := release()
	p.Steps[5].Args = map[string]any{"cmd": "one\ntwo\n"}
	k := newTalk(t, p, func(o *Options, f *tuitest.Engine) {
		f.Fails["run the migration"] = 1
		o.Editor = func(file string, _ int) Program { return rewrites{file, "one\nthree\n"} }
		o.Preview = func(p *plan.Plan, c events.Fix) (*plan.Plan, string) {
			next, _ := foreplan(p, events.Fix{})
			next.Steps[5].Args, next.Steps[5].Digest = map[string]any{"cmd": "one\nthree\n"}, "+"
			return next, ""
		}
	})
	k.types("approve all")
	k.types("run")
	k.says("edit cmd", "cmd is one and so on, 2 lines, from site.yml line 35. the editor opens it.",
		"becomes:", "at line 1:", "removed: two", "added: three", "apply it: yes, for this step; no.")
	k.types("yes")
	if c, is := k.last().(events.Fix); !is || c.Values[0].Value != `"one\nthree"` {
		t.Errorf("%+v", k.last())
	}
	k = newTalk(t, p, func(o *Options, _ *tuitest.Engine) { o.Person = false })
	k.says("edit cmd of 3.2", "> edit cmd of 3.2", "cmd is one and so on, 2 lines, from site.yml line 35. edit cmd=VALUE gives it another value, of one line.")
}

// TestWatch says expressions at each pause.
func TestWatch(t *testing.T) {
	values := map[string]string{"release": "1.4", "notes": "one\ntwo\n", "nothing": ""}
	k := newTalk(t, release(), func(o *Options, _ *tuitest.Engine) {
		o.Eval = func(_ *plan.Plan, step int, text string) (string, error) {
			switch value, known := values[text]; {
			case text == "at":
				return fmt.Sprint(step), nil
			case text == "r.rc":
				return "", &plan.Missing{Steps: []int{4}}
			case !known:
				return "", errors.New("there is no `" + text + "` here")
			default:
				return value, nil
			}
		}
	})
	k.says("watch", "nothing is watched; watch EXPRESSION adds one.")
	k.says("watch at", "at is 0.")
	k.says("W r.rc", "r.rc is known after step 3.1 stop the app.")
	k.says("step", "ok step 1 say hello, 2 seconds.", "PAUSED before step 2.1 update the index. step, over, out, run, show, skip, quit.", "watch 1: at is 1.", "watch 2: r.rc is known after step 3.1 stop the app.")
	k.says("watch", "watch 1: at is 1.", "watch 2: r.rc is known after step 3.1 stop the app.")
	k.says("unwatch at", "at is no longer watched.")
	k.says("unwatch at", "that is not watched; watch lists what is.")
	k.says("unwatch 1", "r.rc is no longer watched.")
	k.says("unwatch all", "nothing is watched.")
	k.says("print", "print what? print release, print r.rc == 0.")
	k.says("print release", "release is 1.4.")
	k.says("print nothing", "nothing is empty.")
	k.says("print notes", "notes is:", "one", "two")
	k.says("print nobody", "nobody: there is no `nobody` here.")
	for i := range watchesKept + 1 {
		k.types(fmt.Sprintf("watch w%d", i))
	}
	if len(k.watches.watches) != watchesKept {
		t.Errorf("%d are watched", len(k.watches.watches))
	}
}

// TestWhy says what a step waits for, as the engine knows it.
func TestWhy(t *testing.T) {
	var w events.Wait
	k := newTalk(t, release(), func(o *Options, _ *tuitest.Engine) {
		o.Why = func(_ string, steps []int) []events.Wait { return []events.Wait{w} }
	})
	k.types("approve all")
	k.takeLine("run")
	k.engine.Tick()
	k.engine.Clock = k.engine.Clock.Add(9 * time.Second)
	for _, tt := range []struct {
		w    events.Wait
		want string
	}{
		{events.Wait{For: events.WaitSteps, Steps: []int{0}, Root: 0, Is: events.WaitRuns}, "is waiting for step 1 say hello, which has been running for 9 seconds."},
		{events.Wait{For: events.WaitSteps, Steps: []int{4, 5}, More: 2, Root: 0, Is: events.WaitRuns}, "is waiting for step 3.1 stop the app, step 3.2 run the migration and 2 more. step 1 say hello has been running for 9 seconds."},
		{events.Wait{For: events.WaitValue, Name: "r", Steps: []int{4}, Root: -1}, "is waiting for the value of r from step 3.1 stop the app."},
		{events.Wait{For: events.WaitPool, Name: "block migrate", Slots: 2, Steps: []int{0, 4}, Root: -1, Limit: time.Minute}, "is waiting for a slot of block migrate; all 2 are in use by step 1 say hello and step 3.1 stop the app, for at most 1 minute."},
		{events.Wait{For: events.WaitTurn, Root: -1, Held: events.WaitConfirm}, "is about to start. then it needs confirmation."},
		{events.Wait{For: events.WaitRetry, Root: -1, Due: tuitest.Start.Add(20 * time.Second)}, "is waiting for its next attempt in 11 seconds."},
		{events.Wait{For: events.WaitPaused, Root: 7, Is: events.WaitConfirm}, "is waiting for you: the run is paused at step 4 drop the old tables, which needs confirmation."},
		{events.Wait{For: events.WaitStopping, Root: -1}, "will not run: the run is being stopped."},
		{events.Wait{Root: -1}, "is waiting for what comes before it: step 1 say hello is running for 9 seconds."},
	} {
		w = tt.w
		k.said()
		k.heard.Reset()
		k.takeLine("why 7")
		if got := k.said(); got != "step 7 check the site "+tt.want {
			t.Errorf("%+v:\ngot  %s\nwant step 7 check the site %s", tt.w, got, tt.want)
		}
	}
}

// TestAttempts says what each attempt of a step printed.
func TestAttempts(t *testing.T) {
	dir := t.TempDir()
	k := broken(t, func(o *Options, f *tuitest.Engine) {
		o.OutDir = func() string { return dir }
		f.Print = func(_ *tuitest.Engine, i, attempt int) string {
			prefix := fmt.Sprintf("%d-%d", i, attempt)
			w := steplog.NewWriter(dir, prefix, func() {})
			fmt.Fprintf(w.Stdout(), "a\nthis is attempt %d\n", attempt)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			return prefix
		}
	})
	k.says("output", "a", "this is attempt 1")
	k.types("retry")
	k.says("output 3.2", "attempt 2 of 2 of step 3.2 run the migration:", "a", "this is attempt 2")
	k.says("output attempt 1", "attempt 1 of 2 of step 3.2 run the migration:", "a", "this is attempt 1")
	k.says("output 3.2 attempt 1 1", "attempt 1 of 2 of step 3.2 run the migration:", "the last 1 of 2 lines of step 3.2 run the migration:", "this is attempt 1")
	k.says("output 3.2 attempt 3", "step 3.2 run the migration has had 2 attempts.")
}

// TestShell opens a shell where a step runs.
func TestShell(t *testing.T) {
	opened := -1
	shell := func(o *Options, _ *tuitest.Engine) {
		o.Shell = func(_ *plan.Plan, step int) (Program, error) {
			if step == 0 {
				return nil, errors.New("there is no user bob")
			}
			opened = step
			return program{}, nil
		}
	}
	k := broken(t, shell)
	k.says("shell", "the shell has ended.")
	if opened != 5 {
		t.Errorf("opened at %d", opened)
	}
	k.says("! 1", "there is no user bob.")
	k = newTalk(t, release(), shell, func(o *Options, _ *tuitest.Engine) { o.Person = false })
	k.says("shell 2.1", "> shell 2.1", "a shell needs a terminal.")
}
