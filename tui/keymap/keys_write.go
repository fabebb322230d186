package keymap

import (
	"fmt"
	"io"
	"strings"

	"moon/tui/draw"
)

// Text writes the table for people.
func (k *Keys) Text(w io.Writer) error {
	widest, names := 0, 0
	for i := range Bindings {
		widest, names = max(widest, draw.Cells(k.shown(&Bindings[i]))), max(names, len(Bindings[i].Name))
	}
	var out strings.Builder
	last := Groups
	for i := range Bindings {
		b := &Bindings[i]
		if b.Group != last {
			if last != Groups {
				out.WriteByte('\n')
			}
			fmt.Fprintf(&out, "%s\n", GroupWords[b.Group])
			last = b.Group
		}
		// Printf pads by characters, while columns are cells.
		keys := k.shown(b)
		fmt.Fprintf(&out, "  %-*s  %s%s  %s\n", names, b.Name, keys, draw.Spaces(widest-draw.Cells(keys)), b.Words)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// shown are the keys of an action, and where they differ from place to place, those of each.
func (k *Keys) shown(b *Binding) string {
	var list []string
	same, first := true, -1
	for in, where := range Places {
		if b.Where&where == 0 {
			continue
		}
		keys := strings.Join(k.Keys[in][b.Do], ", ")
		if first >= 0 && keys != strings.Join(k.Keys[first][b.Do], ", ") {
			same = false
		}
		if first < 0 {
			first = in
		}
		list = append(list, PlaceNames[in]+": "+none(keys))
	}
	switch {
	case !same:
		return strings.Join(list, "; ")
	case b.Where == anywhere:
		return none(strings.Join(k.Keys[first][b.Do], ", "))
	}
	return none(strings.Join(k.Keys[first][b.Do], ", ")) + " (in " + PlaceWords(b.Where) + ")"
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
	last, special := Groups, [len(Places)]string{}
	for i := range Bindings {
		a := &Bindings[i]
		if a.Group != last {
			fmt.Fprintf(&b, "\n# %s\n", GroupWords[a.Group])
			last = a.Group
		}
		common := k.common(a)
		fmt.Fprintf(&b, "%s: %s # %s\n", a.Name, quotedKeys(common), a.Words)
		for in, where := range Places {
			if keys := k.Keys[in][a.Do]; a.Where&where != 0 && strings.Join(keys, ", ") != strings.Join(common, ", ") {
				special[in] += fmt.Sprintf("  %s: %s\n", a.Name, quotedKeys(keys))
			}
		}
	}
	for in, text := range special {
		if text != "" {
			fmt.Fprintf(&b, "\n%s:\n%s", PlaceNames[in], text)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// common are the keys of an action in the first place it works in that has all of them free everywhere.
func (k *Keys) common(b *Binding) []string {
	var keys []string
	for in, where := range Places {
		if b.Where&where == 0 {
			continue
		}
		for _, name := range k.Keys[in][b.Do] {
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
	if len(name) > 1 && !strings.ContainsFunc(name,
		func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+' }) ||
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
	last := Groups
	for i := range Bindings {
		a := &Bindings[i]
		if a.Group != last {
			fmt.Fprintf(&b, "\n**%s**\n\n| Keys | Does | Name |\n|---|---|---|\n", GroupWords[a.Group])
			last = a.Group
		}
		keys := "`" + strings.Join(k.common(a), "` `") + "`"
		if a.Where != anywhere {
			keys += " in " + PlaceWords(a.Where)
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` |\n", strings.ReplaceAll(keys, "|", `\|`), a.Words, a.Name)
	}
	_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n"))
	return err
}
