package plain

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/internal/termtext"
	"moon/plan"
	"moon/tui/status"
)

// JUnit writes the report of a run as the XML that CI servers read: a suite for the playbook and for each file, play, role
// and preset in it, with a case for each step.
type JUnit struct {
	PlanFor func(digest string) *plan.Plan // required
	Out     string                         // required: directory of the output files

	plan  *plan.Plan
	hosts bool // steps are called with their hosts
	run   events.Run
	w     *bufio.Writer
	named map[[2]string]bool // the cases of each suite
}

// caseOutput is how much of each stream of a step the report has, in bytes. All of it is in the run's directory.
const caseOutput = 64 << 10

// Follow takes the run in, to its end.
func (j *JUnit) Follow(feed <-chan []events.Record) {
	for batch := range feed {
		for _, r := range batch {
			j.run.Apply(r)
			if loaded, ok := r.Event.(events.PlanLoaded); ok {
				j.plan = j.PlanFor(loaded.Digest)
				j.hosts = j.plan != nil && status.OverHosts(j.plan)
			}
		}
	}
}

// suite is a file, play, role or preset with the steps that are directly in it.
type suite struct {
	name  string
	steps []int
	tally
}

type tally struct {
	tests, failures, errors, skipped int
	took                             time.Duration
}

// Write writes the report of what was taken in.
func (j *JUnit) Write(to io.Writer) error {
	j.w = bufio.NewWriter(to)
	var all tally
	suites := j.groupSuites()
	for i := range suites {
		s := &suites[i]
		for _, step := range s.steps {
			s.countStep(&j.run.Steps[step], j.staysOpen(step))
		}
		// The sums of all suites belong to the root, which is written first.
		all.tests += s.tests
		all.failures += s.failures
		all.errors += s.errors
		all.skipped += s.skipped
	}
	failed := j.run.Result.Error // of no step: the exports
	if failed != "" {
		all.tests++
		all.failures++
	}
	all.took = j.run.Result.Duration
	fmt.Fprint(j.w, xml.Header)
	fmt.Fprintf(j.w, "<testsuites name=%s%s>\n", quoteText("moon "+j.run.Playbook), all.writeAttributes())
	for _, s := range suites {
		fmt.Fprintf(j.w, "  <testsuite name=%s%s timestamp=%s>\n", quoteText(s.name), s.writeAttributes(),
			quoteText(j.run.Started.UTC().Format("2006-01-02T15:04:05")))
		for _, step := range s.steps {
			if err := j.writeStep(s.name, step); err != nil {
				return err
			}
		}
		fmt.Fprint(j.w, "  </testsuite>\n")
	}
	if failed != "" {
		one := tally{tests: 1, failures: 1}
		fmt.Fprintf(j.w, "  <testsuite name=\"exports\"%s timestamp=%s>\n", one.writeAttributes(),
			quoteText(j.run.Started.UTC().Format("2006-01-02T15:04:05")))
		fmt.Fprint(j.w, "    <testcase name=\"exports\" classname=\"exports\" time=\"0.000\">\n")
		fmt.Fprintf(j.w, "      <failure message=%s type=\"failed\"></failure>\n    </testcase>\n",
			quoteText(termtext.CleanName(failed)))
		fmt.Fprint(j.w, "  </testsuite>\n")
	}
	fmt.Fprint(j.w, "</testsuites>\n")
	return j.w.Flush()
}

func (t *tally) writeAttributes() string {
	return fmt.Sprintf(` tests="%d" failures="%d" errors="%d" skipped="%d" time="%s"`, t.tests, t.failures, t.errors, t.skipped,
		inSeconds(t.took))
}

// staysOpen reports whether the steps of a place were not found: in a dry run nothing finds them, and the place counts as skipped.
func (j *JUnit) staysOpen(step int) bool {
	return j.plan.Steps[step].Open() && !hasFailed(&j.run.Steps[step])
}

func (t *tally) countStep(s *events.Step, open bool) {
	t.tests++
	t.took += tookOf(s)
	switch {
	case !hasEnded(s), open:
		t.skipped++
	case hasFailed(s) && (s.Outcome == events.Lost || s.Outcome == events.Unreachable):
		t.errors++
	case hasFailed(s):
		t.failures++
	}
}

// hasEnded reports whether a step has run to an end of its own: otherwise it counts as skipped.
func hasEnded(s *events.Step) bool {
	return s.State == events.Settled && !s.Marked && s.Outcome != events.Skipped && s.Outcome != events.Omitted && s.Outcome != events.Cancelled
}

func tookOf(s *events.Step) time.Duration {
	if s.State != events.Settled {
		return 0
	}
	return s.Lasted(s.Ended)
}

// groupSuites groups the steps, in the order of the plan.
func (j *JUnit) groupSuites() []suite {
	if j.plan == nil {
		return nil
	}
	var list []suite
	at := map[int]int{} // by scope
	for i := range j.plan.Steps[:min(len(j.plan.Steps), len(j.run.Steps))] {
		scope := j.plan.Steps[i].Scope
		// Steps are grouped by the include or role around; blocks and loops are not suites.
		for j.plan.Scopes[scope].Parent >= 0 {
			if !isInner(j.plan.Scopes[scope].Kind) {
				break
			}
			scope = j.plan.Scopes[scope].Parent
		}
		n, ok := at[scope]
		if !ok {
			n = len(list)
			at[scope] = n
			list = append(list, suite{name: cmp.Or(j.plan.Scopes[scope].Path, j.plan.RootFile)})
		}
		list[n].steps = append(list[n].steps, i)
	}
	return list
}

// isInner reports whether the steps of a kind of scope count as those of what it is in.
func isInner(k plan.ScopeKind) bool {
	switch k {
	case plan.ScopeBlock, plan.ScopeBranch, plan.ScopeLoop, plan.ScopeTask, plan.ScopeSection, plan.ScopeBatch, plan.ScopeOrphans:
		return true
	case plan.ScopePlaybook, plan.ScopeInclude, plan.ScopePlay, plan.ScopeRole, plan.ScopePreset:
	}
	return false
}

func (j *JUnit) writeStep(class string, i int) error {
	s, ps := &j.run.Steps[i], &j.plan.Steps[i]
	fmt.Fprintf(j.w, "    <testcase classname=%s name=%s file=%s line=\"%d\" time=\"%s\">", quoteText(class), quoteText(j.caseName(class, i)),
		quoteText(ps.Origin.File), ps.Origin.Line, inSeconds(tookOf(s)))
	head, _, _ := strings.Cut(s.Error, "\n")
	text := s.Error
	if len(ps.Origin.Chain) > 0 {
		text += "\nat " + ps.Origin.Full()
	}
	switch {
	case hasEnded(s) && j.staysOpen(i):
		fmt.Fprintf(j.w, "\n      <skipped message=\"open: what it is for is known only in the run\"></skipped>")
	case !hasEnded(s):
		why := s.Reason
		switch {
		case s.Marked:
			why = status.ByHand
		case s.Outcome == events.Cancelled:
			why = "cancelled"
		case s.Outcome == events.Omitted:
			why = "not run: " + why
		case why == "":
			why = "not run"
		}
		fmt.Fprintf(j.w, "\n      <skipped message=%s></skipped>", quoteText(termtext.CleanName(why)))
	// JUnit has errors for what could not be tested, and failures for what was and is wrong.
	case hasFailed(s) && s.Outcome == events.Lost:
		why := events.StepLost{Error: s.Error}.Why()
		fmt.Fprintf(j.w, "\n      <error message=%s type=\"lost\"></error>", quoteText(termtext.CleanName(why)))
	case hasFailed(s) && s.Outcome == events.Unreachable:
		fmt.Fprintf(j.w, "\n      <error message=%s type=\"unreachable\">%s</error>", quoteText(termtext.CleanName(head)), textContent(text))
	case hasFailed(s):
		fmt.Fprintf(j.w, "\n      <failure message=%s type=%s>%s</failure>", quoteText(termtext.CleanName(head)), quoteText(s.Outcome.String()),
			textContent(text))
	}
	if err := j.writeOutput(s, head); err != nil {
		return err
	}
	fmt.Fprint(j.w, "\n    </testcase>\n")
	return nil
}

// caseName is what a step is called in its suite. CI servers know a case again by its name, so it has no number of the step, which changes
// with every step before it, and nothing that only the run knows. Equal names of a suite are counted.
func (j *JUnit) caseName(class string, i int) string {
	name := j.plan.NameWithItems(i, j.plan.Steps[i].Title())
	if j.hosts {
		name = status.On(&j.plan.Steps[i]) + " " + name
	}
	name = termtext.CleanName(name)
	if j.named == nil {
		j.named = map[[2]string]bool{}
	}
	one := name
	for n := 2; j.named[[2]string{class, one}]; n++ {
		one = fmt.Sprintf("%s (%d)", name, n)
	}
	j.named[[2]string{class, one}] = true
	return one
}

// writeOutput writes what the last attempt of a step has printed. failure is the first line of why it failed.
func (j *JUnit) writeOutput(s *events.Step, failure string) error {
	var text [2]string
	var cut [2]bool
	if len(s.Out) > 0 && s.State == events.Settled {
		var err error
		if text, cut, err = steplog.Ends(j.Out, s.Out[len(s.Out)-1], caseOutput); err != nil {
			return err
		}
	}
	note := s.Message
	// A failure that was ignored passes, with a note.
	if s.Error != "" && !hasFailed(s) && hasEnded(s) {
		note = "failed, and that did not count: " + failure
	}
	if note != "" {
		text[0] = strings.TrimSuffix(note+"\n"+text[0], "\n")
	}
	for stream, tag := range []string{"system-out", "system-err"} {
		if text[stream] == "" {
			continue
		}
		before := ""
		if cut[stream] {
			before = fmt.Sprintf("(the last %d bytes)\n", caseOutput)
		}
		fmt.Fprintf(j.w, "\n      <%s>%s</%s>", tag, textContent(before+text[stream]), tag)
	}
	return nil
}

// textContent is a text between tags: without what a terminal would act on, which is also what XML cannot hold.
func textContent(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = termtext.CleanName(lines[i])
	}
	return strings.ReplaceAll(escapeXML(strings.Join(lines, "\n")), "&#xA;", "\n")
}

func quoteText(text string) string { return `"` + escapeXML(text) + `"` }

func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
