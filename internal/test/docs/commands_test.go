package docs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"moon/internal/test/fakes"
)

// commandPages are the pages whose commands are run, in the order they stand in. A page has one directory, with the first playbook of the
// page as PAGE.yml, its further files, and what is in testdata/docs/PAGE.
var commandPages = []string{"docs/starting.md", runningPage, "docs/runs.md", secretsPage}

// notRun is the line above a fence whose commands are not run, with the reason.
var notRun = regexp.MustCompile(`^<!-- not run: \S.{5,} -->$`)

var (
	runName = regexp.MustCompile(`\d{8}-\d{6}-[0-9a-f]{4}`)
	columns = regexp.MustCompile(`  +`)
)

// exitCode is the end of a command that does not end with 0.
var exitCode = regexp.MustCompile(`\s+# exit (\d+)$`)

// TestDocsCommands runs the commands of pages: those of `sh`, one on each line, and those of `console`, behind `$ `, with what they print. There
// a line that is … stands for any lines, and … in a line for any text.
func TestDocsCommands(t *testing.T) {
	pages, err := filepath.Glob("docs/howto/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatal(pages, err)
	}
	for _, page := range append(slices.Clone(commandPages), pages...) {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			t.Parallel()
			lines := fakes.ReadLines(t, page)
			fences := readFences(t, page, lines)
			run := newCommands(t, page, fences)
			for _, f := range fences {
				if f.kind != "sh" && f.kind != "console" {
					continue
				}
				if above := lines[max(f.line-2, 0)]; strings.HasPrefix(above, "<!-- not run") {
					if !notRun.MatchString(above) {
						t.Errorf("%s:%d: say why it is not run", page, f.line)
					}
					continue
				}
				for i := 0; i < len(f.text); {
					command, want, next := nextCommand(f, i)
					if command != "" {
						run.check(t, page+":"+strconv.Itoa(f.line+i+1), command, want, f.kind == "console")
					}
					i = next
				}
			}
		})
	}
}

// nextCommand is the command that begins on a line of a fence, what it prints, and the line behind that.
func nextCommand(f fence, i int) (command string, want []string, next int) {
	if f.kind == "sh" {
		return strings.TrimSpace(f.text[i]), nil, i + 1
	}
	command, _ = strings.CutPrefix(f.text[i], "$ ")
	next = i + 1
	for next < len(f.text) && !strings.HasPrefix(f.text[next], "$ ") {
		next++
	}
	return command, f.text[i+1 : next], next
}

// commands are run in one directory, with a home of their own.
type commands struct {
	dir string
	env []string
}

func newCommands(t *testing.T, page string, fences []fence) *commands {
	t.Helper()
	name := strings.TrimSuffix(filepath.Base(page), ".md")
	c := &commands{dir: t.TempDir()}
	if i := slices.IndexFunc(fences, func(f fence) bool { return f.kind == "yaml" }); i >= 0 && strings.Contains(page, "howto/") {
		c.dir = layOut(t, fences[i])
		if err := os.Rename(filepath.Join(c.dir, "playbook.yml"), filepath.Join(c.dir, name+".yml")); err != nil {
			t.Fatal(err)
		}
	}
	if more := filepath.Join("testdata/docs", name); dirExists(more) {
		if err := os.CopyFS(c.dir, os.DirFS(more)); err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	if path := filepath.Join(c.dir, "vault-password"); fileExists(path) {
		c.env = append(c.env, "MOON_VAULT_PASSWORD_FILE="+path)
	}
	c.env = append(append(c.env, os.Environ()...), "LC_ALL=C.UTF-8", "XDG_STATE_HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "HOME="+home, "EDITOR=true")
	return c
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func dirExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// check runs a command, and compares how it ends and, if it says what it prints, that.
func (c *commands) check(t *testing.T, at, command string, want []string, compare bool) {
	t.Helper()
	if t.Failed() { // what follows needs what went before
		return
	}
	code := 0
	if m := exitCode.FindStringSubmatch(command); m != nil {
		code, _ = strconv.Atoi(m[1]) // digits
		command = strings.TrimSuffix(command, m[0])
	}
	// One that waits for something would never end.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.WaitDelay = time.Second
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("%s: %v", at, err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("%s: %s ends with %d, and should with %d:\n%s", at, command, got, code, out)
		return
	}
	var pattern strings.Builder
	pattern.WriteString("^")
	for _, line := range want {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		text := strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
		// Runs have other names each time, and columns other widths.
		text = columns.ReplaceAllString(runName.ReplaceAllString(text, `[0-9]+-[0-9]+-[0-9a-f]+`), ` +`)
		pattern.WriteString(text + `[ \t]*\n`)
	}
	pattern.WriteString("$")
	if compare && !regexp.MustCompile(pattern.String()).Match(out) {
		t.Errorf("%s: %s prints\n%s\nand should print\n%s", at, command, out, strings.Join(want, "\n"))
	}
}
