package conceal

import (
	"fmt"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner/problems"
	"moon/plan/source"
	"moon/secret"
)

// Concealer takes secrets out of what is shown of a plan, and makes the digests over it.
type Concealer struct {
	Compared bool // as in Options

	plan     *plan.Plan
	secrets  *secret.Set
	disk     *source.Disk
	problems *problems.Collector
	home     string
	digested []byte // what the last step's digest was over; kept for its room
}

// New conceals the secrets of a plan; home is what ~ stands for.
func New(p *plan.Plan, secrets *secret.Set, d *source.Disk, list *problems.Collector, home string) *Concealer {
	return &Concealer{plan: p, secrets: secrets, disk: d, problems: list, home: home}
}

// HidePlan takes the secrets out of what is shown of the plan. That of a step was done when it was planned; what has become known
// since, and the digests with it, are put right here.
func (c *Concealer) HidePlan() {
	if c.secrets.Empty() {
		return
	}
	p := c.plan
	p.Name = c.secrets.Redact(p.Name)
	p.Vars, p.Exports = secret.Clean(c.secrets, p.Vars), c.cleanExports()
	taken := map[string]bool{}
	// Masking a secret may make two paths one, and a path is an identity.
	unique := func(path string) string {
		clean := c.secrets.Redact(path)
		for n, first := 2, clean; taken[clean]; n++ {
			clean = fmt.Sprintf("%s~%d", first, n)
		}
		taken[clean] = true
		return clean
	}
	for i := range p.Scopes {
		s := &p.Scopes[i]
		s.Path = unique(s.Path)
		for _, text := range []*string{&s.Name, &s.Item, &s.When, &s.Skipped, &s.Loop} {
			*text = c.secrets.Redact(*text)
		}
	}
	clear(taken)
	c.hideReads()
	for i := range p.Steps {
		s := &p.Steps[i]
		s.Path = unique(s.Path)
		c.HideStep(s)
		c.renderAgain(s.Task)
		s.Digest = c.Digest(s, s.Task)
	}
	c.hideInputs()
}

func (c *Concealer) cleanExports() []plan.Export {
	for i := range c.plan.Exports {
		c.plan.Exports[i].Value = secret.Clean(c.secrets, c.plan.Exports[i].Value)
	}
	return c.plan.Exports
}

// HideStep takes the secrets out of what is shown of a step. Running it renders what it needs from what is written.
func (c *Concealer) HideStep(s *plan.Step) {
	if c.secrets.Empty() {
		return
	}
	for _, text := range []*string{&s.Name, &s.Summary, &s.When, &s.Confirm} {
		*text = c.secrets.Redact(*text)
	}
	env, cwd := secret.Clean(c.secrets, s.Env), c.secrets.Redact(s.Cwd)
	for name := range env {
		// The step must run with the real values, so these are rendered again then.
		s.Concealed = s.Concealed || env[name] != s.Env[name]
	}
	s.Concealed = s.Concealed || len(env) != len(s.Env) || cwd != s.Cwd
	s.Env, s.Cwd = env, cwd
	s.Overridden = secret.Clean(c.secrets, s.Overridden)
	s.Args, s.Uses = secret.Clean(c.secrets, s.Args), secret.Clean(c.secrets, s.Uses)
	if s.Loop != nil {
		*s.Loop = c.cleanLoop(*s.Loop)
	}
	if s.InLoop != nil {
		clean := c.cleanLoop(*s.InLoop)
		s.InLoop = &clean
	}
	if s.Undo != nil {
		*s.Undo = secret.Clean(c.secrets, *s.Undo)
	}
}

func (c *Concealer) cleanLoop(l plan.LoopContext) plan.LoopContext {
	l.Item, l.Label, l.Expression = secret.Clean(c.secrets, l.Item), c.secrets.Redact(l.Label), c.secrets.Redact(l.Expression)
	return l
}

// hideInputs finds the files in which a secret is written as it is: their text is not kept, nor a digest.
func (c *Concealer) hideInputs() {
	for path, f := range c.disk.Files {
		f.Secret = f.Secret || c.secrets.Has(string(f.Text))
		if !f.Secret {
			continue
		}
		for i := range c.plan.Inputs {
			if c.plan.Inputs[i].Path == plan.ShownPath(c.plan.Root, path) {
				c.plan.Inputs[i].Digest = ""
			}
		}
	}
}

// Clean takes the secrets out of what is wrong with the playbook.
func (c *Concealer) Clean(ds diag.List) {
	if c.secrets.Empty() {
		return
	}
	for i := range ds {
		d := &ds[i]
		d.Pos.File = c.secrets.Redact(d.Pos.File)
		d.Message, d.Hint, d.Source = c.secrets.Redact(d.Message), c.secrets.Redact(d.Hint), c.secrets.Redact(d.Source)
	}
}

// CheckArguments warns about a secret among the words of a command, which every user of the machine can read while it runs.
func (c *Concealer) CheckArguments(s *plan.Step, k *plan.Task, raw map[string]any) {
	if c.secrets.Empty() {
		return
	}
	if v, ok := plan.ValueOf(k.Args, "repo"); ok && k.Action.Name == "git" &&
		c.secrets.Has(secret.WithoutPassword(value.Text(raw["repo"]))) {
		c.problems.Report(diag.Diagnostic{
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
		if !ok || !c.secrets.Has(value.Text(raw[name])) {
			continue
		}
		c.problems.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: v.Pos(), Width: utf8.RuneCountInString(plan.FirstLine(v.Text())), Chain: s.Origin.Chain,
			Message: "a secret among the words of a command is visible to everyone on the machine while it runs",
			Hint:    "give it in `env` or `stdin`, or use `shell`, whose text moon hands over unseen",
		})
	}
}
