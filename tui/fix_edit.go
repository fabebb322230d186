package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/tui/fix"
	"moon/tui/view"
)

// valueEdited is a value that comes back from the editor.
type valueEdited struct {
	sheet *fixSheet
	row   int
	text  string
	err   error
}

// inEditor opens the value under the cursor in the person's editor: one that has many lines can be edited nowhere else.
func (f *fixSheet) inEditor(m *view.State) tea.Cmd {
	r := f.currentRow()
	switch {
	case m.Tools.Editor == nil:
		f.note = "no editor available"
		return nil
	case r == nil:
		f.note = "type NAME=VALUE first"
		return nil
	case r.Secret:
		f.note = "a secret is not written to a file; type it here"
		return nil
	}
	f.commitTyped()
	e := &fix.Editor{Text: r.Now, Open: func(file string) fix.Program { return m.Tools.Editor(file, 1) }}
	row := f.at
	m.Want(view.LendTo{Program: e, Then: func(err error) tea.Msg { return valueEdited{f, row, e.Text, err} }})
	return nil
}

func (m fixPane) takeValue(msg valueEdited) tea.Cmd {
	f := msg.sheet
	if m.Sheet != f || msg.row >= len(f.Rows) {
		return nil
	}
	if msg.err != nil {
		f.note = "editor: " + msg.err.Error()
		return nil
	}
	if r := &f.Rows[msg.row]; msg.text != r.Now {
		r.Type(msg.text)
	}
	return f.planRows(m.State)
}
