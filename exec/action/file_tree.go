package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
)

// makeDirs plans the directory at a place whose name may have several parts.
func (s fileStep) makeDirs(p *fsys.Anchored) (*exec.Change, error) {
	w, words := s.attrs.ForNew(fsys.Directory)
	summary := "new directory"
	if n := strings.Count(p.Name, "/"); n > 0 {
		summary = "new directory (creates 1 parent too)"
		if n > 1 {
			summary = fmt.Sprintf("new directory (creates %d parents too)", n)
		}
	}
	s.c.Result = p
	s.c.AddDirs(p)
	s.c.AddPrediction(func(f *fsys.Overlay) { f.Mkdir(p.Path, w, w) })
	apply := func(context.Context) error { return p.PathError(fsys.MakeDirsAtOnce(p.Dir, p.Name, w, w)) }
	return s.c.Plan(events.ChangeCreate, apply, append([]string{summary}, words...)...), nil
}

// attributeChange is one entry of a tree with what it shall have.
type attributeChange struct {
	name string
	is   fsys.Entry
	want fsys.Wanted
}

// setRecursively gives a directory and everything below it the mode and owners. Links get owners only.
func (s fileStep) setRecursively(ctx context.Context, p *fsys.Anchored) (*exec.Change, error) {
	var list []attributeChange
	var first string
	err := p.Walk(func(name string, e fsys.Entry) error {
		if w, words := s.attrs.For(e); len(words) > 0 {
			if len(list) == 0 {
				first = strings.Join(words, ", ")
			}
			list = append(list, attributeChange{name, e, w})
		}
		if fault.Stopped(ctx) != "" {
			return context.Cause(ctx)
		}
		return nil
	})
	if err != nil {
		return nil, p.PathError(err)
	}
	if len(list) == 0 {
		return s.c.PlanNothing(), nil
	}
	summary := first
	switch {
	case len(list) > 1:
		summary = fmt.Sprintf("%s, in all %d entries", first, len(list))
	case list[0].name != p.Name:
		summary = strings.TrimPrefix(list[0].name, p.Name+"/") + ": " + first
	}
	s.c.AddPrediction(func(f *fsys.Overlay) {
		for _, ch := range list {
			f.Own(p.Path+strings.TrimPrefix(ch.name, p.Name), ch.is, ch.want)
		}
	})
	apply := func(ctx context.Context) error {
		// From the leaves to the root, which may not be entered any more with its new mode.
		for _, ch := range slices.Backward(list) {
			if fault.Stopped(ctx) != "" {
				return context.Cause(ctx)
			}
			if err := ch.want.Set(p.Dir, ch.name, ch.is); err != nil {
				return err
			}
		}
		return nil
	}
	return s.c.Plan(events.ChangeUpdate, apply, summary), nil
}
