package action

import (
	"context"
	"strings"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
	"moon/internal/pattern"
)

var _ = exec.Register("pacman", exec.Action{Plan: func(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	return planPackages(ctx, a, &pacman{a.Args.(*spec.PacmanArgs)})
}, Supplies: func(a any) string { return exec.QuoteGiven("extra_args", a.(*spec.PacmanArgs).ExtraArgs) }})

// pacman has pacman print what it would do (--print) and then do it.
type pacman struct{ args *spec.PacmanArgs }

func (*pacman) listPatterns() []string { return []string{"/var/lib/pacman/sync/*.db"} }

func (p *pacman) needsRefresh() bool { return p.args.UpdateCache }

func (p *pacman) refreshLists(ctx context.Context, a *exec.Attempt) error {
	argv := []string{"pacman", "--sync", "--refresh", "--noconfirm", "--noprogressbar"}
	if p.args.Force {
		argv = append(argv, "--refresh")
	}
	_, err := runManager(ctx, a, exec.NewTool(argv...), p.args.LockTimeout)
	return err
}

func (p *pacman) predictTransaction(ctx context.Context, a *exec.Attempt) (*transaction, error) {
	args := p.args
	t := &transaction{idle: len(args.Name) == 0 && !args.Upgrade}
	said, err := a.AskTool(ctx, exec.NewTool("pacman", "--query"))
	if err != nil {
		return nil, err
	}
	is := map[string]string{}
	for line := range strings.Lines(said.Stdout) {
		name, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		is[name] = version
	}
	var orders [][]string
	switch {
	case args.Upgrade:
		orders = append(orders, append([]string{"--sync", "--sysupgrade"}, args.Extra...))
	case args.State == "absent":
		if orders, err = p.planRemoval(ctx, a, is); err != nil {
			return nil, err
		}
	case len(args.Name) > 0:
		if orders, err = p.planInstallation(ctx, a); err != nil {
			return nil, err
		}
	}
	asked := map[string]bool{}
	for _, name := range args.Name {
		// Repository and version are not part of the name that pacman prints.
		name, _, _ = strings.Cut(name, "=")
		asked[name[strings.LastIndexByte(name, '/')+1:]] = true
	}
	for _, o := range orders {
		argv := append([]string{"pacman"}, o[0], "--print", "--print-format", "%n %v")
		said, err := a.AskTool(ctx, exec.NewTool(append(argv, o[1:]...)...))
		if err != nil {
			return nil, err
		}
		if m := pacmanUnknown.FindStringSubmatch(said.Stderr); m != nil {
			return nil, fault.Missing("", "there is no package %s; update_cache: true fetches newer lists", m[1])
		}
		if said.Code != 0 {
			return nil, packageError("pacman", said, "")
		}
		for line := range strings.Lines(said.Stdout) {
			words := strings.Fields(line)
			if len(words) != 2 {
				continue // what it is doing
			}
			// What it installs it prints with the new version only; the old one is in the list from before.
			c := packageChange{name: words[0], from: is[words[0]], to: words[1], asked: asked[words[0]]}
			if o[0] == "--remove" {
				c.from, c.to, c.purge = words[1], "", args.RemoveNoSave
			}
			t.changes = append(t.changes, c)
		}
	}
	t.do = func(ctx context.Context) error {
		for _, o := range orders {
			argv := append([]string{"pacman", o[0], "--noconfirm", "--noprogressbar"}, o[1:]...)
			if _, err := runManager(ctx, a, exec.NewTool(argv...), args.LockTimeout); err != nil {
				return err
			}
		}
		return nil
	}
	return t, nil
}

var pacmanUnknown = pattern.New(`(?m)^error: target not found: (\S+)`)

// planInstallation returns what to call for the names that are not satisfied: files are another matter than packages of the
// repositories.
func (p *pacman) planInstallation(ctx context.Context, a *exec.Attempt) ([][]string, error) {
	var names, files []string
	for _, name := range p.args.Name {
		if strings.Contains(name, "://") || strings.Contains(name, ".pkg.tar") {
			files = append(files, name)
		} else {
			names = append(names, name)
		}
	}
	if p.args.State == "present" && len(names) > 0 {
		said, err := a.AskTool(ctx, exec.NewTool(append([]string{"pacman", "--deptest", "--"}, names...)...))
		// --deptest prints what is not satisfied, so its exit status does not mean a failure.
		if err != nil {
			return nil, err
		}
		names = strings.Fields(said.Stdout) // groups, too, of which the rest is found out
	}
	var orders [][]string
	for _, o := range []struct {
		verb  string
		names []string
	}{{"--sync", names}, {"--upgrade", files}} {
		if len(o.names) > 0 {
			words := append([]string{o.verb, "--needed"}, p.args.Extra...)
			orders = append(orders, append(append(words, "--"), o.names...))
		}
	}
	return orders, nil
}

// planRemoval returns what to call for the names that are there, be it as groups.
func (p *pacman) planRemoval(ctx context.Context, a *exec.Attempt, is map[string]string) ([][]string, error) {
	var names []string
	for _, name := range p.args.Name {
		if is[name] != "" {
			names = append(names, name)
			continue
		}
		// A group is not installed as such: its members are.
		said, err := a.AskTool(ctx, exec.NewTool("pacman", "--query", "--groups", "--", name))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(said.Stdout) {
			if words := strings.Fields(line); len(words) == 2 {
				names = append(names, words[1])
			}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	words := []string{"--remove"}
	if p.args.Force {
		// Given twice it also ignores dependencies with versions.
		words = append(words, "--nodeps", "--nodeps")
	}
	if p.args.RemoveNoSave {
		words = append(words, "--nosave")
	}
	return [][]string{append(append(append(words, p.args.Extra...), "--"), names...)}, nil
}
