package action

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// openSubmodules counts the submodules that are not checked out as the commit has them, or, if they are tracked, as their own
// repositories have them.
func (g *gitStep) openSubmodules(ctx context.Context) (int, error) {
	if !g.hasSubmodules() {
		return 0, nil
	}
	text, err := g.askLine(ctx, g.args.Dest, "submodule", "status", "--recursive")
	n := 0
	for line := range strings.Lines(text) {
		// - is not checked out, + is at another commit, which is right for one that is tracked.
		if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") && !g.args.TrackSubmodules {
			n++
		}
	}
	if err != nil || n > 0 || !g.args.TrackSubmodules {
		return n, err
	}
	return g.behindSubmodules(ctx)
}

// behindSubmodules counts the submodules whose repositories have another commit than the one that is checked out. It only asks them:
// a dry run fetches nothing.
func (g *gitStep) behindSubmodules(ctx context.Context) (int, error) {
	text, err := g.askLine(ctx, g.args.Dest, "config", "--file", ".gitmodules", "--get-regexp", `^submodule\..*\.(path|branch)$`)
	if err != nil {
		return 0, err
	}
	paths, branches := map[string]string{}, map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if name, ok := strings.CutSuffix(key, ".path"); ok {
			paths[name] = value
		} else if name, ok := strings.CutSuffix(key, ".branch"); ok {
			branches[name] = value
		}
	}
	n := 0
	for name, path := range paths {
		dir := filepath.Join(g.args.Dest, path)
		is, err := g.askLine(ctx, dir, "rev-parse", "--verify", "HEAD^{commit}")
		if err != nil {
			return 0, err
		}
		ref := "HEAD"
		switch branch := branches[name]; branch {
		case "":
		case ".": // the branch of the repository that it is in
			ref = "refs/heads/" + g.want.branch
		default:
			ref = "refs/heads/" + branch
		}
		// The submodule knows where it came from, also if .gitmodules has a relative address.
		there, err := g.askLine(ctx, dir, "ls-remote", "--", "origin", ref)
		if err != nil {
			return 0, err
		}
		if id, _, _ := strings.Cut(there, "\t"); id != "" && id != is {
			n++
		}
	}
	return n, nil
}

// updateSubmodules is the command that checks submodules out.
func (g *gitStep) updateSubmodules() []string {
	argv := []string{"submodule", "update", "--init", "--recursive", "--force"}
	if g.args.TrackSubmodules {
		argv = append(argv, "--remote")
	}
	return argv
}

func (g *gitStep) hasSubmodules() bool {
	if !g.args.Recursive {
		return false
	}
	_, err := os.Stat(filepath.Join(g.args.Dest, ".gitmodules"))
	return err == nil
}
