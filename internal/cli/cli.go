package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"moon/exec/remote"
	"moon/internal/app"
	"moon/internal/build"
	"moon/internal/cli/completing"
	"moon/internal/cli/editing"
	"moon/internal/cli/formatting"
	"moon/internal/cli/installing"
	"moon/internal/cli/linting"
	"moon/internal/cli/manual"
	"moon/internal/cli/projects"
	"moon/internal/cli/reference"
	"moon/internal/cli/settings"
	"moon/internal/cli/starting"
	"moon/internal/cli/vaults"
	"moon/tui/terminal"
)

// Main runs moon with the arguments after the name of the program, and returns its exit code.
func Main(args []string) int {
	if asked, err := remote.Asked(args, os.Stdout); asked {
		if err != nil {
			fmt.Fprintln(os.Stderr, "moon:", err)
			return app.ExitUsage
		}
		return app.ExitDone
	}
	return Run(NewInvocation(os.Stdin, os.Stdout, os.Stderr), args)
}

// NewInvocation is a call of this moon with streams of its own.
func NewInvocation(in io.Reader, out, errs io.Writer) *app.Invocation {
	call := app.NewInvocation(in, out, errs, build.Version, build.Stamp(), terminal.UndoModes)
	call.Python = app.NewPythons(call.Asker)
	return call
}

type cli struct {
	TUI        tuiCmd             `cmd:"" group:"cmd-run" name:"tui" help:"Review, approve, step and run a playbook in the terminal UI."`
	Run        watchableRun       `cmd:"" group:"cmd-run" help:"Run a playbook non-interactively."`
	Do         doCmd              `cmd:"" group:"cmd-run" help:"Run one action on hosts, without a playbook."`
	Resume     resumeCmd          `cmd:"" group:"cmd-run" help:"Resume a run that was stopped, failed or crashed."`
	Destroy    destroyCmd         `cmd:"" group:"cmd-run" help:"Remove what the runs of a playbook have created."`
	Attach     attachCmd          `cmd:"" group:"cmd-run" help:"Follow a run in another terminal, or send it commands."`
	Plan       planCmd            `cmd:"" group:"cmd-plans" help:"Print what a playbook will do, with the origin of every step."`
	Validate   validateCmd        `cmd:"" group:"cmd-plans" help:"Check a playbook for errors; run nothing."`
	Doctor     doctorCmd          `cmd:"" group:"cmd-plans" help:"Report what moon does not support in a playbook, its roles and files; run nothing."`
	Lint       linting.Lint       `cmd:"" group:"cmd-plans" help:"Find what works in playbooks and is likely to hurt later."`
	Fmt        formatting.Format  `cmd:"" group:"cmd-plans" help:"Lay out playbooks and other YAML files in one way; comments stay."`
	Graph      graphCmd           `cmd:"" group:"cmd-plans" help:"Print the execution graph of a playbook."`
	Inventory  inventoryCmd       `cmd:"" group:"cmd-plans" help:"Print the hosts and groups of an inventory, or the variables of a host."`
	Runs       runsCmd            `cmd:"" group:"cmd-runs" help:"List past runs."`
	Show       showCmd            `cmd:"" group:"cmd-runs" help:"Show what a run did: failures and their causes, slow steps, output."`
	State      stateCmd           `cmd:"" group:"cmd-runs" help:"List what the runs of a playbook created on this machine."`
	Prune      pruneCmd           `cmd:"" group:"cmd-runs" help:"Delete old runs and their data."`
	Facts      reference.Facts    `cmd:"" group:"cmd-reference" help:"Print the facts of this machine."`
	Actions    reference.Actions  `cmd:"" group:"cmd-reference" help:"List the actions, or describe one."`
	LSP        editing.Server     `cmd:"" group:"cmd-reference" name:"lsp" help:"Serve an editor: errors, completion and values from the plan while you type."`
	Schema     reference.Schema   `cmd:"" group:"cmd-reference" help:"Print the JSON Schema of playbooks, for editors, or of events, plans and results."`
	Themes     themesCmd          `cmd:"" group:"cmd-reference" help:"List the colour themes."`
	Keys       keysCmd            `cmd:"" group:"cmd-reference" help:"List the keys of the TUI, or check a file of keys."`
	Config     configCmd          `cmd:"" group:"cmd-reference" help:"List the settings: what each is, and where it is from."`
	Plugin     pluginCmd          `cmd:"" group:"cmd-programs" help:"Manage plugins: list, describe, test and trust them."`
	Install    installing.Install `cmd:"" group:"cmd-programs" help:"Install the collections and roles that requirements.yml names."`
	Vault      vaults.Vault       `cmd:"" group:"cmd-programs" help:"Encrypt, decrypt and edit Ansible Vault files and values."`
	Trust      trustCmd           `cmd:"" group:"cmd-programs" help:"Trust the files of a playbook, so that programs they name may run before approval."`
	Init       projects.Init      `cmd:"" group:"cmd-other" help:"Write a first playbook, also one made of a Makefile or a shell script."`
	New        projects.New       `cmd:"" group:"cmd-other" help:"Make the files of a new role."`
	Completion manual.Completion  `cmd:"" group:"cmd-other" help:"Print a completion script for bash, zsh or fish."`
	Man        manual.Pages       `cmd:"" group:"cmd-other" help:"Print the manual page of moon or of a command."`
	Version    reference.Version  `cmd:"" group:"cmd-other" help:"Print the version, what moon was built from, and the agents that it finds."`

	ProgramTimeout time.Duration `default:"30s" placeholder:"TIME" help:"Time limit for programs that moon runs while planning: inventories, passwords, plugins (30s)."`

	Agent    agentCmd            `cmd:"" group:"cmd-other" hidden:"" help:"Run steps as another user (internal)."`
	Complete completing.Complete `cmd:"" group:"cmd-other" hidden:"" help:"Print what may follow in a call (for shells)."`
}

// options are those of the command line, and more.
func options(more ...kong.Option) []kong.Option {
	return append([]kong.Option{
		kong.Name("moon"),
		kong.Description("A terminal planner and runner for YAML playbooks: see everything a playbook will do, then run it step by step."),
		kong.UsageOnError(),
		kong.DefaultEnvars("MOON"),
		flagGroups,
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, NoExpandSubcommands: true}),
	}, more...)
}

// Run runs moon with arguments, and returns its exit code. The tests call it, too.
func Run(call *app.Invocation, args []string) (code int) {
	defer call.Guard()()
	// Before anything changes the terminal, so that it can be brought back from every way out.
	defer call.EndUnasked()()
	call.Terminal.Remember()
	defer call.Hosts.Close()
	defer call.Python.Close()
	defer call.Values.Close()
	defer func() {
		if r := recover(); r != nil {
			n, ok := r.(exitNow)
			if !ok { // as a panic it would print whatever it was about
				fmt.Fprintf(call.Err, "moon: internal error: %v; please report this\n\n%s", r, debug.Stack())
				n = app.ExitDisk
			}
			code = int(n)
		}
	}()
	if len(args) == 0 {
		chosen, err := chooseArgs(call)
		if err != nil || chosen == nil {
			return app.Report(call.Err, err)
		}
		args = chosen
	}
	if len(args) == 1 && args[0] == "--list" {
		return app.Report(call.Err, starting.List(call))
	}
	if args[0] == "--version" { // as every program has it; as a flag it would be one of every command
		args = append([]string{"version"}, args[1:]...)
	}
	grammar := grammarFor(args)
	ctx, err := newParser(call, grammar.Interface()).Parse(args)
	if wrong, ok := errors.AsType[*app.Exit](err); ok { // a file of settings is, and has said so
		return app.Report(call.Err, wrong)
	}
	if err != nil {
		// The empty word that stands for no choice is not one to offer.
		fmt.Fprintf(call.Err, "moon: %s\n", strings.Replace(err.Error(), `must be one of "",`, "must be one of ", 1))
		fmt.Fprintln(call.Err, callHint(newParser(call, &cli{}), args, err))
		if slices.Contains(args, "--exit-code") { // 2 would be taken for a change
			return app.ExitFailed
		}
		return app.ExitUsage
	}
	timeout := time.Duration(grammar.Elem().FieldByName("ProgramTimeout").Int())
	if timeout <= 0 {
		fmt.Fprintln(call.Err, "moon: --program-timeout must be above 0")
		return app.ExitUsage
	}
	call.Asker.Timeout = timeout
	_ = call.Warned.Print(call.Err) // a command that cannot warn fails by its own output
	return app.Report(call.Err, ctx.Run(ctx))
}

// newParser is a parser of calls. The grammar is a pointer to a cli, or to a part of one.
func newParser(call *app.Invocation, grammar any) *kong.Kong {
	set := settings.NewResolver(call)
	parser, err := kong.New(grammar, options(
		kong.Writers(call.Out, call.Err),
		// kong ends the process after --help; the deferred calls of Run must still run.
		kong.Exit(func(code int) { panic(exitNow(code)) }),
		kong.Bind(call, set),
		kong.Resolvers(set),
	)...)
	if err != nil {
		panic(err) // a mistake in the declarations above, found by any test
	}
	settings.IgnoreEmpty(parser.Model.Node)
	return parser
}

// grammarFor makes the grammar that a call needs: a pointer to a struct with those fields of cli that are not commands, and the command
// that the call begins with. To build the flags of all of them takes kong longer than anything else that moon does at its start.
// The list of commands needs none of their flags. Whatever else a call begins with needs them all, and so do completions and manuals.
func grammarFor(args []string) reflect.Value {
	whole := reflect.TypeFor[cli]()
	list := slices.Equal(args, []string{"--help"}) || slices.Equal(args, []string{"-h"})
	fields, called := []reflect.StructField(nil), list
	for f := range whole.Fields() {
		if _, command := f.Tag.Lookup("cmd"); command {
			switch {
			case list:
				f.Type = reflect.TypeFor[struct{}]()
			case strings.ToLower(f.Name) != args[0],
				f.Type == reflect.TypeFor[manual.Completion](), f.Type == reflect.TypeFor[manual.Pages](), f.Type == reflect.TypeFor[completing.Complete]():
				continue
			}
			called = true
		}
		fields = append(fields, f)
	}
	if !called {
		return reflect.New(whole)
	}
	return reflect.New(reflect.StructOf(fields))
}

// exitNow carries the exit that kong asks for after --help out of the parser.
type exitNow int
