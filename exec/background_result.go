package exec

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"moon/events"
	"moon/exec/background"
	"moon/exec/fault"
)

// Background says that a job is kept apart from the process that starts it, and continues without it.
type Background struct {
	ID    string        // decided before it is started: who asks for it again finds it
	Limit time.Duration // after which it is stopped
	Poll  time.Duration // how often it is asked for; 0: it is not waited for
}

// OfJob is the result of an attempt that has waited for a job, or asks how it ended.
func OfJob(asks *Job, j background.Job, e *background.Ended) Result {
	r := Result{
		Outcome: e.Outcome, RC: e.RC, Error: e.Error, Class: e.Class, Detail: e.Detail, Values: e.Values, Message: e.Message, Diff: e.Diff,
		Resources: e.Resources, Warnings: e.Warnings, Fields: j.Fields(true),
	}
	if r.Outcome == events.Skipped {
		r.Reason = events.SkipAction
	}
	maps.Copy(r.Fields, e.Fields)
	for name, text := range map[string]string{"stdout": e.Stdout, "stderr": e.Stderr} {
		text = strings.TrimRight(text, "\r\n")
		if _, own := r.Fields[name]; !own {
			r.Fields[name], r.Fields[name+"_lines"] = text, linesOf(text)
		}
	}
	if asks.Output != nil {
		_, _ = asks.Output.Stdout().Write([]byte(e.Stdout)) // the writer keeps the error
		_, _ = asks.Output.Stderr().Write([]byte(e.Stderr))
	}
	if r.Outcome == events.Timeout && asks.Background != nil {
		r.Error = fmt.Sprintf("async task did not complete within the requested time - %ds", int(asks.Background.Limit.Seconds()))
	}
	return r
}

func linesOf(text string) []any {
	list := []any{}
	if text == "" {
		return list
	}
	for line := range strings.SplitSeq(text, "\n") {
		list = append(list, strings.TrimSuffix(line, "\r"))
	}
	return list
}

// LostJob is the result of a job whose keeper has gone without saying how it ended.
func LostJob(j background.Job) Result {
	return Result{
		Outcome: events.Failed, Class: fault.Fatal, Fields: j.Fields(true),
		Error: "the job was lost: what kept it was killed, and how far it came is not known",
	}
}
