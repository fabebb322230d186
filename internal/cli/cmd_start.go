package cli

import (
	"os"

	"moon/internal/app"
	"moon/internal/cli/settings"
	"moon/internal/cli/starting"
	"moon/tui/looks"
)

// chooseArgs asks what to begin with, and gives the arguments of that call: those of the help if there is no terminal to ask in; nil if
// nothing was chosen.
func chooseArgs(call *app.Invocation) ([]string, error) {
	how := &uiFlags{UI: "auto"}
	if how.noUI() != "" || how.inLines() || !app.IsTerminal(call.Out) {
		return []string{"--help"}, nil
	}
	var f screenFlags
	if err := settings.Fill(call, &f); err != nil {
		return nil, err
	}
	return starting.Ask(call, looks.Options{
		Theme: f.Theme, LightTheme: f.LightTheme, ThemeDir: themeDir(), Glyphs: f.Glyphs, WithoutColours: os.Getenv("NO_COLOR") != "",
	})
}
