package status_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"moon/events"
	"moon/plan"
	"moon/tui/status"
)

// TestOf is what a step is like, where more than one thing is to be said of it.
func TestOf(t *testing.T) {
	settled := func(o events.Outcome, with func(*events.Step)) events.Step {
		s := events.Step{State: events.Settled, Outcome: o, Attempt: 1}
		if with != nil {
			with(&s)
		}
		return s
	}
	asks, left := plan.Step{Confirm: "sure?"}, plan.Step{Excluded: true}
	for _, tt := range []struct {
		name string
		s    events.Step
		p    plan.Step
		want status.State
	}{
		{"nobody said anything", events.Step{}, plan.Step{}, status.Undecided},
		{"approved", events.Step{Approved: true}, plan.Step{}, status.Waiting},
		{"approved, but asks by itself", events.Step{Approved: true}, asks, status.Confirm},
		{"confirmed", events.Step{Approved: true, Confirmed: true}, asks, status.Waiting},
		{"left out by tags", events.Step{Approved: true}, left, status.Excluded},
		{"a gate", events.Step{State: events.Held, Hold: events.PauseUser, Excluded: true}, plan.Step{}, status.Asking},
		{"held by a breakpoint", events.Step{State: events.Held, Hold: events.PauseBreakpoint, Approved: true}, plan.Step{}, status.Waiting},
		{"between attempts", events.Step{State: events.Backoff}, plan.Step{}, status.Running},
		{"kept", settled(events.Changed, func(s *events.Step) { s.Kept = true }), plan.Step{}, status.Kept},
		{"changed", settled(events.Changed, nil), plan.Step{}, status.Changed},
		{"left out by somebody", settled(events.Skipped, func(s *events.Step) { s.Reason, s.Attempt = string(events.SkipUser), 0 }), plan.Step{}, status.Excluded},
		{"failed and given up", settled(events.Skipped, func(s *events.Step) { s.Reason = string(events.SkipUser) }), plan.Step{}, status.Skipped},
		{"failed and ignored", settled(events.Timeout, func(s *events.Step) { s.Ignored, s.Rescued = true, true }), plan.Step{}, status.Ignored},
		{"failed and rescued", settled(events.Failed, func(s *events.Step) { s.Rescued = true }), plan.Step{}, status.Rescued},
		{"lost, and its host may be", settled(events.Lost, func(s *events.Step) { s.Ignored = true }), plan.Step{}, status.Ignored},
		{"lost and rescued", settled(events.Lost, func(s *events.Step) { s.Rescued = true }), plan.Step{}, status.Failed},
		{"never reached", settled(events.Omitted, nil), plan.Step{}, status.Omitted},
		{"never reached, and left out", settled(events.Omitted, nil), left, status.Excluded},
	} {
		if got := status.Of(&tt.s, &tt.p); got != tt.want {
			t.Errorf("%s: %d, not %d", tt.name, got, tt.want)
		}
	}
}

func TestScopeTitle(t *testing.T) {
	for _, tt := range []struct {
		s          plan.Scope
		kind, name string
	}{
		{plan.Scope{Kind: plan.ScopeBlock, Name: "migrate"}, "block", "migrate"},
		{plan.Scope{Kind: plan.ScopeBlock, Name: "block"}, "block", ""},
		{plan.Scope{Kind: plan.ScopeBranch, Branch: "rescue", Name: "rescue"}, "rescue", ""},
		{plan.Scope{Kind: plan.ScopeInclude, Name: "user.yml", Item: "ann"}, "include", "user.yml (ann)"},
		{plan.Scope{Kind: plan.ScopeInclude, Name: "user ann", Item: "ann"}, "include", "user ann"},
	} {
		if kind, name := status.ScopeTitle(&tt.s); kind != tt.kind || name != tt.name {
			t.Errorf("%+v is %q %q", tt.s, kind, name)
		}
	}
}

func TestArgNames(t *testing.T) {
	p := plan.Step{Args: map[string]any{"zone": 1, "mode": 1, "backup": 1, "dest": 1, "cmd": 1}}
	if got := status.ArgNames(&p); !slices.Equal(got, []string{"cmd", "dest", "mode", "backup", "zone"}) {
		t.Error(got)
	}
}

func TestDiffer(t *testing.T) {
	made := func(steps ...string) *plan.Plan {
		p := &plan.Plan{}
		for _, s := range steps {
			p.Steps = append(p.Steps, plan.Step{Path: s[:1], Digest: s})
		}
		return p
	}
	got := status.Differ(made("a1", "b1", "c1", "d1"), made("n1", "a1", "c2", "b2"))
	if want := (status.Difference{Changed: []int{2, 3}, Added: []int{0}, Gone: 1}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestValue says of what is not known yet which steps will give it.
func TestValue(t *testing.T) {
	p := &plan.Plan{Steps: []plan.Step{{Register: "r"}, {}, {Register: "r"}, {Register: "s"}}}
	gives := func(text string, err error) status.Eval {
		return func(*plan.Plan, int, string) (string, error) { return text, err }
	}
	unknown := errors.New("there is no `r` here")
	for _, tt := range []struct {
		eval       status.Eval
		step       int
		expression string
		want       status.Value
	}{
		{gives("5s", nil), 0, "x", status.Value{Text: "5s"}},
		{gives("", &plan.Missing{Steps: []int{3}}), 0, "x", status.Value{After: []int{3}}},
		{gives("", unknown), 1, "r.rc == 0", status.Value{After: []int{2}}},
		{gives("", unknown), 3, "r.rc == 0", status.Value{Wrong: unknown.Error()}},
		{gives("", unknown), 1, "s.rc == 0", status.Value{Wrong: unknown.Error()}},
		{gives("", unknown), 1, "(r)", status.Value{Wrong: unknown.Error()}},
	} {
		if got := tt.eval.Value(p, tt.step, tt.expression); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s at %d: %+v", tt.expression, tt.step, got)
		}
	}
}
