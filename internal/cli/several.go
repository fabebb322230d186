package cli

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"moon/engine"
	"moon/events/fact"
	"moon/internal/app"
	"moon/internal/cli/nearby"
	"moon/internal/cli/targets"
	"moon/internal/series"
	"moon/secret/vault"
)

// morePlaybooks are those behind the first. Several are planned and run one after the other, each after those it imports from.
type morePlaybooks struct {
	More []string `arg:"" optional:"" name:"more" help:"Steps, blocks or tags to run with what they need, such as deploy or :deploy; or further playbooks, each of which comes after those it imports from."`
}

// takeTargets takes targets out of what is named next to the first playbook, which may be one itself, and gives the further playbooks.
func (f *playbookFlags) takeTargets(more []string) []string {
	if f.Playbook == "" {
		return more
	}
	books, named := targets.Split(append([]string{f.Playbook}, more...))
	if len(books) == 0 {
		if _, err := usualPlaybook(); err != nil && !strings.HasPrefix(f.Playbook, ":") {
			return more // then it is a file that is not there
		}
		books = []string{""}
	}
	f.targets, f.Playbook = append(f.targets, named...), books[0]
	return books[1:]
}

// alone are the flags that are about the steps of one playbook, or of which there can be only one.
var alone = []string{
	"--plan", "--allow-stale", "--only", "--skip", "--start-at", "--exports", "--exit-code", "--exact", "--explain", "--list-hosts",
	"--list-tasks", "--list-tags", "--syntax-check",
}

// refuseAlone refuses the flags that make no sense with several playbooks.
func refuseAlone(given []givenFlag, also ...string) error {
	for _, g := range given {
		if slices.Contains(alone, g.name) || slices.Contains(also, g.name) {
			return app.Usage("%s is for one playbook; run moon for each of them to use it", g.name)
		}
	}
	return nil
}

// several plans playbooks of one call.
type several struct {
	call  *app.Invocation
	flags planFlags

	answers map[*series.Member]map[string]string // to vars_prompt: no question is asked twice
	vault   func() ([]vault.Password, error)
}

// newSeveral orders the playbooks of a call. also are flags that the command refuses with several.
func newSeveral(call *app.Invocation, flags playbookFlags, more []string, also ...string) (*series.Call, error) {
	if err := refuseAlone(flags.given, also...); err != nil {
		return nil, err
	}
	if len(flags.targets) > 0 {
		return nil, app.Usage("`%s` names a step of one playbook; run moon for each of them to use it", flags.targets[0])
	}
	members, err := series.Order(append([]string{flags.Playbook}, more...))
	if err != nil {
		return nil, err
	}
	s := &several{call: call, flags: flags.planFlags, answers: map[*series.Member]map[string]string{}}
	return &series.Call{Invocation: call, Members: members, Strict: flags.Strict, Plan: s.plan}, nil
}

// plan plans one of the playbooks. What the others of the call export first is unknown as long as they have not run (ahead).
func (s *several) plan(m *series.Member, ahead, waits bool) (*series.Outlook, error) {
	defer hastily()()
	flags := playbookFlags{Playbook: m.Given, planFlags: s.flags}
	flags.importer = &app.Importer{Call: s.call, Waits: waits, Later: map[string]bool{}}
	flags.answered = s.answers[m]
	flags.AskVaultPass = flags.AskVaultPass && s.vault == nil // asked once
	o, err := flags.planOptions(s.call)
	if err != nil {
		return nil, err
	}
	if s.vault == nil {
		s.vault = o.Outside.Vault
	}
	o.Outside.Vault = s.vault
	l := &series.Outlook{Member: m, Root: rootOf(o)}
	if ahead && len(m.Needs) > 0 {
		for _, n := range m.Needs {
			flags.importer.Later[n.Of.Path] = true
		}
		o.Unseen, o.Hosts.NoConnect = &l.Open, true
	}
	askTrust(s.call, o)
	p, g, ds := engine.Build(o)
	if flags.importer.Interrupted {
		return nil, app.NewExit(app.ExitInterrupted, "interrupted while it waited for exports")
	}
	if left, ok := errors.AsType[*app.Exit](flags.unanswered); ok {
		return nil, left
	}
	if err := flags.forPlays(p); err != nil {
		return nil, err
	}
	if s.flags.approved && p != nil {
		if err := refuseUntrusted(p); err != nil {
			return nil, err
		}
	}
	if s.flags.Strict && o.Unseen == nil {
		ds = append(ds, refuseOpen(p)...)
	}
	if p != nil {
		s.answers[m] = maps.Clone(p.Answers())
	}
	l.Plan, l.Graph, l.Diags = p, g, nearby.FromHere(o, ds)
	return l, nil
}

// refuseOne refuses what can only be said of one playbook.
func (c *runCmd) refuseOne() error {
	for _, o := range c.Output {
		if strings.Contains(o, ":") || o == "junit" {
			return app.Usage("--output %s has one report; run moon for each of the playbooks to use it", o)
		}
	}
	for _, a := range c.Approve {
		if !app.ApprovesAll([]string{a}) && !app.ApprovesExpanded([]string{a}) {
			return app.Usage("--approve %s names steps of one playbook; give --approve all, or run moon for each of them", a)
		}
	}
	return nil
}

// planSeveral prints the plans in the order in which the playbooks would run.
func (c *planCmd) planSeveral(call *app.Invocation) error {
	if c.Format != "tree" {
		return app.Usage("--format %s is for one playbook", c.Format)
	}
	s, err := newSeveral(call, c.playbookFlags, c.More, "--check", "--diff", "--output")
	if err != nil {
		return err
	}
	return s.PrintPlans()
}

// validateSeveral checks all playbooks.
func (c *validateCmd) validateSeveral(call *app.Invocation) error {
	s, err := newSeveral(call, c.playbookFlags, c.More)
	if err != nil {
		return err
	}
	return s.Check(c.Format == "json")
}

// runSeveral runs the playbooks, each after those it imports from.
func (c *runCmd) runSeveral(call *app.Invocation, opts fact.Options) error {
	if err := c.refuseOne(); err != nil {
		return err
	}
	c.mode, c.approved = opts, !opts.Check
	s, err := newSeveral(call, c.playbookFlags, c.More)
	if err != nil {
		return err
	}
	s.WaitLock = c.WaitLock
	return s.Run(app.HeadlessRequest{
		Options: opts, Outputs: c.Output, Verbose: c.Verbose, Approve: c.Approve, Passwords: c.becomePasswords(),
	})
}
