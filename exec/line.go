package exec

import (
	"bytes"
	"context"

	"moon/events"
	"moon/exec/process"
)

// mostLine is how much a line may print, in bytes.
const mostLine = 16 << 20

// RunLine carries out a line of a job, as Reach.Run has it. The job's action is not looked at.
func (l Local) RunLine(ctx context.Context, job *Job, line Line) Result {
	a := &Attempt{Job: job, grace: l.Grace, watch: l.Watch}
	if a.grace <= 0 {
		a.grace = process.DefaultGrace
	}
	if a.watch == nil {
		a.watch = func(process.Moment) {}
	}
	var stdout, stderr bytes.Buffer
	input := string(line.Input)
	p := a.Prepare([]string{"/bin/sh", "-c", line.Command})
	p.Stdin, p.Stdout, p.Stderr, p.Most = &input, &stdout, &stderr, mostLine
	e := p.Run(ctx)
	if e.Err != nil || e.Stop != "" {
		return a.EndedAs(e, events.OK)
	}
	return Result{Outcome: events.OK, Fields: map[string]any{"rc": e.Code, "stdout": stdout.Bytes(), "stderr": stderr.Bytes()}}
}
