package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"moon/config/yamldoc"
	"moon/internal/diag"
	"moon/internal/suggest"
)

// Name is the name of the file.
const Name = "config.yaml"

// Config is what can be set. The zero value is what holds without a file.
type Config struct {
	Theme      string // also on a dark background
	LightTheme string // on a light one; "" is Theme
	Glyphs     string // auto, unicode, ascii, or ""
	Mouse      bool
	Banner     string // marks this machine, or what is reached from it, as production
	Notify     string // how a run notifies a person who is looking elsewhere: "" not at all, terminal, or a command
}

// keys are the known keys, in the order of the documentation.
var keys = []string{"theme", "glyphs", "mouse", "banner", "notify"}

// glyphs are the sets of characters there are.
var glyphs = []string{"auto", "unicode", "ascii"}

// Load reads the file in a directory. There need not be one. What cannot be used is a warning with its place, and the default
// holds; but a file, or a banner, that cannot be read is an error: what guards must not be lost to a slip of the pen.
func Load(dir string) (Config, diag.List, error) {
	var c Config
	if dir == "" {
		return c, nil, nil
	}
	path := filepath.Join(dir, Name)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil, nil
	}
	if err != nil {
		return c, nil, err
	}
	doc, wrong := yamldoc.Parse(text)
	if wrong != nil {
		return c, nil, misread(path, wrong)
	}
	r := reader{path: path, c: &c}
	if len(doc.Content) == 0 {
		return c, nil, nil // empty, or comments
	}
	if root := doc.Content[0]; root.Kind == yaml.MappingNode {
		err = r.read(root)
	} else {
		err = fmt.Errorf("%s:%d: the settings are a map of %s", path, root.Line, strings.Join(keys, ", "))
	}
	return c, r.warnings, err
}

// misread gives a mistake in the file as a whole the form that all others have.
func misread(path string, err *yamldoc.Error) error {
	if err.Line > 0 {
		return fmt.Errorf("%s:%d: %s", path, err.Line, err.Message)
	}
	return fmt.Errorf("%s: %s", path, err.Message)
}

type reader struct {
	path     string
	c        *Config
	warnings diag.List
}

func (r *reader) warn(n *yaml.Node, hint, format string, args ...any) {
	r.warnings.Add(diag.Diagnostic{
		Severity: diag.Warning, Pos: diag.Pos{File: r.path, Line: n.Line, Column: n.Column}, Message: fmt.Sprintf(format, args...),
		Hint: hint,
	})
}

func (r *reader) read(root *yaml.Node) error {
	seen := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if line, twice := seen[key.Value]; twice {
			r.warn(key, "the first counts", "%s is set twice, in line %d too", key.Value, line)
			continue
		}
		seen[key.Value] = key.Line
		if value.Tag == "!!null" {
			continue // as if it were not there
		}
		switch key.Value {
		case "theme":
			r.theme(value)
		case "glyphs":
			if r.text(key, value, &r.c.Glyphs) && !slices.Contains(glyphs, r.c.Glyphs) {
				r.warn(value, "", "glyphs is one of %s, not %q", strings.Join(glyphs, ", "), r.c.Glyphs)
				r.c.Glyphs = ""
			}
		case "mouse":
			if err := value.Decode(&r.c.Mouse); err != nil {
				r.warn(value, "", "mouse is true or false, not %q", value.Value)
			}
		case "notify":
			if r.text(key, value, &r.c.Notify) && (r.c.Notify == "off" || r.c.Notify == "false") {
				r.c.Notify = ""
			}
		case "banner":
			if value.Kind != yaml.ScalarNode {
				return fmt.Errorf("%s:%d: banner is a text, such as production", r.path, value.Line)
			}
			r.c.Banner = value.Value
		default:
			r.warn(key, suggest.DidYouMean(key.Value, keys), "there is no setting %q; known are %s", key.Value, strings.Join(keys, ", "))
		}
	}
	return nil
}

func (r *reader) text(key, value *yaml.Node, to *string) bool {
	if value.Kind != yaml.ScalarNode {
		r.warn(value, "", "%s is a text", key.Value)
		return false
	}
	*to = value.Value
	return true
}

// theme is a name, or a map of light and dark.
func (r *reader) theme(value *yaml.Node) {
	if value.Kind != yaml.MappingNode {
		if value.Kind != yaml.ScalarNode {
			r.warn(value, "", "theme is a name, or a map of light and dark")
			return
		}
		r.c.Theme = value.Value
		return
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		key, name := value.Content[i], value.Content[i+1]
		switch key.Value {
		case "light":
			r.text(key, name, &r.c.LightTheme)
		case "dark":
			r.text(key, name, &r.c.Theme)
		default:
			r.warn(key, "", "theme has light and dark, not %q", key.Value)
		}
	}
}
