package plan_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"moon/plan"
	"moon/plan/bind"
	"moon/plan/planner"
	"moon/plan/vars"
)

// TestMagic asks for every magic variable where it can be asked for: in a role of a role, in the second batch of a play.
func TestMagic(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	expressions := map[string][2]string{ // what is asked, and the answer as JSON
		"inventory_hostname":           {"inventory_hostname", `"h2.example.org"`},
		"inventory_hostname_short":     {"inventory_hostname_short", `"h2"`},
		"group_names":                  {"group_names", `["front","web"]`},
		"groups":                       {"groups.web", `["h1","h2.example.org"]`},
		"hostvars":                     {"hostvars.h1.own", `"of h1"`},
		"vars":                         {"vars['own']", `"of h2"`},
		"ansible_play_name":            {"ansible_play_name", `"all of web"`},
		"ansible_play_hosts_all":       {"ansible_play_hosts_all", `["h1","h2.example.org"]`},
		"ansible_play_hosts":           {"ansible_play_hosts", `["h1","h2.example.org"]`},
		"ansible_play_batch":           {"ansible_play_batch", `["h2.example.org"]`},
		"play_hosts":                   {"play_hosts", `["h2.example.org"]`},
		"ansible_play_role_names":      {"ansible_play_role_names", `["outer"]`},
		"ansible_dependent_role_names": {"ansible_dependent_role_names", `["inner"]`},
		"ansible_role_names":           {"ansible_role_names", `["inner","outer"]`},
		"role_names":                   {"role_names", `["outer"]`},
		"role_name":                    {"role_name", `"inner"`},
		"ansible_role_name":            {"ansible_role_name", `"inner"`},
		"ansible_collection_name":      {"ansible_collection_name", `null`},
		"role_path":                    {"role_path", fmt.Sprintf("%q", filepath.Join(dir, "play/roles/inner"))},
		"ansible_parent_role_names":    {"ansible_parent_role_names | default('none')", `"none"`}, // a dependency is not included by a task
		"ansible_parent_role_paths":    {"ansible_parent_role_paths | default('none')", `"none"`},
		"ansible_inventory_sources":    {"ansible_inventory_sources", fmt.Sprintf("[%q]", filepath.Join(dir, "hosts"))},
		"ansible_config_file":          {"ansible_config_file", `"/etc/ansible/ansible.cfg"`},
		"environment":                  {"environment", `[{"A":"of h2"}]`},
		"ansible_delegated_vars":       {"ansible_delegated_vars | default('none')", `"none"`},
		"playbook_dir":                 {"playbook_dir", fmt.Sprintf("%q", filepath.Join(dir, "play"))},
		"inventory_file":               {"inventory_file", fmt.Sprintf("%q", filepath.Join(dir, "hosts"))},
		"inventory_dir":                {"inventory_dir", fmt.Sprintf("%q", dir)},
		"ansible_check_mode":           {"ansible_check_mode", `true`},
		"ansible_diff_mode":            {"ansible_diff_mode", `false`},
		"ansible_forks":                {"ansible_forks", `7`},
		"ansible_verbosity":            {"ansible_verbosity", `0`},
		"ansible_limit":                {"ansible_limit", `"web"`},
		"ansible_run_tags":             {"ansible_run_tags", `["all"]`},
		"ansible_skip_tags":            {"ansible_skip_tags", `["slow"]`},
		"ansible_version":              {"ansible_version.major", `2`},
		"ansible_playbook_python":      {"ansible_playbook_python", `"/usr/bin/python3"`},
		"omit":                         {"omit is defined", `true`},
	}
	tasks := ""
	for _, m := range vars.Magic {
		tasks += "- debug: {msg: \"{{ " + expressions[m.Name][0] + " }}\"}\n"
	}
	for name, text := range map[string]string{
		"hosts":                           "[web]\nh1 own='of h1'\nh2.example.org own='of h2'\n[front:children]\nweb\n",
		"site.yml":                        "- import_playbook: play/play.yml\n",
		"play/play.yml":                   "- name: all of web\n  hosts: web\n  connection: local\n  gather_facts: no\n  environment: {A: '{{ own }}'}\n  serial: 1\n  roles: [outer]\n",
		"play/roles/outer/meta/main.yml":  "dependencies: [inner]\n",
		"play/roles/inner/tasks/main.yml": tasks,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, ds := planner.New(plan.Options{
		Path: filepath.Join(dir, "site.yml"), Dir: dir, Home: dir, User: "ada",
		Hosts: plan.HostSelection{Inventory: []string{"hosts"}, Limit: "web"}, Select: plan.Selection{SkipTags: []string{"slow"}},
		Mode: plan.Mode{Check: true, Forks: 7, ConfigFile: "/etc/ansible/ansible.cfg"}, Facts: plan.KnownFacts{Here: map[string]any{}},
	})
	if p == nil {
		t.Fatal(ds)
	}
	if len(p.Steps) != 2*len(vars.Magic) || len(expressions) != len(vars.Magic) {
		t.Fatalf("%d steps, %d variables, and %d here", len(p.Steps), len(vars.Magic), len(expressions))
	}
	for i, m := range vars.Magic {
		got, err := json.Marshal(p.Steps[len(vars.Magic)+i].Args["msg"])
		if err != nil {
			t.Fatal(err)
		}
		if want := expressions[m.Name][1]; string(got) != want {
			t.Errorf("%s is %s, not %s", m.Name, got, want)
		}
	}
	for _, name := range plan.MagicNames() {
		if _, ok := expressions[name]; !ok {
			t.Errorf("%s is not on the page", name)
		}
	}
}

// TestHostsNobodyPlays: steps that run at once may ask for a host that no play is for, and a run must survive it (-race).
func TestHostsNobodyPlays(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hosts":    "[web]\nh1\nh2\n[idle]\nx[001:200] own=mine\n",
		"site.yml": "- hosts: web\n  gather_facts: false\n  tasks:\n    - command: x\n      register: r\n    - debug: {msg: \"{{ groups.idle | map('extract', hostvars, r.stdout) | list | length }}\"}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, ds := planner.New(plan.Options{
		Path: filepath.Join(dir, "site.yml"), Dir: dir,
		Hosts: plan.HostSelection{Inventory: []string{filepath.Join(dir, "hosts")}},
	})
	if p == nil {
		t.Fatal(ds)
	}
	var wg sync.WaitGroup
	for _, step := range []int{2, 3} {
		wg.Go(func() {
			call, err := bind.New(p, step, registersOwn{}).Call()
			if err != nil || call.Raw["msg"] != "200" && call.Raw["msg"] != 200 {
				t.Errorf("%v %v", call, err)
			}
		})
	}
	wg.Wait()
}

type registersOwn struct{ noResults }

func (registersOwn) Registered(int) (map[string]any, bool) {
	return map[string]any{"stdout": "own"}, true
}
