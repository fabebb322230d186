package remote

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
)

// copiesBetween reports whether a job moves files between this machine and its host, which rsync does from here.
func copiesBetween(job *exec.Job) bool {
	args, ok := job.Args.(*spec.SynchronizeArgs)
	return ok && job.Host != nil && !args.Local
}

// synchronize has rsync run here for a host. What it starts to reach the host shares the connection that is open already, so that
// nothing is asked for again, and what cannot be reached is known before.
func (l *Pool) synchronize(ctx context.Context, job *exec.Job, run func(context.Context, *exec.Job) exec.Result) exec.Result {
	fail := func(text string) exec.Result {
		return exec.Result{Outcome: events.Failed, Class: fault.Fatal, Error: text}
	}
	switch {
	case job.Background != nil:
		return fail("synchronize does not run in the background; remove `async`")
	case job.Creates+job.Removes+job.Unless+job.OnlyIf != "" || job.Incremental != nil:
		return fail("synchronize with another host cannot have `creates`, `removes`, `unless`, `onlyif` or `sources`: test for it in a step before")
	}
	if _, err := l.openConn(ctx, keyOf(job)); err != nil {
		if away, ok := errors.AsType[*UnreachableError](err); ok {
			return away.toResult()
		}
		return exec.Result{Outcome: events.Cancelled, Error: string(reasonOf(ctx))}
	}
	args := *job.Args.(*spec.SynchronizeArgs)
	var err error
	if args.Peer, err = l.peerOf(*job.Host, &args); err != nil {
		return fail(err.Error())
	}
	if job.Become != nil && args.RsyncPath == "" {
		if args.Peer.Rsync, err = rsyncAs(*job.Become); err != nil {
			return fail(err.Error())
		}
	}
	here := *job
	here.Host, here.Become, here.Args, here.Cwd, here.Roams = nil, nil, &args, "/", true
	return run(ctx, &here)
}

// rsyncAs starts rsync on a host as another user. There is no way for a password: rsync has both ends of the connection.
func rsyncAs(b exec.Become) (string, error) {
	user, err := syntax.Quote(b.User, syntax.LangPOSIX) // a shell there reads it
	if err != nil {
		return "", err
	}
	switch b.Method {
	case "", "sudo":
		return "sudo -n -u " + user + " rsync", nil
	case "doas":
		return "doas -n -u " + user + " rsync", nil
	}
	return "", errors.New("rsync cannot be started with " + b.Method + ", which asks on a terminal; use `become_method: sudo`, or give `rsync_path`")
}

// peerOf is how rsync reaches a host.
func (l *Pool) peerOf(h exec.Host, args *spec.SynchronizeArgs) (*spec.Peer, error) {
	if !h.Way.IsZero() {
		return wayPeer(h)
	}
	// What a step changes of this makes it another connection.
	if args.DestPort != 0 {
		h.Port = args.DestPort
	}
	if args.PrivateKey != "" {
		h.Key = args.PrivateKey
	}
	if !args.SetRemoteUser {
		h.User = ""
	}
	argv, err := l.buildSSH(h)
	if err != nil {
		return nil, err
	}
	const end = 2 // "--" and the address, which rsync puts there itself
	return &spec.Peer{Host: cmp.Or(h.Address, h.Name), Shell: argv[:len(argv)-end]}, nil
}

// wayPeer is that for a host that is not reached by ssh. ssh makes one text of a command and has a shell there run it; so does this.
func wayPeer(h exec.Host) (*spec.Peer, error) {
	var words []string
	for _, word := range h.Way.Argv(false) {
		quoted, err := syntax.Quote(word, syntax.LangPOSIX)
		if err != nil {
			return nil, err
		}
		words = append(words, quoted)
	}
	script := `shift; exec ` + strings.Join(words, " ") + ` /bin/sh -c "$*"`
	return &spec.Peer{Host: "host", Shell: []string{"/bin/sh", "-c", script, "moon"}}, nil
}
