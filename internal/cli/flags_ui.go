package cli

import (
	"context"
	"os"

	"golang.org/x/term"

	"moon/engine"
	"moon/events"
	"moon/exec"
	"moon/internal/app"
	"moon/internal/diag"
	"moon/plan"
	"moon/tui"
	"moon/tui/console"
)

// uiFlags are how a person and a run talk.
type uiFlags struct {
	UI string `name:"ui" enum:"auto,screen,lines" default:"auto" help:"screen, or lines: plain text, one line at a time, for screen readers, simple terminals and scripts. auto selects lines if ACCESSIBLE is set or TERM is dumb."`

	interrupts chan os.Signal
}

// inLines reports whether there are lines in place of the screen.
func (f *uiFlags) inLines() bool {
	if f.UI != "auto" {
		return f.UI == "lines"
	}
	accessible := os.Getenv("ACCESSIBLE")
	return accessible != "" && accessible != "0" || os.Getenv("TERM") == "dumb"
}

// noUI says why a person cannot be shown a run. Lines need no terminal where they were asked for.
func (f *uiFlags) noUI() string {
	switch {
	case !f.inLines():
		return noScreen()
	case f.UI == "lines":
		return ""
	}
	return noTerminal()
}

// somebodyTypes reports whether somebody sits at a terminal.
func somebodyTypes() bool { return term.IsTerminal(int(os.Stdin.Fd())) }

// onSignals leaves ctrl-c to lines, where somebody can be asked what is meant by it. The screen has it as a key.
func (c *tuiCmd) onSignals(call *app.Invocation, s *engine.Session, heard func()) (stop func()) {
	if c.inLines() && somebodyTypes() {
		c.interrupts = make(chan os.Signal, 8)
	}
	return call.Signals.Control(s, call.Asker, c.interrupts, heard)
}

// lines shows a run in lines: what the screen has is what they have.
func (c *tuiCmd) lines(call *app.Invocation, s *engine.Session) func(context.Context, tui.Options) error {
	return func(ctx context.Context, o tui.Options) error {
		to := console.Options{
			Plan: o.Plan, Others: o.Others, Feed: o.Feed, PlanFor: o.PlanFor, Forecast: o.Forecast, PredictAll: o.PredictAll,
			Aside: o.Aside, OutDir: o.OutDir, Mode: o.Mode, Follow: c.Verbose, Interrupts: c.interrupts,
			In: os.Stdin, Out: call.Out, Person: somebodyTypes(),
			Send: func(o events.Order) {
				o.Actor = console.Actor
				s.Send(o)
			},
			Reload: func() (string, diag.List, error) {
				ds, err := o.Reload()
				return c.made, ds, err
			},
			Preview: o.Preview, Why: o.Why, Eval: o.Eval, Bind: o.Bind, Predict: o.Predict, Redact: s.Redact,
			Shell:  func(p *plan.Plan, step int) (console.Program, error) { return o.Shell(p, step) },
			Editor: func(file string, line int) console.Program { return exec.Editor(file, line) },
		}
		// Piped output has no width, and is not cleared.
		if f := app.FileOf(call.Out); f != nil && term.IsTerminal(int(f.Fd())) {
			to.Terminal, to.Width = f, call.Width
		}
		return console.Run(ctx, to)
	}
}
