package action

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"moon/exec/fsys"
)

// gitDir is where the repository of the working copy itself is: .git, or what the file .git names.
func (g *gitStep) gitDir() (string, error) {
	path := filepath.Join(g.args.Dest, ".git")
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return path, err
	}
	text, err := fsys.ReadRegular(path)
	if err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if !ok {
		return "", fmt.Errorf("%s does not say where the repository is; remove the working copy, and it is cloned again", path)
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(g.args.Dest, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s says that the repository is %s, which is not a directory", path, dir)
	}
	return dir, nil
}

// planGitDir plans to move the repository out of the working copy; nil: it is where it should be.
func (g *gitStep) planGitDir() (move func(context.Context) error, words string, err error) {
	want := g.args.SeparateGitDir
	if want == "" {
		return nil, "", nil
	}
	is, err := g.gitDir()
	if err != nil {
		return nil, "", err
	}
	here, err := os.Stat(is)
	if err != nil {
		return nil, "", err
	}
	if there, err := os.Stat(want); err == nil {
		if os.SameFile(here, there) {
			return nil, "", nil
		}
		return nil, "", fmt.Errorf("separate_git_dir: %s exists, and the repository is %s; remove one of them", want, is)
	}
	// They know it, and it knows them, by paths that a move makes wrong.
	if _, err := os.Stat(filepath.Join(is, "modules")); err == nil {
		return nil, "", fmt.Errorf("separate_git_dir: %s holds the repositories of submodules, which cannot be moved with it; "+
			"remove the working copy, and it is cloned again", is)
	}
	g.c.Fields["git_dir_before"], g.c.Fields["git_dir_now"] = is, want
	return func(ctx context.Context) error {
		if err := os.MkdirAll(filepath.Dir(want), 0o755); err != nil {
			return err
		}
		// Git moves an existing repository by itself, and writes where to.
		return g.changeWith(ctx, g.args.Dest, "init", "--quiet", "--separate-git-dir="+want)
	}, "repository " + is + " → " + want, nil
}
