package show

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/eval/value"
)

// WriteExplanation says for people all that is known of one step: why it is there, where its values come from, what it
// waits for and what may keep it from running. before and after are its neighbours in the execution graph. width is
// that of the terminal in cells, where longer lines are wrapped; 0 wraps nothing.
func WriteExplanation(w io.Writer, p *plan.Plan, step int, before, after []plan.Link, width int) error {
	s := &p.Steps[step]
	e := &explanation{p: p, s: s, width: width}
	e.explainWhat()
	e.explainWhy()
	e.explainConditions()
	e.explainValues()
	e.explainReads()
	e.explainLinks("Waits for", before, "nothing: it can start at once")
	e.explainLinks("Waited for by", after, "no step")
	e.explainGuards()
	e.explainPolicy()
	_, err := io.WriteString(w, e.out.String())
	return err
}

// explanation writes sections of lines. A line has a text and, in a column, what is to be said of it.
type explanation struct {
	p     *plan.Plan
	s     *plan.Step
	width int
	out   strings.Builder
}

type said struct{ text, note string }

// noteColumn is where notes stand, unless all texts are shorter. A note that has no room there, or would go beyond
// pageWidth, stands on the next line.
const (
	noteColumn = 36
	pageWidth  = 80
)

func (e *explanation) writeSection(title string, lines []said) {
	if len(lines) == 0 {
		return
	}
	e.out.WriteString("\n" + title + "\n")
	column := 0
	for i := range lines {
		lines[i] = said{termtext.CleanName(lines[i].text), termtext.CleanName(lines[i].note)}
		// Long texts do not push the notes of all others to the right.
		if n := ansi.StringWidth(lines[i].text); lines[i].note != "" && n <= noteColumn {
			column = max(column, n)
		}
	}
	if column == 0 {
		column = 4
	}
	for _, l := range lines {
		switch n := ansi.StringWidth(l.text); {
		case l.note == "":
			e.writeLine(2, l.text)
		// A note that does not fit is put below.
		case n > column, 2+column+2+ansi.StringWidth(l.note) > pageWidth:
			e.writeLine(2, l.text)
			e.writeLine(6, l.note)
		default:
			e.writeLine(2, l.text+strings.Repeat(" ", column-n)+"  "+l.note)
		}
	}
}

// writeLine writes a line, wrapped for a terminal.
func (e *explanation) writeLine(indent int, text string) {
	pad := strings.Repeat(" ", indent)
	if e.width > indent+20 {
		text = strings.ReplaceAll(ansi.Wrap(text, e.width-indent-2, ""), "\n", "\n"+pad+"  ")
	}
	e.out.WriteString(pad + text + "\n")
}

func (e *explanation) explainWhat() {
	s := e.s
	e.writeLine(0, termtext.CleanName(s.ID()+"  "+s.Label(s.Title())))
	e.writeLine(2, termtext.CleanName("path  "+s.Path))
	if s.UserID != "" {
		e.writeLine(2, termtext.CleanName("id    "+s.UserID))
	}
	var lines []said
	if s.NoLog {
		lines = append(lines, said{s.Summary, ""})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Args)) {
		block := blockLines(name, value.Text(s.Args[name]))
		if g, ok := s.DefaultArg(name); ok {
			block[0].note = fmt.Sprintf("module_defaults, %s:%d", g.Value.Pos().File, g.Value.Pos().Line)
		}
		lines = append(lines, block...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if !s.NoLog {
			lines = append(lines, blockLines("env "+name, s.Env[name])...)
		}
	}
	switch {
	case s.Open() && !s.Loops():
		lines = append(lines, said{"open: the run finds what is named when it gets here, and plans it behind this step", ""})
	case s.Place != nil && !s.Loops():
		lines = append(lines, said{"opened: the run has found what is named", ""})
	case s.Open():
		lines = append(lines, said{"open: the run finds the items when it gets here, and plans a step for each", ""})
	case s.Place != nil:
		lines = append(lines, said{"opened: the run has found " + plan.CountOf(s.Place.Items, "item"), ""})
	}
	if s.Approves && (s.Open() || s.AddsLate()) {
		lines = append(lines, said{"approve: expanded: the steps that it adds are approved with it", ""})
	}
	if s.Cwd != "" {
		lines = append(lines, said{"in " + e.p.Shown(s.Cwd), ""})
	}
	if s.Host != "localhost" {
		lines = append(lines, said{"on " + s.Host, ""})
	}
	if s.Become != nil {
		lines = append(lines, said{"as " + s.Become.String(), ""})
	}
	if _, found := e.p.Found(s.Index); found {
		lines = append(lines, said{"asked while planning: the run does it again, and stops if the plan would not be the same", ""})
	} else if why, may := e.p.Ahead.Unasked[s.Index]; may {
		lines = append(lines, said{"not asked while planning: " + why, ""})
	}
	e.writeSection("What it does: "+s.Action, lines)
}

// blockLines shows a value, each line of a longer one on its own.
func blockLines(name, text string) []said {
	text = strings.TrimSuffix(text, "\n")
	if !strings.Contains(text, "\n") {
		return []said{{name + ": " + text, ""}}
	}
	lines := []said{{name + ":", ""}}
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, said{"  " + line, ""})
	}
	return lines
}

// explainWhy lists the constructs around the step, outermost first.
func (e *explanation) explainWhy() {
	s := e.s
	var lines []said
	// From the step outwards, and then reversed.
	for id := s.Scope; id > 0; id = e.p.Scopes[id].Parent {
		scope := e.p.Scopes[id]
		lines = append(lines, said{scope.Origin.String(), scope.Title()})
	}
	slices.Reverse(lines)
	own := "the task itself"
	if l := s.Loop; l != nil {
		item := value.Text(l.Item)
		// The item itself may be unknown.
		if after, unknown := knownAfter(e.p, l.Item); unknown {
			item = "(known after " + after + ")"
		}
		// What no_log hides must not appear by way of the loop.
		if s.NoLog {
			item = "(hidden by no_log)"
		}
		rounds := e.p.Scopes[s.Scope].Items
		own = fmt.Sprintf("the task itself, round %d of %d: %s = %s", l.Index+1, rounds, l.Var, e.shortText(item))
	}
	lines = append(lines, said{s.Origin.String(), own})
	if len(s.Tags) > 0 {
		lines = append(lines, said{"tags: " + strings.Join(s.Tags, ", "), ""})
	}
	switch {
	case s.ExcludedBy == plan.ByTags:
		lines = append(lines, said{"it is excluded by tags, and will not run", ""})
	case s.Excluded:
		lines = append(lines, said{"it is excluded by " + s.ExcludedBy + ", and will not run", ""})
	case s.Lacks != nil:
		lines = append(lines, said{"it will be skipped: uses " + s.Lacks.Reason(), ""})
	}
	e.writeSection("Why it is there", lines)
}

// explainConditions lists what is and-ed, each with its place and what is known of it.
func (e *explanation) explainConditions() {
	var lines []said
	for _, c := range conditionsOf(e.p, e.s.Index) {
		note := fmt.Sprintf("%s:%d, ", c.Pos.File, c.Pos.Line)
		switch {
		case c.Known && c.Holds:
			note += "holds"
		case c.Known:
			note += "is false"
		case len(c.After) > 0:
			note += "known after " + e.p.After(c.After)
		default:
			note += "not known yet"
		}
		lines = append(lines, said{c.Text, note})
	}
	title := "Condition"
	if len(lines) > 1 {
		title = "Conditions, all of which must hold"
	}
	e.writeSection(title+": it "+e.explainPrediction(), lines)
}

func (e *explanation) explainPrediction() string {
	switch e.s.Prediction {
	case plan.WillSkip:
		return "will be skipped"
	case plan.MaySkip:
		return "may be skipped"
	case plan.WillRun:
	}
	return "runs"
}

// explainValues lists the variables the step uses. A value that is not known yet has the step that gives it.
func (e *explanation) explainValues() {
	var lines []said
	for _, u := range e.s.Uses {
		from := u.From
		// A file of variables is its own origin.
		if from == u.Origin.File {
			from = "variables file"
		}
		if at := u.Origin.String(); at != "" {
			from += ", " + at
		}
		if after, unknown := knownAfter(e.p, u.Value); unknown {
			lines = append(lines, said{u.Name, "known after " + after + " (" + from + ")"})
			continue
		}
		lines = append(lines, said{u.Name + " = " + e.shortText(value.Text(u.Value)), from})
	}
	if e.s.NoLog {
		lines = []said{{"hidden by no_log", ""}}
	}
	e.writeSection("Values", lines)
}

// explainReads lists the files on this machine that the step reads, which must be the same when it starts.
func (e *explanation) explainReads() {
	if e.s.NoLog {
		return
	}
	var lines []said
	for _, r := range e.s.Reads {
		note := "SHA-256 " + shortDigest(r.Digest)
		switch {
		case r.Hidden:
			note = "digest not shown: it holds a secret"
		case r.Digest == "":
			note = "not there yet"
		case r.IsDir():
			note = plan.CountOf(r.Files(), "file") + ", digest " + shortDigest(r.Digest)
		}
		lines = append(lines, said{e.p.Shown(r.Path), note})
	}
	e.writeSection("Reads", lines)
}

// shortText is a value on one line, which a terminal need not show to its end.
func (e *explanation) shortText(text string) string {
	if strings.ContainsAny(text, "\n\t") {
		text = strconv.Quote(text)
	}
	return cutTo(text, 3*e.width)
}

// maxLinks is how many neighbours are listed by name: after a loop of thousands there are as many.
const maxLinks = 10

func (e *explanation) explainLinks(title string, links []plan.Link, none string) {
	var lines []said
	for i, l := range links {
		// One more line for the last is as short as saying that there is one more.
		if i == maxLinks && len(links) > maxLinks+1 {
			lines = append(lines, said{fmt.Sprintf("and %d more steps", len(links)-i), ""})
			break
		}
		note := map[string]string{
			"success": "in order", "failure": "if it fails", "finish": "when it has ended", "not-failed": "unless it fails",
			"changed": "if it changed something",
		}[l.On]
		if note == "" {
			note = "on " + l.On
		}
		if names := e.carriedValues(l); len(names) > 0 {
			note += ", for " + strings.Join(names, ", ")
		}
		other := &e.p.Steps[l.Step]
		lines = append(lines, said{fmt.Sprintf("%s «%s»", other.ID(), other.Label(other.Title())), note})
	}
	if len(lines) == 0 {
		lines = append(lines, said{none, ""})
	}
	e.writeSection(title, lines)
}

// carriedValues are the values that go over a link, in either direction.
func (e *explanation) carriedValues(l plan.Link) []string {
	if !l.Data {
		return nil
	}
	producer, consumer := l.Step, e.s
	// A link to a later step carries the value that this step gives.
	if l.Step > e.s.Index {
		producer, consumer = e.s.Index, &e.p.Steps[l.Step]
	}
	var names []string
	for _, u := range consumer.Unknowns {
		if slices.Contains(u.Steps, producer) && !slices.Contains(names, u.Name) {
			names = append(names, u.Name)
		}
	}
	return names
}

// guardTexts say when a guard skips a step.
var guardTexts = map[string]string{
	"creates": "if %s exists (creates)",
	"removes": "if %s does not exist (removes)",
	"unless":  "if `%s` succeeds (unless)",
	"onlyif":  "if `%s` fails (onlyif)",
}

// explainGuards lists what else may skip the step when it is reached.
func (e *explanation) explainGuards() {
	var lines []said
	for _, g := range guardsOf(e.p, e.s.Index) {
		lines = append(lines, said{fmt.Sprintf(guardTexts[g.Key], e.shortText(g.Text)), fmt.Sprintf("%s:%d", g.Pos.File, g.Pos.Line)})
	}
	if sources, generates := patterns(e.s); len(sources)+len(generates) > 0 {
		text := "if its sources are unchanged since it last succeeded"
		if len(sources) > 0 {
			text = fmt.Sprintf("if %s, the command and its environment are unchanged since it last succeeded", strings.Join(sources, ", "))
		}
		if len(generates) > 0 {
			text += ", and " + strings.Join(generates, ", ") + " is there"
		}
		lines = append(lines, said{text + " (sources, generates)", ""})
	}
	e.writeSection("Is skipped when it is reached", lines)
}

// rulingTexts say what a step says of its own result.
var rulingTexts = map[string]struct{ always, never, when string }{
	"changed_when":  {"always counts as changed", "never counts as changed", "changed when %s"},
	"failed_when":   {"always counts as failed", "never counts as failed", "failed when %s"},
	"ignore_errors": {"a failure is ignored", "a failure is not ignored", "a failure is ignored when %s"},
}

// explainLimits says how often a step is tried, how long it may take, and how many hosts do it at a time.
func (e *explanation) explainLimits(add func(format string, args ...any)) {
	s := e.s
	if s.Retry.Max > 0 {
		add("%s", retryText(s.Retry))
	}
	if s.Timeout > 0 {
		add("killed after %s, which counts as failed", s.Timeout)
	}
	for scope := range e.p.Limits(s.Index) {
		if most := e.p.Scopes[scope].Timeout; most > 0 {
			add("%s may take %s, with all its steps together", e.p.ScopeRef(scope), most)
		}
	}
	if s.Queued > 0 {
		add("fails when it has waited %s for a slot", s.Queued)
	}
	if s.Async != nil {
		add("runs %s", s.Async)
	}
	if s.Throttle > 0 {
		add("runs on %s at a time, with all items of a loop", plan.CountOf(s.Throttle, "host"))
	}
}

// explainRulings says what decides whether the step has changed something, has failed, and whether that matters.
func (e *explanation) explainRulings(add func(format string, args ...any)) {
	for _, r := range rulings(e.s) {
		texts := rulingTexts[r.Key]
		switch {
		case !r.Fixed:
			add(texts.when, r.When)
		case r.Holds:
			add("%s", texts.always)
		default:
			add("%s", texts.never)
		}
	}
}

func (e *explanation) explainPolicy() {
	s := e.s
	var lines []said
	add := func(format string, args ...any) { lines = append(lines, said{fmt.Sprintf(format, args...), ""}) }
	if s.Confirm != "" {
		add("asks before it runs: %s", s.Confirmers.Asked(s.Confirm, nil))
	}
	e.explainLimits(add)
	if s.Terminal {
		add("uses the terminal while it runs")
	}
	if o := e.p.OrphanOf(s); o != nil {
		add("removes what no step gives any more: %s, made by %s", o.What(), o.MadeBy())
	}
	if s.Undo != nil {
		add("is undone by %s: %s", s.Undo.Action, s.Undo.Summary)
	}
	e.explainRulings(add)
	if s.CheckMode != nil {
		switch {
		case *s.CheckMode:
			add("check_mode: true: only says what it would do, in every run")
		default:
			add("check_mode: false: runs for real in a dry run too")
		}
	}
	if s.NoDiff {
		add("shows no diff")
	}
	if s.Register != "" {
		add("registers %s", s.Register)
	}
	e.writeSection("Policy", lines)
}

// knownAfter reports whether a value is not known when planning, and after what it is.
func knownAfter(p *plan.Plan, v any) (after string, unknown bool) {
	steps, unknown := plan.UnknownSteps(v)
	if !unknown {
		return "", false
	}
	return p.After(steps), true
}
