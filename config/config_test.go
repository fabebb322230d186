package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func load(t *testing.T, text string) (Config, []string, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, Name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, list, err := Load(dir)
	var lines []string
	for _, d := range list {
		lines = append(lines, strings.TrimPrefix(d.Pos.File, dir+"/")+":"+string(rune('0'+d.Pos.Line))+": "+d.Message+" "+d.Hint)
	}
	return c, lines, err
}

func TestLoad(t *testing.T) {
	for _, c := range []struct {
		text string
		want Config
		says []string
	}{
		{"", Config{}, nil},
		{"# nothing yet\n", Config{}, nil},
		{"theme: sea\nglyphs: ascii\nmouse: true\nbanner: production\n", Config{Theme: "sea", Glyphs: "ascii", Mouse: true, Banner: "production"}, nil},
		{"theme: { light: daylight, dark: moonlight }\n", Config{Theme: "moonlight", LightTheme: "daylight"}, nil},
		{"theme: { light: daylight }\n", Config{LightTheme: "daylight"}, nil},
		{"theme:\nbanner: ~\n", Config{}, nil},
		{"notify: notify-send moon\n", Config{Notify: "notify-send moon"}, nil},
		{"notify: off\n", Config{}, nil},
		{"names: &n sea\ntheme: *n\n", Config{Theme: "sea"}, []string{`config.yaml:1: there is no setting "names"`}},
		{"banner: 2\n", Config{Banner: "2"}, nil},
		{
			"themes: sea\nglyphs: emoji\nmouse: maybe\ntheme: [a]\ntheme: sea\n",
			Config{},
			[]string{
				`config.yaml:1: there is no setting "themes"; known are theme, glyphs, mouse, banner, notify did you mean ` + "`theme`?", `config.yaml:2: glyphs is one of auto, unicode, ascii, not "emoji"`,
				`config.yaml:3: mouse is true or false, not "maybe"`, `config.yaml:4: theme is a name, or a map of light and dark`, `config.yaml:5: theme is set twice, in line 4 too`,
			},
		},
		{"theme: { light: [a], night: b }\nglyphs: {}\n", Config{}, []string{`config.yaml:1: light is a text`, `config.yaml:1: theme has light and dark, not "night"`, `config.yaml:2: glyphs is a text`}},
	} {
		got, says, err := load(t, c.text)
		if err != nil || got != c.want || len(says) != len(c.says) {
			t.Errorf("%q: %+v, %q, %v", c.text, got, says, err)
			continue
		}
		for i := range says {
			if !strings.HasPrefix(says[i], c.says[i]) {
				t.Errorf("%q: %q, want %q", c.text, says[i], c.says[i])
			}
		}
	}
}

// What may have held a banner is no mere warning when it cannot be read.
func TestWhatGuardsIsNotLost(t *testing.T) {
	for text, want := range map[string]string{
		"banner: [production]\n":         "config.yaml:1: banner is a text",
		"a: b\nbanner: {x: y}\n":         "config.yaml:2: banner is a text",
		"theme: {\nbanner: production":   "config.yaml:",
		"- banner: production\n":         "config.yaml:1: the settings are a map of theme",
		"theme: x\n\tbanner: production": "config.yaml:2: found a tab",
	} {
		if _, _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, Name), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(dir); err == nil {
		t.Error("a directory was read")
	}
	for _, none := range []string{"", t.TempDir(), filepath.Join(dir, "nowhere")} {
		if c, says, err := Load(none); err != nil || len(says) > 0 || c != (Config{}) {
			t.Errorf("%q: %+v, %v, %v", none, c, says, err)
		}
	}
}
