package exec

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"moon/events"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/process"
)

// stampLayout is how Ansible writes when a command began and ended.
const stampLayout = "2006-01-02 15:04:05.000000"

// playResults are results as conditions of plays look for them.
type playResults struct{}

func (playResults) followsLinks() bool { return true }

func (playResults) stdin(text string) string { return text + "\n" }

func (playResults) command(cmd any, start time.Time, r Result) Result {
	if r.Outcome == events.Cancelled {
		return r
	}
	if r.Outcome == events.Failed && r.RC != nil && r.Class == fault.Fatal {
		// 126 and 127 would look like the command's own status; Ansible gives the error number of the system.
		return unstarted(cmd, r)
	}
	end := time.Now()
	took := end.Sub(start)
	fields := map[string]any{
		"cmd": cmd, "start": start.Format(stampLayout), "end": end.Format(stampLayout), "msg": "",
		"delta": fmt.Sprintf("%d:%02d:%02d.%06d", int(took.Hours()), int(took.Minutes())%60, int(took.Seconds())%60,
			took.Microseconds()%1_000_000),
	}
	switch {
	case r.Outcome == events.Failed && r.RC != nil:
		fields["msg"] = "non-zero return code"
	case r.Outcome == events.Timeout: // it says how long it was given
		delete(fields, "msg")
	}
	r.Fields = fields
	return r
}

// unstarted is the result of a command that could not be started: nothing has changed, and rc is the number of the system's error.
func unstarted(cmd any, r Result) Result {
	if words, ok := cmd.([]any); ok {
		texts := make([]string, len(words))
		for i, word := range words {
			texts[i] = fmt.Sprint(word)
		}
		cmd = strings.Join(texts, " ")
	}
	rc := int(syscall.ENOENT)
	msg := fmt.Sprintf("[Errno %d] No such file or directory: %s", rc, r.Error)
	if *r.RC == process.RCNotExecutable {
		rc = int(syscall.EACCES)
		msg = fmt.Sprintf("[Errno %d] Permission denied: %s", rc, r.Error)
	}
	r.RC = nil
	r.Fields = map[string]any{
		"cmd": cmd, "rc": rc, "msg": msg, "stdout": "", "stdout_lines": []any{}, "stderr": "",
		"stderr_lines": []any{},
	}
	return r
}

// unneeded makes the result that of a command that changed nothing.
func (playResults) unneeded(a *Attempt, cmd any, r Result) Result {
	because, verb := a.Creates, "exists"
	if r.Reason == events.SkipRemoves {
		because, verb = a.Removes, "does not exist"
	}
	said, rc := fmt.Sprintf("skipped, since %s %s", because, verb), 0
	r.Outcome, r.Reason, r.Detail = events.OK, "", ""
	r.RC, r.Diff = &rc, &events.Diff{Kind: events.ChangeNone}
	r.Fields = map[string]any{
		"cmd": cmd, "stdout": said, "stdout_lines": []any{said}, "stderr": "", "stderr_lines": []any{}, "start": nil, "end": nil,
		"delta": nil,
		"msg":   fmt.Sprintf("Did not run command since '%s' %s", because, verb),
	}
	return r
}

// unneededScript is a result that counts as skipped, unlike that of a command.
func (playResults) unneededScript(a *Attempt, r Result) Result {
	if r.Reason == events.SkipRemoves {
		return AsSkipped(a.Removes + " does not exist, matching removes option")
	}
	return AsSkipped(a.Creates + " exists, matching creates option")
}

func (playResults) unneededRequest(a *Attempt, r Result) Result {
	said := fmt.Sprintf("skipped, since '%s' exists", a.Creates)
	if r.Reason == events.SkipRemoves {
		said = fmt.Sprintf("skipped, since '%s' does not exist", a.Removes)
	}
	r = playResults{}.unneeded(a, nil, r)
	r.RC, r.Fields = nil, map[string]any{"stdout": said, "stdout_lines": []any{said}}
	return r
}

// unrun is skipped, unless the command says when it is needed: then it would change something.
func (playResults) unrun(a *Attempt, cmd any) Result {
	r, rc := UnknownChange(""), 0
	r.RC, r.Fields = &rc, map[string]any{
		"cmd": cmd, "rc": rc, "msg": unrunCommand, "stdout": "", "stdout_lines": []any{}, "stderr": "",
		"stderr_lines": []any{},
	}
	return a.leftUnrun(r)
}

// unrunScript is the same for a script, which registers less; cause is the message if it is skipped.
func (playResults) unrunScript(a *Attempt, cause string) Result {
	r := UnknownChange("")
	r.Fields = map[string]any{}
	if cause != "" && a.Creates+a.Removes == "" {
		r.Fields["msg"] = cause
	}
	return a.leftUnrun(r)
}

func (a *Attempt) leftUnrun(r Result) Result {
	if a.Creates+a.Removes != "" {
		r.Outcome, r.Diff = events.Changed, &events.Diff{Kind: events.ChangeUpdate, Summary: "runs"}
		return r
	}
	r.Outcome, r.Fields["skipped"] = events.Skipped, true
	r.Reason, r.Detail = events.SkipAction, unrunReason
	return r
}

func (playResults) fields(c *Change) map[string]any {
	if e := c.seen; e != nil && e.Kind != fsys.Absent {
		c.Fields["mode"] = fmt.Sprintf("0%03o", e.Mode)
		if e.Kind == fsys.Regular && e.Twins() > 1 {
			c.Fields["state"] = fsys.HardLink
		}
	}
	for _, change := range c.InPlays {
		change(c.Fields)
	}
	if c.PlainFields != nil {
		maps.DeleteFunc(c.Fields, func(name string, _ any) bool { return !slices.Contains(c.PlainFields, name) })
	}
	return c.Fields
}

// `creates` of an action that is not a command skips it, too.
func (playResults) createsNothing(c *Change) { c.Skips = true }

// A task that waits for a server says so by `until`: `retries` alone does not.
func (playResults) served(r Result) Result {
	if r.Class == fault.Transient {
		r.Class = fault.Fatal
	}
	return r
}

func (playResults) words(_, inPlays string) string { return inPlays }

func (playResults) reword(fields map[string]any, change func(map[string]any)) { change(fields) }

// What plays register of a command that a dry run has left alone, and why it is skipped.
const (
	unrunCommand = "Command would have run if not in check mode"
	UnrunScript  = "Check mode is not supported for this task."
	unrunReason  = "commands do not run in a dry run"
)

// Unrun reports whether what a step has registered is what plays register of a command that a dry run has left alone: it is the result of
// no command.
func Unrun(fields map[string]any) bool {
	msg, said := fields["msg"]
	_, why := fields["skip_reason"] // by its own condition
	return fields["skipped"] == true && (msg == unrunCommand || msg == UnrunScript || !said && !why)
}

// Decided is the result of the dry run of a single task, among others that really run. What is not there then will not be there
// later, so that is a failure; what is unknown counts as a change; and what would not be done is skipped. Unlike in the dry
// run of a whole playbook, the tasks that come after it need a value.
func (r Result) Decided() Result {
	switch {
	case r.Diff == nil || r.Diff.Kind != events.ChangeUnknown:
	case r.Lacks != "":
		r = Result{Outcome: events.Failed, Class: fault.Fatal, Error: r.Lacks, Fields: r.Fields}
	case r.Outcome != events.OK:
		r.Diff = nil
	case r.Fields != nil:
		diff := *r.Diff
		diff.Kind, r.Outcome, r.Diff = events.ChangeUpdate, events.Changed, &diff
	default:
		msg := r.Message
		if msg == "" {
			msg = "this does not run in check mode"
		}
		r = AsSkipped(msg)
	}
	return r
}

// AsSkipped is the result of an action that does nothing because of its own creates or removes, and is no command.
func AsSkipped(msg string) Result {
	return Result{Outcome: events.Skipped, Reason: events.SkipAction, Detail: msg, Fields: map[string]any{"msg": msg, "skipped": true}}
}
