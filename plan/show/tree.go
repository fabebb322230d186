package show

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"moon/internal/termtext"
	"moon/plan"
)

// WriteTree prints the plan for people: every scope and step with its origin, what is not known yet with the step that
// will give it, and what asks for confirmation. Steps that a selection leaves out are only counted. width is that of the
// terminal in cells; 0 cuts nothing.
func WriteTree(w io.Writer, p *plan.Plan, width int) error { return WritePredictions(w, p, width, nil) }

// WritePredictions is WriteTree with further lines below steps: what they would do. predicted may be nil.
func WritePredictions(w io.Writer, p *plan.Plan, width int, predicted func(step int) []string) error {
	t := &treeText{p: p, predicted: predicted, children: make([][]int, len(p.Scopes)), shown: make([]int, len(p.Steps)+1)}
	t.ref, t.who = func(step int) string { return p.Steps[step].ID() }, func(s *plan.Step) string { return s.Host }
	t.notifies = handlersByStep(p)
	// Scope 0 is the playbook itself.
	for _, s := range p.Scopes[1:] {
		t.children[s.Parent] = append(t.children[s.Parent], s.ID)
	}
	for i := range p.Steps {
		// Sums from the front: whether a scope has anything to show is one subtraction.
		t.shown[i+1] = t.shown[i]
		if !p.Steps[i].Deselected() {
			t.shown[i+1]++
		}
	}
	t.addScope(0, 0, len(p.Steps), 1)
	var out strings.Builder
	title := p.RootFile
	if p.Name != "" {
		title += " «" + p.Name + "»"
	}
	title = fmt.Sprintf("%s: %s, plan %s", termtext.CleanName(title), plan.CountOf(len(p.Steps), "step"), p.Digest[:12])
	out.WriteString(wrapTo(title, width) + "\n\n")
	column := t.originColumn(width)
	for _, l := range t.lines {
		text := l.text
		if l.at != "" {
			text = alignColumns(text, l.at, column, width)
		}
		out.WriteString(cutTo(text, width) + "\n")
	}
	if notes := t.notesText(); notes != "" {
		if len(t.lines) > 0 {
			out.WriteString("\n")
		}
		out.WriteString(wrapTo(notes, width) + "\n")
	}
	out.WriteString(orphanNotes(p))
	_, err := io.WriteString(w, out.String())
	return err
}

// maxColumn is where origins stand at the latest, so that one long line does not push all of them away.
const maxColumn = 88

// originColumn is where the origins stand.
func (t *treeText) originColumn(width int) int {
	text, at := 0, 0
	for _, l := range t.lines {
		if l.at != "" {
			text, at = max(text, min(ansi.StringWidth(l.text), maxColumn)), max(at, ansi.StringWidth(l.at))
		}
	}
	// On a narrow terminal the origins keep their place and the texts are cut.
	if width > 0 && text+2+at > width {
		text = max(width-2-at, width/2)
	}
	return text
}

// alignColumns puts at into a column behind text, which is cut only for a terminal.
func alignColumns(text, at string, column, width int) string {
	if width > 0 {
		text = cutTo(text, column)
	}
	return text + strings.Repeat(" ", max(column-ansi.StringWidth(text), 0)) + "  " + at
}

func cutTo(text string, width int) string {
	if width <= 0 {
		return text
	}
	return ansi.Truncate(text, width, "…")
}

func wrapTo(text string, width int) string {
	if width <= 0 {
		return text
	}
	return ansi.Wrap(text, width, "")
}

type treeText struct {
	p         *plan.Plan
	children  [][]int // scopes inside each scope
	shown     []int   // shown[i] is how many of the first i steps are shown
	lines     []treeLine
	predicted func(step int) []string
	notifies  map[int]notifies // what a step may make run

	// How steps and their hosts are called: of hosts that are alike, one is printed for all.
	ref func(step int) string
	who func(s *plan.Step) string

	shaping bool // hosts and steps are not distinguished
}

type treeLine struct{ text, at string }

func (t *treeText) addLine(depth int, at, format string, args ...any) {
	t.lines = append(t.lines, treeLine{
		strings.Repeat("  ", depth) + termtext.CleanName(fmt.Sprintf(format, args...)),
		termtext.CleanName(at),
	})
}

// addScope prints what is inside a scope, between two of its steps: its steps and its scopes, in order.
func (t *treeText) addScope(id, from, to, depth int) {
	step := from
	var batch batches
	for _, child := range t.children[id] {
		c := t.p.Scopes[child]
		if c.First < from || c.Last > to {
			continue
		}
		// Steps between two scopes belong to the one around.
		for ; step < c.First; step++ {
			t.addStep(step, depth)
		}
		step = c.Last
		// All of its steps are excluded. In a plan that excludes everything they are shown.
		if t.shown[c.Last] == t.shown[c.First] && t.shown[len(t.p.Steps)] < len(t.p.Steps) {
			continue
		}
		if c.Kind == plan.ScopeTask {
			t.addTask(c, depth)
			continue
		}
		// Batches that do the same on other hosts are counted, not printed.
		if c.Kind == plan.ScopeBatch && batch.takeBatch(t, c, depth) {
			continue
		}
		t.addHead(c, depth)
		t.addScope(child, c.First, c.Last, depth+1)
	}
	batch.endBatches(t, depth)
	for ; step < to; step++ {
		t.addStep(step, depth)
	}
}

func (t *treeText) addHead(s plan.Scope, depth int) {
	// For a comparison of shapes the number of hosts does not count.
	if t.shaping {
		s.Hosts = 0
	}
	text := s.Title()
	if s.Kind == plan.ScopePlay || s.Kind == plan.ScopeBatch {
		text += hostsOfScope(t.p, s)
	}
	if s.Play != nil && len(s.Play.Awaits) > 0 && !t.shaping {
		text += "  × ? hosts: " + s.Play.Pattern + " · after " + plan.AfterSteps(s.Play.Awaits, t.stepText)
	}
	if s.Skipped != "" {
		text += "  skipped: " + s.WhySkipped()
	}
	if s.Approves {
		text += "  approve: expanded"
	}
	if len(s.Needs) > 0 {
		text += "  needs " + t.p.NeedsText(s.Needs)
	}
	t.addLine(depth, s.Origin.String(), "%s", text)
}

func (t *treeText) addStep(i, depth int) {
	p := t.p
	s := &p.Steps[i]
	if s.Deselected() {
		return
	}
	t.addLine(depth, s.Origin.String(), "%s  %s%s", t.ref(i), onHost(p, s, t.who(s)), titleAndAction(s))
	note := func(format string, args ...any) {
		t.addLine(depth, "", "           "+format, args...)
	}
	if len(s.Needs) > 0 && !s.Excluded {
		note("needs %s", p.NeedsText(s.Needs))
	}
	switch {
	case s.Excluded:
		// A step that will not run has nothing further to say.
		note("excluded by tags")
		return
	case s.Lacks != nil:
		note("will be skipped: uses %s", s.Lacks.Reason())
		return
	case s.Prediction == plan.WillSkip:
		note("skipped: %s is false", s.When)
		return
	case s.Prediction == plan.MaySkip:
		note("runs only if %s (known after %s)", s.When, t.afterText(whenSteps(s)))
	}
	for _, u := range s.Unknowns {
		if u.Field == "when" {
			continue
		}
		note("%s: %s (known after %s)", u.Field, u.Name, t.afterText(u.Steps))
	}
	if s.Open() && s.Place.Group {
		note("the steps behind it are planned again when it is known")
	}
	if s.Approves && (s.Open() || s.AddsLate()) {
		note("the steps that it adds are approved with it")
	}
	if s.Handler {
		note("if %s", t.notifiedText(s))
	}
	if n := t.notifies[i]; len(n.names) > 0 {
		note("notifies %s", strings.Join(n.names, ", "))
	}
	if n := t.notifies[i]; len(n.possible) > 0 {
		note("may notify %s", strings.Join(n.possible, ", "))
	}
	if s.Once {
		note("runs once, on the first host that can")
	}
	// Before it is known as whom, nothing is said of it.
	if s.Become != nil && !s.WaitsFor("become_user") {
		note("as %s", s.Become.User)
	}
	if s.Confirm != "" {
		note("asks: %s", s.Confirmers.Asked(s.Confirm, nil))
	}
	if s.Register != "" {
		note("registers %s", s.Register)
	}
	if s.DefiesDryRun() {
		note("runs for real in a dry run (check_mode: false)")
	}
	if s.Retry.Max > 0 {
		note("%s", retryText(s.Retry))
	}
	if t.predicted != nil {
		for _, line := range t.predicted(i) {
			note("%s", line)
		}
	}
}

// onHost is the host of a step, and the one that does it in its place, with the gap after it; "" in a playbook of steps.
func onHost(p *plan.Plan, s *plan.Step, who string) string {
	switch {
	case s.Delegate != "":
		return who + " -> " + s.Delegate + "  "
	case !p.Dialect.Rules().OverHosts:
		return ""
	}
	return who + "  "
}

// notifiedText says what makes a handler run.
func (t *treeText) notifiedText(s *plan.Step) string {
	var names []string
	for _, step := range s.Notifiers {
		names = append(names, t.stepText(step))
	}
	const most = 3
	if n := len(names); n > most {
		names = append(names[:most:most], fmt.Sprintf("%d more", n-most))
	}
	changes := " changes something"
	if len(s.Named) > 0 {
		changes += " and notifies it"
	}
	if len(names) == 1 {
		return names[0] + changes
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1] + changes
}

// stepText refers to a step, as StepRef does.
func (t *treeText) stepText(step int) string {
	return t.ref(step) + strings.TrimPrefix(t.p.StepRef(step), t.p.Steps[step].ID())
}

func (t *treeText) afterText(steps []int) string { return plan.AfterSteps(steps, t.stepText) }

// titleAndAction is the name of a step and what it does, on one line.
func titleAndAction(s *plan.Step) string {
	switch {
	case s.Place != nil && s.Place.What == "host":
		mark := ""
		if s.Open() {
			mark = "? "
		}
		return s.Label(s.Name) + "  " + mark + "delegate_to: " + s.Summary
	case s.Place != nil && s.Place.What == "keys":
		mark := ""
		if s.Open() {
			mark = "? "
		}
		return s.Label(s.Name) + "  " + mark + s.Summary
	case s.Open():
		what := s.Action + ": " + s.Summary
		return strings.TrimSpace(strings.TrimSuffix(s.Label(s.Name), what) + "  ? " + what)
	case s.Loops():
		return fmt.Sprintf("%s  loop: %s × %d", s.Label(s.Name), s.Summary, s.Place.Items)
	case s.AddsLate() && s.Rereads():
		return s.Label(s.Name) + "  ? inventory"
	case s.AddsLate():
		return strings.TrimSuffix(s.Label(s.Name)+"  ? "+s.Action+": "+s.Summary, ": ")
	case s.Name != "" && s.Summary != "":
		return s.Label(s.Name) + "  " + s.Action + ": " + s.Summary
	case s.Name != "":
		return s.Label(s.Name) + "  " + s.Action
	}
	return strings.TrimSuffix(s.Action+": "+s.Summary, ": ")
}

func retryText(r plan.Retry) string {
	until := ""
	if r.Until != "" {
		until = " until " + r.Until
	}
	return fmt.Sprintf("up to %d attempts, %s apart%s", r.Max+1, r.Delay, until)
}

// WriteFlat prints one line per step, for programs such as grep: id, origin, name and action. What is special about a
// step stands in brackets at the end.
func WriteFlat(w io.Writer, p *plan.Plan, width int) error {
	column := 0
	for i := range p.Steps {
		if s := &p.Steps[i]; !s.Deselected() {
			// A very long path does not move the column of all others.
			column = max(column, min(ansi.StringWidth(termtext.CleanName(s.Origin.String())), maxColumn/2))
		}
	}
	var out strings.Builder
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Deselected() {
			continue
		}
		line := s.ID() + "  " + termtext.CleanName(onHost(p, s, s.Host)) +
			alignColumns(termtext.CleanName(s.Origin.String()), termtext.CleanName(titleAndAction(s)), column, 0)
		var marks []string
		switch {
		case s.Excluded:
			marks = append(marks, "excluded by tags")
		case s.Lacks != nil:
			marks = append(marks, string(s.Prediction)+": uses "+termtext.CleanName(s.Lacks.Reason()))
		case s.Prediction != plan.WillRun:
			marks = append(marks, string(s.Prediction))
		}
		if s.Confirm != "" && !s.Excluded {
			marks = append(marks, "asks")
		}
		if s.Become != nil && !s.Excluded {
			marks = append(marks, "as "+termtext.CleanName(s.Become.User))
		}
		if len(marks) > 0 {
			line += "  [" + strings.Join(marks, ", ") + "]"
		}
		out.WriteString(cutTo(line, width) + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// whenSteps are the steps that a step's condition waits for.
func whenSteps(s *plan.Step) []int {
	var steps []int
	for _, u := range s.Unknowns {
		if u.Field == "when" {
			steps = append(steps, u.Steps...)
		}
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// notesText counts what a person should know before running.
func (t *treeText) notesText() string {
	var asks, open, maySkip, willSkip, real int
	left := map[string]int{}
	for i := range t.p.Steps {
		s := &t.p.Steps[i]
		switch {
		case s.Excluded:
			left[s.ExcludedBy]++
			continue
		case s.Prediction == plan.MaySkip:
			maySkip++
		case s.Prediction == plan.WillSkip:
			willSkip++
			continue
		}
		if s.Confirm != "" {
			asks++
		}
		if s.DefiesDryRun() {
			real++
		}
		if slices.ContainsFunc(s.Unknowns, func(u plan.Unknown) bool { return len(u.Steps) > 0 }) {
			open++
		}
	}
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 step "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d steps %s", n, many))
		}
	}
	add(open, "waits for values of other steps", "wait for values of other steps")
	looping, naming, adding, moving, rereading, keyed := 0, 0, 0, 0, 0, 0
	for _, i := range t.p.OpenPlaces() {
		switch s := &t.p.Steps[i]; {
		case s.Moves():
			moving++
		case s.Rereads():
			rereading++
		case s.Adds != nil, s.Place.What == "host":
			adding++
		case s.Place.What == "keys":
			keyed++
		case s.Loops():
			looping++
		default:
			naming++
		}
	}
	add(looping, "is a loop whose items the run finds", "are loops whose items the run finds")
	add(adding, "names a host that the run finds", "name hosts that the run finds")
	add(moving, "sets how its host is reached to what the run finds", "set how their hosts are reached to what the run finds")
	add(rereading, "reads the inventory again", "read the inventory again")
	add(keyed, "finds keys of the next one in the run", "find keys of the next ones in the run")
	add(naming, "stands for tasks or variables that the run finds", "stand for tasks or variables that the run finds")
	add(maySkip, "may be skipped", "may be skipped")
	add(willSkip, "will be skipped", "will be skipped")
	add(asks, "asks for confirmation", "ask for confirmation")
	add(real, "runs for real in a dry run", "run for real in a dry run")
	for _, by := range slices.Sorted(maps.Keys(left)) {
		add(left[by], "is excluded by "+by, "are excluded by "+by)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ")
}
