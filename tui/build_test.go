package tui

import (
	"fmt"
	"path"
	"strings"
	"time"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
)

func unknown(steps ...int) any { return value.Unknown{Steps: steps} }

// builder makes plans as the planner would, without a planner.
type builder struct {
	p    *plan.Plan
	open []int // scopes
	file []string
}

func newBuilder(file string) *builder {
	b := &builder{p: &plan.Plan{
		Format: plan.Format, Root: "/home/ann/devbox", RootFile: file, Digest: "5f0c1e2d3b4a59687766",
	}, file: []string{file}}
	b.p.Scopes = []plan.Scope{{Kind: plan.ScopePlaybook, Parent: -1, Name: file}}
	b.open = []int{0}
	return b
}

func (b *builder) done() *plan.Plan {
	b.p.Scopes[0].Last = len(b.p.Steps)
	for i := range b.p.Steps {
		b.p.Steps[i].Digest = fmt.Sprintf("digest of %s", b.p.Steps[i].Path)
	}
	return b.p
}

func (b *builder) top() *plan.Scope { return &b.p.Scopes[b.open[len(b.open)-1]] }

func (b *builder) origin(line int) diag.Origin {
	var chain []string
	for i := range len(b.file) - 1 {
		chain = append(chain, fmt.Sprintf("%s:%d", b.file[i], 3+i*4))
	}
	return diag.Origin{File: b.file[len(b.file)-1], Line: line, Column: 3, Chain: chain}
}

func (b *builder) scope(kind plan.ScopeKind, name string, line int, with func(*plan.Scope), inside func()) {
	id := len(b.p.Scopes)
	s := plan.Scope{
		ID: id, Kind: kind, Parent: b.open[len(b.open)-1], Name: name, Path: b.top().Path + "/" + name,
		Origin: b.origin(line), First: len(b.p.Steps),
	}
	if with != nil {
		with(&s)
	}
	b.p.Scopes = append(b.p.Scopes, s)
	b.open = append(b.open, id)
	if kind == plan.ScopeInclude {
		b.file = append(b.file, name)
	}
	if inside != nil {
		inside()
	}
	if kind == plan.ScopeInclude {
		b.file = b.file[:len(b.file)-1]
	}
	b.open = b.open[:len(b.open)-1]
	b.p.Scopes[id].Last = len(b.p.Steps)
}

func (b *builder) step(name, action string, line int, with ...func(*plan.Step)) int {
	i := len(b.p.Steps)
	s := plan.Step{
		Index: i, Path: path.Join(b.top().Path, name), Scope: b.open[len(b.open)-1], Name: name, Action: action,
		Prediction: plan.WillRun, Origin: b.origin(line), Host: "localhost", Cwd: b.p.Root,
	}
	for _, w := range with {
		w(&s)
	}
	if s.Summary == "" {
		for _, key := range []string{"cmd", "dest", "name", "msg"} {
			if v, ok := s.Args[key]; ok && s.Summary == "" {
				s.Summary, _, _ = strings.Cut(fmt.Sprint(v), "\n")
			}
		}
	}
	b.p.Steps = append(b.p.Steps, s)
	return i
}

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
	b := newBuilder("devbox.yml")
	b.p.Inputs = []plan.Input{{Path: "devbox.yml"}, {Path: "packages.yml"}, {Path: "languages/go.yml"}, {Path: "vars/main.yml"}}
	b.p.Vars = []plan.Var{
		{Name: "go_version", Value: "1.26.1", From: "vars", Origin: diag.Origin{File: "vars/main.yml", Line: 4}},
		{Name: "packages", Value: []any{"git", "ripgrep", "fd-find", "tmux"}, From: "vars", Origin: diag.Origin{File: "vars/main.yml", Line: 7}},
		{Name: "dotfiles", Value: "https://example.org/ann/dotfiles.git", From: "--extra-vars"},
	}
	b.step("say hello", "print", 5, args("msg", "Setting up a devbox"))
	b.scope(plan.ScopeInclude, "packages.yml", 7, nil, func() {
		b.step("update the package index", "shell", 2, args("cmd", "apt-get update"), func(s *plan.Step) {
			s.Retry = plan.Retry{Max: 2, Delay: 5 * time.Second}
			s.Timeout = 2 * time.Minute
		})
		b.scope(plan.ScopeLoop, "install packages", 5, func(s *plan.Scope) { s.Items, s.Loop = 4, "packages" }, func() {
			for i, p := range []string{"git", "ripgrep", "fd-find", "tmux"} {
				b.step("install "+p, "package", 5, args("name", p, "state", "present"), item(p, i, 4), func(s *plan.Step) { s.Tags = []string{"packages"} })
			}
		})
		b.scope(plan.ScopeInclude, "languages/go.yml", 11, func(s *plan.Scope) { s.When = "'go' in languages" }, func() {
			b.step("download go", "get_url", 2, args("url", "https://go.dev/dl/go1.26.1.linux-amd64.tar.gz", "dest", "/tmp/go.tar.gz"), func(s *plan.Step) {
				s.Uses = []plan.Use{{Name: "go_version", Value: "1.26.1", Origin: diag.Origin{File: "vars/main.yml", Line: 4}}}
			})
			v := b.step("read the installed version", "shell", 6, args("cmd", "go version | awk '{print $3}'"), func(s *plan.Step) {
				s.Register = "go_now"
				s.MayFail = true
			})
			b.step("unpack go", "shell", 10, args("cmd", "set -e\nrm -rf /usr/local/go\ntar -C /usr/local -xzf /tmp/go.tar.gz"), func(s *plan.Step) {
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
	b.scope(plan.ScopeBlock, "dotfiles", 10, nil, func() {
		b.step("clone the dotfiles", "git", 12, args("repo", "https://example.org/ann/dotfiles.git", "dest", "~/.dotfiles"))
		b.step("link .zshrc", "file", 15, args("src", "~/.dotfiles/zshrc", "dest", "~/.zshrc", "state", "link"))
		b.scope(plan.ScopeBranch, "rescue", 19, func(s *plan.Scope) { s.Branch = "rescue" }, func() {
			b.step("restore the backup", "shell", 20, args("cmd", "cp -a ~/.dotfiles.bak ~/.dotfiles"))
		})
		b.scope(plan.ScopeBranch, "always", 22, func(s *plan.Scope) { s.Branch = "always" }, func() {
			b.step("remove the lock", "file", 23, args("path", "~/.dotfiles.lock", "state", "absent"))
		})
	})
	b.step("replace /etc/hosts", "copy", 26, args("src", "files/hosts", "dest", "/etc/hosts", "mode", "0644"), func(s *plan.Step) {
		s.Confirm = "Replace /etc/hosts with ours?"
		s.Tags = []string{"system"}
	})
	b.scope(plan.ScopeInclude, "docker.yml", 31, func(s *plan.Scope) { s.When, s.Skipped = "use_docker", "use_docker" }, nil)
	b.step("vacuum the journal", "shell", 34, args("cmd", "journalctl --vacuum-time=2d"), func(s *plan.Step) {
		s.Excluded = true
		s.Tags = []string{"slow"}
	})
	b.step("check the shell", "shell", 37, args("cmd", "zsh -lic true"), func(s *plan.Step) { s.Env = map[string]string{"TERM": "dumb", "LANG": "C"} })
	return b.done()
}

// large is a plan of n steps, a hundred in a loop.
func large(n int) *plan.Plan { return loops(n, 100) }

// loops is a plan of n steps in loops over so many items.
func loops(n, items int) *plan.Plan {
	b := newBuilder("large.yml")
	for len(b.p.Steps) < n {
		k := len(b.p.Steps) / items
		b.scope(plan.ScopeLoop, fmt.Sprintf("loop %d", k), k+1, func(s *plan.Scope) { s.Items = items }, func() {
			for i := range min(items, n-len(b.p.Steps)) {
				b.step(fmt.Sprintf("do thing %d of part %d", i, k), "shell", k+2, args("cmd", "true"))
			}
		})
	}
	return b.done()
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
