package plan_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/plan"
	"moon/plan/planner"
)

// onePlay plans a play for the hosts a and b.
func onePlay(t *testing.T, text string, change func(o *plan.Options)) (p *plan.Plan, said string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "site.yml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	o := plan.Options{
		Path: filepath.Join(dir, "site.yml"), Dir: dir, Home: dir, User: "ada",
		Hosts: plan.HostSelection{Inventory: []string{"a,b"}}, Facts: plan.KnownFacts{Here: map[string]any{}},
	}
	change(&o)
	p, ds := planner.New(o)
	var b strings.Builder
	if err := ds.Print(&b); err != nil {
		t.Fatal(err)
	}
	return p, b.String()
}

func TestPrompts(t *testing.T) {
	const play = "- hosts: all\n  gather_facts: no\n  vars_prompt:\n    - {name: release, prompt: Which one}\n    - {name: where, default: here, private: no}\n" +
		"  tasks:\n    - debug: {msg: \"{{ release }} {{ where }}\"}\n"
	answering := func(err error) func(o *plan.Options) {
		return func(o *plan.Options) {
			o.Outside.Ask = func(list []plan.Prompt) (map[string]string, error) {
				answers := map[string]string{}
				for _, q := range list {
					answers[q.Name] = "answer to " + q.Question()
				}
				return answers, err
			}
		}
	}
	for name, tc := range map[string]struct {
		change func(o *plan.Options)
		want   string // what a task prints, or what is said
	}{
		"asked":          {answering(nil), "•••••••• answer to where"},
		"given":          {func(o *plan.Options) { answering(nil)(o); o.Values.Extra = []string{"release=3"} }, "3 answer to where"},
		"nobody to ask":  {func(*plan.Options) {}, "`release` is asked for (vars_prompt), and there is nobody to ask"},
		"default counts": {func(o *plan.Options) { o.Values.Extra = []string{"release=3"} }, "3 here"},
		"left":           {answering(errors.New("nobody answers")), "vars_prompt: nobody answers"},
	} {
		t.Run(name, func(t *testing.T) {
			p, said := onePlay(t, play, tc.change)
			got := said
			if p != nil {
				got, _ = p.Steps[0].Args["msg"].(string)
			}
			if !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestFactsThatNobodyGives plans for a host that cannot be asked: its facts are those of the run.
func TestFactsThatNobodyGives(t *testing.T) {
	p, said := onePlay(t, "- hosts: all\n  tasks:\n    - debug: {msg: \"{{ ansible_os_family }} {{ ansible_facts.os_family }}\"}\n",
		func(o *plan.Options) {
			o.Outside.Gather = func(targets []plan.Target) []plan.Gathered {
				got := make([]plan.Gathered, len(targets))
				for i, target := range targets {
					if got[i].Why = "no route to host\nand more"; target.Host == "a" {
						got[i] = plan.Gathered{Facts: map[string]any{"os_family": "Debian"}}
					}
				}
				return got
			}
		})
	if !strings.Contains(said, "site.yml:1:3: warning: the facts of b are not known yet: no route to host …\n") || p == nil {
		t.Fatalf("it says %q", said)
	}
	if got := p.Steps[2].Args["msg"]; got != "Debian Debian" || len(p.Steps[2].Unknowns) > 0 {
		t.Errorf("on a it is %v", got)
	}
	if s := p.Steps[3]; len(s.Unknowns) != 2 || s.Unknowns[0].Steps[0] != 1 {
		t.Errorf("on b it is %v, after %v", s.Args["msg"], s.Unknowns)
	}
}

// TestFactsBeforeTheyAreGathered asks for a fact before and after the task that gathers them, of which the plan knows nothing yet.
func TestFactsBeforeTheyAreGathered(t *testing.T) {
	p, said := onePlay(t, "- hosts: a\n  gather_facts: no\n  tasks:\n    - {ping: , when: ansible_system is defined}\n    - setup:\n    - {ping: , when: ansible_system is defined}\n    - {ping: , when: ansible_facts.system == 'Linux'}\n",
		func(o *plan.Options) { o.Hosts.NoConnect = true })
	if p == nil {
		t.Fatal(said)
	}
	for i, want := range []plan.Prediction{plan.WillSkip, plan.WillRun, plan.MaySkip, plan.MaySkip} {
		if got := p.Steps[i].Prediction; got != want {
			t.Errorf("%s: %s, not %s", p.Steps[i].Origin, got, want)
		}
	}
}
