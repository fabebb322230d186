package planner

import (
	"fmt"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/secret"
)

// conceal takes the secrets out of what is shown of the plan. That of a step was done when it was planned; what has become known
// since, and the digests with it, are mended here.
func (p *stepPlanner) conceal() {
	if p.secrets.Empty() {
		return
	}
	plan := p.plan
	plan.Name = p.secrets.Redact(plan.Name)
	plan.Vars, plan.Exports = secret.Clean(p.secrets, plan.Vars), p.cleanExports()
	taken := map[string]bool{}
	unique := func(path string) string {
		clean := p.secrets.Redact(path)
		for n, first := 2, clean; taken[clean]; n++ {
			clean = fmt.Sprintf("%s~%d", first, n)
		}
		taken[clean] = true
		return clean
	}
	for i := range plan.Scopes {
		s := &plan.Scopes[i]
		s.Path = unique(s.Path)
		for _, text := range []*string{&s.Name, &s.Item, &s.When, &s.Skipped, &s.Loop} {
			*text = p.secrets.Redact(*text)
		}
	}
	clear(taken)
	p.concealReads()
	for i := range plan.Steps {
		s := &plan.Steps[i]
		s.Path = unique(s.Path)
		p.concealStep(s)
		p.maskAgain(s.Task)
		s.Digest = p.stepDigest(s, s.Task)
	}
	p.concealInputs()
}

func (p *stepPlanner) cleanExports() []plan.Export {
	for i := range p.plan.Exports {
		p.plan.Exports[i].Value = secret.Clean(p.secrets, p.plan.Exports[i].Value)
	}
	return p.plan.Exports
}

// concealStep takes the secrets out of what is shown of a step. Running it renders what it needs from what is written.
func (p *stepPlanner) concealStep(s *plan.Step) {
	if p.secrets.Empty() {
		return
	}
	for _, text := range []*string{&s.Name, &s.Summary, &s.When, &s.Confirm} {
		*text = p.secrets.Redact(*text)
	}
	env, cwd := secret.Clean(p.secrets, s.Env), p.secrets.Redact(s.Cwd)
	for name := range env {
		s.Concealed = s.Concealed || env[name] != s.Env[name]
	}
	s.Concealed = s.Concealed || len(env) != len(s.Env) || cwd != s.Cwd
	s.Env, s.Cwd = env, cwd
	s.Overridden = secret.Clean(p.secrets, s.Overridden)
	s.Args, s.Uses = secret.Clean(p.secrets, s.Args), secret.Clean(p.secrets, s.Uses)
	if s.Loop != nil {
		*s.Loop = p.cleanLoop(*s.Loop)
	}
	if s.InLoop != nil {
		clean := p.cleanLoop(*s.InLoop)
		s.InLoop = &clean
	}
	if s.Undo != nil {
		*s.Undo = secret.Clean(p.secrets, *s.Undo)
	}
}

func (p *stepPlanner) cleanLoop(l plan.LoopContext) plan.LoopContext {
	l.Item, l.Label, l.Expression = secret.Clean(p.secrets, l.Item), p.secrets.Redact(l.Label), p.secrets.Redact(l.Expression)
	return l
}

// concealInputs finds the files in which a secret is written as it is: their text is not kept, nor a digest.
func (p *stepPlanner) concealInputs() {
	for path, f := range p.disk.Files {
		f.Secret = f.Secret || p.secrets.Has(string(f.Text))
		if !f.Secret {
			continue
		}
		for i := range p.plan.Inputs {
			if p.plan.Inputs[i].Path == p.ShowPath(path) {
				p.plan.Inputs[i].Digest = ""
			}
		}
	}
}

// clean takes the secrets out of what is wrong with the playbook.
func (p *stepPlanner) clean(ds diag.List) {
	if p.secrets.Empty() {
		return
	}
	for i := range ds {
		d := &ds[i]
		d.Pos.File = p.secrets.Redact(d.Pos.File)
		d.Message, d.Hint, d.Source = p.secrets.Redact(d.Message), p.secrets.Redact(d.Hint), p.secrets.Redact(d.Source)
	}
}

// inArguments warns about a secret among the words of a command, which everybody on the machine can read while it runs.
func (p *stepPlanner) inArguments(s *plan.Step, k *plan.Task, raw map[string]any) {
	if p.secrets.Empty() {
		return
	}
	if v, ok := plan.ValueOf(k.Args, "repo"); ok && k.Action.Name == "git" &&
		p.secrets.Has(secret.WithoutPassword(value.Text(raw["repo"]))) {
		p.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: v.Pos(), Width: utf8.RuneCountInString(plan.FirstLine(v.Text())), Chain: s.Origin.Chain,
			Message: "a secret in the URL of a repository is visible to everyone on the machine while git runs, and stays in the configuration of the working copy",
			Hint:    "give it as a password, as in https://USER:{{ secret }}@host/path, which moon takes out of the URL",
		})
	}
	if k.Action.Name != "command" {
		return
	}
	for _, name := range []string{"argv", "cmd"} {
		v, ok := plan.ValueOf(k.Args, name)
		if !ok || !p.secrets.Has(value.Text(raw[name])) {
			continue
		}
		p.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: v.Pos(), Width: utf8.RuneCountInString(plan.FirstLine(v.Text())), Chain: s.Origin.Chain,
			Message: "a secret among the words of a command is visible to everyone on the machine while it runs",
			Hint:    "give it in `env` or `stdin`, or use `shell`, whose text moon hands over unseen",
		})
	}
}
