package state

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
	"moon/plan/planner"
)

// planPlays plans a playbook of plays over hosts that are all this machine.
func planPlays(tb testing.TB, text, hosts string) (*plan.Plan, *graph.Graph) {
	tb.Helper()
	dir := tb.TempDir()
	path := filepath.Join(dir, "site.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	p, ds := planner.New(plan.Options{
		Path: path, Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{}},
		Hosts: plan.HostSelection{Inventory: []string{hosts}, NoConnect: true}, Login: plan.Login{Connection: "local"},
	})
	if p == nil {
		tb.Fatalf("%+v\n%s", ds, text)
	}
	g, err := graph.Build(p)
	if err != nil {
		tb.Fatalf("%v\n%s", err, text)
	}
	return p, g
}

// list is a list of tasks: names of tasks, and blocks.
type list []any

type block struct{ body, rescue, always list }

// player makes up playbooks.
type player struct {
	*rand.Rand
	b     strings.Builder
	tasks int
	keys  []string // further keys that a task may have
}

func (p *player) list(indent string, depth int) (l list) {
	for range 1 + p.IntN(3) {
		if depth == 0 || p.IntN(3) > 0 {
			name := fmt.Sprintf("t%d", p.tasks)
			p.tasks++
			fmt.Fprintf(&p.b, "%s- name: %s\n%s  shell: \"true\"\n", indent, name, indent)
			if len(p.keys) > 0 && p.IntN(3) == 0 {
				fmt.Fprintf(&p.b, "%s  %s\n", indent, p.keys[p.IntN(len(p.keys))])
			}
			l = append(l, name)
			continue
		}
		fmt.Fprintf(&p.b, "%s- block:\n", indent)
		one := &block{body: p.list(indent+"    ", depth-1)}
		if p.IntN(3) > 0 {
			fmt.Fprintf(&p.b, "%s  rescue:\n", indent)
			one.rescue = p.list(indent+"    ", depth-1)
		}
		if p.IntN(2) == 0 {
			fmt.Fprintf(&p.b, "%s  always:\n", indent)
			one.always = p.list(indent+"    ", depth-1)
		}
		l = append(l, one)
	}
	return l
}

// onHost says what a list of tasks does on a host that has only itself to look after: how it ends, and what ran.
type onHost struct {
	outcome func(task string) events.Outcome
	ran     map[string]bool
}

func (h *onHost) list(l list) events.Outcome {
	for _, m := range l {
		var o events.Outcome
		switch m := m.(type) {
		case string:
			h.ran[m] = true
			o = h.outcome(m)
		case *block:
			o = h.block(m)
		}
		if events.Bad.Has(o) {
			return o
		}
	}
	return events.OK
}

func (h *onHost) block(b *block) events.Outcome {
	o := h.list(b.body)
	if o == events.Failed && b.rescue != nil {
		o = h.list(b.rescue)
	}
	if o != events.Unreachable && b.always != nil {
		if cleaned := h.list(b.always); cleaned != events.OK {
			o = cleaned
		}
	}
	return o
}

// TestPlaysRunAsOnOneHost runs random plays with random outcomes, and compares what ran on each host with what would have if it were
// alone: hosts are independent, but that nothing more is done where all hosts of a play have failed.
func TestPlaysRunAsOnOneHost(t *testing.T) {
	for seed := range uint64(150) {
		p := &player{Rand: rand.New(rand.NewPCG(seed, 1))}
		type play struct {
			hosts []string
			tasks list
		}
		var plays []play
		for _, hosts := range [][]string{{"h1", "h2", "h3"}, {"h2", "h3", "h4"}} {
			fmt.Fprintf(&p.b, "- hosts: %s\n  gather_facts: false\n  strategy: %s\n  tasks:\n", strings.Join(hosts, ","),
				[]string{"linear", "free"}[p.IntN(2)])
			plays = append(plays, play{hosts, p.list("    ", 2)})
		}
		pl, g := planPlays(t, p.b.String(), "h1,h2,h3,h4")
		outcomes := map[string]events.Outcome{}
		for i := range pl.Steps {
			outcomes[pl.Steps[i].Name+pl.Steps[i].Host] = []events.Outcome{
				events.OK, events.Changed, events.Changed, events.OK,
				events.Failed, events.Failed, events.Unreachable,
			}[p.IntN(7)]
			if p.IntN(3) > 0 {
				outcomes[pl.Steps[i].Name+pl.Steps[i].Host] = events.OK
			}
		}
		want := map[string]bool{}
		out := map[string]bool{}
		over := false
		for _, one := range plays {
			alive := false
			for _, host := range one.hosts {
				if over || out[host] {
					continue
				}
				h := &onHost{ran: map[string]bool{}, outcome: func(task string) events.Outcome { return outcomes[task+host] }}
				if h.list(one.tasks) == events.OK {
					alive = true
				} else {
					out[host] = true
				}
				for task := range h.ran {
					want[task+host] = true
				}
			}
			over = over || !alive
		}
		be := newBench(t, pl, g, fact.Options{OnFailure: fact.Host, Forks: 1 + p.IntN(6)})
		be.outcome = func(step, _ int) events.Outcome { return outcomes[pl.Steps[step].Name+pl.Steps[step].Host] }
		be.anyOrder(p.Rand)
		got := map[string]bool{}
		for i := range pl.Steps {
			if be.s.node(i).attempt > 0 {
				got[pl.Steps[i].Name+pl.Steps[i].Host] = true
			}
		}
		if !maps.Equal(got, want) {
			t.Fatalf("seed %d: ran %v, want %v\n%s\n%s\n%s", seed, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)),
				p.b.String(), outcomes, g.Text())
		}
	}
}

// TestPlaysAlwaysEnd runs random plays with everything in them that couples hosts: each step comes to an end, and none is stuck.
func TestPlaysAlwaysEnd(t *testing.T) {
	for seed := range uint64(150) {
		p := &player{Rand: rand.New(rand.NewPCG(seed, 2)), keys: []string{
			"run_once: true", "any_errors_fatal: true", "loop: [a, b, c]", "ignore_errors: true", "notify: handle",
			"when: later is defined",
		}}
		for range 2 {
			fmt.Fprintf(&p.b, "- hosts: all\n  gather_facts: false\n  strategy: %s\n", []string{"linear", "free"}[p.IntN(2)])
			p.b.WriteString([]string{"", "  serial: 2\n", "  serial: [1, \"50%\"]\n"}[p.IntN(3)])
			p.b.WriteString([]string{
				"", "  any_errors_fatal: true\n", "  max_fail_percentage: 0\n", "  max_fail_percentage: 40\n",
				"  max_fail_percentage: 100\n",
			}[p.IntN(5)])
			p.b.WriteString([]string{"", "  force_handlers: true\n"}[p.IntN(2)])
			p.b.WriteString("  handlers:\n    - name: handle\n      shell: \"true\"\n      notify: after it\n    - name: after it\n      shell: \"true\"\n  tasks:\n")
			p.list("    ", 2)
			p.b.WriteString([]string{
				"", "    - meta: clear_host_errors\n    - shell: \"true\"\n",
				"    - meta: flush_handlers\n",
			}[p.IntN(3)])
		}
		pl, g := planPlays(t, p.b.String(), "h1,h2,h3,h4")
		be := newBench(t, pl, g, fact.Options{OnFailure: fact.Host, Forks: 1 + p.IntN(6)})
		be.outcome = func(int, int) events.Outcome {
			return []events.Outcome{
				events.OK, events.Changed, events.Changed, events.OK, events.Failed, events.Unreachable, events.Lost,
				events.Changed,
			}[p.IntN(8)]
		}
		be.anyOrder(p.Rand)
		if !be.s.finished || be.s.left != 0 {
			t.Fatalf("seed %d: not at its end\n%s\n%s", seed, p.b.String(), be.s.Dump())
		}
		if limit := 6 * len(g.Nodes); g.Edges() > limit {
			t.Errorf("seed %d: %d edges for %d nodes", seed, g.Edges(), len(g.Nodes))
		}
		if left := be.s.tally().unexplained(); left != nil {
			t.Errorf("seed %d: nothing says why %v did not run\n%s\n%s", seed, left, p.b.String(), be.s.Dump())
		}
		once := map[string]int{} // the batch a task with run_once ran in
		for i := range pl.Steps {
			s := &pl.Steps[i]
			if o := be.s.node(i).outcome; s.Once && be.s.node(i).attempt > 0 && o != events.Skipped {
				key := fmt.Sprintf("%d %v", s.Scope, s.Loop)
				if s.Loop != nil {
					key = fmt.Sprintf("%s %d", pl.Scopes[pl.Scopes[s.Scope].Parent].Path, s.Loop.Index)
				}
				if once[key]++; once[key] > 1 {
					t.Errorf("seed %d: %s ran on two hosts\n%s", seed, s.Path, p.b.String())
				}
			}
		}
	}
}

// anyOrder runs until nothing runs any more, ending attempts in any order.
func (b *bench) anyOrder(r *rand.Rand) {
	b.t.Helper()
	for b.start(); len(b.running) > 0; b.start() {
		b.end(r.IntN(len(b.running)))
	}
}

// TestRetryOnAHost tries a failed step of a host again when all others have ended: what the failure had kept from running follows.
func TestRetryOnAHost(t *testing.T) {
	for _, keys := range []string{
		"", "  any_errors_fatal: true\n", "  max_fail_percentage: 0\n", "  strategy: free\n",
		"  force_handlers: true\n",
	} {
		pl, g := planPlays(t, "- hosts: all\n  gather_facts: false\n"+keys+`  tasks:
    - {name: t0, shell: "true"}
    - {name: t1, shell: "true"}
    - {name: t2, shell: "true", run_once: true}
- hosts: all
  gather_facts: false
  tasks:
    - {name: t3, shell: "true"}
`, "h1,h2")
		be := newBench(t, pl, g, fact.Options{OnFailure: fact.Host, KeepOpen: true})
		be.outcome = func(step, attempt int) events.Outcome {
			if pl.Steps[step].Name == "t0" && pl.Steps[step].Host == "h1" && attempt == 1 {
				return events.Failed
			}
			return events.Changed
		}
		be.all()
		failed := slices.IndexFunc(pl.Steps, func(s plan.Step) bool { return s.Name == "t0" && s.Host == "h1" })
		if why := be.send(events.Retry{Range: events.Range{From: failed, To: failed + 1}}); why != "" {
			t.Fatal(why)
		}
		be.all()
		be.send(events.Continue{})
		be.all()
		var ran []string
		for i := range pl.Steps {
			if be.s.node(i).outcome == events.Changed {
				ran = append(ran, pl.Steps[i].Name+pl.Steps[i].Host)
			}
		}
		// Who has done the task with run_once meanwhile has done it for all.
		t2 := "t2h1"
		if keys == "" || strings.Contains(keys, "free") || strings.Contains(keys, "force") {
			t2 = "t2h2"
		}
		if got, want := strings.Join(ran, " "), "t0h1 t0h2 t1h1 t1h2 "+t2+" t3h1 t3h2"; got != want {
			t.Errorf("%q: ran %s, want %s\n%s", keys, got, want, be.s.Dump())
		}
	}
}

// TestForcedHandlers runs handlers on hosts that have failed, but not on one that is out of reach, nor on one that had failed in a
// play before.
func TestForcedHandlers(t *testing.T) {
	pl, g := planPlays(t, `- hosts: h4
  gather_facts: false
  tasks:
    - {name: before, shell: "true"}
- hosts: h1,h2,h3,h4
  gather_facts: false
  force_handlers: true
  any_errors_fatal: true
  tasks:
    - {name: t0, shell: "true", notify: handle}
    - {name: t1, shell: "true"}
    - {name: t2, shell: "true"}
  handlers:
    - {name: handle, shell: "true"}
    - {name: other, shell: "true"}
- hosts: all
  gather_facts: false
  tasks:
    - {name: later, shell: "true"}
`, "h1,h2,h3,h4,h5")
	ends := map[string]events.Outcome{"t1h1": events.Failed, "t1h2": events.Unreachable}
	be := newBench(t, pl, g, fact.Options{OnFailure: fact.Host})
	be.outcome = func(step, _ int) events.Outcome {
		if o, ok := ends[pl.Steps[step].Name+pl.Steps[step].Host]; ok {
			return o
		}
		return events.Changed
	}
	be.all()
	var ran []string
	for i := range pl.Steps {
		if be.s.node(i).outcome == events.Changed {
			ran = append(ran, pl.Steps[i].Name+pl.Steps[i].Host)
		}
	}
	want := "beforeh4 t0h1 t0h2 t0h3 t0h4 t1h3 t1h4 handleh1 handleh3 handleh4"
	if got := strings.Join(ran, " "); got != want {
		t.Errorf("ran %s\nwant %s", got, want)
	}
}
