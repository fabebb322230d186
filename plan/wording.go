package plan

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// AtStart stands for the producers of a value that no step gives: a fact that changes.
const AtStart = "the run starts"

// AfterSteps is After with other names for the steps.
func AfterSteps(steps []int, named func(step int) string) string {
	if len(steps) == 0 {
		return AtStart
	}
	if len(steps) > 3 {
		return fmt.Sprintf("%s and %d more", named(steps[0]), len(steps)-1)
	}
	var parts []string
	for _, s := range steps {
		parts = append(parts, named(s))
	}
	return strings.Join(parts, ", ")
}

// CountOf is a number of things in words: 1 step, 2 steps.
func CountOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "ry"); ok { // entry, directory
		what = stem + "rie"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// FirstLine is the first line of a text, with a mark if there are more.
func FirstLine(s string) string {
	s, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if more {
		return s + " …"
	}
	return s
}

// Width is how wide a value is as written, on its first line.
func Width(v playbook.Value) int { return utf8.RuneCountInString(FirstLine(v.Text())) }

// article names the type of a value: "a list", "text".
func article(v any) string {
	switch v.(type) {
	case value.Secret:
		return "a secret"
	case nil:
		return "nothing"
	case bool:
		return "a boolean"
	case int, float64, value.Number:
		return "a number"
	case string:
		return "text"
	case []any:
		return "a list"
	case map[string]any, *value.Dict:
		return "a map"
	}
	return "not a plain value"
}

// Items are the labels of the items that a step is for, outermost first: those of the loops that it is in, and its own.
func (p *Plan) Items(step int) []string {
	s := &p.Steps[step]
	var items []string
	if s.Loop != nil && s.Loop.Label != "" {
		items = append(items, s.Loop.Label)
	}
	for id := s.Scope; id >= 0; id = p.Scopes[id].Parent {
		if item := p.Scopes[id].Item; item != "" {
			items = append(items, item)
		}
	}
	slices.Reverse(items)
	return items
}

// namesItem reports whether a name holds an item as words of its own: "each" does not name the item "a".
func namesItem(name, item string) bool {
	inWord := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	first, width := utf8.DecodeRuneInString(item)
	last, _ := utf8.DecodeLastRuneInString(item)
	for from := 0; ; {
		at := strings.Index(name[from:], item)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(name[:at])
		after, _ := utf8.DecodeRuneInString(name[at+len(item):])
		if (!inWord(first) || !inWord(before)) && (!inWord(last) || !inWord(after)) {
			return true
		}
		from = at + max(width, 1)
	}
}

// NameWithItems is a name of a step with all items that it is for and the name does not hold: "install (web, vim)". It is for
// where a step stands alone. In a tree the scopes around it say the rest, and Step.Label is enough.
func (p *Plan) NameWithItems(step int, name string) string {
	items := slices.DeleteFunc(p.Items(step), func(item string) bool { return namesItem(name, item) })
	if len(items) == 0 {
		return name
	}
	return name + " (" + strings.Join(items, ", ") + ")"
}

// ShownPath is a path as people see it: relative to the root if it is below it.
func ShownPath(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return filepath.ToSlash(rel)
	}
	return path
}

// FirstOf is the first value that is given.
func FirstOf(values ...playbook.Value) playbook.Value {
	for _, v := range values {
		if !v.IsZero() {
			return v
		}
	}
	return playbook.Value{}
}

// Described names a value with its type: `text "abc"`.
func Described(v any) string {
	switch v.(type) {
	case value.Secret:
		return "a secret"
	case string:
		return "text " + Quoted(value.Text(v))
	case bool, int, float64, value.Number:
		return value.Text(v)
	}
	return article(v)
}

// Quoted is the first line of a text in quotes, shortened.
func Quoted(s string) string {
	s = FirstLine(s)
	// By characters, as half of one is not text.
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return "\"" + s + "\""
}

// SortedKeys are the keys of a map, in order.
func SortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// Texts are values as written, a line each.
func Texts(values []playbook.Value) string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = v.Text()
	}
	return strings.Join(list, "\n")
}

// NameLine is a name on one line: the first, where it is written on several. What a value brings along ends no name, such as
// the newline after what a command printed.
func NameLine(written playbook.Value, rendered string) string {
	if strings.Contains(strings.TrimSpace(written.Text()), "\n") {
		return FirstLine(rendered)
	}
	lines := strings.Split(rendered, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}

// NotifiedNames are the names in what an entry of `notify` comes to.
func NotifiedNames(v any) []string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	names := []string{}
	for _, one := range list {
		if one != any(value.Omit) {
			names = append(names, strings.TrimSpace(value.Text(one)))
		}
	}
	return names
}

// NoHandler is the mistake that a name stands for no handler.
func NoHandler(name string) string { return "there is no handler " + Quoted(name) }
