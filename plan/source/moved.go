package source

import (
	"path/filepath"
	"strings"
)

// Moved says where directories are now to which a saved plan gives the names that they had where it was made.
// A plan that is made of them is the same plan, so what stands for it, its digests, has the places in which they were.
type Moved []Move

// Move is one such directory. Both are absolute, and neither ends in a slash.
type Move struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Here is where a path is now. One that is in none of the directories, or is of this machine already, is what it is.
func (m Moved) Here(path string) string {
	for _, d := range m {
		if _, ok := below(d.To, path); ok {
			return path
		}
	}
	for _, d := range m {
		if rest, ok := below(d.From, path); ok {
			return d.To + rest
		}
	}
	return path
}

// HereOf is Here for a path behind a mark, as in @FILE. A text without the mark is left alone.
func (m Moved) HereOf(mark, text string) string {
	if path, ok := strings.CutPrefix(text, mark); ok {
		return mark + m.Here(path)
	}
	return text
}

// below gives the rest of a path that is a directory, or is in it: "" or what begins with a slash.
func below(dir, path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, dir)
	return rest, ok && (rest == "" || rest[0] == filepath.Separator)
}

// Back is a text with the places in which the directories were.
func (m Moved) Back(text string) string {
	for _, d := range m {
		if strings.Contains(text, d.To) {
			text = strings.ReplaceAll(text, d.To, d.From)
		}
	}
	return text
}

// Names reports whether a text has one of the places in which the directories were.
func (m Moved) Names(text string) bool {
	for _, d := range m {
		if strings.Contains(text, d.From) {
			return true
		}
	}
	return false
}

// Placeless is a text as digests are over it: without the root, so that a playbook can be moved.
func (m Moved) Placeless(root, text string) string {
	if root != "" && strings.Contains(text, root) {
		text = strings.ReplaceAll(text, root, "")
	}
	return m.Back(text)
}
