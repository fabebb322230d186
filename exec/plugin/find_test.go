package plugin_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/exec/plugin"
	"moon/exec/spec"
)

// echo is a plugin of some name that does nothing.
func echo(name, version string) string {
	return `#!/bin/sh
echo '{"version": "` + version + `", "protocol": 1, "capabilities": [{"kind": "execute", "name": "` + name + `"}]}'
`
}

func TestWherePluginsAreFound(t *testing.T) {
	dir := t.TempDir()
	in := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	write(t, in("play", "plugins", "one"), echo("one", "beside"), 0o755)
	write(t, in("play", "plugins", "notes.md"), "# no plugin\n", 0o644)
	write(t, in("play", "plugins", ".hidden"), echo("hidden", "x"), 0o755)
	write(t, in("play", "library", "two.sh"), echo("two", "library"), 0o755)
	write(t, in("play", "roles", "web", "library", "three"), echo("three", "role"), 0o755)
	write(t, in("env", "one"), echo("one", "env"), 0o755)
	write(t, in("env", "four"), echo("four", "env"), 0o755)
	write(t, in("own", "four"), echo("four", "own"), 0o755)
	write(t, in("own", "five"), echo("five", "own"), 0o755)
	write(t, in("bin", "moon-plugin-five"), echo("five", "bin"), 0o755)
	write(t, in("bin", "moon-plugin-six"), echo("six", "bin"), 0o755)
	write(t, in("bin", "moon-plugin-seven"), echo("seven", "bin"), 0o644)
	r := plugin.Find(plugin.Search{Beside: in("play"), Dirs: []string{in("env")}, Own: in("own"), Path: []string{in("bin"), "relative"}, TrustAll: true})
	for name, version := range map[string]string{"one": "beside", "two": "library", "three": "role", "four": "env", "five": "own", "six": "bin"} {
		if as, ok := r.Has(name); !ok || as != name {
			t.Errorf("%s is not there", name)
			continue
		}
		if a, err := r.Action(name); err != nil || a.Plugin.Version != version {
			t.Errorf("%s is %+v, %v", name, a, err)
		}
	}
	for _, name := range []string{"seven", "notes", "hidden", "", "../one", "ansible.builtin.one"} {
		if _, ok := r.Has(name); ok {
			t.Errorf("%q is there", name)
		}
	}
	var names []string
	for _, f := range r.All() {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "five four one six three two" {
		t.Errorf("all are %s", got)
	}
}

func TestTrust(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plugins", "one")
	mark := filepath.Join(dir, "ran")
	write(t, path, "#!/bin/sh\ntouch "+mark+"\n"+echo("one", "1"), 0o755)
	trust := plugin.Trust{File: filepath.Join(dir, "state", "plugins", "trusted")}
	asked := 0
	action := func(all bool, answer *bool) error {
		s := plugin.Search{Beside: dir, Trust: trust, TrustAll: all}
		if answer != nil {
			s.Ask = func(string, string, string) bool { asked++; return *answer }
		}
		_, err := plugin.Find(s).Action("one")
		return err
	}
	yes, no := true, false
	for _, answer := range []*bool{nil, &no} {
		if err := action(false, answer); err == nil || !strings.Contains(err.Error(), "is not trusted yet") {
			t.Errorf("it said %v", err)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("it ran")
	}
	if err := action(true, nil); err != nil { // for this once
		t.Error(err)
	}
	if err := action(false, nil); err == nil {
		t.Error("--trust-plugins was remembered")
	}
	if err := action(false, &yes); err != nil {
		t.Error(err)
	}
	if err := action(false, &no); err != nil || asked != 2 {
		t.Errorf("%v; somebody was asked %d times", err, asked)
	}
	for file, want := range map[string]os.FileMode{trust.File: 0o600, filepath.Dir(trust.File): 0o700} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
	write(t, path, "#!/bin/sh\n"+echo("one", "2"), 0o755)
	if err := action(false, nil); err == nil {
		t.Error("an edited plugin is still trusted")
	}
	if _, _, err := trust.TrustFile(path); err != nil {
		t.Fatal(err)
	}
	if err := action(false, nil); err != nil {
		t.Error(err)
	}
	other := filepath.Join(t.TempDir(), "plugins", "one")
	write(t, other, "#!/bin/sh\n"+echo("one", "2"), 0o755)
	if f, err := os.ReadFile(trust.File); err != nil || strings.Contains(string(f), other) || trust.Has(other, "x") {
		t.Errorf("%s, %v", f, err)
	}
}

func TestRouter(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plugins", "one"), echo("one", "1"), 0o755)
	write(t, filepath.Join(dir, "plugins", "copy"), echo("copy", "1"), 0o755)
	r := plugin.Route(plugin.Find(plugin.Search{Beside: dir, TrustAll: true}))
	for name, want := range map[string]string{
		"shell": "execute.shell", "ansible.builtin.shell": "execute.shell", "execute.shell": "execute.shell", "debug": "execute.print",
		"ansible.builtin.debug": "execute.print", "one": "execute.one", "execute.one": "execute.one", "inventory.script": "inventory.script", "system": "facts.system",
		"copy": "execute.copy", "connection.ssh": "connection.ssh",
	} {
		c, err := r.Find(name)
		if err != nil || c.Name != want {
			t.Errorf("%s is %+v, %v", name, c, err)
		}
	}
	if c, _ := r.Find("copy"); c.Plugin != nil {
		t.Error("a plugin has taken the place of copy")
	}
	_, err := r.Find("shel")
	if e, ok := errors.AsType[*spec.PluginError](err); !ok || e.Hint != "did you mean `shell`?" {
		t.Error(err)
	}
	if got := len(r.Of(plugin.Connection)); got != 2 {
		t.Errorf("%d connections", got)
	}
}
