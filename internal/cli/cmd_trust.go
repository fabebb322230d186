package cli

import (
	"fmt"
	"path/filepath"
	"slices"

	"moon/engine"
	"moon/exec"
	"moon/exec/plugin"
	"moon/internal/app"
	"moon/internal/cli/nearby"
	"moon/internal/termtext"
	"moon/plan"
)

type trustCmd struct {
	playbookFlags
	List   bool `help:"List trusted files."`
	Remove bool `help:"Stop trusting all files below the directory of the playbook, and the .moon.yaml of its project."`
}

// Help is the longer help of the command.
func (*trustCmd) Help() string {
	return `Before you approve a plan, moon does not run programs that the playbook contains or names: an inventory program in its ansible.cfg, a
ProxyCommand in its variables, or programs that a prediction would need. moon trust allows them, once you have read the files. An edited
file is no longer trusted.

  moon trust site.yml`
}

func (c *trustCmd) Run(call *app.Invocation) error {
	store, err := app.Trusted()
	if err != nil {
		return err
	}
	if c.List {
		list, err := store.All()
		if err != nil {
			return err
		}
		for _, path := range list {
			fmt.Fprintln(call.Out, termtext.CleanName(path))
		}
		return nil
	}
	c.TrustPlugins = true // this is what the command is for
	defer hastily()()
	o, err := c.planOptions(call)
	if err != nil {
		return err
	}
	if c.Remove {
		n := 0
		for _, path := range append([]string{filepath.Dir(o.Path)}, call.ProjectPaths()...) {
			m, err := store.Remove(path)
			if err != nil {
				return err
			}
			n += m
		}
		fmt.Fprintf(call.Out, "%s not trusted any more\n", plan.CountOf(n, "file"))
		return nil
	}
	var named []plan.Input
	run := o.Outside.RunInventory
	o.Outside.RunInventory = func(path string, args ...string) ([]byte, error) {
		if digest, err := exec.FileDigest(path); err == nil {
			named = append(named, plan.Input{Path: path, Digest: digest})
		}
		named = append(named, app.PluginFiles(&o, path)...)
		// A program of the inventory decides about hosts, so it is trusted by digest like the files.
		return run(path, args...)
	}
	p, _, ds := engine.Build(o)
	if err := c.complain(call, p, nearby.FromHere(o, ds)); err != nil {
		return err
	}
	return c.add(call, store, slices.Concat(p.Deciding(), named, broughtFiles(p), call.BroughtFiles()))
}

func (c *trustCmd) add(call *app.Invocation, store plugin.Trust, files []plan.Input) error {
	if len(files) == 0 {
		return app.Usage("there is no file to trust: the playbook came from standard input")
	}
	said := map[string]bool{}
	for _, f := range files {
		if said[f.Path] {
			continue
		}
		said[f.Path] = true
		if err := store.Add(f.Path, f.Digest); err != nil {
			return app.NewExit(app.ExitDisk, "trust: "+err.Error())
		}
		fmt.Fprintf(call.Out, "  %s\n", termtext.CleanName(f.Path))
	}
	fmt.Fprintf(call.Out, "%s trusted, as long as they stay the same\n", plan.CountOf(len(said), "file"))
	return nil
}
