package engine_test

import (
	"testing"
	"time"

	"moon/engine"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
)

// TestLastRun has a playbook run three times, and looks at what the next run is told of how its steps ended.
func TestLastRun(t *testing.T) {
	p, g := build(t, "- shell: a\n- shell: b\n- shell: c\n")
	runs, durations := t.TempDir(), t.TempDir()
	bad := map[string]bool{"b": true}
	f := newTimed(map[string]time.Duration{"a": 2 * time.Second, "b": 5 * time.Second, "c": time.Second}, func(cmd string) exec.Result {
		if bad[cmd] {
			return exec.Result{Outcome: events.Failed, Error: "no"}
		}
		return exec.Result{Outcome: events.Changed}
	})
	last := func() []events.Last {
		t.Helper()
		c := f.config(p, g, runs, durations)
		c.Options.Review = true
		s, err := engine.Start(c)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			s.Send(events.Order{Command: events.Stop{How: events.StopDrain}})
			if err := s.Wait(); err != nil {
				t.Error(err)
			}
		}()
		forecast := s.Forecast(p.Digest)
		if forecast == nil {
			return nil
		}
		return forecast.Last
	}
	if list := last(); list != nil {
		t.Errorf("before the first run: %v", list)
	}
	runTo(t, f.config(p, g, runs, durations))
	began := f.now()
	list := last()
	if len(list) != 3 || list[0].Outcome != events.Changed || list[0].Took != 2*time.Second ||
		list[1].Outcome != events.Failed || list[1].Took != 5*time.Second || list[1].At.Unix() != began.Unix() || list[2] != (events.Last{}) {
		t.Errorf("after b failed: %+v", list)
	}
	bad = nil
	f.takes["a"] = 4 * time.Second
	runTo(t, f.config(p, g, runs, durations))
	if list := last(); list[0].Took != 4*time.Second || list[1].Outcome != events.Changed || list[2].Took != time.Second {
		t.Errorf("after all went well: %+v", list) // the last time, and not a mean
	}
	dry := f.config(p, g, runs, durations)
	dry.Options = fact.Options{Forks: 1, OnFailure: fact.Drain, Check: true}
	f.takes["a"] = time.Hour
	runTo(t, dry)
	if list := last(); list[0].Took != 4*time.Second {
		t.Errorf("after a dry run: %+v", list)
	}
}
