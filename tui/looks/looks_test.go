package looks

import (
	"testing"

	"github.com/charmbracelet/colorprofile"

	"moon/themes"
	"moon/tui/draw"
)

// The row under the cursor keeps the colours of states, and can be read as well as any other: all roles of all themes.
func TestCursorRowCanBeRead(t *testing.T) {
	for _, name := range themes.Names("") {
		for _, dark := range []bool{true, false} {
			theme, _ := themes.Load(name, "", dark)
			least := map[string]float64{"contrast": 7}[name]
			for i := range draw.InkCount {
				fg, bg := colorsOf(theme, i, draw.OnCursor)
				if !theme.Fixed() {
					if s := draw.StyleOf(theme, i, draw.OnCursor); !s.Reverse || s.Bg != nil {
						t.Errorf("%s: ink %d is %+v in the cursor's row", name, i, s)
					}
					continue
				}
				need := themes.NeedText
				if draw.StyleOf(theme, i, draw.OnCursor).Bold {
					need = themes.NeedBold
				}
				if got := themes.Contrast(fg, bg); got < max(need, least) {
					t.Errorf("%s, dark %t: ink %d has contrast %.2f in the cursor's row", name, dark, i, got)
				}
			}
			for r := range themes.Roles {
				if draw.IsState(r) && draw.StyleOf(theme, r, draw.OnCursor).Fg != theme.Style(r).Fg {
					t.Errorf("%s: %s loses its colour in the cursor's row", name, r)
				}
			}
		}
	}
}

// A terminal's colours are those of its own description, whatever the environment says of others.
func TestProfiles(t *testing.T) {
	for _, c := range []struct {
		term, no string
		want     colorprofile.Profile
		faint    bool
	}{
		{"xterm-256color", "", colorprofile.TrueColor, true},
		{"xterm-256color", "yes", colorprofile.ASCII, true},
		{"xterm-256color", "0", colorprofile.ASCII, true}, // any value counts
		{"vt100", "", colorprofile.ASCII, false},
		{"vt220", "", colorprofile.ASCII, false},
		{"xterm-mono", "", colorprofile.ASCII, true},
		{"nobody-knows-m", "", colorprofile.ASCII, true},
		{"nobody-knows", "", colorprofile.TrueColor, true},
		{"linux", "", colorprofile.ANSI, false},
	} {
		full := colorprofile.TrueColor
		env := func(name string) string { return map[string]string{"TERM": c.term, "NO_COLOR": c.no}[name] }
		if got := chooseProfile(Options{Profile: &full}, env); got != c.want {
			t.Errorf("%s with NO_COLOR=%s: %s", c.term, c.no, got)
		}
		theme, _ := chooseTheme(Options{}, colorprofile.ANSI, env, true)
		if theme.Style(themes.Dim).Faint != c.faint {
			t.Errorf("%s: faint is %t", c.term, !c.faint)
		}
	}
}
