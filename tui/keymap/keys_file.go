package keymap

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"moon/config/yamldoc"
	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/tui/draw"
)

// maxKeyFile bounds the file of keys: the whole table is a tenth of that.
const maxKeyFile = 64 << 10

// longestSequence is how many keys may be pressed one after the other.
const longestSequence = 4

// ReadKeys reads a keys.yaml: names of actions with their keys, and under tree, detail and output what differs there. File is
// what to call it. Where anything is wrong with it, the list says so and there are no keys: somebody who has bound keys and
// finds others under their fingers may run what they did not mean to.
func ReadKeys(file string, text []byte) (*Keys, diag.List) {
	r := keyReader{file: file}
	r.read(text)
	// Bound even after mistakes in reading, so that all there are come at once.
	k, wrong := bind(r.settings)
	if r.wrong = append(r.wrong, wrong...); !r.wrong.HasErrors() {
		return k, nil
	}
	r.wrong.Sort()
	r.wrong.Locate(func(string) []string { return strings.Split(string(text), "\n") })
	return nil, r.wrong
}

type keyReader struct {
	file     string
	settings []setting
	wrong    diag.List
}

func (r *keyReader) pos(n *yaml.Node) diag.Pos {
	return diag.Pos{File: r.file, Line: n.Line, Column: n.Column}
}

func (r *keyReader) say(n *yaml.Node, message, hint string) {
	r.wrong.Add(diag.Diagnostic{Pos: r.pos(n), Width: utf8.RuneCountInString(n.Value), Message: message, Hint: hint})
}

func (r *keyReader) read(text []byte) {
	if len(text) > maxKeyFile {
		r.wrong.Add(diag.Diagnostic{Pos: diag.Pos{File: r.file}, Message: fmt.Sprintf("a file of keys has at most %d KiB", maxKeyFile>>10)})
		return
	}
	doc, err := yamldoc.Parse(text)
	if err != nil {
		r.wrong.Add(diag.Diagnostic{
			Pos: diag.Pos{File: r.file, Line: err.Line, Column: err.Column}, Message: err.Message,
			Hint: "keys such as `?`, `:`, `[` and `-` need quotes",
		})
		return
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return // empty, or comments only
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		r.say(root, "a file of keys is a map: names of actions and their keys", "moon keys --format yaml prints one")
		return
	}
	r.section(root, anywhere, false)
}

// section reads a map of actions.
func (r *keyReader) section(m *yaml.Node, where Place, only bool) {
	lines := map[string]int{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		name, value := m.Content[i], m.Content[i+1]
		if first := lines[name.Value]; first > 0 {
			r.say(name, fmt.Sprintf("`%s` is there already, in line %d", name.Value, first), "give all its keys in one list")
			continue
		}
		lines[name.Value] = name.Line
		if in := slices.Index(PlaceNames[:], name.Value); in >= 0 && !only {
			switch {
			case value.Kind == yaml.MappingNode:
				r.section(value, Places[in], true)
			case value.Tag != "!!null":
				r.say(value, fmt.Sprintf("`%s` is a map: names of actions and their keys there", name.Value), "")
			}
			continue
		}
		r.action(name, value, where, only)
	}
}

func (r *keyReader) action(name, value *yaml.Node, where Place, only bool) {
	i := slices.IndexFunc(Bindings, func(b Binding) bool { return b.Name == name.Value })
	if i < 0 {
		r.say(name, fmt.Sprintf("unknown action `%s`", name.Value), actionHint(name.Value, only))
		return
	}
	b := &Bindings[i]
	if b.Where&where == 0 {
		r.say(name, fmt.Sprintf("%s does nothing in %s", b.Name, PlaceWords(where)), "it works in "+PlaceWords(b.Where))
		return
	}
	s := setting{do: b.Do, where: b.Where & where, only: only, at: chord{name.Value, r.pos(name)}}
	list := []*yaml.Node{value}
	switch {
	case value.Kind == yaml.SequenceNode:
		list = value.Content
	case value.Tag == "!!null":
		list = nil
	}
	for _, n := range list {
		c, ok := r.chord(n, b)
		if !ok {
			return // what was meant is not known, so nothing can be said about it
		}
		s.keys = append(s.keys, c)
	}
	r.settings = append(r.settings, s)
}

func actionHint(name string, only bool) string {
	known := make([]string, 0, len(Bindings)+len(PlaceNames))
	for i := range Bindings {
		known = append(known, Bindings[i].Name)
	}
	if !only {
		known = append(known, PlaceNames[:]...)
	}
	if hint := suggest.DidYouMean(name, known); hint != "" {
		return hint
	}
	return "moon keys lists them"
}

// PlaceWords names places.
func PlaceWords(where Place) string {
	words := map[Place]string{InTree: "the tree", InDetail: "the tabs", InOutput: "the output"}
	var list []string
	for _, p := range Places {
		if where&p != 0 {
			list = append(list, words[p])
		}
	}
	return strings.Join(list, " and ")
}

// chord reads a key, or several between blanks.
func (r *keyReader) chord(n *yaml.Node, b *Binding) (chord, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		hint := "for a sequence write the keys in one text, with blanks: \"g x\""
		if n.Value == "~" {
			hint = "`~` alone is nothing in YAML: write \"~\""
		}
		r.say(n, "not a key", hint)
		return chord{}, false
	}
	parts := strings.Fields(n.Value)
	switch {
	case len(parts) == 0:
		r.say(n, "not a key", "for the space bar write space; for no key at all, []")
		return chord{}, false
	case len(parts) > longestSequence:
		r.say(n, fmt.Sprintf("a sequence has at most %d keys", longestSequence), "")
		return chord{}, false
	}
	for i, part := range parts {
		name, hint := KeyName(part)
		if name == "" {
			r.say(n, fmt.Sprintf("unknown key `%s`", part), hint)
			return chord{}, false
		}
		switch {
		case name == interrupt && (b.Do != RunInterrupt || len(parts) > 1):
			r.say(n, interrupt+" always interrupts", "choose another key")
			return chord{}, false
		case name == "esc" && i > 0:
			r.say(n, "esc ends a sequence, and cannot be part of one", "choose another key")
			return chord{}, false
		}
		parts[i] = name
	}
	return chord{strings.Join(parts, " "), r.pos(n)}, true
}

// namedKeys are the keys that print nothing.
var namedKeys = func() []string {
	names := []string{
		"enter", "tab", "backspace", "esc", "space", "up", "down", "left", "right", "insert", "delete", "pgup", "pgdown", "home", "end",
	}
	for i := 1; i <= 24; i++ {
		names = append(names, fmt.Sprintf("f%d", i))
	}
	return names
}()

// otherNames are what people call keys elsewhere.
var otherNames = map[string]string{
	"escape": "esc", "return": "enter", "cr": "enter", "pageup": "pgup", "page-up": "pgup", "pagedown": "pgdown", "page-down": "pgdown",
	"del": "delete", "ins": "insert", "spacebar": "space", "bksp": "backspace",
}

var modifiers = []string{"ctrl", "alt", "shift", "meta", "hyper", "super"}

// sameKey is what terminals send the same for: the names on the left never arrive.
var sameKey = map[string]string{"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+[": "esc"}

// KeyName is what the terminal's reader calls a key, or "" with the way out where there is no such key.
func KeyName(text string) (name, hint string) {
	with, rest := map[string]bool{}, text
	for {
		before, after, ok := strings.Cut(rest, "+")
		// `+` is a key as well, so the last one of a name separates nothing.
		if !ok || after == "" || !slices.Contains(modifiers, strings.ToLower(before)) {
			break
		}
		with[strings.ToLower(before)], rest = true, after
	}
	base, hint := baseKey(rest)
	if base == "" {
		return "", hint
	}
	if utf8.RuneCountInString(base) == 1 {
		r, _ := utf8.DecodeRuneInString(base)
		switch {
		case with["shift"] && len(with) == 1:
			// Terminals send the character that shift makes, and not shift.
			return "", "write the character itself, such as `" + string(unicode.ToUpper(r)) + "`"
		case with["ctrl"] && with["shift"]:
			return "", "terminals send the same with and without shift: write `ctrl+" + string(unicode.ToLower(r)) + "`"
		case with["ctrl"]:
			base = string(unicode.ToLower(r)) // as in Ctrl+F, which is how many write it
		}
	}
	// In the order in which Bubble Tea writes them.
	for _, m := range modifiers {
		if with[m] {
			name += m + "+"
		}
	}
	name += base
	if same := sameKey[name]; same != "" {
		return "", "terminals send the same for it and for `" + same + "`"
	}
	return name, ""
}

func baseKey(text string) (base, hint string) {
	if utf8.RuneCountInString(text) == 1 {
		if r, _ := utf8.DecodeRuneInString(text); !unicode.IsPrint(r) || !draw.OneCell(text) {
			return "", "a key is a character of one cell, or the name of a key"
		}
		return text, ""
	}
	lower := strings.ToLower(text)
	if is := otherNames[lower]; is != "" {
		lower = is
	}
	if slices.Contains(namedKeys, lower) {
		return lower, ""
	}
	// Emacs writes C-x, and many manuals write Ctrl-X.
	if before, after, ok := strings.Cut(lower, "-"); ok && after != "" && (before == "c" || before == "ctrl") {
		return "", "write `ctrl+" + after + "`"
	}
	if hint = suggest.DidYouMean(lower, namedKeys); hint == "" {
		hint = "a key is a character, or one of enter, tab, esc, space, up, pgup, home, f1 and so on; before it may stand ctrl+, alt+ and shift+"
	}
	return "", hint
}
