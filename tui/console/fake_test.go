package console

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
	"moon/secret"
	"moon/tui/tuitest"
)

// builder makes plans of a release, whose steps are all alike.
type builder struct{ *tuitest.Builder }

func newBuilder() builder {
	b := builder{tuitest.NewBuilder("site.yml")}
	b.Plan.Root, b.Plan.Name = "/home/ann/app", "a release"
	return b
}

func (b builder) scope(kind plan.ScopeKind, name string, inside func()) *plan.Scope {
	id := len(b.Plan.Scopes)
	b.Scope(kind, name, 0, func(s *plan.Scope) { s.Origin = diag.Origin{File: "site.yml", Line: 10 + id} }, inside)
	return &b.Plan.Scopes[id]
}

func (b builder) step(name string, with ...func(*plan.Step)) int {
	usual := func(s *plan.Step) {
		s.Host, s.Origin, s.Args = "", diag.Origin{File: "site.yml", Line: 30 + s.Index}, map[string]any{"cmd": "do " + name}
	}
	return b.Step(name, "shell", 0, append([]func(*plan.Step){usual}, with...)...)
}

// release is a playbook such as people have: parts in parts, a step that asks, a rescue, a loop, one that is excluded.
func release() *plan.Plan {
	b := newBuilder()
	b.Plan.Vars = []plan.Var{
		{Name: "lock_timeout", Value: "5s", From: "vars", Origin: diag.Origin{File: "defaults.yml", Line: 3}},
		{Name: "release", Value: "1.4", From: "--extra-vars"},
	}
	b.step("say hello")
	b.scope(plan.ScopeInclude, "packages.yml", func() {
		b.step("update the index")
		b.scope(plan.ScopeLoop, "install", func() {
			for i, name := range []string{"git", "tmux"} {
				b.step("install "+name, func(s *plan.Step) { s.Loop = &plan.LoopContext{Label: name, Index: i, Expression: "packages"} })
			}
		}).Loop = "packages"
	})
	b.scope(plan.ScopeBlock, "migrate the schema", func() {
		b.step("stop the app")
		b.step("run the migration", func(s *plan.Step) {
			s.Uses = []plan.Use{{Name: "lock_timeout", Value: "5s", Origin: diag.Origin{File: "defaults.yml", Line: 3}}}
		})
		b.scope(plan.ScopeBranch, "rescue", func() { b.step("restore the backup") }).Branch = "rescue"
	})
	b.step("drop the old tables", func(s *plan.Step) { s.Confirm = "Drop the tables of 1.3?" })
	b.scope(plan.ScopeInclude, "windows.yml", nil).Skipped = `os == "windows"`
	b.step("vacuum", func(s *plan.Step) { s.Excluded = true })
	b.step("check the site", func(s *plan.Step) {
		s.Uses = []plan.Use{{Name: "lock_timeout", Value: "5s", Origin: diag.Origin{File: "defaults.yml", Line: 3}}}
	})
	return b.Done()
}

// many is a plan of n steps, a hundred in a part.
func many(n int) *plan.Plan {
	b := newBuilder()
	for len(b.Plan.Steps) < n {
		b.scope(plan.ScopeBlock, fmt.Sprintf("part %d", len(b.Plan.Steps)/100), func() {
			for range min(100, n-len(b.Plan.Steps)) {
				b.step(fmt.Sprintf("thing %d", len(b.Plan.Steps)))
			}
		})
	}
	return b.Done()
}

// newEngine is an engine that refuses what makes no sense, and plans with other values.
func newEngine(p *plan.Plan) *tuitest.Engine {
	f := tuitest.NewEngine(p)
	f.Strict, f.Failure = true, "exit status 1\nERROR: lock timeout\ncancelling"
	f.Takes = func(int) time.Duration { return 2 * time.Second }
	return f
}

// refuseFix lets an engine refuse other values.
func refuseFix(why string) func(events.Command) string {
	return func(c events.Command) string {
		if _, is := c.(events.Fix); is {
			return why
		}
		return ""
	}
}

// foreplan stands for the planner: the command of a step changes with lock_timeout, and a value "broken" cannot be planned.
func foreplan(p *plan.Plan, c events.Fix) (*plan.Plan, string) {
	next := *p
	next.Digest += "+"
	next.Steps = slices.Clone(p.Steps)
	for _, v := range c.Values {
		if strings.Contains(v.Value, "broken") {
			return nil, "site.yml:3: there is no such release"
		}
		for i := range next.Steps {
			s := &next.Steps[i]
			if v.At != "" && s.Path != v.At && !strings.HasPrefix(s.Path, v.At+"/") {
				continue
			}
			for k, u := range s.Uses {
				if u.Name != v.Name {
					continue
				}
				now := any(strings.Trim(v.Value, `"`))
				s.Digest += "+"
				s.Args = map[string]any{"cmd": fmt.Sprint("do it in ", now)}
				if plan.Secret(u.Value) {
					now, s.Args = u.Value, map[string]any{"cmd": "do it in " + secret.Mask}
				}
				s.Uses = slices.Clone(s.Uses)
				s.Uses[k].Value, s.Uses[k].From, s.Uses[k].Origin = now, "override", diag.Origin{}
				s.Overridden = []plan.Overridden{{Override: plan.Override{Name: v.Name, At: v.At}, Was: u.Value, Now: now, Origin: u.Origin}}
			}
		}
	}
	return &next, ""
}

// talk is a person, or a script, who talks to a console with a fake behind it.
type talk struct {
	t *testing.T
	*console
	engine *tuitest.Engine
	plans  map[string]*plan.Plan // those with other values, by digest
	rest   int                   // attempts that had begun when nothing was going on last
	heard  bytes.Buffer
}

func newTalk(t *testing.T, p *plan.Plan, with ...func(*Options, *tuitest.Engine)) *talk {
	t.Helper()
	k := &talk{t: t, engine: newEngine(p), plans: map[string]*plan.Plan{}}
	k.engine.Replan = func(c events.Fix) *plan.Plan {
		p, _ := foreplan(k.engine.P, c)
		k.plans[p.Digest] = p
		return p
	}
	o := Options{
		Plan: p, Out: &k.heard, Send: func(o events.Order) { k.engine.Take(events.Order{Actor: Actor, Command: o.Command}) }, Person: true, Now: func() time.Time { return k.engine.Clock },
		Preview: foreplan, PlanFor: func(digest string) *plan.Plan { return k.plans[digest] },
	}
	for _, w := range with {
		w(&o, k.engine)
	}
	k.console = newConsole(o)
	k.engine.Emit = k.announcer.hearBatch
	k.engine.Begin()
	k.showPrompt()
	return k
}

// settle runs until nothing goes on by itself.
func (k *talk) settle() {
	for k.engine.Tick() {
	}
	k.showPrompt()
}

// type types a line, lets the engine do what it does then, and gives what is said, without the times.
func (k *talk) types(line string) string {
	k.heard.Reset()
	k.takeLine(line)
	k.showPrompt()
	k.settle()
	return k.said()
}

func (k *talk) said() string {
	k.flush()
	text := strings.TrimSuffix(strings.TrimPrefix(k.heard.String(), "\n"), "> ")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if _, err := time.Parse("15:04:05", line[:min(8, len(line))]); err == nil {
			lines[i] = strings.TrimSpace(line[8:])
		}
	}
	return strings.Join(lines, "\n")
}

// says types a line and compares the answer.
func (k *talk) says(line string, want ...string) {
	k.t.Helper()
	if got := k.types(line); got != strings.Join(want, "\n") {
		k.t.Errorf("%s\n--- got\n%s\n--- want\n%s", cmp.Or(line, "(empty line)"), got, strings.Join(want, "\n"))
	}
}

// last is the command that was sent last.
func (k *talk) last() events.Command {
	k.t.Helper()
	if len(k.engine.Sent) == 0 {
		k.t.Fatal("no command was sent")
	}
	return k.engine.Sent[len(k.engine.Sent)-1]
}
