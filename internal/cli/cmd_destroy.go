package cli

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strings"

	"moon/engine/history"
	"moon/internal/app"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/show"
)

type destroyCmd struct {
	Playbook string   `arg:"" optional:"" help:"The playbook; default moon.yml or playbook.yml."`
	Only     []string `group:"steps" sep:"none" placeholder:"STEP" help:"Only what this step has made, and what was built on it: a path, a title, the name of a thing or file:line; * matches any text."`
	Edited   bool     `group:"steps" help:"Also remove what was edited since."`
	Approve  string   `group:"run" enum:",all" default:"" placeholder:"all" help:"all: remove without asking."`
	TUI      bool     `group:"screen" name:"tui" help:"Review and approve in the TUI."`

	ExtraVars []string `group:"variables" short:"e" sep:"none" placeholder:"K=V" help:"Variables: name=value, a JSON object, or @file. Highest precedence."`
	VarsFile  []string `group:"variables" aliases:"vars" sep:"none" placeholder:"FILE" help:"File of variables; may be given several times."`

	hostFlags   `group:"hosts"`
	vaultFlags  `group:"passwords"`
	pluginFlags `group:"plugins"`
	runFlags    `group:"run"`
	becomeFlags `group:"passwords"`
	Output      []string `group:"output" short:"o" sep:"none" default:"auto" placeholder:"FORMAT[:FILE]" help:"As for moon run."`
	Verbose     bool     `group:"output" short:"v" help:"Show the command of every step."`
	uiFlags     `group:"screen"`
	screenFlags `group:"screen"`
}

// Help says what is removed.
func (destroyCmd) Help() string {
	return `Removes what the runs of a playbook have created, in reverse of the order in which it was made: by the undo of each step, or by what the
step recorded. What was only changed stays. Lists everything first, with what cannot be undone, and asks; --approve all does not. A failure
keeps what the failed step depends on. What is left can be removed by calling it again, or with moon resume.

  moon destroy site.yml
  moon destroy site.yml --only 'install nginx'
  moon destroy -i hosts.ini site.yml --check
  moon destroy --approve all site.yml`
}

// Run lists what is removed, asks, and removes it.
func (c *destroyCmd) Run(call *app.Invocation) error {
	if c.TUI {
		return c.onScreen(call)
	}
	return app.WhenFree(call, c.WaitLock, func() error { return c.once(call) })
}

// playbook are the flags that the plan is made with.
func (c *destroyCmd) playbook(opts bool) playbookFlags {
	f := playbookFlags{Playbook: c.Playbook, planFlags: planFlags{
		ExtraVars: c.ExtraVars, VarsFile: c.VarsFile, Edited: c.Edited, MaxSteps: plan.DefaultMaxSteps, MaxExpansion: 10_000,
		hostFlags: c.hostFlags, vaultFlags: c.vaultFlags, pluginFlags: c.pluginFlags, destroy: true, built: c.Only, approved: opts,
	}}
	return f
}

func (c *destroyCmd) once(call *app.Invocation) error {
	opts, err := c.options()
	if err != nil {
		return err
	}
	f := c.playbook(!opts.Check)
	f.mode = opts
	p, g, err := f.build(call)
	if err != nil {
		return err
	}
	if len(p.Orphans) == 0 && !opts.Check {
		// A run in progress may be about to make the first thing.
		live, err := app.LiveRunOf(filepath.Join(p.Root, p.RootFile))
		if err != nil {
			return err
		}
		if live != nil {
			return &history.BusyError{Concurrent: *live}
		}
	}
	if err := c.tell(call, p); err != nil || len(p.Steps) == 0 && len(p.Orphans) == 0 {
		return err
	}
	if !opts.Check && c.Approve == "" {
		if err := c.ask(call, p); err != nil {
			return err
		}
	}
	return app.Headless(call, p, g, app.HeadlessRequest{
		Options: opts, Outputs: c.Output, Verbose: c.Verbose, Approve: []string{"all"}, Passwords: c.becomePasswords(),
	})
}

// tell lists what is removed and what is not.
func (c *destroyCmd) tell(call *app.Invocation, p *plan.Plan) error {
	if len(p.Orphans) == 0 {
		_, err := fmt.Fprintf(call.Err, "nothing is recorded of %s\n", termtext.CleanName(p.RootFile))
		return err
	}
	for _, o := range p.Orphans {
		if o.Fate == plan.OrphanStuck {
			fmt.Fprintf(call.Err, "cannot be undone: %s: %s (%s)\n", termtext.CleanName(o.What()), termtext.CleanName(o.Why),
				termtext.CleanName(o.MadeBy()))
		}
	}
	return nil
}

// ask shows the steps and wants a yes.
func (c *destroyCmd) ask(call *app.Invocation, p *plan.Plan) error {
	if why := noTerminal(); why != "" {
		return app.Usage("%s, so you cannot be asked; nothing was removed. --approve all removes without asking", why)
	}
	if err := show.WriteTree(call.Out, p, call.Width()); err != nil {
		return err
	}
	fmt.Fprintf(call.Out, "\nRemove all of this? Only yes does: ")
	answer, _ := bufio.NewReader(call.In).ReadString('\n') // the end is a no
	if strings.TrimSpace(answer) != "yes" {
		return app.NewExit(app.ExitStopped, "nothing was removed")
	}
	return nil
}

// onScreen reviews and removes in the TUI.
func (c *destroyCmd) onScreen(call *app.Invocation) error {
	return (&tuiCmd{
		savedFlags: savedFlags{playbookFlags: c.playbook(false)}, runFlags: c.runFlags, becomeFlags: c.becomeFlags,
		headlessFlags: headlessFlags{Output: c.Output, Verbose: c.Verbose}, screenFlags: c.screenFlags, uiFlags: c.uiFlags,
	}).Run(call)
}
