package overlay

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"moon/internal/diag"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
)

// Diag shows why an edited playbook cannot be planned. The old plan stays until it can.
type Diag struct {
	list diag.List
	top  int
	last int  // the last line that can be at the top
	edit bool // there is an editor
}

// NewDiag shows mistakes. edit says that there is an editor to correct them with.
func NewDiag(list diag.List, edit bool) *Diag { return &Diag{list: list, edit: edit} }

// Press scrolls, or opens the editor at the first mistake.
func (b *Diag) Press(s Screen, msg tea.KeyPressMsg) []Want {
	switch msg.String() {
	case "esc", "q":
		return []Want{Close{}}
	case "j", "down":
		b.top = min(b.top+1, b.last)
	case "k", "up":
		b.top = max(b.top-1, 0)
	case s.Keys.Label(keymap.SourceEdit):
		// Warnings are passed over: they do not keep the playbook from being planned.
		for _, d := range b.list {
			if d.Severity == diag.Error && d.Pos.File != "" && b.edit {
				return []Want{Close{}, Edit{d.Pos.File, d.Pos.Line}}
			}
		}
		return []Want{Close{}}
	}
	return nil
}

// Draw lists the mistakes.
func (b *Diag) Draw(s Screen, w, h int) (title string, body [][]draw.Text, foot string) {
	d := draw.NewDoc(w, h, s.Glyphs)
	for _, one := range b.list {
		role := themes.Failed
		if one.Severity == diag.Warning {
			role = themes.Warn
		}
		d.Blank()
		d.Add(draw.Inked(role, one.Severity.String()+"  "),
			draw.Inked(themes.Text, draw.CutLeft(draw.Plain(fmt.Sprintf("%s:%d:%d", one.Pos.File, one.Pos.Line, one.Pos.Column)), w-9,
				s.Glyphs.Dots)))
		d.Para(themes.Text, 2, one.Message)
		if one.Hint != "" {
			d.Para(themes.Dim, 2, "hint: "+one.Hint)
		}
	}
	// How long the text is depends on the width, so keys scroll by what the last frame has found.
	b.last = max(len(d.Lines)-h, 0)
	b.top = min(b.top, b.last)
	foot = "the old plan stays   esc closes"
	if b.edit {
		foot = s.Keys.Label(keymap.SourceEdit) + " edits again   " + foot
	}
	return draw.Count(b.list.Count(diag.Error), "mistake"), d.Lines[b.top:min(b.top+h, len(d.Lines))], foot
}
