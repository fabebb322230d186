package tui

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/status"
	"moon/tui/tree"
)

// hostDiff is a difference, and the hosts on which it is the same but for their names.
type hostDiff struct {
	step  int // the first
	diff  *events.Diff
	hosts []string
}

// alikeKey is the same for steps of a task that do the same on several hosts; "" for one that has no others.
func (m diffPane) alikeKey(step int, diff *events.Diff) string {
	p := &m.Plan.Steps[step]
	task := status.Task(m.Plan, p.Scope)
	if task < 0 {
		return ""
	}
	key := fmt.Sprint(task, "\x00", tree.StepTitle(p))
	if diff != nil {
		key += "\x00" + string(diff.Kind) + "\x00" + diff.Path + "\x00" + diff.Summary + "\x00" + diff.Text
	}
	return plan.Nameless(p.Host, key)
}

// diffOf is what a step changed or, before it runs, would change; or nil.
func (m diffPane) diffOf(step int, steps []events.Step) *events.Diff {
	if step < len(steps) && (steps[step].Diff != nil || steps[step].Attempt > 0) {
		return steps[step].Diff
	}
	if f := m.Predicted.Step(step); f != nil && f.Error == "" && f.Skipped == "" && f.Diff.Kind != "" {
		return &f.Diff
	}
	return nil
}

// stepsCompared bounds how many steps of a task are compared for a frame.
const stepsCompared = 400

// hostDiffs are the differences of some steps, each once. Of those without text the kind says enough.
func (m diffPane) hostDiffs(r events.Range) (list []hostDiff) {
	known := map[string]int{}
	m.Store.Read(func(run *events.Run) {
		for i := r.From; i < min(r.To, r.From+stepsCompared); i++ {
			diff := m.diffOf(i, run.Steps)
			if diff == nil || diff.Kind == events.ChangeNone || diff.Kind == events.ChangeUnknown && diff.Text == "" {
				continue
			}
			key := m.alikeKey(i, diff)
			at, ok := known[key]
			if !ok {
				at = len(list)
				known[key], list = at, append(list, hostDiff{step: i, diff: diff})
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
		if i == 0 && r.To-r.From > stepsCompared {
			d.Hint(fmt.Sprintf("Of the first %s of %d.", draw.Count(stepsCompared, "step"), r.To-r.From))
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
		d.Para(draw.InkTitle, 0, item+words+draw.Plain(plan.HostsName(one.hosts)))
		d.Add(draw.Inked(themes.Text, draw.CutLeft(draw.Plain(one.diff.Path), max(d.W-12, 8), m.glyphs.Dots)),
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
	key := m.alikeKey(step, diff)
	s := &m.Plan.Scopes[task]
	var others []string
	m.Store.Read(func(run *events.Run) {
		for i := s.First; i < min(s.Last, s.First+stepsCompared); i++ {
			if other := m.diffOf(i, run.Steps); i != step && other != nil && m.alikeKey(i, other) == key {
				others = append(others, status.On(&m.Plan.Steps[i]))
			}
		}
	})
	if len(others) > 0 {
		d.Para(themes.Dim, 0, "The same on "+plan.HostsName(others))
	}
}
