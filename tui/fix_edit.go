package tui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
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
	r := f.row()
	switch {
	case m.o.Editor == nil:
		f.note = "there is no editor here"
		return nil
	case r == nil:
		f.note = "type NAME=VALUE first"
		return nil
	case r.Secret:
		f.note = "a secret is not written to a file; type it here"
		return nil
	}
	f.commit()
	e := &valueEditor{text: r.Now, open: m.o.Editor}
	row := f.at
	return m.unwatched(lend(e, func(err error) tea.Msg { return valueEdited{f, row, e.text, err} }))
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
	return f.plan(m)
}

// valueEditor is an editor on a file that is there only as long as it is edited.
type valueEditor struct {
	text           string
	open           func(file string, line int) ExecCommand
	stdin          io.Reader
	stdout, stderr io.Writer
}

func (e *valueEditor) SetStdin(r io.Reader)  { e.stdin = r }
func (e *valueEditor) SetStdout(w io.Writer) { e.stdout = w }
func (e *valueEditor) SetStderr(w io.Writer) { e.stderr = w }

// Run edits the value. A last line break that the editor adds is none of the value's.
func (e *valueEditor) Run() (err error) {
	file, err := os.CreateTemp("", "moon-value-*.txt") // for the user alone
	if err != nil {
		return fmt.Errorf("make a file to edit: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = file.WriteString(e.text)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write what is to be edited: %w", err)
	}
	editor := e.open(file.Name(), 1)
	editor.SetStdin(e.stdin)
	editor.SetStdout(e.stdout)
	editor.SetStderr(e.stderr)
	if err := editor.Run(); err != nil {
		return err
	}
	text, err := os.ReadFile(file.Name())
	if err != nil {
		return fmt.Errorf("read what was edited: %w", err)
	}
	e.text = string(text)
	if !strings.HasSuffix(e.text, "\n\n") {
		e.text = strings.TrimSuffix(e.text, "\n")
	}
	return nil
}
