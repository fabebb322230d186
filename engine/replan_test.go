package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/events"
	"moon/events/fact"
	"moon/exec"
)

// TestReplanAfterRescue edits what is still to come. A failure that was rescued is over, and neither it nor what came after it is done
// again; one that the run is paused on is not decided yet, and is.
func TestReplanAfterRescue(t *testing.T) {
	text := "- name: group\n  block:\n    - {name: boom, shell: boom}\n  rescue:\n    - {name: mend, shell: mend}\n- {name: three, shell: three}\n- {name: four, shell: four}\n"
	for _, tt := range []struct {
		name, order string
		decided     bool
	}{
		{"decided", "boom,mend,three,five", true},
		{"undecided", "boom,boom,mend,three,five", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "playbook.yml")
			write := func(text string) {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(text)
			p, g := buildAt(t, path)
			f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
				if cmdOf(job) == "boom" {
					return exec.Result{Outcome: events.Failed, Error: "exit status 1"}
				}
				return exec.Result{Outcome: events.OK}
			}}
			s := begin(t, p, g, f, fact.Options{Review: true, BreakOnFailure: true})
			w := watching(t, s, false)
			send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
			pausedOn := func(r events.PauseReason) func() bool {
				return func() bool { return w.run.Phase == events.Paused && w.run.Pause.Reason == r }
			}
			w.until("review", func() bool { return w.run.Phase == events.Review && len(w.run.Steps) == 4 })
			send(events.Approve{Range: events.Range{From: 0, To: 4}, Digest: p.Digest})
			send(events.Break{Step: 3})
			send(events.Continue{})
			w.until("the failure", pausedOn(events.PauseFailure))
			if tt.decided {
				send(events.Continue{})
				w.until("the breakpoint", pausedOn(events.PauseBreakpoint))
			}

			write(strings.Replace(text, "shell: four", "shell: five", 1))
			p2, g2 := buildAt(t, path)
			if err := s.Replan(p2, g2); err != nil {
				t.Fatal(err)
			}
			w.until("the new plan", func() bool { return w.run.Generation == 2 && w.run.Phase == events.Paused })
			send(events.Break{Step: 3, Clear: true})
			send(events.Approve{Range: events.Range{From: 0, To: 4}, Digest: p2.Digest})
			send(events.Continue{})
			if !tt.decided {
				w.until("the second failure", func() bool { return pausedOn(events.PauseFailure)() && len(w.run.Steps[0].Out) > 1 })
				send(events.Continue{})
			}
			w.done()
			if got := strings.Join(f.order, ","); got != tt.order {
				t.Errorf("ran %s, want %s", got, tt.order)
			}
			if w.run.Result.Outcome != events.RunDone || w.run.Counts.Rescued != 1 {
				t.Errorf("%+v, %+v", w.run.Result, w.run.Counts)
			}
		})
	}
}

// A step that an edit puts above the one that the run is paused at is where it is paused then.
func TestReplanMovesPause(t *testing.T) {
	path := filepath.Join(t.TempDir(), "playbook.yml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("- {name: one, shell: one}\n- {name: two, shell: two}\n")
	p, g := buildAt(t, path)
	f := &fake{}
	s := begin(t, p, g, f, fact.Options{Review: true})
	w := watching(t, s, false)
	send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
	send(events.Approve{Range: events.Range{From: 0, To: 2}})
	send(events.Break{Step: 1})
	send(events.Continue{})
	w.until("the breakpoint", func() bool { return w.run.Phase == events.Paused && w.run.PausedAt == 1 })
	write("- {name: one, shell: one}\n- {name: new, shell: new}\n- {name: two, shell: two}\n")
	p2, g2 := buildAt(t, path)
	if err := s.Replan(p2, g2); err != nil {
		t.Fatal(err)
	}
	w.until("the new plan", func() bool { return w.run.Generation == 2 && w.run.Phase == events.Paused })
	if w.run.PausedAt != 1 || p2.Steps[1].Name != "new" {
		t.Errorf("paused at step %d", w.run.PausedAt)
	}
	send(events.Advance{Verb: "step"})
	w.until("the pause after the new step", func() bool { return w.run.Phase == events.Paused && w.run.PausedAt == 2 })
	send(events.Break{Step: 2, Clear: true})
	send(events.Continue{})
	w.done()
	if got := strings.Join(f.order, ","); got != "one,new,two" {
		t.Errorf("ran %s", got)
	}
}
