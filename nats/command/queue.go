package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"moon/engine/control"
	"moon/internal/app"
	"moon/internal/cli"
	"moon/nats/link"
	"moon/nats/notify"
	"moon/nats/pack"
	"moon/nats/queue"
	"moon/nats/record"
	"moon/nats/schedule"
)

// ticketIn is the variable by which a worker says to the process that it starts which job it runs.
const ticketIn = "MOON_NATS_JOB"

// queued is one of the commands about jobs.
func queued(ctx context.Context, l *link.Link, name string, args []string) (int, error) {
	if name == "notify" {
		return app.ExitDone, tell(ctx, l, args)
	}
	// Who submits or looks makes what is missing, so that the first worker may come later.
	q, err := queue.Open(ctx, l)
	if err != nil {
		return app.ExitUsage, err
	}
	b, err := schedule.Open(ctx, l, q)
	if err != nil {
		return app.ExitUsage, err
	}
	switch name {
	case "submit":
		j, packed, code, err := jobFrom(ctx, q, args)
		if err != nil || code != app.ExitDone {
			return code, err
		}
		if j, err = q.Submit(ctx, j); err != nil {
			return app.ExitDisk, err
		}
		// The plan may have been one that no job had for long, and that was removed just before this one had it.
		if _, err := q.Store(ctx, packed); err != nil {
			return app.ExitDisk, err
		}
		fmt.Println(j.ID)
		return app.ExitDone, nil
	case "schedule":
		if len(args) < 2 {
			return app.ExitUsage, errors.New("moon-nats schedule takes a name, a cron expression, and what submit takes")
		}
		if _, err := schedule.Parse(args[1]); err != nil {
			return app.ExitUsage, err
		}
		j, packed, code, err := jobFrom(ctx, q, args[2:])
		if err != nil || code != app.ExitDone {
			return code, err
		}
		if err := b.Put(ctx, args[0], args[1], j); err != nil {
			return app.ExitUsage, err
		}
		if _, err := q.Store(ctx, packed); err != nil { // as with a job
			return app.ExitDisk, err
		}
		return app.ExitDone, nil
	case "queue":
		return app.ExitDone, listJobs(ctx, q, args)
	case "schedules":
		return app.ExitDone, listSchedules(ctx, b)
	}
	if len(args) != 1 {
		return app.ExitUsage, fmt.Errorf("moon-nats %s takes one name", name)
	}
	if name == "unschedule" {
		if err := b.Remove(ctx, args[0]); err != nil {
			return app.ExitUsage, err
		}
		return app.ExitDone, nil
	}
	return cancelJob(ctx, l, q, args[0])
}

// runFlags are those of moon run that a job may have, and whether they take a value. All other flags of submit are those of moon plan.
var runFlags = map[string]bool{
	"--approve": true, "--forks": true, "-f": true, "--on-failure": true, "--timeout": true, "--max-result": true,
	"--diff": false, "-D": false, "--force": false,
}

// trust is the flag that lets plugins run that came with the playbook. They are in the pack, and the plan has their digests.
const trust = "--trust-plugins"

// jobFrom plans what the arguments say, stores the plan, and gives the job. If the plan could not be made, moon has said why, and the exit
// code is its own.
func jobFrom(ctx context.Context, q *queue.Queue, args []string) (j queue.Job, packed []byte, code int, err error) {
	labels, retries := "", ""
	own := map[string]*string{"--labels": &labels, "--retries": &retries}
	var flags, rest []string
	// What is neither a flag of submit nor one of the run is left to moon plan, which says what it does not know.
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		to, ours := own[name]
		valued, ofRun := runFlags[name]
		switch {
		case (ours || ofRun && valued) && !given && i+1 == len(args):
			return j, nil, app.ExitUsage, fmt.Errorf("%s needs a value", name)
		case ours && given:
			*to = value
		case ours:
			i++
			*to = args[i]
		case ofRun && valued && !given:
			flags = append(flags, args[i], args[i+1])
			i++
		case args[i] == trust: // planning may call plugins, and so may the run
			flags, rest = append(flags, trust), append(rest, trust)
		case ofRun:
			flags = append(flags, args[i])
		default:
			rest = append(rest, args[i])
		}
	}
	plan, code, err := planFor(rest)
	if err != nil || code != app.ExitDone {
		return j, nil, code, err
	}
	if j.Playbook, j.Hosts, err = pack.About(plan); err != nil {
		return j, nil, app.ExitUsage, err
	}
	j.Flags = flags
	if j.Labels, err = queue.Labels(labels); err != nil {
		return j, nil, app.ExitUsage, err
	}
	if retries != "" {
		if j.Retries, err = strconv.Atoi(retries); err != nil || j.Retries < 0 {
			return j, nil, app.ExitUsage, fmt.Errorf("--retries is a number, and not %q", retries)
		}
	}
	if packed, err = pack.Make(plan); err != nil {
		return j, nil, app.ExitUsage, err
	}
	if j.Plan, err = q.Store(ctx, packed); err != nil {
		return j, nil, app.ExitDisk, err
	}
	return j, packed, app.ExitDone, nil
}

// planFor is a saved plan: the one that is named, or what moon plan makes of the arguments.
func planFor(args []string) (plan []byte, code int, err error) {
	if named := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == trust }); len(named) == 1 {
		if text, err := os.ReadFile(named[0]); err == nil && bytes.HasPrefix(text, []byte("{\n  \"format\": ")) {
			return text, app.ExitDone, nil
		}
	}
	dir, err := os.MkdirTemp("", "moon-submit-")
	if err != nil {
		return nil, app.ExitDisk, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the directory is that for temporary files
	file := filepath.Join(dir, "plan")
	said := &bytes.Buffer{} // that it was saved, and where, is of no interest
	call := cli.NewInvocation(os.Stdin, said, os.Stderr)
	if code := cli.Run(call, slices.Concat([]string{"plan"}, args, []string{"-o", file})); code != app.ExitDone {
		return nil, code, nil
	}
	if plan, err = os.ReadFile(file); err != nil {
		_, _ = io.Copy(os.Stdout, said) // moon plan has done something else, such as to print its help
		return nil, app.ExitUsage, errors.New("nothing was submitted")
	}
	return plan, app.ExitDone, nil
}

// listJobs prints the jobs: those that have not ended and the last of the others, or all, or as JSON.
func listJobs(ctx context.Context, q *queue.Queue, args []string) error {
	all, asJSON := slices.Contains(args, "--all"), slices.Contains(args, "--json")
	for _, a := range args {
		if a != "--all" && a != "--json" {
			return fmt.Errorf("there is no flag %s here; --all and --json are", a)
		}
	}
	list, err := q.List(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		out := json.NewEncoder(os.Stdout)
		for _, j := range list {
			if err := out.Encode(j); err != nil {
				return err
			}
		}
		return nil
	}
	// Of a long queue the next jobs are shown, and of those that have ended the last.
	const shown = 20
	hidden, ended, waiting := 0, 0, 0
	for _, j := range list {
		if j.Over() {
			ended++
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, j := range list {
		if j.State == queue.Waiting {
			waiting++
		}
		if j.Over() {
			ended--
		}
		if !all && (j.Over() && ended >= shown || j.State == queue.Waiting && waiting > shown) {
			hidden++
			continue
		}
		what := j.Why
		if j.State == queue.Running {
			what = "on " + j.On
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", j.ID, j.State, strings.Join(j.Labels, ","), j.Playbook, j.By, j.Run, what)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if hidden > 0 {
		fmt.Printf("and %d others: --all\n", hidden)
	}
	return nil
}

func listSchedules(ctx context.Context, b *schedule.Book) error {
	list, err := b.List(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, s := range list {
		next, err := s.Next()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d submitted\tnext %s\n", s.Name, s.Cron, s.Job.Playbook, s.By, s.Runs, next.UTC().Format(time.RFC3339))
	}
	return w.Flush()
}

// cancelJob has a job end. One that runs is asked to stop, as by moon-nats attach --send stop.
func cancelJob(ctx context.Context, l *link.Link, q *queue.Queue, id string) (int, error) {
	run, err := q.Cancel(ctx, id)
	if err != nil || run == "" {
		if err != nil {
			return app.ExitUsage, err
		}
		return app.ExitDone, nil
	}
	text, err := json.Marshal(control.Request{ID: "cancel-" + id, Do: "stop"})
	if err != nil {
		return app.ExitDisk, err
	}
	reply, err := l.Ask(link.Control(run, l.User), text, 50*time.Second)
	var a control.Answer
	if err == nil {
		err = json.Unmarshal(reply, &a)
	}
	if err == nil && !a.Accepted {
		err = errors.New(a.Reason)
	}
	if err != nil {
		return app.ExitDisk, fmt.Errorf("run %s of job %s was not stopped: %w", run, id, err)
	}
	return app.ExitDone, nil
}

// startJob runs a job in a process of its own, to its end. The error says why it did not end well, in its own last words.
func startJob(ctx context.Context, q *queue.Queue, o link.Options, j queue.Job) error {
	packed, err := q.Load(ctx, j.Plan)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", jobDir(j))
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the directory is that for temporary files
	u, err := pack.Unpack(packed, dir, false)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ticket, err := json.Marshal(queue.Ticket{Job: j.ID, Attempt: j.Attempt})
	if err != nil {
		return err
	}
	// What was submitted is run: that files have been edited since is no reason not to. A run by hand on this machine comes first.
	cmd := exec.CommandContext(ctx, self, slices.Concat([]string{"run", "--plan", u.Plan, "--allow-stale", "--wait-lock", "1h"}, j.Flags)...)
	cmd.Dir, cmd.Env = u.Root, append(environ(o), ticketIn+"="+string(ticket), standsFor+"="+u.Root+"="+u.Original)
	words := &tail{}
	cmd.Stdout, cmd.Stderr = os.Stdout, io.MultiWriter(os.Stderr, words)
	fmt.Printf("moon-nats: job %s\n", j.ID)
	if err := cmd.Run(); err != nil {
		if last := words.last(); last != "" {
			return fmt.Errorf("%w: %s", err, last)
		}
		return err
	}
	return nil
}

// restoreFiles makes the directory in which a job was run by a machine that did not have its playbook: the run continues there. It gives
// what that directory stands for, as standsFor has it; "": it is that of the playbook.
func restoreFiles(ctx context.Context, l *link.Link, q *queue.Queue, runs string, j queue.Job) (stands string, err error) {
	past, _, err := look(ctx, l, runs, j.Run)
	if err != nil {
		return "", err
	}
	dir := past.Root
	for !strings.HasPrefix(filepath.Base(dir), jobDir(j)) {
		if up := filepath.Dir(dir); up != dir {
			dir = up
			continue
		}
		return "", nil
	}
	stands = past.Root + "=" + filepath.Dir(j.Playbook)
	if _, err := os.Stat(past.Root); err == nil {
		return stands, nil
	}
	packed, err := q.Load(ctx, j.Plan)
	if err != nil {
		return "", err
	}
	// One that is there may be another user's, in a directory that everyone may write to.
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	u, err := pack.Unpack(packed, dir, true)
	return past.Root + "=" + u.Original, err
}

// jobDir is how the name of the directory of a job begins.
func jobDir(j queue.Job) string { return "moon-" + j.ID + "-" }

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	const kept = 1 << 10
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-kept):]
	return len(p), nil
}

// last is the last line that says something of moon's.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	for _, l := range slices.Backward(lines) {
		if said, is := strings.CutPrefix(l, "moon: "); is {
			return said
		}
	}
	return lines[len(lines)-1]
}

// bindTo has the runs of a recorder be that of the job that a worker has started this process for.
func bindTo(ctx context.Context, l *link.Link, r *record.Recorder) error {
	text := os.Getenv(ticketIn)
	if text == "" {
		return nil
	}
	// Steps are not to take what they start for the job.
	if err := os.Unsetenv(ticketIn); err != nil {
		return err
	}
	var t queue.Ticket
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return fmt.Errorf("%s: %w", ticketIn, err)
	}
	q, err := queue.Open(ctx, l)
	if err != nil {
		return err
	}
	r.Begin = func(run string) error { return q.Bind(ctx, t, run) }
	return nil
}

// tell tells a receiver what happens in runs.
func tell(ctx context.Context, l *link.Link, args []string) error {
	t := &notify.Teller{Link: l, Err: os.Stderr}
	on := ""
	if err := take(args, map[string]*string{"--url": &t.URL, "--command": &t.Given, "--on": &on, "--name": &t.Name}); err != nil {
		return err
	}
	if (t.URL == "") == (t.Given == "") {
		return errors.New("moon-nats notify takes --url URL or --command CMD")
	}
	var err error
	if on != "" {
		if t.On, err = notify.Kinds(on); err != nil {
			return err
		}
	}
	if t.Given != "" {
		t.Command = func(ctx context.Context, body []byte) error {
			cmd := exec.CommandContext(ctx, "sh", "-c", t.Given)
			// What it has started ends with it.
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
			cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(body), os.Stdout, os.Stderr
			return cmd.Run()
		}
	}
	return t.Tell(ctx)
}
