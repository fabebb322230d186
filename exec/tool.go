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

// tool is a program that an action uses: it asks what is, or makes what shall be.
type tool struct {
	argv  []string
	env   map[string]string // on top of the step's
	stdin *string
}

// program is a tool without anything special.
func program(argv ...string) tool { return tool{argv: argv} }

// answer is what a program says that was asked.
type answer struct {
	code   int
	stdout string
	stderr string
}

// last is the end of what it says about an error, in one line.
func (a answer) last() string {
	text := strings.TrimSpace(a.stderr)
	if text == "" {
		text = strings.TrimSpace(a.stdout)
	}
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = strings.TrimSpace(text[i+1:])
	}
	return text
}

// explain puts into an error what the program said, in the place of its exit status. Words of what passes by itself make
// it transient.
func (a answer) explain(err error, passing ...string) error {
	e, ok := errors.AsType[fault.CommandError](err)
	if !ok {
		return err
	}
	if last := a.last(); last != "" {
		program, _, _ := strings.Cut(e.Message, ":")
		e.Message = last
		if !strings.HasPrefix(last, program+":") {
			e.Message = program + ": " + last
		}
	}
	text := a.stderr + a.stdout
	if slices.ContainsFunc(passing, func(words string) bool { return strings.Contains(text, words) }) {
		e.Class = fault.Transient
	}
	return e
}

// ask runs a program that changes nothing, in the locale C, and returns what it says. That it ends with an error is an
// answer too. A prediction may ask.
func (a *attempt) ask(ctx context.Context, t tool) (answer, error) {
	if err := a.refuseAsking(t.argv); err != nil {
		return answer{}, err
	}
	p := a.tool(t)
	if a.ahead && !a.Trusted {
		p.Dir = "/" // programs read files of the directory that they are started in
	}
	var out, errs process.Limited
	out.Left, errs.Left, p.Most = process.AskLimit, process.AskLimit, process.AskLimit
	p.Stdout, p.Stderr = &out, &errs
	e := p.Run(ctx)
	switch {
	case e.Err != nil:
		return answer{}, e.Err
	case e.Flooded:
		return answer{}, fault.CommandError{Message: t.argv[0] + ": " + process.ErrFlood.Error(), Class: fault.Fatal}
	case e.Stop != "":
		return answer{}, e.Stop
	}
	return answer{e.Code, out.String(), errs.String()}, nil
}

// tell runs a program that changes something. What it prints is the step's output, and an exit status other than 0 is
// an error.
func (a *attempt) tell(ctx context.Context, t tool) error {
	_, err := a.told(ctx, t)
	return err
}

// told is tell with what the program prints, for actions that must read it.
func (a *attempt) told(ctx context.Context, t tool) (answer, error) {
	p := a.tool(t)
	var out, errs process.Limited
	out.Left, errs.Left = process.AskLimit, process.AskLimit
	p.Stdout, p.Stderr = &out, &errs
	if a.Output != nil {
		p.Stdout, p.Stderr = io.MultiWriter(a.Output.Stdout(), &out), io.MultiWriter(a.Output.Stderr(), &errs)
	}
	e := p.Run(ctx)
	said := answer{e.Code, out.String(), errs.String()}
	switch {
	case e.Err != nil:
		return said, e.Err
	case e.Stop != "":
		return said, e.Stop
	case e.Code != 0:
		return said, fault.CommandError{Message: fmt.Sprintf("%s: %s", t.argv[0], e), RC: &e.Code, Class: fault.Fatal}
	}
	return said, nil
}

func (a *attempt) tool(t tool) *process.Command {
	p := a.process(t.argv)
	env := map[string]string{"LC_ALL": "C", "LANGUAGE": "C"}
	maps.Copy(env, t.env)
	for name, value := range env {
		if _, own := a.Env[name]; !own { // the step has the last word
			p.Env = append(p.Env, name+"="+value)
		}
	}
	p.Stdin = t.stdin
	return p
}

// installed reports whether there is a program of this name on the step's PATH.
func (a *attempt) installed(name string) bool {
	_, err := a.process([]string{name}).Find()
	return err == nil
}
