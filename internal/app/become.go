package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"moon/engine"
	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/plugin"
	"moon/exec/remote"
	"moon/internal/termtext"
	"moon/plan"
)

// BecomePasswords are how steps of other users get the password they take.
type BecomePasswords struct {
	Ask  bool   // ask before anything runs
	File string // whose first line it is; "" for none
}

// Runners gives a session what carries steps out, with connections to the users that the plan names. What takes a password asks
// for it here, before anything runs.
func (f BecomePasswords) Runners(call *Invocation, c *engine.Config, p *plan.Plan) (*remote.Pool, error) {
	pool, err := f.Pool(call, p)
	if err != nil {
		return nil, err
	}
	if _, ours := c.Runner.(exec.Local); ours { // and not one of a test
		// Tests bring a runner of their own, which is not replaced.
		c.Runner = pool
	}
	c.Dry = pool.Dry(overlayFor(c.Options.Check))
	return pool, nil
}

// Pool is open to the users that the plan names.
func (f BecomePasswords) Pool(call *Invocation, p *plan.Plan) (*remote.Pool, error) {
	pool := call.Hosts.Take()
	// Passwords may appear in the output of programs that print their input.
	pool.NotePassword = func(password string) { p.Secrets().Add("", password) }
	if pool.Plugins != nil { // of planning
		pool.Plugins.Close()
	}
	pool.Local, pool.Plugins = plugged(call, pool.Local, p)
	pool.Asks = call.askInTurn
	if err := f.unlock(call, pool, Becoming(p), becomingElsewhere(p)); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// overlayFor is what a dry run remembers. Single steps of a run that are not really run (check_mode) predict nothing: what they
// leave out does not happen.
func overlayFor(check bool) *fsys.Overlay {
	if !check {
		return nil
	}
	return fsys.NewOverlay()
}

// becomer is a way of becoming another user, and the steps that need it.
type becomer struct {
	exec.Become
	Steps []string
}

// Becoming are the users that steps of a plan run as, in the order of their first. Of a user who is known only in the run
// nothing can be said, and of one whose password the playbook or the inventory has there is nothing to ask.
func Becoming(p *plan.Plan) []becomer {
	var list []becomer
	at := map[exec.Become]int{}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Become == nil || s.Excluded || s.Prediction == plan.WillSkip || exec.Inward(s.Action) || s.WaitsFor("become_user") ||
			s.Conn != nil || s.BringsPassword() {
			continue
		}
		b := exec.Become{User: s.Become.User, Method: s.Become.Method, Flags: s.Become.Flags}
		if _, known := at[b]; !known {
			at[b] = len(list)
			list = append(list, becomer{Become: b})
		}
		to := &list[at[b]]
		to.Steps = append(to.Steps, fmt.Sprintf("  %s  %s  (%s)", s.ID(), termtext.CleanName(s.Title()), s.Origin))
	}
	return list
}

// becomingElsewhere reports whether steps become users on other machines.
func becomingElsewhere(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Conn != nil && s.Become != nil && !s.Excluded })
}

// unlock starts the connections that can be started, and finds the passwords that they take.
func (f BecomePasswords) unlock(call *Invocation, pool *remote.Pool, list []becomer, elsewhere bool) error {
	if len(list) == 0 && !elsewhere {
		return nil
	}
	if f.File != "" {
		password, err := readPassword(call, f.File)
		if err != nil {
			return err
		}
		pool.GiveAll(password)
	}
	if elsewhere && f.Ask && f.File == "" {
		password, err := call.typedPassword("BECOME password: ")
		if err != nil {
			return err
		}
		pool.GiveAll(password)
	}
	for _, b := range list {
		// Asked now, so that no question interrupts the run.
		if f.Ask && remote.Method(b.Become) != "" && f.File == "" && !pool.Knows(b.Become) {
			if err := call.askPassword(pool, b, nil); err != nil {
				return err
			}
			continue
		}
		err := pool.Ready(context.Background(), b.Become)
		// Anything else the step says, when it is reached: an earlier one may make the user, or the rule that lets him in.
		if locked, ok := errors.AsType[*remote.PasswordError](err); ok {
			if err := f.locked(call, pool, b, locked); err != nil {
				return err
			}
		}
	}
	return nil
}

// locked is about a user whom it takes a password to become.
func (f BecomePasswords) locked(call *Invocation, pool *remote.Pool, b becomer, why *remote.PasswordError) error {
	if f.File != "" {
		return Usage("--become-password-file: %s; nothing was run", why)
	}
	return call.askPassword(pool, b, why)
}

// tries is how often a person may mistype.
const tries = 3

// askPassword asks on the terminal, whatever standard input is, and tries what it is given.
func (call *Invocation) askPassword(pool *remote.Pool, b becomer, why error) error {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		if why == nil {
			return Usage("--ask-become-pass: there is no terminal to ask on; use --become-password-file; nothing was run")
		}
		return Usage("%s takes a password to become %s, and there is no terminal to ask for it on. These steps need it:\n%s\ngive it with --become-password-file FILE, or run moon in a terminal; nothing was run",
			remote.Method(b.Become), b.User, strings.Join(firstOf(b.Steps), "\n"))
	}
	defer func() { _ = tty.Close() }() // what was written was seen
	shown, err := call.hush(tty)
	if err != nil {
		return Usage("%s", err)
	}
	defer shown()
	// A few attempts, as sudo allows.
	for range tries {
		password, err := call.askHidden(tty, fmt.Sprintf("password of %s for %s: ", remote.Account(b.Become), remote.Method(b.Become)))
		if err != nil {
			return err
		}
		pool.Give(b.Become, password)
		err = pool.Ready(context.Background(), b.Become)
		locked, ok := errors.AsType[*remote.PasswordError](err)
		if !ok {
			return nil // what else is wrong the step says
		}
		why = locked
		fmt.Fprintln(tty, "that is not the password")
	}
	return Usage("%s; nothing was run", why)
}

// askInTurn asks for a password while a run goes on, whoever has the terminal: a screen makes room for the question.
func (call *Invocation) askInTurn(ctx context.Context, why *remote.PasswordError) (password string, given bool) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", false
	}
	defer func() { _ = tty.Close() }() // what was written was seen
	if group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return "", false // in the background asking would stop moon
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer call.Signals.Take(func(os.Signal) bool { cancel(); return true })() // it ends the question, and is for the run
	call.Terminal.lend(func() {
		if why.Wrong {
			fmt.Fprintln(tty, "that is not the password")
		}
		fmt.Fprintln(tty, "moon: a step waits for it; without one (enter) it fails")
		password, err = remote.Ask(tty, why.Question(), ctx.Done())
	})
	return password, err == nil && password != ""
}

// firstOf is a list that a person reads, and how much more there is.
func firstOf(lines []string) []string {
	const most = 5
	if len(lines) <= most+1 {
		return lines
	}
	return append(lines[:most:most], fmt.Sprintf("  and %d more", len(lines)-most))
}

// hush keeps a terminal from showing what is typed while one password after another is asked for: a user who sees that the first was wrong
// types the next while moon still waits for sudo. A signal ends it, since moon may then leave from anywhere.
func (call *Invocation) hush(tty *os.File) (shown func(), err error) {
	show, err := remote.Hush(tty)
	if err != nil {
		return nil, err
	}
	show = sync.OnceFunc(show)
	giveBack := call.Signals.Take(func(os.Signal) bool { show(); return true })
	return func() { giveBack(); show() }, nil
}

// askHidden asks for a password. An interrupt leaves the terminal as it was.
func (call *Invocation) askHidden(tty *os.File, question string) (string, error) {
	ctx, stop := call.Signals.Until(context.Background())
	defer stop()
	password, err := remote.Ask(tty, question, ctx.Done())
	switch {
	case errors.Is(err, remote.ErrStopped), errors.Is(err, io.EOF):
		return "", NewExit(ExitInterrupted, "")
	case err != nil:
		return "", Usage("%s", err)
	}
	return password, nil
}

// typedPassword asks for the password that lets steps of other machines run as another user.
func (call *Invocation) typedPassword(question string) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", Usage("--ask-become-pass: there is no terminal to ask on; give --become-password-file")
	}
	defer func() { _ = tty.Close() }() // what was written was seen
	return call.askHidden(tty, question)
}

// readPassword reads the first line of a file that should be nobody else's to read.
func readPassword(call *Invocation, path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", Usage("--become-password-file: %s", Unreadable(path, err))
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		fmt.Fprintf(call.Err, "moon: %s can be read by others; chmod 600 it\n", path)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	password := strings.TrimSuffix(string(line), "\r")
	if password == "" {
		return "", Usage("--become-password-file: the first line of %s is empty", path)
	}
	return password, nil
}

// plugged gives the connections of a run what carries out the steps of plugins. It is closed with them.
func plugged(call *Invocation, local exec.Local, p *plan.Plan) (exec.Local, *plugin.Host) {
	host := &plugin.Host{Moon: call.version, Cwd: p.Root, Asker: call.Asker, Python: ActWithPython(call.Python)}
	local.Plugin = host.Run
	return local, host
}
