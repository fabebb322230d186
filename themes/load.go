package themes

import (
	"fmt"
	"image/color"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"gopkg.in/yaml.v3"

	"moon/config/yamldoc"
)

// Warning is what a theme file says that cannot be used.
type Warning struct {
	File    string
	Line    int
	Message string
}

func (w Warning) String() string {
	if w.Line == 0 {
		return w.File + ": " + w.Message
	}
	return fmt.Sprintf("%s:%d: %s", w.File, w.Line, w.Message)
}

type loader struct {
	dir      string
	dark     bool
	warnings []Warning
}

// file is a theme as written. The nodes are kept because a warning needs their lines.
type file struct {
	path    string
	palette map[string]*yaml.Node
	inherit *yaml.Node
	back    *yaml.Node
	parts   []*yaml.Node // roles, then the half that applies: the later wins
	halves  int          // how many there are
	other   *yaml.Node   // the half that does not apply; its mistakes are mistakes all the same
	glyphs  *yaml.Node
}

func (l *loader) warn(f *file, n *yaml.Node, format string, args ...any) {
	line := 0
	if n != nil {
		line = n.Line
	}
	l.warnings = append(l.warnings, Warning{f.path, line, fmt.Sprintf(format, args...)})
}

// load puts the named theme over what t holds. Chain is the themes that inherit from it, outermost first.
func (l *loader) load(t *Theme, name string, chain []string) bool {
	text, path, ok := l.read(name)
	f := &file{path: path}
	if !ok {
		if chain == nil {
			l.warn(f, nil, "there is no theme %q; using %q (built in: %s)", name, Default, strings.Join(Names(""), ", "))
		}
		return false
	}
	doc, err := yamldoc.Parse(text)
	if err != nil {
		l.warnings = append(l.warnings, Warning{f.path, err.Line, err.Message})
		return false
	}
	if len(doc.Content) == 0 {
		l.warn(f, nil, "a theme is a map of inherits, palette, roles, light, dark and glyphs")
		return false
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		l.warn(f, doc.Content[0], "a theme is a map of inherits, palette, roles, light, dark and glyphs")
		return false
	}
	// Before anything is read: the maps below would hide that a key is there twice.
	l.twice(f, doc.Content[0])
	l.outline(f, doc.Content[0])
	// First what is inherited, then what this one says over it.
	l.inherit(t, f, name, chain)
	l.fill(t, f)
	if chain == nil {
		t.Path, t.About = own(path), about(doc)
	}
	return true
}

// twice warns of keys that a map has more than once. The later one counts.
func (l *loader) twice(f *file, n *yaml.Node) {
	first := map[string]int{}
	for key, value := range pairs(n) {
		if line := first[key.Value]; line > 0 {
			l.warn(f, key, "%s stands in line %d already; this one counts", key.Value, line)
		}
		first[key.Value] = key.Line
		if value.Kind == yaml.MappingNode {
			l.twice(f, value)
		}
	}
}

// own is the path of a file of the user's; the built-in themes have none.
func own(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return ""
}

// about is the first line of the comment a theme begins with.
func about(doc *yaml.Node) string {
	comment := doc.HeadComment
	if comment == "" && len(doc.Content[0].Content) > 0 {
		// The parser gives a comment without a blank line after it to the first key.
		comment = doc.Content[0].Content[0].HeadComment
	}
	line, _, _ := strings.Cut(comment, "\n")
	return strings.TrimSpace(strings.TrimPrefix(line, "#"))
}

func (l *loader) outline(f *file, root *yaml.Node) {
	halves := map[string]*yaml.Node{}
	for key, value := range pairs(root) {
		switch key.Value {
		case "inherits":
			f.inherit = value
		case "background":
			f.back = value
		case "palette":
			f.palette = map[string]*yaml.Node{}
			if l.isMap(f, key, value) {
				for k, v := range pairs(value) {
					f.palette[k.Value] = v
				}
			}
		case "roles":
			if l.isMap(f, key, value) {
				f.parts = append(f.parts, value)
			}
		case "light", "dark":
			if l.isMap(f, key, value) {
				halves[key.Value] = value
			}
		case "glyphs":
			if l.isMap(f, key, value) {
				f.glyphs = value
			}
		default:
			l.warn(f, key, "unknown key %q; inherits, background, palette, roles, light, dark and glyphs are known", key.Value)
		}
	}
	half, other := halves["light"], halves["dark"]
	if l.dark {
		half, other = other, half
	}
	if half != nil {
		// After the loop, as the half wins over roles wherever it stands in the file.
		f.parts = append(f.parts, half)
	}
	f.halves, f.other = len(halves), other
}

func (l *loader) isMap(f *file, key, value *yaml.Node) bool {
	if value.Kind == yaml.MappingNode {
		return true
	}
	l.warn(f, key, "%s is a map, not %q", key.Value, value.Value)
	return false
}

func (l *loader) inherit(t *Theme, f *file, name string, chain []string) {
	parent := Default
	// The default does not say what it inherits, and so seems to inherit itself, which is not a mistake.
	if f.inherit != nil {
		parent = f.inherit.Value
	}
	chain = append(chain, name)
	switch {
	case slices.Contains(chain, parent):
		if f.inherit != nil {
			l.warn(f, f.inherit, "inherits itself: %s", strings.Join(append(chain, parent), " → "))
		}
		parent = Default
	case parent == Default:
	case l.load(t, parent, chain):
		return
	default:
		l.warn(f, f.inherit, "there is no theme %q to inherit", parent)
		parent = Default
	}
	// The default ends every chain, so a theme is complete whatever it inherits.
	if !slices.Contains(chain, parent) {
		l.load(t, parent, chain)
	}
}

func (l *loader) fill(t *Theme, f *file) {
	if f.back != nil {
		if c, ok := l.color(f, f.back); ok {
			t.Background = c
		}
	}
	for _, part := range f.parts {
		l.roles(t, f, part)
	}
	if f.other != nil {
		// Into a copy: only its mistakes are wanted.
		unused := *t
		l.roles(&unused, f, f.other)
	}
	t.Adaptive = t.Adaptive || f.halves > 0
	if f.glyphs != nil {
		for key, value := range pairs(f.glyphs) {
			t.Glyphs[key.Value] = Glyph{value.Value, Warning{File: f.path, Line: value.Line}}
		}
	}
}

// roles sets what a part of a theme says: roles, and in a half also the background.
func (l *loader) roles(t *Theme, f *file, part *yaml.Node) {
	for key, value := range pairs(part) {
		if key.Value == "background" {
			if c, ok := l.color(f, value); ok {
				t.Background = c
			}
			continue
		}
		l.role(t, f, key, value)
	}
}

// role sets one role: a colour, or a map of fg, bg and attributes. NAME.fg and NAME.bg set one colour of it.
func (l *loader) role(t *Theme, f *file, key, value *yaml.Node) {
	name, part := key.Value, ""
	role, ok := roleNamed(name)
	// The whole name first, as roles such as diff.add have dots themselves.
	if !ok {
		for _, p := range []string{"fg", "bg"} {
			if base, cut := strings.CutSuffix(name, "."+p); cut {
				name, part = base, p
			}
		}
		if role, ok = roleNamed(name); !ok {
			l.warn(f, key, "unknown role %q; moon themes %s shows all", key.Value, Default)
			return
		}
	}
	switch {
	case part != "":
		style := t.styles[role]
		l.part(f, &style, part, value)
		t.styles[role] = style
	case value.Kind == yaml.MappingNode:
		var style Style
		for k, v := range pairs(value) {
			l.part(f, &style, k.Value, v)
		}
		t.styles[role] = style
	default:
		if c, ok := l.color(f, value); ok {
			t.styles[role] = Style{Fg: c}
		}
	}
}

func (l *loader) part(f *file, style *Style, part string, value *yaml.Node) {
	attributes := map[string]*bool{
		"bold": &style.Bold, "faint": &style.Faint, "italic": &style.Italic, "underline": &style.Underline,
		"reverse": &style.Reverse,
	}
	switch attribute, ok := attributes[part]; {
	case ok:
		if err := value.Decode(attribute); err != nil {
			l.warn(f, value, "%s is true or false, not %q", part, value.Value)
		}
	case part == "fg":
		if c, ok := l.color(f, value); ok {
			style.Fg = c
		}
	case part == "bg":
		if c, ok := l.color(f, value); ok {
			style.Bg = c
		}
	default:
		l.warn(f, value, "unknown attribute %q: fg, bg, bold, faint, italic, underline and reverse are known", part)
	}
}

var hues = []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

// color reads a name of the palette, one of the terminal's hues, 0 to 255, #rgb or #rrggbb. "default" is nil.
func (l *loader) color(f *file, n *yaml.Node) (color.Color, bool) {
	text := n.Value
	if p, ok := f.palette[text]; ok {
		text = p.Value
	}
	if text == "default" {
		return nil, true
	}
	if i := slices.Index(hues, text); i >= 0 {
		text = strconv.Itoa(i)
	}
	// Lip Gloss takes larger numbers for RGB.
	if i, err := strconv.Atoi(text); err == nil && (i < 0 || i > 255) {
		text = ""
	}
	c := lipgloss.Color(text)
	if _, none := c.(lipgloss.NoColor); none || n.Kind != yaml.ScalarNode {
		l.warn(f, n, "bad colour %q: a hue (%s), 0 to 255, #rrggbb or a name of the palette", n.Value, strings.Join(hues[1:7], ", "))
		return nil, false
	}
	return c, true
}

func roleNamed(name string) (Role, bool) {
	i := slices.Index(roleNames[:], name)
	return Role(max(i, 0)), i >= 0
}

// IsRGB reports whether a colour is the same in every terminal: not one of its own sixteen.
func IsRGB(c color.Color) bool {
	switch c.(type) {
	case nil, ansi.BasicColor:
		return false
	}
	return true
}

// pairs yields the keys and values of a mapping in the order of the file.
func pairs(n *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}
