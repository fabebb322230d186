package hostile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"moon/internal/assault"
)

// TestRaceSwappedMoon has the program that moon runs from replaced while it runs: a step of another user runs all the same, and what
// has taken moon's name does not.
func TestRaceSwappedMoon(t *testing.T) {
	assault.Long(t)
	if os.Getuid() != 0 {
		t.Skip("only root can be anybody without a password")
	}
	if _, err := exec.LookPath("sudo"); err != nil {
		t.Skip("no sudo here")
	}
	dir, err := os.MkdirTemp("/tmp", "moon-swapped-") //nolint:usetesting // which other users cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	log := filepath.Join(dir, "log")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"sudo", "su"} {
		t.Run(method, func(t *testing.T) {
			for name, text := range map[string]string{"moon": string(self), "other": "#!/bin/sh\necho other >>" + log + "\n"} {
				path := filepath.Join(dir, name)
				_ = os.Remove(path)
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(log, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(log, 0o666); err != nil {
				t.Fatal(err)
			}
			site := strings.ReplaceAll("- {shell: id -un >>LOG; mv other moon; printf nobody, register: who}\n- {shell: id -un >>LOG, become: true, become_user: '{{ who.stdout }}', become_method: METHOD}\n- shell: id -un >>LOG\n", "LOG", log)
			if err := os.WriteFile(filepath.Join(dir, "playbook.yml"), []byte(strings.ReplaceAll(site, "METHOD", method)), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(filepath.Join(dir, "moon"), "run", "playbook.yml")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if text, err := os.ReadFile(log); err != nil || string(text) != "root\nnobody\nroot\n" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}
