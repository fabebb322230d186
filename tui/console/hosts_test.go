package console

import (
	"slices"
	"strings"
	"testing"

	"moon/events"
	"moon/plan"
)

func TestSaysHosts(t *testing.T) {
	p := &plan.Plan{RootFile: "site.yml", Scopes: []plan.Scope{
		{Kind: plan.ScopePlaybook, Parent: -1, Last: 4},
		{ID: 1, Kind: plan.ScopePlay, Name: "web", Last: 4, Hosts: 2},
		{ID: 2, Kind: plan.ScopeTask, Parent: 1, Name: "install", Path: "/install", Last: 3, Hosts: 2},
		{ID: 3, Kind: plan.ScopeLoop, Parent: 2, Name: "install", Last: 2},
	}, Steps: []plan.Step{
		{Name: "install", Scope: 3, Host: "web1", Loop: &plan.LoopContext{Label: "git"}},
		{Index: 1, Name: "install", Scope: 3, Host: "web1", Loop: &plan.LoopContext{Label: "tmux"}},
		{Index: 2, Group: 2, Name: "install", Scope: 2, Host: "web2"},
		{Index: 3, Group: 3, Name: "drain", Scope: 1, Host: "web2", Delegate: "lb1"},
	}}
	var said strings.Builder
	var sent []events.Command
	var d *console
	d = newConsole(Options{Plan: p, Out: &said, Send: func(o events.Order) {
		sent = append(sent, o.Command)
		d.run.Apply(events.Record{Step: -1, Event: events.CommandAccepted{Order: o}})
	}})
	d.run.Apply(events.Record{Step: -1, Event: events.PlanLoaded{TotalSteps: 4}})
	for i, e := range []events.Event{
		events.StepCompleted{Changed: true}, events.StepCompleted{}, events.StepFailed{Unreachable: true, Error: "no route"}, events.StepSkipped{Reason: events.SkipWhen},
	} {
		d.run.Apply(events.Record{Step: i, Event: e})
	}
	for n, want := range map[int]string{
		1: "1. play web, 2 hosts, 4 steps, 4 done, 1 UNREACHABLE", 2: "1.1. task install, 2 hosts, 3 steps", 3: "1.1.1. loop install on web1, 2 steps",
		6: "1.1.2. install on web2, UNREACHABLE", 7: "1.2. drain on web2, by lb1, skipped",
	} {
		if got := d.entryLine(n); !strings.HasPrefix(got, want) {
			t.Errorf("node %d: %q, want %q", n, got, want)
		}
	}
	if got, want := d.called(3), "step 1.2 drain on web2, by lb1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d.breakpoints.setBreak("1.1")
	d.breakpoints.listBreaks("")
	_ = d.w.Flush()
	if want := []events.Command{events.Break{Step: 0, To: 1}, events.Break{Step: 2, To: 3}}; !slices.Equal(sent, want) {
		t.Errorf("break on a task over two hosts sends %v", sent)
	}
	for _, text := range []string{"stops before task 1.1 install on each of 2 hosts.", "task 1.1 install on web1, web2."} {
		if !strings.Contains(said.String(), text) {
			t.Errorf("it does not say %q:\n%s", text, said.String())
		}
	}
	want := []string{"host web1: 1 ok, 1 changed.", "host web2: 1 unreachable, 1 skipped."}
	if got := d.recapHosts(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
