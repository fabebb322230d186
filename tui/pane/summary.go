package pane

import (
	"fmt"
	"strings"
	"time"

	"moon/events"
	"moon/plan/hostnames"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/known"
	"moon/tui/status"
	"moon/tui/tree"
	"moon/tui/view"
)

// SummaryPane is what the run came to.
type SummaryPane struct{ *view.State }

// roomForTime is how many rows it takes for the time of each part to stand before what changed.
const roomForTime = 24

// summaryTab is what the first tab of the root says when the run is done.
func (m SummaryPane) summaryTab(d *draw.Doc) {
	m.tallyLine(d)
	if m.Shot.Phase == events.Ended && m.Tree.Tallies[0].Failed() > 0 {
		d.Blank()
		d.Para(themes.Text, 0, fmt.Sprintf(
			"%s retries all that failed and continues with what hung on it; %s retries one step, and stays paused.",
			m.Keys.Label(keymap.RunRetryAll), m.Keys.Label(keymap.RunRetry)))
	}
	m.drawExports(d)
	m.drawFailures(d)
	if len(m.Summary.Drift) > 0 {
		d.Heading("Drift (differs from the preview)")
		for _, c := range m.Summary.Drift {
			d.Add(draw.Inked(themes.Text, "  "+m.StepName(c.Step)))
			d.Para(themes.Warn, 4, c.What)
		}
	}
	if len(m.Summary.Slowest) > 0 {
		d.Heading("Slowest")
		longest := m.Summary.Slowest[0].Took
		for _, t := range m.Summary.Slowest {
			m.barLine(d, t, longest)
		}
	}
	m.drawMarked(d)
	Origins(m).overridesList(d)
	// In a small window the bars would push what has changed out of sight, so there they come last.
	if d.H >= roomForTime {
		TimePane(m).timeBars(d, mostBars, d.Heading)
	}
	m.drawChanges(d)
	scopePane(m).drawList(d, 0, "Not run", func(f status.State) bool { return f == status.Omitted || f == status.Cancelled })
	if d.H < roomForTime {
		TimePane(m).timeBars(d, mostBars, d.Heading)
	}
	if m.Tools.Saved != "" {
		d.Blank()
		if draw.Cells(draw.Plain(m.Tools.Saved)) <= d.W-draw.LabelWidth {
			d.Field("Saved", draw.Inked(themes.Text, m.Tools.Saved))
		} else { // in one piece it can be copied
			d.Add(draw.Inked(themes.Dim, "Saved"))
			d.Para(themes.Text, 0, m.Tools.Saved)
		}
	}
}

func (m SummaryPane) tallyLine(d *draw.Doc) {
	t := m.Tree.Tallies[0]
	line := []draw.Text{draw.Inked(themes.Text, "")}
	add := func(look draw.Sign, n int, words string, always bool) {
		if n == 0 && !always {
			return
		}
		if len(line) > 1 {
			line = append(line, draw.Inked(themes.Text, "   "))
		}
		role := draw.SignLooks[look].Role
		if n == 0 {
			role = themes.Dim
		}
		line = append(line, draw.Inked(role, m.Glyphs.Signs[look]+fmt.Sprintf(" %d %s", n, words)))
	}
	add(draw.SignOK, t.Sum(status.OK), "ok", true)
	add(draw.SignChanged, t.Sum(status.Changed), "changed", true)
	add(draw.SignFailed, t.Sum(status.Failed), "failed", true)
	add(draw.SignUnreachable, t.Sum(status.Unreachable), "unreachable", false)
	add(draw.SignIgnored, t.Sum(status.Ignored), "ignored", false)
	add(draw.SignRescued, t.Sum(status.Rescued), "rescued", false)
	add(draw.SignSkipped, t.Sum(status.Skipped), "skipped", false)
	add(draw.SignKept, t.Sum(status.Kept), "kept", false)
	add(draw.SignOutdated, t.Sum(status.Outdated), "outdated", false)
	add(draw.SignCancelled, t.Sum(status.Cancelled), "cancelled", false)
	add(draw.SignExcluded, t.Sum(status.Excluded), "excluded", false)
	add(draw.SignWaiting, t.Sum(status.Omitted, status.Undecided, status.Waiting, status.Confirm), "not run", false)
	d.Lines = append(d.Lines, d.Flow(line)...)
}

// drawExports says why a run failed in which no step did.
func (m SummaryPane) drawExports(d *draw.Doc) {
	why := m.Shot.Result.Error
	if m.Shot.Phase == events.Ended {
		why = m.Shot.Pause.Message
	}
	if why == "" {
		return
	}
	d.Heading("Exports failed")
	d.Para(themes.Failed, 2, why)
	if m.Shot.Phase == events.Ended {
		d.Para(themes.Text, 2, "Edit the playbook, or leave, correct it and resume: they are evaluated again.")
	}
}

// drawFailures names what failed, with the first line of each error.
func (m SummaryPane) drawFailures(d *draw.Doc) {
	shown := 0
	for i, f := range m.Tree.Faces {
		// An ignored failure is one that the playbook allows, and still one that people look for here.
		if !f.Bad() && f != status.Ignored {
			continue
		}
		if shown == 0 {
			d.Heading("Failed")
		}
		if shown++; shown > listed {
			d.Add(draw.Inked(themes.Dim, "  and more"))
			return
		}
		p, reason := &m.Plan.Steps[i], ""
		m.Store.Read(func(run *events.Run) {
			if i < len(run.Steps) {
				reason, _, _ = strings.Cut(strings.TrimSpace(run.Steps[i].Error), "\n")
			}
		})
		look := tree.FaceSigns[f]
		scopePane(m).drawEntry(d, look, p)
		if reason != "" {
			d.Add(draw.Inked(themes.Text, "    "), draw.Inked(themes.Dim, draw.CutRight(draw.Plain(reason), max(d.W-4, 0), m.Glyphs.Dots)))
		}
	}
}

// drawMarked names the steps that count as done because a person has said so.
func (m SummaryPane) drawMarked(d *draw.Doc) {
	var steps []int
	m.Store.Read(func(run *events.Run) {
		for i := range min(len(run.Steps), len(m.Plan.Steps)) {
			if run.Steps[i].Marked {
				steps = append(steps, i)
			}
		}
	})
	if len(steps) > 0 {
		d.Heading("Marked as done by hand (not run)")
	}
	for k, i := range steps {
		if k == listed {
			d.Add(draw.Inked(themes.Dim, fmt.Sprintf("  and %d more", len(steps)-k)))
			return
		}
		scopePane(m).drawEntry(d, draw.SignOK, &m.Plan.Steps[i])
	}
}

func (m SummaryPane) drawChanges(d *draw.Doc) {
	if len(m.Summary.Changes) == 0 {
		return
	}
	d.Heading("Changed")
	for i, c := range m.Summary.Changes {
		if i == listed {
			d.Add(draw.Inked(themes.Dim, fmt.Sprintf("  and %d more", len(m.Summary.Changes)-i+m.Summary.More)))
			return
		}
		title := "  " + draw.CutMiddle(draw.Plain(m.changedTitle(&c)), max(d.W*6/10, 8), m.Glyphs.Dots)
		d.Add(draw.Inked(themes.Text, title+"  "),
			draw.Inked(themes.Dim, draw.CutMiddle(draw.Plain(c.What), max(d.W-draw.Cells(title)-2, 0), m.Glyphs.Dots)))
	}
}

// changedTitle is what changed, with its hosts.
func (m SummaryPane) changedTitle(c *known.Change) string {
	if len(c.Hosts) < 2 {
		return m.StepTitle(c.Step)
	}
	return m.Tree.Title(int(m.Tree.StepNode[c.Step])) + " on " + hostnames.List(c.Hosts)
}

// barLine is a step's time as a number and as a bar.
func (m SummaryPane) barLine(d *draw.Doc, t known.TimedStep, longest time.Duration) {
	bar := max(min(d.W/4, 20), 4)
	name := max(d.W-bar-12, 8)
	title := draw.CutMiddle(draw.Plain(m.StepTitle(t.Step)), name, m.Glyphs.Dots)
	d.Add(draw.Inked(themes.Text, fmt.Sprintf("%7s  ", draw.Took(t.Took))),
		draw.Inked(themes.Text, title+draw.Spaces(name-draw.Cells(title)+2)),
		draw.Inked(themes.BarFill, m.Glyphs.Gauge(float64(t.Took)/float64(longest), bar)))
}

// SummaryText is the summary as text.
func (m SummaryPane) SummaryText() string {
	d := draw.NewDoc(summaryWidth, 0, m.Glyphs)
	m.summaryTab(d)
	b := strings.Builder{}
	b.WriteString(m.Plan.RootFile + "\n")
	for _, line := range d.Lines {
		var row strings.Builder
		for _, span := range line {
			row.WriteString(draw.Bare(span.S))
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	return b.String()
}

const summaryWidth = 100
