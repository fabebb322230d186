package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	osexec "os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/exec"
	"moon/exec/background"
	"moon/exec/fault"
	"moon/exec/plugin"
	"moon/exec/process"
)

// A job in the background is done by a keeper: one more moon, in a session of its own, that nothing ends but its job, its time or a
// request. Starting it is the same as finding it again: the job has a name before anything is started, and a record that says how far it
// came. So it does not matter how often, or after what, it is asked for.
//
//	Take ─▶ record: accepted ─▶ keeper (has the lock) ─▶ record: begun ─▶ action ─▶ record: ended
//	  └─ another has it, or the record says begun ─▶ wait for it, or leave it

// begunMark is what a keeper says when its job counts as begun.
const begunMark = "begun\n"

// oldJobs is how long it is kept how a job has ended that was waited for.
const oldJobs = 7 * 24 * time.Hour

// errand is what a keeper gets to do.
type errand struct {
	Request request
	Build   string
}

// inBackground starts a job on this machine, or finds it, and waits for it if it is to be waited for. Where gone is closed, who asked is
// away, and the job continues.
func inBackground(ctx context.Context, grace time.Duration, build string, gone <-chan struct{}, job *exec.Job) exec.Result {
	j, err := background.New(job.Getenv, job.Background.ID)
	if err == nil {
		err = startKeeper(j, grace, build, job)
	}
	switch {
	case err != nil:
		return unableResult(fmt.Errorf("start the job: %w", err))
	case job.Background.Poll == 0:
		return exec.Result{Outcome: events.Changed, Fields: j.Fields(false)}
	}
	return awaitJob(ctx, gone, j, job)
}

// startKeeper starts the keeper of a job that has not begun.
func startKeeper(j background.Job, grace time.Duration, build string, job *exec.Job) error {
	lock, free, err := j.Take()
	if err != nil || !free {
		return err
	}
	defer func() { _ = lock.Close() }() // the keeper has it too
	j.Prune(oldJobs)
	switch r, err := j.Read(); {
	case err == nil && (r.Begun || r.Ended != nil):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := j.Write(background.Record{At: time.Now()}); err != nil {
		return err
	}
	own := *job
	own.Become, own.Host = nil, nil
	r := newRequest(purpose{}, grace, &own)
	body, err := encodeMessage(errand{r, build})
	if err != nil {
		return err
	}
	path, err := selfPath()
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd := osexec.Command(path, "agent", "--keep") //nolint:noctx // it outlives the process that starts it
	cmd.Args[0] = "moon"
	cmd.Dir, cmd.Stdin, cmd.Stderr = "/", bytes.NewReader(body), &said
	cmd.ExtraFiles = []*os.File{lock}
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, process.MarkVariable+"=") })
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // or it would stay a process that has ended, for as long as this one runs
	if line == begunMark {
		return nil
	}
	return fmt.Errorf("its keeper has ended: %w: %s", <-ended, strings.TrimSpace(said.String()))
}

// awaitJob waits for the end of a job. If the wait is stopped, the job is.
func awaitJob(ctx context.Context, gone <-chan struct{}, j background.Job, job *exec.Job) exec.Result {
	const soonest, latest = 50 * time.Millisecond, time.Second
	wait, stopped := soonest, false
	for {
		r, state, err := j.State()
		switch {
		case err != nil:
			return unableResult(fmt.Errorf("ask for the job: %w", err))
		case state == background.Done:
			return exec.OfJob(job, j, r.Ended)
		case state == background.Lost:
			return exec.LostJob(j)
		case state == background.Accepted:
			return unableResult(errors.New("start the job: what was to keep it has ended before it had begun"))
		case ctx.Err() != nil && !stopped:
			select {
			case <-gone: // only the connection has ended
				return unableResult(errEnded)
			default:
			}
			stopped = true
			if r.PID > 0 && state == background.Running { // its keeper has the lock, so the number is its own
				_ = syscall.Kill(r.PID, syscall.SIGTERM)
			}
		}
		select {
		case <-gone:
			return unableResult(errEnded)
		case <-time.After(wait):
		}
		wait = min(2*wait, latest, max(job.Background.Poll, soonest))
	}
}

// Keep does a job in the background: what the keeper of a job is. lock is what says that it is there.
func Keep(ctx context.Context, in io.Reader, out io.Writer, build string) error {
	body, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	var e errand
	if err := decodeMessage(body, &e); err != nil {
		return err
	}
	if e.Build != build || e.Request.Background == nil {
		return errFrame
	}
	job, err := e.Request.toJob()
	if err != nil {
		return err
	}
	j, err := background.New(job.Getenv, job.Background.ID)
	if err != nil {
		return err
	}
	r := background.Record{Begun: true, PID: os.Getpid(), At: time.Now()}
	if err := j.Write(r); err != nil {
		return err
	}
	if _, err := io.WriteString(out, begunMark); err != nil {
		// There may be no reader left. The job is begun anyway, and is found by its name.
		_ = err
	}
	var printed [2]kept
	job.Output = steplog.NewRelay(func(stderr bool, p []byte) error {
		if stderr {
			return printed[1].add(p)
		}
		return printed[0].add(p)
	})
	job.Attempt, job.Now, job.Timeout = process.NewMark(), make(chan struct{}), job.Background.Limit
	plugins := &plugin.Host{Moon: build}
	defer plugins.Close()
	got := exec.Local{Grace: e.Request.Grace, Plugin: plugins.Run}.Run(ctx, job)
	r.Ended = &background.Ended{
		Outcome: got.Outcome, RC: got.RC, Error: got.Error, Class: got.Class, Detail: got.Detail, Fields: got.Fields, Values: got.Values,
		Message: got.Message, Diff: got.Diff, Resources: got.Resources, Warnings: got.Warnings,
		Stdout: printed[0].String(), Stderr: printed[1].String(),
	}
	if printed[0].cut || printed[1].cut {
		r.Ended.Warnings = append(r.Ended.Warnings, fmt.Sprintf("the job printed more than %d MiB, and only the beginning is kept", mostPrinted>>20))
	}
	if _, err := j.Read(); errors.Is(err, fs.ErrNotExist) {
		return nil // it was cleaned up meanwhile
	}
	return j.Write(r)
}

// mostPrinted is how much is kept of what a job prints to a stream.
const mostPrinted = 8 << 20

// kept is the beginning of what was printed.
type kept struct {
	bytes.Buffer
	cut bool
}

func (k *kept) add(p []byte) error {
	if room := mostPrinted - k.Len(); len(p) > room {
		p, k.cut = p[:room], true
	}
	_, err := k.Write(p)
	return err
}

// runInBackground carries out a job in the background of another user or host. Its start can be repeated without doing it twice, so a
// connection that breaks is made again for it: as often as it takes while it is waited for, and a few times for the start alone.
func (l *Pool) runInBackground(ctx context.Context, job *exec.Job) exec.Result {
	const tries, rest, late = 3, 2 * time.Second, time.Minute
	began := time.Now()
	for n := 1; ; n++ {
		r := l.runAsking(ctx, purpose{}, job)
		again := r.Outcome == events.Lost || n > 1 && r.Outcome == events.Unreachable
		if job.Background.Poll == 0 {
			again = again && n < tries
		} else {
			again = again && time.Since(began) < job.Background.Limit+late
		}
		if !again || ctx.Err() != nil {
			return r
		}
		select {
		case <-time.After(max(rest, min(job.Background.Poll, 10*time.Second))):
		case <-ctx.Done():
			return exec.Result{Outcome: events.Cancelled, Error: string(fault.Stopped(ctx))}
		}
		once := *job
		once.Again = true // the host is tried again, although it was away
		job = &once
	}
}
