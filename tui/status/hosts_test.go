package status_test

import (
	"slices"
	"testing"

	"moon/events"
	"moon/plan"
	"moon/tui/status"
)

// Each way a task can end on a host counts as users of plays expect.
func TestRecap(t *testing.T) {
	rc := 1
	for _, test := range []struct {
		name string
		ends []events.Event // of one step, or of the items of a loop
		want events.HostCounts
	}{
		{"ok", []events.Event{events.StepCompleted{}}, events.HostCounts{OK: 1}},
		{"changed", []events.Event{events.StepCompleted{Changed: true}}, events.HostCounts{OK: 1, Changed: 1}},
		{"skipped", []events.Event{events.StepSkipped{Reason: events.SkipWhen}}, events.HostCounts{Skipped: 1}},
		{"there already", []events.Event{events.StepSkipped{Reason: events.SkipCreates}}, events.HostCounts{OK: 1}},
		{"by tags", []events.Event{events.StepSkipped{Reason: events.SkipTags}}, events.HostCounts{}},
		{"not notified", []events.Event{events.StepSkipped{Reason: events.SkipUnchanged}}, events.HostCounts{}},
		{"failed", []events.Event{events.StepFailed{RC: &rc}}, events.HostCounts{Failed: 1}},
		{"ignored", []events.Event{events.StepFailed{Ignored: true}}, events.HostCounts{OK: 1, Ignored: 1}},
		{"rescued", []events.Event{events.StepFailed{Rescued: true}}, events.HostCounts{Rescued: 1}},
		{"unreachable", []events.Event{events.StepFailed{Unreachable: true}}, events.HostCounts{Unreachable: 1}},
		{"unreachable, ignored", []events.Event{events.StepFailed{Unreachable: true, Ignored: true}}, events.HostCounts{OK: 1, Ignored: 1}},
		{"never reached", []events.Event{events.StepOmitted{}}, events.HostCounts{}},
		{"loop", []events.Event{events.StepCompleted{}, events.StepCompleted{Changed: true}}, events.HostCounts{OK: 1, Changed: 1}},
		{"loop, one skipped", []events.Event{events.StepCompleted{}, events.StepSkipped{Reason: events.SkipWhen}}, events.HostCounts{OK: 1}},
		{"loop, all skipped", []events.Event{events.StepSkipped{Reason: events.SkipWhen}, events.StepSkipped{Reason: events.SkipWhen}}, events.HostCounts{Skipped: 1}},
		{"loop, one failed", []events.Event{events.StepCompleted{Changed: true}, events.StepFailed{}, events.StepCompleted{}}, events.HostCounts{Failed: 1}},
		{"loop, one ignored", []events.Event{events.StepCompleted{Changed: true}, events.StepFailed{Ignored: true}}, events.HostCounts{OK: 1, Changed: 1, Ignored: 1}},
		{"loop, not over", []events.Event{events.StepCompleted{Changed: true}, events.StepStarted{}}, events.HostCounts{}},
	} {
		p := &plan.Plan{Scopes: []plan.Scope{{Parent: -1}, {ID: 1, Kind: plan.ScopeLoop}}}
		var run events.Run
		run.Apply(events.Record{Step: -1, Event: events.PlanLoaded{TotalSteps: len(test.ends)}})
		for i, e := range test.ends {
			s := plan.Step{Index: i, Host: "web1"}
			if len(test.ends) > 1 {
				s.Scope = 1
			}
			p.Steps = append(p.Steps, s)
			run.Apply(events.Record{Step: i, Event: e})
		}
		var want []events.HostCounts
		if test.want != (events.HostCounts{}) {
			test.want.Host = "web1"
			want = append(want, test.want)
		}
		if got := status.Recap(p, run.Steps); !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, want)
		}
	}
}
