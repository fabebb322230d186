package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReleasesPage runs the calls of moon that docs/releases.md shows, and compares what else it says of releases with their configuration:
// names of files, paths and systems.
func TestReleasesPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/releases.md")
	if err != nil {
		t.Fatal(err)
	}
	page, c := string(text), readConfiguration(t)
	for _, part := range []string{
		"\ntar -xzf moon_VERSION_linux_amd64.tar.gz ", " ./moon_VERSION_amd64.deb\n", " ./moon-VERSION-1.x86_64.rpm\n", " ./moon_VERSION_x86_64.apk\n",
		"`undefined: moon_does_not_run_on_Windows_use_WSL`", "`/usr/lib/moon/agents/SYSTEM/moon`", "`/usr/share/man/man1/moon*.1.gz`", "/usr /usr\n",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page does not have %q", part)
		}
	}
	// Every directory of the table is one of the packages, and the other way round.
	paths := regexp.MustCompile("`(/usr/[a-z-]+/[a-z-]+)").FindAllStringSubmatch(page, -1)
	for _, f := range c.Nfpms[0].Contents {
		if !slices.ContainsFunc(paths, func(m []string) bool { return strings.HasPrefix(f.Dst, m[1]) }) {
			t.Errorf("the page does not say what %s is", f.Dst)
		}
	}
	for _, m := range paths {
		if m[1] != c.Nfpms[0].Bindir+"/moon" && !slices.ContainsFunc(c.Nfpms[0].Contents, func(f file) bool { return strings.HasPrefix(f.Dst, m[1]) }) {
			t.Errorf("the page has %s, and no package", m[1])
		}
	}
	system := map[string]string{"Linux": "linux", "macOS": "darwin", "FreeBSD": "freebsd"}
	var targets []string
	for _, m := range regexp.MustCompile(`(?m)^\| (\w+): archive.*? \| (.*) \|$`).FindAllStringSubmatch(page, -1) {
		for i, cell := range strings.Split(m[2], " | ") {
			if cell == "yes" {
				targets = append(targets, system[m[1]]+"_"+[]string{"amd64", "arm64", "arm_7", "386"}[i])
			}
		}
	}
	if want := slices.Sorted(slices.Values(c.Builds[0].Targets)); !slices.Equal(slices.Sorted(slices.Values(targets)), want) {
		t.Errorf("the page is of %q, and a release of %q", targets, want)
	}
	runCalls(t, page)
}

// runCalls runs each call of moon that a page shows, on the playbook of plays: in an image, in the sources, or in the shell.
func runCalls(t *testing.T, page string) {
	t.Helper()
	calls := regexp.MustCompile("(?m)^(?:docker run .*ghcr.io/OWNER/moon|\\./moon) (.*)$|`(?:source <\\()?moon ([^`>)]*)\\)?`").FindAllStringSubmatch(page, -1)
	if len(calls) < 7 {
		t.Fatalf("the page shows the calls %q", calls)
	}
	for _, m := range calls {
		home := t.TempDir()
		if err := os.MkdirAll(filepath.Join(home, ".local/share/bash-completion/completions"), 0o755); err != nil {
			t.Fatal(err)
		}
		line := "moon " + m[1] + m[2]
		if strings.Contains(line, "| man") { // a pager, and a terminal for it
			line, _, _ = strings.Cut(line, " | ")
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", line)
		cmd.Dir, cmd.Env = filepath.Join("testdata", "playbooks", "site"), append(os.Environ(), "HOME="+home)
		out, err := cmd.CombinedOutput()
		wrote, _ := filepath.Glob(home + "/.local/share/*/*/*") // the pattern is a right one
		if err != nil || len(out) == 0 && len(wrote) == 0 && !strings.Contains(line, "validate") {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
}
