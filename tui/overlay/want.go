package overlay

import (
	"moon/events"
	"moon/tui/keymap"
)

// Want is what a box asks for in answer to a key. These are all that there are.
//
//sumtype:decl
type Want interface{ isWant() }

// What every box may want.
type (
	// Close says that the box is done.
	Close struct{}
	// Say shows a message.
	Say struct{ Text string }
	// Send sends a command to the run.
	Send struct {
		Command events.Command
		Plan    string // the digest of the plan whose steps it names; "": the one that is shown now
	}
	// GoTo puts the cursor on a step.
	GoTo struct{ Step int }
	// ClearMarks clears the marks: what they were for is done.
	ClearMarks struct{}
	// Edit opens a file in the person's editor.
	Edit struct {
		File string
		Line int
	}
)

// What single boxes want.
type (
	// EditBreak opens the sheet for the breakpoint under the cursor, in place of the box.
	EditBreak struct{}
	// Evaluate finds out what an expression is where the run stands; the value goes to Break.TakeValue.
	Evaluate struct{ Expression string }
	// Watch watches an expression from now on.
	Watch struct{ Expression string }
	// Unwatch no longer watches it.
	Unwatch struct{ Expression string }
	// Copy puts a text on the clipboard.
	Copy struct{ Item CopyItem }
	// Stop stops the run.
	Stop struct{ How events.StopHow }
	// Quit closes the TUI if the run is over.
	Quit struct{}
	// RunSteps closes the TUI for another run, of these steps with what they need.
	RunSteps struct{ Paths []string }
	// Detach closes the TUI, and the run of another process continues.
	Detach struct{}
	// Do does what a key means. Clicked: with the mouse, which decides nothing.
	Do struct {
		Intent  keymap.Intent
		Clicked bool
	}
	// RunCommand runs a command of the palette.
	RunCommand struct{ Name, Arg string }
	// Approve does what approves, if the right name was typed and it still means the same as in the plan with that digest.
	Approve struct {
		Do     keymap.Intent
		What   Approval
		Digest string
		Named  bool
	}
)

// What the prompt wants.
type (
	// Find finds a text from where the person was when the prompt was opened. Only shows nothing else.
	Find struct {
		Text string
		Only bool
	}
	// FindNext goes to the next match, or the one before.
	FindNext struct{ By int }
	// EndFind ends typing. Without Keep everything is again as it was when the prompt was opened.
	EndFind struct{ Keep bool }
)

// What the sheet of values wants.
type (
	// CloseSheet says that the sheet is done.
	CloseSheet struct{}
	// PlanValues plans with other values; the plan goes to Sheet.TakePlan.
	PlanValues struct {
		Sheet *Sheet
		Gen   int
		Fix   events.Fix
	}
	// EditText opens a value in the person's editor; it comes back by Sheet.TakeText.
	EditText struct {
		Sheet *Sheet
		Row   int
		Text  string
	}
	// GiveValues gives the run other values. The sheet comes back if they are refused.
	GiveValues struct {
		Sheet *Sheet
		Fix   events.Fix
	}
)

func (Close) isWant()      {}
func (Say) isWant()        {}
func (Send) isWant()       {}
func (GoTo) isWant()       {}
func (ClearMarks) isWant() {}
func (Edit) isWant()       {}

func (EditBreak) isWant()  {}
func (Evaluate) isWant()   {}
func (Watch) isWant()      {}
func (Unwatch) isWant()    {}
func (Copy) isWant()       {}
func (Stop) isWant()       {}
func (Quit) isWant()       {}
func (RunSteps) isWant()   {}
func (Detach) isWant()     {}
func (Do) isWant()         {}
func (RunCommand) isWant() {}
func (Approve) isWant()    {}

func (Find) isWant()     {}
func (FindNext) isWant() {}
func (EndFind) isWant()  {}

func (CloseSheet) isWant() {}
func (PlanValues) isWant() {}
func (EditText) isWant()   {}
func (GiveValues) isWant() {}
