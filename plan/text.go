package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// WriteTree prints the plan for people: every scope and step with its origin, what is not known yet with the step that
// will give it, and what asks for confirmation.
func (p *Plan) WriteTree(w io.Writer) error {
	t := &treeText{p: p}
	t.scope(0, 1)
	width := 0
	for _, l := range t.lines {
		if l.at != "" {
			width = max(width, min(utf8.RuneCountInString(l.text), 88))
		}
	}
	var out strings.Builder
	title := p.RootFile
	if p.Name != "" {
		title += " «" + p.Name + "»"
	}
	fmt.Fprintf(&out, "%s: %s, plan %s\n\n", title, countOf(len(p.Steps), "step"), p.Digest[:12])
	for _, l := range t.lines {
		out.WriteString(l.text)
		if l.at != "" {
			out.WriteString(strings.Repeat(" ", max(width-utf8.RuneCountInString(l.text), 0)))
			out.WriteString("  " + l.at)
		}
		out.WriteByte('\n')
	}
	if notes := t.notes(); notes != "" {
		out.WriteString("\n" + notes)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

type treeText struct {
	p     *Plan
	lines []treeLine
}

type treeLine struct{ text, at string }

func (t *treeText) add(depth int, at, format string, args ...any) {
	t.lines = append(t.lines, treeLine{strings.Repeat("  ", depth) + fmt.Sprintf(format, args...), at})
}

// scope prints what is inside a scope: its steps and its scopes, in order.
func (t *treeText) scope(id, depth int) {
	s := t.p.Scopes[id]
	step := s.First
	for child := id + 1; child < len(t.p.Scopes); child++ {
		c := t.p.Scopes[child]
		if c.Parent != id {
			continue
		}
		for ; step < c.First; step++ {
			t.step(step, depth)
		}
		t.head(c, depth)
		t.scope(child, depth+1)
		step = c.Last
	}
	for ; step < s.Last; step++ {
		t.step(step, depth)
	}
}

func (t *treeText) head(s Scope, depth int) {
	text := string(s.Kind) + " " + s.Name
	switch s.Kind {
	case ScopeLoop:
		text = fmt.Sprintf("loop %s × %d over %s", s.Name, s.Items, s.Loop)
		if s.Parallel > 0 {
			text += fmt.Sprintf(", %d at once", s.Parallel)
		}
	case ScopeBlock, ScopeInclude:
		if s.Name == string(s.Kind) {
			text = s.Name
		}
		if s.Item != "" {
			text += " [" + s.Item + "]"
		}
		if s.Parallel > 0 {
			text += " (parallel)"
		}
	case ScopeBranch:
		text = s.Branch
	case ScopePlaybook, ScopePlay, ScopeRole, ScopePreset:
	}
	if s.Skipped != "" {
		text += "  skipped: " + s.Skipped + " is false"
	}
	t.add(depth, s.Origin.String(), "%s", text)
}

func (t *treeText) step(i, depth int) {
	p := t.p
	s := &p.Steps[i]
	text := s.ID() + "  "
	switch {
	case s.Name != "" && s.Summary != "":
		text += s.Label(s.Name) + "  " + s.Action + ": " + s.Summary
	case s.Name != "":
		text += s.Label(s.Name) + "  " + s.Action
	default:
		text += strings.TrimSuffix(s.Action+": "+s.Summary, ": ")
	}
	t.add(depth, s.Origin.String(), "%s", text)
	note := func(format string, args ...any) {
		t.add(depth, "", "           "+format, args...)
	}
	switch {
	case s.Excluded:
		note("left out by tags")
		return
	case s.Prediction == WillSkip:
		note("will be skipped: when %s", s.When)
		return
	case s.Prediction == MaySkip:
		note("may be skipped: when %s (known after %s)", s.When, p.After(whenSteps(s)))
	}
	for _, u := range s.Unknowns {
		if u.Field == "when" {
			continue
		}
		note("%s: %s (known after %s)", u.Field, u.Name, p.After(u.Steps))
	}
	if s.Confirm != "" {
		note("asks: %s", s.Confirm)
	}
	if s.Register != "" {
		note("registers %s", s.Register)
	}
	if s.Retry.Max > 0 {
		until := ""
		if s.Retry.Until != "" {
			until = " until " + s.Retry.Until
		}
		note("up to %d attempts, %s apart%s", s.Retry.Max+1, s.Retry.Delay, until)
	}
}

// whenSteps are the steps that a step's condition waits for.
func whenSteps(s *Step) []int {
	var steps []int
	for _, u := range s.Unknowns {
		if u.Field == "when" {
			steps = append(steps, u.Steps...)
		}
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// atStart stands for the producers of a value that no step gives: a fact that changes.
const atStart = "the run starts"

// After names the steps that unknown values wait for: step-0003 «read release».
func (p *Plan) After(steps []int) string {
	if len(steps) == 0 {
		return atStart
	}
	if len(steps) > 3 {
		return fmt.Sprintf("%s and %d more", p.stepRef(steps[0]), len(steps)-1)
	}
	var parts []string
	for _, s := range steps {
		parts = append(parts, p.stepRef(s))
	}
	return strings.Join(parts, ", ")
}

// notes counts what a person should know before running.
func (t *treeText) notes() string {
	asks, open, maySkip, left := 0, 0, 0, 0
	for i := range t.p.Steps {
		s := &t.p.Steps[i]
		switch {
		case s.Excluded:
			left++
			continue
		case s.Prediction == MaySkip:
			maySkip++
		}
		if s.Confirm != "" {
			asks++
		}
		if slices.ContainsFunc(s.Unknowns, func(u Unknown) bool { return len(u.Steps) > 0 }) {
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
	add(maySkip, "may be skipped", "may be skipped")
	add(asks, "asks for confirmation", "ask for confirmation")
	add(left, "is left out by tags", "are left out by tags")
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + "\n"
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
