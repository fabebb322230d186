package replanning

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"moon/engine"
	"moon/engine/control"
	"moon/internal/diag"
	"moon/tui"
)

// verb is what a process asks for.
const verb = "replan"

// within is how long it waits for a new plan: hosts may be asked for it.
const within = 5 * time.Minute

// mostFound is how many problems of a playbook one answer has.
const mostFound = 20

// Serve has the run in a directory plan again when another process asks for it. plan may be called by several goroutines.
func Serve(dir string, plan func() (diag.List, error)) {
	control.Also(dir, verb, func(control.Request) control.Answer {
		found, err := plan()
		a := control.Answer{Accepted: err == nil && !found.HasErrors(), Unrecorded: true}
		switch {
		case err != nil:
			a.Reason = err.Error()
		case !a.Accepted:
			a.Reason = "the playbook has errors: " + found[0].Message
			a.Found, _ = json.Marshal(found[:min(len(found), mostFound)]) // plain data
		}
		return a
	})
}

// Ask has the process of a run plan again. The errors of a list are those of the playbook; a new plan comes with the feed.
func Ask(deliver engine.Deliver) (diag.List, error) {
	a, err := deliver(control.Request{ID: rand.Text(), Do: verb}, within)
	switch {
	case err != nil:
		return nil, fmt.Errorf("not planned again: %w", err)
	case a.Accepted:
		return nil, nil
	case len(a.Found) == 0:
		return nil, errors.New(a.Reason)
	}
	var found diag.List
	if err := json.Unmarshal(a.Found, &found); err != nil {
		return nil, fmt.Errorf("read what the run has found: %w", err)
	}
	return found, nil
}

// Editor opens only files that are there: those of a run of another machine are edited at that one.
func Editor(open func(file string, line int) tui.ExecCommand) func(file string, line int) tui.ExecCommand {
	return func(file string, line int) tui.ExecCommand { return local{open(file, line), file} }
}

// local is an editor of a file of this machine.
type local struct {
	tui.ExecCommand
	file string
}

// Run runs the editor.
func (l local) Run() error {
	if _, err := os.Stat(l.file); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not on this machine: edit it where the run is, then moon attach --send %s", filepath.Base(l.file), verb)
	}
	return l.ExecCommand.Run()
}
