package action

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("apk", exec.Action{Plan: func(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	return planPackages(ctx, a, &apk{a.Args.(*spec.ApkArgs)})
}})

// apk has apk say what it would do (--simulate) and then do it.
type apk struct{ args *spec.ApkArgs }

func (*apk) listPatterns() []string {
	return []string{"/var/cache/apk/APKINDEX.*", "/etc/apk/cache/APKINDEX.*", "/lib/apk/db/APKINDEX.*"}
}

func (p *apk) needsRefresh() bool { return p.args.UpdateCache }

func (p *apk) refreshLists(ctx context.Context, a *exec.Attempt) error {
	_, err := runManager(ctx, a, exec.NewTool(p.buildCommand("update")...), p.args.LockTimeout)
	return err
}

func (p *apk) predictTransaction(ctx context.Context, a *exec.Attempt) (*transaction, error) {
	args := p.args
	t := &transaction{idle: len(args.Name) == 0 && !args.Upgrade}
	var words []string
	switch {
	case args.Upgrade:
		words = []string{"upgrade"}
		if args.Available {
			words = append(words, "--available")
		}
	default:
		names, err := p.selectNames(ctx, a)
		if err != nil || len(names) == 0 {
			return t, err
		}
		words = map[string][]string{"present": {"add"}, "latest": {"add", "--upgrade"}, "absent": {"del"}}[args.State]
		words = append(append(words, "--"), names...)
	}
	said, err := a.AskTool(ctx, exec.NewTool(p.buildCommand(append([]string{words[0], "--simulate"}, words[1:]...)...)...))
	if err != nil {
		return nil, err
	}
	text := said.Stdout + said.Stderr
	if m := apkUnknown.FindStringSubmatch(text); m != nil {
		return nil, fault.Missing("", "there is no package %s; update_cache: true fetches newer lists", m[1])
	}
	if said.Code != 0 {
		return nil, packageError("apk", said, "")
	}
	t.changes = readApk(said.Stdout)
	for i := range t.changes {
		t.changes[i].asked = slices.ContainsFunc(args.Name, func(n string) bool { return apkName(n) == t.changes[i].name })
	}
	t.do = func(ctx context.Context) error {
		_, err := runManager(ctx, a, exec.NewTool(p.buildCommand(words...)...), args.LockTimeout)
		return err
	}
	return t, nil
}

var (
	apkUnknown = pattern.New(`(?m)^\s+(\S+) \(no such package\):`)
	apkLine    = pattern.New(`(?m)^\(\d+/\d+\) (\w+) (\S+) \(([^ )]+)(?: -> ([^ )]+))?\)`)
)

// readApk reads what apk says of a transaction: (1/2) Upgrading foo (1.0-r0 -> 1.1-r0).
func readApk(text string) []packageChange {
	var changes []packageChange
	for _, m := range apkLine.FindAllStringSubmatch(text, -1) {
		c := packageChange{name: m[2]}
		switch m[1] {
		case "Installing":
			c.to = m[3]
		case "Purging", "Deleting":
			c.from = m[3]
		case "Upgrading", "Downgrading", "Replacing":
			c.from, c.to, c.down = m[3], m[4], m[1] == "Downgrading"
		default:
			c.from, c.to = m[3], m[3] // installed again
		}
		changes = append(changes, c)
	}
	return changes
}

// apkName is a package without the version or repository that is asked for.
func apkName(text string) string {
	if i := strings.IndexAny(text, "<>=~@"); i >= 0 {
		return text[:i]
	}
	return text
}

// selectNames returns the names that apk must be given: those that are not installed, or in absent those that are. A version, and
// the newest, is for apk to find out.
func (p *apk) selectNames(ctx context.Context, a *exec.Attempt) ([]string, error) {
	if p.args.State == "latest" {
		// Whether there is something newer only apk knows, so all names are given to it.
		return p.args.Name, nil
	}
	var names []string
	for _, name := range p.args.Name {
		said, err := a.AskTool(ctx, exec.NewTool("apk", "info", "--installed", "--", apkName(name)))
		if err != nil {
			return nil, err
		}
		there := said.Code == 0 && strings.TrimSpace(said.Stdout) != ""
		switch {
		case p.args.State == "absent" && there:
			names = append(names, apkName(name))
		// With a version or a repository in the name only apk can say whether what is installed will do.
		case p.args.State == "present" && (!there || apkName(name) != name):
			names = append(names, name)
		}
	}
	return names, nil
}

func (p *apk) buildCommand(words ...string) []string {
	argv := []string{"apk", "--no-progress", "--wait", strconv.Itoa(int(p.args.LockTimeout.Seconds()))}
	if p.args.NoCache {
		argv = append(argv, "--no-cache")
	}
	return append(append(argv, optionsOf("--repository", p.args.Repository)...), words...)
}
