package remote

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFindAgents lists the program that a host would be sent, in the order of the directories, and says why one is not sent.
func TestFindAgents(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	t.Setenv("MOON_AGENTS", first+string(filepath.ListSeparator)+second+string(filepath.ListSeparator)+filepath.Join(first, "none"))
	for _, path := range []string{
		filepath.Join(first, "linux-arm", "moon"), filepath.Join(first, "linux-386", "old"), filepath.Join(first, "README", "moon"),
		filepath.Join(second, "linux-arm", "moon"), filepath.Join(second, "darwin-arm64", "moon"),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("moon"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	said := func(check func(string) error) string {
		var lines []string
		for _, a := range FindAgents(check) {
			line := a.System + " " + strings.NewReplacer(first, "1", second, "2").Replace(a.Path)
			if a.Err != nil {
				line += " " + a.Err.Error()
			}
			lines = append(lines, line)
		}
		return strings.Join(lines, "\n")
	}
	for _, c := range []struct {
		refused string // directories whose programs are of other sources
		want    string
	}{
		{"", "darwin-arm64 2/darwin-arm64/moon\nlinux-arm 1/linux-arm/moon"},
		{first, "darwin-arm64 2/darwin-arm64/moon\nlinux-arm 2/linux-arm/moon"},
		{first + second, "darwin-arm64 2/darwin-arm64/moon other\nlinux-arm 1/linux-arm/moon other"},
	} {
		got := said(func(path string) error {
			if strings.Contains(c.refused, filepath.Dir(filepath.Dir(path))) {
				return errors.New("other")
			}
			return nil
		})
		if got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
	t.Setenv("MOON_AGENTS", "")
	t.Setenv("XDG_DATA_HOME", filepath.Join(first, "data"))
	path := filepath.Join(first, "data", "moon", "agents", "plan9-mips", "moon")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("moon"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o757); err != nil { // that is the mistake
		t.Fatal(err)
	}
	if got := said(nil); !strings.HasPrefix(got, "plan9-mips 1/data/moon/agents/plan9-mips/moon ") ||
		!strings.Contains(got, "is not sent there: others may write to") {
		t.Error(got)
	}
}
