package cli

import (
	"context"
	"os"

	"moon/exec/agent"
	"moon/internal/app"
	"moon/internal/build"
)

// agentCmd is the far end of a connection. moon starts it itself.
type agentCmd struct {
	Clean  bool `env:"-" help:"Use the environment of a fresh process of this user."`
	Kept   bool `env:"-" help:"Clean up the cache that this program is kept in."`
	Keep   bool `env:"-" help:"Do one job, which comes on standard input, in the background."`
	Unlink bool `env:"-" help:"Remove this program, which was copied for this agent only."`
}

func (c *agentCmd) Run(call *app.Invocation) error {
	// A terminal that goes, or somebody who ends the agent, ends what runs, and in order.
	ctx, end := context.WithCancel(context.Background())
	defer end()
	defer call.Signals.Take(func(sig os.Signal) bool {
		if sig != os.Interrupt {
			end()
		}
		return false
	})()
	o := agent.Options{Clean: c.Clean, Kept: c.Kept, Keep: c.Keep, Unlink: c.Unlink, Build: build.Stamp()}
	if err := agent.Run(ctx, call.In, call.Out, o); err != nil {
		return app.Usage("%s", err)
	}
	return nil
}
