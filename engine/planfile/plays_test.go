package planfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/engine/planfile"
	"moon/plan"
	"moon/plan/planner"
	"moon/plan/saved"
)

// plays use whatever a plan of plays can be made from.
var plays = map[string]string{
	"site.yml": `
- hosts: web
  vars_prompt:
    - {name: release, prompt: Which release, private: false}
    - {name: word, prompt: The word}
  vars_files: ["vars/{{ ansible_facts.os_family }}.yml", vars/all.yml]
  roles: [web]
  tasks:
    - debug: {msg: "{{ release }} {{ ansible_distribution }} {{ ansible_env.HOME }} {{ ansible_check_mode }}"}
    - debug: {msg: "{{ ansible_date_time.iso8601 }}"}
    - shell: "echo {{ ansible_env.TOKEN | default('none') | length }}"
    - shell: login
      environment: {WORD: "{{ word }}"}
    - copy: {src: "{{ item }}", dest: /tmp}
      with_fileglob: ["*.conf"]
    - debug: {msg: "{{ hostvars['w2'].ansible_facts.os_family }}"}
    - copy: {src: "{{ lookup('first_found', ['x.yml', 'y.yml']) }}", dest: /tmp/y}
    - import_tasks: more.yml
- import_playbook: second.yml
`,
	"second.yml":                  "- hosts: db\n  gather_facts: false\n  tasks: [{shell: \"echo {{ port }} {{ own }}\"}]\n",
	"more.yml":                    "- name: more\n  shell: x\n",
	"hosts":                       "[web]\nw1\nw2\n",
	"group_vars/web.yml":          "own: 1\n",
	"vars/Debian.yml":             "family: debian\n",
	"vars/all.yml":                "everywhere: 1\n",
	"y.yml":                       "at_y: 1\n",
	"roles/web/tasks/main.yml":    "- template: {src: conf.j2, dest: /tmp/conf}\n  notify: again\n",
	"roles/web/handlers/main.yml": "- name: again\n  shell: again\n",
	"roles/web/templates/conf.j2": "{{ family }} {{ size }}\n",
	"roles/web/defaults/main.yml": "size: 1\n",
	"one.conf":                    "1",
}

// playsProject writes them. The inventory with the group db is a program.
func playsProject(tb testing.TB) string {
	tb.Helper()
	dir := write(tb, plays)
	if err := os.WriteFile(filepath.Join(dir, "db.sh"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		tb.Fatal(err)
	}
	return dir
}

const printedInventory = `{"db": {"hosts": ["d1"], "vars": {"port": 5432, "own": "p"}}, "_meta": {"hostvars": {}}}`

// reachable is a machine from which hosts, programs and people answer.
func reachable() plan.Options {
	o := machine()
	o.Outside.Gather = func(targets []plan.Target) []plan.Gathered {
		got := make([]plan.Gathered, len(targets))
		for i, t := range targets {
			got[i].Facts = map[string]any{
				"os_family": "Debian", "distribution": "Debian on " + t.Host, "kernel": "of no interest", "uptime_seconds": 5,
				"date_time": map[string]any{"iso8601": "2026"}, "env": map[string]any{"HOME": "/root", "KEY": "of the host alone"},
			}
		}
		return got
	}
	o.Outside.RunInventory = func(string, ...string) ([]byte, error) { return []byte(printedInventory), nil }
	o.Outside.Ask = func(list []plan.Prompt) (map[string]string, error) {
		answers := map[string]string{}
		for _, q := range list {
			answers[q.Name] = "answer-" + q.Name
		}
		return answers, nil
	}
	return o
}

func playOptions(dir string) plan.Options {
	o := reachable()
	o.Path, o.Dir = filepath.Join(dir, "site.yml"), dir
	o.Hosts.Inventory = []string{"hosts", "db.sh"}
	return o
}

func TestPlansOfPlaysAreReadBack(t *testing.T) {
	for name, change := range map[string]func(o *plan.Options){
		"plain":   func(*plan.Options) {},
		"limited": func(o *plan.Options) { o.Hosts.Limit = "w1,w2,db" },
		"a flag each": func(o *plan.Options) {
			o.Login.User, o.Login.PrivateKey, o.Login.SSHArgs, o.Login.Become, o.Mode.ForceHandlers = "ann", "~/k", "-v", true, true
		},
		"a selection":   func(o *plan.Options) { o.Select.Skip = []string{"more"} },
		"not connected": func(o *plan.Options) { o.Hosts.NoConnect = true; o.Values.Extra = []string{"family=x"} },
	} {
		t.Run(name, func(t *testing.T) {
			dir := playsProject(t)
			o := playOptions(dir)
			change(&o)
			if o.Hosts.NoConnect { // which file of variables to read is then not known
				text := strings.Replace(plays["site.yml"], `"vars/{{ ansible_facts.os_family }}.yml", `, "", 1)
				if err := os.WriteFile(filepath.Join(dir, "site.yml"), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			doc := savedPlan(t, o)
			want, _ := planner.New(o)
			here := reachable()
			here.Outside.Gather = func([]plan.Target) []plan.Gathered { t.Error("a saved plan asks hosts"); return nil }
			got, err := planfile.Read(doc, here, version)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Stale) > 0 {
				t.Errorf("just saved, and stale: %q", got.Stale)
			}
			if got.Plan.Digest != want.Digest || len(got.Plan.Steps) != len(want.Steps) || len(want.Steps) < 10 {
				t.Errorf("%d steps, digest %s; saved were %d, %s", len(got.Plan.Steps), got.Plan.Digest, len(want.Steps), want.Digest)
			}
		})
	}
}

func TestPlansOfPlaysAreTheSameEverywhere(t *testing.T) {
	one, two := playsProject(t), playsProject(t)
	o := playOptions(one)
	o.Hosts.Limit, o.RolesPath = "all", []string{filepath.Join(one, "shared")}
	first := savedPlan(t, o)
	o = playOptions(two)
	o.Dir, o.Path, o.Hosts.Limit, o.RolesPath = filepath.Join(two, "vars"), "../site.yml", "all", []string{filepath.Join(two, "shared")}
	o.Hosts.Inventory = []string{"../hosts", filepath.Join(two, "db.sh")}
	rest := func(doc []byte) []byte { return bytes.SplitAfterN(doc, []byte("\n"), 4)[3] }
	second := savedPlan(t, o)
	if !bytes.Equal(rest(first), rest(second)) {
		t.Errorf("the same files in another place give another file:\n%s\n%s", first, second)
	}
	for range 100 {
		if again := savedPlan(t, o); !bytes.Equal(again, second) {
			t.Fatal("the same again gives another file")
		}
	}
}

// TestPlansOfPlaysKeepWhatTheyUse looks for what must not be in a saved plan, and for what must.
func TestPlansOfPlaysKeepWhatTheyUse(t *testing.T) {
	doc := savedPlan(t, playOptions(playsProject(t)))
	for _, not := range []string{"answer-word", "of no interest", "of the host alone", "uptime"} {
		if bytes.Contains(doc, []byte(not)) {
			t.Errorf("the saved plan holds %q", not)
		}
	}
	var d struct{ Sources saved.Sources }
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatal(err)
	}
	s := d.Sources.Plays
	if s.Answers["release"] != "answer-release" || len(s.Withheld) != 1 || s.Withheld[0].Name != "word" {
		t.Errorf("answers %v, withheld %v", s.Answers, s.Withheld)
	}
	if facts := s.Hosts["w1"]; facts["os_family"] != "Debian" || facts["distribution"] != "Debian on w1" || len(facts) != 4 {
		t.Errorf("facts of w1: %v", facts)
	}
	if len(s.Hosts) != 2 {
		t.Errorf("hosts %v", s.Hosts)
	}
}

func TestStalePlansOfPlays(t *testing.T) {
	put := func(dir, name, text string) error {
		path := filepath.Join(dir, name)
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	for _, tc := range []struct {
		name   string
		change func(dir string, o *plan.Options) error
		want   string
	}{
		{"inventory", func(dir string, _ *plan.Options) error { return put(dir, "hosts", "[web]\nw1\n") }, "hosts was edited"},
		{
			"group_vars", func(dir string, _ *plan.Options) error { return put(dir, "group_vars/web.yml", "own: 2\n") },
			"group_vars/web.yml was edited",
		},
		{
			"more group_vars", func(dir string, _ *plan.Options) error { return put(dir, "group_vars/db.yml", "own: 2\n") },
			"what is in group_vars is not the same",
		},
		{
			"host_vars", func(dir string, _ *plan.Options) error { return put(dir, "host_vars/w1.yml", "own: 2\n") },
			"host_vars was not there, and now it is",
		},
		{
			"a role's", func(dir string, _ *plan.Options) error { return put(dir, "roles/web/vars/main.yml", "size: 2\n") },
			"roles/web/vars/main.yml was not there, and now it is",
		},
		{"handlers", func(dir string, _ *plan.Options) error {
			return os.Remove(filepath.Join(dir, "roles/web/handlers/main.yml"))
		}, "roles/web/handlers/main.yml is gone"},
		{
			"a nearer file", func(dir string, _ *plan.Options) error { return put(dir, "x.yml", "at_y: 2\n") },
			"x.yml was not there, and now it is",
		},
		{"a glob", func(dir string, _ *plan.Options) error { return put(dir, "two.conf", "2") }, "other files match *.conf"},
		{"a file beside", func(dir string, _ *plan.Options) error { return put(dir, "README", "2") }, ""},
		{"a program", func(_ string, o *plan.Options) error {
			o.Outside.RunInventory = func(string, ...string) ([]byte, error) { return []byte(`{"db": ["d2"]}`), nil }
			return nil
		}, "db.sh prints something else"},
		{"a program that fails", func(_ string, o *plan.Options) error {
			o.Outside.RunInventory = func(string, ...string) ([]byte, error) { return nil, errors.New("exit status 1") }
			return nil
		}, "db.sh cannot be asked: exit status 1"},
		{
			"a dry run", func(_ string, o *plan.Options) error { o.Mode.Check = true; return nil },
			"`ansible_check_mode` was false, and is true",
		},
		{"more forks, which nothing asks for", func(_ string, o *plan.Options) error { o.Mode.Forks = 99; return nil }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := playsProject(t)
			doc := savedPlan(t, playOptions(dir))
			here := reachable()
			if err := tc.change(dir, &here); err != nil {
				t.Fatal(err)
			}
			got, err := planfile.Read(doc, here, version)
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(got.Stale, "\n"); text != tc.want {
				t.Errorf("got %q, want %q", text, tc.want)
			}
		})
	}
}

// TestSecretAnswersAreAskedForAgain reads a plan whose questions had a secret answer.
func TestSecretAnswersAreAskedForAgain(t *testing.T) {
	doc := savedPlan(t, playOptions(playsProject(t)))
	here := reachable()
	var asked []string
	here.Outside.Ask = func(list []plan.Prompt) (map[string]string, error) {
		for _, q := range list {
			asked = append(asked, q.Question())
		}
		return map[string]string{"word": "another"}, nil
	}
	got, err := planfile.Read(doc, here, version)
	if err != nil || strings.Join(asked, ",") != "The word" {
		t.Fatalf("asked %q: %v", asked, err)
	}
	if got.Plan.Answers()["word"] != "another" || got.Plan.Answers()["release"] != "answer-release" {
		t.Errorf("answers %v", got.Plan.Answers())
	}
	here.Outside.Ask = func([]plan.Prompt) (map[string]string, error) { return nil, errors.New("no terminal") }
	_, err = planfile.Read(doc, here, version)
	var withheld *saved.WithheldError
	if !errors.As(err, &withheld) || !strings.HasSuffix(err.Error(), ": word") {
		t.Errorf("with nobody to ask: %v", err)
	}
	here.Outside.Ask = nil // only to be shown
	if _, err := planfile.Read(doc, here, version); err != nil {
		t.Errorf("to be shown: %v", err)
	}
}

// TestHostsAreAskedOnce plans with a selection, which takes two rounds.
func TestHostsAreAskedOnce(t *testing.T) {
	o := playOptions(playsProject(t))
	o.Select.Only = []string{"more"}
	gather, ask := o.Outside.Gather, o.Outside.Ask
	hosts, questions := map[string]int{}, map[string]int{}
	o.Outside.Gather = func(targets []plan.Target) []plan.Gathered {
		for _, t := range targets {
			hosts[t.Host]++
		}
		return gather(targets)
	}
	o.Outside.Ask = func(list []plan.Prompt) (map[string]string, error) {
		for _, q := range list {
			questions[q.Name]++
		}
		return ask(list)
	}
	if p, ds := planner.New(o); p == nil {
		t.Fatal(ds)
	}
	if !maps.Equal(hosts, map[string]int{"w1": 1, "w2": 1}) || !maps.Equal(questions, map[string]int{"release": 1, "word": 1}) {
		t.Errorf("asked %v and %v", hosts, questions)
	}
}

// TestAllFactsAreNotSaved is about a plan that takes all facts at once, with what the environment of a host holds.
func TestAllFactsAreNotSaved(t *testing.T) {
	for _, use := range []string{
		"{{ ansible_facts }}", "{{ ansible_env }}", "{{ ansible_facts | length }}",
		"{{ ansible_facts.env | dict2items }}",
	} {
		dir := write(t, map[string]string{"site.yml": "- hosts: a\n  tasks:\n    - debug: {msg: \"" + use + "\"}\n"})
		o := playOptions(dir)
		o.Hosts.Inventory = []string{"a,"}
		refusesWhole(t, o, use, 3)
	}
}
