package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"moon/exec"
	"moon/exec/plugin"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/bind"
)

// Truster decides whether what a playbook brings or names may be executed before anybody has approved it: an inventory program that
// its ansible.cfg names, a ProxyCommand in its variables, a program that predictions would start. Files are trusted as they are: an
// edited one is another.
type Truster struct {
	store   plugin.Trust
	always  bool          // --trust, or what is executed is approved: moon run does nothing else
	in      *bufio.Reader // of the terminal of a person who can be asked; nil: there is nobody
	out     io.Writer
	refused bool // once is enough
}

// Truster is what decides for a command. always says that calling it approves what runs.
func (call *Invocation) Truster(always bool) (*Truster, error) {
	store, err := Trusted()
	if err != nil {
		return nil, err
	}
	t := &Truster{store: store, always: always, out: call.Err}
	if in, isFile := call.In.(*os.File); isFile && IsTerminal(in) && IsTerminal(call.Err) {
		t.in = bufio.NewReader(in)
	}
	return t, nil
}

// Trusts implements plan.Trusts.
func (t *Truster) Trusts(what string, files []plan.Input) bool {
	if t.always {
		return true
	}
	news := slices.DeleteFunc(slices.Clone(files), func(f plan.Input) bool { return t.store.Has(f.Path, f.Digest) })
	if len(news) == 0 {
		return len(files) > 0 // of a playbook from standard input there is no file
	}
	if what == "" || !t.ask("The playbook names "+what+", which would run before you have approved anything.", news) {
		return false
	}
	for _, f := range news {
		if err := t.store.Add(f.Path, f.Digest); err != nil {
			fmt.Fprintln(t.out, "moon: the answer cannot be kept:", err)
		}
	}
	t.always = true
	return true
}

// ask asks once whether files are trusted.
func (t *Truster) ask(what string, files []plan.Input) bool {
	if t.in == nil || t.refused {
		return false
	}
	fmt.Fprintln(t.out, termtext.CleanName(what))
	fmt.Fprintf(t.out, "Do you trust %s, as it is now?\n", plan.CountOf(len(files), "file"))
	const most = 10
	for i, f := range files {
		if i == most && len(files) > most+1 {
			fmt.Fprintf(t.out, "  and %d more\n", len(files)-most)
			break
		}
		fmt.Fprintf(t.out, "  %s\n", termtext.CleanName(f.Path))
	}
	fmt.Fprint(t.out, "[y/N] ")
	line, _ := t.in.ReadString('\n') // the end is a no
	answer := strings.ToLower(strings.TrimSpace(line))
	t.refused = answer != "y" && answer != "yes"
	return !t.refused
}

// program reports whether a program that came with the playbook may run, and which bytes of it; "" is as it is. does says what it is there
// for.
func (t *Truster) program(path, does, named string) (digest string, err error) {
	if t.always {
		return "", nil
	}
	digest, err = exec.FileDigest(path)
	if err != nil {
		return "", err
	}
	if t.store.Has(path, digest) {
		return digest, nil
	}
	file := plan.Input{Path: path, Digest: digest}
	if t.ask("The playbook's settings name a program that prints "+does+" ("+named+").", []plan.Input{file}) {
		return digest, t.store.Add(path, digest)
	}
	return "", errors.New("it is not trusted; look at it, then run moon trust on the playbook")
}

// AskSupplied asks, before predictions begin, about what they would execute.
func AskSupplied(p *plan.Plan) {
	if p.Trusted() {
		return
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		what := ""
		switch {
		case s.Excluded || s.Prediction == plan.WillSkip:
		case s.Conn != nil && s.Conn.Steers != "":
			what = s.Conn.Steers
		case exec.MaySupply(s.Action):
			if call, err := bind.New(p, i, nil).Ahead().Call(); err == nil {
				what = exec.Supplies(&exec.Job{Action: call.Action, Args: call.Args})
			}
		}
		if what != "" {
			// One question for all: it is about the playbook's files.
			p.Trusts(what + " (" + s.Origin.String() + ")")
			return
		}
	}
}

// Trusted is where it is remembered which plugins may run.
func Trusted() (plugin.Trust, error) {
	state, err := StateDir()
	if err != nil {
		return plugin.Trust{}, err
	}
	return plugin.Trust{File: state.TrustedFiles()}, nil
}
