package plan_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/bind"
	"moon/plan/planner"
	"moon/plan/playbook"
	"moon/plan/show"
)

// What one planning of a fuzzed playbook may cost. Texts are small and MaxSteps is too, so that whatever takes longer
// grows faster than the text. The time is a watchdog, with room for a slow machine, not a measurement.
const (
	fuzzSteps  = 200
	fuzzTime   = 10 * time.Second
	fuzzMemory = 512 << 20
)

// FuzzPlan plans a playbook with two files beside it that it may include, and checks what must hold of any text: no
// panic, no hang, no more memory than is fair, every diagnostic in a file and a line of it, the same plan twice, and
// steps that can be asked for what they would do.
func FuzzPlan(f *testing.F) {
	const include, vars = "- print: \"{{ greeting | default('hello') }} {{ item | default('') }}\"\n", "greeting: hi\nlist: [1, 2]\n"
	f.Add("- include: inc.yml\n  loop: [a, b]\n- include_vars: vars.yml\n- print: \"{{ greeting }} {{ list | join }}\"\n", include, vars)
	f.Add("vars_files: vars.yml\nsteps:\n- shell: x\n  loop: list\n  register: r\n- print: \"{{ r.results[0].stdout }}\"\n", include, vars)
	f.Add("- preset: inc\n  vars: {a: 1}\n", "parameters: {p: {type: int, default: \"{{ a }}\"}}\nsteps: [print: \"{{ parameters.p }}\"]\n",
		vars)
	f.Add("- id: a\n  shell: x\n- block: [{shell: y, needs: {a: failure}}]\n  rescue: [include: inc.yml]\n  parallel: 2\n", include, vars)
	for _, pattern := range []string{"../testdata/err/*.yml", "../testdata/err/*/playbook.yml", "../testdata/playbooks/*/playbook.yml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal("no seeds", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text), include, vars)
		}
	}
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range archives {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range ar.Files {
			if part.Name == "playbook.yml" {
				f.Add(string(part.Data), include, vars)
			}
		}
	}
	dir := fuzzDir(f)
	f.Fuzz(func(t *testing.T, text, include, vars string) {
		planTwice(t, dir, map[string]string{"p.yml": text, "inc.yml": include, "vars.yml": vars})
	})
}

// FuzzPlanHosts plans plays over the hosts of an inventory in YAML, with a role and variables of a group, and checks the same.
func FuzzPlanHosts(f *testing.F) {
	const (
		play  = "- hosts: web:!web2\n  serial: 1\n  vars: {port: \"{{ base + 1 }}\"}\n  roles: [{role: r, when: port > 1}]\n  tasks:\n    - command: id\n      register: who\n      loop: [a, b]\n    - debug: {msg: \"{{ who.results[0].stdout }} {{ hostvars['web1'].base }}\"}\n      delegate_to: db1\n      run_once: true\n"
		role  = "- name: conf\n  template: {src: t.j2, dest: /etc/conf}\n  notify: again\n- include_tasks: more.yml\n  when: inventory_hostname in groups.web\n- block: [{fail: {msg: no}}]\n  rescue: [{set_fact: {x: 1}}]\n"
		hosts = "all:\n  vars: {base: 1}\n  children:\n    web: {hosts: {\"web[1:3]\": {ansible_host: 10.0.0.1}}}\n    db: {hosts: {db1: {ansible_connection: local}}}\n"
		vars  = "base: 5\nsecret_token: abcdef\n"
	)
	f.Add(play, role, hosts, vars)
	f.Add("- hosts: all\n  gather_facts: true\n  become: true\n  strategy: free\n  vars_files: [group_vars/all.yml]\n  pre_tasks: [{meta: refresh_inventory}, {add_host: {name: n, groups: g}}]\n  tasks: [{group_by: {key: \"k_{{ base }}\"}}]\n- hosts: g\n  tasks: [{ping: }]\n- import_playbook: q.yml\n", role, hosts, vars)
	f.Add("- hosts: localhost\n  connection: local\n  handlers: [{name: again, command: x, listen: l}]\n  tasks: [{include_role: {name: r, apply: {tags: t}}, with_items: [1, 2]}]\n", role, hosts, vars)
	scripts, err := filepath.Glob("../testdata/script/plays*.txtar")
	if err != nil || len(scripts) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range scripts {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range ar.Files {
			if strings.HasSuffix(part.Name, ".yml") && strings.Contains(string(part.Data), "hosts:") {
				f.Add(string(part.Data), role, hosts, vars)
			}
		}
	}
	dir := fuzzDir(f)
	f.Fuzz(func(t *testing.T, text, role, hosts, vars string) {
		if strings.Count(hosts, "[") > 3 || strings.Count(hosts, ":") > 200 { // ranges make many hosts of few bytes
			t.Skip("it may have too many hosts to be fair")
		}
		planTwice(t, dir, map[string]string{"p.yml": text, "roles/r/tasks/main.yml": role, "hosts.yml": hosts, "group_vars/all.yml": vars})
	})
}

func fuzzDir(f *testing.F) string {
	f.Helper()
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	return dir
}

// planTwice plans p.yml among other files, and checks what must hold.
func planTwice(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if leaves(text) {
			t.Skip("it may look at files that are not ours")
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var inventory []string
	if _, given := files["hosts.yml"]; given {
		inventory = []string{filepath.Join(dir, "hosts.yml")}
	}
	watchdog := time.AfterFunc(fuzzTime, func() { panic("planning does not end") })
	defer watchdog.Stop()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p, first := planFuzzed(t, dir, inventory)
	runtime.ReadMemStats(&after)
	if spent := after.TotalAlloc - before.TotalAlloc; spent > fuzzMemory {
		t.Errorf("it took %d MB", spent>>20)
	}
	for _, d := range first {
		inFile(t, files, d.Pos.File, d.Pos.Line, d.Pos.Column, d.Message)
	}
	again, second := planFuzzed(t, dir, inventory)
	if a, b := printed(t, first), printed(t, second); a != b {
		t.Errorf("it says\n%s\nand then\n%s", a, b)
	}
	if (p == nil) != (again == nil) || p != nil && p.Digest != again.Digest {
		t.Error("the second plan is another one")
	}
	if p != nil {
		use(t, p)
	}
}

// leaves reports whether a text may name files outside of the directory: another run would find something else there,
// and a tree could have any size.
func leaves(text string) bool {
	for _, name := range []string{"/dev", "/proc", "/sys", "../", "~"} {
		if strings.Contains(text, name) {
			return true
		}
	}
	return strings.Contains(text, "with_filetree") && (strings.Contains(text, "..") || strings.ContainsAny(text, "/\\"))
}

func planFuzzed(t *testing.T, dir string, inventory []string) (*plan.Plan, diag.List) {
	t.Helper()
	p, ds := planner.New(plan.Options{
		Path: filepath.Join(dir, "p.yml"), Dir: dir, Home: dir, User: "ada", MaxSteps: fuzzSteps,
		Hosts: plan.HostSelection{Inventory: inventory, NoConnect: true},
		Facts: plan.KnownFacts{
			Here:     map[string]any{"os": "linux", "linux": true, "cpu_cores": 4, "env": map[string]any{"LANG": "C"}},
			Volatile: func() map[string]any { return map[string]any{"date_time": map[string]any{"year": "2031"}} },
		},
	})
	return p, ds
}

// inFile checks that a diagnostic is at a place that exists. Only the note that there are more, and that a whole file lacks hosts, have none.
func inFile(t *testing.T, files map[string]string, file string, line, column int, message string) {
	t.Helper()
	text, ours := files[file]
	switch {
	case strings.HasPrefix(message, "there is more"), strings.HasPrefix(message, "there are no hosts in this inventory") && line == 0,
		filepath.IsAbs(file):
		return
	case !ours:
		t.Errorf("%q is in %q, which does not exist", message, file)
		return
	}
	lines := (&playbook.File{Text: []byte(strings.TrimPrefix(text, "\ufeff"))}).Lines()
	if line < 1 || line > len(lines) {
		t.Errorf("%q is at line %d of %d of %s", message, line, len(lines), file)
		return
	}
	if n := len([]rune(lines[line-1])); column < 1 || column > n+1 {
		t.Errorf("%q is at column %d of line %d of %s, which has %d characters", message, column, line, file, n)
	}
}

// use does with a plan what moon does: shows it in every form, and asks steps what they would do, before anything has
// run and after everything has.
func use(t *testing.T, p *plan.Plan) {
	t.Helper()
	for _, write := range []func(io.Writer, *plan.Plan, int) error{show.WriteTree, show.WriteFlat} {
		if err := write(io.Discard, p, 80); err != nil {
			t.Error(err)
		}
	}
	if err := show.WriteJSON(io.Discard, p, func() ([]byte, error) { return []byte("{}"), nil }); err != nil {
		t.Error(err)
	}
	for i := range min(len(p.Steps), 20) {
		for _, results := range []plan.Results{noResults{}, ran{p}} {
			b := bind.New(p, i, results)
			_, _, _ = b.Holds() // may well fail; it must not panic
			_, _ = b.Call()
			_, _ = b.Judge(plan.Result{Stdout: plan.Output{Text: "out\n"}}.Registered())
		}
	}
}

func printed(t *testing.T, ds diag.List) string {
	t.Helper()
	var b strings.Builder
	if err := ds.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (ran) Skipped(int) (bool, bool) { return false, true }
func (ran) Omitted(int) bool         { return false }

func (ran) Absent(int) (plan.Absence, bool) { return plan.Absence{}, false }
