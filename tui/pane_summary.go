package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/tree"
)

// summaryPane is what the run came to.
type summaryPane struct{ *view }

// summary is what a run came to. It is made once, when the run is done.
type summary struct {
	slowest []timed
	retried int
	changes []changed
	more    int // changes beyond those
	drift   []changed

	overrides []overrideUsed
}

type timed struct {
	step int
	took time.Duration
}

type changed struct {
	step  int
	what  string
	hosts []string // where there are several, those on which it is the same
}

const slowestShown = 3

// roomForTime is how many rows it takes for the time of each part to stand before what changed.
const roomForTime = 24

func (m summaryPane) makeSummary() summary {
	var s summary
	alike := map[string]int{}
	m.Store.Read(func(run *events.Run) {
		for i := range min(len(run.Steps), len(m.Plan.Steps)) {
			of := &run.Steps[i]
			if of.Attempt > 0 || of.Kept {
				s.addUsed(&m.Plan.Steps[i])
			}
			if of.Attempt > 1 {
				s.retried++
			}
			if of.Attempt > 0 && of.State == events.Settled {
				s.addSlow(i, of.Lasted(of.Ended))
			}
			if of.Drift != "" && len(s.drift) < 2*listed {
				s.drift = append(s.drift, changed{step: i, what: of.Drift})
			}
			if of.Outcome != events.Changed || of.Kept {
				continue
			}
			p := &m.Plan.Steps[i]
			key := diffPane(m).alikeKey(i, of.Diff)
			if at, ok := alike[key]; ok {
				s.changes[at].hosts = append(s.changes[at].hosts, status.On(p))
				continue
			}
			// Bounded, since a run may have very many steps; the others are only counted.
			if len(s.changes) >= 2*listed {
				s.more++
				continue
			}
			what := ""
			if of.Diff != nil {
				what = strings.TrimSpace(string(of.Diff.Kind) + " " + cmp.Or(of.Diff.Summary, of.Diff.Path))
			}
			if key != "" {
				alike[key] = len(s.changes)
			}
			s.changes = append(s.changes, changed{i, what, []string{status.On(p)}})
		}
	})
	return s
}

// addSlow keeps the slowest steps, slowest first.
func (s *summary) addSlow(step int, took time.Duration) {
	if took < time.Second {
		return
	}
	i, _ := slices.BinarySearchFunc(s.slowest, took, func(a timed, d time.Duration) int { return cmp.Compare(d, a.took) })
	s.slowest = slices.Insert(s.slowest, i, timed{step, took})
	s.slowest = s.slowest[:min(len(s.slowest), slowestShown)]
}

// summaryTab is what the first tab of the root says when the run is done.
func (m summaryPane) summaryTab(d *draw.Doc) {
	m.tallyLine(d)
	if m.Shot.Phase == events.Ended && m.Tree.Tallies[0].Failed() > 0 {
		d.Blank()
		d.Para(themes.Text, 0, fmt.Sprintf("All steps have finished; failed steps can be retried: %s, or %s for all.",
			m.keys.Label(keymap.RunRetry), m.keys.Label(keymap.RunRetryAll)))
	}
	m.drawFailures(d)
	if len(m.summary.drift) > 0 {
		d.Heading("Drift (differs from the preview)")
		for _, c := range m.summary.drift {
			d.Add(draw.Inked(themes.Text, "  "+m.stepName(c.step)))
			d.Para(themes.Warn, 4, c.what)
		}
	}
	if len(m.summary.slowest) > 0 {
		d.Heading("Slowest")
		longest := m.summary.slowest[0].took
		for _, t := range m.summary.slowest {
			m.barLine(d, t, longest)
		}
	}
	origins(m).overridesList(d)
	if d.H >= roomForTime {
		timePane(m).timeBars(d, mostBars, d.Heading)
	}
	m.drawChanges(d)
	scopePane(m).drawList(d, 0, "Not run", func(f status.State) bool { return f == status.Omitted || f == status.Cancelled })
	if d.H < roomForTime {
		timePane(m).timeBars(d, mostBars, d.Heading)
	}
	if m.o.Saved != "" {
		d.Blank()
		if draw.Cells(draw.Plain(m.o.Saved)) <= d.W-draw.LabelWidth {
			d.Field("Saved", draw.Inked(themes.Text, m.o.Saved))
		} else { // in one piece it can be copied
			d.Add(draw.Inked(themes.Dim, "Saved"))
			d.Para(themes.Text, 0, m.o.Saved)
		}
	}
}

func (m summaryPane) tallyLine(d *draw.Doc) {
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
		line = append(line, draw.Inked(role, m.glyphs.Signs[look]+fmt.Sprintf(" %d %s", n, words)))
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

// drawFailures names what failed, with the first line of each error.
func (m summaryPane) drawFailures(d *draw.Doc) {
	shown := 0
	for i, f := range m.Tree.Faces {
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
			d.Add(draw.Inked(themes.Text, "    "), draw.Inked(themes.Dim, draw.CutRight(draw.Plain(reason), max(d.W-4, 0), m.glyphs.Dots)))
		}
	}
}

func (m summaryPane) drawChanges(d *draw.Doc) {
	if len(m.summary.changes) == 0 {
		return
	}
	d.Heading("Changed")
	for i, c := range m.summary.changes {
		if i == listed {
			d.Add(draw.Inked(themes.Dim, fmt.Sprintf("  and %d more", len(m.summary.changes)-i+m.summary.more)))
			return
		}
		title := "  " + draw.CutMiddle(draw.Plain(m.changedTitle(&c)), max(d.W*6/10, 8), m.glyphs.Dots)
		d.Add(draw.Inked(themes.Text, title+"  "),
			draw.Inked(themes.Dim, draw.CutMiddle(draw.Plain(c.what), max(d.W-draw.Cells(title)-2, 0), m.glyphs.Dots)))
	}
}

// changedTitle is what changed, with its hosts.
func (m summaryPane) changedTitle(c *changed) string {
	if len(c.hosts) < 2 {
		return m.StepTitle(c.step)
	}
	return m.Tree.Title(int(m.Tree.StepNode[c.step])) + " on " + plan.HostsName(c.hosts)
}

// barLine is a step's time as a number and as a bar.
func (m summaryPane) barLine(d *draw.Doc, t timed, longest time.Duration) {
	bar := max(min(d.W/4, 20), 4)
	name := max(d.W-bar-12, 8)
	title := draw.CutMiddle(draw.Plain(m.StepTitle(t.step)), name, m.glyphs.Dots)
	d.Add(draw.Inked(themes.Text, fmt.Sprintf("%7s  ", draw.Took(t.took))),
		draw.Inked(themes.Text, title+draw.Spaces(name-draw.Cells(title)+2)),
		draw.Inked(themes.BarFill, m.glyphs.Gauge(float64(t.took)/float64(longest), bar)))
}
