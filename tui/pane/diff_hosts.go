package pane

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/plan/hostnames"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/known"
	"moon/tui/status"
)

// hostDiff is a difference, and the hosts on which it is the same but for their names.
type hostDiff struct {
	step  int // the first
	diff  *events.Diff
	hosts []string
}

// hostDiffs are the differences of some steps, each once. Of those without text the kind says enough.
func (m diffPane) hostDiffs(r events.Range) (list []hostDiff) {
	seen := map[string]int{}
	m.Store.Read(func(run *events.Run) {
		for i := r.From; i < min(r.To, r.From+known.StepsCompared); i++ {
			diff := m.DiffOf(i, run.Steps)
			// A change that is neither known nor has a text cannot be compared; all that have none would form one group by accident.
			if diff == nil || diff.Kind == events.ChangeNone || diff.Kind == events.ChangeUnknown && diff.Text == "" {
				continue
			}
			key := m.AlikeKey(i, diff)
			at, ok := seen[key]
			if !ok {
				at = len(list)
				seen[key], list = at, append(list, hostDiff{step: i, diff: diff})
			}
			list[at].hosts = append(list[at].hosts, status.On(&m.Plan.Steps[i]))
		}
	})
	return list
}

// hostDiffsShown bounds the differences that are shown of one task.
const hostDiffsShown = 20

// taskDiffs shows what a task changes on its hosts, what is the same once.
func (m diffPane) taskDiffs(d *draw.Doc, n int) {
	r := m.Tree.Steps(n)
	list := m.hostDiffs(r)
	if len(list) == 0 {
		d.Hint("No change is known on any of its hosts.")
		return
	}
	for i, one := range list {
		if i == hostDiffsShown {
			d.Hint(fmt.Sprintf("%s more; go to a host to see what is changed there.", draw.Count(len(list)-i, "difference")))
			return
		}
		// Steps that were not compared must not look as if they changed nothing.
		if i == 0 && r.To-r.From > known.StepsCompared {
			d.Hint(fmt.Sprintf("Of the first %s of %d.", draw.Count(known.StepsCompared, "step"), r.To-r.From))
		}
		d.Blank()
		words := "on "
		if len(one.hosts) > 1 {
			words = "the same on "
		}
		item := ""
		if p := &m.Plan.Steps[one.step]; p.Loop != nil {
			item = draw.Plain(p.Loop.Label) + " "
		}
		d.Para(draw.InkTitle, 0, item+words+draw.Plain(hostnames.List(one.hosts)))
		// Paths differ at their ends, so that is the part to keep.
		d.Add(draw.Inked(themes.Text, draw.CutLeft(draw.Plain(one.diff.Path), max(d.W-12, 8), m.Glyphs.Dots)),
			draw.Inked(themes.Dim, "  "+string(one.diff.Kind)))
		if one.diff.Summary != "" {
			d.Para(themes.Text, 0, one.diff.Summary)
		}
		if one.diff.Text != "" {
			m.diffText(d, strings.Split(strings.TrimRight(one.diff.Text, "\n"), "\n"))
		}
	}
}

// sameOn says on which other hosts a difference is the same.
func (m diffPane) sameOn(d *draw.Doc, step int, diff *events.Diff) {
	task := status.Task(m.Plan, m.Plan.Steps[step].Scope)
	if task < 0 || diff.Kind == events.ChangeNone {
		return
	}
	key := m.AlikeKey(step, diff)
	s := &m.Plan.Scopes[task]
	var others []string
	m.Store.Read(func(run *events.Run) {
		for i := s.First; i < min(s.Last, s.First+known.StepsCompared); i++ {
			if other := m.DiffOf(i, run.Steps); i != step && other != nil && m.AlikeKey(i, other) == key {
				others = append(others, status.On(&m.Plan.Steps[i]))
			}
		}
	})
	if len(others) > 0 {
		d.Para(themes.Dim, 0, "The same on "+hostnames.List(others))
	}
}
