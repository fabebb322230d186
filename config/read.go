package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"moon/config/yamldoc"
	"moon/internal/diag"
	"moon/internal/suggest"
)

// Value is what a file sets.
type Value struct {
	Setting *Setting
	Items   []string // one, but for lists; paths are absolute
	Light   string   // of a theme: the one on a light background; "" is the same
	Pos     diag.Pos
	File    *File
}

// Guarded reports whether the file has to be trusted for it.
func (v *Value) Guarded() bool {
	return v.File.Project && v.Setting.Guarded != nil && v.Setting.Guarded(v.Items)
}

// Place names where a value stands, and what it is.
func (v *Value) Place() string {
	return fmt.Sprintf("%s:%d: %s", v.Pos.File, v.Pos.Line, v.Setting.Name)
}

// File is one that was read.
type File struct {
	Path    string // absolute, without links on the way
	Digest  string // of what was read
	Project bool   // it came with the project

	values map[string]*Value
}

// Get is what the file says of a setting; nil if it says nothing.
func (f *File) Get(name string) *Value { return f.values[name] }

// Guarded are the values for which the file has to be trusted, in the order of the documentation.
func (f *File) Guarded() (list []*Value) {
	for _, s := range Settings() {
		if v := f.values[s.Name]; v != nil && v.Guarded() {
			list = append(list, v)
		}
	}
	return list
}

// maxBytes is the size of a file of settings at which reading it ends; yamldoc refuses one of that size.
const maxBytes = 1<<20 + 1

// Read reads a file of settings; nil if there is none. shown is its name in messages. What is wrong with the user's own file is a warning,
// and the default holds; but what cannot be read at all, or a banner that cannot, is an error: what guards must not be lost to a slip of
// the pen. All that is wrong with a project's is an error, as with its playbook.
func Read(path, shown string, project bool) (*File, diag.List, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err == nil && !info.Mode().IsRegular(): // to open a pipe would wait for someone to write to it
		err = fmt.Errorf("%s is not a regular file", shown)
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(file, maxBytes))
	if err != nil {
		return nil, nil, err
	}
	digest := sha256.Sum256(text)
	f := &File{Path: path, Digest: hex.EncodeToString(digest[:]), Project: project, values: map[string]*Value{}}
	r := reader{file: f, shown: shown}
	r.document(text)
	lines := strings.Split(string(text), "\n")
	r.list.Locate(func(string) []string { return lines })
	r.list.Sort()
	return f, r.list, nil
}

type reader struct {
	file  *File
	shown string
	list  diag.List
}

// document reads all of the text.
func (r *reader) document(text []byte) {
	doc, wrong := yamldoc.Parse(text)
	switch {
	case wrong != nil:
		r.list.Add(diag.Diagnostic{Pos: diag.Pos{File: r.shown, Line: wrong.Line, Column: wrong.Column}, Message: wrong.Message})
	case len(doc.Content) == 0: // empty, or comments
	case doc.Content[0].Kind != yaml.MappingNode:
		r.report(diag.Error, doc.Content[0], "moon config lists them", "settings are a map of names and values")
	default:
		r.settings(doc.Content[0])
	}
}

func (r *reader) report(s diag.Severity, n *yaml.Node, hint, format string, args ...any) {
	r.list.Add(diag.Diagnostic{
		Severity: s, Pos: r.pos(n), Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// mistake reports what makes a value useless.
func (r *reader) mistake(n *yaml.Node, hint, format string, args ...any) {
	s := diag.Warning
	if r.file.Project {
		s = diag.Error
	}
	r.report(s, n, hint, format, args...)
}

func (r *reader) pos(n *yaml.Node) diag.Pos {
	return diag.Pos{File: r.shown, Line: n.Line, Column: n.Column}
}

func (r *reader) settings(root *yaml.Node) {
	seen := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if line, twice := seen[key.Value]; twice {
			r.mistake(key, "the first counts", "%s is set twice, in line %d too", key.Value, line)
			continue
		}
		seen[key.Value] = key.Line
		s := Of(strings.ReplaceAll(key.Value, "_", "-"))
		switch {
		case s == nil || s.Name != key.Value:
			hint := suggest.DidYouMean(key.Value, names())
			if s != nil { // as the flag is spelt
				hint = "did you mean `" + s.Name + "`?"
			}
			r.mistake(key, cmp.Or(hint, "moon config lists the settings"), "unknown setting `%s`", key.Value)
		case value.Tag == "!!null": // as if it were not there
		default:
			v := &Value{Setting: s, Pos: r.pos(value), File: r.file}
			if r.value(v, value) {
				r.file.values[s.Name] = v
			}
		}
	}
}

// value reads one value.
func (r *reader) value(v *Value, n *yaml.Node) bool {
	s := v.Setting
	if s.Name == "theme" && n.Kind == yaml.MappingNode {
		return r.themes(v, n)
	}
	if s.Kind == List && n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				r.mistake(item, "", "%s is a list of text", s.Name)
				return false
			}
			v.Items = append(v.Items, r.path(s, item.Value))
		}
		return true
	}
	if n.Kind != yaml.ScalarNode {
		if s.Name == "banner" { // it guards, so the default must not take its place
			r.report(diag.Error, n, "", "banner is a text, such as production")
		} else {
			r.mistake(n, "", "%s is %s", s.Name, kinds[s.Kind])
		}
		return false
	}
	text := n.Value
	if s.Name == "notify" && (text == "off" || text == "false") {
		text = ""
	}
	if hint, ok := s.holds(text); !ok {
		r.mistake(n, hint, "%s is %s, not %q", s.Name, s.kind(), text)
		return false
	}
	v.Items = []string{r.path(s, text)}
	return true
}

// kinds are the kinds of values in words.
var kinds = map[Kind]string{
	Text: "a text", List: "a list of text", Bool: "true or false", Number: "a whole number above 0", Duration: "a time such as 30s or 10m",
}

func (s *Setting) kind() string {
	if s.Words != nil {
		return "one of " + strings.Join(s.Words, ", ")
	}
	return kinds[s.Kind]
}

// holds reports whether a text can be the value of a setting.
func (s *Setting) holds(text string) (hint string, ok bool) {
	switch {
	case s.Words != nil:
		return suggest.DidYouMean(text, s.Words), slices.Contains(s.Words, text)
	case s.Kind == Bool:
		return "", text == "true" || text == "false"
	case s.Kind == Number:
		n, err := strconv.Atoi(text)
		return "", err == nil && n > 0
	case s.Kind == Duration:
		d, err := time.ParseDuration(text)
		return "", err == nil && d > 0
	}
	return "", true
}

// path makes the path absolute that a value is.
func (r *reader) path(s *Setting, text string) string {
	id, path := "", text
	switch s.Paths {
	case NoPath:
		return text
	case SecretPath:
		if label, rest, ok := strings.Cut(text, "@"); ok && label != "" && rest != "" {
			id, path = label+"@", rest
		}
	case SourcePath:
		if strings.Contains(text, ",") { // hosts
			return text
		}
	}
	if path == "" {
		return text
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(r.file.Path), path)
	}
	return id + path
}

// themes reads a map of light and dark.
func (r *reader) themes(v *Value, n *yaml.Node) bool {
	dark := ""
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, name := n.Content[i], n.Content[i+1]
		switch {
		case key.Value != "light" && key.Value != "dark":
			r.mistake(key, "", "theme has light and dark, not %q", key.Value)
		case name.Kind != yaml.ScalarNode:
			r.mistake(name, "", "%s is a text", key.Value)
		case key.Value == "light":
			v.Light = name.Value
		default:
			dark = name.Value
		}
	}
	v.Items = []string{dark}
	return dark != "" || v.Light != ""
}
