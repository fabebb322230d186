package action_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/exec/exectest"
	"moon/exec/fault"
)

func TestShellAndCommand(t *testing.T) {
	tests := []struct {
		name    string
		action  string
		in      exectest.Args
		env     map[string]string
		outcome events.Outcome
		rc      int
		out     string
		err     string
	}{
		{name: "shell", action: "shell", in: exectest.Args{"cmd": "echo $((1+1)) | cat"}, outcome: events.Changed, out: "2\n"},
		{name: "exit status", action: "shell", in: exectest.Args{"cmd": "exit 3"}, outcome: events.Failed, rc: 3, err: "exit status 3"},
		{name: "killed", action: "shell", in: exectest.Args{"cmd": "kill -9 $$"}, outcome: events.Failed, rc: 137, err: "killed by SIGKILL"},
		{name: "interpreter", action: "shell", in: exectest.Args{"cmd": "set -o pipefail; echo x", "interpreter": "bash -e"}, outcome: events.Changed, out: "x\n"},
		{name: "no interpreter", action: "shell", in: exectest.Args{"cmd": "x", "interpreter": "nosuchshell"}, outcome: events.Failed, rc: 127, err: "command not found: nosuchshell"},
		{name: "stdin", action: "shell", in: exectest.Args{"cmd": "cat", "stdin": "a\x00b"}, outcome: events.Changed, out: "a\x00b"},
		{name: "no stdin", action: "shell", in: exectest.Args{"cmd": "cat; echo end"}, outcome: events.Changed, out: "end\n"},
		{name: "unread stdin", action: "shell", in: exectest.Args{"cmd": "true", "stdin": strings.Repeat("x", 1<<20)}, outcome: events.Changed},
		{name: "env", action: "shell", in: exectest.Args{"cmd": "echo $A-$PWD"}, env: map[string]string{"A": "b c", "PWD": "x"}, outcome: events.Changed, out: "b c-"},
		{name: "command", action: "command", in: exectest.Args{"argv": []any{"echo", "$HOME", "a b"}}, outcome: events.Changed, out: "$HOME a b\n"},
		{name: "command text", action: "command", in: exectest.Args{"cmd": `echo "a  b" | c`}, outcome: events.Changed, out: "a  b | c\n"},
		{name: "not found", action: "command", in: exectest.Args{"cmd": "nosuchcommand x"}, outcome: events.Failed, rc: 127, err: "command not found: nosuchcommand"},
		{name: "path not found", action: "command", in: exectest.Args{"cmd": "/no/such/command"}, outcome: events.Failed, rc: 127, err: "command not found: /no/such/command"},
		{name: "not executable", action: "command", in: exectest.Args{"cmd": "/etc/passwd"}, outcome: events.Failed, rc: 126, err: "/etc/passwd is not executable"},
		{name: "own PATH", action: "command", in: exectest.Args{"cmd": "true"}, env: map[string]string{"PATH": "/nowhere"}, outcome: events.Failed, rc: 127, err: "command not found: true"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			job := exectest.NewJob(t, tt.action, tt.in)
			job.Env = tt.env
			r := exectest.RunJob(t, job)
			exectest.WantOutcome(t, r, tt.outcome, tt.err)
			exectest.WantRC(t, r, tt.rc)
			if got := exectest.Stdout(job); !strings.HasPrefix(got, tt.out) || tt.out == "" && got != "" {
				t.Errorf("stdout %q, want %q", got, tt.out)
			}
			if r.Outcome == events.Failed && tt.rc >= 126 && tt.rc < 128 && r.Class != fault.Fatal {
				t.Errorf("class %q, want fatal", r.Class)
			}
		})
	}
}

func TestStreamsStayApart(t *testing.T) {
	job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "echo out; echo err >&2"})
	exectest.RunJob(t, job)
	kept, keptErrs, _ := job.Output.Kept()
	out, errs := kept.Text, keptErrs.Text
	if string(out) != "out\n" || string(errs) != "err\n" {
		t.Errorf("stdout %q, stderr %q", out, errs)
	}
}

func TestBadCwdAndScripts(t *testing.T) {
	job := exectest.NewJob(t, "command", exectest.Args{"cmd": "true"})
	job.Cwd = "/no/such/dir"
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Failed, "cwd /no/such/dir does not exist")
	job.Cwd = "/etc/passwd"
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Failed, "cwd /etc/passwd is not a directory")

	job = exectest.NewJob(t, "command", exectest.Args{"cmd": "./script"})
	script := filepath.Join(job.Cwd, "script")
	exectest.WriteFile(t, script, "#!/no/such/interpreter\n", 0o755)
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Failed, "the interpreter that its first line names does not exist")
	exectest.WriteFile(t, script, "echo no first line\n", 0o755)
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Failed, "is not a program")
	exectest.WriteFile(t, script, "#!/bin/sh\necho $0\n", 0o755)
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Changed, "")

	// A command of a directory that the step's PATH names relative to its cwd.
	job = exectest.NewJob(t, "command", exectest.Args{"cmd": "tool"})
	exectest.WriteFile(t, filepath.Join(job.Cwd, "bin", "tool"), "#!/bin/sh\necho tool\n", 0o755)
	job.Env = map[string]string{"PATH": "bin:" + os.Getenv("PATH")}
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Changed, "")
}

func TestTimeout(t *testing.T) {
	job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "sleep 30"})
	job.Timeout = 100 * time.Millisecond
	start := time.Now()
	r := exectest.RunJob(t, job)
	exectest.WantOutcome(t, r, events.Timeout, "timed out after 100ms")
	exectest.WantRC(t, r, 143)
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
	// Obeying in time is not the same as having done the work in time.
	job = exectest.NewJob(t, "shell", exectest.Args{"cmd": "trap 'exit 0' TERM; sleep 30 & wait"})
	job.Timeout = 100 * time.Millisecond
	r = exectest.RunJob(t, job)
	exectest.WantOutcome(t, r, events.Timeout, "timed out after 100ms")
}
