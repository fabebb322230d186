package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

	"golang.org/x/term"

	"moon/engine"
	"moon/events"
	"moon/exec"
	"moon/exec/process"
	"moon/exec/remote"
	"moon/internal/app"
	"moon/internal/cli/lastview"
	"moon/internal/cli/replanning"
	"moon/internal/diag"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/bind"
	"moon/tui"
	"moon/tui/draw"
	"moon/tui/plain"
	"moon/tui/status"
)

type tuiCmd struct {
	savedFlags
	Named         []string `arg:"" optional:"" name:"target" help:"Steps, blocks or tags to run with what they need, such as deploy or :deploy."`
	runFlags      `group:"run"`
	becomeFlags   `group:"passwords"`
	headlessFlags `group:"output"`
	exportFlags   `group:"output"`
	screenFlags   `group:"screen"`
	uiFlags       `group:"screen"`
	Break         []string `group:"run" sep:"none" placeholder:"STEP" help:"Pause before a step: an id, a path, a name or file:line; optionally with if CONDITION, after N (times), or log TEXT to log instead of pausing."`
	NoTUI         bool     `group:"screen" name:"no-tui" help:"Run non-interactively: the same as moon run."`

	again   func(*app.Invocation) (plan.Options, error) // plans an edited playbook
	others  status.OtherFiles                           // than those of the plans that a resumed run had before
	notice  string                                      // what to say when the screen opens, or ""
	repeats bool                                        // it may be run again from the screen
	fixed   bool                                        // what is edited does not count
	made    string                                      // the digest of the plan that was made last of what was edited

	run      string // its name
	watching bool   // files of the playbook are watched from the start
}

// Help says what happens on the screen.
func (tuiCmd) Help() string {
	return `Shows the plan, and runs it once you approve it. While it runs you can pause, step, set breakpoints, skip steps, and fix and
retry what failed; ? lists the keys.

  moon tui site.yml
  moon tui site.yml --break 'migrate if replicas > 1'
  moon tui -i hosts.ini site.yml --check --diff`
}

func (c *tuiCmd) Run(call *app.Invocation) error {
	if more := c.takeTargets(c.Named); len(more) > 0 {
		return app.Usage("%s: the TUI is for one playbook; moon run runs several, and :%[1]s names a step", more[0])
	}
	if c.NoTUI && len(c.Break) > 0 {
		return app.Usage("--break pauses a run for you to look; that needs the TUI")
	}
	if c.NoTUI {
		// The same command, with what its flags have in common.
		return (&runCmd{
			savedFlags: c.savedFlags, runFlags: c.runFlags, becomeFlags: c.becomeFlags, headlessFlags: c.headlessFlags,
			exportFlags: c.exportFlags,
		}).Run(call)
	}
	if why := c.noUI(); why != "" {
		return app.Usage("%s; nothing was run. Use --no-tui, or moon run, to run without the TUI", why)
	}
	if err := c.settle(call); err != nil {
		return err
	}
	whole, id := c.targets, "" // of the run that is continued when the playbook changes, and not one of a few steps
	for run := c.once; ; {
		err := app.WhenFree(call, c.WaitLock, func() error { return run(call) })
		again, ok := errors.AsType[*tui.AgainError](err)
		if !ok {
			return err
		}
		if id == "" || len(c.targets) == len(whole) {
			id = c.run
		}
		c.watching, c.targets, run = again.Watching, whole, c.once
		switch {
		case again.Edited:
			run = func(call *app.Invocation) error { return c.resume(call, id) }
		case len(again.Steps) > 0:
			c.targets = again.Steps
		}
	}
}

// resume continues a run with the playbook as it is now. What is done and defined otherwise now is shown, and decided about.
func (c *tuiCmd) resume(call *app.Invocation, id string) error {
	return (&resumeCmd{
		Which: id, planFlags: c.planFlags, becomeFlags: c.becomeFlags, headlessFlags: c.headlessFlags, exportFlags: c.exportFlags,
		screenFlags: c.screenFlags, uiFlags: c.uiFlags, Lost: "ask", Changed: "ask", repeats: true, watching: c.watching,
	}).Run(call)
}

// once plans and runs, until the person has left.
func (c *tuiCmd) once(call *app.Invocation) error {
	opts, err := c.options()
	if err != nil {
		return err
	}
	c.mode, c.ask = opts, nil
	if !c.inLines() {
		c.ask = func(list []plan.Prompt) (map[string]string, error) { return c.formPrompts(call, list) }
	}
	p, g, err := c.build(call)
	if err != nil {
		return err
	}
	if !opts.Check {
		if err := refuseUntrusted(p); err != nil {
			return err
		}
	}
	c.answered = p.Answers()
	app.AskSupplied(p)
	if err := c.exportFile().Check(p, opts); err != nil {
		return err
	}
	opts.Review, opts.BreakOnFailure, opts.KeepOpen, opts.Saved = true, true, true, c.Saved != ""
	open, err := c.Exact.hold(call, p, c.expected, opts.Check)
	if err != nil {
		return err
	}
	if c.inLines() && open != "" {
		fmt.Fprintln(call.Out, open)
	}
	c.notice = inOneLine(open)
	stops, err := breakpoints(p, c.Break)
	if err != nil {
		return err
	}
	approvals, err := app.ReviewApprovals(p, c.Approve)
	if err != nil {
		return err
	}
	opts.Expanded = app.ApprovesExpanded(c.Approve)
	s, pool, err := app.Start(call, p, g, opts, c.becomePasswords(), append(approvals, stops...)...)
	if err != nil {
		return err
	}
	defer pool.Close()
	// Later plans have the answers already; a form would break into the TUI.
	c.ask = noForm
	c.again, c.fixed, c.repeats = c.planOptions, opts.Saved, p.RootFile != "-"
	return c.screen(call, s, pool, p)
}

// noForm is who answers the questions of a playbook while the screen shows its run.
func noForm(list []plan.Prompt) (map[string]string, error) {
	var names []string
	for _, q := range list {
		names = append(names, "`"+q.Name+"`")
	}
	return nil, fmt.Errorf("this run was not asked for %s; leave it and run the playbook again, or give a value with -e",
		strings.Join(names, ", "))
}

// breakpoints reads --break.
func breakpoints(p *plan.Plan, texts []string) ([]events.Order, error) {
	var orders []events.Order
	for _, text := range texts {
		list, why := engine.ParseBreak(p, text)
		if why != "" {
			return nil, app.Usage("--break %s: %s", text, why)
		}
		for _, c := range list {
			orders = append(orders, events.Order{Actor: "--break", Command: c})
		}
	}
	return orders, nil
}

// noScreen says why there can be no screen.
func noScreen() string {
	why := noTerminal()
	if why == "" && os.Getenv("TERM") == "dumb" {
		why = "the terminal is dumb (TERM=dumb)"
	}
	return why
}

// noTerminal says what is no terminal.
func noTerminal() string {
	switch {
	case !term.IsTerminal(int(os.Stdin.Fd())):
		return "standard input is not a terminal"
	case !term.IsTerminal(int(os.Stdout.Fd())):
		return "standard output is not a terminal"
	}
	return ""
}

// screen shows a run until the person has left, and leaves the report in the terminal.
func (c *tuiCmd) screen(call *app.Invocation, s *engine.Session, pool *remote.Pool, p *plan.Plan) error {
	feed, followed := s.Follow(context.Background(), false)
	var run events.Run
	shown := make(chan []events.Record)
	folded := make(chan error, 1)
	go func() {
		defer close(shown)
		folded <- foldInto(&run, feed, shown)
	}()
	ctx, closeScreen := context.WithCancel(context.Background())
	defer closeScreen()
	// A signal ends the run, and the screen with it, also where the run is over and only the report is being read.
	stop := c.onSignals(call, s, sync.OnceFunc(func() {
		go func() {
			_ = s.Wait() // what it says is asked for below
			closeScreen()
		}()
	}))
	defer stop()
	mode := ""
	if c.Check {
		mode = "dry run"
	}
	view, notice := lastview.Read(p)
	notice = cmp.Or(c.notice, notice)
	asks, screenClosed := call.Terminal.Show()
	var planning sync.Mutex // the user of another process may ask, too
	reload := func() (diag.List, error) {
		planning.Lock()
		defer planning.Unlock()
		return c.reload(call, s)
	}
	replanning.Serve(s.Dir(), reload)
	c.run = filepath.Base(s.Dir())
	files := &app.Changes{}
	defer files.Close()
	o := c.look(tui.Options{
		Plan: p, Others: c.others, Feed: shown, PlanFor: s.PlanFor, Forecast: s.Forecast, Why: s.Why, Saved: plain.ShortHome(s.Dir()),
		OutDir: s.OutDir,
		Send: func(o events.Order) {
			o.Actor = "tui"
			s.Send(o)
		},
		PredictAll: func(ctx context.Context, p *plan.Plan, left func(int) bool, tell func(*events.Prediction)) {
			// Predictions of an earlier plan must not be compared with what this one does.
			s.ExpectNothing()
			app.NewPredictor(call.Asker, p, pool, !c.NoConnect, c.Force, left).PredictAll(ctx, func(f *events.Prediction) {
				s.Expect(p, f)
				tell(f)
			})
		},
		Bind:    s.StepNow,
		Predict: c.predict(call.Asker, s, pool),
		Preview: engine.Preview,
		Keys:    c.keys, View: view, KeepView: lastview.Keeper(call, p), Notice: notice,
		Eval: s.Eval, CheckBreak: bind.CheckBreak, ParseBreak: engine.ParseBreak,
		Reload: reload, Watching: c.watching,
		Shell: shellAt(s), Clipboard: exec.Clipboard,
		Editor: editor(call),
		Mode:   mode, Aside: asks, Again: c.repeats,
	})
	if !c.fixed && p.RootFile != "-" {
		o.Await = files.Await
	}
	if c.repeats {
		o.Examine = func(p *plan.Plan, changed []string) (tui.Examined, error) { return c.examine(call, s, p, changed) }
	}
	show := tui.Run
	if c.inLines() {
		show = c.lines(call, s)
	}
	err := show(ctx, o)
	// From here on messages may be printed again.
	screenClosed()
	again, isAgain := errors.AsType[*tui.AgainError](err)
	if isAgain || isCut(err) {
		err = nil
	}
	if err != nil {
		// The screen is gone, perhaps with its terminal: nothing more starts unseen, and what runs may end.
		s.Send(events.Order{Actor: "moon", Command: events.Stop{How: events.StopDrain}})
	}
	// Both are waited for: the report needs the whole feed, and the run its last record.
	broken, over := <-folded, s.Wait()
	if errors.Is(err, tui.ErrForced) && run.Result.Outcome != "" {
		err = nil // it has ended nevertheless, and how is what counts
	}
	end := errors.Join(app.WrapDisk(broken), app.WrapDisk(over), app.WrapDisk(err), app.WrapDisk(followed()), app.ExitOf(run.Result))
	end = errors.Join(end, c.exportFile().Write(call, run.Result))
	last := s.PlanFor(run.Digest)
	if last == nil || run.Result.Outcome == "" {
		return end
	}
	if err := c.leave(call, s, last, &run); err != nil {
		return errors.Join(end, app.WrapDisk(err))
	}
	if isAgain && end == nil {
		return again
	}
	return end
}

// predict says what the step would do that comes next. A dry run has said that already: what the steps before it only would have made is
// not there to look at.
func (c *tuiCmd) predict(asker *process.Asker, s *engine.Session,
	pool *remote.Pool,
) func(ctx context.Context, p *plan.Plan, step int) *events.Prediction {
	if c.Check {
		return nil
	}
	return func(ctx context.Context, p *plan.Plan, step int) *events.Prediction {
		f, err := s.Predict(ctx, step, app.NewPredictor(asker, p, pool, !c.NoConnect, c.Force, nil))
		if err != nil {
			return nil
		}
		return f
	}
}

// foldInto folds a feed and passes it on. A panic on the way must not end the process while the terminal belongs to the
// screen, nor keep the engine waiting: the rest is only read.
func foldInto(run *events.Run, feed <-chan []events.Record, shown chan<- []events.Record) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error in the report: %v\n%s", r, debug.Stack())
			*run = events.Run{} // there is no report of half a run
			for batch := range feed {
				shown <- batch
			}
		}
	}()
	for batch := range feed {
		for _, r := range batch {
			run.Apply(r)
		}
		shown <- batch
	}
	return nil
}

// leave prints the report. Of a run that was left in review nothing is kept but a line.
func (c *tuiCmd) leave(call *app.Invocation, s *engine.Session, p *plan.Plan, run *events.Run) error {
	if !started(run) {
		fmt.Fprintf(call.Out, "moon  %s   nothing was run\n", termtext.CleanName(p.RootFile))
		return s.Discard()
	}
	return plain.Report{Plan: p, Run: run, Dir: s.Dir(), ASCII: draw.ASCII(c.Glyphs, os.Getenv), Words: c.inLines()}.Write(call.Out)
}

func started(run *events.Run) bool {
	for i := range run.Steps {
		if run.Steps[i].Attempt > 0 {
			return true
		}
	}
	return false
}

// examine says what a change of files means for a run that is over: the plan has become another, or the sources of some steps have changed.
func (c *tuiCmd) examine(call *app.Invocation, s *engine.Session, before *plan.Plan, changed []string) (found tui.Examined, err error) {
	o, err := c.again(call)
	if err != nil {
		return found, err
	}
	o.Values.Overrides, o.Reads = s.Overrides(), s.Reads() // what the run itself has changed is not an edit
	p, _, ds := engine.Build(o)
	if found.Diagnostics = ds; p == nil {
		return found, nil
	}
	if found.Edited = p.Digest != before.Digest; !found.Edited {
		found.Steps = app.PathsConcerned(p, app.SourcesChanged(before, changed))
	}
	return found, nil
}

// reload plans again after an edit and gives the run the new plan.
func (c *tuiCmd) reload(call *app.Invocation, s *engine.Session) (diag.List, error) {
	if c.fixed {
		return nil, errors.New("this run is of a saved plan, and runs exactly that; plan again to run what was edited")
	}
	o, err := c.again(call)
	if err != nil {
		return nil, err
	}
	o.Values.Overrides = s.Overrides() // they are the run's, and not the playbook's
	o.Reads = s.Reads()
	if o.Path == "-" {
		return nil, errors.New("a playbook from standard input cannot be read again")
	}
	p, g, ds := engine.Build(o)
	if p == nil {
		return ds, nil
	}
	c.made = p.Digest
	return ds, s.Replan(p, g)
}
