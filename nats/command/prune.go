package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"moon/internal/app"
	"moon/nats/link"
	"moon/nats/queue"
	"moon/nats/retain"
	"moon/nats/schedule"
)

// ofStream is the flag by which prune is about what the servers have, and not about this machine.
const ofStream = "--stream"

// prune removes what the servers have of old runs and jobs, once or again and again.
func prune(ctx context.Context, l *link.Link, args []string) (int, error) {
	p, every, err := policy(args)
	if err != nil {
		return app.ExitUsage, err
	}
	q, err := queue.Open(ctx, l)
	if err != nil {
		return app.ExitUsage, err
	}
	b, err := schedule.Open(ctx, l, q)
	if err != nil {
		return app.ExitUsage, err
	}
	s := &retain.Store{Link: l, Queue: q, Book: b, Now: time.Now}
	for {
		r, err := s.Apply(ctx, p)
		report(r, p)
		switch {
		case every == 0 && err != nil:
			return app.ExitDisk, err
		case every == 0:
			return app.ExitDone, nil
		case err != nil && ctx.Err() == nil:
			fmt.Fprintln(os.Stderr, "moon-nats:", err) // the servers may come back
		}
		select {
		case <-ctx.Done():
			return app.ExitDone, nil
		case <-time.After(every):
		}
	}
}

// report prints what has gone.
func report(r retain.Removed, p retain.Policy) {
	for _, run := range r.Runs {
		fmt.Printf("%s  %s  %s\n", run.ID, cmp.Or(string(run.Outcome), "unfinished"), run.Last.Local().Format(time.DateTime))
	}
	word := "removed"
	if p.DryRun {
		word = "would be removed"
	}
	fmt.Printf("%d runs, %d jobs and %d plans %s; the stream of runs has %s\n", len(r.Runs), len(r.Jobs), r.Plans, word, sizeText(r.Bytes))
}

// policy reads the flags of prune --stream.
func policy(args []string) (p retain.Policy, every time.Duration, err error) {
	switches := map[string]*bool{ofStream: new(bool), "--unfinished": &p.Unfinished, "--dry-run": &p.DryRun, "-C": &p.DryRun}
	var rest []string
	for _, a := range args {
		if to, is := switches[a]; is {
			*to = true
			continue
		}
		rest = append(rest, a)
	}
	keep, older, size, again := "50", "0", "", ""
	if err := take(rest, map[string]*string{"--keep": &keep, "--older": &older, "--size": &size, "--every": &again}); err != nil {
		return p, 0, err
	}
	if p.Keep, err = strconv.Atoi(keep); err != nil || p.Keep < 0 {
		return p, 0, fmt.Errorf("--keep is a number of runs, and not %q", keep)
	}
	if p.Older, err = time.ParseDuration(older); err != nil || p.Older < 0 {
		return p, 0, fmt.Errorf("--older is a time such as 720h, and not %q", older)
	}
	if size != "" {
		if p.Size, err = sizeOf(size); err != nil {
			return p, 0, fmt.Errorf("--size is a number of bytes, or such as 500M or 10G, and not %q", size)
		}
	}
	if again != "" {
		if every, err = time.ParseDuration(again); err != nil || every < time.Second {
			return p, 0, fmt.Errorf("--every is a time of at least 1s, and not %q", again)
		}
	}
	return p, every, nil
}

// units are those of sizes, each 1,024 times the one before it.
const units = "KMGT"

// sizeOf reads a number of bytes.
func sizeOf(text string) (int64, error) {
	factor := int64(1)
	if i := strings.IndexByte(units, text[len(text)-1]); i >= 0 {
		factor, text = 1<<(10*(i+1)), text[:len(text)-1]
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && (n <= 0 || n > math.MaxInt64/factor) {
		err = errors.New("out of range")
	}
	return n * factor, err
}

// sizeText is a number of bytes for people.
func sizeText(n int64) string {
	for i, unit := range slices.Backward([]byte(units)) {
		if one := int64(1) << (10 * (i + 1)); n >= one {
			return fmt.Sprintf("%.1f %ciB", float64(n)/float64(one), unit)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
