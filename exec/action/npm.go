package action

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("npm", exec.Action{
	Plan:     planNpm,
	Supplies: func(args any) string { return exec.QuoteGiven("executable", args.(*spec.NpmArgs).Executable) },
})

// npmProject is a step of npm.
type npmProject struct {
	*exec.Attempt
	args *spec.NpmArgs
}

func planNpm(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	p := npmProject{a, a.Args.(*spec.NpmArgs)}
	if err := lacksTool(a, p.args.Program[0], "npm, or nodejs"); err != nil {
		return nil, err
	}
	// Npm reads the settings of the project that it is started in.
	if err := a.RefuseInProject(p.args.Path); err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{"missing": []any{}}}
	c.PlanNothing()
	fresh := p.args.Path != "" && isMissing(a, p.args.Path)
	if p.args.CI {
		p.plan(c, events.ChangeUpdate, "installed from package-lock.json", "ci")
		return c, nil
	}
	has, missing, err := p.list(ctx, fresh)
	if err != nil {
		return nil, err
	}
	c.Fields["missing"] = anyList(missing)
	switch p.args.State {
	case fsys.Absent:
		if _, there := has[p.args.Name]; there {
			c.AddResource(events.ChangeDelete, "npm", p.args.Name)
			p.plan(c, events.ChangeDelete, "remove "+p.args.Name, "uninstall")
		}
		return c, nil
	case "latest":
		outdated := false
		if !fresh {
			if outdated, err = p.outdated(ctx); err != nil {
				return nil, err
			}
		}
		if len(missing) > 0 {
			p.planInstall(c, has, missing)
		}
		if outdated {
			if len(missing) == 0 {
				c.AddResource(events.ChangeUpdate, "npm", p.label())
			}
			p.plan(c, events.ChangeUpdate, "update", "update")
		}
		return c, nil
	}
	if len(missing) > 0 {
		p.planInstall(c, has, missing)
	}
	return c, nil
}

// label names what the step is about.
func (p npmProject) label() string {
	if p.args.Path == "" {
		return p.args.Name
	}
	return strings.TrimSuffix(p.args.Path+": "+p.args.Name, ": ")
}

// planInstall plans to install, and what takes that away: the whole of what npm keeps in a project that had nothing, or else the package.
func (p npmProject) planInstall(c *exec.Change, has map[string]string, missing []string) {
	kind := events.ChangeCreate
	if p.args.Name != "" && has[p.args.Name] != "" {
		kind = events.ChangeUpdate // another version is there
	}
	record := func() {}
	modules := filepath.Join(p.args.Path, "node_modules")
	switch {
	case p.args.Path != "" && isMissing(p.Attempt, modules):
		record = c.Watch(true, modules, filepath.Join(p.args.Path, "package-lock.json"), filepath.Join(p.args.Path, "package.json"))
	case p.args.Name != "" && kind == events.ChangeCreate:
		undo := map[string]any{"name": p.args.Name, "state": fsys.Absent}
		if p.args.Global {
			undo["global"] = true
		}
		if p.args.Path != "" {
			undo["path"] = p.args.Path
		}
		if p.args.Executable != "" {
			undo["executable"] = p.args.Executable
		}
		c.AddCreated("npm", p.label(), p.UndoWithTools("npm", undo))
	default:
		c.AddResource(events.ChangeUpdate, "npm", p.label())
	}
	p.plan(c, kind, "install "+strings.Join(missing, ", "), "install")
	install := c.Apply
	c.Apply = func(ctx context.Context) error {
		err := install(ctx)
		record()
		return err
	}
}

// plan adds a call of npm that changes something.
func (p npmProject) plan(c *exec.Change, kind events.ChangeKind, summary string, words ...string) {
	planAfter(c, kind, func(ctx context.Context) error {
		if p.args.Path != "" && isMissing(p.Attempt, p.args.Path) {
			made, err := planDirectory(ctx, p.Attempt, p.args.Path, spec.Mode{})
			if err != nil {
				return err
			}
			defer made.Close()
			if err := applyPart(ctx, made); err != nil {
				return err
			}
		}
		tool := p.tool(p.spec(), words...)
		said, err := p.RunToolReading(ctx, tool)
		return said.Explain(err, "ETIMEDOUT", "ECONNRESET", "EAI_AGAIN", "ECONNREFUSED")
	}, summary)
}

// spec is the package with its version, as npm takes it.
func (p npmProject) spec() string {
	if p.args.Version != "" && p.args.State != fsys.Absent {
		return p.args.Name + "@" + p.args.Version
	}
	return p.args.Name
}

// tool is a call of npm for a package, or for the project.
func (p npmProject) tool(name string, words ...string) exec.Tool {
	argv := append(slices.Clone(p.args.Program), words...)
	production := p.args.Production && slices.Contains([]string{"install", "update", "ci", "list"}, words[0])
	for _, option := range []struct {
		given bool
		word  string
	}{
		{p.args.Global, "--global"},
		{production, "--production"},
		{p.args.IgnoreScripts, "--ignore-scripts"},
		{p.args.UnsafePerm, "--unsafe-perm"},
		{p.args.Force, "--force"},
		{name != "", name},
		{p.args.Registry != "", "--registry"},
		{p.args.Registry != "", p.args.Registry},
		{p.args.NoOptional, "--no-optional"},
		{p.args.NoBinLinks, "--no-bin-links"},
	} {
		if option.given {
			argv = append(argv, option.word)
		}
	}
	return exec.Tool{Argv: argv, Dir: p.args.Path, Env: map[string]string{"npm_config_update_notifier": "false"}}
}

// ask calls npm to look at a project, which must not leave logs, nor remove old ones.
func (p npmProject) ask(ctx context.Context, name string, words ...string) (exec.Answer, error) {
	tool := p.tool(name, words...)
	tool.Env["npm_config_logs_max"], tool.Env["npm_config_logs_dir"] = "0", "/dev/null/logs"
	return p.AskTool(ctx, tool)
}

// list finds what is installed, with versions, and what is not, or not in the version that is asked for.
func (p npmProject) list(ctx context.Context, fresh bool) (has map[string]string, missing []string, err error) {
	has = map[string]string{}
	if !fresh {
		said, err := p.ask(ctx, "", "list", "--json", "--long")
		if err != nil {
			return nil, nil, err
		}
		// Npm ends with an error when something is missing, and lists it anyway.
		var listed struct {
			Dependencies map[string]struct {
				Version string `json:"version"`
				Missing any    `json:"missing"`
				Invalid any    `json:"invalid"`
			} `json:"dependencies"`
		}
		if text := strings.TrimSpace(said.Stdout); text != "" {
			if err := json.Unmarshal([]byte(text), &listed); err != nil {
				return nil, nil, fmt.Errorf("what npm lists cannot be read: %w; it says: %s", err, said.LastWords())
			}
		}
		for _, name := range slices.Sorted(maps.Keys(listed.Dependencies)) {
			one := listed.Dependencies[name]
			if isSet(one.Missing) || isSet(one.Invalid) {
				missing = append(missing, name)
				continue
			}
			has[name] = one.Version
		}
	}
	if name := p.args.Name; name != "" {
		version, there := has[name]
		if !there && p.args.Version == "" { // the name may have the version
			for _, is := range slices.Sorted(maps.Keys(has)) {
				there = there || is+"@"+has[is] == name
			}
		}
		if (!there || p.args.Version != "" && version != p.args.Version) && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if fresh && p.args.Name == "" {
		return nil, nil, fault.Missing(p.args.Path, "%s does not exist", p.args.Path)
	}
	return has, missing, nil
}

// isSet reports whether npm says so: by true, or by words.
func isSet(value any) bool { return value != nil && value != false && value != "" }

// outdated reports whether there is something newer.
func (p npmProject) outdated(ctx context.Context) (bool, error) {
	said, err := p.ask(ctx, p.spec(), "outdated")
	return err == nil && strings.TrimSpace(said.Stdout) != "", err
}
