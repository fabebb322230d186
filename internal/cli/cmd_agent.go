package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"moon/exec/remote"
	"moon/internal/app"
)

// agentCmd is the far end of a connection. moon starts it itself.
type agentCmd struct {
	Clean  bool `env:"-" help:"Use the environment of a fresh process of this user."`
	Kept   bool `env:"-" help:"Clean up the cache that this program is kept in."`
	Keep   bool `env:"-" help:"Do one job, which comes on standard input, in the background."`
	Unlink bool `env:"-" help:"Remove this program, which was copied for this agent only."`
}

func (c *agentCmd) Run(call *app.Invocation) error {
	if c.Kept {
		// The copy on this machine is no longer needed once the process runs; its name goes first, so that no kill leaves it behind.
		go func() { _ = remote.Tend() }() // or the next one does
	}
	if c.Unlink {
		if err := remote.Unlink(); err != nil {
			return app.Usage("%s", err)
		}
	}
	if c.Clean {
		if err := remote.CleanEnv(); err != nil {
			return app.Usage("%s", err)
		}
	}
	syscall.CloseOnExec(3) // this program, perhaps
	// The directory that the agent was started in may be removed or unmounted meanwhile.
	if err := os.Chdir("/"); err != nil {
		return app.Usage("%s", err)
	}
	// A terminal that goes, or somebody who ends the agent, ends what runs, and in order. So does an end of the connection that
	// is found by writing to it: what runs must not outlive the agent.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, end := context.WithCancel(context.Background())
	defer end()
	defer call.Signals.Take(func(sig os.Signal) bool {
		if sig != os.Interrupt {
			end()
		}
		return false
	})()
	if c.Keep {
		if err := remote.Keep(ctx, call.In, call.Out, build()); err != nil {
			return app.Usage("%s", err)
		}
		return nil
	}
	if err := remote.Serve(ctx, call.In, call.Out, build()); err != nil {
		return app.Usage("%s", err)
	}
	return nil
}
