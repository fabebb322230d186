package hostile

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"moon/internal/app"
	"moon/internal/assault"
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
	calls := [][]string{{"run", "-"}, {"runs"}, {"resume"}, {"trust", "--list"}}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "moon-state-") //nolint:usetesting // that is below a directory which only its owner enters
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			moded("", 0o755)(t, dir)
			tt.make(t, dir)
			before := entries(t, dir)
			for j, args := range calls {
				if !assault.Sampled(i+j, len(calls)) {
					continue
				}
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

// TestPluginsOfOthers has a step use a plugin of the settings that another user can change, as with a HOME that sudo keeps: it is not run.
func TestPluginsOfOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	const ada = 65534
	const plugins = "config/moon/plugins"
	base, err := os.MkdirTemp("", "moon-plugins-") //nolint:usetesting // that is below a directory which only its owner enters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	moded("", 0o755)(t, base)
	moon := filepath.Join(base, "moon")
	copied(t, moon)
	tests := []struct {
		name string
		as   uint32
		make func(t *testing.T, dir string) // what is there
		of   uint32                         // the plugin's file
		says string                         // "": it is run
	}{
		{"root, a user's", 0, theirs("config", "config/moon", plugins), ada, "/config belongs to nobody, and moon runs as root"},
		{"root, a user's below root's", 0, theirs(plugins), 0, "/plugins belongs to nobody"},
		{"root, a file of a user's", 0, moded(plugins, 0o755), ada, "/acme belongs to nobody"},
		{"root, others may write to it", 0, moded(plugins, 0o777), 0, "others may write to"},
		{"root, a group may write to it", 0, moded(plugins, 0o775), 0, "others may write to"},
		{"root, root's", 0, moded(plugins, 0o755), 0, ""},
		{"a user, root's", ada, moded(plugins, 0o755), 0, ""},
		{"a user, their own, which their group may write to", ada, func(t *testing.T, dir string) {
			t.Helper()
			theirs("config", "config/moon", plugins)(t, dir)
			moded(plugins, 0o775)(t, dir)
		}, ada, ""},
		{"a user, others may write to it", ada, moded(plugins, 0o777), ada, "others may write to"},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(base, strconv.Itoa(i))
			tt.make(t, dir)
			theirs("state")(t, dir)
			if tt.as == 0 {
				if err := os.Chown(filepath.Join(dir, "state"), 0, 0); err != nil {
					t.Fatal(err)
				}
			}
			file := filepath.Join(dir, plugins, "acme")
			text := "#!/bin/sh\ntest \"$1\" = describe && echo '{\"protocol\": 1, \"capabilities\": [{\"kind\": \"execute\", \"name\": \"acme\"}]}' && exit\necho '{\"status\": \"changed\"}'\n"
			if err := os.WriteFile(file, []byte(text), 0o755); err != nil { // a program
				t.Fatal(err)
			}
			if err := os.Chown(file, int(tt.of), int(tt.of)); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(moon, "run", "-")
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "HOME="+dir)
			cmd.Dir, cmd.Stdin = "/", strings.NewReader("- acme: {}\n")
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: tt.as, Gid: tt.as}}
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); tt.says == "" && code != app.ExitDone || tt.says != "" && (code != app.ExitUsage || !strings.Contains(string(out), tt.says)) {
				t.Errorf("%v, want %q\n%s", err, tt.says, out)
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
