// Package cli is moon's command line: flags in, a typed request out, an exit code back. A command decides nothing that
// another front end would have to decide as well.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"moon/exec"
	"moon/exec/agent"
	"moon/internal/termtext"
	"moon/secret"
)

// Main runs moon with the arguments after the name of the program, and returns its exit code.
func Main(args []string) int {
	if asked, err := agent.Asked(args, os.Stdout); asked {
		if err != nil {
			fmt.Fprintln(os.Stderr, "moon:", err)
			return exitUsage
		}
		return exitDone
	}
	return run(args, stdio{in: os.Stdin, out: os.Stdout, err: os.Stderr})
}

// Version is set when a release is built.
var Version = "dev"

// build says which moon this is: two of the same version that were built from different sources differ.
func build() string {
	words := []string{Version}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if strings.HasPrefix(s.Key, "vcs.") {
				words = append(words, s.Value)
			}
		}
	}
	return strings.Join(words, " ")
}

// stdio is what a command reads and writes.
type stdio struct {
	in  io.Reader
	out io.Writer
	err io.Writer

	doc     io.Writer // where out goes, for documents whose values hold no secrets
	secrets *secret.Set
	hosts   *reached
	asker   *exec.Asker
}

// guarded lets no secret through to people.
func (s stdio) guarded() (guarded stdio, flush func()) {
	s.secrets, s.doc = secret.NewSet(), s.out
	s.hosts = &reached{secrets: s.secrets}
	out, errs := newGate(s.secrets, s.out), newGate(s.secrets, s.err)
	s.out, s.err = out, errs
	s.asker = &exec.Asker{Waiting: s.waiting}
	return s, func() { out.flush(); errs.flush() }
}

// waiting says that moon waits for a program. The TUI has its own words for that it plans.
func (s stdio) waiting(what string, most time.Duration) {
	if !userTerminal.shown() {
		fmt.Fprintf(s.err, "moon: waiting for %s, %s at most (--program-timeout)\n", termtext.CleanName(what), most)
	}
}

// width is that of the terminal that out is, in cells; 0 if it is none, and lines are as long as they are.
func (s stdio) width() int {
	f := fileOf(s.out)
	if f == nil || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// The exit codes of moon.
const (
	exitDone        = 0
	exitFailed      = 1   // a step failed
	exitUsage       = 2   // the playbook, the plan file or the call is wrong; nothing ran
	exitStopped     = 3   // stopped by the user before the end
	exitStale       = 4   // the saved plan is stale
	exitDisk        = 5   // journal, lock or disk
	exitInterrupted = 130 // SIGINT
)

// exit is an error that says how moon ends. Where message is empty, everything has been said.
type exit struct {
	code    int
	message string
}

func (e *exit) Error() string { return e.message }

func usage(format string, args ...any) error { return &exit{exitUsage, fmt.Sprintf(format, args...)} }

type cli struct {
	TUI        tuiCmd        `cmd:"" name:"tui" help:"Review, approve, step and run a playbook in the terminal UI."`
	Run        runCmd        `cmd:"" help:"Run a playbook non-interactively."`
	Plan       planCmd       `cmd:"" help:"Print what a playbook will do, with the origin of every step."`
	Validate   validateCmd   `cmd:"" help:"Check a playbook for errors; run nothing."`
	Inventory  inventoryCmd  `cmd:"" help:"Print the hosts and groups of an inventory, or the variables of a host."`
	Doctor     doctorCmd     `cmd:"" help:"Report what moon does not support in a playbook, its roles and files; run nothing."`
	Graph      graphCmd      `cmd:"" help:"Print the execution graph of a playbook."`
	Resume     resumeCmd     `cmd:"" help:"Resume a run that was stopped, failed or crashed."`
	Runs       runsCmd       `cmd:"" help:"List past runs."`
	Show       showCmd       `cmd:"" help:"Show what a run did: failures and their causes, slow steps, output."`
	Attach     attachCmd     `cmd:"" help:"Follow a run in another terminal, or send it commands."`
	State      stateCmd      `cmd:"" help:"List what the runs of a playbook created on this machine."`
	Prune      pruneCmd      `cmd:"" help:"Delete old runs and their data."`
	Facts      factsCmd      `cmd:"" help:"Print the facts of this machine."`
	Actions    actionsCmd    `cmd:"" help:"List the actions, or describe one."`
	Schema     schemaCmd     `cmd:"" help:"Print the JSON Schema of playbooks, for editors."`
	Plugin     pluginCmd     `cmd:"" help:"Manage plugins: list, describe, test and trust them."`
	Trust      trustCmd      `cmd:"" help:"Trust the files of a playbook, so that programs they name may run before approval."`
	Themes     themesCmd     `cmd:"" help:"List the colour themes."`
	Keys       keysCmd       `cmd:"" help:"List the keys of the TUI, or check a file of keys."`
	Completion completionCmd `cmd:"" help:"Print a completion script for bash, zsh or fish."`
	Version    versionCmd    `cmd:"" help:"Print the version."`

	ProgramTimeout time.Duration `default:"30s" placeholder:"TIME" help:"Time limit for programs that moon runs while planning: inventories, passwords, plugins (30s)."`

	Agent agentCmd `cmd:"" hidden:"" help:"Run steps as another user (internal)."`
}

// run is moon as a function: the tests call it too.
func run(args []string, io stdio) (code int) {
	var c cli
	io, flush := io.guarded()
	defer flush()
	defer io.endUnasked()()
	userTerminal.remember()
	defer io.hosts.close()
	parser, err := kong.New(&c,
		kong.Name("moon"),
		kong.Description("A terminal planner and runner for YAML playbooks: see everything a playbook will do, then run it step by step."),
		kong.UsageOnError(),
		kong.DefaultEnvars("MOON"),
		kong.Writers(io.out, io.err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, NoExpandSubcommands: true}),
		kong.Exit(func(code int) { panic(exitNow(code)) }),
		kong.Bind(io),
	)
	if err != nil {
		panic(err) // a mistake in the declarations above, found by any test
	}
	defer func() {
		if r := recover(); r != nil {
			n, ok := r.(exitNow)
			if !ok { // as a panic it would print whatever it was about
				fmt.Fprintf(io.err, "moon: internal error: %v; please report this\n\n%s", r, debug.Stack())
				n = exitDisk
			}
			code = int(n)
		}
	}()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	ctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(io.err, "moon: %s\n", err)
		fmt.Fprintln(io.err, callHint(parser, args, err))
		return exitUsage
	}
	if c.ProgramTimeout <= 0 {
		fmt.Fprintln(io.err, "moon: --program-timeout must be above 0")
		return exitUsage
	}
	io.asker.Timeout = c.ProgramTimeout
	return report(io.err, ctx.Run(ctx))
}

// exitNow carries the exit that kong asks for after --help out of the parser.
type exitNow int

func report(w io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	var e *exit
	if !errors.As(err, &e) {
		e = &exit{exitDisk, err.Error()}
	}
	if e.message != "" {
		lines := strings.Split(e.message, "\n")
		for i := range lines {
			lines[i] = termtext.CleanName(lines[i]) // it may hold names, and what others have said
		}
		fmt.Fprintf(w, "moon: %s\n", strings.Join(lines, "\n"))
	}
	if likeAnsible() {
		return ansibleExit(e.code, err)
	}
	return e.code
}

type versionCmd struct{}

func (versionCmd) Run(io stdio) error {
	_, err := fmt.Fprintf(io.out, "moon %s\n", Version)
	return err
}
