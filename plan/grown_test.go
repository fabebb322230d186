package plan_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"weak"

	"moon/internal/assault"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner"
	"moon/plan/saved"
)

// grower writes one random playbook twice: with loops over what its tasks give in the run, and with the same loops over the items as they
// are written out.
type grower struct {
	*rand.Rand
	seed        uint64
	dir         string
	plays       bool
	open, known strings.Builder
	last        int
	lists       []string         // registered names of tasks that give lists
	items       map[string][]any // what they give
	loops       map[string]string
	results     []string // registered names of loops
}

// texts are items as a playbook has them, and what they are.
var texts = []struct {
	text  string
	value any
}{
	{"a", "a"},
	{"b c", "b c"},
	{`"1.0"`, "1.0"},
	{"7", 7},
	{"1.0", value.Number{Text: "1.0", Value: 1.0}},
	{"12345678901234567", 12345678901234567},
	{"true", true},
	{"a", "a"},
	{"{k: x, a: 2}", map[string]any{"k": "x", "a": 2}},
	{"[x, 2.0]", []any{"x", value.Number{Text: "2.0", Value: 2.0}}},
}

func (g *grower) one(n int) bool { return g.IntN(n) == 0 }

func (g *grower) both(in, format string, args ...any) {
	for _, b := range []*strings.Builder{&g.open, &g.known} {
		fmt.Fprintf(b, in+format+"\n", args...)
	}
}

// list is a task that gives a list in the run.
func (g *grower) list(in string) {
	g.last++
	name := fmt.Sprintf("v%d", g.last)
	g.both(in, "- name: list %s", name)
	g.both(in, "  shell: list %s", name)
	g.both(in, "  register: %s", name)
	g.lists = append(g.lists, name)
}

func (g *grower) loop(in string) {
	from := g.lists[g.IntN(len(g.lists))]
	items, written := g.items[from], g.loops[from]
	if items == nil {
		items = []any{}
		var parts []string
		for range g.IntN(4) {
			t := texts[g.IntN(len(texts))]
			if m, is := t.value.(map[string]any); is && g.plays { // where maps have an order
				d := value.NewDict(2)
				d.Set("k", m["k"])
				d.Set("a", m["a"])
				t.value = d
			}
			items, parts = append(items, t.value), append(parts, t.text)
		}
		written = "[" + strings.Join(parts, ", ") + "]"
		g.items[from], g.loops[from] = items, written
	}
	fmt.Fprintf(&g.open, "%s  loop: \"{{ %s.stdout_lines }}\"\n", in, from)
	fmt.Fprintf(&g.known, "%s  loop: %s\n", in, written)
	if g.one(4) {
		g.both(in, "  loop_control: {index_var: n%s}", map[bool]string{true: ", extended: true"}[g.plays && g.one(2)])
	}
}

func (g *grower) task(in string) {
	g.last++
	name := fmt.Sprintf("t%d", g.last)
	loops := g.one(2)
	g.both(in, "- name: %s", name)
	using := ""
	if loops {
		using += " {{ item }}"
	}
	if len(g.results) > 0 && g.one(2) {
		using += " {{ " + g.results[g.IntN(len(g.results))] + ".results | length }}"
	}
	if len(g.lists) > 0 && g.one(4) {
		using += " {{ " + g.lists[g.IntN(len(g.lists))] + ".rc }}"
	}
	if g.one(6) {
		g.both(in, "  set_fact: {f_%s: '%s%s'}", name, name, using)
	} else {
		g.both(in, "  shell: '%s%s'", name, using)
	}
	if loops {
		g.loop(in)
	}
	switch g.IntN(6) {
	case 0:
		if loops {
			g.both(in, "  when: item != 'a'")
		}
	case 1:
		g.both(in, "  when: %s.rc == 0", g.lists[g.IntN(len(g.lists))])
	}
	if g.one(5) {
		g.both(in, "  ignore_errors: true")
	}
	if loops && g.one(2) {
		g.both(in, "  register: e_%s", name)
		g.results = append(g.results, "e_"+name)
	}
	if g.plays && g.one(4) {
		g.both(in, "  notify: told")
	}
}

func (g *grower) tasks(in string, depth int) {
	for range 1 + g.IntN(3) {
		switch {
		case g.one(4):
			g.list(in)
		case depth > 0 && g.one(3):
			g.both(in, "- block:")
			g.tasks(in+"    ", depth-1)
			for _, part := range []string{"rescue", "always"} {
				if g.one(3) {
					g.both(in, "  %s:", part)
					g.tasks(in+"    ", depth-1)
				}
			}
		default:
			g.task(in)
		}
	}
}

func (g *grower) write() {
	in := ""
	if g.plays {
		g.both("", "- hosts: all\n  gather_facts: false\n  tasks:")
		in = "    "
	}
	g.list(in)
	g.tasks(in, 2)
	if g.plays {
		g.both("  ", "handlers:")
		g.both("    ", "- name: told")
		g.both("    ", "  shell: told {{ item }}")
		g.loop("    ")
	}
}

// TestGrownPlan holds a plan that has grown to the one that is made if everything is known from the start. Of each step everything is
// compared that says what it does, when, for which item and on which host, its path and its digest; what it needs and waits for is compared as
// far as that stands in both: the steps of the open loops, which only one plan has, are taken out of it. The digest of what waits for one
// of those is not compared, nor are the places of values in the file. An assault tries 3,000 playbooks; GROWN_SEED=n replays one.
func TestGrownPlan(t *testing.T) {
	first, seeds := uint64(0), uint64(150)
	if text := os.Getenv("GROWN_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, seeds = n, 1
	} else if assault.All() {
		seeds = 3000
	} else if !testing.Short() {
		seeds = 600
	}
	assault.Tried(t, "plans that grow", int(seeds))
	places := 0
	for seed := first; seed < first+seeds; seed++ {
		g := &grower{seed: seed, dir: t.TempDir(), Rand: rand.New(rand.NewPCG(seed, 3)), items: map[string][]any{}, loops: map[string]string{}}
		g.plays = g.one(2)
		g.write()
		n, what := g.compare(t)
		if places += n; what != "" {
			t.Fatalf("GROWN_SEED=%d: %s\n%s--- known\n%s", seed, what, g.open.String(), g.known.String())
		}
	}
	if seeds > 100 && places < 100 {
		t.Errorf("only %d open loops", places)
	}
}

func (g *grower) plan(t *testing.T, text string, opened map[string]plan.Found) *plan.Plan {
	t.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, "p.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := plan.Options{Path: "p.yml", Dir: g.dir, Home: g.dir, User: "ada", Facts: plan.KnownFacts{Here: map[string]any{}}, Opened: opened}
	if g.plays {
		o.Hosts = plan.HostSelection{Inventory: []string{"h1,h2"}}
	}
	p, ds := planner.New(o)
	if p == nil {
		t.Fatalf("GROWN_SEED=%d: %+v\n%s", g.seed, ds, text)
	}
	return p
}

// grow plans from a plan with less items, as a run does: it takes over what it can.
func (g *grower) grow(t *testing.T, before *plan.Plan, opened map[string]plan.Found) *plan.Plan {
	t.Helper()
	o := before.Again()
	o.Opened = maps.Clone(opened)
	p, ds := planner.Grow(before, o)
	if p == nil {
		t.Fatalf("GROWN_SEED=%d: %+v", g.seed, ds)
	}
	return p
}

// differs says how a plan differs from one that was made without another before it; nothing if it does not.
func differs(got, want *plan.Plan) string {
	if got.Digest != want.Digest || len(got.Steps) != len(want.Steps) || !reflect.DeepEqual(got.Scopes, want.Scopes) {
		return fmt.Sprintf("it has the digest %.12s, %d steps and %d scopes, not %.12s, %d and %d", got.Digest, len(got.Steps), len(got.Scopes),
			want.Digest, len(want.Steps), len(want.Scopes))
	}
	for i := range want.Steps {
		a, b := got.Steps[i], want.Steps[i]
		k, l := a.Task, b.Task
		if a.Frame.DocumentAt != b.Frame.DocumentAt || a.Frame.ProducedAt != b.Frame.ProducedAt || k.Open != l.Open || k.Dir != l.Dir ||
			!reflect.DeepEqual(k.Known, l.Known) || !reflect.DeepEqual(k.Took, l.Took) {
			return a.Path + " is run in another way"
		}
		a.Frame, b.Frame, a.Written, b.Written = nil, nil, false, false
		if a.Task, b.Task = nil, nil; !reflect.DeepEqual(a, b) {
			return fmt.Sprintf("%s is %+v and not %+v", a.Path, a, b)
		}
	}
	return ""
}

// compare grows the open plan to its end, and returns how many loops were opened and the first difference.
func (g *grower) compare(t *testing.T) (places int, what string) {
	t.Helper()
	opened := map[string]plan.Found{}
	grown := g.plan(t, g.open.String(), opened)
	for open := grown.OpenPlaces(); len(open) > 0; open = grown.OpenPlaces() {
		// All at once, or one after the other: the order must not matter.
		step := &grown.Steps[open[g.IntN(len(open))]]
		found, err := saved.Found(g.items[step.Unknowns[0].Name], false)
		if err != nil {
			t.Fatal(err)
		}
		opened[step.Path] = found
		before := grown
		grown = g.plan(t, g.open.String(), opened)
		if what := differs(g.grow(t, before, opened), grown); what != "" {
			return places, "grown from the plan before, " + what
		}
	}
	known := g.plan(t, g.known.String(), nil)
	var left []*plan.Step
	at := map[int]int{} // their numbers without the steps of open loops
	for i := range grown.Steps {
		switch s := &grown.Steps[i]; {
		case s.Place != nil:
			places++
		case s.Handler && !slices.ContainsFunc(s.Notifiers, func(by int) bool { _, there := at[by]; return there }):
			// It was there before the loop that alone notifies it had turned out to be over nothing.
		default:
			at[i] = len(left)
			left = append(left, s)
		}
	}
	if len(left) != len(known.Steps) {
		return places, fmt.Sprintf("%d steps and not %d", len(left), len(known.Steps))
	}
	same := make(map[int]int, len(known.Steps))
	for i := range known.Steps {
		same[i] = i
	}
	for i, s := range left {
		got, want := view(s, at), view(&known.Steps[i], same)
		if refersTo(s, at) {
			delete(got, "digest")
			delete(want, "digest")
		}
		if !reflect.DeepEqual(got, want) {
			for key := range want {
				if !reflect.DeepEqual(got[key], want[key]) {
					return places, fmt.Sprintf("%s of %s is %#v and not %#v", key, s.Path, got[key], want[key])
				}
			}
		}
	}
	return places, ""
}

// refersTo reports whether a step waits for the step of an open loop, next to its rounds: its digest has the paths of all for which it waits.
func refersTo(s *plan.Step, at map[int]int) bool {
	all := slices.Clone(s.Notifiers)
	for _, u := range s.Unknowns {
		all = append(all, u.Steps...)
	}
	return slices.ContainsFunc(all, func(step int) bool { _, there := at[step]; return !there })
}

// view is a step as it is compared.
func view(s *plan.Step, at map[int]int) map[string]any {
	steps := func(list []int) (in []int) {
		for _, step := range list {
			if to, ok := at[step]; ok {
				in = append(in, to)
			}
		}
		slices.Sort(in)
		return slices.Compact(in)
	}
	var names []string
	waits := []int{}
	for _, u := range s.Unknowns {
		names = append(names, u.Name)
		waits = append(waits, steps(u.Steps)...)
	}
	slices.Sort(names)
	slices.Sort(waits)
	v := map[string]any{
		"path": s.Path, "digest": s.Digest, "name": s.Name, "action": s.Action, "args": value.PythonJSON(plan.JSONValue(value.Plain(s.Args))), "summary": s.Summary,
		"when": s.When, "register": s.Register, "tags": s.Tags, "excluded": s.Excluded, "prediction": s.Prediction, "host": s.Host,
		"handler": s.Handler, "may fail": s.MayFail, "once": s.Once, "unknown": slices.Compact(names), "waits": slices.Compact(waits),
		"notifiers": steps(s.Notifiers), "origin": s.Origin.Line, "in a loop": s.Loop != nil,
	}
	if s.Loop != nil {
		v["label"], v["index"], v["last"] = s.Loop.Label, s.Loop.Index, s.Loop.Last
	}
	return v
}

// TestGrownPlanAlone holds that a plan which has grown keeps nothing of the one before: a run may have hundreds of them.
func TestGrownPlanAlone(t *testing.T) {
	g := &grower{seed: 1, dir: t.TempDir()}
	before := g.plan(t, "- {name: list, shell: list, register: r}\n- {shell: 'a {{ item }}', loop: '{{ r.stdout_lines }}'}\n- shell: b\n", nil)
	found, err := saved.Found([]any{"x"}, false)
	if err != nil {
		t.Fatal(err)
	}
	grown := g.grow(t, before, map[string]plan.Found{before.Steps[before.OpenPlaces()[0]].Path: found})
	kept := weak.Make(before)
	before = nil
	runtime.GC()
	runtime.GC()
	if kept.Value() != nil {
		t.Error("the plan before is kept")
	}
	if len(grown.Steps) != 4 {
		t.Errorf("%d steps", len(grown.Steps))
	}
}
