package cli

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"moon/exec"
	"moon/tui"
)

// editor opens a file at a line for the screen. An interrupt that is typed meanwhile is the editor's. One that reads no
// keys itself, such as code --wait, leaves the terminal as it was, which interrupts the whole group, with moon in it.
// It cannot have a group of its own, as a shell has: ctrl+z, which editors do themselves, stops the group.
func editor(file string, line int) tui.ExecCommand { return inEditor{exec.Editor(file, line)} }

type inEditor struct{ *exec.Foreground }

// Run runs the editor.
func (e inEditor) Run() error {
	editing.until.Store(forGood)
	defer func() { editing.until.Store(time.Now().Add(heardLate).UnixNano()) }()
	return e.Foreground.Run()
}

// editing is until when an editor has the terminal, in nanoseconds; 0: there was none.
var editing struct{ until atomic.Int64 }

const (
	forGood = 1<<63 - 1
	// heardLate is how much later than an editor moon may hear of an interrupt. The screen has them as keys.
	heardLate = 200 * time.Millisecond
)

// editors reports whether a signal is meant for an editor.
func editors(sig os.Signal) bool {
	return (sig == os.Interrupt || sig == syscall.SIGQUIT) && time.Now().UnixNano() < editing.until.Load()
}
