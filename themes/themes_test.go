package themes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

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
	write(t, dir, "sea", `# Deep water.
# It is calm.

inherits: moonlight
palette: { deep: "#0b4f6c", sand: "#e8d5a3" }
roles: { failed: red }
# This line is not what it says of itself.
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
	case dark.About != "Deep water.", dark.Path != filepath.Join(dir, "sea.yaml"), moonlight.Path != "", moonlight.About == "":
		t.Errorf("it is %q in %q; moonlight is %q in %q", dark.About, dark.Path, moonlight.About, moonlight.Path)
	case !dark.Adaptive, dark.Glyphs["changed"].Text != "Δ", dark.Name != "sea":
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
	if got := strings.Join(Names(dir), " "); got != "blue-orange catppuccin-latte catppuccin-mocha contrast daylight mono moonlight sea terminal" {
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
	write(t, dir, "twice", "roles: { failed: red, failed: blue }\nglyphs: {}\nroles: { failed: cyan }\n")
	terminal, _ := Load(Default, "", true)

	write(t, dir, "halves", "dark: { ok: nocolour }\nlight: { background: yes, okay: red }\nroles: [1]\npalette: red\n")
	for _, c := range []struct {
		name string
		want []string
	}{
		// Also of the half that does not apply, or it would be found only after sunrise.
		{"halves", []string{
			`halves.yaml:3: roles is a map`, `halves.yaml:4: palette is a map, not "red"`, `halves.yaml:1: bad colour "nocolour"`,
			`halves.yaml:2: bad colour "yes"`, `halves.yaml:2: unknown role "okay"`,
		}},
		{"bad", []string{
			`bad.yaml:2: unknown key "colours"`, `loop.yaml:1: inherits itself: bad → loop → bad`,
			`bad.yaml:4: unknown role "acent"`, `bad.yaml:5: bad colour "#12345"`, `bad.yaml:6: unknown attribute "blink"`,
			`bad.yaml:6: bold is true or false`, `bad.yaml:7: bad colour "300"`,
		}},
		{"orphan", []string{`orphan.yaml:1: there is no theme "nowhere" to inherit`}},
		{"list", []string{"list.yaml:1: a theme is a map"}},
		{"broken", []string{"broken.yaml:1: did not find"}},
		{"twice", []string{"twice.yaml:1: failed stands in line 1 already; this one counts", "twice.yaml:3: roles stands in line 1 already"}},
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

// What stands in one half is for that background alone; on the other all is inherited.
func TestOneHalf(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "day", "inherits: contrast\nlight: { background: \"#eeeeee\", ok: blue }\n")
	light, warnings := Load("day", dir, false)
	dark, _ := Load("day", dir, true)
	black, _ := Load("contrast", "", true)
	if len(warnings) > 0 || !light.Adaptive || !dark.Adaptive || light.Style(OK) == dark.Style(OK) || dark.Style(OK) != black.Style(OK) ||
		dark.Background != black.Background || light.Background == dark.Background {
		t.Errorf("light %+v\ndark %+v\n%v", light, dark, warnings)
	}
	write(t, dir, "accent", "light: { accent: blue }\n")
	light, _ = Load("accent", dir, false)
	dark, _ = Load("accent", dir, true)
	if terminal, _ := Load(Default, "", true); dark.Style(Accent) != terminal.Style(Accent) || light.Style(Accent) == dark.Style(Accent) || !light.Adaptive {
		t.Errorf("light %+v, dark %+v", light.Style(Accent), dark.Style(Accent))
	}
}

func TestAliases(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "same", "roles:\n  failed: &loud { fg: red, bold: true }\n  danger: *loud\n")
	theme, warnings := Load("same", dir, true)
	if len(warnings) > 0 || theme.Style(Danger) != theme.Style(Failed) {
		t.Errorf("%+v, %v", theme.Style(Danger), warnings)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
