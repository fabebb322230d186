package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"moon/exec/fault"
	"moon/exec/process"
)

// Tool is a program that an action uses: it asks what is, or makes what shall be.
type Tool struct {
	Argv    []string
	Env     map[string]string // on top of the step's
	Stdin   *string
	Private *string        // what only it can read, from /dev/fd/3
	Input   *io.PipeReader // what is written to its standard input while it runs, instead of Stdin
	Output  io.Writer      // where RunTool has its standard output go, instead of the step's output
	Quiet   bool           // nothing that it prints may be shown: there may be a secret in it
	Dir     string         // where it runs; "": where the step does
}

// NewTool is a tool without anything special.
func NewTool(argv ...string) Tool { return Tool{Argv: argv} }

// Answer is what a program says that was asked.
type Answer struct {
	Code   int
	Stdout string
	Stderr string
}

// LastWords is the end of what it says about an error, in one line.
func (a Answer) LastWords() string {
	text := strings.TrimSpace(a.Stderr)
	if text == "" {
		text = strings.TrimSpace(a.Stdout)
	}
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = strings.TrimSpace(text[i+1:])
	}
	return text
}

// Explain puts into an error what the program said, in the place of its exit status. Words of what passes by itself make
// it transient.
func (a Answer) Explain(err error, passing ...string) error {
	e, ok := errors.AsType[fault.CommandError](err)
	if !ok {
		return err
	}
	if last := a.LastWords(); last != "" {
		program, _, _ := strings.Cut(e.Message, ":")
		e.Message = last
		if !strings.HasPrefix(last, program+":") {
			e.Message = program + ": " + last
		}
	}
	text := a.Stderr + a.Stdout
	if slices.ContainsFunc(passing, func(words string) bool { return strings.Contains(text, words) }) {
		e.Class = fault.Transient
	}
	return e
}

// AskTool runs a program that changes nothing, in the locale C, and returns what it says. That it ends with an error is an
// answer too. A prediction may ask.
func (a *Attempt) AskTool(ctx context.Context, t Tool) (Answer, error) {
	if err := a.refuseAsking(t.Argv); err != nil {
		return Answer{}, err
	}
	p := a.tool(t)
	if a.ahead && !a.Trusted && t.Dir == "" { // callers that give a directory have asked RefuseInProject
		p.Dir = "/" // programs read files of the directory that they are started in
	}
	var out, errs process.Limited
	out.Left, errs.Left, p.Most = process.AskLimit, process.AskLimit, process.AskLimit
	p.Stdout, p.Stderr = &out, &errs
	e := p.Run(ctx)
	switch {
	case e.Err != nil:
		return Answer{}, e.Err
	// An answer that is cut could be read as a wrong one.
	case e.Flooded:
		return Answer{}, fault.CommandError{Message: t.Argv[0] + ": " + process.ErrFlood.Error(), Class: fault.Fatal}
	case e.Stop != "":
		return Answer{}, e.Stop
	}
	return Answer{e.Code, out.String(), errs.String()}, nil
}

// RunTool runs a program that changes something. What it prints is the step's output, and an exit status other than 0 is
// an error.
func (a *Attempt) RunTool(ctx context.Context, t Tool) error {
	_, err := a.RunToolReading(ctx, t)
	return err
}

// RunToolReading is tell with what the program prints, for actions that must read it.
func (a *Attempt) RunToolReading(ctx context.Context, t Tool) (Answer, error) {
	p := a.tool(t)
	var out, errs process.Limited
	out.Left, errs.Left = process.AskLimit, process.AskLimit
	p.Stdout, p.Stderr = &out, &errs
	if a.Output != nil && !t.Quiet {
		p.Stdout, p.Stderr = io.MultiWriter(a.Output.Stdout(), &out), io.MultiWriter(a.Output.Stderr(), &errs)
	}
	if t.Output != nil {
		p.Stdout = t.Output
	}
	e := p.Run(ctx)
	said := Answer{e.Code, out.String(), errs.String()}
	switch {
	case e.Err != nil:
		return said, e.Err
	case e.Stop != "":
		return said, e.Stop
	case e.Code != 0:
		return said, fault.CommandError{Message: fmt.Sprintf("%s: %s", t.Argv[0], e), RC: &e.Code, Class: fault.Fatal}
	}
	return said, nil
}

func (a *Attempt) tool(t Tool) *process.Command {
	p := a.Prepare(t.Argv)
	env := map[string]string{"LC_ALL": "C", "LANGUAGE": "C"}
	maps.Copy(env, t.Env)
	for name, value := range env {
		if _, own := a.Env[name]; !own { // the step has the last word
			p.Env = append(p.Env, name+"="+value)
		}
	}
	p.Stdin, p.Input, p.Script = t.Stdin, t.Input, t.Private
	if t.Dir != "" {
		p.Dir = t.Dir
	}
	return p
}

// Installed reports whether there is a program of this name on the step's PATH.
func (a *Attempt) Installed(name string) bool {
	_, err := a.Prepare([]string{name}).Find()
	return err == nil
}
