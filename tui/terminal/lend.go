package terminal

import (
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"
)

// Lend gives the terminal to a program and takes it back as it was, however the program ended.
func Lend(program tea.ExecCommand, then func(error) tea.Msg) tea.Cmd {
	return takeTurns(&borrower{ExecCommand: program}, then)
}

// takeTurns is tea.Exec, also for what ends at once. When the terminal is given away, what draws the frames is asked to stop
// their clock and not waited for. If it comes to that only after the clock has been set again, nothing is drawn any more
// (issue 1778 of Bubble Tea, not fixed in 2.1.1).
func takeTurns(program tea.ExecCommand, then func(error) tea.Msg) tea.Cmd {
	return tea.Exec(unhurried{program}, then)
}

// unhurried is a program that sleeps first: what was asked to stop gets to run.
type unhurried struct{ tea.ExecCommand }

func (u unhurried) Run() error {
	time.Sleep(stopTime)
	return u.ExecCommand.Run()
}

// stopTime is much more than stopping a clock takes, and less than a person sees.
const stopTime = 10 * time.Millisecond

// borrower is a program that has the terminal. One that crashed has not put back what it set up for itself.
type borrower struct {
	tea.ExecCommand
	in  io.Reader
	out io.Writer
}

// SetStdin says where the program reads.
func (b *borrower) SetStdin(r io.Reader) { b.in = r; b.ExecCommand.SetStdin(r) }

// SetStdout says where it writes.
func (b *borrower) SetStdout(w io.Writer) { b.out = w; b.ExecCommand.SetStdout(w) }

// Run runs the program.
func (b *borrower) Run() (err error) {
	defer Keep(b.in)()
	defer func() {
		if r := recover(); r != nil {
			err = PanicError(r)
		}
		if err != nil && b.out != nil {
			_, _ = io.WriteString(b.out, UndoModes)
		}
	}()
	return b.ExecCommand.Run()
}

// UndoModes takes away what programs set up in a terminal: another screen, the mouse, focus reports, marked pastes,
// cursor keys and keypad of their own, keys of their own, a hidden or another cursor, colours.
const UndoModes = "\x1b[?1049l\x1b[?1000;1002;1003;1005;1006;1015l\x1b[?1004;2031l\x1b[?2004l\x1b[?1l\x1b>\x1b[<u\x1b[>4m\x1b[?25h\x1b[0 q\x1b[m\r"

// Keep remembers the settings of a terminal. What it returns brings them back; Bubble Tea alone would take the
// settings that a crashed program left for those to bring back in the end.
func Keep(r io.Reader) (restore func()) {
	f, ok := r.(*os.File)
	if !ok {
		return func() {}
	}
	before, err := term.GetState(int(f.Fd()))
	if err != nil { // no terminal
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), before) } // it fails where the terminal is gone
}
