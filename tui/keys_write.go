package tui

import (
	"fmt"
	"io"
	"moon/tui/draw"
	"strings"
)

// Text writes the table for people.
func (k *Keys) Text(w io.Writer) error {
	widest, names := 0, 0
	for i := range bindings {
		widest, names = max(widest, draw.Cells(k.shown(&bindings[i]))), max(names, len(bindings[i].name))
	}
	var out strings.Builder
	last := groups
	for i := range bindings {
		b := &bindings[i]
		if b.group != last {
			if last != groups {
				out.WriteByte('\n')
			}
			fmt.Fprintf(&out, "%s\n", groupWords[b.group])
			last = b.group
		}
		keys := k.shown(b)
		fmt.Fprintf(&out, "  %-*s  %s%s  %s\n", names, b.name, keys, draw.Spaces(widest-draw.Cells(keys)), b.words)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// shown are the keys of an action, and where they differ from place to place, those of each.
func (k *Keys) shown(b *binding) string {
	var list []string
	same, first := true, -1
	for in, where := range places {
		if b.where&where == 0 {
			continue
		}
		keys := strings.Join(k.keys[in][b.do], ", ")
		if first >= 0 && keys != strings.Join(k.keys[first][b.do], ", ") {
			same = false
		}
		if first < 0 {
			first = in
		}
		list = append(list, placeNames[in]+": "+none(keys))
	}
	switch {
	case !same:
		return strings.Join(list, "; ")
	case b.where == anywhere:
		return none(strings.Join(k.keys[first][b.do], ", "))
	}
	return none(strings.Join(k.keys[first][b.do], ", ")) + " (in " + placeWords(b.where) + ")"
}

func none(keys string) string {
	if keys == "" {
		return "none"
	}
	return keys
}

// YAML writes a file of keys with all there are, to change.
func (k *Keys) YAML(w io.Writer) error {
	var b strings.Builder
	b.WriteString(`# The keys of moon. Keep the lines you change: what is not here has its usual keys.
# A list may be empty: [] leaves the action to the palette. "g x" is g, then x.
# Under tree:, detail: and output: stands what is different there.
`)
	last, special := groups, [len(places)]string{}
	for i := range bindings {
		a := &bindings[i]
		if a.group != last {
			fmt.Fprintf(&b, "\n# %s\n", groupWords[a.group])
			last = a.group
		}
		common := k.common(a)
		fmt.Fprintf(&b, "%s: %s # %s\n", a.name, quotedKeys(common), a.words)
		for in, where := range places {
			if keys := k.keys[in][a.do]; a.where&where != 0 && strings.Join(keys, ", ") != strings.Join(common, ", ") {
				special[in] += fmt.Sprintf("  %s: %s\n", a.name, quotedKeys(keys))
			}
		}
	}
	for in, text := range special {
		if text != "" {
			fmt.Fprintf(&b, "\n%s:\n%s", placeNames[in], text)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// common are the keys of an action in the first place it works in that has all of them free everywhere.
func (k *Keys) common(b *binding) []string {
	var keys []string
	for in, where := range places {
		if b.where&where == 0 {
			continue
		}
		for _, name := range k.keys[in][b.do] {
			if k.everywhere(b, name) {
				keys = append(keys, name)
			}
		}
		break
	}
	return keys
}

func quotedKeys(keys []string) string {
	list := make([]string, len(keys))
	for i, name := range keys {
		list[i] = quotedKey(name)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// quotedKey is a key as YAML has it. Letters and names need no quotes; Y and N do, for other readers than moon.
func quotedKey(name string) string {
	if len(name) > 1 && !strings.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+' }) ||
		len(name) == 1 && strings.Contains("abcdefghijklmopqrstuvwxzABCDEFGHIJKLMOPQRSTUVWXZ", name) {
		return name
	}
	if strings.Contains(name, `"`) || strings.Contains(name, `\`) {
		return "'" + strings.ReplaceAll(name, "'", "''") + "'"
	}
	return `"` + name + `"`
}

// Markdown writes the table for a page.
func (k *Keys) Markdown(w io.Writer) error {
	var b strings.Builder
	last := groups
	for i := range bindings {
		a := &bindings[i]
		if a.group != last {
			fmt.Fprintf(&b, "\n**%s**\n\n| Keys | Does | Name |\n|---|---|---|\n", groupWords[a.group])
			last = a.group
		}
		keys := "`" + strings.Join(k.common(a), "` `") + "`"
		if a.where != anywhere {
			keys += " in " + placeWords(a.where)
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` |\n", strings.ReplaceAll(keys, "|", `\|`), a.words, a.name)
	}
	_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n"))
	return err
}
