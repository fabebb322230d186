package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/looks"
)

func previewed(t *testing.T, theme, dir string, p colorprofile.Profile, dark bool, w int) (string, []themes.Warning) {
	t.Helper()
	return looks.Preview(looks.Options{Theme: theme, ThemeDir: dir, Profile: &p, Glyphs: "unicode"}, func(string) string { return "" }, dark, w)
}

// Every role is shown by name, in its look, and every state with its word.
func TestPreviewShowsEverything(t *testing.T) {
	for _, name := range themes.Names("") {
		for _, p := range profiles {
			for _, dark := range []bool{true, false} {
				text, mistakes := previewed(t, name, "", p, dark, 0)
				if len(mistakes) > 0 {
					t.Fatalf("%s: %v", name, mistakes)
				}
				checkFrame(t, strings.TrimSuffix(text, "\n"), looks.PreviewWidth, strings.Count(text, "\n"))
				shown := ansi.Strip(text)
				for r := range themes.Roles {
					if !strings.Contains(shown, "\n "+r.String()+" ") {
						t.Errorf("%s: no role %s", name, r)
					}
				}
				for s := draw.SignUnapproved; s < draw.Signs; s++ {
					if !strings.Contains(shown, draw.SignLooks[s].Word) {
						t.Errorf("%s: no state %s", name, draw.SignLooks[s].Word)
					}
				}
				if strings.Contains(shown, "needs 4.5") || strings.Contains(shown, "needs 3.0") {
					t.Errorf("%s: hard to read:\n%s", name, shown)
				}
			}
		}
	}
}

// It is honest about what the terminal cannot show.
func TestPreviewSaysWhatIsShown(t *testing.T) {
	for _, c := range []struct {
		theme  string
		p      colorprofile.Profile
		says   string
		colour string // a sequence that must be there
	}{
		{"moonlight", colorprofile.TrueColor, "", "48;2;23;28;40"},
		{"moonlight", colorprofile.ANSI256, "256 colours: the nearest ones", "48;5;"},
		{"moonlight", colorprofile.ANSI, "16 colours, too few for this theme: the TUI", "31m"},
		{"terminal", colorprofile.ANSI, "", "31m"},
		{"moonlight", colorprofile.ASCII, "Without colours", ";7m"},
		{"mono", colorprofile.NoTTY, "no terminal", ""},
	} {
		text, _ := previewed(t, c.theme, "", c.p, true, 0)
		if !strings.Contains(ansi.Strip(text), c.says) || !strings.Contains(text, c.colour) {
			t.Errorf("%s with %s: not %q and %q in\n%q", c.theme, c.p, c.says, c.colour, text[:min(len(text), 1500)])
		}
		if c.says == "" && strings.Contains(ansi.Strip(text), "This terminal") {
			t.Errorf("%s with %s complains", c.theme, c.p)
		}
		if c.p == colorprofile.NoTTY && strings.ContainsAny(text, "\x1b") {
			t.Errorf("escapes go to a file: %q", text[:200])
		}
		for line := range strings.Lines(text) {
			if c.p == colorprofile.NoTTY && strings.HasSuffix(line, " \n") {
				t.Fatalf("blanks at the end of %q", line)
			}
		}
	}
}

func TestPreviewOfAUsersTheme(t *testing.T) {
	dir := t.TempDir()
	text := "# Deep \u202ewater.\ninherits: moonlight\ndark: { dim: \"#333a48\", ok: nocolour }\nglyphs: { changed: Δ, ok: ✅ }\n"
	if err := os.WriteFile(filepath.Join(dir, "sea.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, mistakes := previewed(t, "sea", dir, colorprofile.NoTTY, true, 0)
	for _, want := range []string{"sea   light and dark; this is the dark half", "water.", filepath.Join(dir, "sea.yaml"), "Δ changed", "✓ ok", "✗ needs 4.5"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "\u202e") {
		t.Error("a theme turns the text round")
	}
	if len(mistakes) != 2 || mistakes[0].Line != 3 || mistakes[1].Line != 4 {
		t.Errorf("mistakes: %v", mistakes)
	}
	light, _ := previewed(t, "sea", dir, colorprofile.NoTTY, false, 0)
	if strings.Contains(light, "needs 4.5") || !strings.Contains(light, "the light half") {
		t.Errorf("the light half has what the dark one says:\n%s", light)
	}
}

func TestPreviewFits(t *testing.T) {
	for w := 1; w <= 90; w++ {
		text, _ := previewed(t, "contrast", "", colorprofile.TrueColor, true, w)
		checkFrame(t, strings.TrimSuffix(text, "\n"), min(w, looks.PreviewWidth), strings.Count(text, "\n"))
	}
}
