package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("git", exec.Action{Plan: planGit, Supplies: func(args any) string {
	a := args.(*spec.GitArgs)
	return cmp.Or(exec.QuoteGiven("executable", a.Executable), exec.QuoteGiven("ssh_opts", a.SSHOpts))
}})

func planGit(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.GitArgs)
	g := &gitStep{Attempt: a, args: args, c: &exec.Change{Fields: map[string]any{"before": nil, "remote_url_changed": false}}}
	g.c.Diff.Path = args.Dest
	if err := g.refuseSteering(); err != nil {
		return nil, err
	}
	g.hideLogin()
	if program := g.buildCommand("").Argv[0]; program == "git" && !a.Installed(program) {
		return nil, fault.Missing("", "git is not installed; it is in the package git")
	}
	return g.c, g.planChange(ctx)
}

func (g *gitStep) planChange(ctx context.Context) error {
	there, err := g.isRepo()
	if err != nil {
		return err
	}
	if g.args.State == fsys.Absent {
		return g.planRemoval(ctx, there)
	}
	if there && !g.args.Update {
		return g.leaveVersion(ctx)
	}
	if err := g.askRemote(ctx); err != nil {
		return err
	}
	g.c.Fields["after"] = g.want.commit
	switch {
	case there && g.args.Bare:
		return g.updateBare(ctx)
	case there:
		return g.planUpdate(ctx)
	case !g.args.Clone:
		g.c.PlanNothing()
		return nil
	}
	return g.planClone()
}

// leaveVersion plans for a working copy that is not brought to a version. Its repository may still have to move.
func (g *gitStep) leaveVersion(ctx context.Context) error {
	before, err := g.readHead(ctx)
	g.c.Fields["before"], g.c.Fields["after"] = before, before
	move, words, moveErr := g.planGitDir()
	if err := errors.Join(err, moveErr); err != nil || move == nil {
		g.c.PlanNothing()
		return err
	}
	g.c.PlanFor(events.ChangeUpdate, "git", g.args.Dest, move, words)
	return nil
}

// isRepo reports whether there is a repository at dest. Anything else but an empty directory is in the way.
func (g *gitStep) isRepo() (bool, error) {
	if g.args.Dest == "" {
		return false, nil
	}
	mark := ".git"
	if g.args.Bare {
		mark = "objects"
	}
	empty, err := g.isEmpty(g.args.Dest)
	if empty || err != nil {
		return false, err
	}
	if _, err := os.Stat(filepath.Join(g.args.Dest, mark)); err == nil {
		return true, nil
	}
	if !g.args.Clone {
		return false, nil
	}
	return false, fmt.Errorf("%s is not a git repository, and not empty; move its contents away", g.args.Dest)
}

// readHead returns the commit that is checked out; "" if there is none.
func (g *gitStep) readHead(ctx context.Context) (string, error) {
	said, err := g.askGit(ctx, g.args.Dest, "rev-parse", "--verify", "HEAD^{commit}")
	switch {
	case err != nil:
		return "", err
	case said.Code != 0 && strings.Contains(said.Stderr, "dubious ownership"):
		return "", fmt.Errorf("git: %s belongs to another user; run the step as its owner, or trust it with `git config --global --add safe.directory %s`", g.args.Dest, g.args.Dest)
	case said.Code != 0:
		return "", nil
	}
	return strings.TrimSpace(said.Stdout), nil
}

func (g *gitStep) planClone() error {
	words := []string{"clone " + spec.ShownURL(g.url), g.wordVersion()}
	if g.args.Archive != "" {
		words = append(words, "archive "+g.args.Archive)
	}
	argv := []string{"clone", "--origin", g.args.Remote}
	if g.args.Bare {
		argv = append(argv, "--bare")
	}
	argv = append(argv, g.depthOptions()...)
	if g.args.SingleBranch {
		argv = append(argv, "--single-branch")
	}
	// clone takes a branch or a tag, and no commit: that is checked out afterwards.
	named := g.want.branch + g.want.tag
	if named != "" && g.args.Version != "HEAD" && !g.args.Bare {
		argv = append(argv, "--branch", named)
	}
	if g.args.SeparateGitDir != "" {
		argv = append(argv, "--separate-git-dir="+g.args.SeparateGitDir)
	}
	if g.args.Reference != "" {
		argv = append(argv, "--reference", g.args.Reference)
	}
	argv = append(argv, "--", g.url, g.args.Dest)
	g.c.PlanCreation("git", g.args.Dest, nil, func(ctx context.Context) error {
		watched := []string{filepath.Dir(g.args.Dest)}
		if g.args.SeparateGitDir != "" {
			watched = append(watched, filepath.Dir(g.args.SeparateGitDir))
		}
		record := g.c.Watch(false, watched...)
		packed := g.args.Archive != "" && !isPresent(g.args.Archive)
		defer func() {
			record()
			g.recordClone(packed)
		}()
		if err := os.MkdirAll(filepath.Dir(g.args.Dest), 0o755); err != nil {
			return err
		}
		if err := g.changeWith(ctx, "", argv...); err != nil || g.args.Bare {
			return errors.Join(err, g.noteResult(ctx))
		}
		if named == "" || g.args.Refspec != "" {
			if err := g.fetchVersion(ctx); err != nil {
				return err
			}
		}
		// The files are there already, as with Ansible: clone has brought them.
		if err := g.verifyCommit(ctx); err != nil {
			return err
		}
		return g.finishCheckout(ctx, named == "")
	}, words...)
	g.c.AddPrediction(func(f *fsys.Overlay) {
		f.Mkdir(g.args.Dest, fsys.Wanted{Mode: 0o755, UID: -1, GID: -1}, fsys.Wanted{Mode: 0o755, UID: -1, GID: -1})
	})
	return nil
}

// depthOptions is how much to fetch of a branch or tag. A commit may be anywhere, so everything is fetched for one.
func (g *gitStep) depthOptions() []string {
	switch {
	case g.args.Depth == nil:
		return nil
	case g.want.ref == "":
		g.c.Warnings = append(g.c.Warnings, "depth: a commit may be anywhere, so everything is fetched")
		return nil
	}
	return []string{"--depth", strconv.Itoa(*g.args.Depth)}
}

// planUpdate brings a working copy to the version.
func (g *gitStep) planUpdate(ctx context.Context) error {
	before, err := g.readHead(ctx)
	if err != nil {
		return err
	}
	if before != "" {
		g.c.Fields["before"] = before
	}
	var words []string
	remote, err := g.otherRemote(ctx)
	if err != nil {
		return err
	}
	if remote != "" {
		words = append(words, remote)
	}
	modified, err := g.countModified(ctx)
	switch {
	case err != nil:
		return err
	case modified > 0 && !g.args.Force:
		return fmt.Errorf("%s has %s with changes of its own; force: true throws them away", g.args.Dest, countedFiles(modified))
	case modified > 0:
		words = append(words, countedFiles(modified)+" reset")
	}
	// The remote lists neither short ids nor what only a refspec brings; an earlier fetch may have brought it.
	if g.want.commit == "" {
		g.want.commit = g.findFetched(ctx, g.args.Version)
	}
	moveDir, movesDir, err := g.planGitDir()
	if err != nil {
		return err
	}
	moves := g.want.commit == "" || g.want.commit != before
	if !moves {
		// What is there was checked out before, and its signature may be gone or its key revoked.
		if err := g.verifyCommit(ctx); err != nil {
			return err
		}
	}
	if moveDir != nil {
		words = append(words, movesDir)
	}
	if moves {
		words = append([]string{shortenCommit(before) + " → " + g.wordVersion()}, words...)
		g.c.Diff.Text = g.listCommits(ctx, before)
	}
	if n, err := g.openSubmodules(ctx); err != nil {
		return err
	} else if n > 0 && !moves {
		words = append(words, fmt.Sprintf("submodules: %d", n))
		g.c.Fields["submodules_changed"] = true
	}
	if g.args.Archive != "" && (moves || packedCommit(g.args.Archive, g.args.ArchivePrefix) != g.want.commit) {
		words = append(words, "archive "+g.args.Archive)
	}
	if len(words) == 0 {
		g.c.PlanNothing()
		return nil
	}
	g.depthOptions() // for its warning
	g.c.PlanFor(events.ChangeUpdate, "git", g.args.Dest, func(ctx context.Context) error {
		if moveDir != nil {
			if err := moveDir(ctx); err != nil {
				return err
			}
		}
		// The remote goes first, since what follows fetches from it.
		if err := g.setRemote(ctx, remote); err != nil {
			return err
		}
		if modified > 0 {
			if err := g.changeWith(ctx, g.args.Dest, "reset", "--hard"); err != nil {
				return err
			}
		}
		if moves {
			if err := g.fetchVersion(ctx); err != nil {
				return err
			}
			// Before the files change: whatever reads them must never see what is not signed.
			if err := g.verifyCommit(ctx); err != nil {
				return err
			}
		}
		return g.finishCheckout(ctx, moves)
	}, words...)
	return nil
}

func countedFiles(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// otherRemote says in words how what the working copy calls its repository differs from what the step says.
func (g *gitStep) otherRemote(ctx context.Context) (string, error) {
	said, err := g.askGit(ctx, g.args.Dest, "config", "--get", "remote."+g.args.Remote+".url")
	if err != nil {
		return "", err
	}
	is := strings.TrimSpace(said.Stdout)
	switch is {
	case "":
		return "remote " + g.args.Remote, nil
	case g.url:
		return "", nil
	}
	g.c.Fields["remote_url_changed"] = true
	if spec.ShownURL(is) == spec.ShownURL(g.url) {
		return "password removed from remote " + g.args.Remote, nil
	}
	return "remote " + spec.ShownURL(is) + " → " + spec.ShownURL(g.url), nil
}

func (g *gitStep) setRemote(ctx context.Context, remote string) error {
	switch {
	case remote == "":
		return nil
	case g.c.Fields["remote_url_changed"] == true:
		return g.changeWith(ctx, g.args.Dest, "remote", "set-url", g.args.Remote, g.url)
	}
	return g.changeWith(ctx, g.args.Dest, "remote", "add", g.args.Remote, g.url)
}

// countModified counts the files that differ from the commit. Submodules look after themselves.
func (g *gitStep) countModified(ctx context.Context) (int, error) {
	text, err := g.askLine(ctx, g.args.Dest, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
	if text == "" {
		return 0, err
	}
	return strings.Count(text, "\n") + 1, err
}

// findFetched returns a commit that has been fetched already; "" if it has not.
func (g *gitStep) findFetched(ctx context.Context, name string) string {
	said, err := g.askGit(ctx, g.args.Dest, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	if err != nil || said.Code != 0 {
		return ""
	}
	return strings.TrimSpace(said.Stdout)
}

// listCommits lists the commits that come, or go, as far as they have been fetched already.
func (g *gitStep) listCommits(ctx context.Context, before string) string {
	if !g.Diff || g.NoLog || before == "" || g.findFetched(ctx, g.want.commit) == "" || g.want.commit == "" {
		return ""
	}
	var b strings.Builder
	for _, side := range []struct{ sign, span string }{{"+", before + ".." + g.want.commit}, {"-", g.want.commit + ".." + before}} {
		text, err := g.askLine(ctx, g.args.Dest, "log", "--oneline", "--no-decorate", "--no-color", "--max-count=100", side.span)
		if err != nil {
			return ""
		}
		for line := range strings.Lines(text) {
			b.WriteString(side.sign + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return b.String()
}

// fetchVersion brings what the version is.
func (g *gitStep) fetchVersion(ctx context.Context) error {
	argv := append([]string{"fetch", "--force"}, g.depthOptions()...)
	tracked := "refs/remotes/" + g.args.Remote + "/"
	switch {
	// A depth would cut the history of every branch that is fetched, so only the one that is wanted is.
	case len(argv) > 2 || g.args.SingleBranch:
		from := g.want.ref
		to := from
		if g.want.branch != "" {
			to = tracked + g.want.branch
		}
		argv = append(argv, g.args.Remote, "+"+from+":"+to)
	default:
		argv = append(argv, "--tags", g.args.Remote, "+refs/heads/*:"+tracked+"*")
	}
	if err := g.changeWith(ctx, g.args.Dest, argv...); err != nil {
		return err
	}
	if g.args.Refspec != "" {
		if err := g.changeWith(ctx, g.args.Dest, "fetch", "--force", g.args.Remote, g.args.Refspec); err != nil {
			return err
		}
	}
	switch {
	case g.want.commit == "":
		if g.want.commit = g.findFetched(ctx, g.args.Version); g.want.commit == "" {
			return fmt.Errorf("repo %s has no branch, tag or commit %s", spec.ShownURL(g.url), g.args.Version)
		}
	case g.findFetched(ctx, g.want.commit) != "":
	case g.want.ref != "":
		return g.changeWith(ctx, g.args.Dest, "fetch", "--force", g.args.Remote, g.want.ref)
	default:
		// Many servers give a commit by its id only if a branch or a tag has it.
		return g.changeWith(ctx, g.args.Dest, "fetch", "--force", g.args.Remote, g.want.commit)
	}
	return nil
}

// finishCheckout checks the version out, with its submodules, and packs it.
func (g *gitStep) finishCheckout(ctx context.Context, checkout bool) error {
	if checkout {
		argv := []string{"checkout", "--force", "--detach", g.want.commit}
		if g.want.branch != "" {
			// -B sets a branch of that name to the remote's, whatever commits it has here.
			argv = []string{"checkout", "--force", "-B", g.want.branch, "refs/remotes/" + g.args.Remote + "/" + g.want.branch}
		}
		if err := g.changeWith(ctx, g.args.Dest, argv...); err != nil {
			return err
		}
	}
	if g.hasSubmodules() {
		// .gitmodules may name another address than the one that the first checkout noted.
		if err := g.changeWith(ctx, g.args.Dest, "submodule", "sync", "--recursive", "--quiet"); err != nil {
			return err
		}
		if err := g.changeWith(ctx, g.args.Dest, g.updateSubmodules()...); err != nil {
			return err
		}
	}
	if err := g.noteResult(ctx); err != nil || g.args.Archive == "" {
		return err
	}
	return g.packArchive(ctx)
}

// noteResult puts into the result what is checked out now.
func (g *gitStep) noteResult(ctx context.Context) error {
	after, err := g.readHead(ctx)
	g.c.Fields["after"] = after
	return err
}

// updateBare lets a repository without a working copy follow all branches and tags.
func (g *gitStep) updateBare(ctx context.Context) error {
	before, err := g.readHead(ctx)
	if err != nil {
		return err
	}
	g.c.Fields["before"] = before
	remote, err := g.otherRemote(ctx)
	if err != nil {
		return err
	}
	text, err := g.askLine(ctx, g.args.Dest, "for-each-ref", "--format=%(objectname)%09%(refname)", "refs/heads", "refs/tags")
	if err != nil {
		return err
	}
	is := map[string]string{}
	for line := range strings.Lines(text) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		is[name] = id
	}
	behind := 0
	for name, id := range g.refs {
		// NAME^{} is the commit of a tag that has a message; for-each-ref gives the tag. What the remote has deleted stays here, since
		// fetch does not prune.
		if strings.HasPrefix(name, "refs/") && !strings.HasSuffix(name, "^{}") && is[name] != id {
			behind++
		}
	}
	var words []string
	if behind > 0 {
		words = append(words, fmt.Sprintf("branches and tags: %d", behind))
	}
	if remote != "" {
		words = append(words, remote)
	}
	if len(words) == 0 {
		g.c.Fields["after"] = before
		g.c.PlanNothing()
		return nil
	}
	g.c.PlanFor(events.ChangeUpdate, "git", g.args.Dest, func(ctx context.Context) error {
		if err := g.setRemote(ctx, remote); err != nil {
			return err
		}
		if err := g.changeWith(ctx, g.args.Dest, "fetch", "--force", "--tags", g.args.Remote, "+refs/heads/*:refs/heads/*"); err != nil {
			return err
		}
		return g.noteResult(ctx)
	}, words...)
	return nil
}
