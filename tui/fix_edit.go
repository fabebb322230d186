package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/tui/fix"
)

// valueEdited is a value that comes back from the editor.
type valueEdited struct {
	sheet *fixSheet
	row   int
	text  string
	err   error
}

// inEditor opens the value under the cursor in the person's editor: one that has many lines can be edited nowhere else.
func (f *fixSheet) inEditor(m *model) tea.Cmd {
	r := f.currentRow()
	switch {
	case m.o.Editor == nil:
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
	e := &fix.Editor{Text: r.Now, Open: func(file string) fix.Program { return m.o.Editor(file, 1) }}
	row := f.at
	return m.lendUnwatched(lendTerminal(e, func(err error) tea.Msg { return valueEdited{f, row, e.Text, err} }))
}

func (m *model) valueEdited(msg valueEdited) tea.Cmd {
	f := msg.sheet
	if m.fix != f || msg.row >= len(f.Rows) {
		return nil
	}
	if msg.err != nil {
		f.note = "editor: " + msg.err.Error()
		return nil
	}
	if r := &f.Rows[msg.row]; msg.text != r.Now {
		r.Type(msg.text)
	}
	return f.planRows(m)
}
