package cli

import (
	"cmp"
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
	members []*member
	strict  bool

	answers map[*member]map[string]string // to vars_prompt: no question is asked twice
	vault   func() ([]vault.Password, error)
}

func newSeveral(call *app.Invocation, flags playbookFlags, more []string) (*several, error) {
	members, err := orderPlaybooks(append([]string{flags.Playbook}, more...))
	if err != nil {
		return nil, err
	}
	return &several{call: call, flags: flags.planFlags, members: members, strict: flags.Strict, answers: map[*member]map[string]string{}}, nil
}

// outlook is a playbook as far as it can be planned.
type outlook struct {
	*member
	plan  *plan.Plan // nil: it has mistakes
	graph *graph.Graph
	ds    diag.List // named from the working directory
	open  diag.List // what is planned when the playbooks have run that it imports from
	root  string
}

// bad reports whether it cannot run.
func (l *outlook) bad(strict bool) bool { return l.plan == nil || strict && len(l.ds) > 0 }

// plan plans one of the playbooks. What the others of the call export first is unknown as long as they have not run (ahead).
func (s *several) plan(m *member, ahead, waits bool) (*outlook, error) {
	flags := playbookFlags{Playbook: m.given, planFlags: s.flags}
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
	l := &outlook{member: m, root: rootOf(o)}
	if ahead && len(m.needs) > 0 {
		for _, n := range m.needs {
			flags.importer.Later[n.of.path] = true
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
func withPlaybook(m *member, err error) error {
	if e, ok := errors.AsType[*app.Exit](err); ok && e.Message != "" {
		return app.NewExit(e.Code, m.given+": "+e.Message)
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
	for i, l := range list {
		if len(l.ds) > 0 {
			if err := l.ds.Print(call.Err); err != nil {
				return err
			}
		}
		fmt.Fprintf(call.Out, "%d of %d  %s%s\n\n", i+1, len(list), l.given, l.afterText())
		if err := show.WriteTree(call.Out, l.plan, call.Width()); err != nil {
			return err
		}
		if len(l.open) > 0 {
			fmt.Fprintf(call.Out, "\nplanned when %s:\n", l.awaits())
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

// sources are the playbooks of the call that a playbook imports from, as they were typed.
func (m *member) sources() (names []string) {
	for _, n := range m.needs {
		if !slices.Contains(names, n.of.given) {
			names = append(names, n.of.given)
		}
	}
	return names
}

// awaits says which playbooks must have run before all of it can be planned.
func (m *member) awaits() string {
	names := m.sources()
	if len(names) == 1 {
		return names[0] + " has run"
	}
	return strings.Join(names, ", ") + " have run"
}

// afterText says whose exports a playbook waits for.
func (m *member) afterText() string {
	if len(m.needs) == 0 {
		return ""
	}
	return ", after " + strings.Join(m.sources(), ", ") + ", whose exports it imports"
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
			docs[i] = map[string]any{"playbook": l.given, "root": l.root, "diagnostics": show.DiagnosticsJSON(l.ds)}
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
			fmt.Fprintf(w, "\n%s: %s\n", l.given, l.ds.Summary())
		case len(l.ds) > 0:
			fmt.Fprintf(w, "\n%s: %s, %s\n", l.given, plan.CountOf(len(l.plan.Steps), "step"), l.ds.Summary())
		case len(l.open) > 0:
			fmt.Fprintf(w, "%s: no mistakes found; the rest is planned when %s\n", l.given, l.awaits())
		default:
			fmt.Fprintf(w, "%s: %s, no mistakes found\n", l.given, plan.CountOf(len(l.plan.Steps), "step"))
		}
	}
	return nil
}

// ended is how one of several playbooks has ended.
type ended struct {
	*member
	word string // done, failed, stopped, not run …
	why  string
	run  string // "" if there was none
	code int
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
			return withPlaybook(l.member, err)
		}
	}
	var ends []*ended
	for i, m := range s.members {
		e := &ended{member: m}
		if why := whyNot(m, ends, opts.OnFailure); why != "" {
			e.word, e.why = "not run", why
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
	return summarise(to, ends)
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

// whyNot says why a playbook is not run after what has become of others, or "".
func whyNot(m *member, ends []*ended, policy fact.Policy) string {
	// Direct imports are enough: what those import from was decided before them.
	for _, n := range m.needs {
		e := ends[slices.IndexFunc(ends, func(e *ended) bool { return e.member == n.of })]
		switch e.word {
		case "not run":
			return "it imports from " + e.given + ", which was not run"
		case "refused":
			return "it imports from " + e.given + ", which could not be run"
		case "stopped":
			return "it imports from " + e.given + ", which was stopped"
		case "failed":
			return "it imports from " + e.given + ", which failed"
		}
	}
	for _, e := range ends {
		switch {
		case e.word == "stopped", e.code == app.ExitDisk:
			return e.given + " was stopped"
		case (e.word == "failed" || e.word == "refused") && policy != fact.Continue:
			return e.given + " failed; --on-failure continue runs what does not import from it"
		}
	}
	return ""
}

// run plans a playbook, if that was not just done, and runs it.
func (s *several) run(e *ended, l *outlook, req app.HeadlessRequest) {
	fail := func(err error) {
		e.word, e.code = "refused", s.report(withPlaybook(e.member, err))
		if e.code == app.ExitInterrupted {
			e.word = "stopped"
		}
	}
	if l == nil {
		var err error
		if l, err = s.plan(e.member, false, !req.Options.Check); err != nil {
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
		e.word, e.why, e.code = "refused", l.ds.Summary(), app.ExitUsage
		return
	}
	req.Started = func(run string) { e.run = run }
	err := app.Headless(s.call, l.plan, l.graph, req)
	e.code = s.report(err)
	switch {
	case err == nil:
		e.word = "done"
	case e.run == "":
		e.word = "refused"
	case e.code == app.ExitStopped || e.code == app.ExitInterrupted:
		e.word = "stopped"
	default:
		e.word = "failed"
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

// summarise names each playbook, how it ended and its run. The exit code is the highest of theirs.
func summarise(w io.Writer, ends []*ended) error {
	counts, code, width := map[string]int{}, app.ExitDone, 0
	for _, e := range ends {
		counts[e.word]++
		code, width = max(code, e.code), max(width, len(e.given))
	}
	var parts []string
	for _, word := range []string{"done", "failed", "stopped", "refused", "not run"} {
		if counts[word] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[word], word))
		}
	}
	fmt.Fprintf(w, "\n%s: %s\n", plan.CountOf(len(ends), "playbook"), strings.Join(parts, ", "))
	for _, e := range ends {
		line := fmt.Sprintf("  %-*s  %-7s  %s", width, termtext.CleanName(e.given), e.word, cmp.Or(e.run, termtext.CleanName(e.why)))
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	if code == app.ExitDone {
		return nil
	}
	return app.NewExit(code, "")
}
