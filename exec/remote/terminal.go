package remote

import (
	"context"
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
)

// inFrontOf has a job that is carried out here go on on its host, in a terminal there that is joined to the one here. Its connection
// comes first: that is where it is seen whether the host can be reached, and ssh shares its connection.
func (l *Pool) inFrontOf(ctx context.Context, here, job *exec.Job) *exec.Result {
	fail := func(text string) *exec.Result {
		return &exec.Result{Outcome: events.Failed, Class: fault.Fatal, Error: text}
	}
	guarded := job.Creates+job.Removes+job.Unless+job.OnlyIf != "" || job.Incremental != nil
	for _, name := range []string{"chdir", "creates", "removes"} {
		guarded = guarded || job.Raw[name] != nil
	}
	if guarded {
		return fail("an interactive step on another host cannot have `chdir`, `creates`, `removes`, `unless`, `onlyif` or `sources`: write what it needs into its command, or test for it in a step before")
	}
	if _, err := l.openConn(ctx, keyOf(job)); err != nil {
		if away, ok := errors.AsType[*UnreachableError](err); ok {
			r := away.toResult()
			return &r
		}
		return &exec.Result{Outcome: events.Cancelled, Error: string(reasonOf(ctx))}
	}
	cwd := ""
	if !job.Roams {
		cwd = job.Cwd
	}
	prefix, err := l.prefixOn(*job.Host, job.Become, cwd)
	if err != nil {
		return fail(err.Error())
	}
	here.Prefix, here.Cwd, here.Roams = prefix, "/", true
	return nil
}

// prefixOn is what stands in front of a command so that it runs on a host in the foreground.
func (l *Pool) prefixOn(h exec.Host, b *exec.Become, cwd string) ([]string, error) {
	prefix := h.Way.Argv(true)
	if h.Way.IsZero() {
		var err error
		if prefix, err = l.quotingPrefix(h); err != nil {
			return nil, err
		}
	}
	if cwd != "" {
		prefix = append(prefix, "/bin/sh", "-c", `cd "$0" && exec "$@"`, cwd)
	}
	if b == nil {
		return prefix, nil
	}
	as := *b
	if as.Method == "" {
		as.Method = "sudo" // whoever logs in there
	}
	return append(prefix, Prefix(as)...), nil
}

// quotingPrefix is that for ssh, which makes one text of all words it is given, and a shell there takes it apart again: so they are
// quoted on the way.
func (l *Pool) quotingPrefix(h exec.Host) ([]string, error) {
	argv, err := l.buildSSH(h, "-q", "-tt")
	if err != nil {
		return nil, err
	}
	var words strings.Builder
	for _, word := range argv {
		quoted, err := syntax.Quote(word, syntax.LangPOSIX)
		if err != nil {
			return nil, err
		}
		words.WriteString(quoted + " ")
	}
	const quotes = `q=; for a; do q="$q '$(printf %s "$a" | sed "s/'/'\\\\''/g")'"; done; exec `
	return []string{"/bin/sh", "-c", quotes + words.String() + `"$q"`, "sh"}, nil
}
