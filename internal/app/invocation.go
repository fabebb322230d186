package app

import (
	"fmt"
	"io"
	"time"

	"golang.org/x/term"

	"moon/engine"
	"moon/exec"
	_ "moon/exec/action" // jobs that run here have actions
	"moon/exec/process"
	"moon/exec/python"
	"moon/internal/app/statedir"
	"moon/internal/diag"
	"moon/internal/termtext"
	"moon/plan"
	"moon/secret"
	"moon/secret/program"
)

// Invocation is one call of moon: what it reads and writes, and what the process has only once.
type Invocation struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	Doc      io.Writer // where out goes, for documents whose values hold no secrets
	Secrets  *secret.Set
	Hosts    *connections
	Asker    *process.Asker
	Programs *program.Asked // for secrets
	Python   *python.Pools
	Values   *PluginValues
	Terminal *terminal
	Signals  *Signals

	version string // of moon
	build   string // distinguishes programs of one version that were built from different sources

	ProjectFiles []plan.Input       // files of settings that came with the project
	Warned       diag.List          // what the user should know about settings
	Brought      map[string]Brought // what flags have from these, by the name of the setting

	Session engine.Config // what every session has in common
}

// NewInvocation makes a call that reads and writes these. undo ends a screen that cannot do so itself.
func NewInvocation(in io.Reader, out, err io.Writer, version, build, undo string) *Invocation {
	t := &terminal{undo: undo}
	call := &Invocation{
		In: in, Out: out, Err: err, Doc: out, Secrets: secret.NewSet(), Terminal: t, version: version, build: build,
		Session: engine.Config{Runner: exec.Local{Lend: t.lend}, Dry: exec.DryRun{}, Version: version},
	}
	call.Signals = newSignals(t)
	call.Hosts = &connections{call: call}
	call.Asker = &process.Asker{Waiting: call.sayWaiting}
	call.Values = &PluginValues{Moon: version, Asker: call.Asker}
	call.Programs = &program.Asked{Run: call.Asker.Words}
	call.Session.Ask = call.Asker.Run
	return call
}

// Guard lets no secret through to people, until flush is called.
func (call *Invocation) Guard() (flush func()) {
	out, errs := newRedactor(call.Secrets, call.Out), newRedactor(call.Secrets, call.Err)
	call.Out, call.Err = out, errs
	return func() { out.flush(); errs.flush() }
}

// sayWaiting says to a person that moon waits for a program. The TUI says in its own words that it plans. A file that is compared
// with another must not depend on how fast the machine is, and the error of a program that takes too long names it.
func (call *Invocation) sayWaiting(what string, most time.Duration) {
	if !call.Terminal.shown() && IsTerminal(call.Err) {
		fmt.Fprintf(call.Err, "moon: waiting for %s, %s at most (--program-timeout)\n", termtext.CleanName(what), most)
	}
}

// Width is that of the terminal that out is, in cells. It is 0 if out is not a terminal: lines then are not cut.
func (call *Invocation) Width() int {
	f := FileOf(call.Out)
	if f == nil || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// StateDir is where moon keeps what outlives a call.
func StateDir() (statedir.Dir, error) {
	d, err := statedir.Find()
	if err != nil {
		return d, Usage("%s", err)
	}
	return d, nil
}
