package exec

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
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

// ask runs a program that changes nothing, in the locale C, and returns what it says. That it ends with an error is an
// answer too. A prediction may ask.
func (a *attempt) ask(ctx context.Context, t tool) (answer, error) {
	if err := a.refuseAsking(t.argv); err != nil {
		return answer{}, err
	}
	p := a.tool(t)
	if a.ahead && !a.Trusted {
		p.dir = "/" // programs read files of the directory that they are started in
	}
	var out, errs limited
	out.left, errs.left, p.most = AskLimit, AskLimit, AskLimit
	p.stdout, p.stderr = &out, &errs
	e := p.run(ctx)
	switch {
	case e.err != nil:
		return answer{}, e.err
	case e.flooded:
		return answer{}, commandError{message: t.argv[0] + ": " + errFlood.Error(), class: Fatal}
	case e.stop != "":
		return answer{}, e.stop
	}
	return answer{e.code, out.String(), errs.String()}, nil
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
	var out, errs limited
	out.left, errs.left = AskLimit, AskLimit
	p.stdout, p.stderr = &out, &errs
	if a.Output != nil {
		p.stdout, p.stderr = io.MultiWriter(a.Output.Stdout(), &out), io.MultiWriter(a.Output.Stderr(), &errs)
	}
	e := p.run(ctx)
	said := answer{e.code, out.String(), errs.String()}
	switch {
	case e.err != nil:
		return said, e.err
	case e.stop != "":
		return said, e.stop
	case e.code != 0:
		return said, commandError{message: fmt.Sprintf("%s: %s", t.argv[0], e), rc: &e.code, class: Fatal}
	}
	return said, nil
}

func (a *attempt) tool(t tool) *process {
	p := a.process(t.argv)
	env := map[string]string{"LC_ALL": "C", "LANGUAGE": "C"}
	maps.Copy(env, t.env)
	for name, value := range env {
		if _, own := a.Env[name]; !own { // the step has the last word
			p.env = append(p.env, name+"="+value)
		}
	}
	p.stdin = t.stdin
	return p
}

// installed reports whether there is a program of this name on the step's PATH.
func (a *attempt) installed(name string) bool {
	_, err := a.process([]string{name}).find()
	return err == nil
}
