package action

import (
	"context"
	"fmt"
	"os"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fsys"
)

// recordClone notes what takes a new working copy away again. In a bare repository nobody can tell whose commits are whose, so it goes
// only if nothing in it has changed.
func (g *gitStep) recordClone(packed bool) {
	for i := range g.c.Resources {
		r := &g.c.Resources[i]
		switch {
		case r.Type != "git":
		case g.args.Bare:
			var whole exec.Change
			whole.AddTree(g.args.Dest)
			whole.Resources[0].Type = events.FileResource
			*r = whole.Resources[0]
		default:
			r.Digest, _ = g.c.Fields["after"].(string)
			args := map[string]any{"dest": g.args.Dest, "state": fsys.Absent, "version": r.Digest}
			if g.args.SeparateGitDir != "" {
				args["separate_git_dir"] = g.args.SeparateGitDir
			}
			r.Undo = g.UndoWithTools("git", args)
		}
	}
	if packed && isPresent(g.args.Archive) {
		g.c.AddFile(events.ChangeCreate, g.args.Archive)
	}
}

// planRemoval removes the working copy, if nothing would be lost with it.
func (g *gitStep) planRemoval(ctx context.Context, there bool) error {
	if !there {
		g.c.PlanNothing()
		return nil
	}
	if err := g.refuseLoss(ctx); err != nil {
		return err
	}
	head, err := g.readHead(ctx)
	if err != nil {
		return err
	}
	g.c.Fields["before"], g.c.Fields["after"] = head, nil
	g.c.PlanFor(events.ChangeDelete, "git", g.args.Dest, func(ctx context.Context) error {
		if err := g.refuseLoss(ctx); err != nil { // somebody may have worked in it since
			return err
		}
		dir, err := g.gitDir()
		if err == nil {
			err = removeAll(g.args.Dest)
		}
		// One that the step does not name is not this copy's alone: a worktree has its own part of another's repository.
		if err != nil || g.args.SeparateGitDir == "" || !isSamePath(dir, g.args.SeparateGitDir) {
			return err
		}
		return removeAll(dir)
	}, strings.TrimSpace("working copy "+shortenCommit(head)))
	g.c.AddPrediction(func(f *fsys.Overlay) { f.Put(g.args.Dest, fsys.Nothing) })
	return nil
}

// refuseLoss returns an error if the working copy has something that is nowhere else.
func (g *gitStep) refuseLoss(ctx context.Context) error {
	if g.args.Force {
		return nil
	}
	lost := func(what string) error {
		return fmt.Errorf("%s has %s, which would be lost; save what you need and remove it with force: true, or keep it", g.args.Dest, what)
	}
	text, err := g.askLine(ctx, g.args.Dest, "status", "--porcelain", "--ignored")
	if err != nil {
		return err
	}
	if text != "" {
		first, _, _ := strings.Cut(text, "\n")
		return lost(countedFiles(strings.Count(text, "\n")+1) + " of its own, such as " + strings.TrimSpace(first[min(len(first), 3):]))
	}
	if g.findFetched(ctx, "refs/stash") != "" {
		return lost("a stash")
	}
	if head, err := g.readHead(ctx); err != nil || head == "" {
		return err
	}
	// What the step has checked out came from somewhere, too, even if no branch or tag has it.
	argv := []string{"rev-list", "--max-count=1", "HEAD", "--branches", "--not", "--remotes", "--tags"}
	if came := g.findFetched(ctx, g.args.Version); came != "" && g.args.Version != "HEAD" {
		argv = append(argv, came)
	}
	own, err := g.askLine(ctx, g.args.Dest, argv...)
	if err == nil && own != "" {
		err = lost("commits of its own, such as " + shortenCommit(own))
	}
	return err
}

func removeAll(path string) error {
	p, err := fsys.AnchorAt(path)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.PathError(p.Dir.RemoveAll(p.Name))
}

// isSamePath reports whether two paths lead to the same directory.
func isSamePath(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
