package ansible

import (
	"context"
	"hash/fnv"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"moon/engine"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/plan"
	"moon/tui/status"
)

var attemptName = regexp.MustCompile(`step-\d+\S*$`)

// chance ends steps in every way, by what their attempt is called.
type chance struct{ seed byte }

func (c chance) Run(_ context.Context, job *exec.Job) exec.Result {
	h := fnv.New32a()
	_, _ = h.Write(append([]byte(attemptName.FindString(job.Attempt)), c.seed)) // never fails
	outcome := []events.Outcome{
		events.OK, events.OK, events.OK, events.Changed, events.Changed, events.Changed, events.Changed, events.Skipped, events.Failed,
		events.Unreachable,
	}[h.Sum32()%10]
	r := exec.Result{Outcome: outcome}
	if outcome == events.Skipped {
		r.Reason = events.SkipCreates
	}
	if events.Bad.Has(outcome) {
		r.Error = "by chance"
	}
	return r
}

// TestRecapsAgree runs the playbooks of all trials with steps that end by chance: what the engine has counted of each host at the
// end, and what views count of the events, is the same.
func TestRecapsAgree(t *testing.T) {
	ran := 0
	for _, c := range allTrials(t) {
		if len(c.flags) > 0 {
			continue
		}
		dir := c.lay(t)
		p, g, _ := engine.Build(plan.Options{
			Path: filepath.Join(dir, "site.yml"), Dir: dir, Home: dir, User: "ann",
			Hosts:  plan.HostSelection{Inventory: []string{filepath.Join(dir, "inventory")}},
			Values: plan.Values{Extra: []string{"out=" + filepath.Join(dir, "out")}},
		})
		if p == nil {
			continue // what it needs is not here, or it is refused
		}
		ran++
		for seed := range byte(2) {
			s, err := engine.Start(engine.Config{
				Plan: p, Graph: g, Runner: chance{seed}, Dry: chance{seed}, Runs: filepath.Join(dir, ".runs"),
				Options: fact.Options{Forks: 4, OnFailure: fact.Host},
			})
			if err != nil {
				t.Fatal(err)
			}
			feed, followed := s.Follow(t.Context(), false)
			var run events.Run
			for batch := range feed {
				for _, r := range batch {
					run.Apply(r)
				}
			}
			if err := s.Wait(); err != nil {
				t.Fatal(err)
			}
			if err := followed(); err != nil {
				t.Fatal(err)
			}
			if got, want := status.Recap(s.PlanFor(run.Digest), run.Steps), run.Result.Hosts; !slices.Equal(got, want) {
				t.Errorf("%s, seed %d: views count\n%+v, the engine\n%+v", c.name, seed, got, want)
			}
		}
	}
	if ran < 100 {
		t.Errorf("only %d playbooks were planned", ran)
	}
}
