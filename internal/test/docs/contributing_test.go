package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestContributing builds moon with the action that CONTRIBUTING.md adds, and runs it. Nearly all of moon is compiled for that: under
// -short only its declaration.
func TestContributing(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	for i, m := range regexp.MustCompile("(?s)`([a-z/_]+\\.go)`:\n\n```go\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		path := filepath.Join(dir, string(rune('a'+i))+".go")
		if err := os.WriteFile(path, []byte(m[2]), 0o600); err != nil {
			t.Fatal(err)
		}
		here, err := filepath.Abs(m[1])
		if err != nil {
			t.Fatal(err)
		}
		replace[here] = path
	}
	if len(replace) != 2 {
		t.Fatalf("CONTRIBUTING.md shows %d files", len(replace))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"overlay.json": overlay, "playbook.yml": []byte("- motd: {text: hello, path: motd}\n- motd: {msg: hello, path: motd}\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := func(args ...string) {
		t.Helper()
		args = append([]string{"build", "-overlay", filepath.Join(dir, "overlay.json")}, args...)
		if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
			t.Fatalf("%s\n%s", err, out)
		}
	}
	if testing.Short() {
		build("./exec/spec")
		return
	}
	moon := filepath.Join(dir, "bin")
	build("-o", moon, ".")
	for _, want := range []string{"2 done (1 changed)", "2 done, of 2 steps"} {
		cmd := exec.CommandContext(t.Context(), moon, "run", "playbook.yml")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_STATE_HOME="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: there is no %q in\n%s", err, want, out)
		}
	}
}
