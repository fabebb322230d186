package process

import (
	"cmp"
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// TestOwned runs processes on the thread of a loop and on one of their own: how they end is the same, and the loop has its turns.
func TestOwned(t *testing.T) {
	tests := []struct {
		name, script string
		most         int
		stop         time.Duration // after which the context ends; 0: it does not
		grace        time.Duration
	}{
		{name: "status", script: "echo out; echo err >&2; exit 3"},
		{name: "killed", script: "kill -KILL $$"},
		{name: "much output", script: "head -c 3000000 /dev/zero | tr '\\0' x"},
		{name: "flood", script: "head -c 3000000 /dev/zero; sleep 60", most: 1000},
		{name: "output held by a grandchild", script: "sleep 60 & echo out"},
		{name: "grandchild that ends", script: "(sleep 0.2; echo late) & echo out"},
		{name: "stopped", script: "echo out; sleep 60", stop: 100 * time.Millisecond, grace: time.Minute}, // a busy machine is slow to end it
		{name: "stopped, and deaf to it", script: "trap '' INT TERM; echo out; sleep 60", stop: 100 * time.Millisecond, grace: 200 * time.Millisecond},
		{name: "no such program", script: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			apart, _ := runAs(t, test.script, test.most, test.stop, cmp.Or(test.grace, 200*time.Millisecond), false)
			owned, turns := runAs(t, test.script, test.most, test.stop, cmp.Or(test.grace, 200*time.Millisecond), true)
			if owned != apart {
				owned.out, apart.out = owned.out[:min(len(owned.out), 100)], apart.out[:min(len(apart.out), 100)]
				t.Errorf("on the loop's thread:\n%+v\non its own:\n%+v", owned, apart)
			}
			if test.script != "" && turns == 0 {
				t.Error("the loop had no turn")
			}
		})
	}
}

// ended is how a process ended, and what it printed.
type ended struct {
	code    int
	stop    string
	held    bool
	others  int
	failed  bool
	flooded bool
	out     string
	err     string
}

func runAs(t *testing.T, script string, most int, stop, grace time.Duration, owned bool) (e ended, turns int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if stop > 0 {
		defer time.AfterFunc(stop, cancel).Stop()
	}
	var stdout, stderr strings.Builder
	argv := []string{"/bin/sh", "-c", script}
	if script == "" {
		argv = []string{"/no/such/program"}
	}
	p := &Command{
		Argv: argv, Env: os.Environ(), Dir: "/", Stdout: &stdout, Stderr: &stderr, Grace: grace, Watch: func(Moment) {}, Most: most,
	}
	if owned {
		bell, err := NewBell()
		if err != nil {
			t.Fatal(err)
		}
		defer bell.Close()
		p.Owner = &Owner{Bell: bell, Turn: func() time.Duration { turns++; return -1 }, Wait: 0}
	}
	done := make(chan Exit)
	OnThread(func() { done <- p.Run(ctx) })
	x := <-done
	if x.Flooded { // how much it had printed by then is chance
		stdout.Reset()
	}
	return ended{x.Code, string(x.Stop), x.Held, len(x.Others), x.Err != nil, x.Flooded, stdout.String(), stderr.String()}, turns
}
