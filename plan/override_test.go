package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/plan"
	"moon/plan/planner"
	"moon/plan/saved"
)

const overridable = `vars: { host: a, port: 1, list: [x, y] }
steps:
  - name: first
    shell: echo {{ host }} {{ port }}
  - name: group
    block:
      - name: in block
        shell: echo {{ host }}
        env: { TZ: UTC }
        cwd: /tmp
      - name: round
        shell: echo {{ item }} {{ host }}
        loop: "{{ list }}"
    vars: { inner: "{{ host }}!" }
  - name: last
    shell: echo {{ host }} {{ inner | default('none') }}
`

// commands are what the steps of a plan would run, and what was overridden in each.
func commands(p *plan.Plan) string {
	var b strings.Builder
	for i := range p.Steps {
		s := &p.Steps[i]
		fmt.Fprintf(&b, "%s", s.Summary)
		for _, o := range s.Overridden {
			fmt.Fprintf(&b, "  [%s]", o.Text())
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestOverrides(t *testing.T) {
	p := planOf(t, overridable)
	path := func(title string) string {
		for i := range p.Steps {
			if p.Steps[i].Title() == title {
				return p.Steps[i].Path
			}
		}
		t.Fatal("no step", title)
		return ""
	}
	before := commands(p)
	for _, c := range []struct {
		name string
		list []plan.Override
		want string
	}{
		{
			"a step",
			[]plan.Override{{Name: "host", Value: "b", At: path("in block"), From: path("in block")}},
			"echo a 1\necho b  [host a → b]\necho x a\necho y a\necho a none\n",
		},
		{
			"a scope",
			[]plan.Override{{Name: "host", Value: "b", At: "p.yml/group"}},
			"echo a 1\necho b  [host a → b]\necho x b  [host a → b]\necho y b  [host a → b]\necho a none\n",
		},
		{
			"from a step on",
			[]plan.Override{{Name: "host", Value: "b", From: p.Steps[3].Path}},
			"echo a 1\necho a\necho x a\necho y b  [host a → b]\necho b none  [host a → b]\n",
		},
		{
			"the narrower counts when it is the later",
			[]plan.Override{{Name: "host", Value: "b"}, {Name: "host", Value: "c", At: path("last")}},
			"echo b 1  [host a → b]\necho b  [host a → b]\necho x b  [host a → b]\necho y b  [host a → b]\necho c none  [host a → c]\n",
		},
		{
			"a list for a loop",
			[]plan.Override{{Name: "list", Value: "[z]"}},
			"echo a 1\necho a\necho z a\necho a none\n",
		},
		{
			"data is no template",
			[]plan.Override{{Name: "host", Value: "'{{ port }}'", At: path("last")}},
			"echo a 1\necho a\necho x a\necho y a\necho {{ port }} none  [host a → {{ port }}]\n",
		},
		{
			"an argument is",
			[]plan.Override{{Field: "args", Name: "cmd", Value: "true {{ port }}", At: path("last")}},
			"echo a 1\necho a\necho x a\necho y a\ntrue 1  [cmd echo a none → true 1]\n",
		},
		{
			"environment",
			[]plan.Override{{Field: "env", Name: "TZ", Value: "'{{ host }}'", At: path("in block")}},
			"echo a 1\necho a  [env.TZ UTC → a]\necho x a\necho y a\necho a none\n",
		},
		{
			"directory",
			[]plan.Override{{Field: "cwd", Value: "/", At: path("in block")}},
			"echo a 1\necho a  [cwd /tmp → /]\necho x a\necho y a\necho a none\n",
		},
		{
			"a new name",
			[]plan.Override{{Name: "inner", Value: "here", At: path("last")}},
			"echo a 1\necho a\necho x a\necho y a\necho a here  [inner → here]\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, ds := planner.New(p.WithOverrides(c.list))
			if q == nil {
				t.Fatalf("%+v", ds)
			}
			if got := commands(q); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if q.Digest == p.Digest {
				t.Error("the digest is the same")
			}
			sources, err := saved.Of(q)
			if err != nil {
				t.Fatal(err)
			}
			again, ds, err := planner.Replay(sources, q.Root, plan.Options{})
			if err != nil || again == nil || again.Digest != q.Digest || commands(again) != c.want {
				t.Errorf("replayed: %v %v", err, ds)
			}
			back, _ := planner.New(q.WithOverrides(nil))
			if back.Digest != p.Digest || commands(back) != before {
				t.Error("without them it is not as before")
			}
		})
	}
	// Steps that an override does not reach keep their digests, and so their results.
	q, _ := planner.New(p.WithOverrides([]plan.Override{{Name: "host", Value: "b", From: p.Steps[3].Path}}))
	for i := range 3 {
		if q.Steps[i].Digest != p.Steps[i].Digest {
			t.Errorf("step %d is another", i)
		}
	}
}

func TestOverrideMistakes(t *testing.T) {
	p := planOf(t, overridable)
	last := p.Steps[len(p.Steps)-1].Path
	for _, c := range []struct {
		o    plan.Override
		want string
	}{
		{plan.Override{Name: "host", Value: "[a"}, "override of host"},
		{plan.Override{Name: "list", Value: "5"}, "needs a list"},
		{plan.Override{Field: "args", Name: "cmdd", Value: "x", At: last}, "unknown argument `cmdd`"},
		{plan.Override{Field: "args", Name: "cmd", Value: "'{{ nobody }}'", At: last}, "nobody"},
		{plan.Override{Name: "host", Value: "x", At: "p.yml/gone"}, "has no effect: nothing is at p.yml/gone"},
		{plan.Override{Name: "host", Value: "x", From: "p.yml/gone"}, "the step it begins with is gone: p.yml/gone"},
		{plan.Override{Name: "host", Value: "a: 1\n- b"}, "override of host"},
	} {
		_, ds := planner.New(p.WithOverrides([]plan.Override{c.o}))
		if !strings.Contains(fmt.Sprintf("%+v", ds), c.want) {
			t.Errorf("%+v: %+v, want %q", c.o, ds, c.want)
		}
	}
}

// The value that takes the place of a secret is one: it shows nowhere and is kept nowhere.
func TestSecretOverrides(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"v.secret.yml": "token: hunter2hunter2\n",
		"p.yml":        "vars_files: [v.secret.yml]\nsteps:\n  - shell: login\n    env: { T: \"{{ token }}\" }\n  - shell: hide {{ x }}\n    no_log: true\n    vars: { x: 1 }\n",
	} {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, ds := planner.New(plan.Options{Path: "p.yml", Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{}}})
	if p == nil {
		t.Fatal(ds)
	}
	const value = "swordfish99"
	for _, o := range []plan.Override{
		{Name: "token", Value: value},
		{Name: "x", Value: value, At: p.Steps[1].Path},
		{Field: "env", Name: "T", Value: value, At: p.Steps[1].Path},
	} {
		q, ds := planner.New(p.WithOverrides([]plan.Override{o}))
		if q == nil {
			t.Fatal(ds)
		}
		if !q.Overrides()[0].Secret {
			t.Errorf("%s is no secret", o.Label())
		}
		sources, err := saved.Of(q)
		if err != nil {
			t.Fatal(err)
		}
		for i, what := range []any{q.Steps, q.Vars, q.Scopes, sources.Overrides, sources.Options(dir, plan.Options{}).Values.Overrides} {
			if strings.Contains(fmt.Sprintf("%+v", what), value) {
				t.Errorf("%s: the secret shows (%d)", o.Label(), i)
			}
		}
		if got := sources.Withheld(); len(got) != 1 || got[0] != o.Label() {
			t.Errorf("withheld: %v", got)
		}
	}
}

func planOf(tb testing.TB, text string) *plan.Plan {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.yml"), []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	p, ds := planner.New(plan.Options{Path: "p.yml", Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{}}})
	if p == nil {
		tb.Fatalf("%+v", ds)
	}
	return p
}
