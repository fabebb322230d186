package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"moon/internal/app"
	"moon/plan"
	"moon/tui"
	"moon/tui/keymap"
)

// screenFlags are how the screen looks. What is not given is taken from the files of settings.
type screenFlags struct {
	Theme   string  `placeholder:"NAME" help:"Colour theme; see moon themes. Default: that of the settings, or terminal."`
	Glyphs  string  `enum:",auto,unicode,ascii" default:"" placeholder:"SET" help:"auto, unicode or ascii."`
	NoColor bool    `help:"No colours; NO_COLOR in the environment does the same."`
	Banner  *string `placeholder:"TEXT" help:"Show a production banner; destructive approvals, and approving everything, require typing the name."`
	Mouse   bool    `help:"Take the mouse; M in the TUI does the same."`
	Notify  string  `placeholder:"HOW" help:"Notify you when a run needs attention, or ends, while you look elsewhere: terminal, or a command."`
	Keys    string  `type:"path" placeholder:"FILE" help:"File of keys; default keys.yaml next to config.yaml."`

	LightTheme string `hidden:"" env:"-"` // comes with the theme, from one file

	keys     *keymap.Keys // nil: the usual ones
	warnings []string
}

// look gives the options of a screen the flags that are settled.
func (f *screenFlags) look(o tui.Options) tui.Options {
	o.Theme, o.LightTheme, o.ThemeDir, o.Glyphs, o.Warnings = f.Theme, f.LightTheme, themeDir(), f.Glyphs, f.warnings
	o.Mouse, o.Notices = f.Mouse, f.Notify == "terminal"
	if f.Notify != "" && !o.Notices {
		o.Notify = app.NotifyBy(f.Notify)
	}
	o.NoColor = f.NoColor || os.Getenv("NO_COLOR") != ""
	if f.Banner != nil {
		o.Banner = *f.Banner
	}
	return o
}

// configDir is where settings are; "" if nobody can tell.
func configDir() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "moon")
}

// themeDir is where the user's own themes are.
func themeDir() string {
	if dir := configDir(); dir != "" {
		return filepath.Join(dir, "themes")
	}
	return ""
}

// formPrompts asks in a form that looks as the screen will.
func (f *screenFlags) formPrompts(call *app.Invocation, list []plan.Prompt) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	ctx, stop := call.Signals.Until(context.Background())
	defer stop()
	answers, err := tui.Ask(ctx, f.look(tui.Options{}), list)
	switch {
	case errors.Is(err, tui.ErrUnanswered):
		return nil, app.NewExit(app.ExitStopped, "the questions of the playbook were not answered; nothing was run")
	case errors.Is(err, context.Canceled):
		return nil, app.NewExit(app.ExitInterrupted, "")
	}
	return answers, err
}

// isCut reports whether something ended because the TUI was closed before it was done.
func isCut(err error) bool { return errors.Is(err, context.Canceled) }
