package agent

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"moon/exec/remote"
)

// Options are the flags of an agent.
type Options struct {
	Clean  bool // the environment is made that of a fresh process of this user
	Kept   bool // the program is in the cache of the user, which is cleaned up
	Keep   bool // one job, which comes on standard input, is done in the background
	Unlink bool // the program was copied for this agent only, and is removed
	Build  string
}

// ReadFlags are the options that words say.
func ReadFlags(words []string) (o Options, err error) {
	flags := map[string]*bool{"--clean": &o.Clean, "--kept": &o.Kept, "--keep": &o.Keep, "--unlink": &o.Unlink}
	for _, word := range words {
		flag, ok := flags[word]
		if !ok {
			return o, fmt.Errorf("an agent has no flag %q", word)
		}
		*flag = true
	}
	return o, nil
}

// Run is an agent until its input or ctx ends.
func Run(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	if o.Kept {
		// The copy on this machine is no longer needed once the process runs; its name goes first, and a kill does not leave it behind.
		go func() { _ = remote.Tend() }() // or the next one does
	}
	if o.Unlink {
		if err := remote.Unlink(); err != nil {
			return err
		}
	}
	if o.Clean {
		if err := remote.CleanEnv(); err != nil {
			return err
		}
	}
	syscall.CloseOnExec(3) // this program, perhaps
	// The directory that the agent was started in may be removed or unmounted meanwhile.
	if err := os.Chdir("/"); err != nil {
		return err
	}
	// An end of the connection that is found by writing to it ends what runs, in order: it must not outlive the agent.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if o.Keep {
		return remote.Keep(ctx, in, out, o.Build)
	}
	return remote.Serve(ctx, in, out, o.Build)
}
