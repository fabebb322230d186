package plan_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"moon/plan"
	"moon/plan/found"
	"moon/plan/planner"
	"moon/plan/saved"
)

// asking answers for hosts what their steps would find, and takes down what it was asked.
type asking struct {
	calls [][]string // host and path of the step
	fails string     // the host that does not answer
}

func file(path string, size int) map[string]any {
	return map[string]any{"path": path, "size": size, "isreg": true, "roth": true, "mtime": 1700000000.0}
}

func (a *asking) probe(list []plan.Probe) []found.Result {
	got := make([]found.Result, len(list))
	var asked []string
	for i, q := range list {
		asked = append(asked, q.Host+" "+q.Path[strings.LastIndex(q.Path, "/")+1:])
		switch {
		case q.Host == a.fails:
			got[i].Why = "no route to host\nand more"
		case q.Call.Action == "find":
			files := []any{file("/srv/x", 1)}
			if q.Host == "a" {
				files = append(files, file("/srv/y", 2))
			}
			got[i].Fields = found.Fields{"files": files, "matched": len(files), "examined": 9}
		default:
			got[i].Fields = found.Fields{"stat": map[string]any{"exists": q.Host == "a"}}
		}
	}
	a.calls = append(a.calls, asked)
	return got
}

const looking = `- hosts: all
  gather_facts: no
  tasks:
    - {find: {paths: /srv}, register: found}
    - {stat: {path: /srv/flag}, register: flag}
    - {debug: {msg: "{{ item.path }}"}, loop: "{{ found.files }}"}
    - {debug: {msg: flag}, when: flag.stat.exists}
`

func titles(p *plan.Plan) (list []string) {
	for i := range p.Steps {
		s := &p.Steps[i]
		list = append(list, fmt.Sprintf("%s %s %v %s", s.Host, s.Action, s.Args["msg"], s.Prediction))
	}
	return list
}

// TestProbing asks two hosts what their steps find: at once, and each for itself.
func TestProbing(t *testing.T) {
	a := &asking{}
	p, said := onePlay(t, looking, func(o *plan.Options) { o.Outside.Probe = a.probe })
	if p == nil {
		t.Fatal(said)
	}
	want := []string{
		"a find <nil> runs", "b find <nil> runs", "a stat <nil> runs", "b stat <nil> runs",
		"a print /srv/x runs", "a print /srv/y runs", "b print /srv/x runs", "a print flag runs", "b print flag will skip",
	}
	if got := titles(p); !slices.Equal(got, want) {
		t.Errorf("the plan is\n%s", strings.Join(got, "\n"))
	}
	if len(a.calls) != 1 || strings.Join(a.calls[0], ", ") != "a find@a, b find@b, a stat@a, b stat@b" {
		t.Errorf("asked were %v", a.calls)
	}

	// Made again from what was saved, nobody is asked, and it is the same.
	s, err := saved.Of(p)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var read saved.Sources
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	again, ds, err := planner.Replay(&read, p.Root, plan.Options{Dir: p.Root, Home: p.Root, Outside: plan.Outside{Probe: a.probe}})
	if err != nil || again == nil {
		t.Fatal(err, ds)
	}
	if again.Digest != p.Digest || len(a.calls) != 1 {
		t.Errorf("from what was saved it is %s, not %s; asked were %v", again.Digest, p.Digest, a.calls)
	}

	// What a run finds makes the plan another one only if that is used.
	path := p.Steps[0].Path
	was, ok := p.Found(0)
	if !ok {
		t.Fatal("the first step was not asked")
	}
	for what, c := range map[string]struct {
		change func(files []any) []any
		stands bool
	}{
		"nothing":      {func(files []any) []any { return files }, true},
		"a size":       {func(files []any) []any { return []any{file("/srv/x", 99), files[1]} }, true},
		"a name":       {func(files []any) []any { return []any{file("/srv/z", 1), files[1]} }, false},
		"their number": {func(files []any) []any { return files[:1] }, false},
		"their order":  {func(files []any) []any { return []any{files[1], files[0]} }, false},
	} {
		now := was
		now.Fields = maps.Clone(was.Fields)
		now.Fields["files"] = c.change(was.Fields["files"].([]any))
		if got := planner.Stands(p, map[string]found.Result{path: now}); got != c.stands {
			t.Errorf("%s differs: the plan stands: %t", what, got)
		}
		if text := was.Differs(now); (text == "") != (what == "nothing") {
			t.Errorf("%s differs: it says %q", what, text)
		}
	}
}

// TestProbingOnce makes a plan with a selection twice, and asks once.
func TestProbingOnce(t *testing.T) {
	a := &asking{}
	p, said := onePlay(t, looking, func(o *plan.Options) { o.Outside.Probe, o.Select.Skip = a.probe, []string{"*/debug*"} })
	if p == nil || len(a.calls) != 1 {
		t.Errorf("asked were %v; it says %s", a.calls, said)
	}
}

// TestProbingInVain plans for a host that does not answer: its loop stays open, and the plan knows why.
func TestProbingInVain(t *testing.T) {
	a := &asking{fails: "b"}
	p, said := onePlay(t, looking, func(o *plan.Options) { o.Outside.Probe = a.probe })
	if p == nil {
		t.Fatal(said)
	}
	want := []string{
		"a find <nil> runs", "b find <nil> runs", "a stat <nil> runs", "b stat <nil> runs",
		"a print /srv/x runs", "a print /srv/y runs", "b loop <nil> runs", "a print flag runs", "b print flag may be skipped",
	}
	if got := titles(p); !slices.Equal(got, want) {
		t.Errorf("the plan is\n%s", strings.Join(got, "\n"))
	}
	if why := p.Ahead.Unasked[1]; why != "no route to host …" {
		t.Errorf("it was not asked because of %q", why)
	}
}

// TestNotProbed are steps that are not asked, and why.
func TestNotProbed(t *testing.T) {
	const stat = "    - {stat: {path: /srv/flag}, register: flag, delegate_to: localhost}\n    - {debug: {msg: x}, when: flag.stat.exists}\n"
	with := func(keys string) string { return strings.Replace(stat, "register: flag", "register: flag, "+keys, 1) }
	for name, c := range map[string]struct {
		tasks string
		head  string
		why   string // "" where it is one that is never asked
	}{
		"a command before":   {tasks: "    - {shell: x, delegate_to: localhost}\n" + stat, why: "step-0001 «x» may change what it looks at"},
		"a file before":      {tasks: "    - {file: {path: /srv, mode: \"0700\"}, delegate_to: localhost}\n" + stat, why: "may change what it looks at"},
		"a file inside":      {tasks: "    - {copy: {content: x, dest: /srv/flag/x}, delegate_to: localhost}\n" + stat, why: "may change what it looks at"},
		"a pause":            {tasks: "    - pause:\n" + stat, why: "may change what it looks at"},
		"a role of a rescue": {tasks: "    - block: [{fail: {msg: x}}]\n      rescue:\n        - {stat: {path: /srv/flag}, register: flag}\n        - {debug: {msg: x}, when: flag.stat.exists}\n"},
		"no_log":             {tasks: with("no_log: true")},
		"until":              {tasks: with("until: flag.stat.exists")},
		"failed_when":        {tasks: with("failed_when: flag.stat.exists")},
		"run_once":           {tasks: with("run_once: true"), head: "  strategy: linear\n"},
		"an open condition":  {tasks: "    - {ping: , register: p, delegate_to: localhost}\n" + with("when: p.ping is defined")},
		"a free strategy":    {tasks: stat, head: "  strategy: free\n"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &asking{}
			hosts := "a"
			if name == "run_once" {
				hosts = "all"
			}
			p, said := onePlay(t, "- hosts: "+hosts+"\n  gather_facts: no\n"+c.head+"  tasks:\n"+c.tasks,
				func(o *plan.Options) { o.Outside.Probe = a.probe })
			if p == nil {
				t.Fatal(said)
			}
			if len(a.calls) > 0 {
				t.Errorf("asked were %v", a.calls)
			}
			if last := p.Steps[len(p.Steps)-1]; last.Prediction != plan.MaySkip {
				t.Errorf("what depends on it %s", last.Prediction)
			}
			text := ""
			for _, why := range p.Ahead.Unasked {
				text += why
			}
			if (text == "") != (c.why == "") || !strings.Contains(text, c.why) {
				t.Errorf("it says %q", text)
			}
		})
	}
}

// TestProbedElsewhere asks although steps before change something: on another machine, at another path, or nothing by their own account.
func TestProbedElsewhere(t *testing.T) {
	for name, before := range map[string]string{
		"another machine": "{shell: x, delegate_to: c}",
		"another path":    "{copy: {content: x, dest: /etc/srv}}",
		"nothing":         "{shell: x, check_mode: no, changed_when: no}",
		"excluded":        "{shell: x, when: false}",
	} {
		a := &asking{}
		p, said := onePlay(t, "- hosts: a\n  gather_facts: no\n  tasks:\n    - "+before+
			"\n    - {stat: {path: /srv/flag}, register: flag}\n    - {debug: {msg: x}, when: flag.stat.exists}\n",
			func(o *plan.Options) { o.Outside.Probe = a.probe })
		if p == nil || len(a.calls) != 1 || p.Steps[2].Prediction != plan.WillRun {
			t.Errorf("%s: asked were %v; %s", name, a.calls, said)
		}
	}
}
