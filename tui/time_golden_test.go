package tui

import (
	"fmt"
	"testing"
	"time"

	"moon/events"
	"moon/plan"
	"moon/tui/tuitest"
)

// site is a playbook for two hosts, of which some of the steps may run at once.
func site() *plan.Plan {
	b := tuitest.NewBuilder("site.yml")
	on := func(host string) func(*plan.Step) {
		return func(s *plan.Step) { s.Host, s.Path = host, s.Path+"@"+host }
	}
	b.Scope(plan.ScopePlay, "preflight", 3, nil, func() {
		b.Step("gather facts", "shell", 4, on("db1"))
		b.Step("gather facts", "shell", 4, on("db2"))
	})
	b.Scope(plan.ScopePlay, "database", 8, func(s *plan.Scope) { s.Parallel = 2 }, func() {
		b.Step("install postgresql 16", "package", 9, on("db1"))
		b.Step("run alembic upgrade head", "command", 12, on("db1"))
		b.Step("run alembic upgrade head", "command", 12, on("db2"))
		b.Step("vacuum full", "command", 15, on("db2"))
	})
	b.Scope(plan.ScopePlay, "web", 20, nil, func() {
		b.Scope(plan.ScopeInclude, "tls.yml", 21, func(s *plan.Scope) { s.When = "use_tls" }, func() {
			b.Step("render the certificate", "template", 3, on("web1"), func(s *plan.Step) { s.Prediction = plan.MaySkip })
		})
		b.Step("restart nginx", "service", 23, on("web1"))
	})
	return b.Done()
}

// TestRunningNow is two steps that run at once, two that wait, and what the last run was like.
func TestRunningNow(t *testing.T) {
	for _, cursor := range []string{"vacuum full", "play: web"} {
		for _, size := range sizes {
			for _, ascii := range []bool{false, true} {
				dir := map[string]string{"vacuum full": "slots", "play: web": "chain"}[cursor]
				name := fmt.Sprintf("%s/%dx%d-%s", dir, size.w, size.h, map[bool]string{false: "unicode", true: "ascii"}[ascii])
				t.Run(name, func(t *testing.T) {
					s := runningSite(t, size.w, size.h, ascii)
					s.on(cursor)
					if cursor == "play: web" {
						s.keys("1")
					}
					golden(t, name, s.shows())
				})
			}
		}
	}
}

func runningSite(t *testing.T, w, h int, ascii bool) *screen {
	t.Helper()
	p := site()
	s := newScreen(t, setup{p: p, w: w, h: h, ascii: ascii, options: func(o *Options) {
		o.Forecast = func(string) *events.Forecast {
			f := inOrder(p, 20*time.Second)("")
			f.Last = make([]events.Last, len(p.Steps))
			f.Last[3] = events.Last{At: tuitest.Start.Add(-time.Hour), Outcome: events.Changed, Took: 41800 * time.Millisecond}
			return f
		}
		o.Why = func(_ string, steps []int) []events.Wait {
			list := make([]events.Wait, len(steps))
			for i, step := range steps {
				list[i] = events.Wait{For: events.WaitSteps, Steps: []int{5}, Root: 5, Is: events.WaitPool, Held: events.WaitBreakpoint}
				if step == 5 {
					list[i] = events.Wait{For: events.WaitPool, Name: "database", Slots: 2, Steps: []int{3, 4}, Root: -1}
				}
			}
			return list
		}
	}})
	s.keys("A")
	s.f.Say(-1, events.RunResumed{})
	ran := func(step int, begin, end float64) {
		s.f.Clock = inTime(begin)
		s.f.Say(step, events.StepStarted{Name: p.Steps[step].Name})
		if end > 0 {
			s.f.Clock = inTime(end)
			s.f.Say(step, events.StepCompleted{Name: p.Steps[step].Name, Changed: step > 1})
		}
	}
	ran(0, 0, 12)
	ran(1, 12, 21)
	ran(2, 21, 52)
	ran(4, 60, 0)
	ran(3, 55, 0)
	s.f.Clock = inTime(111)
	s.frame()
	return s
}
