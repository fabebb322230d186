package tuitest

import (
	"fmt"
	"path"
	"strings"

	"moon/internal/diag"
	"moon/plan"
)

// Builder makes plans as the planner would, without a planner.
type Builder struct {
	Plan *plan.Plan
	open []int // scopes
	file []string
}

// NewBuilder begins a plan of a playbook.
func NewBuilder(file string) *Builder {
	b := &Builder{Plan: &plan.Plan{
		Format: plan.Format, Root: "/home/ann/devbox", RootFile: file, Digest: "5f0c1e2d3b4a59687766",
	}, file: []string{file}}
	b.Plan.Scopes = []plan.Scope{{Kind: plan.ScopePlaybook, Parent: -1, Name: file}}
	b.open = []int{0}
	return b
}

// Done ends the plan.
func (b *Builder) Done() *plan.Plan {
	b.Plan.Scopes[0].Last = len(b.Plan.Steps)
	for i := range b.Plan.Steps {
		b.Plan.Steps[i].Digest = fmt.Sprintf("digest of %s", b.Plan.Steps[i].Path)
	}
	return b.Plan
}

func (b *Builder) top() *plan.Scope { return &b.Plan.Scopes[b.open[len(b.open)-1]] }

// Origin is a line of the file that the plan is in now.
func (b *Builder) Origin(line int) diag.Origin {
	var chain []string
	for i := range len(b.file) - 1 {
		chain = append(chain, fmt.Sprintf("%s:%d", b.file[i], 3+i*4))
	}
	return diag.Origin{File: b.file[len(b.file)-1], Line: line, Column: 3, Chain: chain}
}

// Scope adds a scope with what is inside.
func (b *Builder) Scope(kind plan.ScopeKind, name string, line int, with func(*plan.Scope), inside func()) {
	id := len(b.Plan.Scopes)
	s := plan.Scope{
		ID: id, Kind: kind, Parent: b.open[len(b.open)-1], Name: name, Path: b.top().Path + "/" + name,
		Origin: b.Origin(line), First: len(b.Plan.Steps),
	}
	if with != nil {
		with(&s)
	}
	b.Plan.Scopes = append(b.Plan.Scopes, s)
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
	b.Plan.Scopes[id].Last = len(b.Plan.Steps)
}

// Step adds a step to the scope that is open, and returns its index.
func (b *Builder) Step(name, action string, line int, with ...func(*plan.Step)) int {
	i := len(b.Plan.Steps)
	s := plan.Step{
		Index: i, Path: path.Join(b.top().Path, name), Scope: b.open[len(b.open)-1], Name: name, Action: action,
		Prediction: plan.WillRun, Origin: b.Origin(line), Host: "localhost", Cwd: b.Plan.Root,
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
	b.Plan.Steps = append(b.Plan.Steps, s)
	return i
}

// Task adds a task over several hosts.
func (b *Builder) Task(name, action string, line int, hosts []string, with ...func(*plan.Step)) {
	on := func(host string) {
		b.Step(name, action, line, append(with, func(s *plan.Step) { s.Host, s.Path = host, s.Path+"@"+host })...)
	}
	if len(hosts) == 1 {
		on(hosts[0])
		return
	}
	b.Scope(plan.ScopeTask, name, line, func(s *plan.Scope) { s.Hosts = len(hosts) }, func() {
		for _, host := range hosts {
			on(host)
		}
	})
}
