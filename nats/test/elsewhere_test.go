package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"moon/nats/pack"
	"moon/nats/queue"
)

// project is a playbook as a team keeps it: plays over an inventory, with settings, roles and a collection next to its directory. Each of its
// steps writes a line to the log.
var project = map[string]string{
	"ansible.cfg":                   "[defaults]\ninventory = inventory\nroles_path = roles\ncollections_path = collections\n",
	"inventory/hosts":               "[web]\nh1 ansible_connection=local\nh2 ansible_connection=local\n",
	"inventory/group_vars/web.yml":  "who: group\n",
	"inventory/host_vars/h1.yml":    "of: one\n",
	"inventory/host_vars/h2.yml":    "of: two\n",
	"roles/app/tasks/main.yml":      "- template: {src: r.j2, dest: 'DIR/role.{{ inventory_hostname }}'}\n- shell: echo role-$(cat DIR/role.{{ inventory_hostname }}) >> LOG\n",
	"roles/app/templates/r.j2":      "{{ who }}-{{ of }}-{{ role_path | basename }}",
	"roles/app/files/tree/a/run.sh": "#!/bin/sh\necho tree",
	"roles/app/files/tree/locked/b": "b",
	"playbooks/vars/secret.yml":     vaulted,
	"playbooks/group_vars/all.yml":  "all: everyone\n",
	"playbooks/templates/t.j2":      "{{ all }} {{ hidden }}",
	"playbooks/files/f.txt":         "file",
	"playbooks/not/of/the.plan":     "",
	"playbooks/tasks/more.yml":      "- shell: echo more-$(cat {{ playbook_dir }}/files/f.txt) >> LOG\n",
	"collections/ansible_collections/acme/tools/roles/r/tasks/main.yml": "- shell: echo collection-{{ inventory_hostname }} >> LOG\n",
	"collections/ansible_collections/acme/tools/galaxy.yml":             "namespace: acme\nname: tools\nversion: 1.0.0\n",
	"playbooks/site.yml": `- hosts: web
  gather_facts: false
  vars_files: [vars/secret.yml]
  roles: [app, acme.tools.r]
  tasks:
  - copy: {src: f.txt, dest: 'DIR/copied.{{ inventory_hostname }}'}
  - copy: {src: ../roles/app/files/tree, dest: 'DIR/tree.{{ inventory_hostname }}', mode: preserve}
  - template: {src: t.j2, dest: 'DIR/rendered.{{ inventory_hostname }}'}
  - import_tasks: tasks/more.yml
  - shell: echo "$(ls {{ inventory_dir }})" >> LOG
    run_once: true
  - shell: echo {{ lookup('file', 'f.txt') }}-{{ inventory_hostname }} >> LOG; sleep 2
`,
}

// vaulted is `hidden: from all`, encrypted with the password pass.
const vaulted = `$ANSIBLE_VAULT;1.1;AES256
34346163643034313232353330393463316335376439623064613462653363346135663965303565
3238633437313337323962313230303331323836333466340a336237346661616263366262356135
33373332323062303530613136326339303534353831383633393336383532323734353736323533
6566653665646264340a323662663636336236623039333963396662336332313661613838653037
33623838343832376337373035303064306164373236643432653938616139303837
`

// checkOut writes the project to a directory of a site.
func (s *site) checkOut(name string) (dir string) {
	s.t.Helper()
	dir = filepath.Join(s.dir, name)
	for name, text := range project {
		text = strings.NewReplacer("LOG", filepath.Join(s.dir, "log"), "DIR", s.dir).Replace(text)
		s.write(filepath.Join(dir, name), text)
	}
	tree := filepath.Join(dir, "roles/app/files/tree")
	for _, err := range []error{
		os.Chmod(filepath.Join(tree, "a/run.sh"), 0o750), os.Mkdir(filepath.Join(tree, "empty"), 0o700),
		os.Symlink("a/run.sh", filepath.Join(tree, "link")), os.Chmod(filepath.Join(tree, "locked"), 0o711),
	} {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	s.write(filepath.Join(s.dir, "password"), "pass")
	s.env = append(s.env, "ANSIBLE_VAULT_PASSWORD_FILE="+filepath.Join(s.dir, "password"))
	return dir
}

func (s *site) write(path, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// submitIn submits from a directory.
func (s *site) submitIn(dir string, args ...string) string {
	s.t.Helper()
	c := s.cmd("s", append([]string{"submit"}, args...)...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// wantProject is what the steps of the project write, each once.
var wantProject = []string{
	"collection-h1", "collection-h2", "file-h1", "file-h2", "group_vars", "host_vars", "hosts", "more-file", "more-file", "role-group-one-app", "role-group-two-app",
}

// checkProject compares the log, and what was made, with what the project has.
func (s *site) checkProject() {
	s.t.Helper()
	log := s.log()
	slices.Sort(log)
	if !slices.Equal(log, wantProject) {
		s.t.Errorf("the log is %v\nwant %v", log, wantProject)
	}
	for _, h := range []string{"h1", "h2"} {
		for name, want := range map[string]string{"copied.": "file", "rendered.": "everyone from all"} {
			if text, _ := os.ReadFile(filepath.Join(s.dir, name+h)); string(text) != want {
				s.t.Errorf("%s%s is %q, want %q", name, h, text, want)
			}
		}
		tree := filepath.Join(s.dir, "tree."+h, "tree")
		linked, _ := os.ReadFile(filepath.Join(tree, "link")) // which is followed
		run, err := os.Stat(filepath.Join(tree, "a/run.sh"))
		if err != nil || run.Mode().Perm() != 0o750 || string(linked) != "#!/bin/sh\necho tree" {
			s.t.Errorf("of the tree: %v, %v, the link is %q", err, run, linked)
		}
		if empty, err := os.Stat(filepath.Join(tree, "empty")); err != nil || !empty.IsDir() {
			s.t.Errorf("of the tree: %v", err)
		}
	}
}

// TestElsewhere submits a project of plays on one machine and has another run it, which has nothing of it: neither at its path nor elsewhere.
func TestElsewhere(t *testing.T) {
	s := newSite(t)
	dir := s.checkOut("desk/project")
	id := s.submitIn(dir, "playbooks/site.yml")
	if err := os.RemoveAll(filepath.Join(s.dir, "desk")); err != nil {
		t.Fatal(err)
	}
	s.worker("a")
	if j := s.ended()[id]; j.State != queue.Done {
		t.Errorf("%+v", j)
	}
	s.checkProject()
}

// TestElsewhereResumed has the worker and its run killed in a step: another machine makes the directory of the job once more, and continues.
func TestElsewhereResumed(t *testing.T) {
	s := newSite(t)
	dir := s.checkOut("desk/project")
	id := s.submitIn(dir, "playbooks/site.yml", "--forks", "1")
	if err := os.Rename(dir, dir+".gone"); err != nil {
		t.Fatal(err)
	}
	one, _ := s.worker("a")
	s.until("the last step", func() bool { return slices.Contains(s.log(), "file-h1") })
	if err := syscall.Kill(-one.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	made, err := filepath.Glob(filepath.Join(os.TempDir(), "moon-"+id+"-*"))
	if err != nil || len(made) != 1 {
		t.Fatalf("%v, %v", made, err)
	}
	if err := os.RemoveAll(made[0]); err != nil { // the other machine does not have it
		t.Fatal(err)
	}
	// It has the playbook where it was submitted, too, which is not where the run is.
	if err := os.Rename(dir+".gone", dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(made[0]) })
	s.worker("b", "--lost", "ok")
	if j := s.ended()[id]; j.State != queue.Done {
		t.Errorf("%+v", j)
	}
	s.checkProject()
}

// TestElsewhereChanged has a pack that was changed on its way, and a file that cannot go along: nothing of either runs.
func TestElsewhereChanged(t *testing.T) {
	s := newSite(t)
	dir := s.checkOut("desk/project")
	plan := filepath.Join(s.dir, "plan")
	c := s.cmd("s", "plan", "playbooks/site.yml", "-o", plan)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	doc, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(dir, plan string){
		"a file":     func(dir, _ string) { s.write(filepath.Join(dir, "roles/app/files/tree/locked/b"), "other") },
		"a new file": func(dir, _ string) { s.write(filepath.Join(dir, "roles/app/files/tree/empty/c"), "new") },
		"a command": func(_, plan string) {
			s.write(plan, strings.Replace(string(readFile(t, plan)), "echo more-", "echo evil-", 1))
		},
		"a text of a role": func(_, plan string) {
			s.write(plan, strings.Replace(string(readFile(t, plan)), "echo role-", "echo evil-", -1))
		},
		"a place": func(_, plan string) { // of a word, which would pass for another
			s.write(plan, strings.Replace(string(readFile(t, plan)), `"moved": [`, `"moved": [{"from":"echo more","to":"echo evil"},`, 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			packed, err := pack.Make(doc)
			if err != nil {
				t.Fatal(err)
			}
			u, err := pack.Unpack(packed, t.TempDir(), true)
			if err != nil {
				t.Fatal(err)
			}
			if u.Root == u.Original {
				t.Fatalf("%+v", u)
			}
			change(filepath.Dir(u.Root), u.Plan)
			c := s.cmd("s", "run", "--plan", u.Plan, "--allow-stale")
			c.Dir = u.Root
			out, err := c.CombinedOutput()
			if code := c.ProcessState.ExitCode(); code != 2 && code != 4 || len(s.log()) > 0 {
				t.Errorf("exit %d, %v; the log is %v\n%s", code, err, s.log(), out)
			}
		})
	}
	s.write(filepath.Join(dir, "playbooks/more.secret.yml"), "x: 1\n")
	s.write(filepath.Join(dir, "playbooks/secret.yml"), "- hosts: web\n  vars_files: [more.secret.yml]\n  tasks:\n  - shell: echo >> "+s.dir+"/log\n")
	s.submitIn(dir, "playbooks/secret.yml")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s.worker("a")
	for _, j := range s.ended() {
		if j.State != queue.Failed || !strings.Contains(j.Why, "more.secret.yml holds secrets") || len(s.log()) > 0 {
			t.Errorf("%+v; the log is %v", j, s.log())
		}
	}
}

// TestElsewherePlugins has a job with a module, a filter, roles and an inventory that are in directories of their own, far from the playbook.
func TestElsewherePlugins(t *testing.T) {
	if out, err := exec.Command("python3", "-c", "import ansible.module_utils.basic").CombinedOutput(); err != nil {
		t.Skipf("the module needs ansible-core: %s", out)
	}
	s := newSite(t)
	dir := filepath.Join(s.dir, "desk/play")
	log := filepath.Join(s.dir, "log") // by whose directory the playbook has an absolute path to what its roles are in, too
	for name, text := range map[string]string{
		"desk/play/ansible.cfg":         "[defaults]\nroles_path = ../../far/roles\nlibrary = library\n",
		"far/roles/r/tasks/main.yml":    "- shell: echo {{ lookup('file', 'x') }}-{{ who | shout }} >> " + log + "\n- copy: {src: x, dest: " + s.dir + "/copied}\n",
		"far/roles/r/files/x":           "role",
		"inv/hosts":                     "h1 ansible_connection=local\n",
		"inv/host_vars/h1.yml":          "who: me\n",
		"desk/play/filter_plugins/f.py": "class FilterModule(object):\n    def filters(self):\n        return {'shout': lambda s: s.upper()}\n",
		"desk/play/library/says.py": `#!/usr/bin/python
from ansible.module_utils.basic import AnsibleModule
m = AnsibleModule(argument_spec=dict(to=dict(type='str'), word=dict(type='str')))
open(m.params['to'], 'a').write(m.params['word'] + '\n')
m.exit_json(changed=True)
`,
		"desk/play/site.yml": "- hosts: h1\n  gather_facts: false\n  roles: [r]\n  tasks:\n  - says: {to: " + log + ", word: module}\n",
	} {
		s.write(filepath.Join(s.dir, name), text)
	}
	// What only its owner may read counts as a secret when a template has it.
	if err := os.Chmod(filepath.Join(s.dir, "far/roles/r/files/x"), 0o644); err != nil {
		t.Fatal(err)
	}
	inventory := filepath.Join(s.dir, "inv/hosts")
	id := s.submitIn(dir, "--trust-plugins", "-i", inventory, "site.yml")
	barred := s.submitIn(dir, "-i", inventory, "site.yml", "--labels", "other")
	for _, name := range []string{"desk", "far", "inv"} {
		if err := os.RemoveAll(filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.worker("a", "--labels", "other")
	all := s.ended()
	if j := all[id]; j.State != queue.Done {
		t.Errorf("%+v", j)
	}
	if j := all[barred]; j.State != queue.Failed || j.Run != "" || !strings.Contains(j.Why, "trust") {
		t.Errorf("a job with plugins that were not trusted: %+v", j)
	}
	if copied, _ := os.ReadFile(filepath.Join(s.dir, "copied")); !slices.Equal(s.log(), []string{"role-ME", "module"}) || string(copied) != "role" {
		t.Errorf("the log is %v; copied %q", s.log(), copied)
	}
}
