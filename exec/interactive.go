package exec

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"moon/events"
	"moon/exec/fault"
	"moon/exec/process"
)

// RunOnTerminal runs a command that has the user's terminal. Whoever has it now makes room.
func (a *Attempt) RunOnTerminal(ctx context.Context, argv []string) Result {
	if a.lend == nil {
		return a.Failure(ctx, fault.CommandError{
			Message: "there is no terminal for an interactive step: this moon has none to give",
			Class:   fault.Fatal,
		})
	}
	var r Result
	a.lend(func() {
		tty, err := process.BorrowTerminal()
		if err != nil {
			r = a.Failure(ctx, err)
			// The notice goes first, so that the user knows whose prompt follows.
			return
		}
		defer tty.GiveBack()
		tty.Show([]byte(a.Notice+"\r\n"), time.Second)
		if len(a.Prefix) > 0 { // sudo and the like give their command another environment than their own
			argv = slices.Concat(a.Prefix, []string{"env"}, a.settings(), argv)
		}
		p := a.Prepare(argv)
		p.Tty = tty
		record := &process.Unfolded{To: a.Output.Stdout()}
		// The record has lines without carriage returns, as other steps have.
		p.Stdout = io.MultiWriter(tty, record)
		r = a.EndedAs(p.Run(ctx), events.Changed)
		record.End()
	})
	return r
}

// settings is the step's environment as words for env.
func (a *Attempt) settings() []string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		words = append(words, name+"="+a.Env[name])
	}
	return words
}
