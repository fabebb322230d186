package recorded

import (
	"fmt"
	"slices"

	"moon/internal/app"
	"moon/plan"
	"moon/plan/prior"
)

// Remove drops things from what is recorded.
type Remove struct {
	Playbook string   `arg:"" help:"The playbook."`
	Thing    []string `arg:"" help:"What to drop: its name, the path or the title of its step, or file:line; * matches any text."`
}

// Help says what happens to the thing.
func (Remove) Help() string {
	return `Drops things from what is recorded of a playbook. The things themselves stay as they are, and no run of the playbook removes them any
more. The state before is kept: moon state restore lists the last ones.

  moon state rm site.yml /srv/data
  moon state rm site.yml 'install nginx'`
}

// Run drops them.
func (c *Remove) Run(call *app.Invocation) error {
	return app.ChangeState(call, c.Playbook, func(s *prior.State) (r prior.Record, said string, err error) {
		if list := prior.Unmatched(s.Things, c.Thing); len(list) > 0 {
			return r, "", app.Usage("nothing is recorded of `%s`\n  hint: moon state %s lists what is", list[0], c.Playbook)
		}
		for i := range s.Things {
			if slices.ContainsFunc(c.Thing, func(text string) bool { return s.Things[i].Named(text) }) {
				r.Gone = append(r.Gone, s.Things[i].Key())
			}
		}
		return r, plan.CountOf(len(r.Gone), "thing") + " dropped from what is recorded; nothing was removed", nil
	})
}

// Move gives what a step has made to another.
type Move struct {
	Playbook string `arg:"" help:"The playbook."`
	From     string `arg:"" help:"The path of the step as it is recorded."`
	To       string `arg:"" help:"The path that the step has now, as moon plan --format dump shows it."`
}

// Help says what it is for.
func (Move) Help() string {
	return `Use it where a step has another name or place than before and the playbook does not say so with moved: without either, what the step made
counts as given by no step any more.

  moon state mv site.yml 'site.yml/install nginx' 'site.yml/web/install nginx'`
}

// Run gives the things of one path to another.
func (c *Move) Run(call *app.Invocation) error {
	return app.ChangeState(call, c.Playbook, func(s *prior.State) (r prior.Record, said string, err error) {
		r.Moved = prior.Resolve([]prior.Move{{From: c.From, To: c.To}}, s)
		if len(r.Moved) == 0 {
			return r, "", app.Usage("no step `%s` is recorded\n  hint: moon state %s lists what is", c.From, c.Playbook)
		}
		return r, "what " + c.From + " has made belongs to " + c.To, nil
	})
}

// Restore takes up one of the last states again.
type Restore struct {
	Playbook string `arg:"" help:"The playbook."`
	Serial   string `arg:"" optional:"" help:"The number of the state; without it, the last ones are recorded."`
}

// Help says which states there are.
func (Restore) Help() string {
	return `Each run and each change of what is recorded keeps the state before it; the last ten stay.

  moon state restore site.yml
  moon state restore site.yml 41`
}

// Run lists the last states, or takes one up again.
func (c *Restore) Run(call *app.Invocation) error {
	file, err := app.StateOf(c.Playbook)
	if err != nil {
		return err
	}
	serials, err := file.Backups()
	if err != nil {
		return app.NewExit(app.ExitDisk, err.Error())
	}
	if c.Serial == "" {
		for _, serial := range serials {
			old, err := file.Backup(serial).Read()
			if err != nil {
				return app.NewExit(app.ExitDisk, err.Error())
			}
			fmt.Fprintf(call.Out, "%s  %s\n", serial, plan.CountOf(len(old.Things), "thing"))
		}
		return nil
	}
	if !slices.Contains(serials, c.Serial) {
		return app.Usage("there is no state %s of %s\n  hint: moon state restore %s lists those that are kept", c.Serial, c.Playbook, c.Playbook)
	}
	old, err := file.Backup(c.Serial).Read()
	if err != nil {
		return app.NewExit(app.ExitDisk, err.Error())
	}
	return app.ChangeState(call, c.Playbook, func(*prior.State) (prior.Record, string, error) {
		return prior.Record{Whole: append([]prior.Thing{}, old.Things...), Defined: old.Definitions},
			"state " + c.Serial + " counts again, with " + plan.CountOf(len(old.Things), "thing"), nil
	})
}
