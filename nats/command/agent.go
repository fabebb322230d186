package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"moon/internal/app"
	"moon/nats/agent"
	"moon/nats/link"
	"moon/nats/session"
)

// isFrames reports whether this process is moon's own agent, which speaks in frames over its standard input: the other one is started by
// people and services, who give it flags of its own, or no pipe.
func isFrames(args []string, in *os.File) bool {
	own := []string{"--clean", "--kept", "--keep", "--unlink"}
	if len(args) > 0 {
		return slices.Contains(own, args[0])
	}
	info, err := in.Stat()
	return err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0
}

// serveHost serves this machine to plays until a signal ends it.
func serveHost(ctx context.Context, o link.Options, args []string) (int, error) {
	name, names := "", ""
	if err := take(args, map[string]*string{"--name": &name, "--names": &names}); err != nil {
		return app.ExitUsage, err
	}
	list := []string{name}
	switch {
	case name != "" && names != "":
		return app.ExitUsage, errors.New("--name and --names do not go together")
	case names != "":
		var err error
		if list, err = spread(names); err != nil {
			return app.ExitUsage, err
		}
	case name == "":
		host, err := os.Hostname()
		if err != nil {
			return app.ExitUsage, fmt.Errorf("find the name of this machine: %w; give --name", err)
		}
		list[0] = host
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT)
	defer stop()
	if err := agent.Serve(ctx, o, agent.Options{Names: list, Log: os.Stdout}); err != nil {
		return app.ExitUsage, err
	}
	return app.ExitDone, nil
}

// spread is h[1:3] as h1, h2 and h3. It is for trials with many hosts on one machine.
func spread(text string) (list []string, err error) {
	before, rest, ok := strings.Cut(text, "[")
	bounds, after, closed := strings.Cut(rest, "]")
	from, to, both := strings.Cut(bounds, ":")
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	const most = 10000
	if !ok || !closed || !both || errors.Join(err1, err2) != nil || first < 0 || last < first || last-first >= most {
		return nil, fmt.Errorf("--names is a name with a range of at most %d numbers such as h[1:20], and not %q", most, text)
	}
	for i := first; i <= last; i++ {
		list = append(list, fmt.Sprintf("%s%d%s", before, i, after))
	}
	return list, nil
}

// joinSession runs a command at the agent of a host. moon starts it; what it prints is read as ssh's is, and its exit code is the
// command's.
func joinSession(ctx context.Context, o link.Options, args []string) (code int, err error) {
	call := session.Call{}
	if len(args) > 0 && args[0] == "-t" {
		var giveBack func()
		if giveBack, err = takeTerminal(&call); err != nil {
			return session.Lost, err
		}
		defer giveBack()
		args = args[1:]
	}
	if len(args) < 2 {
		return app.ExitUsage, errors.New("connect needs the name of a host and a command, as in moon-nats connect web1 uname -a; with a terminal: connect -t web1 sh")
	}
	// Who wants the output may go before the session has ended, which is found by writing to it.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	call.Host, call.Argv, code = args[0], args[1:], session.Lost
	l, err := dialPatiently(o)
	if err == nil {
		defer l.Close()
		code, err = session.Run(ctx, l, call, os.Stdin, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err) // moon says by which program
	}
	return code, nil
}

// takeTerminal has the terminal of this process be that of the program: what is typed is for it, and so are changes of the size.
func takeTerminal(call *session.Call) (giveBack func(), err error) {
	in := int(os.Stdin.Fd())
	before, err := term.MakeRaw(in)
	if err != nil {
		return nil, fmt.Errorf("connect -t needs a terminal as its standard input: %w", err)
	}
	look := func() session.Window {
		w, h, err := term.GetSize(in)
		if err != nil {
			w, h = 80, 24
		}
		return session.Window{Term: os.Getenv("TERM"), Rows: uint16(h), Cols: uint16(w)}
	}
	first := look()
	sizes := make(chan session.Window)
	call.Window, call.Sizes = &first, sizes
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	go func() {
		for range changed {
			sizes <- look()
		}
	}()
	return func() { _ = term.Restore(in, before) }, nil // or it has gone
}

// dialPatiently connects, also while a server is being replaced by another.
func dialPatiently(o link.Options) (l *link.Link, err error) {
	const tries = 3
	for i := range tries {
		if l, err = link.Connect(o); err == nil || i+1 == tries {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	return l, err
}

// toEnv has the processes that this one starts reach the same servers.
func toEnv(o link.Options) error {
	for name, value := range map[string]string{
		"MOON_NATS": o.URL, "MOON_NATS_CREDS": o.Credentials, "MOON_NATS_CA": o.CA, "MOON_NATS_CERT": o.Cert, "MOON_NATS_KEY": o.Key,
	} {
		if value == "" || value == usualURL || value == os.Getenv(name) {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}
