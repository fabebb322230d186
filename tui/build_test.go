package tui

import (
	"fmt"
	"time"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/tui/tuitest"
)

func unknown(steps ...int) any { return value.Unknown{Steps: steps} }

func args(pairs ...any) func(*plan.Step) {
	return func(s *plan.Step) {
		s.Args = map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			s.Args[pairs[i].(string)] = pairs[i+1]
		}
	}
}

func item(label string, index, n int) func(*plan.Step) {
	return func(s *plan.Step) {
		s.Loop = &plan.LoopContext{Type: "items", Item: label, Index: index, First: index == 0, Last: index == n-1, Expression: "packages", Label: label}
		s.Path += "#" + label
	}
}

// devbox is a playbook such as people have for a new machine: files in files, a loop, a block with a rescue, a step
// that asks, values known only later, things left out.
func devbox() *plan.Plan {
	b := tuitest.NewBuilder("devbox.yml")
	b.Plan.Inputs = []plan.Input{{Path: "devbox.yml"}, {Path: "packages.yml"}, {Path: "languages/go.yml"}, {Path: "vars/main.yml"}}
	b.Plan.Vars = []plan.Var{
		{Name: "go_version", Value: "1.26.1", From: "vars", Origin: diag.Origin{File: "vars/main.yml", Line: 4}},
		{Name: "packages", Value: []any{"git", "ripgrep", "fd-find", "tmux"}, From: "vars", Origin: diag.Origin{File: "vars/main.yml", Line: 7}},
		{Name: "dotfiles", Value: "https://example.org/ann/dotfiles.git", From: "--extra-vars"},
	}
	b.Step("say hello", "print", 5, args("msg", "Setting up a devbox"))
	b.Scope(plan.ScopeInclude, "packages.yml", 7, nil, func() {
		b.Step("update the package index", "shell", 2, args("cmd", "apt-get update"), func(s *plan.Step) {
			s.Retry = plan.Retry{Max: 2, Delay: 5 * time.Second}
			s.Timeout = 2 * time.Minute
		})
		b.Scope(plan.ScopeLoop, "install packages", 5, func(s *plan.Scope) { s.Items, s.Loop = 4, "packages" }, func() {
			for i, p := range []string{"git", "ripgrep", "fd-find", "tmux"} {
				b.Step("install "+p, "package", 5, args("name", p, "state", "present"), item(p, i, 4), func(s *plan.Step) { s.Tags = []string{"packages"} })
			}
		})
		b.Scope(plan.ScopeInclude, "languages/go.yml", 11, func(s *plan.Scope) { s.When = "'go' in languages" }, func() {
			b.Step("download go", "get_url", 2, args("url", "https://go.dev/dl/go1.26.1.linux-amd64.tar.gz", "dest", "/tmp/go.tar.gz"), func(s *plan.Step) {
				s.Uses = []plan.Use{{Name: "go_version", Value: "1.26.1", Origin: diag.Origin{File: "vars/main.yml", Line: 4}}}
			})
			v := b.Step("read the installed version", "shell", 6, args("cmd", "go version | awk '{print $3}'"), func(s *plan.Step) {
				s.Register = "go_now"
				s.MayFail = true
			})
			b.Step("unpack go", "shell", 10, args("cmd", "set -e\nrm -rf /usr/local/go\ntar -C /usr/local -xzf /tmp/go.tar.gz"), func(s *plan.Step) {
				s.When = "go_now.stdout != go_version"
				s.Prediction = plan.MaySkip
				s.Unknowns = []plan.Unknown{{Field: "when", Name: "go_now", Steps: []int{v}}}
				s.Uses = []plan.Use{
					{Name: "go_version", Value: "1.26.1", Origin: diag.Origin{File: "vars/main.yml", Line: 4}},
					{Name: "go_now", Value: unknown(v), From: "registered", Origin: diag.Origin{File: "languages/go.yml", Line: 6}},
				}
			})
		})
	})
	b.Scope(plan.ScopeBlock, "dotfiles", 10, nil, func() {
		b.Step("clone the dotfiles", "git", 12, args("repo", "https://example.org/ann/dotfiles.git", "dest", "~/.dotfiles"))
		b.Step("link .zshrc", "file", 15, args("src", "~/.dotfiles/zshrc", "dest", "~/.zshrc", "state", "link"))
		b.Scope(plan.ScopeBranch, "rescue", 19, func(s *plan.Scope) { s.Branch = "rescue" }, func() {
			b.Step("restore the backup", "shell", 20, args("cmd", "cp -a ~/.dotfiles.bak ~/.dotfiles"))
		})
		b.Scope(plan.ScopeBranch, "always", 22, func(s *plan.Scope) { s.Branch = "always" }, func() {
			b.Step("remove the lock", "file", 23, args("path", "~/.dotfiles.lock", "state", "absent"))
		})
	})
	b.Step("replace /etc/hosts", "copy", 26, args("src", "files/hosts", "dest", "/etc/hosts", "mode", "0644"), func(s *plan.Step) {
		s.Confirm = "Replace /etc/hosts with ours?"
		s.Tags = []string{"system"}
	})
	b.Scope(plan.ScopeInclude, "docker.yml", 31, func(s *plan.Scope) { s.When, s.Skipped = "use_docker", "use_docker" }, nil)
	b.Step("vacuum the journal", "shell", 34, args("cmd", "journalctl --vacuum-time=2d"), func(s *plan.Step) {
		s.Excluded = true
		s.Tags = []string{"slow"}
	})
	b.Step("check the shell", "shell", 37, args("cmd", "zsh -lic true"), func(s *plan.Step) { s.Env = map[string]string{"TERM": "dumb", "LANG": "C"} })
	return b.Done()
}

// large is a plan of n steps, a hundred in a loop.
func large(n int) *plan.Plan { return loops(n, 100) }

// loops is a plan of n steps in loops over so many items.
func loops(n, items int) *plan.Plan {
	b := tuitest.NewBuilder("large.yml")
	for len(b.Plan.Steps) < n {
		k := len(b.Plan.Steps) / items
		b.Scope(plan.ScopeLoop, fmt.Sprintf("loop %d", k), k+1, func(s *plan.Scope) { s.Items = items }, func() {
			for i := range min(items, n-len(b.Plan.Steps)) {
				b.Step(fmt.Sprintf("do thing %d of part %d", i, k), "shell", k+2, args("cmd", "true"))
			}
		})
	}
	return b.Done()
}

// excerptOf stands for the sources of the plan, which only the planner can give it.
func excerptOf(file string, line, around int) ([]string, int) {
	if file == "" {
		return nil, 0
	}
	first := max(line-around, 1)
	var lines []string
	for n := first; n <= line+around; n++ {
		switch n {
		case line:
			lines = append(lines, "- name: what this is about")
		case line + 1:
			lines = append(lines, "  shell: do it \\")
		default:
			lines = append(lines, fmt.Sprintf("  # line %d", n))
		}
	}
	return lines, first
}
