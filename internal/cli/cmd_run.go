package cli

import (
	"fmt"
	"runtime"
	"time"

	"github.com/alecthomas/kong"

	"moon/events/fact"
	"moon/internal/app"
	"moon/internal/diag"
	"moon/plan"
)

// runFlags are the flags of the commands that run.
type runFlags struct {
	Forks     int     `short:"f" placeholder:"N" help:"How many steps may run at once; default 8 or the number of CPUs, whichever is larger."`
	OnFailure string  `enum:",drain,continue,cancel,host" default:"" placeholder:"HOW" help:"What to do on failure: drain lets running steps finish (default), continue runs the steps that do not depend on it, host continues on the other hosts (default for plays), cancel interrupts."`
	Check     bool    `short:"C" aliases:"dry-run" help:"Dry run: show what would change; change nothing."`
	Diff      bool    `short:"D" help:"Show diffs of changed files."`
	Exact     exactly `env:"-" help:"With --plan: predict each step again just before it, and do not do it if its effect would not be the one that moon plan --check -o has kept. What could not be predicted runs as it is; --exact=all refuses it."`
	Force     bool    `help:"Run steps with sources or generates even if they are up to date."`

	WaitLock time.Duration  `placeholder:"TIME" help:"If another run of the playbook works on the same hosts, wait so long for it to end; without it the run is refused."`
	Timeout  *time.Duration `placeholder:"TIME" help:"How long the run may take, such as 30m; instead of the playbook's timeout. After that, running steps are interrupted, and only always steps start."`

	MaxResult byteSize `placeholder:"SIZE" help:"Largest output of a step that other steps may use, such as 64M; default 16M. A step that uses a larger one fails."`
}

func (f *runFlags) options() (fact.Options, error) {
	if f.Forks < 0 {
		return fact.Options{}, app.Usage("--forks must be above 0")
	}
	if f.Timeout != nil && *f.Timeout <= 0 {
		return fact.Options{}, app.Usage("--timeout must be above 0")
	}
	forks := f.Forks
	if forks == 0 {
		forks = usualForks()
	}
	opts := fact.Options{
		Forks: forks, OnFailure: fact.Policy(f.OnFailure), Check: f.Check, Diff: f.Diff, Force: f.Force, Exact: f.Exact.given,
		MaxResult: int64(f.MaxResult),
	}
	if f.Timeout != nil {
		opts.Timeout = *f.Timeout
	}
	return opts, nil
}

// usualForks is how many steps run at once where no flag says how many: what Ansible's settings say, or else a number that suits the
// machine. A mistake in the settings is reported where the rest of them is read.
func usualForks() int {
	if set, err := app.AnsibleConfig("."); err == nil {
		if n, err := set.Forks(); err == nil && n > 0 {
			return n
		}
	}
	return max(8, runtime.NumCPU())
}

type runCmd struct {
	savedFlags
	morePlaybooks
	runFlags      `group:"run"`
	becomeFlags   `group:"passwords"`
	headlessFlags `group:"output"`
	exportFlags   `group:"output"`
	listFlags     `group:"lists"`
	RefreshOnly   bool `group:"steps" help:"Run nothing: look at what earlier runs have made, and record what is there now, as moon state refresh does."`
	ExitCode      bool `group:"run" name:"exit-code" env:"-" help:"With --check: exit with 0 if nothing would change, 2 if something would or might, and 1 for every error."`

	started func(run string, p *plan.Plan) // may be nil
}

// headlessFlags are the flags of a run without the screen.
type headlessFlags struct {
	Output  []string `short:"o" sep:"none" default:"auto" placeholder:"FORMAT[:FILE]" help:"text (default); json: events, one per line; github: text with folding and annotations, for GitHub Actions, and the default there; html: one page with everything; markdown: a summary; junit: a report for CI servers; otlp: traces and metrics, to OTEL_EXPORTER_OTLP_ENDPOINT or otlp:ADDRESS; ansible: the format of ansible-playbook; yaml, minimal, oneline, debug: as its callbacks; timer, profile_tasks, profile_roles: how long it took, also behind another text. May be given several times; only one may write to standard output, the others need :FILE."`
	Approve []string `group:"run" sep:"none" placeholder:"STEP" help:"Approve steps that need confirmation: all, or as for --only. expanded: in the TUI, also what loops find in the run."`
	Verbose bool     `short:"v" help:"Show the command of every step; with --output ansible, every result."`
}

// Help says how a run ends.
func (runCmd) Help() string {
	return `Plans the playbook, and runs it if there are no errors. Steps that need confirmation have to be approved with --approve.
The exit status is 0 on success, 1 if a step failed, 2 if nothing ran because of an error, 3 if the run was stopped, 4 if a
saved plan is stale, 5 if moon could not write, and 130 after an interruption. Several playbooks run one after the other, each
after those it imports from.

  moon run site.yml
  moon run -i hosts.ini -l web site.yml -e version=1.4.2
  moon run app.yml db.yml
  moon run --plan site.plan -o github -o junit:report.xml`
}

func (c *runCmd) Run(call *app.Invocation) error {
	err := app.WhenFree(call, c.WaitLock, func() error { return c.run(call) })
	if c.ExitCode {
		return app.Detailed(err, false)
	}
	return err
}

func (c *runCmd) run(call *app.Invocation) error {
	if c.RefreshOnly {
		return refresh(call, c.playbookFlags, &c.becomeFlags)
	}
	if c.ExitCode && !c.Check {
		return app.Usage("--exit-code says whether something would change; give --check with it, or run without")
	}
	if c.asked() && c.Saved == "" { // for a list no one is asked, and what only facts could say keeps nothing from it
		c.NoConnect, c.unseen = true, new(diag.List)
	}
	opts, err := c.options()
	if err != nil {
		return err
	}
	if c.More = c.takeTargets(c.More); len(c.More) > 0 {
		return c.runSeveral(call, opts)
	}
	c.importer = &app.Importer{Call: call, Waits: !c.asked() && !opts.Check}
	c.mode, c.approved = opts, !opts.Check && !c.asked()
	p, g, err := c.build(call)
	if err != nil {
		return err
	}
	if c.asked() {
		return c.list(call.Out, p, c.Playbook)
	}
	opts.Saved = c.Saved != ""
	open, err := c.Exact.hold(call, p, c.expected, opts.Check)
	if err != nil {
		return err
	}
	if open != "" {
		fmt.Fprintf(call.Err, "moon: %s\n", open)
	}
	return app.Headless(call, p, g, app.HeadlessRequest{
		Options: opts, Outputs: c.Output, Verbose: c.Verbose, Approve: c.Approve, Passwords: c.becomePasswords(),
		Exports: c.exportFile(), ExitCode: c.ExitCode, Started: func(run string) {
			if c.started != nil {
				c.started(run, p)
			}
		},
	})
}

// exportFlags are where the values go that a playbook exports.
type exportFlags struct {
	Exports string `placeholder:"FILE" help:"On success, write the exports of the playbook to a file, as JSON. json, or -, writes them to standard output, and everything else to standard error; ./json is a file."`
}

// exportFile is where the flag says that the exports go.
func (f *exportFlags) exportFile() app.ExportFile {
	switch f.Exports {
	case "", string(app.ExportsToStdout):
		return app.ExportFile(f.Exports)
	case "json":
		return app.ExportsToStdout
	}
	return app.ExportFile(kong.ExpandPath(f.Exports))
}
