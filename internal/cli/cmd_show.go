package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"moon/engine"
	"moon/engine/graph"
	"moon/engine/history"
	"moon/events"
	"moon/events/rundir"
	"moon/events/steplog"
	"moon/exec"
	"moon/internal/app"
	"moon/internal/report/comparing"
	"moon/internal/report/reading"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/selector"
	"moon/tui"
	"moon/tui/plain"
)

// showCmd prints what is recorded of a run. It plans with what the run has kept, so no flag of a plan means anything to it.
type showCmd struct {
	Which       string  `arg:"" optional:"" name:"run" help:"The run or a unique prefix of its name; default the latest. moon runs lists them."`
	Format      string  `enum:"text,json,html,markdown" default:"text" help:"text, json, html (one page with everything) or markdown."`
	Events      bool    `xor:"what" env:"-" help:"Print the events of the run, one per line, as moon run --output json does."`
	Output      *string `xor:"what" env:"-" placeholder:"STEP" help:"Print the raw output of a step: an id, a path or a name."`
	Attempt     int     `env:"-" placeholder:"N" help:"With --output: which attempt; default the last."`
	Exports     bool    `xor:"what" env:"-" help:"Print the values that the run exported, as JSON."`
	Diff        string  `xor:"what" env:"-" placeholder:"RUN" help:"Compare with an earlier run: steps that ended otherwise, took longer or printed something else."`
	TUI         bool    `xor:"what" name:"tui" env:"-" help:"Open the finished run in the TUI, read-only."`
	vaultFlags  `group:"passwords"`
	screenFlags `group:"screen"`
}

// Help shows what can be printed of a run.
func (showCmd) Help() string {
	return `Prints how the run ended, its failures and their causes, what changed, and its slowest steps.

  moon show
  moon show 20261102-101500 --output step-0007
  moon show 20261102-101500 --diff 20261101-093000
  moon show --exports
  moon show --tui`
}

func (c *showCmd) Run(call *app.Invocation) error {
	switch {
	case c.Attempt != 0 && c.Output == nil:
		return app.Usage("--attempt says which output is printed; give --output STEP with it")
	case c.Attempt < 0:
		return app.Usage("--attempt must be above 0")
	case c.Format != "text" && (c.Events || c.Exports || c.Output != nil || c.TUI):
		return app.Usage("--format is for the summary; --events and --exports are always JSON, --output what the step printed, and --tui the TUI")
	}
	if why := noScreen(); c.TUI && why != "" {
		return app.Usage("%s; moon show without --tui needs none", why)
	}
	if c.TUI {
		if err := c.settle(call); err != nil {
			return err
		}
	}
	past, err := pastRun(c.Which)
	// Only if no run was named: a run that the user asks for by its id is not replaced by another.
	if unbegun, is := errors.AsType[*history.UnbegunError](err); is && past.ID != "" && c.Which == "" {
		fmt.Fprintf(call.Err, "moon: %s had not begun when moon ended; the run before it is shown\n", unbegun.Run)
		err = nil
	}
	if err != nil {
		return app.Usage("%s", err)
	}
	if c.TUI && past.Live {
		return app.Usage("%s is live; moon attach --tui %s shows it", past.ID, past.ID)
	}
	if c.Exports {
		return printExports(call, past)
	}
	if c.Diff != "" {
		return c.compare(call, past)
	}
	now := past
	// A run in progress is shown up to here and not followed.
	now.Live = false // what there is, and not what there will be
	w, noPlan := engine.NewWatch(now, replanned(call, past, c.vaultFlags))
	if c.Events {
		if noPlan != nil {
			return app.Usage("%s: %s", past.ID, noPlan)
		}
		feed, followed := w.Follow(context.Background(), true)
		err := plain.JSON(call.Doc, w.PlanFor, feed)
		app.Drain(feed)
		return app.WrapDisk(errors.Join(followed(), err))
	}
	if c.TUI {
		if noPlan != nil {
			return app.Usage("%s cannot be shown in the TUI: %s", past.ID, noPlan)
		}
		return c.screen(call, past, w)
	}
	if c.Format == "html" || c.Format == "markdown" {
		return c.report(call, past, w, noPlan)
	}
	s := &plain.Show{
		ID: past.ID, Playbook: filepath.Join(past.Root, past.Playbook), Word: outcomeOf(past), Started: past.Started, Dir: past.Dir,
		By: fmt.Sprintf("%s on %s, moon %s", past.Actor, past.Host, past.Moon), Resumed: past.Resumed > 0,
	}
	if past.Live && past.Owner.PID != 0 {
		s.Process = past.Owner.String()
	}
	for _, c := range past.Concurrent() {
		s.Concurrent = append(s.Concurrent, c.String())
	}
	if err := c.take(s, past, w, noPlan); err != nil {
		return app.WrapDisk(err)
	}
	switch {
	case c.Output != nil:
		return c.output(call, s)
	case c.Format == "json":
		return c.json(call, past, s)
	}
	return s.Write(call.Out)
}

// printExports prints what the run has exported. It needs no plan: the values are in the journal.
func printExports(call *app.Invocation, past history.Past) error {
	why := ""
	switch {
	case past.Exports != nil:
		return app.WrapDisk(app.PrintExports(call.Doc, past.Exports))
	case past.Live:
		why = "it is in progress"
	case past.Error != "":
		why = past.Error
	case past.Outcome == events.RunDone && past.Options.Check:
		why = "it was a dry run"
	case past.Outcome == events.RunDone:
		why = "its playbook had no `exports:`"
	case past.Damaged != "":
		why = past.Damaged
	default:
		why = "it " + map[events.RunOutcome]string{
			"": "was cut short", events.RunFailed: "failed", events.RunStopped: "was stopped", events.RunInterrupted: "was interrupted",
		}[past.Outcome]
	}
	return app.Usage("%s exported nothing: %s", past.ID, why)
}

// screen shows the run as it was left, until the person leaves.
func (c *showCmd) screen(call *app.Invocation, past history.Past, w *engine.Watch) error {
	// A signal must not leave the terminal as the screen has it.
	ctx, stop := call.Signals.Until(context.Background())
	defer stop()
	mode := "recorded"
	if past.Options.Check {
		mode = "recorded dry run"
		past.Options.Check = false // said once
	}
	feed, followed := w.Follow(ctx, false)
	err := tui.Run(ctx, c.look(tui.Options{
		Plan: w.PlanFor(past.Digest), Feed: feed, PlanFor: w.PlanFor, OutDir: func() string { return rundir.Output(past.Dir) },
		Replay: outcomeOf(past), Keys: c.keys, Clipboard: exec.Clipboard, Mode: mode,
	}))
	if isCut(err) {
		err = nil
	}
	if told := followed(); past.Damaged == "" && !isCut(told) {
		err = errors.Join(err, told)
	}
	return app.WrapDisk(err)
}

// report writes the run as one page, or as its summary.
func (c *showCmd) report(call *app.Invocation, past history.Past, w *engine.Watch, noPlan error) error {
	r, err := c.read(past, w, noPlan)
	if err != nil {
		return err
	}
	return app.WriteReport(call.Out, c.Format, r)
}

// compare prints what was different since an earlier run.
func (c *showCmd) compare(call *app.Invocation, past history.Past) error {
	earlier, err := pastRun(c.Diff)
	if err != nil {
		return app.Usage("--diff: %s", err)
	}
	var both [2]comparing.Run
	for i, p := range []history.Past{earlier, past} {
		p.Live = false
		w, noPlan := engine.NewWatch(p, replanned(call, p, c.vaultFlags))
		r, err := c.read(p, w, noPlan)
		if err != nil {
			return err
		}
		both[i] = comparing.Run{ID: p.ID, Reading: r}
	}
	d, err := comparing.Of(both[0], both[1])
	switch {
	case err != nil:
		return err
	case c.Format == "json":
		return d.JSON(call.Doc)
	case c.Format != "text":
		return app.Usage("--diff is printed as text or json")
	}
	return d.Write(call.Out, call.Width())
}

// read takes in a run for what is written in one piece.
func (c *showCmd) read(past history.Past, w *engine.Watch, noPlan error) (*reading.Reading, error) {
	r := &reading.Reading{Out: rundir.Output(past.Dir), Moon: past.Moon, Head: []reading.Fact{
		{Name: "by", Text: past.Actor + " on " + past.Host}, {Name: "files", Text: past.Dir},
	}}
	if w != nil {
		r.PlanFor = w.PlanFor
	}
	_, err := c.records(past, w, noPlan, r.Take)
	return r, app.WrapDisk(err)
}

// take gives the run to what shows it: with its plan, or as far as it is known without.
func (c *showCmd) take(s *plain.Show, past history.Past, w *engine.Watch, noPlan error) (err error) {
	if w != nil {
		s.PlanFor = w.PlanFor
	}
	s.NoPlan, err = c.records(past, w, noPlan, s.Take)
	return err
}

// records gives the events of the run, and says why its plan is not known, or not all of it.
func (c *showCmd) records(past history.Past, w *engine.Watch, noPlan error, take func(events.Record)) (lacks string, err error) {
	// The attempts before a run was resumed are known only by the outline. Under one plan it has the same steps.
	if noPlan == nil && (c.Output == nil || len(past.Digests) > 1) {
		feed, followed := w.Follow(context.Background(), false)
		for batch := range feed {
			for _, r := range batch {
				take(r)
			}
		}
		if err = followed(); past.Damaged != "" {
			return past.Damaged, nil
		}
		return "", err
	}
	if noPlan != nil {
		lacks = noPlan.Error()
	}
	list, err := history.Outline(past)
	for _, r := range list {
		take(r)
	}
	return lacks, err
}

func (c *showCmd) json(call *app.Invocation, past history.Past, s *plain.Show) error {
	account, err := s.Account()
	if err != nil {
		return err
	}
	enc := json.NewEncoder(call.Doc)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(plain.Result{
		Head: runsJSON([]history.Past{past})[0], Moon: past.Moon, Actor: past.Actor, Host: past.Host, Account: account,
	})
}

// output prints what one step has printed. A terminal gets what is fit for it, anything else every byte.
func (c *showCmd) output(call *app.Invocation, s *plain.Show) error {
	step, err := c.one(s)
	if err != nil {
		return err
	}
	known := s.Run().Steps[step].Out
	n := c.Attempt
	switch {
	case len(known) == 0:
		return app.Usage("%s has not run", events.StepID(step))
	case n == 0:
		n = len(known)
	case n > len(known):
		return app.Usage("%s has no attempt %d; it has %d", events.StepID(step), n, len(known))
	}
	return app.WrapDisk(printOutput(call, rundir.Output(s.Dir), known[n-1]))
}

func printOutput(call *app.Invocation, dir, prefix string) (err error) {
	exactOut, exactErr := call.Out, call.Err
	if app.IsTerminal(call.Out) {
		// A file or a pipe gets every byte; only a terminal is protected.
		exactOut = nil
	}
	if app.IsTerminal(call.Err) {
		exactErr = nil
	}
	if err := steplog.Copy(exactOut, exactErr, dir, prefix); err != nil || exactOut != nil && exactErr != nil {
		return err
	}
	lines := steplog.Follow(dir, prefix)
	defer func() { err = errors.Join(err, lines.Close()) }()
	lines.Finish()
	for {
		line, ok, err := lines.Next()
		if err != nil || !ok {
			return err
		}
		w, exact := call.Out, exactOut
		if line.Stderr {
			w, exact = call.Err, exactErr
		}
		// Copied above already.
		if exact != nil {
			continue
		}
		end := "\n"
		if line.Cut {
			end = ""
		}
		if _, err := io.WriteString(w, termtext.Clean(line.Text)+end); err != nil {
			return err
		}
	}
}

// one finds the one step that --output names: in the plan where it is known, or among the ids and names in the journal.
func (c *showCmd) one(s *plain.Show) (int, error) {
	text := *c.Output
	found := s.Match(text)
	if len(found) == 0 {
		if p := s.Plan(); p != nil {
			message, hint := selector.NoMatch(p, text)
			return 0, app.Usage("--output: %s\n  hint: %s", message, hint)
		}
		return 0, app.Usage("--output: no step is `%s`\n  hint: without the plan only ids (step-0001) and names of steps that ran are known: %s", text, s.NoPlan)
	}
	if len(found) == 1 {
		return found[0], nil
	}
	lines := make([]string, len(found))
	for i, step := range found {
		lines[i] = s.Line(step)
	}
	return 0, app.Usage("--output prints what one step printed; `%s` names %d:\n%s", text, len(found), indented(lines))
}

// replanned gives the plans of a run that is over or that another process runs: made again from what the run keeps of
// them, or, where it keeps nothing, from its playbook.
func replanned(call *app.Invocation, past history.Past, flags vaultFlags) func(digest string) (*plan.Plan, *graph.Graph, error) {
	plans := &engine.Remade{Make: func(digest string, other *plan.Plan) (*plan.Plan, *graph.Graph, error) {
		// The sources that the run keeps come first: the playbook may have changed since.
		kept, err := engine.ReadKept(past.Dir, digest)
		if err == nil {
			here, err := thisMachine(call, flags.vaultPasswords())
			if err != nil {
				return nil, nil, err
			}
			return kept.PlanFrom(other, here)
		}
		again := playbookFlags{Playbook: filepath.Join(past.Root, past.Playbook), planFlags: planFlags{vaultFlags: flags}}
		o, err := again.planOptions(call)
		if err != nil {
			return nil, nil, err
		}
		p, g, ds := engine.Build(o)
		switch {
		case p == nil:
			// The plan is needed for its numbers of steps, so another one is worse than none.
			return nil, nil, fmt.Errorf("the playbook cannot be planned any more (%s)", ds.Summary())
		case p.Digest != digest:
			return nil, nil, fmt.Errorf("the playbook does not plan as it did then (plan %s, now %s): it was edited, or other variables, tags or a selection were given",
				short(digest), short(p.Digest))
		}
		return p, g, nil
	}}
	return plans.By
}
