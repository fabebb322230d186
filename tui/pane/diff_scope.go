package pane

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/plan/hostnames"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/status"
	"moon/tui/view"
)

// scopeDiffs is the tab Diff for a scope: what the steps in it changed or would change, one after the other. There may be many of
// them, so only those on the screen are made; of the others their numbers of lines are enough.
type scopeDiffs struct {
	diffPane
	d       *draw.Doc
	entries []scopeDiff
	fail    int // steps that would fail
	unknown int // of which it is not known what they would do
}

// scopeDiff is a difference, and the steps of a task in which it is the same.
type scopeDiff struct {
	step  int // the first
	diff  *events.Diff
	steps int
	hosts []string
	ahead bool // it has not happened yet
}

// comparedDiffs bounds how many differences are compared with those on other hosts: making them alike takes time.
const comparedDiffs = 5000

// collect finds the differences of some steps, in their order.
func (m *scopeDiffs) collect(r events.Range) {
	m.Store.Read(func(run *events.Run) {
		for i := r.From; i < r.To; i++ {
			ahead := i >= len(run.Steps) || run.Steps[i].Attempt == 0
			switch {
			case ahead && !m.Tree.Faces[i].Pending() && m.Tree.Faces[i] != status.Asking: // it will not happen any more
				continue
			case ahead:
				m.countUnknown(i)
			}
			diff := m.DiffOf(i, run.Steps)
			if diff == nil || diff.Kind == events.ChangeNone || diff.Kind == events.ChangeUnknown && diff.Text == "" {
				continue
			}
			m.entries = append(m.entries, scopeDiff{step: i, diff: diff, steps: 1, ahead: ahead})
		}
	})
	if m.Tree.Over {
		m.mergeHosts()
	}
}

// mergeHosts makes one of what is the same on several hosts of a task.
func (m *scopeDiffs) mergeHosts() {
	seen := map[string]int{}
	all := m.entries
	m.entries = all[:0]
	for i, one := range all {
		if i < comparedDiffs {
			one.hosts = []string{status.On(&m.Plan.Steps[one.step])}
			key := m.Diffs.AlikeKey(one.step, one.diff, m.AlikeKey)
			if at, same := seen[key]; same && key != "" && m.entries[at].ahead == one.ahead {
				m.entries[at].steps++
				m.entries[at].hosts = append(m.entries[at].hosts, one.hosts[0])
				continue
			}
			seen[key] = len(m.entries)
		}
		m.entries = append(m.entries, one)
	}
}

func (m *scopeDiffs) countUnknown(step int) {
	switch f := m.Prediction(step); {
	case f == nil, f.Away:
		m.unknown++
	case f.Error != "":
		m.fail++
	case f.Skipped == "" && (f.Diff.Kind == "" || f.Diff.Kind == events.ChangeUnknown):
		m.unknown++
	}
}

// title names the step of a difference, with its hosts if it has several.
func (m *scopeDiffs) title(e *scopeDiff) string {
	if e.steps == 1 {
		return m.StepTitle(e.step)
	}
	return m.Tree.Title(int(m.Tree.StepNode[e.step])) + " on " + hostnames.List(e.hosts)
}

// draw appends a difference to a text. Its first lines take one row each, so that their words need not be known for its height.
func (m *scopeDiffs) draw(d *draw.Doc, e *scopeDiff) {
	d.Add(draw.Inked(draw.InkTitle, draw.CutMiddle(draw.Plain(m.title(e)), d.W, m.Glyphs.Dots)))
	kind := string(e.diff.Kind)
	if f := m.Prediction(e.step); e.ahead && f != nil && f.Maybe {
		kind += "?"
	}
	if e.ahead && m.Shot.Phase != events.Review {
		kind += ", not applied yet"
	}
	// Paths differ at their ends, so that is the part to keep.
	if path := draw.CutLeft(draw.Plain(e.diff.Path), max(d.W-draw.Cells(kind)-2, 8), m.Glyphs.Dots); path != "" {
		d.Add(draw.Inked(themes.Text, path), draw.Inked(themes.Dim, "  "+kind))
	} else {
		d.Add(draw.Inked(themes.Dim, kind))
	}
	if e.diff.Summary != "" {
		d.Para(themes.Text, 0, e.diff.Summary)
	}
	if e.diff.Text != "" {
		lines := strings.SplitN(e.diff.Text, "\n", diffShown+1)
		more := ""
		if len(lines) > diffShown {
			more = strings.TrimRight(lines[diffShown], "\n")
			lines = lines[:diffShown]
		} else if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		m.diffText(d, lines)
		if more != "" {
			d.Hint(fmt.Sprintf("%s more; go to the step to see them.", draw.Count(strings.Count(more, "\n")+1, "line")))
		}
	}
	d.Blank()
}

// height is how many lines a difference takes.
func (m *scopeDiffs) height(e *scopeDiff) int {
	return m.Diffs.Height(e.step, e.diff, view.DiffShape{W: m.d.W, Wrap: m.Detail.Output.Wrap}, func() int {
		d := draw.NewDoc(m.d.W, m.d.H, m.Glyphs)
		m.draw(d, e)
		return len(d.Lines)
	})
}

// scopeTab draws the differences of a scope, as far as they are on the screen.
func (m *scopeDiffs) scopeTab(n int, below int) {
	m.collect(m.Tree.Steps(n))
	head, foot := draw.NewDoc(m.d.W, m.d.H, m.Glyphs), draw.NewDoc(m.d.W, m.d.H, m.Glyphs)
	m.drawHead(head)
	m.drawFoot(foot)
	total := len(head.Lines) + len(foot.Lines)
	for i := range m.entries {
		total += m.height(&m.entries[i])
	}
	m.Detail.Length, m.Detail.Height = total+below, m.d.H
	m.Detail.ScrollBy(0)

	d, top := m.d, m.Detail.Scroll
	d.Lines = head.Lines
	at := len(head.Lines) // where the next one begins, in lines of the whole text
	for i := range m.entries {
		e := &m.entries[i]
		height := m.height(e)
		switch {
		case at >= top+d.H:
			return
		case at+height <= top:
			d.Lines, d.Above = nil, at+height
		default:
			m.draw(d, e)
		}
		at += height
	}
	d.Lines = append(d.Lines, foot.Lines...)
}

func (m *scopeDiffs) drawHead(d *draw.Doc) {
	if len(m.entries) > 0 && m.Shot.Phase == events.Review {
		d.Para(themes.Dim, 0, "Preview (not applied yet)")
		d.Blank()
	}
}

// drawFoot says what is missing in the list: steps that are not there must not look as if they changed nothing.
func (m *scopeDiffs) drawFoot(d *draw.Doc) {
	switch {
	case len(m.entries) > 0:
	case m.Predicted.Busy():
		d.Hint("Finding out what would change.")
	case m.Shot.Phase == events.Review:
		d.Hint("No change is predicted.")
	default:
		d.Hint("No change is known.")
	}
	if m.fail > 0 {
		d.Para(themes.Failed, 0, draw.Count(m.fail, "step")+" would fail.")
	}
	if m.unknown > 0 {
		d.Hint("Not known before they run: " + draw.Count(m.unknown, "step") + ".")
	}
}

// copiedDiffs bounds how much text of diffs is made to be copied: terminals take much less.
const copiedDiffs = 1 << 20

// ScopeDiffs is the text of all differences in a scope, each headed by its step, and how many they are.
func ScopeDiffs(m *view.State, n int) (text string, count int) {
	s := scopeDiffs{diffPane: diffPane{m}}
	s.collect(m.Tree.Steps(n))
	var b strings.Builder
	for i := range s.entries {
		if b.Len() > copiedDiffs {
			return b.String(), i
		}
		e := &s.entries[i]
		fmt.Fprintf(&b, "# %s\n# %s  %s\n%s\n", s.title(e), e.diff.Path, e.diff.Kind, e.diff.Text)
	}
	return b.String(), len(s.entries)
}
