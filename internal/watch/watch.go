package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/fsnotify/fsnotify"
)

// Watcher watches files for one who waits.
type Watcher struct {
	system   *fsnotify.Watcher
	files    map[string]bool // clean and absolute
	patterns []string
	any      bool // every file in the directories that may be part of a playbook
}

// New watches nothing yet.
func New() (*Watcher, error) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("files cannot be watched: %w", err)
	}
	return &Watcher{system: system, files: map[string]bool{}}, nil
}

// Close ends it.
func (w *Watcher) Close() error { return w.system.Close() }

// Wanted is what a caller waits for. Paths are absolute.
type Wanted struct {
	Files    []string
	Patterns []string // globs, with ** for any directories
	// Any has each file count next to one of Files that a playbook may be made of: which those are is not known while it has a mistake.
	Any bool
}

// maxDirs is how many directories are watched for patterns: systems have limits.
const maxDirs = 4096

// Follow has the watcher wait for other files than before.
func (w *Watcher) Follow(want Wanted) error {
	w.files, w.patterns, w.any = map[string]bool{}, want.Patterns, want.Any
	dirs := map[string]bool{}
	for _, f := range want.Files {
		f = filepath.Clean(f)
		w.files[f] = true
		dirs[filepath.Dir(f)] = true
	}
	for _, pattern := range want.Patterns {
		addDirs(dirs, pattern)
	}
	for _, dir := range w.system.WatchList() {
		if !dirs[dir] {
			_ = w.system.Remove(dir) // which may be gone
		}
	}
	var failed error
	for dir := range dirs {
		// A directory that is not there cannot have the file either: it comes with a file above it, or not at all.
		if err := w.system.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) && failed == nil {
			failed = fmt.Errorf("%s cannot be watched: %w", dir, err)
		}
	}
	return failed
}

// addDirs adds the directories in which files of a pattern may be.
func addDirs(dirs map[string]bool, pattern string) {
	base, rest := doublestar.SplitPattern(filepath.ToSlash(pattern))
	if !strings.Contains(rest, "/") && !strings.Contains(rest, "**") {
		dirs[filepath.Clean(base)] = true
		return
	}
	_ = filepath.WalkDir(filepath.FromSlash(base), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return nil //nolint:nilerr // what cannot be read cannot be watched
		case d.Name() == ".git" || len(dirs) >= maxDirs:
			return fs.SkipDir
		}
		dirs[filepath.Clean(path)] = true
		return nil
	})
}

// settle is how long nothing may change before a change counts: a file is often written in several steps, and several files at a time.
const settle = 80 * time.Millisecond

// Wait waits until files have changed, and gives their paths. Its error is that of the context, or says that nothing can be watched.
func (w *Watcher) Wait(ctx context.Context) (changed []string, err error) {
	quiet := time.NewTimer(time.Hour)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-quiet.C:
			if len(changed) > 0 {
				return changed, nil
			}
			quiet.Reset(time.Hour)
		case event, ok := <-w.system.Events:
			if !ok {
				return nil, errors.New("files are not watched any more")
			}
			if path := filepath.Clean(event.Name); w.counts(path, event.Op) {
				if !slices.Contains(changed, path) {
					changed = append(changed, path)
				}
				quiet.Reset(settle)
			}
		case err, ok := <-w.system.Errors:
			if !ok || !errors.Is(err, fsnotify.ErrEventOverflow) {
				return nil, fmt.Errorf("files cannot be watched: %w", err)
			}
			// Something was missed: the caller looks at everything anyway.
			changed = append(changed, "")
			quiet.Reset(settle)
		}
	}
}

// mayBePart are the extensions of files that playbooks are made of. Logs and what steps make are not among them.
var mayBePart = map[string]bool{
	".yml": true, ".yaml": true, ".json": true, ".j2": true, ".jinja": true, ".tmpl": true, ".ini": true, ".cfg": true, ".toml": true,
}

// counts reports whether a change is one to the caller: not the times or the mode of a file, and not that it was read.
func (w *Watcher) counts(path string, op fsnotify.Op) bool {
	if op&(fsnotify.Write|fsnotify.Create|fsnotify.Rename|fsnotify.Remove) == 0 {
		return false
	}
	if w.files[path] || w.any && mayBePart[filepath.Ext(path)] && !strings.HasPrefix(filepath.Base(path), ".") {
		return true
	}
	return MatchesAny(w.patterns, []string{path})
}

// MatchesAny reports whether one of the files is one of the patterns.
func MatchesAny(patterns, files []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return slices.ContainsFunc(files, func(path string) bool {
			ok, err := doublestar.PathMatch(pattern, path)
			return ok && err == nil
		})
	})
}
