package plain

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"moon/events"
	"moon/events/steplog"
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

	out  *bufio.Writer
	plan *plan.Plan
	run  events.Run

	play     int         // whose head was printed last: a play or a batch of one; -1 before the first
	task     taskKey     // whose head was printed last
	included []inclusion // by the task whose head was printed last
	loops    map[loopKey]*loopEnd
	printed  map[int]*streams // of steps that run
}

// taskKey is a task as Ansible has it, over all its hosts: a scope, or a step that stands alone.
type taskKey struct {
	scope int
	step  int // -1 for a scope
}

// loopKey is the loop of one task on one host.
type loopKey struct {
	scope int
	host  string
}

// inclusion is a file that hosts include.
type inclusion struct {
	line, item string
	hosts      []string
}

// loopEnd is how the items of a loop have ended so far.
type loopEnd struct {
	left                          int
	ran, changed, failed, ignored bool // any of them
}

// streams are what a step has printed, as far as it is kept for its result.
type streams struct {
	lines [2][]string
	size  int
}

const (
	columns     = 80
	keptPrinted = 1 << 20 // bytes of the output of a step
)

// censored is what Ansible shows of a result that no_log hides.
const censored = "the output has been hidden due to the fact that 'no_log: true' was specified for this result"

// ansibleWords are the actions that playbooks of Ansible call otherwise.
var ansibleWords = map[string]string{"print": "debug", "wait": "wait_for"}

var noTask = taskKey{-1, -1}

// Follow writes until the feed ends and returns the state the run ended in.
func (a *Ansible) Follow(feed <-chan []events.Record) (*events.Run, error) {
	a.out = bufio.NewWriterSize(a.W, 64<<10)
	a.resetLine()
	for batch := range feed {
		for _, r := range batch {
			a.run.Apply(r)
			if !r.Again {
				a.printEvent(r)
			}
		}
		if err := a.out.Flush(); err != nil {
			return &a.run, err
		}
	}
	return &a.run, a.out.Flush()
}

func (a *Ansible) resetLine() {
	a.play, a.task = -1, noTask
	a.included, a.loops, a.printed = nil, map[loopKey]*loopEnd{}, map[int]*streams{}
}

func (a *Ansible) printf(format string, args ...any) { fmt.Fprintf(a.out, format+"\n", args...) }

// printBanner prints a line with stars to the right, after an empty one.
func (a *Ansible) printBanner(text string) {
	text = termtext.CleanName(text)
	a.printf("\n%s %s", text, strings.Repeat("*", max(columns-1-ansi.StringWidth(text), 3)))
}

func (a *Ansible) printEvent(r events.Record) {
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
			a.printHeads(r.Step)
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
		case s.Open() && s.Dry(a.run.Check), s.Loops() && foundNothing(e):
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
		events.VariableSet,
		events.Notified, events.GateOpened, events.GateResolved, events.RunPaused, events.RunResumed, events.CommandAccepted,
		events.CommandRejected,
		events.Gap:
	}
}

// foundNothing reports whether the step of an open loop has found no items. Ansible skips such a task.
func foundNothing(e events.StepCompleted) bool {
	items, ok := e.Result["items"].([]any)
	return ok && len(items) == 0
}

// renumber keeps what was printed under the new numbers of the steps. The rounds that were added are counted, and all others stay.
func (a *Ansible) renumber(m moved) {
	a.play, a.task = m.scope(a.play), taskKey{m.scope(a.task.scope), m.step(a.task.step)}
	a.printed = renumbered(m, a.printed)
	counted := map[loopKey]*loopEnd{}
	for key, l := range a.loops {
		counted[loopKey{m.scope(key.scope), key.host}] = l
	}
	a.loops = map[loopKey]*loopEnd{}
	a.countLoops()
	for key, l := range counted {
		if a.loops[key] != nil {
			a.loops[key] = l
		}
	}
}

// countLoops counts the items of each loop on each host.
func (a *Ansible) countLoops() {
	for i := range a.plan.Steps {
		if key, ok := a.loopOf(i); ok {
			if a.loops[key] == nil {
				a.loops[key] = &loopEnd{}
			}
			a.loops[key].left++
		}
	}
}

func (a *Ansible) loopOf(step int) (loopKey, bool) {
	s := &a.plan.Steps[step]
	return loopKey{s.Scope, s.Host}, s.Scope < len(a.plan.Scopes) && a.plan.Scopes[s.Scope].Kind == plan.ScopeLoop
}

func (a *Ansible) keyOf(step int) taskKey {
	scope := a.plan.Steps[step].Scope
	if task := status.Task(a.plan, scope); task >= 0 {
		return taskKey{task, -1}
	}
	if _, loop := a.loopOf(step); loop {
		return taskKey{scope, -1}
	}
	return taskKey{-1, step}
}

// printHeads makes sure that what follows is read as belonging to the step's task: it prints the heads that have changed.
func (a *Ansible) printHeads(step int) {
	key := a.keyOf(step)
	// Included files are reported when all hosts of the including task have decided.
	if key != a.task {
		a.tellIncluded()
	}
	a.playHead(step)
	if key == a.task {
		return
	}
	a.task = key
	word := "TASK"
	if a.plan.Steps[step].Handler {
		word = "RUNNING HANDLER"
	}
	a.printBanner(word + " [" + status.TaskTitle(a.plan.Steps[step].Role, a.taskTitle(step)) + "]")
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
	a.play, a.task = play, noTask
	a.printBanner("PLAY [" + cmp.Or(name, a.plan.Name, a.plan.RootFile) + "]")
}

// emptyPlays prints the plays before a scope that have no tasks to print.
func (a *Ansible) emptyPlays(before int) {
	for id := a.play + 1; id < before; id++ {
		s := &a.plan.Scopes[id]
		if s.Kind != plan.ScopePlay || s.Steps() > 0 {
			continue
		}
		a.printBanner("PLAY [" + s.Name + "]")
		if s.Hosts == 0 {
			a.printf("skipping: no hosts matched")
		}
	}
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

// taskTitle is the name of a step's task. One over several hosts, or items, has the name as it is written.
func (a *Ansible) taskTitle(step int) string {
	s := &a.plan.Steps[step]
	if word, ok := ansibleWords[s.Action]; !named(s) {
		switch {
		case s.Action == "include_role":
			return "include_role : " + s.Includes
		case ok:
			return word
		}
		return s.Action
	}
	if key := a.keyOf(step); key.step < 0 {
		if name := a.plan.Scopes[key.scope].Name; name != "" && name != string(plan.ScopeLoop) {
			return name
		}
		return s.Action
	}
	return cmp.Or(a.run.Steps[step].Name, s.Name)
}

func (a *Ansible) hostOf(s *plan.Step) string { return termtext.CleanName(status.On(s)) }

func (a *Ansible) keepOutput(step int, e events.StepOutput) {
	s := a.printed[step]
	if s == nil {
		s = &streams{}
		a.printed[step] = s
	}
	// Output beyond the limit is counted, but not kept for the result.
	if s.size += len(e.Line) + 1; s.size > keptPrinted {
		return
	}
	k := 0
	if e.Stderr {
		k = 1
	}
	s.lines[k] = append(s.lines[k], steplog.Marked(e.Line, e.Dropped, e.Binary))
}

// itemOf is " => (item=x)" for a step that is an item of a loop.
func (a *Ansible) itemOf(step int) string {
	s := &a.plan.Steps[step]
	if _, ok := a.loopOf(step); !ok || s.Loop == nil {
		return ""
	}
	return "(item=" + a.itemText(s) + ")"
}

func (a *Ansible) itemText(s *plan.Step) string {
	if s.NoLog {
		return "None"
	}
	return termtext.CleanName(s.Loop.PythonText())
}

func (a *Ansible) printCompleted(step int, e events.StepCompleted) {
	s := &a.plan.Steps[step]
	a.printHeads(step)
	if s.Includes != "" {
		a.noteInclude(step)
		return
	}
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
		if a.Verbose {
			line += " => " + oneLine(result)
		}
	case s.Action == "print":
		line += " => " + indentedJSON(a.printedMessage(s, step, e.Result))
	case s.Action == "assert":
		line += " => " + indentedJSON(map[string]any{"changed": false, "msg": cmp.Or[any](result["msg"], "All assertions passed")})
	case a.Verbose:
		line += " => " + oneLine(result)
	}
	a.printLines(line)
	delete(a.printed, step)
	a.itemEnded(step, loopEnd{ran: true, changed: e.Changed})
}

// printLines prints a text of several lines, each fit for a terminal.
func (a *Ansible) printLines(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		a.printf("%s", termtext.CleanName(line))
	}
}

// printedMessage is what a print has printed, under the name Ansible gives it.
func (a *Ansible) printedMessage(s *plan.Step, step int, result map[string]any) map[string]any {
	if name, ok := s.Args["var"].(string); ok && name != "" {
		if v, ok := result[name]; ok {
			return map[string]any{name: v}
		}
		return map[string]any{name: cmp.Or[any](result["msg"], a.run.Steps[step].Message)}
	}
	if msg, ok := result["msg"]; ok {
		return map[string]any{"msg": msg}
	}
	return map[string]any{"msg": a.run.Steps[step].Message}
}

// shownResult is the result of a step as Ansible shows it: without what stands in the line already, with what was printed.
func (a *Ansible) shownResult(step int, given map[string]any) map[string]any {
	s := &a.plan.Steps[step]
	m := map[string]any{"changed": a.run.Steps[step].Outcome == events.Changed || given["changed"] == true}
	if s.NoLog {
		m["censored"] = censored
		return m
	}
	maps.Copy(m, given)
	for _, key := range []string{"failed", "skipped", "duration_ms"} {
		delete(m, key)
	}
	// A task without retries has made one attempt, which is not worth saying.
	if n, ok := m["attempts"]; ok && fmt.Sprint(n) == "1" && s.Retry.Max == 0 {
		delete(m, "attempts")
	}
	if _, loop := a.loopOf(step); loop && s.Loop != nil {
		name := cmp.Or(s.Loop.Var, "item")
		m["ansible_loop_var"], m[name] = name, s.Loop.Item
	}
	p := a.printed[step]
	if _, command := m["rc"]; p == nil && command { // one that has printed nothing says so
		p = &streams{}
	}
	for k, name := range [2]string{"stdout", "stderr"} {
		// The action's own result wins over what was printed.
		if _, there := m[name]; p != nil && !there {
			m[name], m[name+"_lines"] = strings.Join(p.lines[k], "\n"), append([]string{}, p.lines[k]...)
		}
	}
	return m
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
	if status.NotThere(a.plan, a.run.Steps, step) { // of a handler, a flush before has run it
		a.itemEnded(step, loopEnd{})
		return
	}
	switch e.Reason {
	case events.SkipTags, events.SkipUser, events.SkipUnchanged, events.SkipNeeds:
		a.itemEnded(step, loopEnd{}) // to Ansible there is no such task, or no such handler
		return
	case events.SkipWhen, events.SkipCreates, events.SkipRemoves, events.SkipUnless, events.SkipOnlyIf, events.SkipUpToDate,
		events.SkipAction, events.SkipPlugin:
	}
	a.printHeads(step)
	if e.Reason != events.SkipWhen && e.Reason != events.SkipAction && e.Reason != events.SkipPlugin { // its work is done
		a.plainLine("ok", s, step)
		a.itemEnded(step, loopEnd{ran: true})
		return
	}
	result := map[string]any{"changed": false, "skip_reason": "Conditional result was False"}
	line := "skipping: [" + a.hostOf(s) + "]"
	if item := a.itemOf(step); item != "" {
		// Items that are skipped get a line each, and the loop one more if all are.
		line += " => " + item + " "
		if a.Verbose {
			line += " => " + oneLine(result)
		}
		a.printf("%s", line)
		a.itemEnded(step, loopEnd{})
		return
	}
	if a.Verbose {
		line += " => " + oneLine(result)
	}
	a.printf("%s", line)
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
	result := a.shownResult(step, e.Result)
	// If all retries fail, Ansible does not count the attempt before them.
	if n, ok := result["attempts"].(int); ok && s.Retry.Max > 0 {
		result["attempts"] = min(n, s.Retry.Max)
	}
	if _, there := result["msg"]; !there && !s.NoLog {
		result["msg"] = e.Error
		if e.RC != nil && strings.HasPrefix(e.Error, "exit status") {
			result["msg"] = "non-zero return code"
		}
	}
	item := a.itemOf(step)
	switch {
	case e.Unreachable:
		result["unreachable"] = true
		a.printLines("fatal: [" + a.hostOf(s) + "]: UNREACHABLE! => " + oneLine(result))
	case item != "":
		a.printLines("failed: [" + a.hostOf(s) + "] " + item + " => " + oneLine(result))
	default:
		a.printLines("fatal: [" + a.hostOf(s) + "]: FAILED! => " + oneLine(result))
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
	switch {
	case !s.NoLog || !l.ran:
	case l.failed:
		a.printLines("fatal: [" + a.hostOf(s) + "]: FAILED! => " + oneLine(map[string]any{"censored": censored, "changed": l.changed}))
	case l.changed:
		a.printf("changed: [%s]", a.hostOf(s))
	default:
		a.printf("ok: [%s]", a.hostOf(s))
	}
	switch {
	case l.ignored:
		a.printf("...ignoring")
	// Ansible says of the whole loop that it is skipped only if each item was.
	case !l.ran && (strings.HasPrefix(a.run.Steps[step].Reason, string(events.SkipWhen)) ||
		strings.HasPrefix(a.run.Steps[step].Reason, string(events.SkipAction))):
		a.printf("skipping: [%s]", a.hostOf(s))
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
}

// ListedTask is what Ansible calls a task where it lists the tasks of a play: its name, behind that of its role, or else its action.
func ListedTask(s *plan.Step) string {
	if named(s) {
		return status.TaskTitle(s.Role, s.Name)
	}
	return cmp.Or(ansibleWords[s.Action], s.Action)
}

// named reports whether a task has a name of its own: that of an include may be the planner's.
func named(s *plan.Step) bool {
	plannerNames := s.Action == "meta" || strings.HasPrefix(s.Action, "include_")
	return s.Name != "" && (!plannerNames || !strings.HasPrefix(s.Name, s.Action+": "))
}
