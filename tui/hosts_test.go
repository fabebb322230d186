package tui

import (
	"fmt"
	"strings"
	"testing"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/dialect"
	"moon/tui/status"
	"moon/tui/tuitest"
)

// twoPlays is a playbook of two plays over three hosts: a role, a loop, a task of one host alone, a batch, handlers.
func twoPlays() *plan.Plan {
	b := tuitest.NewBuilder("site.yml")
	web, all := []string{"web1", "web2"}, []string{"web1", "web2", "db1.example.org"}
	cmd := func(cmd string) func(*plan.Step) { return args("cmd", cmd) }
	b.Scope(plan.ScopePlay, "everything", 1, func(s *plan.Scope) { s.Hosts = 3 }, func() {
		b.Task("update the package index", "apt", 5, all, args("update_cache", true))
		b.Scope(plan.ScopeTask, "install packages", 8, func(s *plan.Scope) { s.Hosts = 3 }, func() {
			for _, host := range all {
				b.Scope(plan.ScopeLoop, "install packages", 8, func(s *plan.Scope) { s.Items, s.Loop, s.Path = 2, "packages", s.Path+"@"+host }, func() {
					for i, p := range []string{"git", "tmux"} {
						b.Step("install packages", "apt", 8, args("name", p), item(p, i, 2), func(s *plan.Step) { s.Host = host })
					}
				})
			}
		})
		b.Task("migrate", "shell", 12, all[2:], cmd("alembic upgrade head"), func(s *plan.Step) {
			s.Uses = []plan.Use{{Name: "lock_timeout", Value: "5s", Origin: diag.Origin{File: "group_vars/db.yml", Line: 8}}}
		})
	})
	b.Scope(plan.ScopePlay, "web", 20, func(s *plan.Scope) { s.Hosts = 2 }, func() {
		for i, host := range web {
			b.Scope(plan.ScopeBatch, fmt.Sprintf("batch %d of 2", i+1), 20, func(s *plan.Scope) { s.Hosts = 1 }, func() {
				b.Task("drain", "shell", 24, []string{host}, cmd("drain"), func(s *plan.Step) { s.Delegate = "lb1" })
			})
		}
		b.Scope(plan.ScopeRole, "nginx", 27, nil, func() {
			b.Task("render nginx.conf", "template", 3, web, args("dest", "/etc/nginx/nginx.conf"), func(s *plan.Step) { s.Role = "nginx" })
		})
		b.Scope(plan.ScopeSection, "handlers", 30, nil, func() {
			b.Task("restart nginx", "service", 31, web, args("name", "nginx"), func(s *plan.Step) { s.Handler, s.Notifiers = true, []int{len(b.Plan.Steps) - 2} })
		})
	})
	return b.Done()
}

// manyHosts is a plan of so many tasks over so many hosts.
func manyHosts(hosts, tasks int) *plan.Plan {
	b := tuitest.NewBuilder("many.yml")
	names := make([]string, hosts)
	for i := range names {
		names[i] = fmt.Sprintf("web%04d.example.org", i)
	}
	b.Scope(plan.ScopePlay, "all", 1, func(s *plan.Scope) { s.Hosts = hosts }, func() {
		for k := range tasks {
			b.Task(fmt.Sprintf("task %d", k), "shell", k+2, names, args("cmd", "true"))
		}
	})
	return b.Done()
}

func TestTaskIsOneRow(t *testing.T) {
	s := newScreen(t, setup{p: twoPlays(), w: 120, h: 40})
	s.has("▸ update the package index", "3 hosts", "play: everything", "batch 1 of 2", "REVIEW  2 plays")
	s.hasNot("loop: install packages")
	s.on("update the package index")
	s.m.Cur.Node = int(s.m.Tree.ScopeNode[2])
	s.press("enter")
	s.has("▾ update the package index", "web1", "db1.example.org")
	s.m.Cur.Node = int(s.m.Tree.ScopeNode[3])
	s.press("enter")
	s.has("▾ install packages", "▸ web2", "× 2")
}

// A decision on the row of a task is about all its hosts, one on the row of a host about that alone.
func TestDecidesByHost(t *testing.T) {
	s := newScreen(t, setup{p: twoPlays(), w: 120, h: 40})
	task := int(s.m.Tree.ScopeNode[2])
	s.m.Cur.Node = task
	s.press("a")
	if got := s.f.Sent[len(s.f.Sent)-1]; got != (events.Approve{Range: events.Range{From: 0, To: 3}, Digest: s.m.Plan.Digest}) {
		t.Errorf("a on the task sends %#v", got)
	}
	s.keys("l j j x")
	if got := s.f.Sent[len(s.f.Sent)-1]; got != (events.Exclude{Range: events.Range{From: 1, To: 2}}) {
		t.Errorf("x on the second host sends %#v", got)
	}
	s.press("b")
	if got, ok := s.f.Sent[len(s.f.Sent)-1].(events.Break); !ok || got.Range() != (events.Range{From: 1, To: 2}) {
		t.Errorf("b on the second host sends %#v", got)
	}
}

func TestFailureGoesToTheHost(t *testing.T) {
	s := newScreen(t, setup{p: twoPlays(), w: 120, h: 40, fake: func(f *tuitest.Engine) { f.Fails["update the package index"] = 1 }})
	s.keys("A c")
	if i := s.m.Tree.Step(s.m.CursorNode()); i != 0 {
		t.Fatalf("the cursor is on %q", s.m.Tree.Title(s.m.CursorNode()))
	}
	s.has("▾ update the package index", "✗ FAILED", "on web1")
}

func TestFindsHosts(t *testing.T) {
	s := newScreen(t, setup{p: twoPlays(), w: 120, h: 40})
	s.press("/")
	s.text("host:web2 render")
	s.keys("enter")
	if i := s.m.Tree.Step(s.m.CursorNode()); i < 0 || s.m.Plan.Steps[i].Host != "web2" || s.m.Plan.Steps[i].Name != "render nginx.conf" {
		t.Errorf("the cursor is on %q", s.m.Tree.Title(s.m.CursorNode()))
	}
	if n := s.m.Find.Count(s.m.Tree); n != 1 {
		t.Errorf("%d matches", n)
	}
	s.press("/")
	s.press("ctrl+u")
	s.text("host:lb1")
	if n := s.m.Find.Count(s.m.Tree); n != 2 {
		t.Errorf("%d matches for the host that does it", n)
	}
}

func TestUnreachable(t *testing.T) {
	s := newScreen(t, setup{p: twoPlays(), w: 120, h: 40})
	s.keys("A")
	s.f.Say(-1, events.RunResumed{})
	s.f.Say(1, events.StepStarted{Name: "update the package index"})
	s.f.Say(1, events.StepFailed{Unreachable: true, Error: "ssh: connect to host web2 port 22: No route to host"})
	s.frame()
	s.m.Following = false
	s.m.Cur.Node = int(s.m.Tree.StepNode[1])
	s.m.Rows.Reveal(s.m.Cur.Node)
	s.frame()
	s.press("1")
	s.has("↯ │ │ ├   web2", "unreachable", "↯ UNREACHABLE", "No route to", "↯ 1")
	if !s.m.Position().Failed(1) || s.m.Position().Retryable(events.Range{From: 0, To: 3}) != 1 {
		t.Error("it cannot be retried")
	}
}

// A host that did not answer when the plan was made is known by its rows, can be asked again, and left out with all of its steps.
func TestUnreached(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 40}, {80, 24}, {60, 20}} {
		asked := 0
		s := newScreen(t, setup{p: twoPlays(), w: size.w, h: size.h, options: func(o *Options) {
			o.Reload = func() (diag.List, error) {
				asked++
				return nil, nil
			}
		}})
		s.m.Plan.Unreached = []plan.Unreached{{Host: "db1.example.org", Why: "No route to host"}}
		s.frame()
		s.has("not reached: db1.example.org   r ")
		s.press("X")
		s.has("go to the row of one host; H shows them")
		s.press("r")
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
		answered := *s.m.Plan
		answered.Unreached = nil
		s.m.Tools.PlanFor = func(string) *plan.Plan { return &answered }
		s.press("r")
		s.frame()
		s.has("all hosts have answered")

		s.m.Plan.Unreached = []plan.Unreached{{Host: "db1.example.org", Why: "No route to host"}}
		s.m.Message = ""
		s.keys("H j j")
		s.has("not reached: ")
		s.keys("X")
		s.has("db1.example.org is excluded; X restores it")
		for i := range s.m.Plan.Steps {
			if out := s.m.Tree.Faces[i] == status.Excluded; out != (s.m.Plan.Steps[i].Host == "db1.example.org") {
				t.Errorf("step %d of %s: left out %t", i, s.m.Plan.Steps[i].Host, out)
			}
		}
		s.press("H")
		s.m.Message = ""
		s.frame()
		s.hasNot("not reached: db1")
		s.keys("H X")
		s.has("db1.example.org is restored")
	}
}

// What decides in the run is named: the include for what is in it, on the row of a host and for all of them, and the task for a handler.
func TestDecidedInTheRun(t *testing.T) {
	b := tuitest.NewBuilder("site.yml")
	hosts := []string{"web1", "web2"}
	at := func() int { return len(b.Plan.Steps) }
	b.Scope(plan.ScopePlay, "web", 1, func(s *plan.Scope) { s.Hosts, s.Strategy = 2, "free" }, func() {
		b.Task("look", "stat", 3, hosts)
		b.Task("first time", "include_tasks", 5, hosts, func(s *plan.Step) {
			s.When, s.Prediction = "not marker.stat.exists", plan.MaySkip
			s.Unknowns = []plan.Unknown{{Field: "when", Name: "marker", Steps: []int{at() - 2}}}
		})
		b.Scope(plan.ScopeInclude, "first.yml", 5, func(s *plan.Scope) { s.Hosts, s.Dynamic = 2, true }, func() {
			b.Task("mark", "copy", 1, hosts, func(s *plan.Step) {
				s.Prediction, s.Gates = plan.MaySkip, []plan.Gate{{Step: at() - 2, Ran: true}}
			})
		})
		b.Task("restart", "shell", 9, hosts, func(s *plan.Step) { s.Handler, s.Notifiers = true, []int{at() - 2} })
	})
	s := newScreen(t, setup{p: b.Done(), w: 120, h: 40})
	s.on("include: first.yml")
	s.has("2 hosts  ≤ 2", "hosts     web1, web2", "decided   by «first time», on each host by itself", "marker known after step-0001 «look on")
	s.m.Cur.Node = int(s.m.Tree.StepNode[5])
	s.m.Rows.Reveal(s.m.Cur.Node)
	s.frame()
	s.has("if        step-0004 «first time on web2» runs", "notifies  restart")
	s.m.Cur.Node = int(s.m.Tree.StepNode[7])
	s.m.Rows.Reveal(s.m.Cur.Node)
	s.frame()
	s.has("notified  by step-0006 «mark on web2», if that", "by mark")
	s.m.Cur.Node = int(s.m.Tree.ScopeNode[1])
	s.frame()
	s.has("strategy  free", "hosts     web1, web2")
}

// A loop whose items the run finds has a question mark in place of their number.
func TestOpenLoopShows(t *testing.T) {
	b := tuitest.NewBuilder("site.yml")
	b.Step("list versions", "shell", 2)
	b.Step("each version", "loop", 4, func(s *plan.Step) {
		s.Place = &plan.OpenPlace{Action: "shell"}
		s.Unknowns = []plan.Unknown{{Field: "over", Name: "found", Steps: []int{0}}}
	})
	s := newScreen(t, setup{p: b.Done(), w: 100, h: 20})
	s.has("each version", "× ?")
}

// What giving up means is said of the host.
func TestGivingUpHost(t *testing.T) {
	s := newScreen(t, setup{p: twoPlays(), w: 120, h: 40, fake: func(f *tuitest.Engine) { f.Fails["migrate"] = 1 }})
	s.m.Plan.Dialect = dialect.Ansible
	s.keys("A c")
	s.has("c  without db1.example.org")
	s.m.Plan.Steps[s.m.Shot.PausedAt].AnyFatal = true
	s.frame()
	s.has("continue without it: the play ends on all hosts")
}

func TestMatrixMoves(t *testing.T) {
	s := newScreen(t, setup{p: twoPlays(), w: 100, h: 30})
	s.keys("A H")
	s.has("Hosts", "task 1/7", "update the package index", "web1", "db1.example.org")
	s.keys("j j l l")
	s.has("3/3", "task 3/7  migrate", "db1.example.org")
	if i := s.m.Tree.Step(s.m.CursorNode()); i < 0 || s.m.Plan.Steps[i].Name != "migrate" {
		t.Errorf("the cursor of the tree is on %q", s.m.Tree.Title(s.m.CursorNode()))
	}
	s.keys("k")
	s.has("web2  has no part in this task")
	s.keys("j enter")
	s.hasNot("task 3/7")
	s.has("migrate")
	if i := s.m.Tree.Step(s.m.CursorNode()); i < 0 || s.m.Plan.Steps[i].Name != "migrate" {
		t.Errorf("enter goes to %q", s.m.Tree.Title(s.m.CursorNode()))
	}
}

// A failure is shown in the matrix where it happened, and can be decided there.
func TestMatrixFollowsFailure(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 40}, {60, 20}} {
		s := newScreen(t, setup{p: twoPlays(), w: size.w, h: size.h, fake: func(f *tuitest.Engine) { f.Fails["migrate"] = 1 }})
		s.keys("A H c")
		s.has("3/3", "task 3/7  migrate", "✗ FAILED", "the command exited")
		s.keys("r")
		s.has("✓ ok")
		s.keys("H")
		s.hasNot("task 3/7")
	}
}

func TestMatrixCounts(t *testing.T) {
	s := newScreen(t, setup{p: twoPlays(), w: 120, h: 20})
	s.keys("A H c")
	for _, host := range []string{"web1", "web2"} {
		row := ""
		for line := range strings.SplitSeq(s.shows(), "\n") {
			if strings.HasPrefix(strings.TrimLeft(line, " ▎"), host+" ") && row == "" {
				row = line
			}
		}
		ok, changed := 0, 0
		for i := range s.m.Plan.Steps {
			// A loop counts once, and as changed if one of its items is.
			p, of := &s.m.Plan.Steps[i], s.f.Run.Steps[i]
			if p.Host != host || p.Loop != nil && !p.Loop.Last {
				continue
			}
			ok++
			if of.Outcome == events.Changed || p.Loop != nil && s.f.Run.Steps[i-1].Outcome == events.Changed {
				changed++
			}
		}
		want := fmt.Sprintf("%d    %d    0    0    0    0    0", ok, changed)
		if !strings.Contains(row, want) {
			t.Errorf("%s: want %q in %q", host, want, row)
		}
	}
}

func TestNoMatrixOfOneMachine(t *testing.T) {
	s := newScreen(t, setup{w: 100, h: 30})
	s.keys("H")
	s.has("everything runs on this machine")
}

// BenchmarkMatrix is a frame of the matrix of 1,000 hosts and 100 tasks, all of them done.
func BenchmarkMatrix(b *testing.B) {
	p := manyHosts(1000, 100)
	s := newScreen(b, setup{p: p, w: 200, h: 60})
	for i := range p.Steps {
		s.m.Store.Apply(&events.Record{Time: tuitest.Start, Step: i, Event: events.StepCompleted{Changed: i%7 == 0}})
	}
	s.frame()
	s.press("H")
	s.keys("ctrl+d ctrl+d")
	for b.Loop() {
		s.m.stale = true
		_ = s.m.View()
	}
}
