package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moon/plan"
	"moon/plan/bind"
	"moon/plan/planner"
	"moon/plan/vars"
)

// playSources gives a variable its value in a playbook of plays in one way, each a line of Levels.
var playSources = map[string]func(w *playWith){
	"role defaults": func(w *playWith) {
		w.put("play/roles/r/defaults/main.yml", "ansible_x: role defaults\n")
		w.roles = append(w.roles, "r")
	},
	"inventory, [all:vars]":       func(w *playWith) { w.inventory += "[all:vars]\nansible_x='inventory, [all:vars]'\n" },
	"inventory, [group:vars]":     func(w *playWith) { w.inventory += "[web:vars]\nansible_x='inventory, [group:vars]'\n" },
	"inventory, group_vars/all":   func(w *playWith) { w.put("group_vars/all.yml", "ansible_x: inventory, group_vars/all\n") },
	"playbook, group_vars/all":    func(w *playWith) { w.put("play/group_vars/all.yml", "ansible_x: playbook, group_vars/all\n") },
	"inventory, group_vars/GROUP": func(w *playWith) { w.put("group_vars/web.yml", "ansible_x: inventory, group_vars/GROUP\n") },
	"playbook, group_vars/GROUP":  func(w *playWith) { w.put("play/group_vars/web.yml", "ansible_x: playbook, group_vars/GROUP\n") },
	"inventory, host":             func(w *playWith) { w.host = " ansible_x='inventory, host'" },
	"inventory, host_vars/HOST":   func(w *playWith) { w.put("host_vars/h1.yml", "ansible_x: inventory, host_vars/HOST\n") },
	"playbook, host_vars/HOST":    func(w *playWith) { w.put("play/host_vars/h1.yml", "ansible_x: playbook, host_vars/HOST\n") },
	"fact":                        func(w *playWith) { w.facts["x"] = "fact" },
	"role vars": func(w *playWith) {
		w.put("play/roles/r/vars/main.yml", "ansible_x: role vars\n")
		w.roles = append(w.roles, "r")
	},
	"import_playbook vars": func(w *playWith) { w.imported = "    vars: {ansible_x: import_playbook vars}\n" },
	"play vars":            func(w *playWith) { w.play += "  vars: {ansible_x: play vars}\n" },
	"vars_prompt":          func(w *playWith) { w.play += "  vars_prompt: [{name: ansible_x, private: false}]\n" },
	"vars_files":           func(w *playWith) { w.put("play/v.yml", "ansible_x: vars_files\n"); w.play += "  vars_files: [v.yml]\n" },
	"root vars":            func(w *playWith) { w.root = "vars: {ansible_x: root vars}\n" },
	"block vars":           func(w *playWith) { w.block = true },
	"task vars":            func(w *playWith) { w.task += "  vars: {ansible_x: task vars}\n" },
	"include_vars": func(w *playWith) {
		w.put("play/more.yml", "ansible_x: include_vars\n")
		w.before += "    - include_vars: more.yml\n"
	},
	"set_fact":        func(w *playWith) { w.before += "    - set_fact: {ansible_x: set_fact}\n" },
	"register":        func(w *playWith) { w.before += "    - shell: x\n      register: ansible_x\n" },
	"include vars":    func(w *playWith) { w.include = true },
	"role parameters": func(w *playWith) { w.inRole = true },
	"loop":            func(w *playWith) { w.task += "  loop: [loop]\n  loop_control: {loop_var: ansible_x}\n" },
	"--vars-file": func(w *playWith) {
		w.put("outside.yml", "ansible_x: --vars-file\n")
		w.o.Values.Files = []string{"outside.yml"}
	},
	"-e": func(w *playWith) { w.o.Values.Extra = []string{"ansible_x=-e"} },
}

// playWith is a playbook that imports another, whose play prints a variable at its end.
type playWith struct {
	t         *testing.T
	dir       string
	o         plan.Options
	facts     map[string]any
	inventory string // after the hosts
	host      string // what follows the name of the host
	root      string
	imported  string
	play      string
	roles     []string
	before    string // pre_tasks
	task      string
	block     bool
	include   bool
	inRole    bool
}

func (w *playWith) put(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// value is what the variable is at the end.
func (w *playWith) value() any {
	w.t.Helper()
	last := "- debug: {msg: \"{{ ansible_x }}\"}\n" + w.task
	if w.include {
		w.put("play/inc.yml", last)
		last = "- include_tasks: \"{{ playbook_dir }}/inc.yml\"\n  vars: {ansible_x: include vars}\n"
	}
	if w.block {
		last = "- vars: {ansible_x: block vars}\n  block:\n    " + strings.ReplaceAll(strings.TrimSpace(last), "\n", "\n    ") + "\n"
	}
	text := "- hosts: h1\n" + w.play
	var roles []string
	for _, r := range slices.Compact(w.roles) {
		roles = append(roles, "    - "+r+"\n")
	}
	if w.inRole {
		w.put("play/roles/p/tasks/main.yml", last)
		roles = append(roles, "    - {role: p, ansible_x: role parameters}\n")
	}
	if len(roles) > 0 {
		text += "  roles:\n" + strings.Join(roles, "")
	}
	if w.before != "" {
		text += "  pre_tasks:\n" + w.before
	}
	if !w.inRole {
		text += "  tasks:\n    " + strings.ReplaceAll(strings.TrimSpace(last), "\n", "\n    ") + "\n"
	}
	w.put("play/play.yml", text)
	w.put("play/site.yml", w.root+"plays:\n  - import_playbook: play.yml\n"+w.imported)
	w.put("hosts", "[web]\nh1 ansible_connection=local"+w.host+"\n"+w.inventory)
	w.o.Path, w.o.Dir, w.o.Home, w.o.User, w.o.Hosts.Inventory = filepath.Join(w.dir,
		"play/site.yml"), w.dir, w.dir, "ada", []string{"hosts"}
	w.o.Outside.Gather = func(list []plan.Target) []plan.Gathered { return []plan.Gathered{{Facts: w.facts}} }
	w.o.Outside.Ask = func([]plan.Prompt) (map[string]string, error) {
		return map[string]string{"ansible_x": "vars_prompt"}, nil
	}
	p, ds := planner.New(w.o)
	if p == nil {
		w.t.Fatalf("%v\n%s", ds, text)
	}
	call, err := bind.New(p, len(p.Steps)-1, ran{p}).Call()
	if err != nil {
		w.t.Fatal(err)
	}
	if got := call.Raw["msg"]; slices.Contains(playSourceNames(), fmt.Sprint(got)) {
		return got
	}
	return "register" // which gives a map
}

func playSourceNames() (names []string) {
	for _, level := range vars.Levels {
		for _, s := range level.Sources {
			names = append(names, s.Name)
		}
	}
	return names
}

// TestPrecedenceOfPlays sets a variable in every two places of the table, and asks a task at the end, while it runs, what it is.
func TestPrecedenceOfPlays(t *testing.T) {
	with := func(t *testing.T, names ...string) any {
		t.Helper()
		w := &playWith{t: t, dir: t.TempDir(), facts: map[string]any{}}
		for _, name := range names {
			playSources[name](w)
		}
		return w.value()
	}
	names := playSourceNames()
	for i, low := range names {
		if playSources[low] == nil {
			t.Fatalf("the test has no playbook for %s", low)
		}
		for _, high := range names[i+1:] {
			t.Run(low+" and "+high, func(t *testing.T) {
				if got := with(t, low, high); got != high {
					t.Errorf("it is that of %s", got)
				}
				if low == "set_fact" && high == "register" { // the later one counts
					if got := with(t, high, low); got != low {
						t.Errorf("in the other order it is that of %s", got)
					}
				}
			})
		}
	}
	if len(names) != len(playSources) || len(names) < 19 {
		t.Errorf("%d sources in the table, %d here", len(names), len(playSources))
	}
}
