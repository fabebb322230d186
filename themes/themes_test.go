package themes

import (
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// luminance is WCAG's relative luminance.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Borders and the rest of a bar carry nothing that must be read.
var decoration = map[Role]bool{Border: true, BarRest: true}

func TestContrast(t *testing.T) {
	for _, name := range []string{"moonlight", "daylight"} {
		theme, warnings := Load(name, "", true)
		if len(warnings) > 0 {
			t.Fatalf("%s: %v", name, warnings)
		}
		for role := range Roles {
			s := theme.Style(role)
			if s.Fg == nil {
				t.Errorf("%s: %s has no colour", name, role)
				continue
			}
			need := 4.5
			if s.Bold {
				need = 3
			}
			if decoration[role] {
				continue
			}
			back := theme.Background
			if s.Bg != nil {
				back = s.Bg
			}
			// The selected row is reverse video: the same two colours, so the same contrast.
			if got := contrast(s.Fg, back); got < need {
				t.Errorf("%s: %s has contrast %.2f, needs %.1f", name, role, got, need)
			}
		}
	}
}

// The default theme may use nothing but the six hues and attributes: bright black is the background in Solarized.
func TestTerminalThemeFollowsTheTerminal(t *testing.T) {
	theme, warnings := Load("", "", true)
	if len(warnings) > 0 || theme.Name != Default || theme.Fixed() || theme.Background != nil {
		t.Fatalf("got %+v, %v", theme, warnings)
	}
	for role := range Roles {
		s := theme.Style(role)
		if s.Bg != nil {
			t.Errorf("%s has a background", role)
		}
		if s.Fg == nil {
			continue
		}
		c, ok := s.Fg.(ansi.BasicColor)
		if !ok || c < 1 || c > 6 {
			t.Errorf("%s uses %v, not one of the six hues", role, s.Fg)
		}
	}
}

func TestUserTheme(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "sea", `inherits: moonlight
palette: { deep: "#0b4f6c", sand: "#e8d5a3" }
roles: { failed: red }
light:   { accent: deep,  changed: { fg: "#8a5a00", bold: true } }
dark:    { accent: sand, selection.bg: deep }
glyphs:  { changed: "Δ" }
`)
	dark, warnings := Load("sea", dir, true)
	if len(warnings) != 0 {
		t.Fatal(warnings)
	}
	light, _ := Load("sea", dir, false)
	moonlight, _ := Load("moonlight", "", true)
	switch {
	case !dark.Adaptive, dark.Glyphs["changed"] != "Δ", dark.Name != "sea":
		t.Errorf("got %+v", dark)
	case dark.Style(Accent).Fg == light.Style(Accent).Fg:
		t.Error("the halves do not differ")
	case !light.Style(Changed).Bold || light.Style(Selection).Bg != nil || dark.Style(Selection).Bg == nil:
		t.Errorf("got %+v", light)
	case dark.Style(OK) != moonlight.Style(OK), dark.Background != moonlight.Background:
		t.Error("what is not set is not inherited")
	case !dark.Style(Selection).Bold:
		t.Error("NAME.bg replaced the whole style")
	}
	if got := strings.Join(Names(dir), " "); got != "daylight moonlight sea terminal" {
		t.Errorf("names: %s", got)
	}
}

func TestMistakesWarnAndFallBack(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "bad", `inherits: loop
colours: {}
roles:
  acent: red
  ok: "#12345"
  warn: { fg: yellow, blink: true, bold: maybe }
  failed: 300
`)
	write(t, dir, "loop", "inherits: bad\n")
	write(t, dir, "orphan", "inherits: nowhere\n")
	write(t, dir, "list", "- 1\n")
	write(t, dir, "broken", "roles: {a: \n")
	terminal, _ := Load(Default, "", true)

	for _, c := range []struct {
		name string
		want []string
	}{
		{"bad", []string{
			`bad.yaml:2: unknown key "colours"`, `loop.yaml:1: inherits itself: bad → loop → bad`,
			`bad.yaml:4: unknown role "acent"`, `bad.yaml:5: bad colour "#12345"`, `bad.yaml:6: unknown attribute "blink"`,
			`bad.yaml:6: bold is true or false`, `bad.yaml:7: bad colour "300"`,
		}},
		{"orphan", []string{`orphan.yaml:1: there is no theme "nowhere" to inherit`}},
		{"list", []string{"list.yaml: a theme is a map"}},
		{"broken", []string{"broken.yaml: yaml:"}},
		{"unheard", []string{`unheard.yaml: there is no theme "unheard"; using "terminal"`}},
	} {
		theme, warnings := Load(c.name, dir, true)
		if len(warnings) != len(c.want) {
			t.Errorf("%s: %d warnings, want %d: %v", c.name, len(warnings), len(c.want), warnings)
			continue
		}
		for i, w := range warnings {
			if !strings.Contains(w.String(), c.want[i]) {
				t.Errorf("%s: got %q, want %q", c.name, w, c.want[i])
			}
		}
		if theme.Style(OK) != terminal.Style(OK) {
			t.Errorf("%s: no fallback", c.name)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
