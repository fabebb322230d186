package looks

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/xo/terminfo"

	"moon/internal/suggest"
	"moon/themes"
	"moon/tui/draw"
)

// Options is what there is to choose of the looks.
type Options struct {
	Theme          string // "" is the default
	LightTheme     string // on a light background; "" is Theme
	ThemeDir       string
	Glyphs         string // "unicode", "ascii" or "auto", also ""
	WithoutColours bool
	Profile        *colorprofile.Profile // nil: found out
	Output         io.Writer             // nil: the terminal
}

// Looks are colours and glyphs for the background that the terminal has. It belongs to the goroutine of the TUI.
type Looks struct {
	Pen     *draw.Pen
	Glyphs  *draw.Glyphs
	Profile colorprofile.Profile

	o        Options
	env      func(string) string
	skins    [2]*themes.Theme // for a dark and for a light background
	light    bool             // the terminal has said that its background is
	watching bool             // the terminal was asked to tell when light and dark change
}

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
	case o.WithoutColours || env("NO_COLOR") != "" || !hasColours(term):
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
	// Colours of its own would all be rounded to the same few, and no state could be distinguished by them. Glyphs need no colours.
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

// New are the looks that the options ask for, in the terminal that they and env describe, with what is wrong with the theme. It reads
// files.
func New(o Options, env func(string) string) (l *Looks, warning string) {
	l = &Looks{o: o, env: env, Profile: chooseProfile(o, env)}
	skins, all := chooseSkins(l.o, l.Profile, env)
	l.skins = skins
	return l, firstWarning(append(all, l.apply()...))
}

// chooseSkins loads a theme for a dark and for a light background.
func chooseSkins(o Options, profile colorprofile.Profile, env func(string) string) (skins [2]*themes.Theme, all []themes.Warning) {
	// Both are read ahead: when the terminal says which background it has, nothing may wait for a file.
	for i, dark := range []bool{true, false} {
		theme, warnings := chooseTheme(o, profile, env, dark)
		skins[i] = theme
		all = append(all, warnings...)
	}
	return skins, all
}

// apply takes the colours and glyphs for the background there is. Until a terminal says otherwise it is dark.
func (l *Looks) apply() (refused []themes.Warning) {
	theme := l.skins[0]
	if l.light {
		theme = l.skins[1]
	}
	l.Pen = draw.NewPen(theme)
	l.Glyphs = draw.ChooseGlyphs(l.o.Glyphs, l.env)
	return l.Glyphs.Adopt(theme)
}

// Theme is the name of the theme, as it is on a dark background.
func (l *Looks) Theme() string { return l.skins[0].Name }

// Found is a theme that was found.
type Found struct {
	name     string
	skins    [2]*themes.Theme
	warnings []themes.Warning
}

// FindTheme returns what looks for a theme in the background, as it reads files: the theme, or why there is none.
func (l *Looks) FindTheme(name string) func() (*Found, string) {
	// Copies, because Looks belong to the goroutine of the TUI, and what is returned runs in another.
	o, profile, env := l.o, l.Profile, l.env
	o.Theme, o.LightTheme = name, ""
	return func() (*Found, string) {
		names := themes.Names(o.ThemeDir)
		if slices.Contains(names, name) {
			skins, warnings := chooseSkins(o, profile, env)
			return &Found{name, skins, warnings}, ""
		}
		hint := suggest.DidYouMean(name, names)
		if hint == "" {
			hint = "there are " + strings.Join(names, ", ")
		}
		return nil, fmt.Sprintf("unknown theme `%s`; %s", name, hint)
	}
}

// Change changes to another theme, and says what is wrong with it. Which half of an adaptive theme fits, the terminal has to be asked
// again: see Watch.
func (l *Looks) Change(to *Found) (warning string) {
	l.o.Theme, l.o.LightTheme, l.skins = to.name, "", to.skins
	return firstWarning(append(to.warnings, l.apply()...))
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

// Adapts reports whether a light background changes the looks.
func (l *Looks) Adapts() bool {
	return l.skins[0].Adaptive || l.skins[0].Name != l.skins[1].Name
}

// Watch asks for the terminal's background, and for a message when it changes. What comes is a message, some time or
// never: nothing waits for it.
func (l *Looks) Watch() tea.Cmd {
	if !l.Adapts() {
		return nil
	}
	l.watching = true
	return tea.Batch(tea.Raw(ansi.SetModeLightDark), tea.RequestBackgroundColor)
}

// AskBackground asks for the background again: the terminal has said that light and dark have changed, or it had the chance to
// change while the user was elsewhere. Not every terminal says so.
func (l *Looks) AskBackground() tea.Cmd {
	if !l.Adapts() {
		return nil
	}
	return tea.RequestBackgroundColor
}

// SetBackground takes the terminal's answer.
func (l *Looks) SetBackground(msg tea.BackgroundColorMsg) {
	if light := !msg.IsDark(); light != l.light {
		l.light = light
		l.apply() // what is wrong with either half was reported when they were read
	}
}

// SchemeChanged reports whether a message says that light and dark have changed.
func SchemeChanged(msg tea.Msg) bool {
	switch msg.(type) {
	case uv.DarkColorSchemeEvent, uv.LightColorSchemeEvent:
		return true
	}
	return false
}

// Unwatched does something that gives the terminal to another program, which must not get messages that it did not ask for.
func (l *Looks) Unwatched(do tea.Cmd) tea.Cmd {
	if !l.watching || do == nil {
		return do
	}
	// In this order, and with a question at the end: the terminal may have changed while the other program had it.
	return tea.Sequence(tea.Raw(ansi.ResetModeLightDark), do, tea.Raw(ansi.SetModeLightDark), tea.RequestBackgroundColor)
}

// StopWatching gives the terminal back as it was. The screen is closed by then.
func (l *Looks) StopWatching() {
	if !l.watching {
		return
	}
	// Written directly: Bubble Tea has ended, so no command would be carried out.
	if l.o.Output != nil {
		_, _ = l.o.Output.Write([]byte(ansi.ResetModeLightDark)) // the terminal may be gone
		return
	}
	_, _ = os.Stdout.WriteString(ansi.ResetModeLightDark)
}
