package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"moon/internal/termtext"
	"moon/internal/watch"
	"moon/plan"
	"moon/plan/selector"
)

// Watch does something with a playbook, and again whenever a file changes that its plan is made from, or that its steps have as their
// sources.
// It ends when the user ends it, or a run, or when nothing can be watched or written. do gives the plan, or why there is none: then the
// playbook waits to be mended. It is called twice at the beginning, as files may change while it is at work.
func Watch(call *Invocation, playbook string, do func(changed []string) (*plan.Plan, error)) error {
	if playbook == "-" {
		return Usage("--watch waits for files to change; standard input does not")
	}
	path, err := filepath.Abs(playbook)
	if err != nil {
		return err
	}
	files, err := watch.New()
	if err != nil {
		return NewExit(ExitDisk, err.Error())
	}
	defer files.Close() //nolint:errcheck // nothing was written
	known := watch.Wanted{Files: []string{path}}
	var changed []string
	for first := true; ; first = false {
		p, err := do(changed)
		if endsWatch(err) {
			return err
		}
		Report(call.Err, err)
		if p != nil {
			known = wantedBy(p)
		}
		// What a playbook with a mistake is made from is not known: anything next to what it was made from may be its remedy.
		known.Any = p == nil
		if err := files.Follow(known); err != nil {
			return NewExit(ExitDisk, err.Error())
		}
		if changed = nil; first && p != nil {
			continue
		}
		if changed, err = waitForChange(call, files, len(known.Files)); err != nil {
			return err
		}
	}
}

func waitForChange(call *Invocation, files *watch.Watcher, count int) ([]string, error) {
	fmt.Fprintf(call.Err, "moon: watching %s; Ctrl-C ends\n", plan.CountOf(count, "file"))
	ctx, stop := call.Signals.Until(context.Background())
	defer stop()
	changed, err := files.Wait(ctx)
	switch {
	case errors.Is(err, context.Canceled):
		return nil, NewExit(ExitInterrupted, "")
	case err != nil:
		return nil, NewExit(ExitDisk, err.Error())
	}
	names := make([]string, len(changed))
	for i, path := range changed {
		names[i] = termtext.CleanName(filepath.Base(path))
	}
	fmt.Fprintf(call.Err, "moon: changed: %s\n", strings.Join(names, ", "))
	return changed, nil
}

// wantedBy is what a plan is made from, and what its steps have as their sources.
func wantedBy(p *plan.Plan) (want watch.Wanted) {
	add := func(path string) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.Root, path)
		}
		want.Files = append(want.Files, path)
	}
	for _, in := range p.Inputs {
		add(in.Path)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, r := range s.Reads {
			add(r.Path)
		}
		if !s.Excluded {
			want.Patterns = append(want.Patterns, patternsOf(p, s)...)
		}
	}
	return want
}

// patternsOf are those of a step's sources. What the run alone knows is not watched.
func patternsOf(p *plan.Plan, s *plan.Step) (patterns []string) {
	for _, v := range s.Task.Src.Sources {
		if text := v.Text(); text != "" && !strings.Contains(text, "{{") {
			patterns = append(patterns, s.Task.Resolve(text, p.Home))
		}
	}
	return patterns
}

// SourcesChanged are the steps of which some of the files are sources.
func SourcesChanged(p *plan.Plan, files []string) (steps []int) {
	for i := range p.Steps {
		if s := &p.Steps[i]; !s.Excluded && watch.MatchesAny(patternsOf(p, s), files) {
			steps = append(steps, i)
		}
	}
	return steps
}

// endsWatch reports whether an error ends a watch: the user has stopped the run, or nothing can be written. Others are for the user to
// mend.
func endsWatch(err error) bool {
	exit, ok := errors.AsType[*Exit](err)
	return ok && (exit.Code == ExitInterrupted || exit.Code == ExitStopped || exit.Code == ExitDisk)
}

// Changes waits for changes of what a plan is made from, again and again. What changes between two waits is not missed.
type Changes struct {
	mu    sync.Mutex
	files *watch.Watcher
}

// Await gives the files of a plan that have changed. With broken the playbook has a mistake, and any file next to those may be its remedy.
// Of two calls the second waits until the first has returned.
func (c *Changes) Await(ctx context.Context, p *plan.Plan, broken bool) (changed []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		if c.files, err = watch.New(); err != nil {
			return nil, err
		}
	}
	want := wantedBy(p)
	want.Any = broken
	if err := c.files.Follow(want); err != nil {
		return nil, err
	}
	return c.files.Wait(ctx)
}

// Close ends it.
func (c *Changes) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files != nil {
		_ = c.files.Close() // nothing was written
	}
}

// PathsConcerned are the paths of some steps, and of those that depend on them.
func PathsConcerned(p *plan.Plan, steps []int) (paths []string) {
	for _, i := range selector.Dependents(p, steps) {
		if s := &p.Steps[i]; !s.Excluded {
			paths = append(paths, s.Path)
		}
	}
	return paths
}
