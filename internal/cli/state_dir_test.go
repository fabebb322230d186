package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"moon/internal/app"
)

// TestStateDirOfOthers has moon started with a state directory that another user can change, as with a HOME that sudo keeps: nothing of it is
// read or written, and nothing runs.
func TestStateDirOfOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	const ada = 65534
	bin, err := os.MkdirTemp("", "moon-state-") //nolint:usetesting // that is below a directory which only its owner enters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(bin) })
	moded("", 0o755)(t, bin)
	moon := filepath.Join(bin, "moon")
	copied(t, moon)
	tests := []struct {
		name  string
		as    uint32
		state string                         // below a directory of root's
		make  func(t *testing.T, dir string) // what is there
		says  string                         // "": it is used
	}{
		{"root, a user's", 0, "ada/state", theirs("ada", "ada/state", "ada/state/moon"), "/ada belongs to"},
		{"root, a user's that is not there yet", 0, "ada/state", theirs("ada"), "/ada belongs to"},
		{"root, a user's below root's", 0, "state", theirs("state/moon"), "/state/moon belongs to"},
		{"root, behind a link to a user's", 0, "link", func(t *testing.T, dir string) {
			t.Helper()
			theirs("ada", "ada/state")(t, dir)
			linked(t, "ada/state", filepath.Join(dir, "link"))
		}, "/ada belongs to"},
		{"root, a link of a user", 0, "link", func(t *testing.T, dir string) {
			t.Helper()
			moded("real", 0o755)(t, dir)
			linked(t, "real", filepath.Join(dir, "link"))
			if err := os.Lchown(filepath.Join(dir, "link"), ada, ada); err != nil {
				t.Fatal(err)
			}
		}, "/link belongs to"},
		{"root, others may write to it", 0, "state", moded("state/moon", 0o777), "others may write to"},
		{"root, a group may write to it", 0, "state", moded("state/moon", 0o775), "others may write to"},
		{"root, others may write around it", 0, "open/state", moded("open", 0o777), "others may write to"},
		{"root, as in /tmp", 0, "open/state", moded("open", 0o777|os.ModeSticky), ""},
		{"a user, root's", ada, "state", moded("state/moon", 0o755), "/state/moon belongs to root"},
		{"a user, in a directory of root's", ada, "state", theirs("state/moon"), ""},
		{"a user, their own", ada, "ada", theirs("ada"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "moon-state-") //nolint:usetesting // that is below a directory which only its owner enters
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			moded("", 0o755)(t, dir)
			tt.make(t, dir)
			before := entries(t, dir)
			for _, args := range [][]string{{"run", "-"}, {"runs"}, {"resume"}, {"trust", "--list"}} {
				cmd := exec.Command(moon, args...)
				cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, tt.state), "HOME="+dir)
				cmd.Dir, cmd.Stdin = "/", strings.NewReader("- print: it runs\n")
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: tt.as, Gid: tt.as}}
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				_ = cmd.Run() // the code is looked at
				code, text := cmd.ProcessState.ExitCode(), out.String()
				if tt.says == "" {
					if strings.Contains(text, "state directory") || args[0] == "run" && code != 0 {
						t.Errorf("%v: exit code %d\n%s", args, code, text)
					}
					continue
				}
				if code != app.ExitUsage || !strings.Contains(text, tt.says) || !strings.HasPrefix(text, "moon: state directory "+dir) {
					t.Errorf("%v: exit code %d, it says\n%s", args, code, text)
				}
			}
			if after := entries(t, dir); tt.says != "" && after != before {
				t.Errorf("there is now\n%s\nbefore\n%s", after, before)
			}
		})
	}
}

// copied puts moon, as the tests run it, where every user may execute it.
func copied(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o755); err != nil { // a program
		t.Fatal(err)
	}
}

// entries are the names below a directory.
func entries(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

// theirs makes directories that belong to another user, below those of root.
func theirs(names ...string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		for _, name := range names {
			moded(name, 0o755)(t, dir)
			if err := os.Chown(filepath.Join(dir, name), 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// moded makes a directory with a mode.
func moded(name string, mode os.FileMode) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
}

func linked(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}
