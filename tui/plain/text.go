package plain

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/hostnames"
	"moon/tui/status"
)

// tailLines is how much of a failed step's output is repeated at the end.
const tailLines = 20

// Text writes a run as plain lines: each step with its output and its end, what failed once more last, a summary.
type Text struct {
	W       io.Writer                      // required
	PlanFor func(digest string) *plan.Plan // required
	Verbose bool
	Diff    bool    // show the changes of files
	GitHub  *GitHub // nil: for people alone
	Usual   string  // how long the run may take, to be said at its head; "": not known
	Times   Times   // shown at the end
	Seen    bool    // whoever reads this has seen what interactive steps printed

	out     *bufio.Writer
	plan    *plan.Plan
	hosts   bool // steps are called with their hosts
	run     events.Run
	tails   map[int][]string
	active  int
	last    int               // the step whose head was printed last
	byTask  bool              // shown task by task, since it is a playbook of plays
	task    int               // by its first step: the one whose head was printed last
	play    int               // its scope: the one whose head was printed last
	begun   map[int]bool      // those that have a head
	diffs   map[string]string // which host has shown a difference, of the task whose head was printed last
	wide    int               // of the column of hosts
	folded  bool
	group   int          // the scope whose parallel steps share what folds now, or -1
	grouped map[int]bool // those that have had one

	dropped map[int]bool // steps of whose output not all was written, which has been said
}

// Follow writes until the feed ends and returns the state the run ended in.
func (t *Text) Follow(feed <-chan []events.Record) (*events.Run, error) {
	t.out = bufio.NewWriterSize(t.W, 64<<10)
	t.tails = map[int][]string{}
	t.last, t.task, t.group, t.begun, t.grouped = -1, -1, -1, map[int]bool{}, map[int]bool{}
	if err := printFeed(feed, &t.run, t.out, t.printEvent); err != nil {
		return &t.run, err
	}
	// An open group would hide what follows in the log of GitHub.
	t.endFold()
	return &t.run, t.out.Flush()
}

// printFeed takes the events of a run in until they end, and prints each that is new. What was printed is written after each batch.
func printFeed(feed <-chan []events.Record, run *events.Run, out *bufio.Writer, print func(events.Record)) error {
	for batch := range feed {
		for _, r := range batch {
			run.Apply(r)
			if !r.Again {
				print(r)
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (t *Text) printf(format string, args ...any) { fmt.Fprintf(t.out, format+"\n", args...) }

// lackingShown is how many of the steps that will be skipped for lack of a value are named before the run.
const lackingShown = 10

// printLacking says which steps will be skipped because they use what an excluded step would give.
func (t *Text) printLacking() {
	if t.plan == nil {
		return
	}
	n := 0
	for i := range t.plan.Steps {
		s := &t.plan.Steps[i]
		if s.Lacks == nil {
			continue
		}
		if n++; n <= lackingShown {
			on := ""
			if t.byTask {
				on = " on " + s.Host
			}
			t.printf("%s  %s  will be skipped: uses %s", s.ID(), termtext.CleanName(s.Label(s.Title())+on),
				termtext.CleanName(s.Lacks.Reason()))
		}
	}
	if more := n - lackingShown; more > 0 {
		t.printf("and %d more will be skipped because of what is excluded", more)
	}
}

// renumber keeps what was printed under the new numbers of the steps.
func (t *Text) renumber(m moved) {
	t.tails, t.begun, t.dropped = renumbered(m, t.tails), renumbered(m, t.begun), renumbered(m, t.dropped)
	t.last, t.task, t.play = m.step(t.last), m.step(t.task), m.scope(t.play)
	t.grouped = map[int]bool{} // scopes have other numbers now
	if t.group >= 0 {
		t.endFold()
	}
}

func (t *Text) printEvent(r events.Record) {
	switch e := r.Event.(type) {
	case events.RunStarted:
		mode := ""
		if e.Check {
			mode = "  " + dryRun(e.RealSteps)
		}
		usual := ""
		if t.Usual != "" {
			usual = "  about " + t.Usual + ", as last time"
		}
		t.printf("moon %s  %s%s%s", t.bareText(termtext.CleanName(e.Playbook)), countSteps(e.TotalSteps), mode, usual)
	case events.PlanLoaded:
		was := t.plan
		t.plan = t.PlanFor(e.Digest)
		if len(e.Expanded) > 0 {
			t.renumber(movedTo(t.plan, was))
			break
		}
		t.hosts = t.plan != nil && status.OverHosts(t.plan)
		if t.byTask = t.plan != nil && t.plan.Dialect.Rules().OverHosts; t.byTask {
			t.wide, t.task = widestHost(t.plan), -1
		}
		t.printLacking()
	case events.StepStarted:
		t.active++
		if t.byTask {
			t.taskHead(r.Step)
			if t.Verbose && e.Command != "" && e.Action != "print" {
				t.printf("%s%s", t.stepMargin(r.Step), termtext.CleanName(e.Command))
			}
			break
		}
		t.printHead(r.Step, e.Name)
		// The command is often the name of the step as well.
		if e.Command != "" && e.Action != "print" && (t.Verbose || !strings.HasSuffix(e.Command, e.Name)) {
			t.printf("  %s", termtext.CleanName(e.Command))
		}
	case events.StepOutput:
		// What the user has seen in the terminal is not printed again.
		if !t.Seen || !t.plan.Steps[r.Step].Terminal {
			t.printLine(r.Step, e)
		}
	case events.PrintMessage:
		t.printUnder(r.Step)
		for line := range strings.SplitSeq(strings.TrimSuffix(e.Message, "\n"), "\n") {
			t.printf("%s%s", t.stepMargin(r.Step), termtext.CleanName(line))
		}
	case events.StepRetrying:
		t.printUnder(r.Step)
		if e.ByUser { // the attempt before may have succeeded
			t.printf("%sattempt %d, as asked", t.stepMargin(r.Step), e.Attempt)
			break
		}
		t.printf("%sattempt %d failed: %s", t.stepMargin(r.Step), e.Attempt-1, termtext.CleanName(firstLine(e.Error)))
		t.printf("%sattempt %d in %s", t.stepMargin(r.Step), e.Attempt, max(e.Due.Sub(r.Time), 0).Round(time.Millisecond))
	case events.StepCompleted:
		t.printEnd(r.Step, e.Name, t.completedText(r.Step, e))
		if e.Drift != "" {
			t.printf("%sdrift: %s", t.stepMargin(r.Step), termtext.CleanName(e.Drift))
		}
		t.printDiff(r.Step, e.Diff)
		t.stepOver()
	case events.StepSkipped:
		why := string(e.Reason)
		if e.Detail != "" {
			why += ": " + e.Detail
		}
		// The user excluded it, and need not be reminded.
		if t.plan.Steps[r.Step].Excluded && !t.Verbose {
			break
		}
		t.printEnd(r.Step, e.Name, "skipped ("+termtext.CleanName(status.WhySkipped(why))+")")
		t.stepOver()
	case events.StepFailed:
		word := "FAILED"
		switch {
		case e.Ignored:
			word = "failed (ignored)"
		case e.Rescued:
			word = "failed (rescued)"
		case e.Unreachable:
			word = "UNREACHABLE"
		}
		t.printEnd(r.Step, e.Name, fmt.Sprintf("%s: %s%s", word, termtext.CleanName(firstLine(e.Error)), t.timeTaken(r.Step)))
		t.endFold()
		t.annotateFailure(r.Step, e)
	case events.StepLost:
		word := "lost"
		if e.Ignored {
			word = "lost (ignored)"
		}
		t.printEnd(r.Step, e.Name, word+": "+termtext.CleanName(e.Why()))
		t.endFold()
		// A lost step is annotated like a failure.
		t.annotateFailure(r.Step, events.StepFailed{Error: e.Why(), Ignored: e.Ignored, Rescued: e.Rescued})
	case events.StepCancelled:
		t.printEnd(r.Step, e.Name, "cancelled"+t.timeTaken(r.Step))
		t.endFold()
	case events.Warning:
		if r.Step >= 0 && t.run.Steps[r.Step].Attempt > 0 {
			t.printUnder(r.Step)
		}
		t.printWarning(e)
	case events.StepConfirmed:
		t.endFold()
		if words := e.Words(); words != "" {
			t.printf("%s", t.bareText(t.stepName(r.Step)+": "+termtext.CleanName(words)))
		}
	case events.RunPaused:
		t.endFold()
		t.printf("paused: %s", e.Reason)
	case events.CommandRejected:
		t.endFold()
		t.printf("refused %s: %s", events.Verb(e.Command), t.bareText(termtext.CleanName(e.Reason)))
	case events.RunCompleted:
		t.printSummary(e)
		t.Times.printEnd(t.out, t.plan, &t.run, r.Time)
	case events.StepOmitted, events.StepTried, events.AttemptStarted, events.StepProgress, events.VariableSet, events.Notified,
		events.GateOpened, events.GateResolved,
		events.RunResumed, events.CommandAccepted, events.Gap:
	}
}

// dryRun says that a run is dry, and what in it is not.
func dryRun(realSteps int) string {
	switch realSteps {
	case 0:
		return "dry run: nothing will be changed"
	case 1:
		return "dry run, except for 1 step with check_mode: false, which runs for real"
	}
	return fmt.Sprintf("dry run, except for %d steps with check_mode: false, which run for real", realSteps)
}

// realMark marks a step that a dry run executes.
func (t *Text) realMark(step int) string {
	if t.run.Check && t.run.Steps[step].Attempt > 0 && t.plan.Steps[step].DefiesDryRun() {
		return "  (runs for real)"
	}
	return ""
}

func (t *Text) printHead(step int, name string) {
	title := t.stepTitle(step, name)
	group := t.parallelGroup(step)
	if group < 0 || group != t.group {
		t.endFold()
		t.beginGroup(group, title)
	} else {
		t.printf("%s", title)
	}
	t.last = step
}

func (t *Text) stepTitle(step int, name string) string {
	return fmt.Sprintf("step %d/%d  %s%s", step+1, len(t.plan.Steps), termtext.CleanName(t.hostOf(step)+t.plan.Steps[step].Label(name)),
		t.realMark(step))
}

// hostOf is the host of a step, to stand before its name.
func (t *Text) hostOf(step int) string {
	if !t.hosts {
		return ""
	}
	return status.On(&t.plan.Steps[step]) + "  "
}

// printUnder makes sure that what follows is read as belonging to the step.
func (t *Text) printUnder(step int) {
	if t.byTask {
		t.taskHead(step)
		return
	}
	if t.last != step {
		t.printHead(step, t.stepName(step)+" (continued)")
	}
}

func (t *Text) stepName(step int) string {
	if name := t.run.Steps[step].Name; name != "" {
		return name
	}
	return t.plan.Steps[step].Title()
}

func (t *Text) printLine(step int, e events.StepOutput) {
	t.printUnder(step)
	mark := "|"
	if e.Stderr {
		mark = "!"
	}
	text := termtext.CleanName(steplog.Marked(e.Line, e.Dropped, e.Binary))
	for _, part := range []string{t.stepMargin(step), mark, " ", text, "\n"} { // there may be millions: Fprintf takes as long as all the rest
		_, _ = t.out.WriteString(part) // it keeps its first error
	}
	// Said once for each step.
	if e.Dropped > 0 && !t.dropped[step] {
		if t.dropped == nil {
			t.dropped = map[int]bool{}
		}
		t.dropped[step] = true
		t.printf("%s%s all of it: moon show %s --output %s", t.stepMargin(step), mark, t.run.ID, events.StepID(step))
	}
	// Kept for the summary, where the last lines stand below the failure.
	tail := append(t.tails[step], text)
	if len(tail) > tailLines {
		tail = tail[1:]
	}
	t.tails[step] = tail
}

func (t *Text) printEnd(step int, name, result string) {
	if t.run.Steps[step].Attempt > 0 {
		t.active--
	}
	switch {
	case t.byTask, t.run.Steps[step].Attempt > 0:
		t.printUnder(step)
	case t.GitHub != nil && t.parallelGroup(step) < 0: // nothing to fold
		t.endFold()
		t.printf("%s", t.bareText(t.stepTitle(step, name)+": "+result))
		return
	default:
		t.printHead(step, name)
	}
	// Only failures are printed again at the end.
	if !hasFailed(&t.run.Steps[step]) {
		delete(t.tails, step)
	}
	t.printf("%s%s", t.stepMargin(step), result)
}

// foundText says which name an open place has found, or which keys of a task. Of arguments that it has found as a whole only the names
// are said: the step itself shows them, without those that are secret.
func foundText(what string, items []any) string {
	if len(items) == 0 {
		return "ok"
	}
	if what != "keys" {
		items = items[:1]
	}
	texts := make([]string, len(items))
	for i, item := range items {
		if m, ok := item.(map[string]any); ok {
			texts[i] = strings.Join(slices.Sorted(maps.Keys(m)), ", ")
		} else {
			texts[i] = plan.FirstLine(value.Text(item))
		}
	}
	return what + " " + termtext.CleanName(strings.Join(texts, ", "))
}

func (t *Text) completedText(step int, e events.StepCompleted) string {
	word := "ok"
	if items, ok := e.Result["items"].([]any); ok && t.plan.Steps[step].Place != nil {
		if !t.plan.Steps[step].Loops() {
			return foundText(t.plan.Steps[step].Place.What, items)
		}
		return plan.CountOf(len(items), "item")
	}
	if file := t.plan.Steps[step].Includes; file != "" {
		word = "includes " + termtext.CleanName(file)
	}
	switch {
	case e.Outdated:
		return "done before, with an earlier definition; not run again"
	case e.Kept && e.Changed:
		return "kept: it changed something before"
	case e.Kept:
		return "kept from before"
	case e.Changed:
		word = "changed"
	}
	if d := e.Diff; d != nil {
		dry := t.plan.Steps[step].Dry(t.run.Check)
		switch {
		case dry && t.plan.Steps[step].Open():
			word = "stays open"
		case dry && d.Kind == events.ChangeUnknown:
			word = "would run"
		case dry && d.Kind != events.ChangeNone:
			word = "would " + string(d.Kind)
		}
		if d.Summary != "" {
			word += " (" + termtext.CleanName(d.Summary) + ")"
		}
	}
	return word + t.timeTaken(step)
}

// printDiff shows a change of text, where the run or the step was asked to show it.
func (t *Text) printDiff(step int, d *events.Diff) {
	if d == nil || d.Text == "" || !t.Diff && (t.plan == nil || !t.plan.Steps[step].ShowDiff) {
		return
	}
	if t.byTask && t.plan != nil {
		s := &t.plan.Steps[step]
		// Without host names in it, so that equal changes on many hosts are shown once.
		key := hostnames.Nameless(s.Host, fmt.Sprint(t.task, "\x00", s.Label(""), "\x00", d.Path, "\x00", d.Text))
		if first, ok := t.diffs[key]; ok && first != s.Host {
			t.printf("    the same difference as on %s", termtext.CleanName(first))
			return
		}
		if t.diffs == nil {
			t.diffs = map[string]string{}
		}
		t.diffs[key] = s.Host
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(d.Text, "\n"), "\n") {
		t.printf("    %s", termtext.CleanName(line))
	}
}

// timeTaken is how long a step ran, where that is worth a word.
func (t *Text) timeTaken(step int) string {
	s := &t.run.Steps[step]
	if d := s.Lasted(s.Ended); d >= 10*time.Millisecond {
		return " in " + Duration(d)
	}
	return ""
}

// Duration is a time as people read it: 28ms, 4.2s, 3:07.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// waitedText says how long a run waited for a person, where that is worth a word.
func waitedText(before string, d time.Duration) string {
	if d < time.Second {
		return ""
	}
	return before + "waited " + Duration(d)
}

func (t *Text) printSummary(e events.RunCompleted) {
	// What the steps have printed must not be read as commands by GitHub.
	if t.GitHub != nil && e.Error != "" {
		t.endFold()
		t.printf("::error title=exports::%s", escapeData(termtext.CleanName(e.Error)))
	}
	defer t.beginQuote()()
	for i := range t.run.Steps {
		s := &t.run.Steps[i]
		if !hasFailed(s) {
			continue
		}
		word := "FAILED"
		if s.Outcome == events.Unreachable {
			word = "UNREACHABLE"
		}
		t.printf("\n%s %s  %s  (%s)", word, t.plan.Steps[i].ID(), termtext.CleanName(t.hostOf(i)+t.plan.NameWithItems(i, t.stepName(i))),
			termtext.CleanName(t.plan.Steps[i].Origin.Full()))
		t.printFailure(s.Error, t.tails[i])
	}
	if e.Error != "" {
		t.printExportsFailed(e.Error)
	}
	t.printf("")
	t.printf("%s: %s in %s", termtext.CleanName(t.plan.RootFile), e.Outcome, Duration(e.Duration)+waitedText(", ", e.Waited))
	t.printf("  %s", countsLine(e))
	if len(e.Hosts) > 0 {
		t.printf("")
		writeRecap(t.out, e.Hosts)
	}
}

// printExportsFailed prints why a run failed although no step did.
func (t *Text) printExportsFailed(why string) {
	t.printf("\nFAILED exports")
	t.printf("  %s", termtext.CleanName(why))
}

// printFailure prints why a step failed: the first line of the error, then the end of its output. The error carries the
// same lines where there is no output to show.
func (t *Text) printFailure(text string, tail []string) {
	head, rest, _ := strings.Cut(text, "\n")
	t.printf("  %s", termtext.CleanName(head))
	if len(tail) == 0 && rest != "" {
		tail = strings.Split(rest, "\n")
	}
	for _, line := range tail {
		t.printf("    %s", termtext.CleanName(line))
	}
}

// countsLine is the outcome in words: "3 done (2 changed), 1 skipped, 1 failed, 7 not run, of 12".
func countsLine(e events.RunCompleted) string {
	parts := []string{fmt.Sprintf("%d done", e.Executed)}
	if e.Changed > 0 {
		parts[0] += fmt.Sprintf(" (%d changed)", e.Changed)
	}
	for _, c := range []struct {
		n    int
		word string
	}{
		{e.Skipped, "skipped"},
		{e.Failed, "failed"},
		{e.Ignored, "ignored"},
		{e.Rescued, "rescued"},
		{e.Cancelled, "cancelled"},
		{e.NotRun - e.Open, "not run"},
		{e.Open, "open"},
		{e.Outdated, "with an earlier definition"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	return fmt.Sprintf("%s, of %s", strings.Join(parts, ", "), countSteps(e.TotalSteps))
}

func countSteps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
