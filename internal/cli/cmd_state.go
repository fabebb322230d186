package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"moon/engine/history"
	"moon/internal/app"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/prior"
)

type stateCmd struct {
	List    stateListCmd    `cmd:"" default:"withargs" help:"List what the runs of a playbook have made."`
	Rm      stateRmCmd      `cmd:"" help:"Drop something from what is recorded; the thing itself stays."`
	Mv      stateMvCmd      `cmd:"" help:"Give what a step has made to a step of another path."`
	Refresh stateRefreshCmd `cmd:"" help:"Record what is there now: drop what is gone, and accept what was edited."`
	Restore stateRestoreCmd `cmd:"" help:"Take up one of the last states again."`
}

type stateListCmd struct {
	Playbook    string `arg:"" optional:"" help:"The playbook; default moon.yml or playbook.yml."`
	Format      string `enum:"text,json" default:"text" help:"text or json."`
	Look        bool   `help:"Look what is there now: what is, what is gone, and what was edited since. Needs the playbook and its hosts."`
	hostFlags   `group:"hosts"`
	vaultFlags  `group:"passwords"`
	becomeFlags `group:"passwords"`
}

// Help says what is recorded.
func (stateListCmd) Help() string {
	return `Lists the files, packages, users and so on that steps have recorded, with the step that made each. It also works if the playbook
has been deleted.

  moon state site.yml
  moon state site.yml --look
  moon state site.yml --format json`
}

// recorded is a line of the list.
type recorded struct {
	prior.Thing
	Now app.Presence `json:"now,omitempty"`
	Why string       `json:"why,omitempty"`
}

// Run lists what runs of a playbook have made. Without --look the playbook itself is not read: it may be gone.
func (c *stateListCmd) Run(call *app.Invocation) error {
	path, err := namedOrUsual(c.Playbook)
	if err != nil {
		return err
	}
	file, err := stateOf(path)
	if err != nil {
		return err
	}
	state, err := file.Read()
	if err != nil {
		return app.NewExit(app.ExitDisk, err.Error())
	}
	list := make([]recorded, len(state.Things))
	for i := range state.Things {
		list[i].Thing = state.Things[i]
	}
	if c.Look {
		if err := c.look(call, path, list); err != nil {
			return err
		}
	}
	if c.Format == "json" {
		abs, err := filepath.Abs(path)
		if err != nil {
			return app.Usage("%s", err)
		}
		enc := json.NewEncoder(call.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"playbook": abs, "serial": state.Serial, "made": list})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintf(call.Out, "nothing is recorded of %s\n", termtext.CleanName(filepath.Base(path)))
		return err
	}
	return c.write(call, list)
}

func (c *stateListCmd) write(call *app.Invocation, list []recorded) error {
	hosts := slices.ContainsFunc(list, func(l recorded) bool { return l.Host != "localhost" })
	w := tabwriter.NewWriter(call.Out, 0, 4, 2, ' ', 0)
	row := func(host, now string, rest ...string) {
		var cells []string
		if c.Look {
			cells = append(cells, now)
		}
		if hosts {
			cells = append(cells, host)
		}
		fmt.Fprintln(w, strings.Join(append(cells, rest...), "\t"))
	}
	row("HOST", "NOW", "WHAT", "MADE", "BY", "STEP", "NAME")
	for i := range list {
		l := &list[i]
		word := "changed"
		switch {
		case l.Deposed:
			word = "replaced"
		case l.Created:
			word = "created"
		}
		name := l.Resource.Name
		if l.Type == prior.StepUndo {
			word, name = "done", l.Title
			if l.Undo == nil {
				name += " (" + l.Withheld + ")"
			}
		}
		row(l.Host, string(l.Now), l.Type, word, l.Action, termtext.CleanName(l.Step), termtext.CleanName(name))
	}
	return w.Flush()
}

// look asks the machines what is there now.
func (c *stateListCmd) look(call *app.Invocation, path string, list []recorded) error {
	now, err := lookNow(call, playbookFlags{Playbook: path, planFlags: planFlags{hostFlags: c.hostFlags, vaultFlags: c.vaultFlags}}, &c.becomeFlags)
	if err != nil {
		return err
	}
	for i := range list {
		l := now[list[i].Key()]
		list[i].Now, list[i].Why = l.Now, l.Why
	}
	return nil
}

// lookNow asks the machines what is there now of all that is recorded of a playbook.
func lookNow(call *app.Invocation, f playbookFlags, become *becomeFlags) (map[prior.Key]app.Found, error) {
	f.destroy, f.Replace, f.built = true, nil, nil
	f.MaxSteps, f.MaxExpansion = cmp.Or(f.MaxSteps, plan.DefaultMaxSteps), cmp.Or(f.MaxExpansion, 10_000)
	p, _, err := f.build(call)
	if err != nil {
		return nil, err
	}
	pool, err := become.becomePasswords().Pool(call, p)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	return app.LookAround(call, p, pool, !f.NoConnect)
}

// namedOrUsual is the playbook that is named, or else meant.
func namedOrUsual(name string) (string, error) {
	if name != "" {
		return name, nil
	}
	return usualPlaybook()
}

// changeState changes what is recorded of a playbook while no run of it may.
func changeState(call *app.Invocation, playbook string, change func(*prior.State) (prior.Record, string, error)) error {
	file, err := stateOf(playbook)
	if err != nil {
		return err
	}
	if err := noRunOf(playbook); err != nil {
		return err
	}
	said := ""
	err = file.Change(func(s *prior.State) (r prior.Record, err error) {
		r, said, err = change(s)
		r.Run, r.Time = "", time.Now().UTC()
		return r, err
	})
	if err != nil {
		return app.WrapDisk(err)
	}
	_, err = fmt.Fprintln(call.Out, said)
	return err
}

// noRunOf refuses what would get in the way of a run in progress.
func noRunOf(playbook string) error {
	state, err := app.StateDir()
	if err != nil {
		return err
	}
	path, err := filepath.Abs(playbook)
	if err != nil {
		return app.Usage("%s", err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if live := history.Live(state.Runs(), path); len(live) > 0 {
		return app.NewExit(app.ExitDisk, "run "+live[0].ID+" of this playbook is in progress ("+live[0].Owner.String()+"); nothing was changed")
	}
	return nil
}

type stateRmCmd struct {
	Playbook string   `arg:"" help:"The playbook."`
	Thing    []string `arg:"" help:"What to drop: its name, the path or the title of its step, or file:line; * matches any text."`
}

// Help says what happens to the thing.
func (stateRmCmd) Help() string {
	return `Drops things from what is recorded of a playbook. The things themselves stay as they are, and no run of the playbook removes them any
more. The state before is kept: moon state restore lists the last ones.

  moon state rm site.yml /srv/data
  moon state rm site.yml 'install nginx'`
}

// Run drops them.
func (c *stateRmCmd) Run(call *app.Invocation) error {
	return changeState(call, c.Playbook, func(s *prior.State) (r prior.Record, said string, err error) {
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

type stateMvCmd struct {
	Playbook string `arg:"" help:"The playbook."`
	From     string `arg:"" help:"The path of the step as it is recorded."`
	To       string `arg:"" help:"The path that the step has now, as moon plan --format dump shows it."`
}

// Help says what it is for.
func (stateMvCmd) Help() string {
	return `Use it where a step has another name or place than before and the playbook does not say so with moved: without either, what the step made
counts as given by no step any more.

  moon state mv site.yml 'site.yml/install nginx' 'site.yml/web/install nginx'`
}

// Run gives the things of one path to another.
func (c *stateMvCmd) Run(call *app.Invocation) error {
	return changeState(call, c.Playbook, func(s *prior.State) (r prior.Record, said string, err error) {
		r.Moved = prior.Resolve([]prior.Move{{From: c.From, To: c.To}}, s)
		if len(r.Moved) == 0 {
			return r, "", app.Usage("no step `%s` is recorded\n  hint: moon state %s lists what is", c.From, c.Playbook)
		}
		return r, "what " + c.From + " has made belongs to " + c.To, nil
	})
}

type stateRestoreCmd struct {
	Playbook string `arg:"" help:"The playbook."`
	Serial   string `arg:"" optional:"" help:"The number of the state; without it, the last ones are recorded."`
}

// Help says which states there are.
func (stateRestoreCmd) Help() string {
	return `Each run and each change of what is recorded keeps the state before it; the last ten stay.

  moon state restore site.yml
  moon state restore site.yml 41`
}

// Run lists the last states, or takes one up again.
func (c *stateRestoreCmd) Run(call *app.Invocation) error {
	file, err := stateOf(c.Playbook)
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
	return changeState(call, c.Playbook, func(*prior.State) (prior.Record, string, error) {
		return prior.Record{Whole: append([]prior.Thing{}, old.Things...), Defined: old.Definitions},
			"state " + c.Serial + " counts again, with " + plan.CountOf(len(old.Things), "thing"), nil
	})
}

type stateRefreshCmd struct {
	Playbook    string `arg:"" optional:"" help:"The playbook; default moon.yml or playbook.yml."`
	hostFlags   `group:"hosts"`
	vaultFlags  `group:"passwords"`
	becomeFlags `group:"passwords"`
}

// Help says what it changes.
func (stateRefreshCmd) Help() string {
	return `Looks at everything that is recorded of a playbook. What is gone is dropped; of a file that was edited, what is in it now counts as what moon
left there, so that it may be removed. Nothing on the machines is changed.

  moon state refresh site.yml`
}

// Run looks and records.
func (c *stateRefreshCmd) Run(call *app.Invocation) error {
	path, err := namedOrUsual(c.Playbook)
	if err != nil {
		return err
	}
	now, err := lookNow(call, playbookFlags{Playbook: path, planFlags: planFlags{hostFlags: c.hostFlags, vaultFlags: c.vaultFlags}}, &c.becomeFlags)
	if err != nil {
		return err
	}
	return changeState(call, path, func(s *prior.State) (prior.Record, string, error) {
		r, unknown := prior.Record{}, 0
		for i := range s.Things {
			t := &s.Things[i]
			switch found := now[t.Key()]; {
			case found.Now == app.IsGone:
				r.Gone = append(r.Gone, t.Key())
			case found.Now == app.IsEdited && found.Digest != "":
				r.Accepted = append(r.Accepted, prior.Accepted{Key: t.Key(), Digest: found.Digest})
			case found.Now != app.IsThere:
				unknown++
			}
		}
		said := fmt.Sprintf("%s gone, %d edited; %d not known", plan.CountOf(len(r.Gone), "thing"), len(r.Accepted), unknown)
		return r, said, nil
	})
}
