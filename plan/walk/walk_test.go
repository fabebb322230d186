package walk

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moon/plan"
	"moon/plan/planner/library"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/secret"
)

// recorder writes down what a walk comes across.
type recorder struct {
	Unmoved
	met []string
}

func (r *recorder) note(format string, args ...any) {
	r.met = append(r.met, fmt.Sprintf(format, args...))
}

func (r *recorder) VisitDirectory(dir string) { r.note("directory %s", filepath.Base(dir)) }

func (r *recorder) VisitPlay(pl *playbook.Play, _ Place) {
	r.note("play %s", pl.Hosts.Text()+pl.Import.Text())
}

func (r *recorder) VisitTask(t *playbook.Task, at Place) {
	r.note("%s: %s %s", at.File.Name, t.ActionKey, strings.ReplaceAll(t.Args.Text(), "\n", " "))
}

func (r *recorder) VisitCondition(v playbook.Value, _ Place) { r.note("condition %s", v.Text()) }

func (r *recorder) VisitTemplate(v playbook.Value, _ Place) { r.note("template %s", v.Text()) }

func (r *recorder) VisitDocument(f *playbook.File, _ Place) { r.note("document %s", f.Name) }

func (r *recorder) VisitMissing(m Missing, _ Place) {
	r.note("missing %s %s", m.Key, filepath.Base(m.Path))
}

func (r *recorder) VisitUnnamed(v playbook.Value, _ string, _ Place) { r.note("unnamed %s", v.Text()) }

// walked goes through the playbook site.yml among some files.
func walked(t *testing.T, whole bool, files map[string]string) (met []string, found []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := plan.Options{Path: "site.yml", Dir: dir}
	p := &plan.Plan{Root: dir}
	list, disk := problems.New(p), source.NewDisk(nil)
	to := &recorder{}
	New(Request{
		Library: library.New(library.Request{
			Plan: p, Problems: list, Disk: disk, Secrets: secret.NewSet(), Options: &o, WasRead: func([]byte) {}, Sealed: true,
		}),
		Problems: list, Disk: disk, Options: &o, Whole: whole, Visitors: []Visitor{to},
	}).Playbook(filepath.Join(dir, "site.yml"), Place{Lookout: source.Lookout{Dir: dir, Play: dir, Root: dir}})
	for _, d := range list.Found {
		found = append(found, d.Message)
	}
	return to.met, found
}

// TestWalk compares what is met, in its order, with what is written.
func TestWalk(t *testing.T) {
	files := map[string]string{
		"site.yml": `
- hosts: web
  vars: {a: "{{ b }}"}
  vars_files: [[none.yml, vars.yml]]
  roles: [web]
  tasks:
    - block:
        - shell: one
          when: a is defined
      rescue:
        - include_tasks: "{{ os }}.yml"
      always:
        - include_tasks: nowhere.yml
- import_playbook: more.yml
`,
		"more.yml":                      "- hosts: db\n  tasks: [import_tasks: shared.yml, import_tasks: shared.yml]\n",
		"shared.yml":                    "- shell: shared\n- import_tasks: shared.yml\n",
		"vars.yml":                      "c: '{{ d }}'\n",
		"roles/web/tasks/main.yml":      "- template: {src: a.conf, dest: /a}\n- copy: {src: b.conf, dest: /b}\n",
		"roles/web/tasks/other.yml":     "- shell: other\n",
		"roles/web/templates/a.conf":    "{{ e }}\n",
		"roles/web/handlers/main.yml":   "- shell: handler\n",
		"roles/web/defaults/main/x.yml": "f: '{{ g }}'\n",
		"roles/web/meta/main.yml":       "dependencies: [base]\n",
		"roles/base/tasks/main.json":    `[{"include_role": {"name": "web"}}]`,
	}
	play := []string{
		"play web", "template {{ b }}", "template {{ d }}", "site.yml:  web", "directory web",
		"roles/web/tasks/main.yml: template ", "document roles/web/templates/a.conf",
		"roles/web/tasks/main.yml: copy ", "missing copy b.conf", "roles/web/tasks/other.yml: shell other",
		"roles/web/handlers/main.yml: shell handler", "template {{ g }}", "roles/web/meta/main.yml:  base", "directory base",
		"roles/base/tasks/main.json: include_role web",
		// The role is inside itself, and its files are gone into once more, as they may lead elsewhere from there. Its tasks are not new.
		"directory web", "missing copy b.conf", "directory base",
	}
	rest := []string{
		"site.yml: block ", "site.yml: shell one", "condition a is defined", "site.yml: include_tasks {{ os }}.yml",
		"template {{ os }}.yml", "unnamed {{ os }}.yml", "site.yml: include_tasks nowhere.yml", "missing include_tasks nowhere.yml",
		"play more.yml", "play db", "more.yml: import_tasks shared.yml", "shared.yml: shell shared", "shared.yml: import_tasks shared.yml",
		"more.yml: import_tasks shared.yml",
	}
	met, found := walked(t, true, files)
	compare(t, met[:len(met)-1], slices.Concat(play, rest)) // the last is the directory of the playbook
	if len(found) > 0 {
		t.Error(found)
	}
	// For what only one play needs, tasks are followed, and of a role those that are asked for.
	met, _ = walked(t, false, files)
	compare(t, met[:len(met)-1], slices.Concat([]string{
		"play web", "template {{ b }}", "site.yml:  web", "roles/web/meta/main.yml:  base", "roles/base/tasks/main.json: include_role web",
		"roles/web/tasks/main.yml: template ", "roles/web/tasks/main.yml: copy ", "roles/web/handlers/main.yml: shell handler",
	}, rest))
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// TestWalkBudget lets roles depend on each other in so many ways that going through all of them would not end.
func TestWalkBudget(t *testing.T) {
	files := map[string]string{"site.yml": "- hosts: all\n  roles: [r0a, r0b]\n"}
	const deep = 40
	for i := range deep {
		for _, side := range []string{"a", "b"} {
			needs := fmt.Sprintf("dependencies: [r%da, r%db]\n", i+1, i+1)
			if i == deep-1 {
				needs = ""
			}
			files[fmt.Sprintf("roles/r%d%s/meta/main.yml", i, side)] = needs
			files[fmt.Sprintf("roles/r%d%s/tasks/main.yml", i, side)] = "- shell: x\n"
		}
	}
	for _, whole := range []bool{true, false} {
		met, found := walked(t, whole, files)
		tasks := 0
		for _, line := range met {
			if strings.Contains(line, ": shell x") {
				tasks++
			}
		}
		if tasks != 2*deep {
			t.Errorf("%d of %d tasks were met", tasks, 2*deep)
		}
		if len(found) != 1 || !strings.HasPrefix(found[0], "roles lead to the same files in too many ways") {
			t.Error(found)
		}
	}
}
