package action

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("homebrew", exec.Action{Plan: func(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	return planPackages(ctx, a, &homebrew{a.Args.(*spec.HomebrewArgs)})
}, Supplies: func(a any) string {
	for _, name := range a.(*spec.HomebrewArgs).Name {
		if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") || strings.HasSuffix(name, ".rb") { // a program in Ruby
			return exec.QuoteGiven("name", name)
		}
	}
	return ""
}})

// homebrew asks Homebrew what it knows of the formulae. What else an installation brings along it does not tell.
type homebrew struct{ args *spec.HomebrewArgs }

func (*homebrew) listPatterns() []string { return nil }

func (h *homebrew) needsRefresh() bool { return h.args.UpdateCache }

// brewEnv keeps Homebrew from doing more than it is asked to.
var brewEnv = map[string]string{"HOMEBREW_NO_AUTO_UPDATE": "1", "HOMEBREW_NO_ENV_HINTS": "1", "HOMEBREW_NO_COLOR": "1", "LC_ALL": "C.UTF-8"}

func brewTool(words ...string) exec.Tool {
	return exec.Tool{Argv: append([]string{"brew"}, words...), Env: brewEnv}
}

func (h *homebrew) refreshLists(ctx context.Context, a *exec.Attempt) error {
	_, err := runManager(ctx, a, brewTool("update"), 0)
	return err
}

// formula is what Homebrew knows of one.
type formula struct {
	Name     string   `json:"name"`
	Full     string   `json:"full_name"`
	Aliases  []string `json:"aliases"`
	Versions struct {
		Stable string `json:"stable"`
		Head   string `json:"head"`
	} `json:"versions"`
	Installed []struct {
		Version string `json:"version"`
	} `json:"installed"`
	Outdated bool `json:"outdated"`
	Pinned   bool `json:"pinned"`
}

var brewUnknown = pattern.New(`No available formula(?: or cask)? with the name "([^"]+)"\.?(.*)`)

func (h *homebrew) predictTransaction(ctx context.Context, a *exec.Attempt) (*transaction, error) {
	args := h.args
	t := &transaction{idle: len(args.Name) == 0 && !args.UpgradeAll}
	question := append([]string{"info", "--json=v2", "--formula", "--"}, args.Name...)
	if args.UpgradeAll {
		question = []string{"info", "--json=v2", "--formula", "--installed"}
	} else if len(args.Name) == 0 {
		return t, nil
	}
	said, err := a.AskTool(ctx, brewTool(question...))
	if err != nil {
		return nil, err
	}
	if m := brewUnknown.FindStringSubmatch(said.Stderr); m != nil {
		return nil, fault.Missing("", "there is no formula %s;%s", m[1], orElse(m[2], " update_homebrew: true fetches newer lists"))
	}
	if said.Code != 0 {
		hint := ""
		if strings.Contains(said.Stderr, "as root") { // which it allows in a container only
			hint = "run the step as the user who owns Homebrew"
		}
		return nil, packageError("brew", said, hint)
	}
	var known struct {
		Formulae []formula `json:"formulae"`
	}
	if err := json.Unmarshal([]byte(said.Stdout), &known); err != nil {
		return nil, fmt.Errorf("brew info does not answer in JSON: %s", said.LastWords())
	}
	var install, upgrade, remove []string
	for _, f := range known.Formulae {
		c := packageChange{name: f.Name, to: orElse(f.Versions.Stable, f.Versions.Head), asked: !args.UpgradeAll}
		for _, i := range f.Installed {
			c.from = i.Version
		}
		name := orElse(f.Full, f.Name)
		switch {
		case args.State == "absent" && c.from != "":
			c.to = ""
			remove = append(remove, name)
		case args.State != "absent" && c.from == "":
			install = append(install, name)
		case (args.State == "latest" || args.UpgradeAll) && f.Outdated && !f.Pinned:
			upgrade = append(upgrade, name)
		default:
			continue
		}
		t.changes = append(t.changes, c)
	}
	// Below, nil means that there is no call, and empty one without names, which upgrades all.
	if args.UpgradeAll && len(upgrade) > 0 {
		upgrade = []string{} // all, without naming them
	}
	t.do = func(ctx context.Context) error {
		for _, o := range []struct {
			verb    string
			names   []string
			options []string
		}{{"install", install, args.InstallOptions}, {"upgrade", upgrade, args.UpgradeOptions}, {"uninstall", remove, nil}} {
			if o.names == nil {
				continue
			}
			words := []string{o.verb, "--formula"}
			for _, option := range o.options {
				words = append(words, "--"+option)
			}
			if _, err := runManager(ctx, a, brewTool(slices.Concat(words, []string{"--"}, o.names)...), 0); err != nil {
				return err
			}
		}
		return nil
	}
	return t, nil
}

func orElse(text, other string) string {
	if strings.TrimSpace(text) == "" {
		return other
	}
	return text
}
