package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"moon/internal/diag"
)

// String is "file:line".
func (o Origin) String() string {
	if o.Line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// Full is the place with what includes it, innermost first: "tasks/install.yml:3, included from site.yml:8".
func (o Origin) Full() string {
	inner, more, outer := diag.ShownChain(o.Chain)
	if more > 0 {
		inner = append(slices.Clip(inner), fmt.Sprintf("… %d more …", more))
	}
	chain := slices.Concat(inner, outer)
	if len(chain) == 0 {
		return o.String()
	}
	return o.String() + ", included from " + strings.Join(chain, ", from ")
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
