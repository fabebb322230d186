package state

import (
	"slices"
	"testing"

	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

func exporting(n int) *plan.Plan {
	p := graphtest.NewPlan(n)
	p.Exports = []plan.Export{{Name: "x"}}
	return p
}

// TestExports ends runs of a playbook that exports something: once, when nothing is left and nothing has failed.
func TestExports(t *testing.T) {
	fails := func(int, int) events.Outcome { return events.Failed }
	for _, c := range []struct {
		name    string
		options fact.Options
		bad     string
		outcome func(step, attempt int) events.Outcome
		want    []string // the last of the log
	}{
		{"done", fact.Options{}, "", nil, []string{"completed 0", "export", "run.completed:done"}},
		{"failing", fact.Options{}, "no value", nil, []string{"export", "run.completed:failed"}},
		{"a step failed", fact.Options{}, "", fails, []string{"failed 0", "run.completed:failed"}},
		{"dry", fact.Options{Check: true}, "", nil, []string{"completed 0", "run.completed:done"}},
		{"kept open", fact.Options{KeepOpen: true}, "no value", nil, []string{"export", "warning", "run.paused:end"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := exporting(1)
			b := newBench(t, p, chain(t, p), c.options)
			b.badExport = c.bad
			if c.outcome != nil {
				b.outcome = c.outcome
			}
			b.all()
			if got := b.log[max(len(b.log)-len(c.want), 0):]; !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", b.log, c.want)
			}
			if got := b.run.Result.Error; b.run.Phase == events.Done && got != c.bad {
				t.Errorf("the run ended with the error %q", got)
			}
			if n := len(slices.DeleteFunc(slices.Clone(b.log), func(w string) bool { return w != "export" })); n > 1 {
				t.Errorf("exported %d times", n)
			}
		})
	}
}

// A failing export waits for a person. Another plan, or a step that runs again, takes it back, and what is exported then counts.
func TestExportsAreTakenBack(t *testing.T) {
	for _, how := range []string{"replanned", "rerun"} {
		t.Run(how, func(t *testing.T) {
			p := exporting(2)
			b := newBench(t, p, chain(t, p), fact.Options{KeepOpen: true})
			b.badExport = "no value"
			b.all()
			b.badExport = ""
			if how == "rerun" {
				b.send(events.Rerun{Range: stepRange(1)})
			} else {
				next := exporting(2)
				next.Digest = "d2"
				b.s.Replan(fact.Record{At: b.now, Fact: fact.RunReplanned{Generation: 2, Digest: "d2", Total: 2, Keeps: true}}, next, chain(t, next))
			}
			b.log = nil
			if b.s.paused {
				b.send(events.Continue{})
			}
			b.all()
			if !slices.Contains(b.log, "export") || b.run.Result.Outcome != events.RunDone || b.run.Result.Error != "" {
				t.Errorf("%s ended as %+v after %q", how, b.run.Result.Outcome, b.log)
			}
		})
	}
}

// What was recorded before moon was killed is not evaluated again, unless it failed.
func TestExportsSurvive(t *testing.T) {
	for _, bad := range []string{"", "no value"} {
		p := exporting(1)
		b := newBench(t, p, chain(t, p), fact.Options{})
		b.add(fact.AttemptStarted{Step: 0, Attempt: 1})
		b.add(fact.AttemptFinished{Step: 0, Attempt: 1, Outcome: events.OK})
		b.add(fact.RunExported{Values: map[string]any{"x": "first"}, Error: bad})
		b.log = nil
		b.s.Resume(fact.Record{At: b.now, Fact: fact.RunResumed{
			Generation: 2, Digest: p.Digest, Total: 1, Options: b.s.opts, Keeps: true,
		}}, p, b.s.graph)
		b.all()
		if again := slices.Contains(b.log, "export"); again != (bad != "") || b.run.Result.Outcome != events.RunDone {
			t.Errorf("after a failure %q it ended as %s: %q", bad, b.run.Result.Outcome, b.log)
		}
	}
}
