package app_test

import (
	"bytes"
	"errors"
	"testing"

	"moon/events"
	"moon/internal/app"
)

// TestAnsibleExit: MOON_ANSIBLE_EXIT=1 gives the exit codes that scripts around ansible-playbook look at.
func TestAnsibleExit(t *testing.T) {
	web := func(unreachable int) []events.HostCounts {
		return []events.HostCounts{{Host: "web1", OK: 1, Unreachable: unreachable}}
	}
	for _, c := range []struct {
		name       string
		err        error
		moon, like int
	}{
		{"done", app.ExitOf(events.RunCompleted{Outcome: events.RunDone, Hosts: web(0)}), 0, 0},
		{"failed", app.ExitOf(events.RunCompleted{Outcome: events.RunFailed, Hosts: web(0)}), 1, 2},
		{"unreachable", app.ExitOf(events.RunCompleted{Outcome: events.RunFailed, Hosts: web(1)}), 1, 4},
		{"unreachable, with what else went wrong", errors.Join(nil, app.ExitOf(events.RunCompleted{Outcome: events.RunFailed, Hosts: web(1)})), 1, 4},
		{"interrupted", app.ExitOf(events.RunCompleted{Outcome: events.RunInterrupted}), 130, 99},
		{"stopped", app.ExitOf(events.RunCompleted{Outcome: events.RunStopped}), 3, 1},
		{"the playbook is wrong", app.Usage("no"), 2, 4},
		{"disk", errors.New("disk full"), 5, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("MOON_ANSIBLE_EXIT", "")
			if code := app.Report(&bytes.Buffer{}, c.err); code != c.moon {
				t.Errorf("moon ends with %d, want %d", code, c.moon)
			}
			t.Setenv("MOON_ANSIBLE_EXIT", "1")
			if code := app.Report(&bytes.Buffer{}, c.err); code != c.like {
				t.Errorf("like ansible: %d, want %d", code, c.like)
			}
		})
	}
}
