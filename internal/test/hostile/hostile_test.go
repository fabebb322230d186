package hostile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"moon/internal/test/fakes"
)

// A hostile tree is made by prepare, in a directory of its own, and moon is called there. It must end with the code and
// say each of these texts, on stdout or stderr. What it must not do is hang: the deadline is no measure of time.
type hostile struct {
	name    string
	prepare func(t *testing.T, dir string)
	args    []string
	stdin   string
	shell   string // instead of args: a line for bash
	code    int
	says    []string
	never   []string
}

// files makes files, and the directories they are in.
func files(all map[string]string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		for name, text := range all {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// links makes symbolic links, given as name and target in turn.
func links(all ...string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		for i := 0; i < len(all); i += 2 {
			if err := os.Symlink(all[i+1], filepath.Join(dir, all[i])); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func pipe(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func both(all ...func(*testing.T, string)) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		for _, prepare := range all {
			prepare(t, dir)
		}
	}
}

// chained are n files, each of which includes the next. The last holds last.
func chained(n int, last string) map[string]string {
	all := map[string]string{}
	for i := range n - 1 {
		all[fmt.Sprintf("f%d.yml", i)] = fmt.Sprintf("- print: level %d\n- include: f%d.yml\n", i, i+1)
	}
	all[fmt.Sprintf("f%d.yml", n-1)] = last
	return all
}

// hostileTrees are made when a test asks for them: each moon of these tests is this very binary.
func hostileTrees() []hostile {
	return []hostile{
		{
			name: "links in a circle, included", prepare: both(files(map[string]string{"p.yml": "- include: a\n"}), links("a", "b", "b", "a")),
			args: []string{"validate", "p.yml"}, code: 2,
			says: []string{"p.yml:1:12: error: include: a is a link that leads back to itself"}, never: []string{"hint"},
		},
		{
			name: "links in a circle, as variables", prepare: both(files(map[string]string{"p.yml": "vars_files: [a]\nsteps: []\n"}), links("a", "b", "b", "a")),
			args: []string{"validate", "p.yml"}, code: 2, says: []string{"p.yml:1:14: error: vars_files: a is a link that leads back to itself"},
		},
		{
			name: "links in a circle, as a tree", prepare: both(files(map[string]string{"p.yml": "- print: x\n  with_filetree: a\n"}), links("a", "b", "b", "a")),
			args: []string{"validate", "p.yml"}, code: 2, says: []string{"p.yml:2:18: error: with_filetree: a is a link that leads back to itself"},
		},
		{
			name: "links in a circle, as the playbook", prepare: links("a", "b", "b", "a"),
			args: []string{"validate", "a"}, code: 2, says: []string{"a: error: a is a link that leads back to itself"},
		},
		{
			name: "a link to the file itself", prepare: both(files(map[string]string{"p.yml": "- include: again.yml\n"}), links("again.yml", "p.yml")),
			args: []string{"validate", "p.yml"}, code: 2, says: []string{"include cycle: p.yml:1 → p.yml"},
		},
		{
			name: "a directory that is a link to its parent is no directory of files",
			prepare: both(
				files(map[string]string{"p.yml": "- print: \"{{ item.path }} {{ item.state }}\"\n  with_filetree: d\n", "d/f": ""}),
				links("d/up", "..", "d/self", ".", "d/broken", "nothing"),
			),
			args: []string{"plan", "p.yml"}, code: 0,
			says: []string{"× 4", "/broken link", "/f file", "/self link", "/up link"}, never: []string{"/up/", "/self/"},
		},
		{
			name:    "an include through a link to the parent is found to be a circle",
			prepare: both(files(map[string]string{"p.yml": "- include: d/up/p.yml\n", "d/f": ""}), links("d/up", "..")),
			args:    []string{"validate", "p.yml"}, code: 2, says: []string{"include cycle: p.yml:1 → p.yml"},
		},
		{
			name: "600 files deep", prepare: files(chained(600, "- print: the last\n")),
			args: []string{"plan", "--flat", "f0.yml"}, code: 0, says: []string{"step-0600  f599.yml:1  print: the last\n"},
		},
		{
			name: "a mistake 600 files deep", prepare: files(chained(600, "- printt: the last\n")),
			args: []string{"validate", "f0.yml"}, code: 2,
			says:  []string{"f599.yml:1:3: error: unknown action or key `printt`", "included from f598.yml:2\n", "… 589 more …\n  included from f4.yml:2\n", "included from f0.yml:2\n"},
			never: []string{"f300.yml"},
		},
		{
			name: "a circle of 600 files", prepare: files(chained(600, "- include: f0.yml\n")),
			args: []string{"validate", "f0.yml"}, code: 2,
			says: []string{
				"f599.yml:1:12: error: include cycle: f0.yml:2 → f1.yml:2 → f2.yml:2 → f3.yml:2 → f4.yml:2 → … 590 more … → " +
					"f595.yml:2 → f596.yml:2 → f597.yml:2 → f598.yml:2 → f599.yml:1 → f0.yml\n",
			},
			never: []string{"f300.yml"},
		},
		{
			name: "a pipe that nobody writes to", prepare: pipe("p"), args: []string{"validate", "p"}, code: 2,
			says: []string{"p: error: p cannot be read: it is a named pipe; give it as standard input: moon … - < PIPE"},
		},
		{
			name: "a pipe that is included", prepare: both(pipe("p"), files(map[string]string{"a.yml": "- include: p\n"})),
			args: []string{"validate", "a.yml"}, code: 2, says: []string{"a.yml:1:12: error: include: p cannot be read: it is a named pipe"},
		},
		{
			name: "a pipe as a template", prepare: both(pipe("p"), files(map[string]string{"a.yml": "- template: {src: p, dest: out}\n"})),
			args: []string{"validate", "a.yml"}, code: 2, says: []string{"a.yml:1:19: error: template: p cannot be read: it is a named pipe"},
		},
		{
			name: "a pipe of settings", prepare: both(pipe("ansible.cfg"), files(map[string]string{"a.yml": "- hosts: localhost\n  connection: local\n  gather_facts: false\n  tasks: [{debug: {msg: x}}]\n"})),
			args: []string{"validate", "a.yml"}, code: 2, says: []string{"ansible.cfg is not a regular file"},
		},
		{
			name: "a pipe of variables", prepare: both(pipe("p"), files(map[string]string{"a.yml": "[]\n"})),
			args: []string{"validate", "--vars-file", "p", "a.yml"}, code: 2, says: []string{"variables file: p cannot be read: it is a named pipe"},
		},
		{
			name: "a device", prepare: files(nil), args: []string{"validate", "/dev/zero"}, code: 2,
			says: []string{"cannot be read: it is a device or a socket, and no file"},
		},
		{
			name: "a directory", prepare: files(map[string]string{"d/e.yml": "", "dd.yml": ""}), args: []string{"validate", "d"}, code: 2,
			says: []string{"d: error: d is a directory"}, never: []string{"hint"},
		},
		{
			name: "what a shell gives for a command is read like standard input, here", prepare: files(map[string]string{"i.yml": "- print: included\n"}),
			shell: "moon plan --flat <(echo '- include: i.yml')", code: 0, says: []string{"step-0001  i.yml:1  print: included"},
		},
		{
			name: "the same for variables", prepare: files(map[string]string{"a.yml": "- print: \"{{ x }}\"\n"}),
			shell: "moon plan --flat a.yml --vars-file <(echo 'x: given')", code: 0, says: []string{"print: given"},
		},
		{
			name: "standard input by its name", prepare: files(nil), args: []string{"validate", "/dev/stdin"}, stdin: "- print: {{ x }}\n", code: 2,
			says: []string{"-:1:11: error: "},
		},
		{
			name: "a descriptor that is not open", prepare: files(nil), args: []string{"validate", "/dev/fd/99"}, code: 2, says: []string{"/dev/fd/99 cannot be read"},
		},
		{
			name: "names that are not plain", code: 2, args: []string{"validate", "p.yml"},
			prepare: files(map[string]string{
				"p.yml":             "- include: \"a\\u202eb.yml\"\n- include: \"n\\nl.yml\"\n- include: \"e\\x1b[2Jf.yml\"\n- include: \"e\u0301.yml\"\n",
				"a\u202eb.yml":      "- printt: x\n",
				"n\nl.yml":          "- printt: x\n",
				"e\x1b[2Jf.yml":     "- printt: x\n",
				"e\u0301.yml":       "- printt: x\n",
				"beside/\u00e9.yml": "not read\n",
			}),
			says:  []string{`a\u202eb.yml:1:3: error`, "n l.yml:1:3: error", "e^[[2Jf.yml:1:3: error", "e\u0301.yml:1:3: error", "4 errors"},
			never: []string{"\u202e", "\x1b"},
		},
		{
			name: "names and items of all scripts", code: 0, args: []string{"plan", "--flat", "--tags", "日本", "p.yml"},
			prepare: files(map[string]string{"p.yml": "- name: \"naïve 日本語 e\u0301 \\u202edne\"\n  tags: [étiquette, 日本]\n  print: \"{{ item }}\"\n  with_items: [ä, 日本, \"e\u0301\", \"\\u200f\", 🎉]\n"}),
			says:    []string{"naïve 日本語 e\u0301 \\u202edne (ä)  print: ä", "(🎉)  print: 🎉", `\u200f`}, never: []string{"\u202e", "\u200f"},
		},
		{
			name: "lines that end as on Windows", code: 2, args: []string{"validate", "p.yml"},
			prepare: files(map[string]string{"p.yml": "- shell: |\r\n    one\r\n    {{ nope }}\r\n"}),
			says:    []string{"p.yml:3:8: error: undefined variable `nope`\n  3 |     {{ nope }}\n    |        ^^^^\n"}, never: []string{"\r"},
		},
		{
			name: "a byte order mark", code: 2, args: []string{"validate", "p.yml"},
			prepare: files(map[string]string{"p.yml": "\ufeff- shell: echo {{ nope }}\n"}),
			says:    []string{"p.yml:1:18: error: undefined variable `nope`\n  1 | - shell: echo {{ nope }}\n    |                  ^^^^\n"},
		},
		{
			name: "UTF-16, either way round, and UTF-32", code: 2, args: []string{"validate", "p.yml"},
			prepare: files(map[string]string{
				"p.yml": "- include: a.yml\n- include: b.yml\n- include: c.yml\n- include: d.yml\n- include: e.yml\n",
				"a.yml": "\xff\xfe-\x00 \x00x\x00", "b.yml": "\xfe\xff\x00-\x00 \x00x", "c.yml": "-\x00 \x00x\x00:\x00", "d.yml": "\x00-\x00 \x00x\x00:",
				"e.yml": "\xff\xfe\x00\x00-\x00\x00\x00",
			}),
			says: []string{
				"a.yml:1:1: error: the file is UTF-16, not UTF-8", "b.yml:1:1: error: the file is UTF-16", "c.yml:1:1: error: the file is UTF-16",
				"d.yml:1:1: error: the file is UTF-16", "e.yml:1:1: error: the file is UTF-32", "5 errors",
			},
		},
		{
			name: "a NUL byte", code: 2, args: []string{"validate", "p.yml"}, prepare: files(map[string]string{"p.yml": "- print: hello\n- print: a\x00b\n"}),
			says: []string{"p.yml:2:11: error: the character U+0000 is not allowed in YAML\n  2 | - print: a^@b\n    |           ^^\n"},
		},
		{
			name: "bytes that are no text", code: 2, args: []string{"validate", "p.yml"}, prepare: files(map[string]string{"p.yml": "- print: hello\n- print: caf\xe9\n"}),
			says: []string{"p.yml:2:13: error: byte 0xe9 is not valid UTF-8\n"}, never: []string{"\xe9"},
		},
		{
			name: "a long line is cut around the caret", code: 2, args: []string{"validate", "p.yml"},
			prepare: files(map[string]string{"p.yml": "- print: \"" + strings.Repeat("日", 5000) + " {{ nope }} " + strings.Repeat("y", 5000) + "\"\n"}),
			says: []string{
				"  1 | …" + strings.Repeat("日", 45) + " {{ nope }} " + strings.Repeat("y", 43) + "…\n" +
					"    | " + strings.Repeat(" ", 1+2*45+len(" {{ ")) + "^^^^\n",
			},
		},
		{
			name: "a tab", code: 2, args: []string{"validate", "p.yml"}, prepare: files(map[string]string{"p.yml": "- print:\t\"{{ nope }}\"\n"}),
			says: []string{"  1 | - print: \"{{ nope }}\"\n    |              ^^^^\n"},
		},
		{
			name: "17 MB", code: 2, args: []string{"validate", "p.yml"},
			prepare: files(map[string]string{"p.yml": "- include: large.yml\n", "large.yml": strings.Repeat("- print: x\n", 17<<20/11)}),
			says:    []string{"p.yml:1:12: error: include: large.yml cannot be read: it is larger than 16 MB"},
		},
		{
			name: "17 MB on standard input", code: 2, args: []string{"validate", "-"}, prepare: files(nil), stdin: strings.Repeat("- print: x\n", 17<<20/11),
			says: []string{"moon reads at most 16 MB"},
		},
		{
			name: "a message is cut", code: 2, args: []string{"validate", "p.yml"}, prepare: files(map[string]string{"p.yml": "? " + strings.Repeat("k", 100_000) + "\n: x\n"}),
			says: []string{"unknown key `" + strings.Repeat("k", 900)}, never: []string{strings.Repeat("k", 1001)},
		},
		{
			name: "more steps than allowed", code: 2, args: []string{"validate", "--max-steps", "3", "f0.yml"}, prepare: files(chained(10, "[]\n")),
			says: []string{"f3.yml:1:3: error: the plan would have 4 steps or more; the limit is 3", "hint: raise the limit with --max-steps"},
		},
		{
			name: "as many steps as allowed", code: 0, args: []string{"validate", "--max-steps", "9", "f0.yml"}, prepare: files(chained(10, "[]\n")),
			says: []string{"f0.yml: 9 steps, no mistakes found"},
		},
	}
}

func TestHostile(t *testing.T) {
	for _, h := range hostileTrees() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			h.prepare(t, dir)
			checkHostile(t, h, dir, nil)
		})
	}
}

func checkHostile(t *testing.T, h hostile, dir string, as *syscall.Credential) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), fakes.Patience)
	defer cancel()
	moon, err := exec.LookPath("moon") // testscript has put it there
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, moon, h.args...)
	if h.shell != "" {
		bash, err := exec.LookPath("bash")
		if err != nil {
			t.Fatal("this needs bash:", err)
		}
		cmd = exec.CommandContext(ctx, bash, "-c", h.shell)
	}
	if as != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
		cmd.Path = filepath.Join(dir, "moon") // where the other user may go
		if err := os.Link(moon, cmd.Path); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, strings.NewReader(h.stdin), &out, &out
	err = cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("it hangs; it had said\n%s", out.String())
	}
	if code := cmd.ProcessState.ExitCode(); code != h.code {
		t.Errorf("it ended with %d (%v), want %d", code, err, h.code)
	}
	got := out.String()
	if h.code != 0 && len(got) > 20_000 {
		t.Errorf("it said %d bytes, which nobody reads", len(got))
		got = got[:20_000]
	}
	for _, s := range h.says {
		if !strings.Contains(got, s) {
			t.Errorf("it does not say %q, but\n%s", s, got)
		}
	}
	for _, s := range h.never {
		if strings.Contains(got, s) {
			t.Errorf("it says %q:\n%s", s, got)
		}
	}
}

// TestForbidden is about files that may not be read. Nobody forbids root anything, so root becomes somebody else.
func TestForbidden(t *testing.T) {
	var as *syscall.Credential
	if os.Getuid() == 0 {
		as = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	dir, err := os.MkdirTemp("", "moon-forbidden-") //nolint:usetesting // that is below a directory which only its owner enters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = os.Chmod(filepath.Join(dir, "closed"), 0o755)
		_ = os.Chmod(filepath.Join(dir, "tree/closed"), 0o755)
		_ = os.RemoveAll(dir)
	})
	files(map[string]string{
		"p.yml": "- include: no.yml\n- include: closed/x.yml\n- print: x\n  with_filetree: closed\n- print: x\n  with_filetree: tree\n" +
			"- include_vars: no.yml\n- template: {src: no.yml, dest: out}\n",
		"no.yml": "[]\n", "closed/x.yml": "[]\n", "tree/closed/f": "", "yes.yml": "[]\n",
	})(t, dir)
	for name, mode := range map[string]os.FileMode{"": 0o755, "no.yml": 0, "closed": 0, "tree/closed": 0} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if as != nil {
		t.Setenv("HOME", dir)
	}
	checkHostile(t, hostile{
		args: []string{"validate", "p.yml"}, code: 2,
		says: []string{
			"p.yml:1:12: error: include: no permission to read no.yml", "p.yml:2:12: error: include: no permission to read closed/x.yml",
			"p.yml:4:18: error: with_filetree: no permission to read closed", "p.yml:6:18: error: with_filetree: no permission to read tree/closed",
			"p.yml:7:17: error: include_vars: no permission to read no.yml", "p.yml:8:19: error: template: no permission to read no.yml",
		},
		never: []string{"hint"}, // there is a file with a similar name, but this one is there
	}, dir, as)
	checkHostile(t, hostile{
		args: []string{"validate", "no.yml"}, code: 2, says: []string{"no.yml: error: no permission to read no.yml"}, never: []string{"hint"},
	}, dir, as)
}
