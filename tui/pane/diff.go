package pane

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/view"
)

// diffPane is the tab Diff: what a step changed or would change, and what is different between hosts.
type diffPane struct{ *view.State }

// diffShown bounds the lines of a diff on the screen.
const diffShown = 2000

// diffTab shows what a step changed, or would change in a dry run.
func (m diffPane) diffTab(d *draw.Doc, s view.Subject) {
	diff := s.Of.Diff
	before := m.Prediction(s.Step)
	// Until the step runs, its preview takes the place of the change.
	if diff == nil && s.Of.Attempt == 0 && before != nil && before.Error == "" && before.Skipped == "" && before.Diff.Kind != "" &&
		before.Diff.Kind != events.ChangeUnknown {
		diff = &before.Diff
		d.Para(themes.Dim, 0, "Preview (not applied yet)")
		d.Blank()
	}
	switch {
	case s.Step < 0 && m.Tree.Over && m.Tree.Task(s.Node):
		m.taskDiffs(d, s.Node)
		return
	// A host that did not answer says nothing about the step, so this must not read as if the step would fail.
	case diff == nil && s.Of.Attempt == 0 && before != nil && before.Away:
		d.Para(themes.Failed, 0, "What it would do is not known: "+before.Error)
		return
	case diff == nil && s.Of.Attempt == 0 && before != nil && before.Error != "":
		d.Para(themes.Failed, 0, "It would fail: "+before.Error)
		return
	case diff == nil && s.Of.Attempt == 0 && before != nil && before.Skipped != "":
		d.Hint("It would be skipped: " + status.WhySkipped(before.Skipped))
		return
	case diff == nil && s.Of.Attempt == 0 && before != nil && before.Diff.Summary != "":
		d.Hint("Not known before it runs: " + before.Diff.Summary)
		return
	case diff == nil && s.Of.Attempt == 0:
		d.Hint("Not known before it runs.")
		return
	case diff == nil:
		d.Hint("No change was recorded.")
		return
	}
	head := []draw.Text{draw.Inked(draw.InkTitle, draw.Plain(diff.Path))}
	if diff.Path != "" {
		head = append(head, draw.Inked(themes.Text, "  "))
	}
	d.Add(append(head, draw.Inked(themes.Dim, string(diff.Kind)))...)
	if diff.Summary != "" {
		d.Para(themes.Text, 0, diff.Summary)
	}
	m.sameOn(d, s.Step, diff)
	if s.Of.Drift != "" {
		d.Para(themes.Warn, 0, "Drift: "+s.Of.Drift)
	}
	if diff.Text == "" {
		return
	}
	d.Blank()
	m.diffText(d, m.Diffs.SplitDiff(diff))
}

// diffText shows the lines of a diff.
func (m diffPane) diffText(d *draw.Doc, lines []string) {
	for i, line := range lines {
		if i == diffShown {
			d.Hint(fmt.Sprintf("%s more; %s %s copies all of it.", draw.Count(len(lines)-i, "line"), m.Keys.Label(keymap.CopyMenu), "d"))
			break
		}
		look := themes.Text
		switch {
		// The names of the files begin like lines that were added and removed, so they are recognised first.
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
			look = themes.Dim
		case strings.HasPrefix(line, "+"):
			look = themes.DiffAdd
		case strings.HasPrefix(line, "-"):
			look = themes.DiffDel
		case strings.HasPrefix(line, "@@"):
			look = themes.DiffHunk
		}
		// The setting of the output counts here too: one key wraps long lines wherever there are some.
		if m.Detail.Output.Wrap {
			d.Para(look, 0, line)
			continue
		}
		d.Add(draw.Inked(look, draw.Plain(line)))
	}
}
