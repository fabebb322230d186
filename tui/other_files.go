package tui

import (
	"maps"
	"path"
	"slices"

	"moon/plan"
	"moon/plan/source"
	"moon/themes"
)

// otherFiles are, by the paths of steps, the files that a step reads and that are not what they were when the plan was made that the
// step was approved or run with. The texts of the playbook are not among them: the step shows itself what is different in those.
type otherFiles map[string][]source.Change

// replan adds what is different in another plan. What was different in the one before stays: the step may still wait for a decision.
func (f otherFiles) replan(old, now *plan.Plan) otherFiles {
	next := otherFiles{}
	before := make(map[string]*plan.Step, len(old.Steps))
	for i := range old.Steps {
		before[old.Steps[i].Path] = &old.Steps[i]
	}
	for i := range now.Steps {
		s := &now.Steps[i]
		was := before[s.Path]
		if was == nil {
			continue
		}
		list := slices.Clone(f[s.Path])
		for _, r := range was.Reads {
			for _, n := range s.Reads {
				if r.Source == nil || n.Source == nil {
					continue
				}
				if n.Path == r.Path && !slices.ContainsFunc(list, func(c source.Change) bool { return c.Path == r.Path }) {
					list = append(list, r.Changes(n.Source)...)
				}
			}
		}
		if len(list) > 0 {
			next[s.Path] = list
		}
	}
	return next
}

// otherFile is the first file of a step that is not what it was, with what became of it and how many others there are.
func (m *model) otherFile(step int) (c source.Change, others int) {
	list := m.others[m.plan.Steps[step].Path]
	if len(list) == 0 {
		return c, 0
	}
	c = list[0]
	c.Path = m.plan.Shown(c.Path)
	return c, len(list) - 1
}

// otherFileNote says it in a row; "" where nothing is to be said.
func (m *model) otherFileNote(step int) string {
	c, _ := m.otherFile(step)
	if c.Path == "" {
		return ""
	}
	how := map[string]string{"has changed": "changed", "is gone": "gone", "is new": "new"}[c.How]
	return plain(path.Base(c.Path)) + " " + how
}

// otherFilesField says in the step's own pane why it waits for a decision once more.
func (m *model) otherFilesField(d *doc, step int) {
	list := m.others[m.plan.Steps[step].Path]
	if f := m.tree.faces[step]; len(list) == 0 || !f.Pending() && f != faceOutdated {
		return
	}
	for i, c := range list {
		c.Path = m.plan.Shown(c.Path)
		d.field(map[bool]string{true: "file", false: ""}[i == 0], text{themes.Warn, c.String()})
	}
	d.blank()
}

// otherFileOf names the one file that the steps were made anew for, or "" if it is none or more than one.
func (f otherFiles) otherFileOf(p *plan.Plan, steps []int) string {
	names := map[string]bool{}
	for _, i := range steps {
		list := f[p.Steps[i].Path]
		if len(list) == 0 {
			return ""
		}
		for _, c := range list {
			names[p.Shown(c.Path)] = true
		}
	}
	if len(names) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(names))[0]
}
