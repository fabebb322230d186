package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"moon/engine/exported"
	"moon/engine/history"
	"moon/internal/termtext"
	"moon/plan"
)

// Importer finds what other playbooks have exported: their last runs without failures have left it in the state directory.
type Importer struct {
	Call        *Invocation
	Waits       bool            // for exports that are not there yet, as long as the import says
	Later       map[string]bool // playbooks that will run before the plan is made that counts, by their absolute paths
	Interrupted bool            // somebody has ended the wait

	noted map[string]bool // so that a plan that is made twice says it once
}

// importPoll is how often a run that waits looks again. The file is small, and a person may be waiting, too.
const importPoll = 200 * time.Millisecond

var errInterrupted = errors.New("interrupted while waiting for exports")

// Exports gives what a playbook has exported last. While a run of it is in progress these are old values, which is said.
func (im *Importer) Exports(q plan.ImportRequest) (plan.Imported, error) {
	if im.Later[q.Playbook] {
		return plan.Imported{Unknown: true}, nil
	}
	state, err := StateDir()
	if err != nil {
		return plan.Imported{}, err
	}
	look := func() (last exported.Last, ok bool, live []history.Concurrent, err error) {
		// In this order: a run that ends in between has left its exports before.
		live = history.Live(state.Runs(), q.Playbook)
		last, ok, err = exported.Read(state.Exports(), q.Playbook)
		return last, ok, live, err
	}
	last, ok, live, err := look()
	if im.Waits && q.Wait > 0 && err == nil && (!ok || len(live) > 0) {
		why := "which has exported nothing yet"
		if len(live) > 0 {
			why = "which run " + live[0].ID + " has in progress"
		}
		im.say(fmt.Sprintf("waiting for %s, %s, %s at most", q.Shown, why, q.Patience()))
		if last, ok, live, err = im.wait(q.Wait, look); errors.Is(err, errInterrupted) {
			im.Interrupted = true
		}
		if err == nil && (!ok || len(live) > 0) {
			return plan.Imported{}, fmt.Errorf("waited %s for %s, %s", q.Patience(), q.Shown, why)
		}
	}
	if err != nil || !ok {
		return plan.Imported{}, err
	}
	if len(live) > 0 {
		im.say(fmt.Sprintf("%s is in progress (run %s); its last exports, of run %s, are used", q.Shown, live[0].ID, last.Run))
	}
	return plan.Imported{Run: last.Run, At: last.At, Values: last.Values}, nil
}

// wait looks until there are exports and no run in progress.
func (im *Importer) wait(most time.Duration, look func() (exported.Last, bool, []history.Concurrent, error),
) (last exported.Last, ok bool, live []history.Concurrent, err error) {
	ctx, stop := im.Call.Signals.Until(context.Background())
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	again := time.NewTicker(importPoll)
	defer again.Stop()
	for {
		last, ok, live, err = look()
		if err != nil || ok && len(live) == 0 {
			return last, ok, live, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				err = errInterrupted
			}
			return last, ok, live, err
		}
	}
}

// say prints a note once.
func (im *Importer) say(text string) {
	if im.noted[text] {
		return
	}
	if im.noted == nil {
		im.noted = map[string]bool{}
	}
	im.noted[text] = true
	if !im.Call.Terminal.shown() {
		fmt.Fprintf(im.Call.Err, "moon: %s\n", termtext.CleanName(text))
	}
}
