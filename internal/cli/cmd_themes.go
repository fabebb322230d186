package cli

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/charmbracelet/colorprofile"

	"moon/internal/app"
	"moon/internal/cli/settings"
	"moon/internal/suggest"
	"moon/themes"
	"moon/tui/looks"
)

type themesCmd struct {
	Name    string `arg:"" optional:"" help:"A theme to preview; default: list all."`
	Light   bool   `xor:"half" env:"-" help:"Show the light variant."`
	Dark    bool   `xor:"half" env:"-" help:"Show the dark variant (default)."`
	Glyphs  string `enum:",auto,unicode,ascii" default:"" placeholder:"SET" help:"auto, unicode or ascii."`
	NoColor bool   `help:"No colours; NO_COLOR in the environment does the same."`
}

// Help says where themes come from, and what the exit code means.
func (themesCmd) Help() string {
	return `Themes of your own are YAML files in ` + themeDir() + `; docs/themes.md says what they hold. A theme is shown as the TUI would
show it in this terminal, with the contrast of every role where its colours are known. The exit status is 2 if a theme has mistakes.

  moon themes
  moon themes catppuccin-latte --light`
}

func (c *themesCmd) Run(call *app.Invocation) error {
	if c.Name == "" {
		return listThemes(call)
	}
	if names := themes.Names(themeDir()); !themes.Has(c.Name, themeDir()) {
		if hint := suggest.DidYouMean(c.Name, names); hint != "" {
			return app.Usage("there is no theme `%s`; %s", c.Name, hint)
		}
		return app.Usage("there is no theme `%s`; moon themes lists them", c.Name)
	}
	o := looks.Options{Theme: c.Name, ThemeDir: themeDir(), Glyphs: c.Glyphs, WithoutColours: c.NoColor}
	profile := colorprofile.NoTTY
	if f := app.FileOf(call.Out); f != nil {
		profile = colorprofile.Detect(f, os.Environ())
	}
	o.Profile = &profile
	text, mistakes := looks.Preview(o, os.Getenv, !c.Light, call.Width())
	if _, err := fmt.Fprint(call.Out, text); err != nil {
		return err
	}
	if len(mistakes) == 0 {
		return nil
	}
	lines := make([]string, len(mistakes))
	for i, m := range mistakes {
		lines[i] = m.String()
	}
	return app.Usage("%s", strings.Join(lines, "\n"))
}

// listThemes lists what there is, with what each says of itself.
func listThemes(call *app.Invocation) error {
	var set screenFlags
	if err := settings.Fill(call, &set); err != nil {
		return err
	}
	w := tabwriter.NewWriter(call.Out, 0, 4, 2, ' ', 0)
	for _, name := range themes.Names(themeDir()) {
		theme, mistakes := themes.Load(name, themeDir(), true)
		about := theme.About
		if theme.Path != "" {
			about = strings.TrimSpace(about + " (" + theme.Path + ")")
		}
		if name == set.Theme || name == set.LightTheme {
			about += " Set in your settings."
		}
		if len(mistakes) > 0 {
			about = fmt.Sprintf("has %d mistakes: moon themes %s", len(mistakes), name)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, theme.For(), about)
	}
	return w.Flush()
}
