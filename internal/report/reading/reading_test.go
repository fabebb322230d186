package reading

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/plan"
	"moon/tui/status"
)

// TestWords has a word for every state, and all of them in the order of the counts: else a step would not be counted.
func TestWords(t *testing.T) {
	counted := map[string]bool{}
	for s := range status.States {
		word := words[status.State(s)]
		if word == "" {
			t.Errorf("the state %d has no word", s)
		}
		counted[word] = false
	}
	r := &Reading{}
	for word := range counted {
		for state, w := range words {
			if w != word {
				continue
			}
			r.Run.Steps = []events.Step{stepIn(state)}
			if got := r.Counts(); len(got) != 1 || got[0].N != 1 {
				t.Errorf("a step that is %s counts as %v", word, got)
			}
		}
	}
}

// stepIn is a step of a run that is in a state, as far as it can be without a plan.
func stepIn(s status.State) events.Step {
	settled := func(o events.Outcome) events.Step { return events.Step{State: events.Settled, Outcome: o} }
	switch s {
	case status.OK:
		return settled(events.OK)
	case status.Changed:
		return settled(events.Changed)
	case status.Failed:
		return settled(events.Failed)
	case status.Unreachable:
		return settled(events.Unreachable)
	case status.Ignored:
		return events.Step{State: events.Settled, Outcome: events.Failed, Ignored: true}
	case status.Rescued:
		return events.Step{State: events.Settled, Outcome: events.Failed, Rescued: true}
	case status.Skipped:
		return settled(events.Skipped)
	case status.Kept:
		return events.Step{State: events.Settled, Outcome: events.OK, Kept: true}
	case status.Outdated:
		return events.Step{State: events.Settled, Outcome: events.OK, Outdated: true}
	case status.Cancelled:
		return settled(events.Cancelled)
	case status.Omitted:
		return settled(events.Omitted)
	case status.Running:
		return events.Step{State: events.Active}
	case status.Excluded:
		return events.Step{Excluded: true}
	case status.Waiting:
		return events.Step{Approved: true}
	case status.Asking:
		return events.Step{State: events.Held, Hold: events.PauseUser}
	}
	return events.Step{}
}

// TestOutput reads small output in the order in which it was printed, and of large output the end of each stream, with what is left.
func TestOutput(t *testing.T) {
	dir := t.TempDir()
	p := graphtest.NewPlan(1)
	r := &Reading{PlanFor: func(string) *plan.Plan { return p }, Out: dir}
	take := func(step int, e events.Event) {
		r.Take(events.Record{Run: "r", Time: time.Unix(1, 0), Step: step, Event: e})
	}
	take(-1, events.RunStarted{TotalSteps: 1, Playbook: "p.yml"})
	take(-1, events.PlanLoaded{TotalSteps: 1, Digest: "d"})
	take(0, events.StepStarted{Name: "x", Out: "x"})
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "line %03d\n", i) // 9 bytes
	}
	for name, text := range map[string]string{"x.out": b.String(), "x.err": "\x1b[31mred\x1b[0m\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines, left, err := r.Output(0, 0, 64<<10)
	if err != nil || left != 0 || len(lines) != 1001 {
		t.Errorf("%d lines, %d bytes left, %v", len(lines), left, err)
	}
	red := 0
	for _, l := range lines {
		if l.Stderr {
			red++
			if l.Text != "red" {
				t.Errorf("it is %q", l.Text)
			}
		}
	}
	if red != 1 {
		t.Errorf("%d lines are of standard error", red)
	}
	lines, left, err = r.Output(0, 0, 1000)
	if err != nil || left < 8400 || left > 8700 || lines[len(lines)-2].Text != "line 999" || !lines[len(lines)-1].Stderr {
		t.Errorf("%d lines to %+v, %d bytes left, %v", len(lines), lines[len(lines)-1], left, err)
	}
}
