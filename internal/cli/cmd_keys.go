package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"moon/internal/app"
	"moon/internal/cli/settings"
	"moon/tui/keymap"
)

type keysCmd struct {
	Format string `enum:"text,yaml,markdown" default:"text" help:"text, yaml (a complete keys.yaml to start from) or markdown."`
	Check  string `placeholder:"FILE" help:"Validate a keys file."`
}

// Help says where the file is, and how it is written.
func (keysCmd) Help() string {
	return `Your own keys are in keys.yaml in moon's configuration directory (~/.config/moon). Actions that it does not name keep their default keys.
The file looks like this:

  run.step: [s, f11]     an action and its keys
  cursor.top: g g        two keys, one after the other
  pane.grow: []          no key; the action is still found with :
  output:                keys for one place only: tree, detail or output
    output.wrap: z

Write a file with all actions to start from, and check yours:

  moon keys --format yaml > ~/.config/moon/keys.yaml
  moon keys --check keys.yaml`
}

func (c *keysCmd) Run(call *app.Invocation) error {
	if c.Check != "" {
		keys, err := readKeyFile(call, c.Check)
		if err != nil {
			return err
		}
		for _, line := range keys.Taken {
			fmt.Fprintln(call.Out, line)
		}
		return nil
	}
	var screen screenFlags
	if err := errors.Join(settings.Fill(call, &screen), screen.readKeys(call)); err != nil {
		return err
	}
	keys := screen.keys
	if keys == nil {
		keys = keymap.UsualKeys()
	}
	switch c.Format {
	case "yaml":
		return keys.YAML(call.Out)
	case "markdown":
		return keys.Markdown(call.Out)
	}
	return keys.Text(call.Out)
}

// keyFile is where a person's own keys are, or "" where there is no such place.
func keyFile() string {
	if dir := configDir(); dir != "" {
		return filepath.Join(dir, "keys.yaml")
	}
	return ""
}

// settle prepares what a screen shows of the settings, before anything begins.
func (f *screenFlags) settle(call *app.Invocation) error {
	for _, w := range call.Warned {
		words := fmt.Sprintf("%s:%d: %s", w.Pos.File, w.Pos.Line, w.Message)
		if w.Hint != "" {
			words += "; " + w.Hint
		}
		f.warnings = append(f.warnings, words)
	}
	return f.readKeys(call)
}

// readKeys reads the person's own keys, if there are any. A file with mistakes is refused before the screen opens: whoever has
// bound keys and finds others under the fingers runs what was not meant.
func (f *screenFlags) readKeys(call *app.Invocation) error {
	file := cmp.Or(f.Keys, keyFile())
	if file == "" {
		return nil
	}
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) && f.Keys == "" {
		return nil
	}
	var err error
	f.keys, err = readKeyFile(call, file)
	return err
}

func readKeyFile(call *app.Invocation, file string) (*keymap.Keys, error) {
	const most = 1 << 20 // far more than is taken
	text, err := app.ReadAtMost(file, most)
	if err != nil {
		return nil, app.Usage("the file of keys: %s", err)
	}
	shown := file
	// The home is shortened only as a whole directory, and not as the beginning of another name.
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(file, home+string(filepath.Separator)) {
		shown = "~" + file[len(home):]
	}
	keys, wrong := keymap.ReadKeys(shown, text)
	if keys != nil {
		return keys, nil
	}
	if err := wrong.Print(call.Err); err != nil {
		return nil, err
	}
	return nil, app.Usage("%s has mistakes; fix them, or remove the file to use the default keys", shown)
}
