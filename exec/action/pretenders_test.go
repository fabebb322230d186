package action_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/exec"
	"moon/exec/exectest"
)

// pretenders are programs that write down how they are called, and then do as a script says. A step finds no others.
type pretenders struct {
	dir string
}

// fake makes programs from their scripts, which may be empty.
func fake(tb testing.TB, scripts map[string]string) *pretenders {
	tb.Helper()
	f := &pretenders{tb.TempDir()}
	for name, script := range scripts {
		exectest.WriteFile(tb, filepath.Join(f.dir, name), fmt.Sprintf("#!/bin/sh\nPATH=/usr/bin:/bin\n"+
			"{ printf '%%s' %s; for word; do printf ' [%%s]' \"$word\"; done; echo; } >> %s/calls\n%s\n", name, f.dir, script), 0o755)
	}
	return f
}

// job is newJob for a step that finds them.
func (f *pretenders) job(tb testing.TB, action string, in exectest.Args) *exec.Job {
	tb.Helper()
	job := exectest.NewJob(tb, action, in)
	job.Env = map[string]string{"PATH": f.dir}
	return job
}

// calls are the lines that were written down, since they were last asked for.
func (f *pretenders) calls(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(f.dir, "calls")
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSuffix(string(text), "\n")
}
