package exec_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/exec"
)

func TestAsk(t *testing.T) {
	dir := t.TempDir()
	program := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text, 0o755)
		return path
	}
	out, err := exec.Ask(t.Context(), program("good", "#!/bin/sh\nread x; echo \"$@\" $x; echo careful >&2\n"), "--host", "a b")
	if err != nil || string(out) != "--host a b\n" {
		t.Errorf("%q, %v", out, err)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"fails":  {"#!/bin/sh\necho not this\necho no cloud >&2\nexit 3\n", "exit status 3: no cloud"},
		"silent": {"#!/bin/sh\nexit 1\n", "exit status 1"},
		"text":   {"[web]\nweb1\n", "without #! in its first line it is no program"},
		"talks":  {"#!/bin/sh\nseq 2000 >&2\nexit 1\n", "2000"},
		"gone":   {"#!/nowhere/sh\n", "it, or the program it names after #!, does not exist"},
		"killed": {"#!/bin/sh\nkill -9 $$\n", "signal: killed"},
		"pours":  {"#!/bin/sh\nhead -c 1000 /dev/zero\n", "it printed more than 0 MB"},
		"sleeps": {"#!/bin/sh\nsleep 60 & sleep 60\n", "it took more than 200ms"},
	} {
		timeout := time.Minute
		if name == "sleeps" {
			timeout = 200 * time.Millisecond
		}
		_, err := exec.AskWithin(t.Context(), timeout, 999, program(name, tt.text))
		if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
		if err != nil && len(err.Error()) > 5000 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := exec.Ask(over, program("late", "#!/bin/sh\n")); err == nil || err.Error() != "it was interrupted" {
		t.Error(err)
	}
}
