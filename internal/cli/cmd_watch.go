package cli

import (
	"io"

	"moon/internal/app"
	"moon/plan"
)

// watchableRun is a run that may be repeated when files change.
type watchableRun struct {
	runCmd
	Watch bool `group:"run" env:"-" help:"When it has ended, wait for files to change that it is made from, and run what that concerns, until Ctrl-C."`
}

func (c *watchableRun) Run(call *app.Invocation) error {
	if c.Watch {
		return c.watch(call)
	}
	return c.runCmd.Run(call)
}

// watch runs the playbook, and what is concerned when files change: steps that are defined otherwise now, as a run that is resumed does, or those
// whose sources have changed, with what depends on them.
func (c *watchableRun) watch(call *app.Invocation) error {
	if c.Saved != "" || len(c.More) > 0 {
		return app.Usage("--watch is for one playbook, and not for a saved plan, which stays as it is")
	}
	c.takeTargets(nil)
	var run string // that is continued
	var now *plan.Plan
	c.started = func(id string, p *plan.Plan) { run, now, c.answered = id, p, p.Answers() }
	quiet, targets := *call, c.targets
	quiet.Err = io.Discard // what is wrong is said when it runs
	return app.Watch(call, c.Playbook, func(changed []string) (*plan.Plan, error) {
		c.targets = targets
		before := now
		if before == nil {
			err := c.run(call)
			return now, err
		}
		p, _, err := c.build(&quiet)
		if err != nil { // nothing has run of it, and what has run before is not forgotten
			_, _, err = c.build(call)
			return nil, err
		}
		switch concerned := app.SourcesChanged(before, changed); {
		case c.Check && (p.Digest != before.Digest || len(concerned) > 0):
			return p, c.run(call)
		case p.Digest != before.Digest:
			now = p
			return p, (&resumeCmd{
				Which: run, planFlags: c.planFlags, becomeFlags: c.becomeFlags, headlessFlags: c.headlessFlags, exportFlags: c.exportFlags,
				NoTUI: true, Lost: "ask", Changed: "rerun", RetryFailed: true,
			}).Run(call)
		case len(concerned) > 0:
			c.targets = app.PathsConcerned(p, concerned)
			whole := run // which is continued when the playbook changes, and not this one of a few steps
			err := c.run(call)
			run, now = whole, p
			return p, err
		}
		return p, nil
	})
}
