package exec_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"moon/exec/exectest"
	"moon/exec/process"
)

func TestAsk(t *testing.T) {
	dir := t.TempDir()
	program := func(name, text string) string {
		path := filepath.Join(dir, name)
		exectest.WriteFile(t, path, text, 0o755)
		return path
	}
	out, err := new(process.Asker).Run(t.Context(), program("good", "#!/bin/sh\nread x; echo \"$@\" $x; echo careful >&2\n"), "--host", "a b")
	if err != nil || string(out) != "--host a b\n" {
		t.Errorf("%q, %v", out, err)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"fails":  {"#!/bin/sh\necho not this\necho no cloud >&2\nexit 3\n", "exit status 3: no cloud"},
		"silent": {"#!/bin/sh\nexit 1\n", "exit status 1"},
		"text":   {"[web]\nweb1\n", "without #! in its first line it is not a program"},
		"talks":  {"#!/bin/sh\nseq 2000 >&2\nexit 1\n", "2000"},
		"gone":   {"#!/nowhere/sh\n", "it, or the program it names after #!, does not exist"},
		"killed": {"#!/bin/sh\nkill -9 $$\n", "killed by SIGKILL"},
		"pours":  {"#!/bin/sh\nexec tr '\\000' x < /dev/zero\n", "it printed more than 16 MB"},
		"sleeps": {"#!/bin/sh\nsleep 60 & sleep 60\n", "it took more than 200ms; --program-timeout gives it longer"},
	} {
		timeout := time.Minute
		if name == "sleeps" {
			timeout = 200 * time.Millisecond
		}
		_, err := (&process.Asker{Timeout: timeout}).Run(t.Context(), program(name, tt.text))
		if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
		if err != nil && len(err.Error()) > 5000 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := new(process.Asker).Run(over, program("late", "#!/bin/sh\n")); err == nil || err.Error() != "it was interrupted" {
		t.Error(err)
	}
}

// TestAskEndsAll ends a program that is asked: with all that it has started, wherever that went. Who waits is told of it, once.
func TestAskEndsAll(t *testing.T) {
	mark := newMark()
	path := filepath.Join(t.TempDir(), "program")
	exectest.WriteFile(t, path, "#!/bin/sh\nsleep "+mark+" &\nsetsid sleep "+mark+" &\n(trap '' INT TERM HUP; sleep "+mark+") &\nwait\n", 0o755)
	for name, end := range map[string]func(ctx context.Context, k *process.Asker) error{
		"late": func(ctx context.Context, k *process.Asker) error {
			k.Timeout = 500 * time.Millisecond
			_, err := k.Run(ctx, path)
			return err
		},
		"late, and might ask a person": func(ctx context.Context, k *process.Asker) error {
			k.Timeout = 500 * time.Millisecond
			_, _, err := k.Person(ctx, path)
			return err
		},
		"interrupted": func(ctx context.Context, k *process.Asker) error {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(300*time.Millisecond, cancel)
			_, err := k.Run(ctx, path)
			return err
		},
	} {
		var waited atomic.Int32
		err := end(t.Context(), &process.Asker{Waiting: func(what string, _ time.Duration) {
			if waited.Add(1); what != "program" {
				t.Errorf("%s: it waits for %q", name, what)
			}
		}})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if late := strings.HasPrefix(name, "late"); late && waited.Load() != 1 {
			t.Errorf("%s: told %d times", name, waited.Load())
		}
		wantNone(t, mark)
	}
}
