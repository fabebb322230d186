package action_test

import (
	"os"
	"path/filepath"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
)

func TestScript(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	// Neither executable nor readable by others; the copy need not be.
	exectest.WriteFile(t, filepath.Join(dir, "it.sh"), "#!/bin/sh\necho \"$V $*\"\nls -ld \"$0\" | cut -c1-10\nexit $1\n", 0o600)
	exectest.WriteFile(t, filepath.Join(dir, "it.awk"), "BEGIN { print \"awk\" }\n", 0o600)
	tests := []struct {
		in      exectest.Args
		outcome events.Outcome
		says    string
		out     string
	}{
		{exectest.Args{"cmd": dir + "/it.sh 0 'a  b' $V"}, events.Changed, "", "v 0 a  b v\n-rwx------\n"},
		{exectest.Args{"cmd": dir + "/it.sh 3"}, events.Failed, "exit status 3", "v 3\n-rwx------\n"},
		{exectest.Args{"cmd": dir + "/it.awk", "executable": "awk -f"}, events.Changed, "", "awk\n"},
		{exectest.Args{"cmd": dir + "/none"}, events.Failed, "script " + dir + "/none does not exist", ""},
		{exectest.Args{"cmd": dir + "/none", "creates": dir}, events.Skipped, "", ""},
		{exectest.Args{"cmd": dir + "/none", "removes": dir + "/none"}, events.Skipped, "", ""},
		{exectest.Args{"cmd": dir + "/it.sh 0", "chdir": "/nowhere"}, events.Failed, "cwd /nowhere does not exist", ""},
	}
	for _, tt := range tests {
		job := exectest.NewJob(t, "script", tt.in)
		job.Env = map[string]string{"V": "v"}
		exectest.WantOutcome(t, exectest.RunJob(t, job), tt.outcome, tt.says)
		if got := exectest.Stdout(job); got != tt.out {
			t.Errorf("%v printed %q, want %q", tt.in, got, tt.out)
		}
		if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) > 0 {
			t.Errorf("it left %v, %v", left, err)
		}
	}
	job := exectest.NewJob(t, "script", exectest.Args{"cmd": dir + "/none"})
	if r := (exec.DryRun{}).Run(t.Context(), job); r.Outcome != events.OK || len(r.Warnings) != 1 {
		t.Errorf("a dry run: %+v", r)
	}
}
