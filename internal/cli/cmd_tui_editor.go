package cli

import (
	"moon/exec"
	"moon/internal/app"
	"moon/tui"
)

// editor opens a file at a line for the screen. An interrupt that is typed meanwhile is the editor's. One that reads no
// keys itself, such as code --wait, leaves the terminal as it was, which interrupts the whole group, with moon in it.
// It cannot have a group of its own, as a shell has: ctrl+z, which editors do themselves, stops the group.
func editor(call *app.Invocation) func(file string, line int) tui.ExecCommand {
	return func(file string, line int) tui.ExecCommand { return inEditor{exec.Editor(file, line), call.Signals} }
}

type inEditor struct {
	*exec.Foreground
	signals *app.Signals
}

// Run runs the editor.
func (e inEditor) Run() error {
	defer e.signals.BeginEditing()()
	return e.Foreground.Run()
}
