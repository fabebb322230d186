package pane

import (
	"path"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/status"
)

// OtherFileNote names in a row the first file of a step that has changed; "" if none has.
func (m Origins) OtherFileNote(step int) string {
	list := m.Others.Of(m.Plan, step)
	if len(list) == 0 {
		return ""
	}
	how := map[string]string{"has changed": "changed", "is gone": "gone", "is new": "new"}[list[0].How]
	return draw.Plain(path.Base(list[0].Path)) + " " + how
}

// otherFilesField says in the step's own pane why it waits for a decision again.
func (m Origins) otherFilesField(d *draw.Doc, step int) {
	list := m.Others.Of(m.Plan, step)
	if f := m.Tree.Faces[step]; len(list) == 0 || !f.Pending() && f != status.Outdated {
		return
	}
	for i, c := range list {
		d.Field(map[bool]string{true: "file", false: ""}[i == 0], draw.Inked(themes.Warn, c.String()))
	}
	d.Blank()
}
