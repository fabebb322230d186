package command

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"moon/events"
	"moon/nats/link"
	"moon/nats/mirror"
	"moon/nats/queue"
	"moon/nats/schedule"
)

// claimed is the variable by which a worker lets the process know that it starts under which word it has claimed the run.
const claimed = "MOON_NATS_CLAIMED"

// worker runs jobs of the queue, and resumes runs whose process is gone. What a person has to decide, such as what became of a step that
// was running, is left to one unless --lost says it.
func worker(ctx context.Context, l *link.Link, args []string, o link.Options) error {
	lost, once, labels, atOnce := "", "", "", ""
	if err := take(args, map[string]*string{"--lost": &lost, "--for": &once, "--labels": &labels, "--at-once": &atOnce}); err != nil {
		return err
	}
	if once != "" {
		d, err := time.ParseDuration(once)
		if err != nil {
			return fmt.Errorf("--for is a time such as 10m: %w", err)
		}
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	dir, err := runsDir()
	if err != nil {
		return err
	}
	w := &queue.Worker{Err: os.Stderr, AtOnce: 1}
	if w.Labels, err = queue.Labels(labels); err != nil {
		return err
	}
	if atOnce != "" {
		if w.AtOnce, err = strconv.Atoi(atOnce); err != nil || w.AtOnce < 1 {
			return fmt.Errorf("--at-once is a number above 0, and not %q", atOnce)
		}
	}
	if w.Queue, err = queue.Open(ctx, l); err != nil {
		return err
	}
	book, err := schedule.Open(ctx, l, w.Queue)
	if err != nil {
		return err
	}
	// The queue decides what is run, and knows nothing of processes and runs on the disk.
	w.Start = func(ctx context.Context, j queue.Job) error { return startJob(ctx, w.Queue, o, j) }
	w.Outcome = func(ctx context.Context, run string) (events.RunOutcome, error) {
		past, _, err := look(ctx, l, dir, run)
		return past.Outcome, err
	}
	w.Resume = func(ctx context.Context, j queue.Job) {
		if err := restoreFiles(ctx, l, w.Queue, dir, j); err != nil {
			fmt.Fprintf(os.Stderr, "moon-nats: %s: %s\n", j.ID, err)
			return
		}
		takeOver(ctx, l, o, j.Run, lost)
	}
	fmt.Println("moon-nats: waiting for jobs, and for runs whose process is gone")
	var wg sync.WaitGroup
	wg.Go(func() { rescue(ctx, l, o, dir, lost, w.Busy) })
	wg.Go(func() {
		if err := book.Keep(ctx, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, "moon-nats:", err)
		}
	})
	err = w.Work(ctx)
	wg.Wait()
	return err
}

// rescue resumes runs whose process is gone, one after the other, but those that are not its concern.
func rescue(ctx context.Context, l *link.Link, o link.Options, dir, lost string, others func(run string) bool) {
	missing, over := map[string]int{}, map[string]bool{}
	for {
		asked := time.Now()
		ids, err := mirror.List(ctx, l)
		if err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "moon-nats:", err) // the servers may come back
		}
		// A list of very many runs is not asked for all the time.
		pause := max(workerEach, 20*time.Since(asked))
		for _, id := range ids {
			if over[id] || others(id) {
				continue
			}
			holder, err := l.HolderOf(ctx, id)
			if err != nil || holder != nil {
				missing[id] = 0
				continue
			}
			// Twice: between the first record and the first lease there is a moment.
			if missing[id]++; missing[id] < 2 {
				continue
			}
			past, _, err := look(ctx, l, dir, id)
			switch {
			case ctx.Err() != nil:
			case err != nil:
				fmt.Fprintf(os.Stderr, "moon-nats: %s: %s\n", id, err)
				over[id] = true // nothing can be done about it here
			case past.Outcome != "": // it has ended, well or not, which is not for a worker to change
				over[id] = true
			default:
				over[id] = true // one attempt: what it could not do, a person has to look at
				takeOver(ctx, l, o, id, lost)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// takeOver resumes a run in a process of its own, if no other worker does.
func takeOver(ctx context.Context, l *link.Link, o link.Options, id, lost string) {
	me := l.Self(rand.Text())
	text, err := json.Marshal(me)
	if err == nil {
		_, err = l.Leases.Create(ctx, id, text)
	}
	if errors.Is(err, jetstream.ErrKeyExists) {
		return
	}
	self, err2 := os.Executable()
	if err := errors.Join(err, err2); err != nil {
		fmt.Fprintf(os.Stderr, "moon-nats: %s: %s\n", id, err)
		return
	}
	args := []string{"resume", id, "--no-tui"}
	if lost != "" {
		args = append(args, "--lost", lost)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(environ(o), claimed+"="+me.Writer)
	fmt.Printf("moon-nats: resuming %s\n", id)
	if err := cmd.Run(); err != nil {
		fmt.Fprintf(os.Stderr, "moon-nats: %s: %s\n", id, err)
	}
}

// environ is that of another moon-nats with the same connection.
func environ(o link.Options) []string {
	return append(os.Environ(), "MOON_NATS="+o.URL, "MOON_NATS_CREDS="+o.Credentials, "MOON_NATS_CA="+o.CA, "MOON_NATS_CERT="+o.Cert,
		"MOON_NATS_KEY="+o.Key)
}
