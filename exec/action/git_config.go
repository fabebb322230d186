package action

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("git_config", exec.Action{Plan: planGitConfig})

// gitConfig is a step of git_config.
type gitConfig struct {
	*exec.Attempt
	args *spec.GitConfigArgs
}

func planGitConfig(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	g := gitConfig{a, a.Args.(*spec.GitConfigArgs)}
	if err := lacksTool(a, "git", "git"); err != nil {
		return nil, err
	}
	// The settings of a repository may name programs, which git would not start to read them; still they are the playbook's.
	if err := a.RefuseInProject(g.args.Repo); err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{"msg": ""}}
	c.PlanNothing()
	if g.args.ListAll {
		values, err := g.listAll(ctx)
		c.Fields["config_values"] = values
		return c, err
	}
	said, err := a.AskTool(ctx, g.tool("--includes", "--get-all", g.args.Name))
	if err != nil {
		return nil, err
	}
	if said.Code > 1 && !missingConfig(said) {
		return nil, g.explain(said)
	}
	var old []string
	if text := strings.TrimSuffix(said.Stdout, "\n"); said.Code == 0 {
		old = strings.Split(text, "\n")
	}
	g.planValue(c, old)
	return c, nil
}

// planValue plans what is to be done about the values there are.
func (g gitConfig) planValue(c *exec.Change, old []string) {
	args := g.args
	value := ""
	if args.Value != nil {
		value = *args.Value
	}
	shown := "unset"
	if len(old) > 0 {
		shown = strings.Join(old, ", ")
	}
	kind, words := events.ChangeUpdate, []string{"--" + args.AddMode, args.Name, value}
	switch {
	case args.State == fsys.Absent && len(old) == 0:
		c.Fields["msg"] = "no setting to unset"
		return
	case args.State == fsys.Absent:
		kind, words = events.ChangeDelete, []string{"--unset-all", args.Name}
	// An empty value only asks what the setting is.
	case value == "":
		c.Fields["config_value"] = ""
		if len(old) > 0 {
			c.Fields["config_value"] = old[len(old)-1]
		}
		return
	case slices.Equal(old, []string{value}), args.AddMode == "add" && slices.Contains(old, value):
		return
	case len(old) == 0:
		kind = events.ChangeCreate
	}
	c.Fields["msg"] = "setting changed"
	file := g.file()
	creates := file != "" && isMissing(g.Attempt, file)
	if kind == events.ChangeCreate {
		undo := map[string]any{"name": args.Name, "scope": args.Scope, "state": fsys.Absent}
		for name, path := range map[string]string{"repo": args.Repo, "file": args.File} {
			if path != "" {
				undo[name] = path
			}
		}
		if creates {
			c.AddCreated(events.FileResource, file, exec.RemoveEmpty(file))
		}
		c.AddCreated("git_config", args.Scope+": "+args.Name, g.UndoWithTools("git_config", undo))
	} else {
		c.AddResource(kind, "git_config", args.Scope+": "+args.Name)
	}
	now := value
	switch {
	case args.State == fsys.Absent:
		now = "unset"
	case args.AddMode == "add" && len(old) > 0:
		now = shown + ", " + value
	}
	summary := shown + " → " + now
	if g.Diff && !g.NoLog {
		c.Diff.Text = fmt.Sprintf("- %s = %s\n+ %s = %s\n", args.Name, shown, args.Name, now)
	}
	c.Plan(kind, func(ctx context.Context) error {
		said, err := g.RunToolReading(ctx, g.tool(words...))
		return said.Explain(err)
	}, summary)
}

// tool is a call of git config. It runs in the repository, or in / so that none is found by accident.
func (g gitConfig) tool(words ...string) exec.Tool {
	dir := "/"
	if g.args.Repo != "" && (g.args.Scope == "local" || g.args.ListAll) {
		dir = g.args.Repo
	}
	argv := []string{"git", "-C", dir, "config"}
	switch g.args.Scope {
	case "file":
		argv = append(argv, "-f", g.args.File)
	case "":
	default:
		argv = append(argv, "--"+g.args.Scope)
	}
	return exec.NewTool(append(argv, words...)...)
}

// file is the file that holds the setting; "" if it belongs to a repository, where it always exists.
func (g gitConfig) file() string {
	switch g.args.Scope {
	case "file":
		return g.args.File
	case "global":
		if home := g.Getenv("HOME"); home != "" {
			return filepath.Join(home, ".gitconfig")
		}
	case "system":
		return "/etc/gitconfig"
	}
	return ""
}

func (g gitConfig) listAll(ctx context.Context) (map[string]any, error) {
	said, err := g.AskTool(ctx, g.tool("--includes", "--list", "--null"))
	values := map[string]any{}
	if err != nil || missingConfig(said) {
		return values, err
	}
	if said.Code != 0 {
		return nil, g.explain(said)
	}
	// Between a name and its value is a line break, after it a zero: values may have more than one line.
	for entry := range strings.SplitSeq(strings.TrimSuffix(said.Stdout, "\x00"), "\x00") {
		if name, value, _ := strings.Cut(entry, "\n"); name != "" {
			values[name] = value
		}
	}
	return values, nil
}

func (g gitConfig) explain(said exec.Answer) error {
	message := strings.TrimPrefix(said.LastWords(), "fatal: ")
	if g.args.Repo != "" && isMissing(g.Attempt, g.args.Repo) {
		return fault.Missing(g.args.Repo, "git: %s", message)
	}
	return fault.CommandError{Message: "git: " + message, RC: &said.Code, Class: fault.Fatal}
}

// missingConfig reports whether nothing has been set in a scope, which so has no file.
func missingConfig(said exec.Answer) bool {
	return said.Code == 128 && strings.Contains(said.Stderr, "unable to read config file")
}
