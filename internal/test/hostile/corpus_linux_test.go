package hostile

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// evil is what no view may pass on to a terminal: titles, links, the clipboard, strings that swallow what follows, questions
// whose answers are typed into the next shell, C1 bytes raw and encoded, text that runs backwards or is hidden, NUL, bells.
var evil = []string{
	"\x1b]0;EVIL\x07", "\x1b]2;EVIL\x1b\\", "\x1b]8;;http://EVIL\x1b\\EVIL\x1b]8;;\x1b\\", "\x1b]52;c;RVZJTA==\x07", "\x1bPEVIL\x1b\\", "\x1b_EVIL\x1b\\",
	"\x1b^EVIL\x1b\\", "\x1bXEVIL\x1b\\", "\x1b[6n", "\x1b[c", "\x1b[>c", "\x1b[=c", "\x1b[5n", "\x1b[?1049h", "\x1b[?1000h", "\x1b[2JEVIL", "\x1b[1;1HEVIL", "\x1bcEVIL", "\x1b(0EVIL",
	"\x9b6n", "\x9d0;EVIL\x9c", "\x90EVIL\x9c", "\u009b6n", "\u009d0;EVIL\u009c", "\u202eEVIL", "\u2066EVIL", "\U000e0045VIL", strings.Repeat("\x07", 50), "\x0e", "\x7f", "\x1b[31mEVIL",
	"\x1b]0;EVIL", "\x1b[3", "\x1b",
}

// nameable are those that can be in the name of a file.
func nameable() string {
	var b strings.Builder
	for _, s := range evil[:12] {
		b.WriteString(strings.ReplaceAll(s, "/", ""))
	}
	return b.String() + "\u202eEVIL"
}

// leaks is what a terminal would have acted on. A screen has sequences of its own, so there it is what they do not have.
var (
	leaks       = regexp.MustCompile("\x1b([^\\[]|\\[[0-9;]*[^0-9;m]|$)|[\x00-\x06\x07\x0e-\x1a\x1c-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff]")
	screenLeaks = regexp.MustCompile("\x1b[\\]P_^X][^\x1b\x07]*EVIL|\x1b\\]52|\x1b\\[(6n|5n|c|>c|=c)|\x1bc|\x1b\\(0|\x1b\\[2JEVIL|\x1b\\[1;1HEVIL|\x1b\\[\\?1000h|[\x00\x0e\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff]|\x07\x07")
)

func wantClean(t *testing.T, what, said string, leak *regexp.Regexp) {
	t.Helper()
	assault.Tried(t, "control sequences through views", len(evil))
	if !strings.Contains(said, "EVIL") {
		t.Errorf("%s shows none of it:\n%s", what, said)
	}
	if at := leak.FindStringIndex(strings.ToValidUTF8(said, "\u009f")); at != nil {
		t.Errorf("%s passes on %q in %q", what, said[at[0]:min(at[1], len(said))], said[max(at[0]-80, 0):min(at[1]+80, len(said))])
	}
}

// TestCorpus puts the corpus wherever somebody else's text comes from, and looks at it through every view.
func TestCorpus(t *testing.T) {
	assault.Long(t)
	dir := t.TempDir()
	name := nameable()
	all := strings.Join(evil, "\n") + "\n" + strings.Join(evil, " ")
	tree := filepath.Join(dir, "tree")
	playbook := filepath.Join(dir, "evil"+strings.ReplaceAll(name, ":", "")[:60]+".yml")
	for path, text := range map[string]string{
		filepath.Join(tree, name): "old\n", filepath.Join(dir, "corpus"): all, filepath.Join(dir, "diffed"): "old\n",
		playbook: `
- name: prints
  shell: cat corpus; cat corpus >&2
  register: r
- name: in pieces
  shell: for c in '\033' ']0;EV' 'IL' '\007' '\302' '\2336n' '\342\200' '\256EVIL'; do printf "$c"; sleep 0.06; done
- print: "{{ r.stdout }}"
- name: "file {{ item.name }}"
  copy: {content: "new\n", dest: "{{ item.src }}"}
  with_filetree: tree
- copy: {src: corpus, dest: diffed}
- name: leaves one behind
  shell: |
    cp $(command -v sleep) "./$(head -c 20 corpus | tr -d '/\n')EVIL" && setsid "./$(head -c 20 corpus | tr -d '/\n')EVIL" 31 & echo
- name: fails
  shell: cat corpus >&2; exit 3
  ignore_errors: true
- name: fails otherwise
  assert: {that: "1 == 2", fail_msg: "{{ r.stdout }}"}
`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	state := []string{"XDG_STATE_HOME=" + dir + "/state"}
	moon, err := exec.LookPath("moon") // testscript has put it there
	if err != nil {
		t.Fatal(err)
	}
	piped := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), moon, args...)
		cmd.Env = append(os.Environ(), state...)
		out, _ := cmd.CombinedOutput() // some fail
		return string(out)
	}
	onTerminal := func(args ...string) string {
		c := fakes.OpenTerminal(t, 120, 40, state, args...)
		c.End()
		return strings.ReplaceAll(c.Written(), "\r\n", "\n")
	}
	for _, args := range [][]string{
		{"run", "-D", "-v", playbook},
		{"run", "-o", "github", playbook},
		{"run", "-o", "junit", playbook},
		{"show"},
		{"show", "--output", "prints"},
		{"show", "--output", "in pieces"},
		{"runs"},
		{"plan", playbook},
		{"plan", "--flat", playbook},
		{"plan", "--format", "dump", playbook},
		{"plan", "--explain", "step-0004", playbook},
		{"graph", "--format", "dot", playbook},
		{"validate", playbook},
		{"validate", filepath.Join(tree, name)},
	} {
		what := strings.Join(args[:min(len(args), 3)], " ")
		wantClean(t, what+" on a terminal", onTerminal(args...), leaks)
		if args[0] != "show" || len(args) == 1 { // a step's output goes into a pipe as it is
			wantClean(t, what, piped(args...), leaks)
		}
	}
	c := fakes.OpenTerminal(t, 120, 40, state, "tui", playbook)
	c.See("REVIEW")
	c.Press("Ac", "PAUSED")
	for range 12 {
		c.Press("k2", "Output")
		for _, key := range []string{"3", "4", "5"} {
			c.Press(key)
		}
	}
	c.Press("q", "Quit")
	c.Press("k")
	c.End()
	wantClean(t, "the screen", c.Written(), screenLeaks)
	if c.Alternate() {
		t.Error("the screen did not end")
	}
}
