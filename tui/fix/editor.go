package fix

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Program takes the terminal over while it runs.
type Program interface {
	Run() error
	SetStdin(io.Reader)
	SetStdout(io.Writer)
	SetStderr(io.Writer)
}

// Editor is a person's editor on a file that is there only as long as it is edited.
type Editor struct {
	Text string                    // before and after
	Open func(file string) Program // required

	stdin          io.Reader
	stdout, stderr io.Writer
}

// SetStdin says where the editor reads.
func (e *Editor) SetStdin(r io.Reader) { e.stdin = r }

// SetStdout says where it writes.
func (e *Editor) SetStdout(w io.Writer) { e.stdout = w }

// SetStderr says where it complains.
func (e *Editor) SetStderr(w io.Writer) { e.stderr = w }

// Run edits the value. A last line break that the editor adds is none of the value's.
func (e *Editor) Run() (err error) {
	file, err := os.CreateTemp("", "moon-value-*.txt") // for the user alone
	if err != nil {
		return fmt.Errorf("make a file to edit: %w", err)
	}
	// The value may be private, so the file is removed however this ends.
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = file.WriteString(e.Text)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write what is to be edited: %w", err)
	}
	editor := e.Open(file.Name())
	editor.SetStdin(e.stdin)
	editor.SetStdout(e.stdout)
	editor.SetStderr(e.stderr)
	if err := editor.Run(); err != nil {
		return err
	}
	// By name: many editors write a new file and rename it over the old one.
	text, err := os.ReadFile(file.Name())
	if err != nil {
		return fmt.Errorf("read what was edited: %w", err)
	}
	e.Text = string(text)
	// Two line breaks were meant: editors add one at most.
	if !strings.HasSuffix(e.Text, "\n\n") {
		e.Text = strings.TrimSuffix(e.Text, "\n")
	}
	return nil
}
