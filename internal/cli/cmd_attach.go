package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"moon/engine"
	"moon/engine/control"
	"moon/engine/history"
	"moon/events"
	"moon/events/rundir"
	"moon/exec"
	"moon/internal/app"
	"moon/internal/app/statedir"
	"moon/internal/cli/lastview"
	"moon/internal/cli/replanning"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/bind"
	"moon/tui"
	"moon/tui/draw"
	"moon/tui/plain"
)

// attachCmd is a second terminal at a live run.
type attachCmd struct {
	Which       string   `arg:"" optional:"" name:"run" help:"The run or a unique prefix of its name; default the latest live run."`
	Send        []string `sep:"none" env:"-" placeholder:"COMMAND" help:"Send a command instead of following; see below. May be given several times."`
	Output      []string `short:"o" sep:"none" default:"text" placeholder:"FORMAT[:FILE]" help:"As for moon run."`
	Verbose     bool     `short:"v" help:"Show the command of every step."`
	TUI         bool     `name:"tui" env:"-" help:"Show the run in the TUI, from where you can decide as in the terminal that has it."`
	vaultFlags  `group:"passwords"`
	screenFlags `group:"screen"`
}

// Help says what can be sent.
func (attachCmd) Help() string {
	return `Without --send, prints the run from its first event to its end, and exits with its exit code. Ctrl-C stops moon attach, not the run.
With --tui, opens the TUI on the run: approve, step, set breakpoints, fix and retry there. q, then d, detaches; the run continues.

  moon attach
  moon attach --tui
  moon attach 20261102 --send pause --send skip=step-0007

Commands, each with --send:
  pause              start nothing new; running steps finish
  continue           start steps again
  step               run one step, and pause again
  stop[=HOW]         end the run: drain (the default) lets running steps finish, interrupt interrupts them, now kills them
  approve=STEP       approve steps, also those that need confirmation; with the socket of another user's run instead of RUN,
                     one step that certain people have to confirm
  skip=STEP          exclude steps, or continue without a failed step that waits for a decision
  restore=STEP       undo a skip
  mark=STEP          mark steps as done: failed steps, or steps that have not begun
  rerun=STEP         run done steps again; the run must be paused.  rerun-dependents=STEP runs the done steps that depend
                     on them again too
  keep=STEP          keep the results of done steps whose definition has changed
  break=STEP         pause before steps, like moon tui --break;  clear=STEP removes the breakpoint
  retry=STEP         retry failed steps
  accept=STEP        accept what drifted steps would do now, and try them again
  replan             have the run read its edited playbook again, if a TUI has started it
  set=NAME=VALUE     change a variable for the rest of the run, which must be paused; done steps stay done
  answer=STEP        continue a pause step;  reject=STEP rejects it
STEP is an id, a path, a name (* stands for any text), file:line, or all. The exit code is 2 if a command is refused.`
}

func (c *attachCmd) Run(call *app.Invocation) error {
	switch why := noScreen(); {
	case c.TUI && len(c.Send) > 0:
		return app.Usage("--send sends commands instead of following; give it without --tui")
	case strings.Contains(c.Which, "/") && len(c.Send) == 0:
		return app.Usage("the run of another user is not shown here; confirm a step of it with --send approve=STEP")
	case c.TUI && why != "":
		return app.Usage("%s; moon attach without --tui needs none", why)
	}
	if strings.Contains(c.Which, "/") { // the socket of another user's run, in which this one may confirm steps
		return c.sendTo(call, filepath.Base(c.Which), func() (*control.Client, error) { return control.DialSocket(c.Which) })
	}
	state, err := app.StateDir()
	if err != nil {
		return err
	}
	var past history.Past
	if c.Which == "" {
		past, err = history.FindLive(state.Runs())
	} else if past, err = history.Find(state.Runs(), c.Which); err == nil && !past.Live {
		// Only a live run can be followed; the others are shown.
		err = fmt.Errorf("%s is not in progress (%s); moon show %s says what it did", past.ID, outcomeOf(past), past.ID)
	}
	if err != nil {
		return app.Usage("%s", err)
	}
	if len(c.Send) > 0 {
		return c.sendTo(call, past.ID, func() (*control.Client, error) { return control.Dial(past.Dir) })
	}
	if c.TUI {
		return c.screen(call, past, state)
	}
	return c.follow(call, past)
}

// screen shows the run as the terminal that has it does, until the user leaves or the run ends.
func (c *attachCmd) screen(call *app.Invocation, past history.Past, state statedir.Dir) error {
	if err := c.settle(call); err != nil {
		return err
	}
	deliver := engine.DeliverTo(past.Dir)
	a, err := engine.Attach(past, state.Durations(), replanned(call, past, c.vaultFlags), deliver)
	if err != nil {
		return app.Usage("%s cannot be followed: %s", past.ID, err)
	}
	// A signal must not leave the terminal as the screen has it, nor does it stop the run.
	ctx, stop := call.Signals.Until(context.Background())
	defer stop()
	feed, followed := a.Follow(ctx, false)
	shown, folded := make(chan []events.Record), make(chan error, 1)
	var run events.Run
	go func() {
		defer close(shown)
		folded <- foldInto(&run, feed, shown)
	}()
	mode := "attached"
	if past.Options.Check {
		mode = "attached to a dry run"
	}
	pool := call.Hosts.Take()
	defer pool.Close()
	p := a.PlanFor(past.Digest)
	view, notice := lastview.Read(p)
	err = tui.Run(ctx, c.look(tui.Options{
		Plan: p, Feed: shown, Attached: true, PlanFor: a.PlanFor, Forecast: a.Forecast, Why: a.Why, Saved: plain.ShortHome(past.Dir),
		OutDir: func() string { return rundir.Output(past.Dir) }, Send: a.Send, Bind: a.StepNow, Eval: a.Eval, Preview: engine.Preview,
		// Only what this machine can say without connecting: the connections are those of the other process.
		PredictAll: func(ctx context.Context, p *plan.Plan, left func(int) bool, tell func(*events.Prediction)) {
			app.NewPredictor(call.Asker, p, pool, false, past.Options.Force, left).PredictAll(ctx, tell)
		},
		Keys: c.keys, View: view, Notice: notice, CheckBreak: bind.CheckBreak, ParseBreak: engine.ParseBreak,
		Clipboard: exec.Clipboard, Editor: replanning.Editor(editor(call)), Mode: mode,
		Reload: func() (diag.List, error) { return replanning.Ask(deliver) },
	}))
	if isCut(err) {
		err = nil
	}
	stop()
	broken, unread := <-folded, followed()
	if isCut(unread) { // left before the end
		return errors.Join(app.WrapDisk(err), app.WrapDisk(broken))
	}
	end := errors.Join(app.WrapDisk(err), app.WrapDisk(broken), app.WrapDisk(unread))
	if run.Result.Outcome == "" {
		return errors.Join(end, orphaned(past))
	}
	last := a.PlanFor(run.Digest)
	if last == nil || end != nil {
		return errors.Join(end, app.ExitOf(run.Result))
	}
	report := plain.Report{Plan: last, Run: &run, Dir: past.Dir, ASCII: draw.ASCII(c.Glyphs, os.Getenv)}
	return errors.Join(report.Write(call.Out), app.ExitOf(run.Result))
}

// orphaned is the end of a feed without an end of the run.
func orphaned(past history.Past) error {
	return app.NewExit(app.ExitDisk, fmt.Sprintf("%s: its moon process is gone; moon resume %s continues it", past.ID, past.ID))
}

// follow prints the run from its first event on, as the terminal that has it does, until it ends.
func (c *attachCmd) follow(call *app.Invocation, past history.Past) error {
	outs, err := app.ParseOutputs(c.Output, c.Verbose, past.Options.Diff)
	if err != nil {
		return err
	}
	for i := range outs {
		outs[i].Watched = true
	}
	w, err := engine.NewWatch(past, replanned(call, past, c.vaultFlags))
	if err != nil {
		return app.Usage("%s cannot be followed: %s", past.ID, err)
	}
	// A reader of standard output that goes away ends this process, and the run goes on without a witness.
	result, err := app.Tell(context.Background(), call, w, rundir.Output(past.Dir), outs)
	if err != nil {
		return app.WrapDisk(err)
	}
	if result.Outcome == "" {
		return orphaned(past)
	}
	return app.ExitOf(result)
}

// sendTo sends one command after the other, as long as they are accepted.
func (c *attachCmd) sendTo(call *app.Invocation, run string, dial func() (*control.Client, error)) (err error) {
	requests := make([]control.Request, len(c.Send))
	for i, text := range c.Send {
		// All are read before one is sent: a typing error must not leave half of them done.
		if requests[i], err = request(text); err != nil {
			return err
		}
	}
	client, err := dial()
	if err != nil {
		return app.Usage("%s: %s", run, err)
	}
	defer func() { _ = client.Close() }() // the answers are here
	for i, r := range requests {
		// A run that syncs to a slow disk may take its time.
		a, err := client.Send(r, time.Minute)
		if err != nil {
			return app.WrapDisk(fmt.Errorf("%s: %s: %w", run, c.Send[i], err))
		}
		if !a.Accepted {
			return app.Usage("%s refused %s: %s", run, c.Send[i], a.Reason)
		}
		if _, err := fmt.Fprintf(call.Out, "%s: %s accepted\n", run, c.Send[i]); err != nil {
			return app.WrapDisk(err)
		}
	}
	return nil
}

// request reads a command as --send takes it.
func request(text string) (control.Request, error) {
	var id [8]byte
	rand.Read(id[:])
	do, argument, given := strings.Cut(text, "=")
	r := control.Request{ID: hex.EncodeToString(id[:]), Do: do}
	switch {
	case do == "stop":
		r.How = argument
	case given:
		r.Step = argument
	}
	// "pause=" is more likely a variable of a script that is empty.
	if do == "" || given && argument == "" {
		return r, app.Usage("--send %q: give a command such as pause, or approve=step-0003", text)
	}
	return r, nil
}
