package command

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"moon/nats/link"
	"moon/nats/mirror"
)

// claimed is the variable by which a worker lets the process know that it starts under which word it has claimed the run.
const claimed = "MOON_NATS_CLAIMED"

// worker resumes runs whose process is gone, one after the other. What a person has to decide, such as what became of a step that was
// running, is left to one unless --lost says it.
func worker(ctx context.Context, l *link.Link, args []string, o link.Options) error {
	lost, once := "", ""
	if err := take(args, map[string]*string{"--lost": &lost, "--for": &once}); err != nil {
		return err
	}
	var until <-chan time.Time
	if once != "" {
		d, err := time.ParseDuration(once)
		if err != nil {
			return fmt.Errorf("--for is a time such as 10m: %w", err)
		}
		until = time.After(d)
	}
	dir, err := runsDir()
	if err != nil {
		return err
	}
	missing, over := map[string]int{}, map[string]bool{}
	fmt.Println("moon-nats: waiting for runs whose process is gone")
	for {
		ids, err := mirror.List(ctx, l)
		if err != nil {
			fmt.Fprintln(os.Stderr, "moon-nats:", err) // the servers may come back
		}
		for _, id := range ids {
			if over[id] {
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
			return nil
		case <-until:
			return nil
		case <-time.After(workerEach):
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
	cmd.Env = append(os.Environ(), claimed+"="+me.Writer, "MOON_NATS="+o.URL, "MOON_NATS_CREDS="+o.Credentials, "MOON_NATS_CA="+o.CA,
		"MOON_NATS_CERT="+o.Cert, "MOON_NATS_KEY="+o.Key)
	fmt.Printf("moon-nats: resuming %s\n", id)
	if err := cmd.Run(); err != nil {
		fmt.Fprintf(os.Stderr, "moon-nats: %s: %s\n", id, err)
	}
}
