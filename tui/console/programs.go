package console

import (
	"io"
	"os"
	"path/filepath"
	"strconv"

	"moon/internal/diag"
	"moon/plan"
)

// programs runs what takes the terminal over.
type programs struct {
	*speaker
	*titles
	*requests
	find       *finder
	in         *os.File
	out        io.Writer
	openEditor func(file string, line int) Program
	openShell  func(p *plan.Plan, step int) (Program, error)
	reload     func() (digest string, diagnostics diag.List, err error)
}

// openSource opens the file of a node at its line, and plans again.
func (c *programs) openSource(args string) {
	if c.openEditor == nil {
		c.say("there is no editor here.")
		return
	}
	file, line, why := c.sourceOf(args)
	if why != "" {
		c.say("%s", why)
		return
	}
	if !c.runProgram(c.openEditor(file, line), "the editor") || c.reload == nil {
		return
	}
	before := c.plan.Digest
	digest, diagnostics, err := c.reload()
	switch {
	case diagnostics.HasErrors():
		c.sayMistakes(diagnostics)
	case err != nil:
		c.say("%s", sentence(clean(err.Error())))
	case digest == before:
		c.say("nothing has changed.")
	case digest != c.plan.Digest:
		// Until the feed has brought it no line is taken, which would be about the old plan.
		c.coming = digest
	}
}

// sourceOf is where a node is written. Without one it is the step the run is at; before there is one, the playbook.
func (c *programs) sourceOf(node string) (file string, line int, why string) {
	o := diag.Origin{File: c.plan.RootFile}
	if node != "" || c.position().At() >= 0 {
		n, why := c.find.oneNode(node)
		if why != "" {
			return "", 0, why
		}
		if at := c.outline.nodes[n]; at.step >= 0 {
			o = c.plan.WrittenAt(&c.plan.Steps[at.step])
		} else {
			o = c.plan.Scopes[at.scope].Origin
		}
	}
	switch {
	case o.File == "":
		return "", 0, "it is not written in a file."
	case filepath.IsAbs(o.File):
		return o.File, o.Line, ""
	}
	return filepath.Join(c.plan.Root, o.File), o.Line, ""
}

// sayMistakes says why an edited playbook cannot be planned. The old plan stays until it can.
func (c *programs) sayMistakes(list diag.List) {
	lines := []string{count(list.Count(diag.Error), "mistake") + "; the old plan stays. editor opens the file again."}
	for _, one := range list {
		at := clean(one.Pos.File) + " line " + strconv.Itoa(one.Pos.Line)
		lines = append(lines, sentence(one.Severity.String()+" at "+at+": "+clean(one.Message)))
		if one.Hint != "" {
			lines = append(lines, "  hint: "+clean(one.Hint))
		}
	}
	c.sayList(lines)
}

// openStepShell opens a shell where a step runs.
func (c *programs) openStepShell(args string) {
	i, why := c.find.oneStep(args)
	switch {
	case c.openShell == nil:
		c.say("a shell is not available here.")
		return
	case !c.person:
		c.say("a shell needs a terminal.")
		return
	case why != "":
		c.say("%s", why)
		return
	}
	p, err := c.openShell(c.plan, i)
	if err != nil {
		c.say("%s", sentence(clean(err.Error())))
		return
	}
	if c.runProgram(p, "the shell") {
		c.say("the shell has ended.")
	}
}

// runProgram runs what takes the terminal. Without a person it has no input.
func (c *programs) runProgram(p Program, called string) bool {
	if c.person {
		// In a script the input is the rest of the script.
		p.SetStdin(c.in)
	}
	// Past what cleans the output: editors draw with escape sequences.
	screen := c.terminal
	if screen == nil {
		screen = c.out
	}
	p.SetStdout(screen)
	p.SetStderr(screen)
	var err error
	c.lendTerminal(func() { err = p.Run() })
	if err != nil {
		c.say("%s: %s", called, sentence(clean(err.Error())))
	}
	return err == nil
}
