package exec_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/exec/fault"
)

func TestShellAndCommand(t *testing.T) {
	tests := []struct {
		name    string
		action  string
		in      args
		env     map[string]string
		outcome events.Outcome
		rc      int
		out     string
		err     string
	}{
		{name: "shell", action: "shell", in: args{"cmd": "echo $((1+1)) | cat"}, outcome: events.Changed, out: "2\n"},
		{name: "exit status", action: "shell", in: args{"cmd": "exit 3"}, outcome: events.Failed, rc: 3, err: "exit status 3"},
		{name: "killed", action: "shell", in: args{"cmd": "kill -9 $$"}, outcome: events.Failed, rc: 137, err: "killed by SIGKILL"},
		{name: "interpreter", action: "shell", in: args{"cmd": "set -o pipefail; echo x", "interpreter": "bash -e"}, outcome: events.Changed, out: "x\n"},
		{name: "no interpreter", action: "shell", in: args{"cmd": "x", "interpreter": "nosuchshell"}, outcome: events.Failed, rc: 127, err: "command not found: nosuchshell"},
		{name: "stdin", action: "shell", in: args{"cmd": "cat", "stdin": "a\x00b"}, outcome: events.Changed, out: "a\x00b"},
		{name: "no stdin", action: "shell", in: args{"cmd": "cat; echo end"}, outcome: events.Changed, out: "end\n"},
		{name: "unread stdin", action: "shell", in: args{"cmd": "true", "stdin": strings.Repeat("x", 1<<20)}, outcome: events.Changed},
		{name: "env", action: "shell", in: args{"cmd": "echo $A-$PWD"}, env: map[string]string{"A": "b c", "PWD": "x"}, outcome: events.Changed, out: "b c-"},
		{name: "command", action: "command", in: args{"argv": []any{"echo", "$HOME", "a b"}}, outcome: events.Changed, out: "$HOME a b\n"},
		{name: "command text", action: "command", in: args{"cmd": `echo "a  b" | c`}, outcome: events.Changed, out: "a  b | c\n"},
		{name: "not found", action: "command", in: args{"cmd": "nosuchcommand x"}, outcome: events.Failed, rc: 127, err: "command not found: nosuchcommand"},
		{name: "path not found", action: "command", in: args{"cmd": "/no/such/command"}, outcome: events.Failed, rc: 127, err: "command not found: /no/such/command"},
		{name: "not executable", action: "command", in: args{"cmd": "/etc/passwd"}, outcome: events.Failed, rc: 126, err: "/etc/passwd is not executable"},
		{name: "own PATH", action: "command", in: args{"cmd": "true"}, env: map[string]string{"PATH": "/nowhere"}, outcome: events.Failed, rc: 127, err: "command not found: true"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			job := newJob(t, tt.action, tt.in)
			job.Env = tt.env
			r := run(t, job)
			want(t, r, tt.outcome, tt.err)
			wantRC(t, r, tt.rc)
			if got := stdout(job); !strings.HasPrefix(got, tt.out) || tt.out == "" && got != "" {
				t.Errorf("stdout %q, want %q", got, tt.out)
			}
			if r.Outcome == events.Failed && tt.rc >= 126 && tt.rc < 128 && r.Class != fault.Fatal {
				t.Errorf("class %q, want fatal", r.Class)
			}
		})
	}
}

func TestStreamsStayApart(t *testing.T) {
	job := newJob(t, "shell", args{"cmd": "echo out; echo err >&2"})
	run(t, job)
	kept, keptErrs, _ := job.Output.Kept()
	out, errs := kept.Text, keptErrs.Text
	if string(out) != "out\n" || string(errs) != "err\n" {
		t.Errorf("stdout %q, stderr %q", out, errs)
	}
}

func TestBadCwdAndScripts(t *testing.T) {
	job := newJob(t, "command", args{"cmd": "true"})
	job.Cwd = "/no/such/dir"
	want(t, run(t, job), events.Failed, "cwd /no/such/dir does not exist")
	job.Cwd = "/etc/passwd"
	want(t, run(t, job), events.Failed, "cwd /etc/passwd is not a directory")

	job = newJob(t, "command", args{"cmd": "./script"})
	script := filepath.Join(job.Cwd, "script")
	write(t, script, "#!/no/such/interpreter\n", 0o755)
	want(t, run(t, job), events.Failed, "the interpreter that its first line names does not exist")
	write(t, script, "echo no first line\n", 0o755)
	want(t, run(t, job), events.Failed, "is not a program")
	write(t, script, "#!/bin/sh\necho $0\n", 0o755)
	want(t, run(t, job), events.Changed, "")

	// A command of a directory that the step's PATH names relative to its cwd.
	job = newJob(t, "command", args{"cmd": "tool"})
	write(t, filepath.Join(job.Cwd, "bin", "tool"), "#!/bin/sh\necho tool\n", 0o755)
	job.Env = map[string]string{"PATH": "bin:" + os.Getenv("PATH")}
	want(t, run(t, job), events.Changed, "")
}

func TestTimeout(t *testing.T) {
	job := newJob(t, "shell", args{"cmd": "sleep 30"})
	job.Timeout = 100 * time.Millisecond
	start := time.Now()
	r := run(t, job)
	want(t, r, events.Timeout, "timed out after 100ms")
	wantRC(t, r, 143)
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
	// Obeying in time is not the same as having done the work in time.
	job = newJob(t, "shell", args{"cmd": "trap 'exit 0' TERM; sleep 30 & wait"})
	job.Timeout = 100 * time.Millisecond
	r = run(t, job)
	want(t, r, events.Timeout, "timed out after 100ms")
}
