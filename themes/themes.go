package themes

import (
	"embed"
	"image/color"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Role is what a piece of the screen means.
type Role uint8

// The roles a theme may set.
const (
	Text Role = iota
	Dim
	Faint
	Accent
	Border
	Selection
	Cursor
	Match
	Pending
	Running
	OK
	Changed
	Failed
	Warn
	Skipped
	Gate
	DiffAdd
	DiffDel
	DiffHunk
	LogStderr
	LogTime
	BarFill
	BarRest
	Danger
	Roles // how many there are
)

var roleNames = [Roles]string{
	"text", "dim", "faint", "accent", "border", "selection", "cursor", "match", "pending", "running", "ok", "changed",
	"failed", "warn", "skipped", "gate", "diff.add", "diff.del", "diff.hunk", "log.stderr", "log.time", "bar.fill",
	"bar.rest", "danger",
}

func (r Role) String() string { return roleNames[r] }

// Style is how a role looks. A nil colour is the terminal's own.
type Style struct {
	Fg, Bg    color.Color
	Bold      bool
	Faint     bool
	Italic    bool
	Underline bool
	Reverse   bool
}

// Theme is a complete set of styles: every role has one.
type Theme struct {
	Name       string
	Path       string           // of the user's file; "" for a built-in theme
	About      string           // what it says of itself
	Background color.Color      // painted behind everything; nil leaves the terminal's own
	Adaptive   bool             // it looks otherwise on light and on dark, and Load was given which to take
	Glyphs     map[string]Glyph // by the name of what they mean; whether they fit is for the screen to judge
	styles     [Roles]Style
}

// Glyph is a mark that a theme asks for, and where.
type Glyph struct {
	Text  string
	Place Warning // without a message
}

// Style returns how the role looks.
func (t *Theme) Style(r Role) Style { return t.styles[r] }

// WithoutFaint is the theme for a terminal that shows faint text badly or not at all.
func (t *Theme) WithoutFaint() *Theme {
	other := *t
	for i := range other.styles {
		other.styles[i].Faint = false
	}
	return &other
}

// Fixed reports whether the theme names colours of its own, which need more than the terminal's sixteen.
func (t *Theme) Fixed() bool {
	if t.Background != nil {
		return true
	}
	for _, s := range t.styles {
		if IsRGB(s.Fg) || IsRGB(s.Bg) {
			return true
		}
	}
	return false
}

// Default is the name of the theme that follows the terminal's own colours.
const Default = "terminal"

//go:embed *.yaml
var builtIn embed.FS

// Names lists the built-in themes and those in the directory, sorted.
func Names(dir string) []string {
	var names []string
	for _, source := range []fs.FS{builtIn, os.DirFS(dir)} {
		if dir == "" && source != fs.FS(builtIn) {
			continue
		}
		entries, _ := fs.ReadDir(source, ".") // a directory that is not there has no themes
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok && !e.IsDir() {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Has reports whether there is a theme of that name.
func Has(name, dir string) bool {
	l := loader{dir: dir}
	_, _, ok := l.read(name)
	return ok
}

// For says in a word which backgrounds a theme is for.
func (t *Theme) For() string {
	switch {
	case t.Adaptive:
		return "light and dark"
	case t.Background == nil:
		return "any"
	case Luminance(t.Background) > 0.18: // the grey that is as far from black as from white
		return "light"
	}
	return "dark"
}

// Load reads a theme: NAME.yaml in the directory if it is there, the built-in one otherwise. Dark chooses the half
// of a theme that has two. Whatever cannot be used is named in a warning and falls back, first to the inherited
// theme, last to Default; so the theme is always complete.
func Load(name, dir string, dark bool) (*Theme, []Warning) {
	if name == "" {
		name = Default
	}
	l := loader{dir: dir, dark: dark}
	t := &Theme{Name: name, Glyphs: map[string]Glyph{}}
	if !l.load(t, name, nil) {
		t = &Theme{Name: Default, Glyphs: map[string]Glyph{}}
		l.load(t, Default, nil)
	}
	return t, l.warnings
}

// read returns a theme's text and the path to name in a warning.
func (l *loader) read(name string) (text []byte, path string, ok bool) {
	// A name with a path in it must not read files elsewhere.
	if l.dir != "" && filepath.Base(name) == name {
		path = filepath.Join(l.dir, name+".yaml")
		if text, err := os.ReadFile(path); err == nil {
			return text, path, true
		}
	}
	text, err := builtIn.ReadFile(name + ".yaml")
	return text, name + ".yaml", err == nil
}
