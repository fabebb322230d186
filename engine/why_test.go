package engine_test

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"moon/engine"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/plan"
)

// asked is a run of a playbook whose commands last until the test lets them end: "fail" badly, all others well.
type asked struct {
	*watch
	t    *testing.T
	s    *engine.Session
	p    *plan.Plan
	ends map[string]chan struct{} // by command
}

func ask(t *testing.T, playbook string, o fact.Options, commands ...events.Command) *asked {
	t.Helper()
	p, g := build(t, playbook)
	a := &asked{t: t, p: p, ends: map[string]chan struct{}{}}
	for i := range p.Steps {
		a.ends[p.Steps[i].Summary] = make(chan struct{})
	}
	ends := maps.Clone(a.ends)
	var tried sync.Map // by command; those called once… fail at the first attempt
	f := &fake{do: func(ctx context.Context, job *exec.Job) exec.Result {
		select {
		case <-ends[cmdOf(job)]:
		case <-ctx.Done():
			return exec.Result{Outcome: events.Cancelled}
		}
		if _, again := tried.LoadOrStore(cmdOf(job), true); strings.HasPrefix(cmdOf(job), "fail") || strings.HasPrefix(cmdOf(job), "once") && !again {
			return exec.Result{Outcome: events.Failed, Error: "no"}
		}
		return exec.Result{Outcome: events.OK}
	}}
	a.s = begin(t, p, g, f, o)
	for _, c := range commands {
		a.s.Send(events.Order{Command: c})
	}
	a.watch = watching(t, a.s, false)
	t.Cleanup(func() { // before the feed is read to its end; what is essential runs nevertheless
		a.s.Send(events.Order{Command: events.Stop{How: events.StopNow}})
		for _, end := range a.ends {
			close(end)
		}
	})
	return a
}

// runs waits until commands run.
func (a *asked) runs(commands ...string) *asked {
	a.t.Helper()
	a.until(strings.Join(commands, ", ")+" run", func() bool {
		for _, c := range commands {
			i := a.step(c)
			if i >= len(a.run.Steps) || a.run.Steps[i].State != events.Active {
				return false
			}
		}
		return true
	})
	return a
}

// end lets a command end.
func (a *asked) end(command string) {
	close(a.ends[command])
	delete(a.ends, command)
}

func (a *asked) paused(why events.PauseReason) *asked {
	a.t.Helper()
	a.until("paused: "+string(why), func() bool {
		return (a.run.Phase == events.Paused || a.run.Phase == events.Review) && a.run.Pause.Reason == why
	})
	return a
}

func (a *asked) step(command string) int {
	a.t.Helper()
	i := slices.IndexFunc(a.p.Steps, func(s plan.Step) bool { return s.Summary == command })
	if i < 0 {
		a.t.Fatalf("there is no %s", command)
	}
	return i
}

func (a *asked) why(command string, want events.Wait) {
	a.t.Helper()
	got := a.s.Why(a.p.Digest, []int{a.step(command)})
	if len(got) == 1 && got[0].Due.Equal(want.Due) {
		got[0].Due = want.Due // which may be in another place of the world
	}
	if len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		a.t.Errorf("%s waits\n%+v, want\n%+v", command, got, want)
	}
}

const inOrder = "- shell: a\n- shell: b\n- shell: c\n"

func TestWhyInOrder(t *testing.T) {
	a := ask(t, inOrder, fact.Options{}).runs("a")
	a.why("a", events.Wait{Root: -1})
	a.why("b", events.Wait{For: events.WaitSteps, Steps: []int{0}, Root: 0, Is: events.WaitRuns})
	a.why("c", events.Wait{For: events.WaitSteps, Steps: []int{1}, Root: 0, Is: events.WaitRuns})
	// The chain is followed for the first only, and nothing is said of another plan, or of a step that is not there.
	list := a.s.Why(a.p.Digest, []int{1, 2, 77, -1})
	if len(list) != 4 || list[1].Root != -1 || list[2].For != "" || list[3].For != "" {
		t.Errorf("%+v", list)
	}
	if list := a.s.Why("another", []int{1}); list != nil {
		t.Errorf("of another plan: %+v", list)
	}
	for _, c := range []string{"a", "b", "c"} {
		a.end(c)
	}
	a.done()
	if err := a.s.Wait(); err != nil {
		t.Fatal(err)
	}
	if list := a.s.Why(a.p.Digest, []int{1}); list != nil {
		t.Errorf("after the end: %+v", list)
	}
}

func TestWhySlots(t *testing.T) {
	loop := "- name: pull\n  shell: \"{{ item }}\"\n  with_items: [a, b, c]\n  loop_control: { limit: 2 }\n"
	a := ask(t, loop, fact.Options{}).runs("a", "b")
	a.why("c", events.Wait{For: events.WaitPool, Name: a.p.Scopes[1].Name, Slots: 2, Steps: []int{0, 1}, Root: -1})

	all := "parallel: true\nsteps:\n- shell: a\n- shell: b\n- shell: c\n- shell: d\n- shell: e\n  timeout_queued: 1h\n"
	a = ask(t, all, fact.Options{Forks: 4}).runs("a", "b", "c", "d")
	a.why("e", events.Wait{For: events.WaitForks, Slots: 4, Steps: []int{0, 1, 2}, More: 1, Root: -1, Limit: time.Hour})

	terminal := "parallel: true\nsteps:\n- shell: a\n  interactive: true\n- shell: b\n  interactive: true\n"
	a = ask(t, terminal, fact.Options{}).runs("a")
	a.why("b", events.Wait{For: events.WaitTerminal, Steps: []int{0}, Root: -1})
}

func TestWhyValues(t *testing.T) {
	a := ask(t, "strategy: graph\nsteps:\n- shell: a\n  register: r\n- shell: b\n  when: r.rc == 0\n- shell: c\n  id: c\n- shell: d\n  needs: {c: failure}\n",
		fact.Options{}).runs("a", "c")
	a.why("b", events.Wait{For: events.WaitValue, Name: "r", Steps: []int{0}, Root: 0, Is: events.WaitRuns})
	a.why("d", events.Wait{For: events.WaitOutcome, Steps: []int{2}, Root: 2, Is: events.WaitRuns})

	a = ask(t, "- block:\n  - shell: a\n  - shell: b\n  rescue:\n  - shell: c\n  always:\n  - shell: d\n", fact.Options{}).runs("a")
	a.why("c", events.Wait{For: events.WaitOutcome, Steps: []int{0, 1}, Root: 0, Is: events.WaitRuns})
	a.why("d", events.Wait{For: events.WaitSteps, Steps: []int{0, 1, 2}, Root: 0, Is: events.WaitRuns})
}

func TestWhyPeople(t *testing.T) {
	all := events.Approve{Range: events.Range{From: 0, To: 3}}
	review := fact.Options{Review: true}
	a := ask(t, inOrder, review).paused(events.PauseReview)
	a.why("a", events.Wait{For: events.WaitApproval, Root: -1})
	a.why("b", events.Wait{For: events.WaitSteps, Steps: []int{0}, Root: 0, Is: events.WaitApproval, Held: events.WaitApproval})

	a = ask(t, inOrder, review, events.Approve{Range: events.Range{From: 1, To: 3}}, events.Continue{}).paused(events.PauseUndecided)
	a.why("a", events.Wait{For: events.WaitApproval, Root: -1})
	a.why("b", events.Wait{For: events.WaitSteps, Steps: []int{0}, Root: 0, Is: events.WaitApproval})

	a = ask(t, inOrder, review, all, events.Break{Step: 0}, events.Continue{}).paused(events.PauseBreakpoint)
	a.why("a", events.Wait{For: events.WaitBreakpoint, Root: -1})

	two := events.Approve{Range: events.Range{From: 0, To: 2}}
	a = ask(t, "- shell: a\n  confirm: really\n- shell: b\n", review, two, events.Continue{}).paused(events.PauseConfirm)
	a.why("a", events.Wait{For: events.WaitConfirm, Root: -1})
	a.why("b", events.Wait{For: events.WaitSteps, Steps: []int{0}, Root: 0, Is: events.WaitConfirm})

	a = ask(t, inOrder, review, all, events.Advance{Verb: "step"}).runs("a")
	a.end("a")
	a.paused(events.PauseStep)
	a.why("b", events.Wait{For: events.WaitStepping, Root: -1})

	a = ask(t, inOrder, review, all, events.Continue{}).runs("a")
	a.s.Send(events.Order{Command: events.Pause{}})
	a.end("a")
	a.paused(events.PauseUser)
	a.until("a ends", func() bool { return a.run.Steps[0].State == events.Settled })
	a.why("b", events.Wait{For: events.WaitPaused, Root: -1})

	a = ask(t, "- pause: look\n- shell: b\n", review, two, events.Continue{})
	a.paused(events.PauseConfirm)
	a.why("look", events.Wait{For: events.WaitConfirm, Root: -1})
	a.why("b", events.Wait{For: events.WaitSteps, Steps: []int{0}, Root: 0, Is: events.WaitConfirm})
}

func TestWhyFailures(t *testing.T) {
	o := fact.Options{BreakOnFailure: true}
	a := ask(t, "strategy: graph\nsteps:\n- shell: fail\n  id: f\n- shell: b\n  needs: f\n- shell: c\n  id: c\n- shell: d\n  needs: c\n", o).runs("fail", "c")
	a.end("fail")
	a.paused(events.PauseFailure)
	a.why("fail", events.Wait{For: events.WaitFailed, Root: -1})
	a.why("b", events.Wait{For: events.WaitSteps, Steps: []int{0}, Root: 0, Is: events.WaitFailed})
	a.end("c")
	a.until("c ends", func() bool { return a.run.Steps[2].State == events.Settled })
	a.why("d", events.Wait{For: events.WaitPaused, Root: 0, Is: events.WaitFailed})

	// After a retry that went well the run is still paused there, but the step has not failed any more.
	a = ask(t, "- shell: once\n- shell: b\n", o).runs("once")
	a.end("once")
	a.paused(events.PauseFailure)
	a.s.Send(events.Order{Command: events.Retry{Range: events.Range{From: 0, To: 1}}})
	a.until("it is tried again", func() bool { return a.run.Steps[0].State == events.Settled && a.run.Steps[0].Outcome != events.Failed })
	a.why("b", events.Wait{For: events.WaitPaused, Root: 0})

	a = ask(t, "- shell: fail\n  retries: 3\n  delay: 1h\n- shell: b\n", fact.Options{}).runs("fail")
	a.end("fail")
	a.until("it is to be tried again", func() bool { return a.run.Steps[0].State == events.Backoff })
	a.why("fail", events.Wait{For: events.WaitRetry, Due: a.run.Steps[0].Due, Root: -1})
	a.why("b", events.Wait{For: events.WaitSteps, Steps: []int{0}, Root: 0, Is: events.WaitRetry})

	a = ask(t, inOrder, fact.Options{}).runs("a")
	a.s.Send(events.Order{Command: events.Stop{How: events.StopDrain}})
	a.until("it is being stopped", func() bool { return slices.ContainsFunc(a.all, isStop) })
	a.why("b", events.Wait{For: events.WaitStopping, Root: -1})
}

func isStop(r events.Record) bool {
	c, ok := r.Event.(events.CommandAccepted)
	if !ok {
		return false
	}
	_, ok = c.Command.(events.Stop)
	return ok
}

// A question looks at so many edges and no more, however long the chain is.
func TestWhyIsBounded(t *testing.T) {
	p, g := build(t, "- shell: \"{{ item }}\"\n  with_items: \"{{ range(0, 30000) | list }}\"\n")
	block := make(chan struct{})
	s := begin(t, p, g, &fake{do: func(ctx context.Context, _ *exec.Job) exec.Result {
		select {
		case <-block:
		case <-ctx.Done():
		}
		return exec.Result{Outcome: events.OK}
	}}, fact.Options{})
	w := watching(t, s, false)
	w.until("the first runs", func() bool { return w.run.Counts.Running == 1 })
	for step, root := range map[int]int{9000: 0, 29_999: -1} {
		list := s.Why(p.Digest, []int{step, 5})
		if len(list) != 2 || list[0].For != events.WaitSteps || list[0].Steps[0] != step-1 || list[0].Root != root {
			t.Errorf("%d: %+v", step, list)
		}
	}
	s.Send(events.Order{Command: events.Stop{How: events.StopNow}})
	w.done()
	close(block)
}
