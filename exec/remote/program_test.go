package remote

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
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
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	if beside := agentsDirs(); len(beside) != 3 {
		t.Errorf("%q", beside)
	}
	t.Setenv("MOON_AGENTS", dirs[0])
	if _, err := fresh().findProgram("plan9-mips"); err != nil {
		t.Error(err)
	}
}

// TestMoonOfOtherBuild does not send a moon that was built from other sources: for a system that this moon is for it sends itself.
func TestMoonOfOtherBuild(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("MOON_AGENTS", dir)
	here := runtime.GOOS + "-" + runtime.GOARCH
	for _, system := range []string{here, "plan9-mips"} {
		if err := os.MkdirAll(filepath.Join(dir, system), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, system, "moon"), []byte(system), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ps := &programs{check: func(path string) error { return errors.New(path + " was built from other sources") }}
	if p, err := ps.findProgram(here); err != nil || p.path != "" {
		t.Errorf("%+v, %v", p, err)
	}
	_, err := ps.findProgram("plan9-mips")
	if err == nil || !strings.Contains(err.Error(), "was built from other sources; put one of this version there: `make agents SYSTEMS=plan9-mips`") {
		t.Error(err)
	}
	ps = &programs{}
	if p, err := ps.findProgram(here); err != nil || p.path != filepath.Join(dir, here, "moon") {
		t.Errorf("%+v, %v", p, err)
	}
}
