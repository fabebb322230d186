package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"moon/events"
	"moon/events/fact"
	"moon/exec"
)

// A step does not use the result of a failed one beside it, although a rescue will deal with that failure: what the rescue is there for
// comes only after both. Once it has, also a failed result may be used.
func TestResultOfFailureInParallelBody(t *testing.T) {
	for _, tt := range []struct{ name, body, ran string }{
		{"in the body", "    - block:\n        - {shell: fails, register: r}\n        - {shell: 'use {{ r.rc }}'}\n      parallel: true\n", "after 1,fails,rescue 1"},
		{"further in", "    - block:\n        - {shell: fails, register: r}\n        - block: [{shell: 'use {{ r.rc }}'}]\n          rescue: [{shell: inner}]\n      parallel: true\n", "after 1,fails,rescue 1"},
		{"after a rescue further in", "    - block:\n        - block: [{shell: fails, register: r}]\n          rescue: [{shell: inner}]\n        - {shell: 'use {{ r.rc }}'}\n      parallel: true\n", "after 1,fails,inner,use 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, g := build(t, "- block:\n"+tt.body+"  rescue:\n    - {shell: 'rescue {{ r.rc }}'}\n- {shell: 'after {{ r.rc }}'}\n")
			f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
				rc := 0
				if cmdOf(job) == "fails" {
					rc = 1
					return exec.Result{Outcome: events.Failed, Error: "exit status 1", RC: &rc}
				}
				return exec.Result{Outcome: events.Changed, RC: &rc}
			}}
			w := watching(t, begin(t, p, g, f, fact.Options{}), false)
			w.done()
			slices.Sort(f.order)
			if got := strings.Join(f.order, ","); got != tt.ran || w.run.Result.Outcome != events.RunDone {
				t.Errorf("ran %s, want %s; %+v", got, tt.ran, w.run.Result)
			}
		})
	}
}
