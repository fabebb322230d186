package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"moon/engine"
	"moon/engine/graph"
	"moon/events/fact"
	"moon/internal/app"
	"moon/internal/diag"
	"moon/internal/series"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/show"
	"moon/secret/vault"
)

// morePlaybooks are those behind the first. Several are planned and run one after the other, each after those it imports from.
type morePlaybooks struct {
	More []string `arg:"" optional:"" name:"more" help:"Further playbooks; each comes after those it imports from."`
}

// alone are the flags that are about the steps of one playbook, or of which there can be only one.
var alone = []string{
	"--plan", "--allow-stale", "--only", "--skip", "--start-at", "--exports", "--exit-code", "--explain", "--list-hosts", "--list-tasks",
	"--list-tags", "--syntax-check",
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
	call    *app.Invocation
	flags   planFlags
	members []*series.Member
	strict  bool

	answers map[*series.Member]map[string]string // to vars_prompt: no question is asked twice
	vault   func() ([]vault.Password, error)
}

func newSeveral(call *app.Invocation, flags playbookFlags, more []string) (*several, error) {
	members, err := series.Order(append([]string{flags.Playbook}, more...))
	if err != nil {
		return nil, err
	}
	return &several{call: call, flags: flags.planFlags, members: members, strict: flags.Strict, answers: map[*series.Member]map[string]string{}}, nil
}

// outlook is a playbook as far as it can be planned.
type outlook struct {
	*series.Member
	plan  *plan.Plan // nil: it has mistakes
	graph *graph.Graph
	ds    diag.List // named from the working directory
	open  diag.List // what is planned when the playbooks have run that it imports from
	root  string
}

// bad reports whether it cannot run.
func (l *outlook) bad(strict bool) bool { return l.plan == nil || strict && len(l.ds) > 0 }

// plan plans one of the playbooks. What the others of the call export first is unknown as long as they have not run (ahead).
func (s *several) plan(m *series.Member, ahead, waits bool) (*outlook, error) {
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
	l := &outlook{Member: m, root: rootOf(o)}
	if ahead && len(m.Needs) > 0 {
		for _, n := range m.Needs {
			flags.importer.Later[n.Of.Path] = true
		}
		o.Unseen, o.Hosts.NoConnect = &l.open, true
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
	if s.strict && o.Unseen == nil {
		ds = append(ds, refuseOpen(p)...)
	}
	if p != nil {
		s.answers[m] = maps.Clone(p.Answers())
	}
	l.plan, l.graph, l.ds = p, g, fromHere(o, ds)
	return l, nil
}

// survey plans all playbooks before anything runs.
func (s *several) survey(waits bool) (list []*outlook, err error) {
	defer hastily()()
	for _, m := range s.members {
		l, err := s.plan(m, true, waits)
		if err != nil {
			return nil, withPlaybook(m, err)
		}
		list = append(list, l)
	}
	return list, nil
}

// withPlaybook says which playbook an error is about.
func withPlaybook(m *series.Member, err error) error {
	if e, ok := errors.AsType[*app.Exit](err); ok && e.Message != "" {
		return app.NewExit(e.Code, m.Given+": "+e.Message)
	}
	return err
}

// complain prints what is wrong with the playbooks of which one cannot run. It returns an error then.
func (s *several) complain(list []*outlook) error {
	if !slices.ContainsFunc(list, func(l *outlook) bool { return l.bad(s.strict) }) {
		return nil
	}
	var all diag.List
	for _, l := range list {
		if l.bad(s.strict) {
			all = append(all, l.ds...)
		}
	}
	if err := all.Print(s.call.Err); err != nil {
		return err
	}
	fmt.Fprintf(s.call.Err, "\n%s; nothing was run\n", all.Summary())
	return app.NewExit(app.ExitUsage, "")
}

// planSeveral prints the plans in the order in which the playbooks would run.
func (c *planCmd) planSeveral(call *app.Invocation) error {
	if err := refuseAlone(c.given, "--check", "--diff", "--output"); err != nil {
		return err
	}
	if c.Format != "tree" {
		return app.Usage("--format %s is for one playbook", c.Format)
	}
	s, err := newSeveral(call, c.playbookFlags, c.More)
	if err != nil {
		return err
	}
	list, err := s.survey(false)
	if err == nil {
		err = s.complain(list)
	}
	if err != nil {
		return err
	}
	// A mistake in any of them has ended this above, so each has a plan.
	for i, l := range list {
		if len(l.ds) > 0 {
			if err := l.ds.Print(call.Err); err != nil {
				return err
			}
		}
		fmt.Fprintf(call.Out, "%d of %d  %s%s\n\n", i+1, len(list), l.Given, l.AfterText())
		if err := show.WriteTree(call.Out, l.plan, call.Width()); err != nil {
			return err
		}
		if len(l.open) > 0 {
			fmt.Fprintf(call.Out, "\nplanned when %s:\n", l.Awaits())
		}
		for _, d := range l.open {
			what := strings.TrimSuffix(strings.TrimSuffix(d.Message, " is known only when the run starts"), " are known only when the run starts")
			fmt.Fprintf(call.Out, "  %s:%d  %s\n", termtext.CleanName(d.Pos.File), d.Pos.Line, termtext.CleanName(what))
		}
		if i < len(list)-1 {
			fmt.Fprintln(call.Out)
		}
	}
	return nil
}

// validateSeveral checks all playbooks.
func (c *validateCmd) validateSeveral(call *app.Invocation) error {
	if err := refuseAlone(c.given); err != nil {
		return err
	}
	s, err := newSeveral(call, c.playbookFlags, c.More)
	if err != nil {
		return err
	}
	list, err := s.survey(false)
	if err != nil {
		return err
	}
	bad := slices.ContainsFunc(list, func(l *outlook) bool { return l.bad(c.Strict) })
	if c.Format == "json" {
		docs := make([]map[string]any, len(list))
		for i, l := range list {
			docs[i] = map[string]any{"playbook": l.Given, "root": l.root, "diagnostics": show.DiagnosticsJSON(l.ds)}
		}
		enc := json.NewEncoder(call.Doc)
		enc.SetIndent("", "  ")
		if err := enc.Encode(map[string]any{"playbooks": docs}); err != nil {
			return err
		}
	} else if err := printChecks(call.Out, list); err != nil {
		return err
	}
	if bad {
		return app.NewExit(app.ExitUsage, "")
	}
	return nil
}

func printChecks(w io.Writer, list []*outlook) error {
	for _, l := range list {
		if err := l.ds.Print(w); err != nil {
			return err
		}
		switch {
		case l.plan == nil:
			fmt.Fprintf(w, "\n%s: %s\n", l.Given, l.ds.Summary())
		case len(l.ds) > 0:
			fmt.Fprintf(w, "\n%s: %s, %s\n", l.Given, plan.CountOf(len(l.plan.Steps), "step"), l.ds.Summary())
		case len(l.open) > 0:
			fmt.Fprintf(w, "%s: no mistakes found; the rest is planned when %s\n", l.Given, l.Awaits())
		default:
			fmt.Fprintf(w, "%s: %s, no mistakes found\n", l.Given, plan.CountOf(len(l.plan.Steps), "step"))
		}
	}
	return nil
}

// runSeveral runs the playbooks, each after those it imports from. It plans those that import again when these have run.
func (c *runCmd) runSeveral(call *app.Invocation, opts fact.Options) error {
	if err := c.refuseOne(); err != nil {
		return err
	}
	c.mode, c.approved = opts, !opts.Check
	s, err := newSeveral(call, c.playbookFlags, c.More)
	if err != nil {
		return err
	}
	list, err := s.survey(!opts.Check)
	if err == nil {
		err = s.complain(list)
	}
	if err != nil {
		return err
	}
	req := app.HeadlessRequest{Options: opts, Outputs: c.Output, Verbose: c.Verbose, Approve: c.Approve, Passwords: c.becomePasswords()}
	for _, l := range list {
		if err := req.Check(l.plan); err != nil {
			return withPlaybook(l.Member, err)
		}
	}
	var ends []*series.Ended
	for i, m := range s.members {
		e := &series.Ended{Member: m}
		if why := series.WhyNot(m, ends, opts.OnFailure); why != "" {
			e.Outcome, e.Why = series.NotRun, why
		} else {
			var first *outlook // nothing has changed since it was planned
			if i == 0 {
				first = list[0]
			}
			s.run(e, first, req)
		}
		ends = append(ends, e)
	}
	to := call.Out
	if !slices.Equal(c.Output, []string{"text"}) { // programs may read it
		to = call.Err
	}
	return series.Summarise(to, ends)
}

// refuseOne refuses what can only be said of one playbook.
func (c *runCmd) refuseOne() error {
	if err := refuseAlone(c.given); err != nil {
		return err
	}
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

// run plans a playbook, if that was not just done, and runs it.
func (s *several) run(e *series.Ended, l *outlook, req app.HeadlessRequest) {
	fail := func(err error) {
		e.Outcome, e.Code = series.Refused, s.report(withPlaybook(e.Member, err))
		if e.Code == app.ExitInterrupted {
			e.Outcome = series.Stopped
		}
	}
	if l == nil {
		var err error
		if l, err = s.plan(e.Member, false, !req.Options.Check); err != nil {
			fail(err)
			return
		}
	}
	if len(l.ds) > 0 {
		if err := l.ds.Print(s.call.Err); err != nil {
			fail(err)
			return
		}
		fmt.Fprintln(s.call.Err)
	}
	if l.bad(s.strict) {
		e.Outcome, e.Why, e.Code = series.Refused, l.ds.Summary(), app.ExitUsage
		return
	}
	req.Started = func(run string) { e.Run = run }
	err := app.Headless(s.call, l.plan, l.graph, req)
	e.Code = s.report(err)
	switch {
	case err == nil:
		e.Outcome = series.Done
	case e.Run == "":
		e.Outcome = series.Refused
	case e.Code == app.ExitStopped || e.Code == app.ExitInterrupted:
		e.Outcome = series.Stopped
	default:
		e.Outcome = series.Failed
	}
}

// report prints an error, and gives the exit code that it means for moon. What a caller expects of ansible-playbook is decided at the end.
func (s *several) report(err error) int {
	app.Report(s.call.Err, err)
	if e, ok := errors.AsType[*app.Exit](err); ok {
		return e.Code
	}
	if err != nil {
		return app.ExitDisk
	}
	return app.ExitDone
}
