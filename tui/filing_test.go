package tui

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
)

// filed watches files of which some change once, and then none any more.
func filed(t *testing.T, found Examined) (s *screen, reloads *int) {
	t.Helper()
	reloads = new(int)
	waits := 0
	s = newScreen(t, setup{w: 120, h: 24, options: func(o *Options) {
		o.Again = true
		o.Await = func(ctx context.Context, p *plan.Plan, broken bool) ([]string, error) {
			if waits++; waits > 1 {
				return nil, errors.New("that was all")
			}
			return []string{"/work/devbox.yml", "/work/a.yml", "/work/b.yml"}, nil
		}
		o.Examine = func(_ *plan.Plan, changed []string) (Examined, error) {
			if len(changed) != 3 {
				t.Errorf("examined %q", changed)
			}
			return found, nil
		}
		o.Reload = func() (diag.List, error) {
			*reloads++
			return nil, nil
		}
	}})
	return s, reloads
}

// What changes in a review is planned again at once, and waited for again.
func TestFilesInReview(t *testing.T) {
	s, reloads := filed(t, Examined{})
	s.press("w")
	if *reloads != 1 || s.m.Files.On {
		t.Errorf("planned again %d times; still watched %t", *reloads, s.m.Files.On)
	}
	s.has("that was all")
}

// While steps run nothing is planned; when the run pauses, it is.
func TestFilesWhileRunning(t *testing.T) {
	s, reloads := filed(t, Examined{})
	s.keys("A")
	s.press("c")
	s.f.Until("install git")
	s.frame()
	s.press("w")
	s.has("devbox.yml, a.yml, 1 more file has changed: it is planned again when the run pauses", "watching files")
	if *reloads != 0 {
		t.Fatal("planned again while steps run")
	}
	s.keys("p")
	s.frame()
	if s.m.Shot.Phase == events.Running || *reloads != 1 {
		t.Errorf("phase %d, planned again %d times\n%s", s.m.Shot.Phase, *reloads, s.shows())
	}
}

// After the run another continues it, or runs the steps whose sources have changed; what means nothing is said, and waited on.
func TestFilesAfterTheRun(t *testing.T) {
	for _, tt := range []struct {
		found Examined
		again *AgainError
		says  string
	}{
		{Examined{Edited: true}, &AgainError{Edited: true, Watching: true}, ""},
		{Examined{Steps: []string{"devbox.yml/build"}}, &AgainError{Steps: []string{"devbox.yml/build"}, Watching: true}, ""},
		{Examined{}, nil, "that was all"},
		{Examined{Diagnostics: diag.List{{Severity: diag.Error, Message: "no such key", Pos: diag.Pos{File: "devbox.yml", Line: 3}}}}, nil, "no such key"},
	} {
		s, reloads := filed(t, tt.found)
		s.keys("A ] a c")
		s.has("DONE")
		s.press("w")
		if !reflect.DeepEqual(s.m.again, tt.again) || *reloads != 0 {
			t.Errorf("%+v: %+v, planned again in the run %d times", tt.found, s.m.again, *reloads)
		}
		if quits(s) != (tt.again != nil) {
			t.Errorf("%+v: quits %t", tt.found, quits(s))
		}
		if tt.says != "" {
			s.has(tt.says)
		}
	}
}
