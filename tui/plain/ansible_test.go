package plain_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/plan"
	"moon/plan/dialect"
	"moon/tui/plain"
)

// site makes a plan of plays by hand, with what happened in it.
type site struct {
	p    *plan.Plan
	open []int
	list []events.Record
	at   time.Time
}

func newSite() *site {
	s := &site{p: &plan.Plan{Dialect: dialect.Ansible, Root: "/srv", RootFile: "site.yml"}, at: time.Unix(1_800_000_000, 0), open: []int{0}}
	s.p.Scopes = []plan.Scope{{Kind: plan.ScopePlaybook, Parent: -1}}
	return s
}

// in opens a scope for what inside adds.
func (s *site) in(scope plan.Scope, inside func()) {
	scope.ID, scope.Parent, scope.First = len(s.p.Scopes), s.open[len(s.open)-1], len(s.p.Steps)
	s.p.Scopes = append(s.p.Scopes, scope)
	s.open = append(s.open, scope.ID)
	inside()
	s.open = s.open[:len(s.open)-1]
	s.p.Scopes[scope.ID].Last = len(s.p.Steps)
}

// step adds a step and how it ended.
func (s *site) step(step plan.Step, happened ...events.Event) {
	step.Index, step.Scope, step.Group = len(s.p.Steps), s.open[len(s.open)-1], len(s.p.Steps)
	if step.Loop != nil { // the items of a loop are one task
		step.Group -= step.Loop.Index
	}
	s.p.Steps = append(s.p.Steps, step)
	for _, e := range happened {
		switch named := e.(type) {
		case events.StepStarted:
			named.Name = step.Name
			e = named
		case events.StepSkipped:
			named.Name = step.Name
			e = named
		case events.StepFailed:
			named.Name = step.Name
			e = named
		default:
		}
		s.say(step.Index, e)
	}
}

// task adds a task over several hosts; each is given how it ended.
func (s *site) task(step plan.Step, hosts string, happened func(host string) []events.Event) {
	list := strings.Fields(hosts)
	if len(list) == 1 {
		step.Host = list[0]
		s.step(step, happened(list[0])...)
		return
	}
	s.in(plan.Scope{Kind: plan.ScopeTask, Name: step.Name, Role: step.Role, Hosts: len(list)}, func() {
		for _, host := range list {
			step.Host = host
			s.step(step, happened(host)...)
		}
	})
}

// loop adds a task with a loop over several hosts.
func (s *site) loop(step plan.Step, hosts string, items []any, happened func(host string, item any) []events.Event) {
	inside := func() {
		for host := range strings.FieldsSeq(hosts) {
			s.in(plan.Scope{Kind: plan.ScopeLoop, Name: step.Name, Items: len(items)}, func() {
				for i, item := range items {
					step.Host = host
					label, _ := item.(string)
					step.Loop = &plan.LoopContext{Item: item, Ordered: item, Index: i, Label: label}
					s.step(step, happened(host, item)...)
				}
			})
		}
	}
	if len(strings.Fields(hosts)) == 1 {
		inside()
		return
	}
	s.in(plan.Scope{Kind: plan.ScopeTask, Name: step.Name, Role: step.Role}, inside)
}

func (s *site) say(step int, e events.Event) {
	s.at = s.at.Add(time.Second)
	s.list = append(s.list, events.Record{Time: s.at, Step: step, Event: e})
}

// feed is the whole run.
func (s *site) feed() <-chan []events.Record {
	n := len(s.p.Steps)
	head := []events.Record{
		{Time: s.at, Step: -1, Event: events.RunStarted{TotalSteps: n, Playbook: s.p.RootFile}},
		{Time: s.at, Step: -1, Event: events.PlanLoaded{TotalSteps: n}},
	}
	c := make(chan []events.Record, 2)
	c <- head
	c <- s.list
	close(c)
	return c
}

func (s *site) planFor(string) *plan.Plan { return s.p }

func (s *site) ansible(t *testing.T, verbose bool) string {
	t.Helper()
	var b strings.Builder
	if _, err := (&plain.Ansible{W: &b, PlanFor: s.planFor, Verbose: verbose}).Follow(s.feed()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func happens(list ...events.Event) []events.Event {
	return append([]events.Event{events.StepStarted{}}, list...)
}

func ok(changed bool) []events.Event { return happens(events.StepCompleted{Changed: changed}) }

func says(msg string) []events.Event {
	return happens(events.PrintMessage{Message: msg}, events.StepCompleted{Result: map[string]any{"msg": msg}})
}

var unmet = []events.Event{events.StepSkipped{Reason: events.SkipWhen}}

func fails(e events.StepFailed) []events.Event {
	rc := 1
	e.Error, e.RC = "exit status 1", &rc
	e.Result = map[string]any{"changed": true, "failed": true, "rc": 1, "duration_ms": 12, "attempts": 1, "cmd": []any{"false"}}
	return happens(events.StepOutput{Line: "out"}, events.StepOutput{Stderr: true, Line: "err"}, e)
}

// plays are three plays over four hosts with about everything that a line of Ansible can say. What Ansible 2.14 prints of the same
// playbook was laid beside testdata/ansible.golden: the hosts of a task come there in the order of their ends, and results hold more.
func plays() *site {
	s := newSite()
	all := "h1 h2 h3"
	s.in(plan.Scope{Kind: plan.ScopePlay, Name: "first play", Hosts: 3}, func() {
		s.in(plan.Scope{Kind: plan.ScopeSection, Name: "pre_tasks"}, func() {
			s.task(plan.Step{Name: "before", Action: "command"}, all, func(string) []events.Event { return ok(false) })
		})
		s.in(plan.Scope{Kind: plan.ScopeRole, Name: "web"}, func() {
			s.task(plan.Step{Name: "install", Action: "command", Role: "web"}, all, func(string) []events.Event { return ok(true) })
			s.task(plan.Step{Action: "command", Role: "web"}, all, func(string) []events.Event { return ok(true) })
		})
		s.task(plan.Step{Action: "command"}, all, func(string) []events.Event { return ok(true) })
		s.task(plan.Step{Name: "say it", Action: "print"}, all, func(h string) []events.Event { return says("hello " + h) })
		s.task(plan.Step{Name: "var shown", Action: "print", Args: map[string]any{"var": "list"}}, "h1", func(string) []events.Event {
			return happens(events.StepCompleted{Result: map[string]any{"list": []any{"a", "b"}}})
		})
		s.loop(plan.Step{Name: "loop print", Action: "print"}, "h1 h3", []any{"1", "2"}, func(_ string, i any) []events.Event { return says("i " + i.(string)) })
		s.loop(plan.Step{Name: "loop skip part", Action: "command"}, all, []any{"x", "y"}, func(_ string, i any) []events.Event {
			if i == "y" {
				return unmet
			}
			return ok(true)
		})
		s.loop(plan.Step{Name: "loop of dicts", Action: "command"}, "h1", []any{map[string]any{"n": 1, "s": "it's"}, true}, func(string, any) []events.Event { return ok(true) })
		s.task(plan.Step{Name: "skipped", Action: "command"}, "h1 h2", func(h string) []events.Event {
			if h == "h1" {
				return unmet
			}
			return ok(true)
		})
		s.loop(plan.Step{Name: "skipped loop", Action: "command"}, "h1 h2", []any{"1", "2"}, func(string, any) []events.Event { return unmet })
		s.task(plan.Step{Name: "fails but ignored", Action: "command"}, "h1 h2", func(string) []events.Event { return fails(events.StepFailed{Ignored: true}) })
		s.loop(plan.Step{Name: "loop fails ignored", Action: "command"}, "h1 h2", []any{"a", "b"}, func(_ string, i any) []events.Event {
			if i == "b" {
				return fails(events.StepFailed{Ignored: true})
			}
			return ok(true)
		})
		s.in(plan.Scope{Kind: plan.ScopeTask, Name: "delegated"}, func() {
			for h := range strings.FieldsSeq("h1 h3") {
				s.step(plan.Step{Name: "delegated", Action: "command", Host: h, Delegate: "h3"}, ok(true)...)
			}
		})
		s.task(plan.Step{Name: "include_tasks: inc.yml", Action: "include_tasks", Includes: "inc.yml"}, all, func(string) []events.Event { return ok(false) })
		s.in(plan.Scope{Kind: plan.ScopeInclude, Name: "inc.yml", Dynamic: true}, func() {
			s.task(plan.Step{Name: "included one", Action: "command"}, all, func(string) []events.Event { return ok(true) })
		})
		s.task(plan.Step{Name: "asserting", Action: "assert"}, "h1", func(string) []events.Event { return ok(false) })
		s.task(plan.Step{Name: "left out by tags", Action: "command"}, all, func(string) []events.Event {
			return []events.Event{events.StepSkipped{Reason: events.SkipTags}}
		})
		s.in(plan.Scope{Kind: plan.ScopeBlock, Name: "blocked"}, func() {
			s.task(plan.Step{Name: "fails in block", Action: "command"}, "h1", func(string) []events.Event { return fails(events.StepFailed{Rescued: true}) })
			s.in(plan.Scope{Kind: plan.ScopeBranch, Branch: "rescue"}, func() {
				s.task(plan.Step{Name: "rescuing", Action: "print"}, "h1", func(string) []events.Event { return says("saved") })
			})
		})
		s.task(plan.Step{Name: "message fail", Action: "fail"}, "h3", func(string) []events.Event {
			return happens(events.StepFailed{Error: "two\nlines", Result: map[string]any{"failed": true, "msg": "two\nlines"}})
		})
		s.task(plan.Step{Name: "reach", Action: "command"}, "h1 h2", func(h string) []events.Event {
			if h == "h2" {
				return []events.Event{events.StepFailed{Unreachable: true, Error: "no route to host"}}
			}
			return ok(false)
		})
		s.task(plan.Step{Name: "no log", Action: "command", NoLog: true}, "h1", func(string) []events.Event { return ok(true) })
		s.task(plan.Step{Name: "retrying", Action: "command", Retry: plan.Retry{Max: 1}}, "h1", func(string) []events.Event {
			return append(happens(events.StepRetrying{Attempt: 2, Error: "exit status 1"}), events.StepCompleted{Changed: true})
		})
		s.in(plan.Scope{Kind: plan.ScopeSection, Name: "handlers"}, func() {
			s.task(plan.Step{Name: "restart it", Action: "print", Handler: true}, "h1", func(string) []events.Event { return says("restarted") })
			s.task(plan.Step{Name: "never told", Action: "print", Handler: true}, "h1", func(string) []events.Event {
				return []events.Event{events.StepSkipped{Reason: events.SkipUnchanged}}
			})
		})
	})
	s.in(plan.Scope{Kind: plan.ScopePlay, Name: "second", Hosts: 2}, func() {
		for _, batch := range []string{"h1", "h4"} {
			s.in(plan.Scope{Kind: plan.ScopeBatch, Name: "batch of 2", Hosts: 1}, func() {
				s.task(plan.Step{Name: "one fails", Action: "command"}, batch, func(string) []events.Event { return ok(false) })
			})
		}
	})
	s.in(plan.Scope{Kind: plan.ScopePlay, Name: "third", Hosts: 2}, func() {
		s.task(plan.Step{Name: "fatal to all", Action: "command"}, "h1 h4", func(h string) []events.Event {
			if h == "h1" {
				return fails(events.StepFailed{})
			}
			return ok(true)
		})
		s.task(plan.Step{Name: "no more", Action: "command"}, "h1 h4", func(string) []events.Event {
			return []events.Event{events.StepOmitted{Reason: "a host failed", Cause: events.RefTo(0)}}
		})
	})
	var run events.Run
	for batch := range s.feed() {
		for _, r := range batch {
			run.Apply(r)
		}
	}
	sum := run.Summary()
	sum.Outcome = events.RunFailed
	s.say(-1, sum)
	return s
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (UPDATE=1 writes it):\n%s", name, got)
	}
}

func TestAnsible(t *testing.T) {
	golden(t, "testdata/ansible.golden", plays().ansible(t, false))
	golden(t, "testdata/ansible_verbose.golden", plays().ansible(t, true))
}

// TestAnsibleStyles writes the same plays as Ansible's other callbacks do.
func TestAnsibleStyles(t *testing.T) {
	for name, style := range map[string]plain.ResultStyle{
		"yaml": plain.ResultsYAML, "form_yaml": plain.ResultsFormYAML, "debug": plain.ResultsDebug,
	} {
		s := plays()
		var b strings.Builder
		if _, err := (&plain.Ansible{W: &b, PlanFor: s.planFor, Verbose: true, Style: style}).Follow(s.feed()); err != nil {
			t.Fatal(err)
		}
		golden(t, "testdata/ansible_"+name+".golden", b.String())
	}
	for name, oneLine := range map[string]bool{"minimal": false, "oneline": true} {
		s := plays()
		var b strings.Builder
		if _, err := (&plain.Brief{W: &b, PlanFor: s.planFor, OneLine: oneLine}).Follow(s.feed()); err != nil {
			t.Fatal(err)
		}
		golden(t, "testdata/ansible_"+name+".golden", b.String())
	}
}

// TestAnsibleHides leaves out what went well, with the heads of tasks that have nothing else.
func TestAnsibleHides(t *testing.T) {
	s := plays()
	var b strings.Builder
	if _, err := (&plain.Ansible{W: &b, PlanFor: s.planFor, HideOK: true, HideSkipped: true}).Follow(s.feed()); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/ansible_hides.golden", b.String())
}

// TestTimes shows times next to Ansible's format, to the text for people, and alone.
func TestTimes(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	defer func() { time.Local = local }()
	all := []plain.TimesView{plain.Timer, plain.ProfileTasks, plain.ProfileRoles}
	s := plays()
	var b strings.Builder
	if _, err := (&plain.Ansible{W: &b, PlanFor: s.planFor, Times: plain.Times{Views: all}}).Follow(s.feed()); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/ansible_times.golden", b.String())

	s = plays()
	for i := range s.list {
		if e, ok := s.list[i].Event.(events.RunCompleted); ok {
			e.DurationMS = 93_784_000
			s.list[i].Event = e
		}
	}
	b.Reset()
	if _, err := (&plain.Text{W: &b, PlanFor: s.planFor, Times: plain.Times{Views: all[:1]}}).Follow(s.feed()); err != nil {
		t.Fatal(err)
	}
	if _, end, ok := strings.Cut(b.String(), "\nPLAYBOOK RECAP ***"); !ok || !strings.HasSuffix(end, "\nPlaybook run took 1 days, 2 hours, 3 minutes, 4 seconds\n") {
		t.Errorf("text ends with\n%s", end)
	}

	s = plays()
	b.Reset()
	if err := (&plain.Times{Views: all[1:2], Most: 2, Order: "ascending"}).Follow(&b, s.planFor, s.feed()); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/times_alone.golden", b.String())
}

func TestTextOfPlays(t *testing.T) {
	s := plays()
	var b strings.Builder
	text := &plain.Text{W: &b, PlanFor: s.planFor}
	run, err := text.Follow(s.feed())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/plays_text.golden", b.String())
	b.Reset()
	run.Result.Hosts = []events.HostCounts{{Host: "h1", OK: 12, Changed: 7, Skipped: 1}, {Host: "a-long-name.example.org", Unreachable: 1}}
	if err := (plain.Report{Plan: s.p, Run: run, Words: true}).Write(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/plays_report.golden", b.String())
}

// TestYAMLResults compares results with what ansible-core 2.14 and its callback yaml write of the same.
func TestYAMLResults(t *testing.T) {
	text, err := os.ReadFile("testdata/yaml_results.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Result     map[string]any
		YAML, Form string
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) == 0 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, c := range cases {
		if got := plain.ResultsYAML.WriteResult(c.Result); got != c.YAML {
			t.Errorf("%q\nis\n%s\nwant\n%s", c.Result, got, c.YAML)
		}
		if got, want := plain.ResultsFormYAML.WriteResult(c.Result), strings.TrimRight(c.Form, "\n"); got != want {
			t.Errorf("%q\nis\n%s\nwant\n%s", c.Result, got, want)
		}
	}
}
