package fix_test

import (
	"testing"

	"moon/events"
	"moon/plan"
	"moon/tui/fix"
)

// A value may be for one host, from the step on.
func TestThisHost(t *testing.T) {
	p := &plan.Plan{
		Scopes: []plan.Scope{{Parent: -1, Last: 2}, {ID: 1, Kind: plan.ScopeTask, Path: "t", Last: 2, Hosts: 2}},
		Steps: []plan.Step{
			{Path: "t@web1", Scope: 1, Host: "web1", Uses: []plan.Use{{Name: "x", Value: "1"}}},
			{Index: 1, Path: "t@web2", Scope: 1, Host: "web2", Uses: []plan.Use{{Name: "x", Value: "1"}}},
		},
	}
	f := fix.OfStep(p, 1, nil)
	var words []string
	for i, s := range f.Scopes {
		if words = append(words, s.Words); s.Words == "this host (web2)" {
			f.Scope = i
		}
	}
	if len(words) != 4 || f.Scope != 1 {
		t.Fatalf("scopes %q", words)
	}
	f.Rows[0].Type("2")
	list, wrong, _ := f.Overrides()
	if want := (events.Override{Name: "x", Value: `"2"`, From: "t@web2", Host: "web2"}); wrong != "" || len(list) != 1 || list[0] != want {
		t.Errorf("%+v %s", list, wrong)
	}
	p.Steps[1].Overridden = []plan.Overridden{{Override: plan.Override{Name: "x", Host: "web2"}, Was: "1", Now: "2"}}
	f = fix.OfStep(p, 1, nil)
	f.Rows[0].Restore = true
	if list, _, _ := f.Overrides(); len(list) != 1 || list[0] != (events.Override{Name: "x", Host: "web2", Clear: true}) {
		t.Errorf("taken back by %+v", list)
	}
}
