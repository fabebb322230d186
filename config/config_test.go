package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moon/internal/diag"
)

// read reads a text as a file of settings: what it sets, and what is said of it.
func read(t *testing.T, text string, project bool) (*File, []string, diag.List) {
	t.Helper()
	path := filepath.Join(t.TempDir(), Name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, list, err := Read(path, Name, project)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range list {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d %s: %s; %s", d.Pos.Line, d.Severity, d.Message, d.Hint)))
	}
	return f, lines, list
}

// holding is what a file sets, as name=value.
func holding(f *File) (list []string) {
	for _, s := range Settings() {
		if v := f.Get(s.Name); v != nil {
			text := s.Name + "=" + strings.Join(v.Items, ",")
			if v.Light != "" {
				text += " light=" + v.Light
			}
			list = append(list, strings.ReplaceAll(text, filepath.Dir(f.Path), "DIR"))
		}
	}
	return list
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
		says string
	}{
		{"", "", ""},
		{"# nothing yet\n", "", ""},
		{"theme: sea\nglyphs: ascii\nmouse: true\nbanner: production\n", "theme=sea glyphs=ascii mouse=true banner=production", ""},
		{"theme: { light: daylight, dark: moonlight }\n", "theme=moonlight light=daylight", ""},
		{"theme: { light: daylight }\n", "theme= light=daylight", ""},
		{"theme:\nbanner: ~\n", "", ""},
		{"notify: notify-send moon\n", "notify=notify-send moon", ""},
		{"notify: off\n", "notify=", ""},
		{"banner: 2\n", "banner=2", ""},
		{"banner: ''\n", "banner=", ""},
		{"inventory: [hosts.ini, 'a,b', /etc/hosts.ini]\n", "inventory=DIR/hosts.ini,a,b,/etc/hosts.ini", ""},
		{"inventory: hosts.ini\n", "inventory=DIR/hosts.ini", ""},
		{"vault_password_file: [pw, dev@pw2]\nprivate_key: ../key\n", "private_key=DIR/../key vault_password_file=DIR/pw,dev@DIR/pw2", ""},
		{"forks: 12\ntimeout: 90s\n", "forks=12 timeout=90s", ""},
		{"names: &n sea\ntheme: *n\n", "theme=sea", "1 warning: unknown setting `names`; moon config lists the settings"},
		{"forks: many\n", "", `1 warning: forks is a whole number above 0, not "many";`},
		{"forks: 0\n", "", `1 warning: forks is a whole number above 0, not "0";`},
		{"timeout: 10\n", "", `1 warning: timeout is a time such as 30s or 10m, not "10";`},
		{"vault-password-file: x\n", "", "1 warning: unknown setting `vault-password-file`; did you mean `vault_password_file`?"},
		{"mouse: maybe\n", "", `1 warning: mouse is true or false, not "maybe";`},
		{"on_failure: contine\n", "", "1 warning: on_failure is one of drain, continue, cancel, host, not \"contine\"; did you mean `continue`?"},
		{"tags: [[a]]\n", "", "1 warning: tags is a list of text;"},
		{"tags: {a: b}\n", "", "1 warning: tags is a list of text;"},
		{"theme: [a]\ntheme: sea\n", "", "1 warning: theme is a text;\n2 warning: theme is set twice, in line 1 too; the first counts"},
		{"theme: { light: [a], night: b }\n", "", "1 warning: light is a text;\n1 warning: theme has light and dark, not \"night\";"},
		// What may have held a banner is not a mere warning when it cannot be read.
		{"a: b\nbanner: {x: y}\n", "", "1 warning: unknown setting `a`; moon config lists the settings\n2 error: banner is a text, such as production;"},
		{"- banner: production\n", "", "1 error: settings are a map of names and values; moon config lists them"},
		{"theme: x\n\tbanner: production", "", "2 error: found a tab character that violates indentation;"},
	} {
		f, says, _ := read(t, c.text, false)
		want := strings.ReplaceAll(c.want, "DIR/../key", filepath.Join(filepath.Dir(filepath.Dir(f.Path)), "key"))
		if got := strings.Join(holding(f), " "); got != want {
			t.Errorf("%q holds %q, want %q", c.text, got, want)
		}
		if got := strings.Join(says, "\n"); got != c.says {
			t.Errorf("%q says\n%s\nwant\n%s", c.text, got, c.says)
		}
	}
}

// All that is wrong with the settings of a project is an error.
func TestReadProject(t *testing.T) {
	_, says, list := read(t, "fork: 3\nmouse: maybe\n", true)
	if list.Count(diag.Error) != 2 {
		t.Errorf("%q", says)
	}
	f, _, _ := read(t, "approve: all\nnotify: terminal\nbanner: production\noutput: [text]\nkeys: k.yaml\nforks: 3\nprobe: false\n", true)
	if got := guardedNames(f); !slices.Equal(got, []string{"approve", "keys"}) {
		t.Errorf("needs trust: %q", got)
	}
	f, _, _ = read(t, "notify: ./tell\nbanner: ''\noutput: ['junit:x']\nprobe: true\nbecome_password_file: x\n", true)
	if got := guardedNames(f); !slices.Equal(got, []string{"probe", "become_password_file", "output", "banner", "notify"}) {
		t.Errorf("needs trust: %q", got)
	}
	f, _, _ = read(t, "approve: all\nnotify: ./tell\n", false)
	if got := guardedNames(f); len(got) > 0 {
		t.Errorf("the user's own file needs trust: %q", got)
	}
}

func guardedNames(f *File) (names []string) {
	for _, v := range f.Guarded() {
		names = append(names, v.Setting.Name)
	}
	return names
}

func TestReadNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, Name), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read(filepath.Join(dir, Name), Name, false); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory was read: %v", err)
	}
	if f, says, err := Read(filepath.Join(dir, "nowhere", Name), Name, true); f != nil || err != nil || len(says) > 0 {
		t.Errorf("%+v, %v, %v", f, says, err)
	}
}

func TestFindProject(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".moon.yaml")
	write("repo/.moon.yaml")
	write("repo/deep/er/.moon.yaml")
	write("repo/deep/er/site.yml")
	find := func(dir string) string {
		files, foreign := FindProject(filepath.Join(root, dir))
		for i := range files {
			files[i], _ = filepath.Rel(root, files[i])
		}
		return strings.Join(files, " ") + strings.Repeat(" !", len(foreign))
	}
	// Outside of a repository what is above belongs to something else.
	if got := find("repo/deep/er"); got != "repo/deep/er/.moon.yaml" {
		t.Error(got)
	}
	if got := find("repo/deep"); got != "" {
		t.Error(got)
	}
	write("repo/.git") // as a worktree has it
	if got := find("repo/deep/er"); got != "repo/.moon.yaml repo/deep/er/.moon.yaml" {
		t.Error(got)
	}
	if got := find("repo/deep"); got != "repo/.moon.yaml" {
		t.Error(got)
	}
	if err := os.Symlink("repo/deep/er", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if got := find("link"); got != "repo/.moon.yaml repo/deep/er/.moon.yaml" {
		t.Error(got)
	}
	// Where every user may write, any of them could have put it.
	if err := os.Chmod(filepath.Join(root, "repo"), 0o1777); err != nil {
		t.Fatal(err)
	}
	if got := find("repo/deep/er"); got != "repo/deep/er/.moon.yaml !" {
		t.Error(got)
	}
	if os.Getuid() != 0 {
		return
	}
	if err := os.Chown(filepath.Join(root, "repo/deep/er/.moon.yaml"), 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if got := find("repo/deep/er"); got != " ! !" {
		t.Error(got)
	}
	if err := os.Chown(filepath.Join(root, "repo/deep/er"), 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if got := find("repo/deep/er"); got != "repo/deep/er/.moon.yaml !" {
		t.Error(got)
	}
}
