package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"moon/internal/diag"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/view"
)

// diagBox shows why an edited playbook cannot be planned. The old plan stays until it can.
type diagBox struct {
	list diag.List
	top  int
	last int // the last line that can be at the top
}

func (b *diagBox) PasteText(*view.State, tea.PasteMsg) tea.Cmd { return nil }

func (b *diagBox) PressKey(m *view.State, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc", "q":
		m.Overlay = nil
	case "j", "down":
		b.top = min(b.top+1, b.last)
	case "k", "up":
		b.top = max(b.top-1, 0)
	case m.Keys.Label(keymap.SourceEdit):
		m.Overlay = nil
		for _, d := range b.list {
			if d.Severity == diag.Error && d.Pos.File != "" && m.CanEdit() {
				m.Want(view.EditFile{File: d.Pos.File, Line: d.Pos.Line})
				return nil
			}
		}
	}
	return nil
}

func (b *diagBox) DrawLines(m *view.State, w, h int) (title string, body [][]draw.Text, foot string) {
	d := draw.NewDoc(w, h, m.Glyphs)
	for _, one := range b.list {
		role := themes.Failed
		if one.Severity == diag.Warning {
			role = themes.Warn
		}
		d.Blank()
		d.Add(draw.Inked(role, one.Severity.String()+"  "),
			draw.Inked(themes.Text, draw.CutLeft(draw.Plain(fmt.Sprintf("%s:%d:%d", one.Pos.File, one.Pos.Line, one.Pos.Column)), w-9,
				m.Glyphs.Dots)))
		d.Para(themes.Text, 2, one.Message)
		if one.Hint != "" {
			d.Para(themes.Dim, 2, "hint: "+one.Hint)
		}
	}
	b.last = max(len(d.Lines)-h, 0)
	b.top = min(b.top, b.last)
	foot = "the old plan stays   esc closes"
	if m.CanEdit() {
		foot = m.Keys.Label(keymap.SourceEdit) + " edits again   " + foot
	}
	return draw.Count(b.list.Count(diag.Error), "mistake"), d.Lines[b.top:min(b.top+h, len(d.Lines))], foot
}
