package embed

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"moon/exec/agent"
	"moon/exec/remote"
	"moon/internal/build"
)

// Agent makes this process the far end of a connection if moon has started it for that: as another user, or on a host that was sent this
// program because there is no moon-agent for its system. It does not return then. Call it first in main; otherwise it does nothing. The
// program cannot have a command of its own that is called agent.
func Agent() {
	if asked, err := remote.Asked(os.Args[1:], os.Stdout); asked { // by ssh, for a password
		exit(err)
	}
	if len(os.Args) < 2 || os.Args[1] != "agent" {
		return
	}
	o, err := agent.ReadFlags(os.Args[2:])
	if err == nil {
		o.Build = build.Stamp()
		ctx, end := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP)
		defer end()
		signal.Notify(make(chan os.Signal, 1), os.Interrupt) // an interrupt is for what it has started
		err = agent.Run(ctx, os.Stdin, os.Stdout, o)
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "moon agent:", err)
		os.Exit(2) //nolint:revive // this process is the agent, and nothing else
	}
	os.Exit(0) //nolint:revive // as above
}
