package tui

import (
	"fmt"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/xo/terminfo"

	"moon/themes"
	"moon/tui/draw"
)

// chooseProfile decides how many colours there are. NO_COLOR counts with any value, and takes only the colours:
// bold, faint and reverse still tell structure.
func chooseProfile(o Options, env func(string) string) colorprofile.Profile {
	var profile colorprofile.Profile
	switch {
	case o.Profile != nil:
		profile = *o.Profile
	case o.Output != nil:
		profile = colorprofile.Detect(o.Output, os.Environ())
	default:
		profile = colorprofile.Detect(os.Stdout, os.Environ())
	}
	switch term := env("TERM"); {
	case o.NoColor || env("NO_COLOR") != "" || !hasColours(term):
		return min(profile, colorprofile.ASCII)
	case term == "linux": // the console shows the nearest of its sixteen, whatever COLORTERM was left over
		return min(profile, colorprofile.ANSI)
	}
	return profile
}

// hasColours asks the terminal's own description, because colorprofile takes every terminal for one with sixteen. A terminal
// that has none, as vt100 and xterm-mono, would show nothing of a colour, or worse.
func hasColours(term string) bool {
	if term == "" {
		return true // whoever knows no name for it has to go by something else
	}
	described, err := terminfo.Load(term)
	if err != nil {
		return !strings.HasPrefix(term, "vt") && !strings.HasSuffix(term, "-mono") && !strings.HasSuffix(term, "-m")
	}
	return described.Nums[terminfo.MaxColors] >= 8
}

// hasFaint reports whether faint text is the same text, only weaker. The Linux console shows it in one grey, whatever its
// colour was, and in that hardly to be read; a vt100 knows nothing of it.
func hasFaint(term string) bool {
	return term != "linux" && !strings.HasPrefix(term, "vt")
}

// chooseTheme loads the theme for a background, and the default where there are too few colours for one with its own.
func chooseTheme(o Options, profile colorprofile.Profile, env func(string) string, dark bool) (*themes.Theme, []themes.Warning) {
	name := o.Theme
	if !dark && o.LightTheme != "" {
		name = o.LightTheme
	}
	theme, warnings := themes.Load(name, o.ThemeDir, dark)
	if theme.Fixed() && profile < colorprofile.ANSI256 {
		glyphs := theme.Glyphs
		theme, _ = themes.Load(themes.Default, "", dark)
		theme.Glyphs = glyphs
	}
	if !hasFaint(env("TERM")) {
		theme = theme.WithoutFaint()
	}
	return theme, warnings
}

// loadThemes gives the screen its theme, for both backgrounds, and says what is wrong with it. It reads files.
func (m *model) loadThemes() {
	var all []themes.Warning
	for i, dark := range []bool{true, false} {
		theme, warnings := chooseTheme(m.o, m.profile, m.env, dark)
		m.skins[i] = theme
		all = append(all, warnings...)
	}
	all = append(all, m.applyTheme()...)
	m.Message = firstWarning(all)
}

// applyTheme takes the colours and glyphs for the background there is. Until a terminal says otherwise it is dark.
func (m *model) applyTheme() (refused []themes.Warning) {
	theme := m.skins[0]
	if m.light {
		theme = m.skins[1]
	}
	m.Pen = draw.NewPen(theme)
	m.Glyphs = draw.ChooseGlyphs(m.o.Glyphs, m.env)
	return m.Glyphs.Adopt(theme)
}

// firstWarning is the first of some warnings, with how many more there are. Both halves of a theme may have the same.
func firstWarning(all []themes.Warning) string {
	var texts []string
	for _, w := range all {
		if text := w.String(); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	switch len(texts) {
	case 0:
		return ""
	case 1:
		return draw.Plain("theme " + texts[0])
	}
	return draw.Plain(fmt.Sprintf("theme %s (and %d more; moon themes NAME lists them)", texts[0], len(texts)-1))
}

// adaptsToBackground reports whether the screen looks otherwise on a light background.
func (m *model) adaptsToBackground() bool {
	return m.skins[0].Adaptive || m.skins[0].Name != m.skins[1].Name
}

// watchBackground asks for the terminal's background, and to be told when it changes. What comes is a message, some time or
// never: nothing waits for it.
func (m *model) watchBackground() tea.Cmd {
	if !m.adaptsToBackground() {
		return nil
	}
	m.watching = true
	return tea.Batch(tea.Raw(ansi.SetModeLightDark), tea.RequestBackgroundColor)
}

// askBackground asks for the background again: the terminal has said that light and dark have changed, or it had the chance to
// change while the user was elsewhere. Not every terminal says so.
func (m *model) askBackground() tea.Cmd {
	if !m.adaptsToBackground() {
		return nil
	}
	return tea.RequestBackgroundColor
}

// setBackground takes the terminal's answer.
func (m *model) setBackground(msg tea.BackgroundColorMsg) {
	if light := !msg.IsDark(); light != m.light {
		m.light = light
		m.applyTheme()
	}
}

// schemeChanged reports whether a message says that light and dark have changed.
func schemeChanged(msg tea.Msg) bool {
	switch msg.(type) {
	case uv.DarkColorSchemeEvent, uv.LightColorSchemeEvent:
		return true
	}
	return false
}

// lendUnwatched does something that gives the terminal to somebody else, who must not be told of changes they did not ask for.
func (m *model) lendUnwatched(do tea.Cmd) tea.Cmd {
	if !m.watching || do == nil {
		return do
	}
	return tea.Sequence(tea.Raw(ansi.ResetModeLightDark), do, tea.Raw(ansi.SetModeLightDark), tea.RequestBackgroundColor)
}

// stopWatching gives the terminal back as it was. The screen is closed by then.
func (m *model) stopWatching() {
	if !m.watching {
		return
	}
	if m.o.Output != nil {
		_, _ = m.o.Output.Write([]byte(ansi.ResetModeLightDark)) // the terminal may be gone
		return
	}
	_, _ = os.Stdout.WriteString(ansi.ResetModeLightDark)
}
