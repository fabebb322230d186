package plain

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"moon/events"
	"moon/internal/termtext"
	"moon/plan"
	"moon/tui/status"
)

// Brief writes a run as Ansible's callbacks minimal and oneline do: the result of each task on each host, and nothing else. A loop is
// one result.
type Brief struct {
	W       io.Writer                      // required
	PlanFor func(digest string) *plan.Plan // required
	OneLine bool                           // each result on one line
	Style   ResultStyle                    // of results that take several lines
	Diff    bool
	Times   Times // shown where tasks begin, and at the end

	out *bufio.Writer
	results

	current taskKey
}

// Follow writes until the feed ends and returns the state the run ended in.
func (b *Brief) Follow(feed <-chan []events.Record) (*events.Run, error) {
	b.out = bufio.NewWriterSize(b.W, 64<<10)
	b.reset()
	return &b.run, printFeed(feed, &b.run, b.out, b.printEvent)
}

func (b *Brief) reset() {
	b.current, b.loops, b.printed = noTask, map[loopKey]*loopEnd{}, map[int]*streams{}
}

func (b *Brief) printEvent(r events.Record) {
	switch e := r.Event.(type) {
	case events.PlanLoaded:
		was := b.plan
		b.plan = b.PlanFor(e.Digest)
		if len(e.Expanded) > 0 {
			b.renumber(movedTo(b.plan, was))
			break
		}
		b.reset()
		b.countLoops()
	case events.StepStarted:
		b.enterTask(r.Step, r.Time)
	case events.StepOutput:
		b.keepOutput(r.Step, e)
	case events.StepRetrying:
		delete(b.printed, r.Step)
	case events.StepCompleted:
		b.enterTask(r.Step, r.Time)
		switch s := &b.plan.Steps[r.Step]; {
		case s.Open() && s.Dry(b.run.Check), b.foundNothing(r.Step, e):
			b.printf("%s | SKIPPED", b.host(s))
		case !s.Loops():
			b.printDiff(s, e.Diff)
			b.end(r.Step, "", b.completedResult(r.Step, e))
		}
	case events.StepSkipped:
		b.enterSkipped(r.Step, e, r.Time)
	case events.StepFailed:
		b.enterTask(r.Step, r.Time)
		word := "FAILED"
		if e.Unreachable {
			word = "UNREACHABLE!"
		}
		b.end(r.Step, word, b.failedResult(r.Step, e))
	case events.StepLost:
		word := "FAILED"
		if e.Error != "" { // the host was lost, and not only the step
			word = "UNREACHABLE!"
		}
		b.end(r.Step, word, b.failedResult(r.Step, events.StepFailed{Error: e.Why()}))
	case events.StepCancelled:
		b.end(r.Step, "FAILED", b.failedResult(r.Step, events.StepFailed{Error: "cancelled"}))
	case events.Warning:
		b.printf("[WARNING]: %s", termtext.CleanName(e.Message))
	case events.RunCompleted:
		if e.Error != "" {
			b.printf("[ERROR]: exports: %s", termtext.CleanName(e.Error))
		}
		b.Times.printEnd(b.out, b.plan, &b.run, r.Time)
	case events.RunStarted, events.StepTried, events.AttemptStarted, events.StepOmitted, events.PrintMessage, events.StepProgress,
		events.VariableSet, events.Notified, events.GateOpened, events.StepConfirmed, events.GateResolved, events.RunPaused,
		events.RunResumed, events.CommandAccepted, events.CommandRejected, events.Gap:
	}
}

func (b *Brief) printf(format string, args ...any) { fmt.Fprintf(b.out, format+"\n", args...) }

// printLines prints a text of several lines, each fit for a terminal.
func (b *Brief) printLines(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		b.printf("%s", termtext.CleanName(line))
	}
}

// host is the name of a step's host alone: where it is delegated to is not shown.
func (b *Brief) host(s *plan.Step) string { return termtext.CleanName(s.Host) }

func (b *Brief) enterTask(step int, at time.Time) {
	if key := b.keyOf(step); key != b.current {
		b.current = key
		b.Times.printBetween(b.out, b.run.Started, at)
	}
}

func (b *Brief) enterSkipped(step int, e events.StepSkipped, at time.Time) {
	if b.isAbsent(step, e) {
		b.endItem(step, nil)
		return
	}
	b.enterTask(step, at)
	if s := &b.plan.Steps[step]; e.Reason != events.SkipWhen && e.Reason != events.SkipAction && e.Reason != events.SkipPlugin {
		b.end(step, "", map[string]any{"changed": false, "msg": e.Detail}) // its work is done
	} else if _, loop := b.loopOf(step); loop {
		b.endItem(step, b.skippedResult(step))
	} else {
		b.printf("%s | SKIPPED", b.host(s))
	}
}

// printDiff prints what a step has changed, if it is to be shown.
func (b *Brief) printDiff(s *plan.Step, d *events.Diff) {
	if d != nil && d.Text != "" && (b.Diff || s.ShowDiff) {
		b.printLines(d.Text)
	}
}

// completedResult is what is shown of a step that succeeded.
func (b *Brief) completedResult(step int, e events.StepCompleted) map[string]any {
	s := &b.plan.Steps[step]
	result := b.shownResult(step, e.Result)
	switch {
	case s.NoLog:
	case s.Includes != "":
		return map[string]any{"changed": false, "include": s.Includes}
	case s.Action == "print":
		shown := b.printedMessage(s, step, e.Result)
		if b.OneLine {
			shown["changed"] = false
		}
		b.addItem(step, shown)
		return shown
	case s.Action == "assert":
		return assertedResult(result)
	}
	return result
}

// end takes down how a step has ended. What fails has a word for it.
func (b *Brief) end(step int, failed string, result map[string]any) {
	defer delete(b.printed, step)
	s := &b.plan.Steps[step]
	if _, loop := b.loopOf(step); loop && s.Loop != nil && failed != "UNREACHABLE!" {
		result["failed"] = failed != ""
		b.endItem(step, result)
		return
	}
	if failed == "UNREACHABLE!" {
		result["unreachable"] = true
	}
	b.printResult(s, cmp.Or(failed, stateWord(result["changed"] == true)), result)
}

func stateWord(changed bool) string {
	if changed {
		return "CHANGED"
	}
	return "SUCCESS"
}

// endItem takes down the result of an item, and prints that of its loop behind the last one. There is no result of what was not there.
func (b *Brief) endItem(step int, result map[string]any) {
	key, ok := b.loopOf(step)
	l := b.loops[key]
	if !ok || l == nil {
		return
	}
	l.left--
	if result != nil {
		_, skipped := result["skip_reason"]
		l.ran = l.ran || !skipped
		l.changed, l.failed = l.changed || result["changed"] == true, l.failed || result["failed"] == true
		l.results = append(l.results, any(result))
	}
	if l.left != 0 || len(l.results) == 0 {
		return
	}
	s := &b.plan.Steps[step]
	whole := map[string]any{"changed": l.changed, "msg": "All items completed", "results": l.results}
	word := stateWord(l.changed)
	switch {
	case !l.ran:
		b.printf("%s | SKIPPED", b.host(s))
		return
	case l.failed:
		word, whole["msg"] = "FAILED", "One or more items failed"
	}
	if s.NoLog {
		whole = map[string]any{"censored": censored, "changed": l.changed}
	}
	if s.Action == "print" && !b.OneLine {
		delete(whole, "changed")
		delete(whole, "results")
	}
	b.printResult(s, word, whole)
}

// commands are the actions whose output is shown as it is.
var commands = map[string]bool{"command": true, "shell": true, "raw": true, "script": true}

func (b *Brief) printResult(s *plan.Step, word string, result map[string]any) {
	host := b.host(s)
	text := func(key string) string {
		v, _ := result[key].(string)
		return v
	}
	rc, there := result["rc"]
	if !there {
		rc = -1
	}
	_, job := result["ansible_job_id"]
	asOutput := commands[s.Action] && !job && word != "UNREACHABLE!"
	switch {
	case b.OneLine && word == "UNREACHABLE!":
		b.printf("%s | %s: %s", host, word, termtext.CleanName(text("msg")))
	case b.OneLine && asOutput && word != "FAILED":
		escape := strings.NewReplacer("\n", `\n`, "\r", `\r`)
		line := fmt.Sprintf("%s | %s | rc=%v | (stdout) %s", host, word, rc, escape.Replace(text("stdout")))
		if stderr := text("stderr"); stderr != "" {
			line += " (stderr) " + escape.Replace(stderr)
		}
		b.printf("%s", termtext.CleanName(line))
	case b.OneLine:
		if word == "FAILED" {
			word = "FAILED!"
		}
		b.printf("%s | %s => %s", host, word, termtext.CleanName(b.jsonOnOneLine(s, result)))
	case asOutput:
		b.printf("%s | %s | rc=%v >>", host, word, rc)
		b.printLines(text("stdout") + text("stderr") + text("msg"))
	default:
		if word == "FAILED" {
			word = "FAILED!"
		}
		b.printLines(host + " | " + word + " => " + b.Style.write(result, true))
	}
}

// jsonOnOneLine is a result as Ansible's oneline has it: as one of several lines, without their ends. What is always shown keeps the spaces
// at their beginnings.
func (b *Brief) jsonOnOneLine(s *plan.Step, result map[string]any) string {
	var text strings.Builder
	_, loop := result["results"]
	for line := range strings.SplitSeq(indentedJSON(result), "\n") {
		if loop || s.Action != "print" && s.Action != "assert" {
			line = strings.TrimLeft(line, " ")
		}
		text.WriteString(line)
	}
	return text.String()
}

// renumber keeps what is known under the new numbers of the steps. The rounds that were added are counted, and all others stay.
func (b *Brief) renumber(m moved) {
	b.current = m.task(b.current)
	b.printed = renumbered(m, b.printed)
	b.recountLoops(m)
}

// isAbsent reports whether to Ansible there is no such task, or no such handler: a choice of the user excluded it, nothing notified it, or
// a flush before has run it.
func (r *results) isAbsent(step int, e events.StepSkipped) bool {
	switch e.Reason {
	case events.SkipTags, events.SkipUser, events.SkipUnchanged, events.SkipNeeds:
		return true
	case events.SkipWhen, events.SkipCreates, events.SkipRemoves, events.SkipUnless, events.SkipOnlyIf, events.SkipUpToDate,
		events.SkipAction, events.SkipPlugin:
	}
	return status.NotThere(r.plan, r.run.Steps, step)
}
