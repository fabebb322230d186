package html_test

import (
	"context"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser is a browser without a window; the test is skipped if none is installed. MOON_PICTURES is a directory for what it draws.
func browser(t *testing.T) func(args ...string) string {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("there is no chromium")
	}
	profile := t.TempDir()
	return func(args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		out, err := exec.CommandContext(ctx, path, append([]string{
			"--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND",
			"--user-data-dir=" + profile, "--window-size=1000,1200",
		}, args...)...).Output()
		if err != nil {
			t.Skipf("%s does not run here: %v", path, err)
		}
		return string(out)
	}
}

// TestBrowser opens a page in a real browser: its own script runs and those of the run do not, a search finds what steps have printed,
// and it is light or dark as the reader has it.
func TestBrowser(t *testing.T) {
	open := browser(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	if err := os.WriteFile(file, []byte(page(t, taken(t, playbook))), 0o600); err != nil {
		t.Fatal(err)
	}
	dom := open("--virtual-time-budget=3000", "--dump-dom", "file://"+file+"#search=plain")
	if !strings.Contains(dom, "1 of 6 steps") {
		t.Error("the search has not found the one step that prints it")
	}
	found := map[string]bool{}
	for _, n := range elements(t, dom) {
		if id := attribute(n, "id"); strings.HasPrefix(id, "step-") {
			found[id] = !strings.Contains(attribute(n, "class"), "gone")
		}
		if attribute(n, "class") == "tools" && len(n.Attr) != 1 {
			t.Error("the search is hidden")
		}
		if n.Data == "img" {
			t.Error("a text of the run has become a picture")
		}
	}
	if len(found) != 6 || !found["step-0001"] || found["step-0002"] {
		t.Errorf("found is %v", found)
	}
	if pictures := os.Getenv("MOON_PICTURES"); pictures != "" {
		dir = pictures
	}
	corner := func(name string, args ...string) uint32 {
		path := filepath.Join(dir, name)
		open(append(args, "--screenshot="+path, "file://"+file)...)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		picture, err := png.Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		r, _, _, _ := picture.At(2, 2).RGBA()
		return r >> 8
	}
	if light, dark := corner("light.png", "--blink-settings=preferredColorScheme=1"), corner("dark.png", "--blink-settings=preferredColorScheme=0"); light < 240 || dark > 40 {
		t.Errorf("the corner is %d if the reader wants light, and %d if dark", light, dark)
	}
}
