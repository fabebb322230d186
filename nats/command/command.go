package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"moon/engine/history"
	"moon/engine/journal"
	"moon/exec/remote"
	"moon/exec/way"
	"moon/internal/app"
	"moon/internal/app/statedir"
	"moon/internal/cli"
	"moon/nats/link"
	"moon/nats/mirror"
	"moon/nats/record"
	"moon/nats/serve"
)

// Help is what moon-nats has in addition to moon.
const Help = `moon-nats is moon with runs that are kept in a stream of NATS: they outlive their machine, and can be attended from any other.
All commands of moon are there. In addition, and instead:

  moon-nats serve [--dir DIR] [--listen HOST:PORT]   a server of your own; the default listens on 127.0.0.1:4222
  moon-nats config                                   a configuration to begin with: who may run, attend and watch
  moon-nats run|tui|destroy PLAYBOOK                 as with moon, recorded in the stream
  moon-nats runs                                     the runs of the stream, of all machines
  moon-nats show RUN                                 what became of a run
  moon-nats attach [--tui] [RUN], moon-nats tui RUN  follow, or attend, a run that another machine executes
  moon-nats resume RUN [--take]                      continue a run here whose process is gone; --take: from a process that lives
  moon-nats agent [--name NAME]                      on a host: connect from there, and serve it to plays by ` + "`connection: nats`" + `
  moon-nats connect [-t] HOST COMMAND                run a command there; -t: with a terminal
  moon-nats worker [--labels A,B] [--at-once N]      run jobs of the queue, and resume runs whose process is gone, as they come
  moon-nats submit PLAYBOOK|PLAN, queue, cancel JOB  runs that wait for a worker
  moon-nats schedule NAME CRON PLAYBOOK|PLAN, schedules, unschedule NAME  jobs that are submitted at times
  moon-nats notify --url URL|--command CMD [--on waits,failed,done]  tell others what happens in runs
  moon-nats state PLAYBOOK [--history]               what runs have made, on all machines; --history: who has recorded what, and when
  moon-nats forget RUN…                              remove runs from the stream
  moon-nats prune --stream [--keep N] [--older AGE] [--size SIZE] [--unfinished] [--dry-run] [--every TIME]  remove old runs and jobs there

Flags, before or after the command: --nats URL (or MOON_NATS, default nats://127.0.0.1:4222), --creds FILE, --ca FILE, --cert FILE and
--key FILE, --replicas N, --lease TIME, --groups FILE (who may confirm what). moon-nats help COMMAND is moon's own help of a command.
`

// Main runs moon-nats with the arguments after its name, and returns the exit code.
func Main(args []string) int {
	way.Self.Name = "moon-nats"
	if path, err := os.Executable(); err == nil {
		way.Self.Path = path
	} else {
		way.Self.Name = "" // then it is looked for in PATH
	}
	// An agent on another machine is this program, too.
	if asked, err := remote.Asked(args, os.Stdout); asked {
		if err != nil {
			fmt.Fprintln(os.Stderr, "moon-nats:", err)
			return app.ExitUsage
		}
		return app.ExitDone
	}
	code, err := run(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "moon-nats:", err)
		if code == app.ExitDone {
			code = app.ExitDisk
		}
	}
	return code
}

func run(args []string) (int, error) {
	// What is not a command of moon-nats is one of moon.
	o, groups, args, err := flags(args)
	if err != nil {
		return app.ExitUsage, err
	}
	if len(args) == 0 || args[0] == "--help" || args[0] == "-h" || args[0] == "help" && len(args) == 1 {
		fmt.Print(Help)
		return app.ExitDone, nil
	}
	if args[0] == "help" {
		return passOn(nil, args[1], "--help")
	}
	// What this process starts, such as the sessions to hosts, reaches the same servers.
	if err := toEnv(o); err != nil {
		return app.ExitUsage, err
	}
	if err := os.Setenv(groupsFile, groups); err != nil {
		return app.ExitUsage, err
	}
	// Only moon-nats continues its runs, so they are not where moon looks.
	if err := statedir.Nest("moon-nats"); err != nil {
		return app.ExitUsage, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := shareStates(ctx, o); err != nil {
		return app.ExitUsage, err
	}
	defer states.Close()
	switch args[0] {
	case "agent":
		if isFrames(args[1:], os.Stdin) {
			break
		}
		return serveHost(ctx, o, args[1:])
	case "connect":
		return joinSession(ctx, o, args[1:])
	case "config":
		fmt.Print(serve.Example)
		return app.ExitDone, nil
	case "serve":
		return app.ExitDone, server(ctx, args[1:])
	case "runs":
		return with(ctx, o, func(l *link.Link) (int, error) { return app.ExitDone, runs(ctx, l) })
	case "forget":
		return with(ctx, o, func(l *link.Link) (int, error) { return app.ExitDone, forget(ctx, l, args[1:]) })
	case "prune":
		if slices.Contains(args, ofStream) {
			return with(ctx, o, func(l *link.Link) (int, error) { return prune(ctx, l, args[1:]) })
		}
	case "worker":
		return with(ctx, o, func(l *link.Link) (int, error) { return app.ExitDone, worker(ctx, l, args[1:], o) })
	case "submit", "queue", "cancel", "schedule", "schedules", "unschedule", "notify":
		return with(ctx, o, func(l *link.Link) (int, error) { return queued(ctx, l, args[0], args[1:]) })
	case "attach", "show":
		if slices.Contains(args, "--help") {
			return passOn(nil, args...)
		}
		return with(ctx, o, func(l *link.Link) (int, error) { return attend(ctx, l, args) })
	case "resume":
		if slices.Contains(args, "--help") {
			return passOn(nil, args...)
		}
		return with(ctx, o, func(l *link.Link) (int, error) { return resume(ctx, l, args) })
	case "state":
		if i := slices.Index(args, "--history"); i > 0 {
			return app.ExitDone, tellHistory(slices.Delete(args, i, i+1)[1:])
		}
	case "run", "tui", "destroy":
		if slices.Contains(args, "--help") {
			return passOn(nil, args...)
		}
		if args[0] == "tui" && len(args) > 1 && runID.MatchString(args[len(args)-1]) { // of a run, and not of a playbook
			attached := slices.Concat([]string{"attach", "--tui"}, args[1:])
			return with(ctx, o, func(l *link.Link) (int, error) { return attend(ctx, l, attached) })
		}
		return with(ctx, o, func(l *link.Link) (int, error) {
			r := record.New(l)
			defer r.Close()
			if err := bindTo(ctx, l, r); err != nil {
				return app.ExitUsage, err
			}
			return passOn(r, args...)
		})
	}
	return passOn(nil, args...)
}

// Prepare is given each call of moon that is recorded, before it begins. Tests let it crash at any point.
var Prepare = func(*app.Invocation) {}

// passOn is a call of moon. What it runs is recorded, too, unless r is nil; then only those confirm steps whom the servers know.
func passOn(r *record.Recorder, args ...string) (int, error) {
	call := cli.NewInvocation(os.Stdin, os.Stdout, os.Stderr)
	if r != nil {
		groups, err := readGroups(os.Getenv(groupsFile))
		if err != nil {
			return app.ExitUsage, err
		}
		call.Session.Disk = journal.Disk{Watch: r.Watch}
		call.Session.RelayedOnly, call.Session.InGroup = true, groups.has
		Prepare(call)
	}
	return cli.Run(call, args), nil
}

// with does something by way of a connection.
func with(ctx context.Context, o link.Options, do func(*link.Link) (int, error)) (int, error) {
	l, err := link.Dial(ctx, o)
	if err != nil {
		return app.ExitUsage, err
	}
	defer l.Close()
	states.Use(l)
	return do(l)
}

func runsDir() (string, error) {
	state, err := app.StateDir()
	if err != nil {
		return "", err
	}
	return state.Runs(), nil
}

// server serves until it is told to end.
func server(ctx context.Context, args []string) error {
	state, err := app.StateDir()
	if err != nil {
		return err
	}
	o := serve.Options{Listen: "127.0.0.1:4222", Dir: filepath.Join(filepath.Dir(state.Runs()), "nats")}
	routes := ""
	if err := take(args, map[string]*string{
		"--listen": &o.Listen, "--dir": &o.Dir, "--config": &o.Config, "--name": &o.Name, "--cluster": &o.Cluster, "--routes": &routes,
	}); err != nil {
		return err
	}
	if routes != "" {
		o.Routes = strings.Split(routes, ",")
	}
	s, err := serve.New(o)
	if err != nil {
		return err
	}
	fmt.Printf("moon-nats: ready at %s; runs are kept in %s\n", s.ClientURL(), o.Dir)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT)
	defer stop()
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// runs lists the runs of the stream.
func runs(ctx context.Context, l *link.Link) error {
	ids, err := mirror.List(ctx, l)
	if err != nil {
		return err
	}
	dir, err := runsDir()
	if err != nil {
		return err
	}
	const shown = 20
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, id := range ids[:min(len(ids), shown)] {
		past, holder, err := look(ctx, l, dir, id)
		if err != nil {
			return err
		}
		state, by := string(past.Outcome), past.Actor+" on "+past.Host
		switch {
		case holder != nil:
			state, by = "in progress", fmt.Sprintf("%s on %s, process %d", holder.User, holder.Host, holder.PID)
		case state == "":
			state = "its process is gone"
		}
		fmt.Fprintf(w, "%s\t%s\t%d/%d\t%s\t%s\n", id, filepath.Join(past.Root, past.Playbook), past.Done+past.Failed, past.Total, state, by)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(ids) > shown {
		fmt.Printf("and %d before them\n", len(ids)-shown)
	}
	return nil
}

// forget removes runs from the stream. Their directories on machines stay, for moon-nats prune there.
func forget(ctx context.Context, l *link.Link, ids []string) error {
	if len(ids) == 0 {
		return errors.New("forget needs the ids of runs; moon-nats runs lists them")
	}
	for _, prefix := range ids {
		id, err := mirror.Find(ctx, l, prefix)
		if err != nil {
			return err
		}
		holder, err := l.HolderOf(ctx, id)
		if err != nil {
			return err
		}
		if holder != nil {
			return fmt.Errorf("%s is in progress: %s on %s, process %d, has it", id, holder.User, holder.Host, holder.PID)
		}
		if err := l.Runs.Purge(ctx, jetstream.WithPurgeSubject(link.All(id))); err != nil {
			return fmt.Errorf("forget %s: %w", id, err)
		}
		fmt.Printf("%s is forgotten\n", id)
	}
	return nil
}

// look makes a run of the stream here as it is by now, and says who has it.
func look(ctx context.Context, l *link.Link, dir, id string) (past history.Past, holder *link.Holder, err error) {
	if holder, err = l.HolderOf(ctx, id); err != nil {
		return past, nil, err
	}
	m, err := mirror.Make(ctx, l, dir, id)
	if _, live := errors.AsType[*mirror.LiveError](err); err != nil && !live {
		return past, holder, err
	}
	if m != nil {
		m.Close()
	}
	past, err = history.Find(dir, id)
	return past, holder, err
}

// attend shows, or follows, a run of the stream with moon's own command.
func attend(ctx context.Context, l *link.Link, args []string) (int, error) {
	id, at, err := named(ctx, l, args)
	if err != nil {
		return app.ExitUsage, err
	}
	dir, err := runsDir()
	if err != nil {
		return app.ExitUsage, err
	}
	args = slices.Concat(args[:at], []string{id}, args[min(at+1, len(args)):])
	m, err := mirror.Make(ctx, l, dir, id)
	if _, live := errors.AsType[*mirror.LiveError](err); live { // it is a run of this machine, or another terminal here mirrors it
		return passOn(nil, args...)
	}
	if err != nil {
		return app.ExitDisk, err
	}
	defer m.Close()
	holder, err := l.HolderOf(ctx, id)
	if err != nil {
		return app.ExitDisk, err
	}
	if holder != nil {
		if err := m.Follow(ctx, *holder); err != nil {
			return app.ExitDisk, err
		}
	}
	return passOn(nil, args...)
}

// resume continues a run of the stream here.
func resume(ctx context.Context, l *link.Link, args []string) (int, error) {
	force := slices.Contains(args, "--take")
	args = slices.DeleteFunc(args, func(a string) bool { return a == "--take" })
	id, at, err := named(ctx, l, args)
	if err != nil {
		return app.ExitUsage, err
	}
	dir, err := runsDir()
	if err != nil {
		return app.ExitUsage, err
	}
	holder, err := l.HolderOf(ctx, id)
	if err != nil {
		return app.ExitDisk, err
	}
	if holder != nil && !force && holder.Writer != os.Getenv(claimed) {
		return app.ExitDisk, fmt.Errorf("%s on %s, process %d, has run %s; moon-nats attach %s follows it, and --take takes it from there",
			holder.User, holder.Host, holder.PID, id, id)
	}
	m, err := mirror.Make(ctx, l, dir, id)
	if err != nil {
		return app.ExitDisk, err
	}
	last := m.Last()
	m.Close()
	r := record.New(l)
	defer r.Close()
	r.Adopt(m.Dir(), last)
	return passOn(r, slices.Concat(args[:at], []string{id}, args[min(at+1, len(args)):])...)
}

var runID = regexp.MustCompile(`^[0-9]{8}(-[0-9]{0,6}(-[0-9a-f]{0,4})?)?$`)

// named finds the run that a command names, and where it does so; without one it is the latest.
func named(ctx context.Context, l *link.Link, args []string) (id string, at int, err error) {
	prefix := ""
	at = len(args)
	for i, a := range args[1:] {
		if runID.MatchString(a) {
			prefix, at = a, i+1
			break
		}
	}
	id, err = mirror.Find(ctx, l, prefix)
	return id, at, err
}

// usualURL is that of a server that moon-nats serve starts.
const usualURL = "nats://127.0.0.1:4222"

// flags takes those of NATS out of the arguments. groups is the file that says who is in which group.
func flags(args []string) (o link.Options, groups string, rest []string, err error) {
	replicas, lease := os.Getenv("MOON_NATS_REPLICAS"), os.Getenv("MOON_NATS_LEASE")
	o = link.Options{
		URL: cmp.Or(os.Getenv("MOON_NATS"), usualURL), Credentials: os.Getenv("MOON_NATS_CREDS"), CA: os.Getenv("MOON_NATS_CA"),
		Cert: os.Getenv("MOON_NATS_CERT"), Key: os.Getenv("MOON_NATS_KEY"),
	}
	groups = os.Getenv(groupsFile)
	rest, err = readFlags(args, map[string]*string{
		"--nats": &o.URL, "--creds": &o.Credentials, "--ca": &o.CA, "--cert": &o.Cert, "--key": &o.Key,
		"--replicas": &replicas, "--lease": &lease, "--groups": &groups,
	}, "connect")
	if err != nil {
		return o, "", nil, err
	}
	if lease != "" {
		if o.Lease, err = time.ParseDuration(lease); err != nil || o.Lease < time.Second {
			return o, "", nil, fmt.Errorf("--lease is a time of at least 1s, and not %q", lease)
		}
	}
	if replicas != "" {
		if o.Replicas, err = strconv.Atoi(replicas); err != nil || o.Replicas < 1 || o.Replicas > 5 {
			return o, "", nil, fmt.Errorf("--replicas is a number from 1 to 5, and not %q", replicas)
		}
	}
	return o, groups, rest, nil
}

// readFlags takes flags out of the arguments: --name VALUE, or --name=VALUE. What follows -- is of another program, and so is what follows
// the command last, if that is the first of the rest.
func readFlags(args []string, into map[string]*string, last string) (rest []string, err error) {
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		to, known := into[name]
		switch {
		case args[i] == "--", last != "" && len(rest) == 1 && rest[0] == last:
			return append(rest, args[i:]...), nil
		case !known:
			rest = append(rest, args[i])
			continue
		case !given && i+1 == len(args):
			return nil, fmt.Errorf("%s needs a value", name)
		case !given:
			i++
			value = args[i]
		}
		*to = value
	}
	return rest, nil
}

// take reads the flags of a command that has nothing else.
func take(args []string, into map[string]*string) error {
	rest, err := readFlags(args, into, "")
	if err == nil && len(rest) > 0 {
		return fmt.Errorf("there is no flag %s here", rest[0])
	}
	return err
}

// workerEach is how often a worker looks for runs whose process is gone.
const workerEach = 2 * time.Second
