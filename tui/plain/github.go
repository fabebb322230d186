package plain

import (
	"fmt"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/internal/termtext"
	"moon/tui/status"
)

// GitHub makes Text write for the logs of GitHub Actions: each step folds, and failures are marked in the files they come
// from. What steps print is quoted, so that none of it is taken for a command to the runner.
//
// See docs.github.com, "Workflow commands for GitHub Actions".
type GitHub struct {
	Base  string // required: the absolute directory that file names are relative to
	Token string // required: ends a quotation; nobody must guess it
}

// beginFold begins what folds under a line, and quotes it. For people it is a line.
func (t *Text) beginFold(line string) {
	if t.GitHub == nil {
		t.printf("%s", line)
		return
	}
	t.printf("::group::%s", escapeData(line))
	t.printf("::stop-commands::%s", t.GitHub.Token)
	t.folded = true
}

// parallelGroup is the outermost scope around a step whose steps run at once, or -1. In the logs of GitHub they fold together, under the name
// of what they are in: each on its own they would open and close with every line of another.
func (t *Text) parallelGroup(step int) (found int) {
	found = -1
	if t.GitHub == nil || t.byTask || t.plan == nil {
		return found
	}
	for id := t.plan.Steps[step].Scope; id > 0; id = t.plan.Scopes[id].Parent {
		if t.plan.Scopes[id].Parallel > 1 {
			found = id
		}
	}
	return found
}

// beginGroup begins what folds for a step: its own, or that of the scope whose steps run at once, with the step as its first line.
func (t *Text) beginGroup(group int, title string) {
	if group < 0 {
		t.beginFold(title)
		return
	}
	s := &t.plan.Scopes[group]
	kind, name := status.ScopeTitle(s)
	line := fmt.Sprintf("steps %d to %d of %d  %s  in parallel", s.First+1, s.Last, len(t.plan.Steps),
		termtext.CleanName(strings.TrimSpace(kind+" "+name)))
	if t.grouped[group] {
		line += "  (continued)"
	}
	t.grouped[group] = true
	t.beginFold(line)
	t.group = group
	t.printf("%s", title)
}

// endFold ends what folds.
func (t *Text) endFold() {
	if !t.folded {
		return
	}
	t.folded, t.last, t.task, t.group = false, -1, -1, -1
	t.printf("::%s::", t.GitHub.Token)
	t.printf("::endgroup::")
}

// beginQuote quotes what is printed until the function it returns is called.
func (t *Text) beginQuote() (end func()) {
	t.endFold()
	if t.GitHub == nil {
		return func() {}
	}
	t.printf("::stop-commands::%s", t.GitHub.Token)
	return func() { t.printf("::%s::", t.GitHub.Token) }
}

// annotateFailure marks where a failed step is written.
func (t *Text) annotateFailure(step int, e events.StepFailed) {
	if t.GitHub == nil || e.Ignored || e.Rescued {
		return
	}
	s := &t.plan.Steps[step]
	file := s.Origin.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(t.plan.Root, file)
	}
	// GitHub finds the file only relative to the repository.
	if near, err := filepath.Rel(t.GitHub.Base, file); err == nil && filepath.IsLocal(near) {
		file = near
	}
	place := "file=" + escapeProperty(termtext.CleanName(filepath.ToSlash(file)))
	if s.Origin.Line > 0 {
		place += fmt.Sprintf(",line=%d,col=%d", s.Origin.Line, s.Origin.Column)
	}
	lines := strings.Split(e.Error, "\n")
	// The first line says what failed, the last ones why.
	if n := len(lines) - tailLines; n > 1 {
		lines = append(lines[:1], lines[n:]...)
	}
	for i := range lines {
		lines[i] = termtext.CleanName(lines[i])
	}
	if len(s.Origin.Chain) > 0 {
		lines = append(lines, "at "+termtext.CleanName(s.Origin.Full()))
	}
	title := s.ID() + " " + termtext.CleanName(t.hostOf(step)+t.plan.NameWithItems(step, t.stepName(step)))
	t.printf("::error %s,title=%s::%s", place, escapeProperty(title), escapeData(strings.Join(lines, "\n")))
}

func (t *Text) printWarning(e events.Warning) {
	text := termtext.CleanName(e.Message)
	if t.GitHub == nil {
		t.printf("  warning: %s", text)
		return
	}
	t.endFold()
	t.printf("::warning::%s", escapeData(text))
}

// bareText makes a text fit for a line that begins with a word of moon's and is not quoted: there the runner looks only for the
// old form of commands.
func (t *Text) bareText(text string) string {
	if t.GitHub == nil {
		return text
	}
	return strings.ReplaceAll(text, "##[", "## [")
}

// escapeData makes a text fit to stand behind the second pair of colons.
func escapeData(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// escapeProperty makes a text fit to be the value of a property.
func escapeProperty(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}
