package engine_test

import (
	"context"
	"fmt"
	"testing"

	"moon/events"
	"moon/events/fact"
	"moon/exec"
)

// TestLinesAreLive lets steps print and then wait until somebody has seen it: what is printed is shown while the step
// runs, however fast it was.
func TestLinesAreLive(t *testing.T) {
	p, g := build(t, "- shell: \"{{ item }}\"\n  with_items: \"{{ range(0, 200) | list }}\"\n")
	seen := make(chan struct{})
	f := &fake{do: func(ctx context.Context, job *exec.Job) exec.Result {
		fmt.Fprintln(job.Output.Stdout(), "begun")
		select {
		case <-seen:
		case <-ctx.Done():
		}
		return exec.Result{Outcome: events.OK}
	}}
	s := begin(t, p, g, f, fact.Options{Forks: 1})
	w := watching(t, s, true)
	for i := range 200 {
		w.until(fmt.Sprintf("the line of step %d", i), func() bool {
			last := len(w.all) - 1
			_, ok := event(w, last).(events.StepOutput)
			return ok && w.all[last].Step == i
		})
		seen <- struct{}{}
	}
	w.done()
}

func event(w *watch, i int) events.Event {
	if i < 0 {
		return nil
	}
	return w.all[i].Event
}
