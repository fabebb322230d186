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
	"moon/tui/standing"
)

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

func (m *model) summarize() summary {
	var s summary
	alike := map[string]int{}
	m.store.read(func(run *events.Run) {
		for i := range min(len(run.Steps), len(m.plan.Steps)) {
			of := &run.Steps[i]
			if of.Attempt > 0 || of.Kept {
				s.used(&m.plan.Steps[i])
			}
			if of.Attempt > 1 {
				s.retried++
			}
			if of.Attempt > 0 && of.State == events.Settled {
				s.slow(i, of.Lasted(of.Ended))
			}
			if of.Drift != "" && len(s.drift) < 2*listed {
				s.drift = append(s.drift, changed{step: i, what: of.Drift})
			}
			if of.Outcome != events.Changed || of.Kept {
				continue
			}
			p := &m.plan.Steps[i]
			key := m.alikeKey(i, of.Diff)
			if at, ok := alike[key]; ok {
				s.changes[at].hosts = append(s.changes[at].hosts, standing.On(p))
				continue
			}
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
			s.changes = append(s.changes, changed{i, what, []string{standing.On(p)}})
		}
	})
	return s
}

// slow keeps the slowest steps, slowest first.
func (s *summary) slow(step int, took time.Duration) {
	if took < time.Second {
		return
	}
	i, _ := slices.BinarySearchFunc(s.slowest, took, func(a timed, d time.Duration) int { return cmp.Compare(d, a.took) })
	s.slowest = slices.Insert(s.slowest, i, timed{step, took})
	s.slowest = s.slowest[:min(len(s.slowest), slowestShown)]
}

// summaryTab is what the first tab of the root says when the run is done.
func (m *model) summaryTab(d *doc) {
	m.tallyLine(d)
	if m.run.phase == events.Ended && m.tree.tallies[0].failed() > 0 {
		d.blank()
		d.para(themes.Text, 0, fmt.Sprintf("All steps have finished; failed steps can be retried: %s, or %s for all.",
			m.keys.label(runRetry), m.keys.label(runRetryAll)))
	}
	m.failures(d)
	if len(m.summary.drift) > 0 {
		d.heading("Drift (differs from the preview)")
		for _, c := range m.summary.drift {
			d.add(inked(themes.Text, "  "+m.stepName(c.step)))
			d.para(themes.Warn, 4, c.what)
		}
	}
	if len(m.summary.slowest) > 0 {
		d.heading("Slowest")
		longest := m.summary.slowest[0].took
		for _, t := range m.summary.slowest {
			m.barLine(d, t, longest)
		}
	}
	m.overridesList(d)
	if d.h >= roomForTime {
		m.timeBars(d, mostBars, d.heading)
	}
	m.changes(d)
	m.list(d, 0, "Not run", func(f face) bool { return f == faceOmitted || f == faceCancelled })
	if d.h < roomForTime {
		m.timeBars(d, mostBars, d.heading)
	}
	if m.o.Saved != "" {
		d.blank()
		if cells(plain(m.o.Saved)) <= d.w-labelWidth {
			d.field("Saved", inked(themes.Text, m.o.Saved))
		} else { // in one piece it can be copied
			d.add(inked(themes.Dim, "Saved"))
			d.para(themes.Text, 0, m.o.Saved)
		}
	}
}

func (m *model) tallyLine(d *doc) {
	t := m.tree.tallies[0]
	line := []text{inked(themes.Text, "")}
	add := func(look sign, n int, words string, always bool) {
		if n == 0 && !always {
			return
		}
		if len(line) > 1 {
			line = append(line, inked(themes.Text, "   "))
		}
		role := signLooks[look].role
		if n == 0 {
			role = themes.Dim
		}
		line = append(line, inked(role, m.glyphs.signs[look]+fmt.Sprintf(" %d %s", n, words)))
	}
	add(signOK, t.sum(faceOK), "ok", true)
	add(signChanged, t.sum(faceChanged), "changed", true)
	add(signFailed, t.sum(faceFailed), "failed", true)
	add(signUnreachable, t.sum(faceUnreachable), "unreachable", false)
	add(signIgnored, t.sum(faceIgnored), "ignored", false)
	add(signRescued, t.sum(faceRescued), "rescued", false)
	add(signSkipped, t.sum(faceSkipped), "skipped", false)
	add(signKept, t.sum(faceKept), "kept", false)
	add(signOutdated, t.sum(faceOutdated), "outdated", false)
	add(signCancelled, t.sum(faceCancelled), "cancelled", false)
	add(signExcluded, t.sum(faceExcluded), "excluded", false)
	add(signWaiting, t.sum(faceOmitted, faceUndecided, faceWaiting, faceConfirm), "not run", false)
	d.lines = append(d.lines, d.flow(line)...)
}

// failures names what failed, with the first line of each error.
func (m *model) failures(d *doc) {
	shown := 0
	for i, f := range m.tree.faces {
		if !f.Bad() && f != faceIgnored {
			continue
		}
		if shown == 0 {
			d.heading("Failed")
		}
		if shown++; shown > listed {
			d.add(inked(themes.Dim, "  and more"))
			return
		}
		p, reason := &m.plan.Steps[i], ""
		m.store.read(func(run *events.Run) {
			if i < len(run.Steps) {
				reason, _, _ = strings.Cut(strings.TrimSpace(run.Steps[i].Error), "\n")
			}
		})
		look := faceSigns[f]
		m.entry(d, look, p)
		if reason != "" {
			d.add(inked(themes.Text, "    "), inked(themes.Dim, cutRight(plain(reason), max(d.w-4, 0), m.glyphs.dots)))
		}
	}
}

func (m *model) changes(d *doc) {
	if len(m.summary.changes) == 0 {
		return
	}
	d.heading("Changed")
	for i, c := range m.summary.changes {
		if i == listed {
			d.add(inked(themes.Dim, fmt.Sprintf("  and %d more", len(m.summary.changes)-i+m.summary.more)))
			return
		}
		title := "  " + cutMiddle(plain(m.changedTitle(&c)), max(d.w*6/10, 8), m.glyphs.dots)
		d.add(inked(themes.Text, title+"  "), inked(themes.Dim, cutMiddle(plain(c.what), max(d.w-cells(title)-2, 0), m.glyphs.dots)))
	}
}

// changedTitle is what changed, with its hosts.
func (m *model) changedTitle(c *changed) string {
	if len(c.hosts) < 2 {
		return m.stepTitle(c.step)
	}
	return m.tree.title(int(m.tree.stepNode[c.step])) + " on " + plan.HostsName(c.hosts)
}

// barLine is a step's time as a number and as a bar.
func (m *model) barLine(d *doc, t timed, longest time.Duration) {
	bar := max(min(d.w/4, 20), 4)
	name := max(d.w-bar-12, 8)
	title := cutMiddle(plain(m.stepTitle(t.step)), name, m.glyphs.dots)
	d.add(inked(themes.Text, fmt.Sprintf("%7s  ", took(t.took))), inked(themes.Text, title+spaces(name-cells(title)+2)),
		inked(themes.BarFill, m.glyphs.gauge(float64(t.took)/float64(longest), bar)))
}
