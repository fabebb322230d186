package lint_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moon/plan"
	"moon/plan/lint"
)

// run gives the rules that find something in a task of a play, or in a step.
func run(t *testing.T, task string, steps bool) (ids []string) {
	t.Helper()
	dir := t.TempDir()
	text := "- hosts: localhost\n  tasks:\n    - " + strings.ReplaceAll(task, "\n", "\n      ") + "\n"
	if steps {
		text = "steps:\n  - " + strings.ReplaceAll(task, "\n", "\n    ") + "\n"
	}
	path := filepath.Join(dir, "site.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	rules := slices.DeleteFunc(lint.Rules(), func(r lint.Rule) bool { return r.Optional && !strings.Contains(task, "# with "+r.ID) })
	found := lint.Run(plan.Options{Path: path, Dir: dir, Home: dir}, rules)
	if len(found.Problems) > 0 || found.Errors > 0 {
		t.Fatalf("%s: %v, %d errors", text, found.Problems, found.Errors)
	}
	for _, f := range found.Findings {
		ids = append(ids, f.Rule)
	}
	slices.Sort(ids)
	return ids
}

// TestRules has for each rule what it finds, and what it must not.
func TestRules(t *testing.T) {
	for _, test := range []struct {
		task  string
		steps bool
		want  string
	}{
		{"name: a\ncommand: mkdir /x\nargs: {creates: /x}", false, "command-instead-of-module"},
		{"name: a\ncommand: /usr/bin/git clone x y\nchanged_when: false", false, "command-instead-of-module"},
		{"name: a\ncommand: git log\nchanged_when: false", false, ""},
		{"name: a\ncommand: systemctl is-active x\nchanged_when: false", false, ""},
		{"shell: mkdir x && cd x", true, ""},
		{"shell: uptime", true, ""},
		{"command: a > b", true, "command-shell-characters"},
		{"command: echo 'a | b'", true, ""},
		{"command: \"echo {{ x | d('') }}\"", true, ""},
		{"name: a\nshell: uptime\nchanged_when: false", false, "shell-without-need"},
		{"name: a\nshell: echo $HOME\nchanged_when: false", false, ""},
		{"name: a\nshell: cd /\nchanged_when: false", false, ""},
		{"name: a\ncommand: x creates=/y", false, ""},
		{"name: a\ncommand: x", false, "no-changed-when"},
		{"command: x", true, ""},
		{"debug: {msg: a}", false, "name-missing"},
		{"meta: flush_handlers", false, ""},
		{"debug: {msg: a}\nname: a", false, "key-order"},
		{"id: a\nname: a\nprint: a", true, ""},
		{"name: " + strings.Repeat("a", 101) + "\ndebug: {msg: a}", false, "name-length"},
		{"name: a\napt: name=x state=latest", false, "no-free-form package-latest"},
		{"name: a\napt: {name: x, state: present}", false, ""},
		{"name: a\ncopy: {content: a, dest: /b}", false, "risky-file-permissions"},
		{"name: a\ncopy: {content: a, dest: /b, mode: '0644'}", false, ""},
		{"name: a\nfile: {path: /b, state: absent}", false, ""},
		{"name: a\nlineinfile: {path: /b, line: a, create: true}", false, "risky-file-permissions"},
		{"name: a\nlineinfile: {path: /b, line: a}", false, ""},
		{"name: a\ndebug: {msg: a}\nwhen: x == True", false, "literal-compare"},
		{"name: a\ndebug: {msg: a}\nwhen: x == 'true'", false, ""},
		{"name: a\ndebug: {msg: a}\nwhen: x is changed", false, "no-handler"},
		{"name: a\ndebug: {msg: a}\nwhen: [x is changed, y]", false, ""},
		{"name: a\ndebug: {msg: a}\nwhen: '{{ x }}'", false, "no-jinja-when"},
		{"name: a\ndebug: {msg: '{{x}}'}", false, "jinja-spacing"},
		{"name: a\ndebug: {msg: '{{ x }}{{- y -}}'}", false, ""},
		{"name: a\ngit: {repo: /x, dest: /y}", false, "git-latest"},
		{"name: a\ngit: {repo: /x, dest: /y, version: v1}", false, ""},
		{"name: a\nfail: {msg: x}\nignore_errors: true", false, "ignore-errors"},
		{"name: a\nfail: {msg: x}\nignore_errors: true\nregister: r", false, ""},
		{"name: a\nlocal_action: ping", false, "deprecated"},
		{"name: a # noqa: git-latest\ngit: {repo: /x, dest: /y}", false, ""},
		{"name: a # noqa: latest[git]\ngit: {repo: /x, dest: /y}", false, ""},
		{"name: a # with fqcn\ndebug: {msg: a}", false, "fqcn"},
		{"name: a # with fqcn\nansible.builtin.debug: {msg: a}", false, ""},
		{"name: a # with fqcn noqa\ncommunity.general.ini_file: {path: /a, section: b, mode: '0644'}", false, ""},
		{"print: a # with fqcn", true, ""},
		{"name: a # noqa: fqcn[action-core] with fqcn\ndebug: {msg: a}", false, ""},
		{"name: a\nfile: path=/a state=absent", false, "no-free-form"},
		{"name: a\nshell: uptime | cat chdir=/tmp\nchanged_when: false", false, ""},
		{"name: a\nservice: {name: x, enabled: yes}", false, "truthy"},
		{"service: {name: x, enabled: yes}\nbecome: On", true, "truthy truthy"},
		{"name: a\ndebug: {msg: 'yes'}", false, ""},
		{"name: a\nblock:\n  - name: b\n    service: {name: x, enabled: no}", false, "truthy"},
		{"name: a\nfile: {path: /a, state: touch, mode: 0644}", false, "risky-octal"},
		{"name: a\nfile: {path: /a, state: touch, mode: 'u+x'}", false, ""},
		{"name: a\ncommand: x\nchanged_when: false\nregister: Result", false, "var-naming"},
		{"name: a\nset_fact: {fooBar: 1, cacheable: true}", false, "var-naming"},
		{"name: a\ndebug: {msg: a}\nvars: {FOO: 1, foo_1: 2}", false, "var-naming"},
		{"name: a\ndebug: {msg: a}\nbecome_user: x", false, "partial-become"},
		{"name: a\ndebug: {msg: a}\nbecome: true\nbecome_user: x", false, ""},
		{"name: a\nuser: {name: '{{ item.name }}', password: '{{ item.password }}'}\nloop: []", false, "no-log-password"},
		{"name: a\nuser: {name: '{{ item.name }}', password: '{{ item.password }}'}\nloop: []\nno_log: true", false, ""},
		{"name: a\ncommand: LANG=C ls\nchanged_when: false", false, "inline-env-var"},
		{"name: a\ncommand: chdir=/tmp ls\nchanged_when: false", false, ""},
		{"name: a # noqa: other\ngit: {repo: /x, dest: /y}", false, "git-latest"},
	} {
		if got := strings.Join(run(t, test.task, test.steps), " "); got != test.want {
			t.Errorf("%s\nfinds %q, want %q", test.task, got, test.want)
		}
	}
}

// TestFix makes edits that are right, and leaves those whose text is written in another way in the file.
func TestFix(t *testing.T) {
	finding := func(line, column int, was, now string) lint.Finding {
		return lint.Finding{Edit: &lint.Edit{Line: line, Column: column, Old: was, New: now}}
	}
	got, n := lint.Fix("ä: {{x}} {{y}}\nb: {{z}}\n", []lint.Finding{
		finding(1, 4, "{{x}}", "{{ x }}"), finding(1, 10, "{{y}}", "{{ y }}"), finding(2, 5, "{{z}}", "?"), finding(9, 1, "a", "b"), {},
	})
	if want := "ä: {{ x }} {{ y }}\nb: {{z}}\n"; got != want || n != 2 {
		t.Errorf("%q, %d", got, n)
	}
}

// TestFixes fixes playbooks: what is left has nothing to fix, and the texts are those that were wanted.
func TestFixes(t *testing.T) {
	const was = `- hosts: localhost
  tasks:
    - apt: name=x state=present update_cache=yes
      become: yes
      name: the packages  # of x
      register: r
    - file:
        path: /a
        mode: 0644
        state: touch
      name: "a file"

    - name: several lines
      debug:
        msg: "{{x}}"
    - debug: {msg: a}
      name: >
        folded
`
	const want = `- hosts: localhost
  tasks:
    - name: the packages  # of x
      ansible.builtin.apt: {name: x, state: present, update_cache: "yes"}
      become: true
      register: r
    - name: "a file"
      ansible.builtin.file:
        path: /a
        mode: "0644"
        state: touch

    - name: several lines
      ansible.builtin.debug:
        msg: "{{ x }}"
    - ansible.builtin.debug: {msg: a}
      name: >
        folded
`
	dir := t.TempDir()
	path := filepath.Join(dir, "site.yml")
	text := was
	for range 2 {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		found := lint.Run(plan.Options{Path: path, Dir: dir, Home: dir}, lint.Rules())
		text, _ = lint.Fix(text, found.Findings)
	}
	if text != want {
		t.Errorf("%s", text)
	}
}
