package tui

import (
	"testing"

	"moon/tui/tuitest"
)

// TestStepsOfADryRunThatRun marks the steps that a dry run executes, in the header, in their rows and in their panes; in another run they are
// steps like any other.
func TestStepsOfADryRunThatRun(t *testing.T) {
	for _, check := range []bool{true, false} {
		p := devbox()
		no := false
		p.Steps[1].CheckMode = &no
		s := newScreen(t, setup{p: p, w: 120, h: 40, options: func(o *Options) { o.Mode = "dry run" }, fake: func(f *tuitest.Engine) { f.Check = check }})
		s.on(p.Steps[1].Name)
		if check {
			s.has("dry run", "1 for real", "for real", "runs for real  check_mode: false")
		} else {
			s.hasNot("for real")
		}
	}
}
