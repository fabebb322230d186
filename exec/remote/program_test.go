package remote

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMoonOfOthers does not send a moon for another system that another user can change, unless the user has named its directory.
func TestMoonOfOthers(t *testing.T) {
	data := t.TempDir()
	t.Setenv("XDG_DATA_HOME", data)
	t.Setenv("MOON_AGENTS", "")
	dirs := agentsDirs()
	path := filepath.Join(dirs[0], "plan9-mips", "moon")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("moon"), 0o755); err != nil { // a program
		t.Fatal(err)
	}
	fresh := func() *programs { return &programs{found: map[string]*program{}} }
	if _, err := fresh().findProgram("plan9-mips"); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(path, 0o757); err != nil { // that is the mistake
		t.Fatal(err)
	}
	if _, err := fresh().findProgram("plan9-mips"); err == nil ||
		!strings.Contains(err.Error(), "is not sent there: others may write to "+path) {
		t.Errorf("%v", err)
	}
	t.Setenv("MOON_AGENTS", dirs[0])
	if _, err := fresh().findProgram("plan9-mips"); err != nil {
		t.Error(err)
	}
}
