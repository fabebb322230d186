package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"moon/config"
	"moon/internal/app"
	"moon/plan"
	"moon/tui"
	"moon/tui/keymap"
)

// screenFlags are how the screen looks. What is not given is taken from config.yaml.
type screenFlags struct {
	Theme   string  `placeholder:"NAME" help:"Colour theme; see moon themes. Default: the one in config.yaml, or terminal."`
	Glyphs  string  `enum:",auto,unicode,ascii" default:"" placeholder:"SET" help:"auto, unicode or ascii."`
	NoColor bool    `help:"No colours; NO_COLOR in the environment does the same."`
	Banner  *string `placeholder:"TEXT" help:"Show a production banner; destructive approvals, and approving everything, require typing the name."`

	keys       *keymap.Keys // nil: the usual ones
	mouse      bool
	lightTheme string
	notify     string
	warnings   []string
}

// settle completes the flags. It is called before anything begins: settings that cannot be read may have held a banner.
func (f *screenFlags) settle() error {
	set, warnings, err := config.Load(configDir())
	if err != nil {
		return app.Usage("%s; nothing was run", err)
	}
	// The flag wins over the settings, and brings no theme for light terminals.
	if f.Theme == "" {
		f.Theme, f.lightTheme = set.Theme, set.LightTheme
	}
	f.mouse, f.notify = set.Mouse, set.Notify
	f.Glyphs = cmp.Or(f.Glyphs, set.Glyphs)
	// A banner of the settings must show before the first question.
	if f.Banner == nil {
		f.Banner = &set.Banner
	}
	for _, w := range warnings {
		words := fmt.Sprintf("%s:%d: %s", w.Pos.File, w.Pos.Line, w.Message)
		if w.Hint != "" {
			words += "; " + w.Hint
		}
		f.warnings = append(f.warnings, words)
	}
	return nil
}

// look gives the options of a screen the flags that are settled.
func (f *screenFlags) look(o tui.Options) tui.Options {
	o.Theme, o.LightTheme, o.ThemeDir, o.Glyphs, o.Warnings = f.Theme, f.lightTheme, themeDir(), f.Glyphs, f.warnings
	o.Mouse, o.Notices = f.mouse, f.notify == "terminal"
	if f.notify != "" && !o.Notices {
		o.Notify = app.NotifyBy(f.notify)
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
