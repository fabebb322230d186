package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"moon/internal/test/fakes"
)

// promise is something that a page says a playbook can rely on, and a playbook that relies on it. The files of testdata/promises hold
// them, one file for a page:
//
//	=== words of the page, as they stand there
//	both --flags of moon run       steps or plays for a whole playbook of that form; both for steps that are also tasks of a play
//	exit 1                         0 without it
//	log words                      what the steps have written to $LOG, which says what ran, how often and in which order
//	says words, not words          what moon prints, or does not
//	file name words                what a file holds afterwards
//	twice                          moon runs it a second time
//	---
//	the playbook, and other files behind lines "# file: name"
type promise struct {
	at, says, form string
	args           []string
	expect         []string
	twice          bool
	files          fence
}

// TestPromises looks for the words of each promise on its page, and runs its playbook: under -short steps that are also tasks in one
// form only, each form in turn.
func TestPromises(t *testing.T) {
	pages, err := filepath.Glob("testdata/promises/*.txt")
	if err != nil || len(pages) == 0 {
		t.Fatal("there are no promises", err)
	}
	for _, file := range pages {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		page := onOneLine(strings.Join(fakes.ReadLines(t, filepath.Join("docs", name+".md")), "\n"))
		for i, p := range readPromises(t, file) {
			if !strings.Contains(page, onOneLine(p.says)) {
				t.Errorf("%s: docs/%s.md does not say: %s", p.at, name, p.says)
			}
			forms := []string{p.form}
			if p.form == "both" {
				forms = []string{"steps", "tasks"}
				if testing.Short() {
					forms = forms[i%2 : i%2+1]
				}
			}
			for _, form := range forms {
				t.Run(p.at+" "+form, func(t *testing.T) {
					t.Parallel()
					p.keep(t, form)
				})
			}
		}
	}
}

func onOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func readPromises(t *testing.T, file string) []promise {
	t.Helper()
	var all []promise
	inside := false
	for i, line := range fakes.ReadLines(t, file) {
		if words, ok := strings.CutPrefix(line, "=== "); ok {
			all = append(all, promise{at: filepath.Base(file) + ":" + strconv.Itoa(i+1), says: words})
			inside = false
			continue
		}
		p := &all[len(all)-1]
		switch {
		case inside:
			p.files.text = append(p.files.text, line)
		case line == "---":
			inside = true
		case p.form == "":
			words := strings.Fields(line)
			p.form, p.args = words[0], words[1:]
			if !slices.Contains([]string{"both", "steps", "plays"}, p.form) {
				t.Fatalf("%s: %q is not a form", p.at, p.form)
			}
		case line == "twice":
			p.twice = true
		default:
			p.expect = append(p.expect, line)
		}
	}
	return all
}

// playbook is what is run: steps that are also tasks go into a play.
func (p *promise) playbook(form string) fence {
	if form != "tasks" {
		return p.files
	}
	f := fence{text: []string{"- hosts: localhost", "  gather_facts: false", "  tasks:"}}
	for i, line := range p.files.text {
		if strings.HasPrefix(line, "# file: ") {
			f.text = append(f.text, p.files.text[i:]...)
			break
		}
		f.text = append(f.text, "    "+line)
	}
	return f
}

func (p *promise) keep(t *testing.T, form string) {
	t.Helper()
	moon, err := exec.LookPath("moon") // testscript has put it there
	if err != nil {
		t.Fatal(err)
	}
	dir, home := layOut(t, p.playbook(form)), t.TempDir()
	log := filepath.Join(home, "log")
	args := append([]string{"run", "playbook.yml"}, p.args...)
	if slices.Contains(p.files.text, "# file: hosts") {
		args = append(args, "-i", "hosts")
	}
	var out []byte
	code := 0
	for range map[bool]int{false: 1, true: 2}[p.twice] {
		cmd := exec.Command(moon, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "LC_ALL=C", "LOG="+log, "HOME="+home, "XDG_STATE_HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home)
		out, _ = cmd.CombinedOutput() // its end is looked at below
		code = cmd.ProcessState.ExitCode()
	}
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
		return onOneLine(string(text))
	}
	wanted, ran := 0, ""
	for _, line := range p.expect {
		key, words, _ := strings.Cut(line, " ")
		switch key {
		case "exit":
			wanted, _ = strconv.Atoi(words)
		case "log":
			ran = words
		case "says", "not":
			if strings.Contains(string(out), words) != (key == "says") {
				t.Errorf("%s: %s", key, words)
			}
		case "file":
			name, holds, _ := strings.Cut(words, " ")
			if got := read(filepath.Join(dir, name)); got != holds {
				t.Errorf("%s holds %q, want %q", name, got, holds)
			}
		default:
			t.Errorf("what is %q?", line)
		}
	}
	if code != wanted {
		t.Errorf("exit code %d, want %d", code, wanted)
	}
	if got := read(log); got != ran {
		t.Errorf("ran %q, want %q", got, ran)
	}
	if t.Failed() {
		t.Logf("docs: %s\n%s", p.says, out)
	}
}
