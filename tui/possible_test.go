package tui

import (
	"strings"
	"testing"
	"time"

	"moon/events"
)

// possible shows a run of a playbook by the real engine, one step at a time.
func possible(t *testing.T, playbook string) *offering {
	t.Helper()
	return possibleOn(t, playbook, "")
}

func possibleOn(t *testing.T, playbook, hosts string) *offering {
	t.Helper()
	o := &offering{
		plays: hosts != "", forks: 1,
		Rand: newOfferingDice(1), t: t, dir: t.TempDir(),
		jobs: &offeredJobs{tried: map[string]int{}, blocked: map[chan struct{}]bool{}},
	}
	o.open(playbook)
	o.Settle()
	t.Cleanup(func() {
		if !t.Failed() {
			o.end()
		}
	})
	return o
}

// keys presses keys one after the other, each when the run has come to rest.
func (o *offering) keys(keys string) {
	o.t.Helper()
	for key := range strings.FieldsSeq(keys) {
		o.sc.press(key)
		o.Settle()
	}
}

// ran says which commands were tried, and how often.
func (o *offering) ran(cmd string) int {
	o.jobs.mu.Lock()
	defer o.jobs.mu.Unlock()
	return o.jobs.tried[cmd]
}

const brokenBlock = `- block:
    - {name: break, shell: fails 9 first}
    - {name: never, shell: does second}
  rescue:
    - {name: fix, shell: does rescue}
- {name: last, shell: does last}
`

// No key that steps starts a rescue: it is paused before.
func TestSteppingKeysPauseBeforeARescue(t *testing.T) {
	for _, key := range []string{"s", "o", "O", "u", "space", "enter", "f10", "f11", "shift+f11", ".", "]", "D", "b"} {
		o := possible(t, brokenBlock)
		o.keys("A c")
		o.sc.has("PAUSED on failure", "s  pause before the rescue")
		if key == "u" {
			o.sc.on("last")
		}
		o.keys(key)
		if n := o.ran("does rescue") + o.ran("does second") + o.ran("does last"); n > 0 {
			t.Errorf("%s ran %d steps", key, n)
		}
		if stepped := o.run.PausedAt == 2; stepped != strings.Contains("s o O u f10 f11 shift+f11", key) {
			t.Errorf("%s: paused at step %d", key, o.run.PausedAt)
		}
		o.keys("esc")
	}
}

const alwaysBlock = `- block:
    - {name: break, shell: fails 9 first}
    - {name: never, shell: does second}
  always:
    - {name: clean, shell: does always}
    - {name: tidy, shell: does tidy}
- {name: last, shell: does last}
`

// No key that steps starts an always either, although a failure has left nothing else to run; and what follows it is stepped too.
func TestSteppingKeysPauseBeforeAnAlways(t *testing.T) {
	for _, key := range []string{"s", "o", "O", "u"} {
		o := possible(t, alwaysBlock)
		o.keys("A c")
		o.sc.has("PAUSED on failure", "s  pause before the always")
		if key == "u" {
			o.sc.on("last")
		}
		o.keys(key)
		if o.run.PausedAt != 2 || o.ran("does always")+o.ran("does tidy") > 0 {
			t.Errorf("%s: paused at step %d, and ran %d and %d", key, o.run.PausedAt, o.ran("does always"), o.ran("does tidy"))
		}
		o.sc.has("PAUSED before  clean")
		o.keys("s")
		if o.run.PausedAt != 3 || o.ran("does always") != 1 || o.ran("does tidy") > 0 {
			t.Errorf("%s, then s: paused at step %d, and ran %d and %d", key, o.run.PausedAt, o.ran("does always"), o.ran("does tidy"))
		}
		o.keys("c")
		if o.run.Phase != events.Ended || o.ran("does tidy") != 1 || o.ran("does second")+o.ran("does last") > 0 {
			t.Errorf("%s, s, c: phase %d, and ran %d, %d and %d", key, o.run.Phase, o.ran("does tidy"), o.ran("does second"), o.ran("does last"))
		}
	}
}

// In the pause before an always, the failure can still be retried, the always excluded, and the run stopped.
func TestPauseBeforeAnAlways(t *testing.T) {
	for _, c := range []struct {
		keys, on string
		then     string
		clean    int
		last     int
		phase    events.Phase
	}{
		{"A c s", "clean", "x c", 0, 0, events.Ended},
		{"A c s", "break", "r r r r r r r r r c", 1, 1, events.Done},
		{"A c s", "", "q k", 1, 0, events.Done},
	} {
		o := possible(t, alwaysBlock)
		o.keys(c.keys)
		if c.on != "" {
			o.sc.on(c.on)
		}
		o.keys(c.then)
		if clean, last := o.ran("does always"), o.ran("does last"); clean != c.clean || last != c.last || o.run.Phase != c.phase {
			t.Errorf("%s on %s, %s: phase %d, always ran %d, last %d\n%s", c.keys, c.on, c.then, o.run.Phase, clean, last, o.sc.shows())
		}
	}
}

// A failure that was given up is not offered to be skipped, and neither is giving it up again.
func TestWaysOutOfAGivenUpFailure(t *testing.T) {
	o := possibleOn(t, "- hosts: all\n  gather_facts: false\n  tasks:\n    - {name: break, shell: fails 1 first, when: inventory_hostname == 'h1'}\n    - {name: next, shell: does next}\n", "h1,h2")
	o.keys("A c")
	o.sc.has("PAUSED on failure", "s  continue, pause")
	o.keys("s")
	o.sc.has("PAUSED before  next on h2", "✗   │ ├   h1")
	o.sc.m.GoTo(int(o.sc.m.Tree.StepNode[0]))
	o.sc.frame()
	o.keys("x")
	o.sc.has("it failed, and the run has continued without it")
	o.sc.hasNot("x skip", "refused", "give up")
	if o.run.Phase != events.Paused || o.ran("does rescue") > 0 {
		t.Error("the run went on")
	}
}

// What no key would run past is gone to first: a step that is not approved, or needs confirmation.
func TestPauseAwayFromTheCursor(t *testing.T) {
	o := possible(t, "- {name: one, shell: does one}\n- {name: two, shell: does two}\n- {name: three, shell: does three, confirm: 'sure?'}\n- {name: four, shell: does four, confirm: 'sure?'}\n")
	o.sc.on("one")
	o.keys("a c")
	o.sc.has("PAUSED: not approved  two", "a approve   s step   o over   E editor")
	o.sc.on("four")
	o.sc.has(". go to it   s step   o over")
	o.keys("c")
	o.sc.has("not approved: a approves it, A approves all   . goes to it")
	o.keys(".")
	if o.sc.m.Tree.Step(o.sc.m.CursorNode()) != 1 {
		t.Error(". did not go to it")
	}
	o.keys("a c")
	o.sc.has("PAUSED to confirm  three")
	o.sc.hasNot("s step", "c continue")
	o.sc.on("site.yml")
	o.sc.has("] confirm each   . go to it")
	o.keys("a")
	o.sc.has("these must be confirmed one by one: ] goes to the next")
	o.keys("]")
	if o.sc.m.Tree.Step(o.sc.m.CursorNode()) != 2 {
		t.Error("] did not go to what asks")
	}
	o.sc.has("a confirm")
}

// What was excluded when its turn came stays out, and no key offers to bring it back.
func TestExcludedWhenItsTurnCame(t *testing.T) {
	o := possible(t, "- {name: one, shell: does one}\n- {name: two, shell: does two}\n- {name: three, shell: does three}\n")
	o.sc.on("one")
	o.keys("x")
	o.sc.has("x restore")
	o.sc.on("three")
	o.keys("b A c")
	o.sc.has("PAUSED at breakpoint")
	o.sc.on("one")
	o.sc.hasNot("x restore")
	o.keys("x")
	o.sc.has("it was excluded when its turn came")
}

// What is kept as it was done is not outdated any more, on the screen as in the run.
func TestKeptIsNotOutdated(t *testing.T) {
	o := possible(t, "- {name: one, shell: does one}\n- {name: two, shell: does two}\n")
	o.sc.on("two")
	o.keys("b A c")
	o.write("site.yml", "- {name: one, shell: does one otherwise}\n- {name: two, shell: does two}\n")
	o.sc.Send(edited{})
	o.Settle()
	o.sc.on("one")
	o.sc.has("≠ ├   one", "D rerun or keep")
	o.keys("D k")
	o.sc.hasNot("≠ ├   one", "D rerun or keep")
}

// At the end R tries all that failed again, together, and what hung on it follows, without another key.
func TestRetryTogetherAtTheEnd(t *testing.T) {
	o := &offering{
		Rand: newOfferingDice(1), t: t, dir: t.TempDir(), forks: 1, still: true,
		jobs: &offeredJobs{tried: map[string]int{}, blocked: map[chan struct{}]bool{}},
	}
	o.open(`strategy: graph
steps:
  - {name: a, id: a, shell: fails 1 a}
  - {name: after a, needs: [a], shell: does a}
  - {name: b, id: b, shell: fails 1 b}
  - {name: after b, needs: [b], shell: does b}
`)
	o.Settle()
	o.keys("A c c c")
	o.sc.has("FAILED   2/4", "R retries all that failed and continues with what", "R retry all", "Not run")
	o.keys("R")
	o.sc.has("DONE (changed)", "4/4", "2 retried")
	for cmd, times := range map[string]int{"fails 1 a": 2, "fails 1 b": 2, "does a": 1, "does b": 1} {
		if o.ran(cmd) != times {
			t.Errorf("%s ran %d times, want %d", cmd, o.ran(cmd), times)
		}
	}
	o.end()
}

// What is marked as done lets the rest run, and every view says that it was not run.
func TestMarkedAsDone(t *testing.T) {
	o := possible(t, "- {name: one, shell: fails 9 one}\n- {name: two, shell: does two, register: r}\n- {name: uses, shell: 'does {{ r.rc }}'}\n- {name: last, shell: does last}\n")
	o.keys("A c D")
	o.sc.has("Mark as done?", "m  mark as done: it counts as ok and is not run")
	o.sc.hasNot("It will have no result")
	o.keys("m")
	o.sc.has("✓ ├   one                                            by hand", "✓ marked as done by hand")
	o.sc.on("two")
	o.keys("D")
	o.sc.has("It will have no result. Using it, and failing then: uses")
	o.keys("m c")
	o.sc.has("PAUSED on failure", "✓ ├   two                                            by hand", "was marked as", "has no result")
	o.keys("D m c")
	o.sc.has("DONE (changed)", "4/4", "Marked as done by hand (not run)", "✓ one", "✓ two", "✓ uses")
	o.keys("f f f")
	o.sc.on("one")
	o.keys("5")
	o.sc.has("ann: mark as done", "marked as done by hand")
	if o.ran("fails 9 one") != 1 || o.ran("does two") != 0 || o.ran("does last") != 1 {
		t.Errorf("one ran %d times, two %d, last %d", o.ran("fails 9 one"), o.ran("does two"), o.ran("does last"))
	}
}

// After the run D asks for another run of a step, with what depends on it if that is wanted.
func TestStepAgainAfterTheRun(t *testing.T) {
	for key, want := range map[string]string{"r": "site.yml/two", "w": "site.yml/two, site.yml/three", "esc": ""} {
		o := possible(t, "- {name: one, shell: does one}\n- {name: two, shell: does two, register: r}\n- {name: three, shell: 'does {{ r.rc }}'}\n")
		o.keys("A c f")
		o.sc.m.Tools.Again = true
		o.sc.on("two")
		o.sc.has("D this step again")
		o.keys("D")
		o.sc.has("Run again?", "Depending on it: three", "r  run this step with what it needs", "w  also the 1 step depending on it")
		o.keys(key)
		got := ""
		if again := o.sc.m.again; again != nil {
			got = strings.Join(again.Steps, ", ")
		}
		if got != want {
			t.Errorf("%s: again %q, want %q", key, got, want)
		}
	}
}

// Steps whose definition is the same, but not a file that they read, say which file it is.
func TestOtherFilesAreNamed(t *testing.T) {
	o := &offering{
		Rand: newOfferingDice(1), t: t, dir: t.TempDir(), forks: 1,
		jobs: &offeredJobs{tried: map[string]int{}, blocked: map[chan struct{}]bool{}},
	}
	o.write("app.conf", "one\n")
	o.write("unit.service", "one\n")
	o.open("- {name: put app, copy: {src: app.conf, dest: /tmp/app.conf}}\n- {name: stop here, shell: does}\n- {name: put unit, copy: {src: unit.service, dest: /tmp/unit}}\n")
	o.Settle()
	o.sc.on("stop here")
	o.keys("b A c")
	o.sc.has("PAUSED at breakpoint")
	o.write("app.conf", "two\n")
	o.sc.Send(edited{})
	o.Settle()
	o.sc.has("app.conf: 1 step changed", "≠ ├   put app                               app.conf changed")
	o.sc.on("put app")
	o.sc.has("≠ outdated", "file      app.conf has changed")
	time.Sleep(50 * time.Millisecond) // or the step that ran last may have changed it: a file system keeps coarser times than the clock
	o.write("unit.service", "two\n")
	time.Sleep(50 * time.Millisecond) // or it is the step at the breakpoint that has changed it, as far as can be known
	o.keys("c")                       // it is held back, and planned again
	o.sc.has("PAUSED: not approved  put unit", "unit.service changed", "file      unit.service has changed", "app.conf changed")
	o.keys("a c")
	o.sc.hasNot("unit.service changed")
	o.sc.has("app.conf changed")
	o.end()
}
