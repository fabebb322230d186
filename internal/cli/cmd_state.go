package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"moon/internal/app"
	"moon/internal/cli/recorded"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/prior"
)

type stateCmd struct {
	List    stateListCmd     `cmd:"" default:"withargs" help:"List what the runs of a playbook have made."`
	Rm      recorded.Remove  `cmd:"" help:"Drop something from what is recorded; the thing itself stays."`
	Mv      recorded.Move    `cmd:"" help:"Give what a step has made to a step of another path."`
	Adopt   stateAdoptCmd    `cmd:"" help:"Record what a step makes and is there already as made by the step."`
	Refresh stateRefreshCmd  `cmd:"" help:"Record what is there now: drop what is gone, and accept what was edited."`
	Restore recorded.Restore `cmd:"" help:"Take up one of the last states again."`
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

// line is a line of the list.
type line struct {
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
	file, err := app.StateOf(path)
	if err != nil {
		return err
	}
	state, err := file.Read()
	if err != nil {
		return app.NewExit(app.ExitDisk, err.Error())
	}
	list := make([]line, len(state.Things))
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

func (c *stateListCmd) write(call *app.Invocation, list []line) error {
	hosts := slices.ContainsFunc(list, func(l line) bool { return l.Host != "localhost" })
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
		name := l.Name
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
func (c *stateListCmd) look(call *app.Invocation, path string, list []line) error {
	f := playbookFlags{Playbook: path, planFlags: planFlags{hostFlags: c.hostFlags, vaultFlags: c.vaultFlags}}
	now, err := lookNow(call, f, &c.becomeFlags)
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
	f := playbookFlags{Playbook: c.Playbook, planFlags: planFlags{hostFlags: c.hostFlags, vaultFlags: c.vaultFlags}}
	return refresh(call, f, &c.becomeFlags)
}

// refresh records what is there now.
func refresh(call *app.Invocation, f playbookFlags, become *becomeFlags) error {
	path, err := namedOrUsual(f.Playbook)
	if err != nil {
		return err
	}
	now, err := lookNow(call, f, become)
	if err != nil {
		return err
	}
	return app.ChangeState(call, path, func(s *prior.State) (prior.Record, string, error) {
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
		return r, fmt.Sprintf("%s gone, %d edited, %d not known", plan.CountOf(len(r.Gone), "thing"), len(r.Accepted), unknown), nil
	})
}

type stateAdoptCmd struct {
	Playbook string   `arg:"" help:"The playbook."`
	Step     []string `arg:"" help:"The steps: an id, a path, a name or file:line."`
	planFlags
	becomeFlags `group:"passwords"`
}

// Help says what is taken up.
func (stateAdoptCmd) Help() string {
	return `Takes up what was made by hand or by another program: a file, directory, link, user, group, package or cron job that is there already and is what the step
wants. From then on it counts as created by the step: it is listed, and removed when no step gives it any more. Nothing on the machines is
changed; a step that would change something is refused.

  moon state adopt site.yml 'the site'`
}

// Run looks and records.
func (c *stateAdoptCmd) Run(call *app.Invocation) error {
	f := playbookFlags{Playbook: c.Playbook, planFlags: c.planFlags}
	p, _, err := f.build(call)
	if err != nil {
		return err
	}
	pool, err := c.becomePasswords().Pool(call, p)
	if err != nil {
		return err
	}
	defer pool.Close()
	list, err := app.Adopt(call, p, pool, c.Step)
	if err != nil {
		return err
	}
	if err := c.digests(call, list); err != nil {
		return err
	}
	return app.ChangeState(call, c.Playbook, func(s *prior.State) (prior.Record, string, error) {
		for i := range list {
			if s.Find(list[i].Key()) != nil {
				return prior.Record{}, "", app.Usage("%s is recorded already", plan.WhatIs(&list[i]))
			}
		}
		said := make([]string, len(list))
		for i := range list {
			said[i] = plan.WhatIs(&list[i])
		}
		chain(s.Things, list)
		whole := append(slices.Clone(s.Things), list...)
		return prior.Record{Whole: whole, Defined: s.Definitions}, "adopted: " + strings.Join(said, ", "), nil
	})
}

// digests finds out what the files among some things hold: a removal that asks for something else says it.
func (c *stateAdoptCmd) digests(call *app.Invocation, list []prior.Thing) error {
	f := playbookFlags{Playbook: c.Playbook, planFlags: c.planFlags}
	f.recorded = &prior.State{Things: list}
	now, err := lookNow(call, f, &c.becomeFlags)
	if err != nil {
		return err
	}
	for i := range list {
		found := now[list[i].Key()]
		switch {
		case found.Now == app.IsEdited && found.Digest != "":
			list[i].Accept(found.Digest)
		case found.Now != app.IsThere:
			return app.Usage("%s cannot be adopted: %s", plan.WhatIs(&list[i]), cmp.Or(found.Why, string(found.Now)))
		}
	}
	return nil
}

// chain puts what is adopted behind what is recorded of the same machine, in the order of the steps: it is removed in reverse.
func chain(before, list []prior.Thing) {
	last := map[string]string{}
	for i := range before {
		last[before[i].Host] = before[i].Step
	}
	for i := range list {
		t := &list[i]
		if step := last[t.Host]; step != "" && step != t.Step {
			t.After = []string{step}
		}
		last[t.Host] = t.Step
	}
}
