package tui

import (
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/internal/people"
	"moon/tui/tuitest"
)

// sends fails the test unless the keys send the commands, and returns nothing else.
func (s *screen) sends(keys string, want ...events.Command) {
	s.t.Helper()
	s.f.Sent = nil
	s.keys(keys)
	if len(s.f.Sent) == 0 && len(want) == 0 {
		return
	}
	if !reflect.DeepEqual(s.f.Sent, want) {
		s.t.Errorf("%s sent %+v, want %+v\n%s", keys, s.f.Sent, want, s.shows())
	}
}

func span1(from, to int) events.Range { return events.Range{From: from, To: to} }

const (
	stepHello   = 0
	stepUpdate  = 1
	stepGit     = 2
	stepTmux    = 5
	stepUnpack  = 8
	stepClone   = 9
	stepConfirm = 13
	stepVacuum  = 14
	stepShell   = 15
	stepsAll    = 16
)

func TestDecisions(t *testing.T) {
	p := devbox()
	approve := func(from, to int, confirm bool) events.Approve {
		return events.Approve{Range: span1(from, to), Digest: p.Digest, Confirm: confirm}
	}
	s := newScreen(t, setup{w: 120, h: 40})

	s.on("install git")
	s.sends("a", approve(stepGit, stepGit+1, false))
	s.sends("a", events.Withdraw{Range: span1(stepGit, stepGit+1)})
	s.on("loop: install packages")
	s.sends("a", approve(stepGit, stepTmux+1, false))
	s.sends("a", events.Withdraw{Range: span1(stepGit, stepTmux+1)})

	// A step that asks is confirmed only by itself.
	s.on("devbox.yml")
	s.sends("a", approve(0, stepsAll, false))
	s.has("1 step to confirm one by one", "14 approved", "1 needs attention")
	s.on("replace /etc/hosts")
	s.sends("a", approve(stepConfirm, stepConfirm+1, true))
	s.has("15 approved")
	s.sends("a", events.Withdraw{Range: span1(stepConfirm, stepConfirm+1)})
	s.sends("A") // all but that one is approved
	s.has("everything is approved")
	s.on("say hello")
	s.sends("a", events.Withdraw{Range: span1(0, 1)})
	s.sends("A", approve(0, stepsAll, false))

	s.on("block: dotfiles")
	s.sends("x", events.Exclude{Range: span1(stepClone, stepConfirm)})
	s.has("11 of 16 steps")
	s.sends("x", events.Include{Range: span1(stepClone, stepConfirm)})
	s.on("vacuum the journal")
	s.sends("x")
	s.has("excluded by tags or selection")
	s.on("clone the dotfiles")
	s.sends("b", events.Break{Step: stepClone})
	s.sends("f9", events.Break{Step: stepClone, Clear: true})
	s.on("include: docker.yml")
	s.sends("b")
	s.sends("a")
	s.has("nothing to approve here")
}

func TestMarks(t *testing.T) {
	p := devbox()
	s := newScreen(t, setup{w: 120, h: 40})
	s.on("install git")
	s.sends("space space") // git, ripgrep
	s.on("unpack go")
	s.sends("space")
	s.has("3 marked")
	s.sends("a", events.Approve{Range: span1(stepGit, stepGit+2), Digest: p.Digest},
		events.Approve{Range: span1(stepUnpack, stepUnpack+1), Digest: p.Digest})
	if len(s.m.Cur.Marks) != 0 {
		t.Error("the marks stayed")
	}
	s.on("say hello")
	s.sends("v j j")
	s.has("marking")
	s.sends("x", events.Exclude{Range: span1(0, 9)}) // hello, the include, and what is in it
	s.sends("v j v esc")
	if len(s.m.Cur.Marks) != 0 {
		t.Error("esc kept the marks")
	}
	// Marking a step that asks does not confirm it.
	s.on("replace /etc/hosts")
	s.sends("space")
	s.on("check the shell")
	s.sends("space a", events.Approve{Range: span1(stepConfirm, stepConfirm+1), Digest: p.Digest},
		events.Approve{Range: span1(stepShell, stepShell+1), Digest: p.Digest})
}

func TestStepping(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	// The cursor is on the playbook at first, and over must not run all of it.
	s.sends("o", events.Advance{Verb: "over", Range: span1(0, 1), Approve: true})
	s = newScreen(t, setup{w: 120, h: 40})
	s.sends("s", events.Advance{Verb: "step", Approve: true})
	s.has("PAUSED before  update the package index", "❯ ◇")
	s.sends("f11", events.Advance{Verb: "step", Approve: true})
	s.has("before  install git")

	// On the loop's row over is the whole loop, on a step it is the step.
	s.on("loop: install packages")
	s.sends("o", events.Advance{Verb: "over", Range: span1(stepGit, stepTmux+1), Approve: true})
	s.has("before  download go")
	s.sends("f10", events.Advance{Verb: "over", Range: span1(stepTmux+1, stepTmux+2), Approve: true})
	s.sends("A", events.Approve{Range: span1(0, stepsAll), Digest: s.m.Plan.Digest})
	s.sends("O", events.Advance{Verb: "out", Range: span1(stepTmux+2, stepClone)})
	s.has("before  clone the dotfiles")
	s.on("replace /etc/hosts")
	s.sends("u", events.Advance{Verb: "until", Range: span1(0, stepConfirm)})
	s.has("before  replace /etc/hosts")
	s.on("install git")
	s.sends("u")
	s.has("already passed this")
	s.sends("c", events.Continue{})
	s.has("PAUSED to confirm  replace /etc/hosts")
	if s.m.Tree.Step(s.m.CursorNode()) != stepConfirm {
		t.Error("the cursor did not follow to what asks")
	}
	s.sends("a c", events.Approve{Range: span1(stepConfirm, stepConfirm+1), Digest: s.m.Plan.Digest, Confirm: true}, events.Continue{})
	s.has("DONE (changed)")
	s.sends("s")
	s.has("the run has ended")
}

func TestContinueNeverApproves(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.sends("c", events.Continue{})
	s.has("PAUSED: not approved  say hello")
	s.press("c")
	s.has("A approves all")
}

func TestPauseAndResume(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("A")
	s.press("c")
	s.f.Until("install git")
	s.frame()
	s.has("RUNNING")
	s.press("c")
	s.has("it is running; p pauses it")
	s.press("s")
	s.has("p pauses it")
	s.sends("p", events.Pause{})
	s.has("PAUSED by you", "nothing is running")
	s.press("p")
	if got := s.f.Sent[len(s.f.Sent)-1]; got != (events.Continue{}) {
		t.Errorf("p sent %+v", got)
	}
}

func TestFailure(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, fake: func(f *tuitest.Engine) { f.Fails["unpack go"] = 2; f.Fails["install git"] = 1 }})
	s.keys("A c")
	s.has("PAUSED on failure", "What now?", "r  retry this step", "x  skip it and continue", "continue without it")
	if s.m.Tree.Step(s.m.CursorNode()) != stepGit {
		t.Fatal("the cursor is not on the failed step")
	}
	s.sends("x", events.Skip{Step: stepGit})
	if s.m.Tree.Step(s.m.CursorNode()) != stepUnpack {
		t.Fatal("the cursor did not go to the next failure")
	}
	s.has("Permission denied", "5 lines in 2 Output")
	s.sends("r", events.Retry{Range: span1(stepUnpack, stepUnpack+1)})
	s.has("attempt 2", "PAUSED on failure")
	s.on("include: packages.yml")
	s.sends("r", events.Retry{Range: span1(stepUpdate, stepClone)})
	s.has("PAUSED after a retry")
	s.on("say hello")
	s.sends("r")
	s.has("nothing to retry here")
	s.on("unpack go")
	s.keys("2 tab [ [")
	s.has("attempt 1 of 3")
	s.keys("]")
	s.has("attempt 2 of 3")
}

func TestRetryAllAndLeave(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, fake: func(f *tuitest.Engine) { f.Fails["unpack go"] = 2 }})
	s.keys("A c c")
	s.has("FAILED", "Summary", "R retry all")
	s.sends("R", events.Retry{Range: span1(0, stepsAll), Continue: true})
	s.has("PAUSED on failure")
	s.sends("c q", events.Continue{}, events.Leave{})
	if !quits(s) {
		t.Error("leaving after the end did not quit")
	}
}

func quits(s *screen) bool {
	for _, msg := range s.cmds {
		if _, ok := msg.(tea.QuitMsg); ok {
			return true
		}
	}
	return false
}

func TestLeaving(t *testing.T) {
	running := func() *screen {
		s := newScreen(t, setup{w: 120, h: 40})
		s.keys("A")
		s.press("c")
		s.f.Until("install git")
		s.frame()
		return s
	}
	s := newScreen(t, setup{w: 120, h: 40})
	s.sends("q", events.Stop{How: events.StopInterrupt})
	if !quits(s) {
		t.Error("q in a review did not quit")
	}

	for key, want := range map[string]events.Command{
		"w":      events.Stop{How: events.StopDrain},
		"k":      events.Stop{How: events.StopInterrupt},
		"ctrl+c": events.Stop{How: events.StopNow, Signal: true},
	} {
		for _, ask := range []string{"q", "ctrl+c"} {
			s = running()
			s.f.Sent = nil
			s.press(ask)
			s.has("Quit with 1 step running?", "install git")
			if len(s.f.Sent) > 0 {
				t.Fatalf("%s alone sent %v", ask, s.f.Sent)
			}
			s.press("enter") // confirms nothing
			s.press(key)
			s.frame()
			if !reflect.DeepEqual(s.f.Sent, []events.Command{want}) || !quits(s) {
				t.Errorf("%s %s sent %v", ask, key, s.f.Sent)
			}
		}
	}

	s = running()
	s.f.Sent = nil
	s.keys("q esc")
	if len(s.f.Sent) != 0 || s.m.Overlay != nil {
		t.Errorf("esc sent %v", s.f.Sent)
	}

	// A run that does not end must not keep the terminal for ever.
	s = running()
	s.m.Engine.Send = func(events.Order) {}
	for range 4 {
		s.press("ctrl+c")
	}
	if !quits(s) || !s.m.forced {
		t.Error("the fourth ctrl+c did not force the way out")
	}

	s = newScreen(t, setup{w: 120, h: 40})
	s.keys("A ] a c")
	s.has("DONE")
	if quits(s) {
		t.Error("a run that is done closed by itself")
	}
	s.press("q")
	if !quits(s) {
		t.Error("q did not leave")
	}
}

// TestLeavingAttached leaves a run that another process has: nothing is sent unless the run is to stop.
func TestLeavingAttached(t *testing.T) {
	attached := func() *screen {
		s := newScreen(t, setup{w: 120, h: 40})
		s.m.Tools.Attached = true
		return s
	}
	for _, keys := range []string{"q d", "ctrl+c d", "ctrl+c ctrl+c"} {
		s := attached()
		s.keys(keys)
		if len(s.f.Sent) > 0 || !quits(s) || s.m.forced {
			t.Errorf("%s in the review sent %v", keys, s.f.Sent)
		}
	}
	s := attached()
	s.keys("A")
	s.press("c")
	s.f.Until("install git")
	s.frame()
	s.f.Sent = nil
	s.press("q")
	s.has("Quit with 1 step running?", "d  detach: the run continues", "k  stop now")
	s.press("esc")
	s.keys("q d")
	if len(s.f.Sent) > 0 || !quits(s) {
		t.Errorf("detaching sent %v", s.f.Sent)
	}
	s = attached()
	s.keys("q k")
	if want := []events.Command{events.Stop{How: events.StopInterrupt}}; !reflect.DeepEqual(s.f.Sent, want) {
		t.Errorf("q k sent %v", s.f.Sent)
	}
}

func TestRefusalsAndWarningsAreShown(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.f.Say(-1, events.CommandRejected{Order: events.Order{Command: events.Pause{}}, Reason: "nothing runs"})
	s.frame()
	s.has("refused: nothing runs")
	s.f.Say(-1, events.Warning{Message: "disk \x1b[2Jalmost full"})
	s.frame()
	s.has("almost full")
	s.press("j")
	if s.m.Message != "" {
		t.Error("the message stayed")
	}
}

// After the run R runs it again, where that can be done; before, it never leaves the screen.
func TestRunAgain(t *testing.T) {
	for _, can := range []bool{false, true} {
		s := newScreen(t, setup{w: 120, h: 40, options: func(o *Options) { o.Again = can }})
		s.press("R")
		if s.m.again != nil {
			t.Error("R runs it again before it has run")
		}
		s.keys("A ] a c R")
		if (s.m.again != nil) != can {
			t.Errorf("can %t, again %v\n%s", can, s.m.again, s.shows())
		}
		if can {
			s.has("R run again")
		} else {
			s.has("the run has ended")
		}
	}
}

// After a failed step was skipped, what uses its result says so.
func TestUsesASkippedResult(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, fake: func(f *tuitest.Engine) { f.Fails["read the installed version"] = 1 }})
	s.keys("A")
	s.on("unpack go")
	s.keys("b c x")
	s.on("unpack go")
	s.has("will skip It uses the result of step-0008 «read the", "installed version», which failed, and the")
	s.on("check the shell")
	if text := s.shows(); strings.Contains(text, "It uses the result") {
		t.Errorf("a step that uses none says so\n%s", text)
	}
}

// Excluding a step says at once which steps are skipped with it, before anything runs, and restoring it takes that back.
func TestExcludeSaysWhatItTakesAlong(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.on("read the installed version")
	s.keys("x")
	s.has("also skipped: 1 step that uses its result: unpack go", "1 will skip", "will skip: uses step-0008")
	s.on("unpack go")
	s.has("will skip It uses the result of step-0008 «read the", "which is excluded")
	s.on("read the installed version")
	s.keys("x")
	s.has("no longer skipped: 1 step that uses its result: unpack go")
	if text := s.shows(); strings.Contains(text, "will skip: uses") || strings.Contains(text, "1 will skip") {
		t.Errorf("it is skipped all the same\n%s", text)
	}
}

// A step that demands people stays one to be confirmed until there are enough of them, and shows who has confirmed it.
func TestPeopleConfirm(t *testing.T) {
	p := devbox()
	p.Steps[stepConfirm].Confirmers = &people.Demand{By: 2}
	s := newScreen(t, setup{w: 200, h: 40, p: p})
	s.on("replace /etc/hosts")
	s.has("(needs 2 people)")
	confirm := events.Approve{Range: span1(stepConfirm, stepConfirm+1), Digest: p.Digest, Confirm: true}
	s.sends("a", confirm)
	s.f.Say(stepConfirm, events.StepConfirmed{By: []string{"ada"}, Missing: "1 more person"})
	s.frame()
	s.has("(needs 2 people; confirmed by ada)", "1 needs attention")
	s.sends("a", confirm)
	s.f.Say(stepConfirm, events.StepConfirmed{By: []string{"ada", "bob"}})
	s.frame()
	s.has("confirmed by ada, bob)")
	s.sends("a", events.Withdraw{Range: confirm.Range})
}
