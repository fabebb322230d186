package exec_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/exec"
	"moon/exec/exectest"
	"moon/secret"
)

// inShell types into a shell that runs where a job does, and returns what it says.
func inShell(t *testing.T, job *exec.Job, as exec.ShellAs, typed string) string {
	t.Helper()
	t.Setenv("SHELL", "/bin/sh")
	f := exec.ShellOf(job, as)
	var out bytes.Buffer
	f.SetStdin(strings.NewReader(typed))
	f.SetStdout(&out)
	f.SetStderr(&out)
	if err := f.Run(); err != nil {
		t.Error(err)
	}
	return out.String()
}

func TestShellOf(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("OWN", "moon's")
	t.Setenv("TOKEN", "t0ken")
	set := secret.NewSet()
	set.AddEnv("TOKEN", "t0ken")
	set.Add("", "s3cret-value")
	job := &exec.Job{Cwd: dir, Env: map[string]string{"A": "two words", "PASS": "s3cret-value"}, Secrets: set}
	as := exec.ShellAs{Set: map[string]string{"MOON_STEP": "step-0002"}, Notice: []string{"── here"}}
	// How it ends says nothing.
	got := inShell(t, job, as, "pwd; echo \"$OWN-$TOKEN-$A-$PASS-$MOON_STEP\"; exit 3\n")
	if want := "\n── here\n" + dir + "\nmoon's--two words-s3cret-value-step-0002\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if strings.Contains(strings.Join(exec.ShellOf(job, as).Args(), " "), "s3cret") {
		t.Error("the secret is among the words of the command")
	}

	// Behind something, the environment goes through words, and secrets stay away.
	as.Prefix = []string{"env", "-i"}
	as.Notice = nil
	behind := exec.ShellOf(job, as)
	if strings.Contains(strings.Join(behind.Args(), " "), "s3cret") {
		t.Error("the secret is among the words of a command that all can see")
	}
	got = inShell(t, job, as, "pwd; echo \"$OWN-$A-$PASS-$MOON_STEP\"\n")
	if want := "\n   PASS is a secret, and is not given to another user's shell\n" + dir + "\n-two words--step-0002\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	// A directory that nobody has made yet.
	as.Prefix = nil
	job.Cwd = filepath.Join(dir, "not", "yet")
	got = inShell(t, job, as, "pwd\n")
	if want := "\n   " + job.Cwd + " does not exist; this is " + dir + "\n" + dir + "\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	t.Setenv("SHELL", "/nosuchshell")
	if err := exec.ShellOf(job, as).Run(); err == nil || err.Error() != "/nosuchshell: command not found" {
		t.Errorf("error %v", err)
	}
}

// TestClipboard takes programs of the test's own for those of the machine.
func TestClipboard(t *testing.T) {
	dir := t.TempDir()
	program := func(name, script string) {
		exectest.WriteFile(t, filepath.Join(dir, name), "#!/bin/sh\n"+script+"\n", 0o755)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	for _, name := range []string{"TMUX", "SSH_CONNECTION", "SSH_TTY", "WAYLAND_DISPLAY", "DISPLAY"} {
		t.Setenv(name, "")
	}
	if by := exec.Clipboard("x"); len(by) != 0 {
		t.Errorf("%v took it where there is nothing", by)
	}
	program("tmux", `[ "$*" = "load-buffer -w -" ] && cat > `+dir+`/buffer`)
	program("wl-copy", "exit 1")
	program("xclip", "exit 1")
	program("xsel", "cat > "+dir+"/selection")
	t.Setenv("TMUX", "/tmp/tmux-0/default,1,0")
	t.Setenv("DISPLAY", ":0")
	if by := exec.Clipboard("two\nlines"); strings.Join(by, " ") != "tmux xsel" {
		t.Errorf("%v took it", by)
	}
	for _, name := range []string{"buffer", "selection"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != "two\nlines" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	t.Setenv("WAYLAND_DISPLAY", "wayland-0")
	if by := exec.Clipboard("x"); strings.Join(by, " ") != "tmux" {
		t.Errorf("%v took it, although wl-copy failed", by)
	}
	// Over SSH the clipboard is elsewhere.
	t.Setenv("SSH_CONNECTION", "1 2 3 4")
	t.Setenv("WAYLAND_DISPLAY", "")
	if by := exec.Clipboard("x"); strings.Join(by, " ") != "tmux" {
		t.Errorf("%v took it over SSH", by)
	}
}
