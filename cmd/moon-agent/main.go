// moon-agent is the far end of moon's connections, and nothing else: what moon sends to hosts if it finds one for their system, and much
// smaller than moon. No one starts it by hand.
package main

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

func main() { os.Exit(run(os.Args[1:])) }

// run answers to the words with which moon's scripts start moon on a host.
func run(args []string) (code int) {
	if len(args) == 1 && args[0] == "version" {
		fmt.Println("moon-agent", build.Stamp())
		return 0
	}
	if asked, err := remote.Asked(args, os.Stdout); asked { // by a program that wants a password
		if err != nil {
			return 1
		}
		return 0
	}
	if len(args) == 0 || args[0] != "agent" {
		fmt.Fprintln(os.Stderr, "moon-agent: moon sends this program to hosts, and starts it there; docs/plays.md says where moon looks for it")
		return 2
	}
	o, err := agent.ReadFlags(args[1:])
	if err == nil {
		o.Build = build.Stamp()
		// A terminal that goes, or a signal to end, ends what runs, in order. An interrupt is for what it has started.
		ctx, end := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGQUIT)
		defer end()
		if !signal.Ignored(syscall.SIGHUP) { // nohup: the terminal may go
			ctx, end = signal.NotifyContext(ctx, syscall.SIGHUP)
			defer end()
		}
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
		err = agent.Run(ctx, os.Stdin, os.Stdout, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "moon-agent:", err)
		return 2
	}
	return 0
}
