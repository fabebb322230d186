package action

import (
	"context"
	"strings"

	"moon/exec"
	"moon/exec/spec"
)

// planDnf lists packages, or asks for a transaction.
func planDnf(ctx context.Context, a *exec.Attempt, args *spec.DnfArgs) (*exec.Change, error) {
	d := &dnf{args}
	if args.List == "" {
		return planPackages(ctx, a, d)
	}
	c := &exec.Change{Fields: map[string]any{}}
	c.PlanNothing()
	results, err := d.listThings(ctx, a)
	c.Fields["results"] = results
	return c, err
}

// listThings is what `list` asks for: packages that are installed, to be had, or to be upgraded, or that have a name, or repositories.
func (d *dnf) listThings(ctx context.Context, a *exec.Attempt) ([]any, error) {
	switch what := d.args.List; what {
	case "repos", "repositories":
		return d.listRepositories(ctx, a)
	case "installed", "available":
		return d.query(ctx, a, what, "--"+what)
	case "updates", "upgrades":
		return d.query(ctx, a, "available", "--upgrades")
	default:
		there, err := d.query(ctx, a, "installed", "--installed", what)
		if err != nil {
			return nil, err
		}
		others, err := d.query(ctx, a, "available", "--available", what)
		return append(there, others...), err
	}
}

// packageFormat has the fields of a package in a line of their own. Of the two dnf, one ends lines by itself and the other does not.
const packageFormat = `%{name} %{epoch} %{version} %{release} %{arch} %{repoid}\n`

// query asks for packages that are in a state.
func (d *dnf) query(ctx context.Context, a *exec.Attempt, state string, words ...string) ([]any, error) {
	words = append([]string{"--quiet", "--qf", packageFormat}, words...)
	argv := d.buildCommand(a, append([]string{"repoquery"}, words...)...)
	// The old yum has no such command, but a program for it, which takes the same options.
	if argv[0] == "yum" && a.Installed("repoquery") {
		argv = append([]string{"repoquery"}, d.buildCommand(a, words...)[1:]...)
	}
	said, err := askPackages(ctx, a, argv)
	if err != nil {
		return nil, err
	}
	results := []any{}
	for line := range strings.Lines(strings.ReplaceAll(said, `\n`, "\n")) {
		f := strings.Fields(line)
		if len(f) != 6 {
			continue
		}
		name, epoch, version, release, arch := f[0], f[1], f[2], f[3], f[4]
		envra := epoch + ":" + name + "-" + version + "-" + release + "." + arch
		results = append(results, map[string]any{
			"name": name, "epoch": epoch, "version": version, "release": release, "arch": arch, "repo": f[5], "envra": envra,
			"nevra": envra, "yumstate": state,
		})
	}
	return results, nil
}

// listRepositories are those that are enabled: the table has their names in its first column, below a line with titles.
func (d *dnf) listRepositories(ctx context.Context, a *exec.Attempt) ([]any, error) {
	argv := d.buildCommand(a, "--quiet", "repolist", "enabled")
	if d.commandName(a) == "dnf5" {
		argv = d.buildCommand(a, "--quiet", "repo", "list", "--enabled")
	}
	said, err := askPackages(ctx, a, argv)
	if err != nil {
		return nil, err
	}
	results := []any{}
	for line := range strings.Lines(said) {
		id, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		// yum adds the release and the architecture to a name, and a line with a sum.
		id, _, _ = strings.Cut(strings.TrimLeft(id, "!*"), "/")
		if id != "" && id != "repo" && id != "repolist:" {
			results = append(results, map[string]any{"repoid": id, "state": "enabled"})
		}
	}
	return results, nil
}

// askPackages is what a command of the package manager prints. It fails if the command does.
func askPackages(ctx context.Context, a *exec.Attempt, argv []string) (string, error) {
	said, err := a.AskTool(ctx, exec.NewTool(argv...))
	if err == nil && said.Code != 0 {
		err = packageError(argv[0], said, "")
	}
	return said.Stdout, err
}
