package plain

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"moon/events"
	"moon/internal/termtext"
	"moon/plan"
	"moon/tui/status"
)

// Ansible writes a run as ansible-playbook shows it with its default callback, for whoever reads that with a program: plays, tasks,
// a line for each host and item, and the recap. Names, words and spaces are the same; what the results hold is moon's.
type Ansible struct {
	W       io.Writer                      // required
	PlanFor func(digest string) *plan.Plan // required
	Verbose bool                           // also the results of what went well
	Diff    bool

	Style       ResultStyle
	HideOK      bool  // what went well and changed nothing is not printed, and neither are heads of tasks with nothing below them
	HideSkipped bool  // the same of what was skipped
	Times       Times // shown under the heads of tasks, and at the end

	out *bufio.Writer
	results

	now      time.Time   // of the event that is printed
	play     int         // whose head was printed last: a play or a batch of one; -1 before the first
	current  taskKey     // that was entered last
	task     taskKey     // whose head was printed last
	included []inclusion // by the task whose head was printed last
}

// inclusion is a file that hosts include.
type inclusion struct {
	line, item string
	hosts      []string
}

// columns is how wide Ansible takes a terminal for that is none.
const columns = 80

// Follow writes until the feed ends and returns the state the run ended in.
func (a *Ansible) Follow(feed <-chan []events.Record) (*events.Run, error) {
	a.out = bufio.NewWriterSize(a.W, 64<<10)
	a.resetLine()
	return &a.run, printFeed(feed, &a.run, a.out, a.printEvent)
}

func (a *Ansible) resetLine() {
	a.play, a.current, a.task = -1, noTask, noTask
	a.included, a.loops, a.printed = nil, map[loopKey]*loopEnd{}, map[int]*streams{}
}

func (a *Ansible) printf(format string, args ...any) { fmt.Fprintf(a.out, format+"\n", args...) }

func (a *Ansible) printBanner(text string) { printBanner(a.out, text) }

// printBanner prints a line with stars to the right, after an empty one.
func printBanner(w io.Writer, text string) {
	text = termtext.CleanName(text)
	fmt.Fprintf(w, "\n%s %s\n", text, strings.Repeat("*", max(columns-1-ansi.StringWidth(text), 3)))
}

func (a *Ansible) printEvent(r events.Record) {
	a.now = r.Time
	switch e := r.Event.(type) {
	case events.PlanLoaded:
		was := a.plan
		a.plan = a.PlanFor(e.Digest)
		if len(e.Expanded) > 0 {
			a.renumber(movedTo(a.plan, was))
			break
		}
		// A new plan gives the steps other numbers, so no task is the current one.
		a.resetLine()
		a.countLoops()
	case events.StepStarted:
		if !a.plan.Steps[r.Step].Loops() { // of an open loop Ansible shows the rounds
			a.enterTask(r.Step)
		}
	case events.StepOutput:
		a.keepOutput(r.Step, e)
	case events.StepRetrying:
		// Ansible prints automatic retries only.
		if !e.ByUser {
			s := &a.plan.Steps[r.Step]
			a.printf("FAILED - RETRYING: [%s]: %s (%d retries left).", a.hostOf(s), termtext.CleanName(a.taskTitle(r.Step)),
				max(s.Retry.Max-e.Attempt+2, 0))
		}
		delete(a.printed, r.Step)
	case events.StepCompleted:
		switch s := &a.plan.Steps[r.Step]; {
		case s.Open() && s.Dry(a.run.Check), a.foundNothing(r.Step, e):
			a.printHeads(r.Step)
			a.printf("skipping: [%s]", a.hostOf(s))
		case !s.Loops():
			a.printCompleted(r.Step, e)
		}
	case events.StepSkipped:
		a.printSkipped(r.Step, e)
	case events.StepFailed:
		a.printFailed(r.Step, e)
	case events.StepLost:
		// A host that was lost is unreachable to Ansible; a step that was lost has failed.
		a.printFailed(r.Step, events.StepFailed{Error: e.Why(), Unreachable: e.Error != "", Ignored: e.Ignored, Rescued: e.Rescued})
	case events.StepCancelled:
		a.printFailed(r.Step, events.StepFailed{Error: "cancelled"})
	case events.Warning:
		a.printf("[WARNING]: %s", termtext.CleanName(e.Message))
	case events.RunCompleted:
		a.printRecap(e)
	case events.RunStarted, events.StepTried, events.AttemptStarted, events.StepOmitted, events.PrintMessage, events.StepProgress,
		events.VariableSet, events.Notified, events.GateOpened, events.StepConfirmed, events.GateResolved, events.RunPaused,
		events.RunResumed, events.CommandAccepted, events.CommandRejected, events.Gap:
	}
}

// renumber keeps what was printed under the new numbers of the steps. The rounds that were added are counted, and all others stay.
func (a *Ansible) renumber(m moved) {
	a.play, a.current, a.task = m.scope(a.play), m.task(a.current), m.task(a.task)
	a.printed = renumbered(m, a.printed)
	a.recountLoops(m)
}

// enterTask makes sure that what follows is read as belonging to the step's task: it prints the heads that have changed. If lines are
// left out, the head of the task waits for one that is not.
func (a *Ansible) enterTask(step int) {
	key := a.keyOf(step)
	// Included files are reported when all hosts of the including task have decided.
	if key != a.current {
		a.tellIncluded()
	}
	a.playHead(step)
	if key == a.current {
		return
	}
	a.current = key
	if !a.HideOK && !a.HideSkipped {
		a.taskHead(step)
	}
	a.Times.printBetween(a.out, a.run.Started, a.now)
}

// printHeads prints the heads above a line of a step.
func (a *Ansible) printHeads(step int) {
	a.enterTask(step)
	a.taskHead(step)
}

func (a *Ansible) taskHead(step int) {
	key := a.keyOf(step)
	if key == a.task {
		return
	}
	a.task = key
	word := "TASK"
	if a.plan.Steps[step].Handler {
		word = "RUNNING HANDLER"
	}
	title := a.taskTitle(step)
	if s := &a.plan.Steps[step]; s.Action != "include_role" { // Ansible names the role that it includes, and not the one that it is in
		title = status.TaskTitle(s.Role, title)
	}
	a.printBanner(word + " [" + title + "]")
}

// playHead prints the head of the play, or of the batch of one, that a step is in.
func (a *Ansible) playHead(step int) {
	play, name := 0, a.plan.Scopes[0].Name
	of := -1
	for id := a.plan.Steps[step].Scope; id > 0; id = a.plan.Scopes[id].Parent {
		if k := a.plan.Scopes[id].Kind; k == plan.ScopePlay || k == plan.ScopeBatch {
			if of < 0 {
				// The play has the name, but each batch has a head of its own.
				of = id
			}
			if k == plan.ScopePlay {
				name = a.plan.Scopes[id].Name
				break
			}
		}
	}
	if of >= 0 {
		play = of
	}
	if play == a.play {
		return
	}
	a.noteLeft()
	a.emptyPlays(play)
	a.play, a.current, a.task = play, noTask, noTask
	a.printBanner("PLAY [" + cmp.Or(name, a.plan.Name, a.plan.RootFile) + "]")
}

// emptyPlays prints the plays before a scope that have no tasks to print.
func (a *Ansible) emptyPlays(before int) {
	for id := a.play + 1; id < before; id++ {
		s := &a.plan.Scopes[id]
		if s.Kind != plan.ScopePlay || a.hasTasks(s) {
			continue
		}
		a.printBanner("PLAY [" + s.Name + "]")
		if s.Hosts == 0 {
			a.printf("skipping: no hosts matched")
		}
	}
}

// hasTasks reports whether tags and the selection leave anything of a play.
func (a *Ansible) hasTasks(s *plan.Scope) bool {
	for i := s.First; i < s.Last; i++ {
		if !a.plan.Steps[i].Excluded {
			return true
		}
	}
	return false
}

// noteLeft says of the play that has ended that nothing more was run on hosts that had not failed.
func (a *Ansible) noteLeft() {
	if a.play <= 0 {
		return
	}
	s := &a.plan.Scopes[a.play]
	// A host that has failed does not stop others; one that stopped without failing was stopped by them.
	bad, stopped := map[string]bool{}, map[string]bool{}
	for i := s.First; i < min(s.Last, len(a.run.Steps)); i++ {
		host := a.plan.Steps[i].Host
		switch st := status.Of(&a.run.Steps[i], &a.plan.Steps[i]); {
		case st.Bad() || st == status.Cancelled:
			bad[host] = true
		case a.run.Steps[i].Outcome == events.Omitted && a.run.Steps[i].Cause >= 0:
			stopped[host] = true
		}
	}
	if len(bad) == 0 {
		return
	}
	for host := range stopped {
		if !bad[host] {
			a.printBanner("NO MORE HOSTS LEFT")
			return
		}
	}
}

// noteInclude takes down that a host includes a file. The line is printed when all hosts have decided.
func (a *Ansible) noteInclude(step int) {
	s := &a.plan.Steps[step]
	if s.Action == "include_role" {
		// Ansible prints a line only for files of tasks.
		return // the tasks of the role say enough
	}
	line := "included: " + a.shortFile(s.Includes) + " for"
	item := ""
	if s.Loop != nil {
		item = " => " + a.itemOf(step)
	}
	i := slices.IndexFunc(a.included, func(in inclusion) bool { return in.line == line && in.item == item })
	if i < 0 {
		i = len(a.included)
		a.included = append(a.included, inclusion{line: line, item: item})
	}
	a.included[i].hosts = append(a.included[i].hosts, a.hostOf(s))
}

// tellIncluded prints what the hosts of a task have included.
func (a *Ansible) tellIncluded() {
	for _, in := range a.included {
		a.printf("%s", termtext.CleanName(in.line+" "+strings.Join(in.hosts, ", "))+in.item)
	}
	a.included = nil
}

func (a *Ansible) shortFile(name string) string {
	if filepath.IsAbs(name) || a.plan.Root == "" {
		return name
	}
	return filepath.Join(a.plan.Root, name)
}

func (a *Ansible) printCompleted(step int, e events.StepCompleted) {
	s := &a.plan.Steps[step]
	if s.Includes != "" {
		a.printHeads(step)
		a.noteInclude(step)
		return
	}
	if a.HideOK && !e.Changed {
		a.enterTask(step)
		delete(a.printed, step)
		a.itemEnded(step, loopEnd{ran: true})
		return
	}
	a.printHeads(step)
	a.printDiff(s, e.Diff)
	word := "ok"
	if e.Changed {
		word = "changed"
	}
	line := word + ": [" + a.hostOf(s) + "]"
	if item := a.itemOf(step); item != "" {
		line += " => " + item
	}
	switch result := a.shownResult(step, e.Result); {
	case s.NoLog:
		line += a.detail(result)
	case s.Action == "print":
		line += " => " + a.Style.write(a.printedMessage(s, step, e.Result), true)
	case s.Action == "assert" && !isQuiet(s):
		line += " => " + a.Style.write(assertedResult(result), true)
	default:
		line += a.detail(result)
	}
	a.printLines(line)
	delete(a.printed, step)
	a.itemEnded(step, loopEnd{ran: true, changed: e.Changed})
}

// detail is a result behind a line that is whole without it.
func (a *Ansible) detail(result map[string]any) string {
	if !a.Verbose {
		return ""
	}
	return " => " + a.Style.write(result, false)
}

// printLines prints a text of several lines, each fit for a terminal.
func (a *Ansible) printLines(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		a.printf("%s", termtext.CleanName(line))
	}
}

func (a *Ansible) printDiff(s *plan.Step, d *events.Diff) {
	if d == nil || d.Text == "" || !a.Diff && !s.ShowDiff {
		return
	}
	a.printLines(strings.TrimSuffix(d.Text, "\n"))
	a.printf("")
}

func (a *Ansible) printSkipped(step int, e events.StepSkipped) {
	s := &a.plan.Steps[step]
	if a.isAbsent(step, e) {
		a.itemEnded(step, loopEnd{})
		return
	}
	if e.Reason != events.SkipWhen && e.Reason != events.SkipAction && e.Reason != events.SkipPlugin { // its work is done
		if a.enterTask(step); !a.HideOK {
			a.printHeads(step)
			a.plainLine("ok", s, step)
		}
		a.itemEnded(step, loopEnd{ran: true})
		return
	}
	item := a.itemOf(step)
	if a.enterTask(step); !a.HideSkipped {
		a.printHeads(step)
		line := "skipping: [" + termtext.CleanName(s.Host) + "]" // whom it would be delegated to is not said
		if item != "" {                                          // items that are skipped get a line each, and the loop one more if all are
			line += " => " + item + " "
		}
		a.printLines(line + a.detail(a.skippedResult(step)))
	}
	if item != "" {
		a.itemEnded(step, loopEnd{})
	}
}

func (a *Ansible) plainLine(word string, s *plan.Step, step int) {
	line := word + ": [" + a.hostOf(s) + "]"
	if item := a.itemOf(step); item != "" {
		line += " => " + item
	}
	a.printf("%s", line)
}

func (a *Ansible) printFailed(step int, e events.StepFailed) {
	s := &a.plan.Steps[step]
	a.printHeads(step)
	result := a.failedResult(step, e)
	item := a.itemOf(step)
	always := s.Action == "assert" && !isQuiet(s) && !s.NoLog // a failed assert is shown in full, as one that holds
	switch {
	case e.Unreachable:
		result["unreachable"] = true
		a.printLines("fatal: [" + a.hostOf(s) + "]: UNREACHABLE! => " + a.Style.write(result, false))
	case item != "":
		a.printLines("failed: [" + a.hostOf(s) + "] " + item + " => " + a.Style.write(result, always))
	default:
		a.printLines("fatal: [" + a.hostOf(s) + "]: FAILED! => " + a.Style.write(result, always))
	}
	delete(a.printed, step)
	// After the last item the loop as a whole is reported.
	if item != "" {
		a.itemEnded(step, loopEnd{ran: true, changed: result["changed"] == true, failed: true, ignored: e.Ignored})
	} else if e.Ignored {
		a.printf("...ignoring")
	}
}

// itemEnded says, after the last item of a loop on a host, what became of the whole.
func (a *Ansible) itemEnded(step int, end loopEnd) {
	key, ok := a.loopOf(step)
	l := a.loops[key]
	if !ok || l == nil {
		return
	}
	l.left--
	l.ran, l.changed, l.failed, l.ignored = l.ran || end.ran, l.changed || end.changed, l.failed || end.failed, l.ignored || end.ignored
	if l.left != 0 {
		return
	}
	s := &a.plan.Steps[step]
	// With no_log the results of the items are gone, so that Ansible takes the whole for a task without a loop.
	hidden := map[string]any{"censored": censored, "changed": l.changed}
	switch {
	case !s.NoLog || !l.ran:
	case l.failed:
		a.printLines("fatal: [" + a.hostOf(s) + "]: FAILED! => " + a.Style.write(hidden, false))
	case l.changed:
		a.printLines("changed: [" + a.hostOf(s) + "]" + a.detail(hidden))
	case !a.HideOK:
		a.printLines("ok: [" + a.hostOf(s) + "]" + a.detail(hidden))
	}
	switch {
	case l.ignored:
		a.printf("...ignoring")
	// Ansible says of the whole loop that it is skipped only if each item was.
	case !l.ran && !a.HideSkipped && (strings.HasPrefix(a.run.Steps[step].Reason, string(events.SkipWhen)) ||
		strings.HasPrefix(a.run.Steps[step].Reason, string(events.SkipAction))):
		result := map[string]any{"changed": false, "msg": "All items skipped"}
		a.printLines("skipping: [" + termtext.CleanName(s.Host) + "]" + a.detail(result))
	}
}

// printRecap prints how the tasks of each host ended, by name.
func (a *Ansible) printRecap(e events.RunCompleted) {
	if a.plan == nil {
		return
	}
	a.tellIncluded()
	a.noteLeft()
	a.emptyPlays(len(a.plan.Scopes))
	if e.Error != "" {
		a.printf("[ERROR]: exports: %s", termtext.CleanName(e.Error))
	}
	a.printBanner("PLAY RECAP")
	hosts := slices.Clone(e.Hosts)
	if len(hosts) == 0 {
		hosts = status.Recap(a.plan, a.run.Steps)
	}
	slices.SortStableFunc(hosts, func(x, y events.HostCounts) int { return strings.Compare(x.Host, y.Host) })
	for i := range hosts {
		name := termtext.CleanName(hosts[i].Host)
		fmt.Fprintf(a.out, "%s%s :", name, strings.Repeat(" ", max(26-ansi.StringWidth(name), 0)))
		for k, n := range status.Tallies(&hosts[i]) {
			fmt.Fprintf(a.out, " %s=%-4d", status.TallyWords[k], n)
		}
		a.printf("")
	}
	a.printf("")
	a.Times.printEnd(a.out, a.plan, &a.run, a.now)
}
