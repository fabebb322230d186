package cli

import (
	"bytes"

	"moon/internal/app"
	"moon/internal/cli/adhoc"
	"moon/plan"
)

// doCmd runs one action on hosts.
type doCmd struct {
	adhoc.Task
	ExtraVars     []string `group:"variables" short:"e" sep:"none" placeholder:"K=V" help:"Variables: name=value, a JSON object, or @file. Highest precedence."`
	hostFlags     `group:"hosts"`
	vaultFlags    `group:"passwords"`
	pluginFlags   `group:"plugins"`
	runFlags      `group:"run"`
	becomeFlags   `group:"passwords"`
	headlessFlags `group:"output"`
}

// Run plans the action, asks, and runs it.
func (c *doCmd) Run(call *app.Invocation) error {
	text, err := c.Playbook()
	if err != nil {
		return err
	}
	return app.WhenFree(call, c.WaitLock, func() error {
		opts, err := c.options()
		if err != nil {
			return err
		}
		f := playbookFlags{Playbook: "-", planFlags: planFlags{
			ExtraVars: c.ExtraVars, MaxSteps: plan.DefaultMaxSteps, MaxExpansion: 10_000,
			hostFlags: c.hostFlags, vaultFlags: c.vaultFlags, pluginFlags: c.pluginFlags, mode: opts, approved: !opts.Check,
		}}
		own := *call
		own.In = bytes.NewReader(text)
		p, g, err := f.build(&own)
		if err == nil && !opts.Check && !c.Approved(c.Approve) {
			err = c.Ask(call, p, noTerminal())
		}
		if err != nil {
			return err
		}
		return app.Headless(call, p, g, app.HeadlessRequest{
			Options: opts, Outputs: c.Output, Verbose: c.Verbose, Approve: c.Approve, Passwords: c.becomePasswords(),
		})
	})
}
