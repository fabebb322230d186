package exec_test

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
	"moon/secret"
)

func knowing(texts ...string) *secret.Set {
	s := secret.NewSet()
	for _, text := range texts {
		s.Add("test", text)
	}
	return s
}

// TestUnseen runs texts with a secret in each interpreter, and the same texts where nothing is known to be secret: all that they can
// tell is the same, but their command line.
func TestUnseen(t *testing.T) {
	shell := `: hunter2
# a comment
printf 'args %s; ' "$0" "$#" "$@"
set -- a b; cat
cat <<END
here $2
END
tr '\0' ' ' < /proc/$$/cmdline > "$SEEN"
(exit 7)`
	tests := []struct{ interpreter, text string }{
		{"/bin/sh", shell},
		{"sh -e", "echo one hunter2; tr '\\0' ' ' < /proc/$$/cmdline > \"$SEEN\"; false; echo two"},
		{"bash", shell},
		{"bash -euo pipefail", "echo hunter2; tr '\\0' ' ' < /proc/$$/cmdline > \"$SEEN\"; echo ${nothing}; echo two"},
		{"dash", shell + "\nexit 9 # hunter2"},
		{"zsh", shell},
		{"python3", "import sys, os\nx = 'hunter2'\nprint(sys.argv, sys.stdin.read(), __name__)\nopen(os.environ['SEEN'], 'w').write(open('/proc/self/cmdline').read())\ndef f(): return x\nprint(f() == x)\nsys.exit(7)"},
		{"perl", "my $x = 'hunter2'; print join(',', @ARGV), scalar(@ARGV), <STDIN>; open my $o, '>', $ENV{SEEN}; open my $i, '<', '/proc/self/cmdline'; print {$o} <$i>; exit 7"},
		{"perl", "# hunter2\nopen my $o, '>', $ENV{SEEN}; close $o; die \"over\\n\""},
	}
	for _, test := range tests {
		t.Run(test.interpreter, func(t *testing.T) {
			if _, err := osexec.LookPath(strings.Fields(test.interpreter)[0]); err != nil {
				t.Skip("it is not installed")
			}
			if _, err := os.Stat("/proc/self/cmdline"); err != nil {
				t.Skip("there is no /proc")
			}
			var told [2]string
			for i, known := range []*secret.Set{nil, knowing("hunter2")} {
				job := exectest.NewJob(t, "shell", exectest.Args{"cmd": test.text, "interpreter": test.interpreter, "stdin": "from stdin\n"})
				seen := filepath.Join(t.TempDir(), "seen")
				job.Secrets, job.Env = known, map[string]string{"SEEN": seen}
				r := exectest.RunJob(t, job)
				kept, keptErrs, _ := job.Output.Kept()
				out, errs := kept.Text, keptErrs.Text
				// Where an interpreter says that a mistake is, it names the file that it reads.
				told[i] = fmt.Sprintf("%s %d %s\n%s\n%d lines of errors", r.Outcome, *r.RC, r.Error, out, strings.Count(string(errs), "\n"))
				if line := exectest.ReadFile(t, seen); strings.Contains(line, "hunter2") != (known == nil) && line != "" {
					t.Errorf("its command line is %q", line)
				}
				if len(r.Warnings) > 0 {
					t.Errorf("%q", r.Warnings)
				}
			}
			if told[0] != told[1] {
				t.Errorf("seen it tells\n%q\nunseen\n%q", told[0], told[1])
			}
		})
	}
}

// TestUnseenLarge hands over a text that no pipe holds, also to one that does not read it.
func TestUnseenLarge(t *testing.T) {
	job := exectest.NewJob(t, "shell", exectest.Args{"cmd": ": hunter2\n" + strings.Repeat(": a line of a long script\n", 100_000) + "echo end"})
	job.Secrets = knowing("hunter2")
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Changed, "")
	if got := exectest.Stdout(job); got != "end\n" {
		t.Errorf("it printed %.100q", got)
	}
	job = exectest.NewJob(t, "shell", exectest.Args{"cmd": "exit 0\n: hunter2\n" + strings.Repeat(": a line of a long script\n", 100_000)})
	job.Secrets = knowing("hunter2")
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Changed, "")
}

func TestSeen(t *testing.T) {
	job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "hunter2", "interpreter": "/usr/bin/env sh"})
	job.Secrets = knowing("hunter2")
	if r := exectest.RunJob(t, job); len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "everyone on the machine could see it") {
		t.Errorf("%q", r.Warnings)
	}
}

func TestUnseenGuards(t *testing.T) {
	job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "true"})
	seen := filepath.Join(t.TempDir(), "seen")
	job.Unless = "tr '\\0' ' ' < /proc/$$/cmdline > " + seen + "; test hunter2 = hunter2"
	job.Secrets = knowing("hunter2")
	r := exectest.RunJob(t, job)
	if r.Outcome != events.Skipped || strings.Contains(exectest.ReadFile(t, seen), "hunter2") {
		t.Errorf("%s, %q", r.Outcome, exectest.ReadFile(t, seen))
	}
}

func TestSecretEnvironmentIsNotHandedOn(t *testing.T) {
	t.Setenv("MOON_TEST_TOKEN", "t0ken-value")
	t.Setenv("MOON_TEST_OTHER", "other")
	for _, test := range []struct {
		env  map[string]string
		want string
	}{{nil, "none other\n"}, {map[string]string{"MOON_TEST_TOKEN": "given"}, "given other\n"}} {
		job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "echo ${MOON_TEST_TOKEN-none} $MOON_TEST_OTHER"})
		job.Secrets, job.Env = secret.NewSet(), test.env
		job.Secrets.AddEnv("MOON_TEST_TOKEN", "t0ken-value")
		exectest.RunJob(t, job)
		if got := exectest.Stdout(job); got != test.want {
			t.Errorf("with %v: %q", test.env, got)
		}
	}
}

// TestNoDigestOfSecrets looks at what is remembered of an incremental step, and at checksums: neither tells secrets apart.
func TestNoDigestOfSecrets(t *testing.T) {
	digests := map[string]bool{}
	for _, password := range []string{"hunter2", "hunter3"} {
		job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "echo " + password})
		job.Secrets, job.Env, job.Cwd = knowing(password), map[string]string{"PASSWORD": password}, "/"
		job.Incremental = &exec.Incremental{Forget: func() error { return nil }}
		digests[exectest.RunJob(t, job).Sources] = true
	}
	if len(digests) != 1 || digests[""] {
		t.Errorf("the digests differ: %v", digests)
	}
	job := exectest.NewJob(t, "copy", exectest.Args{"dest": filepath.Join(t.TempDir(), "f"), "content": "hunter2"})
	job.Secrets = knowing("hunter2")
	if sum, _ := exectest.RunJob(t, job).Fields["checksum"].(string); sum == "" || !job.Secrets.Has(sum) {
		t.Errorf("the checksum %q is for everybody", sum)
	}
}
