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
	found := lint.Run(plan.Options{Path: path, Dir: dir, Home: dir}, lint.Rules())
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
		{"name: a\napt: name=x state=latest", false, "package-latest"},
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
