package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"path/filepath"

	"moon/engine"
	"moon/engine/graph"
	"moon/exec"
	"moon/plan"
	"moon/plan/diag"
)

// playbookFlags are the flags of every command that plans.
type playbookFlags struct {
	Playbook  string   `arg:"" optional:"" help:"The playbook; default moon.yml or playbook.yml, - reads standard input."`
	ExtraVars []string `short:"e" sep:"none" placeholder:"K=V" help:"Variables: name=value, a map as JSON, or @file. Above all others."`
	VarsFile  []string `aliases:"vars" sep:"none" placeholder:"FILE" help:"File of variables; may be given several times."`
	Tags      []string `short:"t" help:"Run only steps with one of these tags."`
	SkipTags  []string `help:"Leave out steps with one of these tags."`
	MaxSteps  int      `default:"1000000" help:"Refuse a plan with more steps."`
	Strict    bool     `help:"Treat warnings as errors."`
}

// options turns the flags into the planner's.
func (f *playbookFlags) options(io stdio) (plan.Options, error) {
	dir, err := os.Getwd()
	if err != nil {
		return plan.Options{}, usage("the working directory cannot be read: %s", err)
	}
	path := f.Playbook
	if path == "" {
		for _, name := range []string{"moon.yml", "playbook.yml"} {
			if _, err := os.Stat(name); err == nil {
				path = name
				break
			}
		}
		if path == "" {
			return plan.Options{}, usage("no playbook given, and there is no moon.yml or playbook.yml here")
		}
	}
	if path != "-" && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	o := plan.Options{
		Path: path, Stdin: io.in, Dir: dir, Facts: exec.Facts(), Volatile: exec.VolatileFacts, Costly: exec.CostlyFacts(), ExtraVars: f.ExtraVars, VarsFiles: f.VarsFile,
		Tags: f.Tags, SkipTags: f.SkipTags, MaxSteps: f.MaxSteps,
	}
	o.Home, _ = os.UserHomeDir() // without one, ~ stays as it is
	o.Presets = presetsDir(o.Home)
	if u, err := user.Current(); err == nil {
		o.User = u.Username
	}
	return o, nil
}

// build plans the playbook and prints what is wrong with it.
func (f *playbookFlags) build(io stdio) (*plan.Plan, *graph.Graph, error) {
	o, err := f.options(io)
	if err != nil {
		return nil, nil, err
	}
	p, g, ds := engine.Build(o)
	return p, g, f.complain(io, p, ds)
}

// complain prints diagnostics. It returns an error if they forbid going on.
func (f *playbookFlags) complain(io stdio, p *plan.Plan, ds diag.List) error {
	if len(ds) == 0 {
		return nil
	}
	if err := ds.Print(io.err); err != nil {
		return err
	}
	fmt.Fprintln(io.err)
	if p == nil || f.Strict {
		fmt.Fprintf(io.err, "%s; nothing was run\n", ds.Summary())
		return &exit{exitUsage, ""}
	}
	return nil
}

type planCmd struct {
	playbookFlags
	Format string `enum:"tree,json,dot,graph" default:"tree" help:"tree, json, dot (for Graphviz) or graph (the execution graph as text)."`
	Output string `short:"o" type:"path" placeholder:"FILE" help:"Save the plan to a file, as JSON."`
}

func (c *planCmd) Run(io stdio) error {
	p, g, err := c.build(io)
	if err != nil {
		return err
	}
	if c.Output != "" {
		doc, err := planJSON(p, g)
		if err != nil {
			return err
		}
		if err := writeFile(c.Output, doc); err != nil {
			return err
		}
		_, err = fmt.Fprintf(io.out, "plan %s with %d steps saved to %s\n", p.Digest[:12], len(p.Steps), c.Output)
		return err
	}
	switch c.Format {
	case "json":
		doc, err := planJSON(p, g)
		if err != nil {
			return err
		}
		_, err = io.out.Write(doc)
		return err
	case "dot":
		_, err = fmt.Fprint(io.out, g.DOT(func(step int) string { return p.Steps[step].Title() }))
		return err
	case "graph":
		_, err = fmt.Fprint(io.out, g.Text())
		return err
	}
	return p.WriteTree(io.out)
}

func planJSON(p *plan.Plan, g *graph.Graph) ([]byte, error) {
	doc, err := g.JSON()
	if err != nil {
		return nil, err
	}
	return p.JSON(doc)
}

// writeFile replaces a file at once: whoever reads it sees the old one or the whole new one.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return &exit{exitDisk, fmt.Sprintf("save %s: %s", path, err)}
	}
	defer os.Remove(f.Name()) //nolint:errcheck // gone when the rename has succeeded
	_, err = bytes.NewReader(data).WriteTo(f)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return &exit{exitDisk, fmt.Sprintf("save %s: %s", path, err)}
	}
	return nil
}

type validateCmd struct {
	playbookFlags
	Format string `enum:"text,json" default:"text" help:"text or json."`
}

func (c *validateCmd) Run(io stdio) error {
	o, err := c.options(io)
	if err != nil {
		return err
	}
	p, _, ds := engine.Build(o)
	bad := p == nil || c.Strict && len(ds) > 0
	if c.Format == "json" {
		enc := json.NewEncoder(io.out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(map[string]any{"diagnostics": plan.DiagnosticsJSON(ds)}); err != nil {
			return err
		}
	} else {
		if err := ds.Print(io.out); err != nil {
			return err
		}
		switch {
		case bad:
			fmt.Fprintf(io.out, "\n%s\n", ds.Summary())
		case len(ds) > 0:
			fmt.Fprintf(io.out, "\n%s: %d steps, %s\n", p.RootFile, len(p.Steps), ds.Summary())
		default:
			fmt.Fprintf(io.out, "%s: %d steps, no mistakes found\n", p.RootFile, len(p.Steps))
		}
	}
	if bad {
		return &exit{exitUsage, ""}
	}
	return nil
}

type graphCmd struct {
	playbookFlags
	Format string `enum:"text,dot" default:"text" help:"text or dot (for Graphviz)."`
}

func (c *graphCmd) Run(io stdio) error {
	format := map[string]string{"text": "graph", "dot": "dot"}[c.Format]
	return (&planCmd{playbookFlags: c.playbookFlags, Format: format}).Run(io)
}
