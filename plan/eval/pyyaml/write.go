package pyyaml

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/internal/pattern"
	"moon/plan/eval/value"
)

// Style is how a value is written.
type Style struct {
	Indent  int  // spaces for a level
	Width   int  // a line is broken at the next space behind it
	Flow    Flow // which lists and maps are on one line
	InOrder bool // the keys of maps stand in their order, and are not sorted

	// Block says which texts are written as blocks of lines, and what is written of them; nil: none.
	Block func(text string) (shown string, block bool)
}

// Write writes a value as a document. What is larger than any text may be is cut off there.
func Write(v any, style Style) string {
	// PyYAML's own bounds: outside of them it ignores what it is given.
	if style.Indent < 2 || style.Indent > 9 {
		style.Indent = 2
	}
	if style.Width <= 2*style.Indent {
		style.Width = 80
	}
	w := &writer{Style: style, step: style.Indent, width: style.Width, space: true, fresh: true}
	w.value(v, place{indent: -1})
	if w.column > 0 {
		w.newline()
	}
	return string(w.b)
}

type writer struct {
	Style
	b           []byte
	step, width int
	column      int
	// Whether a space, or nothing but space, stands before what comes.
	space, fresh bool
}

// Flow says which lists and maps are written on one line.
type Flow uint8

// The choices. FlowLeaves writes those on one line that hold nothing but scalars.
const (
	FlowLeaves Flow = iota
	FlowNever
	FlowAlways
)

// place is where a value stands.
type place struct {
	indent int  // -1 at the top
	level  int  // of brackets
	inMap  bool // as a value or key of a map
	key    bool
}

func isScalar(v any) bool {
	switch v.(type) {
	case []any, map[string]any, *value.Dict:
		return false
	}
	return true
}

func (w *writer) inline(items []any, p place) bool {
	// Within brackets there are no blocks, and what is empty has no other form.
	if p.level > 0 || len(items) == 0 || w.Flow == FlowAlways {
		return true
	}
	if w.Flow == FlowNever {
		return false
	}
	for _, item := range items {
		if !isScalar(item) {
			return false
		}
	}
	return true
}

func (w *writer) value(v any, p place) {
	// Enough is written for Grow to refuse the whole.
	if len(w.b) > value.MaxText {
		return
	}
	switch v := v.(type) {
	case []any:
		if w.inline(v, p) {
			w.flowList(v, p)
		} else {
			w.blockList(v, p)
		}
	case map[string]any, *value.Dict:
		if w.inline(value.ValuesOf(v), p) {
			w.flowMap(v, p)
		} else {
			w.blockMap(v, p)
		}
	default:
		p.indent = p.deeper(w.step)
		w.scalar(v, p)
	}
}

// deeper is the indent of what is inside of brackets, or of the further lines of a text.
func (p place) deeper(step int) int {
	if p.indent < 0 {
		return step
	}
	return p.indent + step
}

func (w *writer) blockList(list []any, p place) {
	switch {
	case p.indent < 0:
		p.indent = 0
	case !p.inMap || w.fresh: // a list under a key stands as far left as the key
		p.indent += w.step
	}
	for _, item := range list {
		w.indent(p.indent)
		w.sign("-", true, false, true)
		w.value(item, place{indent: p.indent})
	}
}

// keys are those of a map in the order in which they are written.
func (w *writer) keys(m any) []string {
	if w.InOrder {
		return value.KeysOf(m)
	}
	keys := slices.Clone(value.KeysOf(m))
	var failed *value.Error
	slices.SortFunc(keys, func(a, b string) int {
		o, err := value.Compare(value.KeyOf(m, a), value.KeyOf(m, b))
		if err != nil {
			failed = err
		}
		return o
	})
	if failed != nil { // keys of several types have no order
		return value.KeysOf(m)
	}
	return keys
}

func (w *writer) blockMap(m any, p place) {
	if p.indent < 0 {
		p.indent = 0
	} else {
		p.indent += w.step
	}
	for _, key := range w.keys(m) {
		w.indent(p.indent)
		v, _ := value.EntryOf(m, key)
		inside := place{indent: p.indent, inMap: true}
		// What PyYAML takes for a simple key; others need the sign `?`.
		if len(key) < 128 && !strings.Contains(key, "\n") {
			w.value(value.KeyOf(m, key), place{indent: p.indent, inMap: true, key: true})
			w.sign(":", false, false, false)
		} else {
			w.sign("?", true, false, true)
			w.value(key, inside)
			w.indent(p.indent)
			w.sign(":", true, false, true)
		}
		w.value(v, inside)
	}
}

func (w *writer) flowList(list []any, p place) {
	w.sign("[", true, true, false)
	p = place{indent: p.deeper(w.step), level: p.level + 1}
	for i, item := range list {
		w.next(i, p)
		w.value(item, p)
	}
	w.sign("]", false, false, false)
}

func (w *writer) flowMap(m any, p place) {
	w.sign("{", true, true, false)
	p = place{indent: p.deeper(w.step), level: p.level + 1, inMap: true}
	for i, key := range w.keys(m) {
		w.next(i, p)
		keyPlace := p
		keyPlace.key = true
		w.value(value.KeyOf(m, key), keyPlace)
		w.sign(":", false, false, false)
		v, _ := value.EntryOf(m, key)
		w.value(v, p)
	}
	w.sign("}", false, false, false)
}

// next goes on to item i of a list in brackets.
func (w *writer) next(i int, p place) {
	if i > 0 {
		w.sign(",", false, false, false)
	}
	// Only between items: PyYAML never breaks a short item to keep the width.
	if w.column > w.width {
		w.indent(p.indent)
	}
}

func (w *writer) put(s string) {
	w.b = append(w.b, s...)
	w.column += utf8.RuneCountInString(s)
}

func (w *writer) newline() {
	w.b = append(w.b, '\n')
	w.column, w.space, w.fresh = 0, true, true
}

// indent goes to a column, on a new line if this one is past it.
func (w *writer) indent(to int) {
	to = max(to, 0)
	if !w.fresh || w.column > to || w.column == to && !w.space {
		w.newline()
	}
	if w.column < to {
		w.space = true
		w.put(strings.Repeat(" ", to-w.column))
	}
}

// sign writes punctuation: apart from what is before if it needs a space, and so that nothing need stand between it and what
// comes if it gives one.
func (w *writer) sign(s string, needsSpace, givesSpace, keepsFresh bool) {
	if needsSpace && !w.space {
		s = " " + s
	}
	w.space, w.fresh = givesSpace, w.fresh && keepsFresh
	w.put(s)
}

func (w *writer) scalar(v any, p place) {
	s, isText := v.(string)
	if !isText {
		w.plain(plainText(v), p)
		return
	}
	if w.Block != nil {
		if shown, block := w.Block(s); block {
			w.block(shown, p)
			return
		}
	}
	look := lookAt(s)
	fits := look.blockPlain
	if p.level > 0 {
		fits = look.flowPlain
	}
	// A key must stand on one line, so a line break in it has to be escaped.
	several := p.key && strings.Contains(s, "\n")
	switch {
	case fits && !several && !resolves(s):
		w.plain(s, p)
	case look.single && !several:
		w.singleQuoted(s, p)
	default:
		w.doubleQuoted(s, p)
	}
}

// block writes a text as a block of lines, if its place and its lines allow that, and in double quotes otherwise.
func (w *writer) block(s string, p place) {
	runes := []rune(s)
	// Space at the end of a line would be lost when it is read, and so would what does not print.
	loses := strings.Contains(s, " \n") || strings.HasSuffix(s, " ") ||
		slices.ContainsFunc(runes, func(r rune) bool { return r != '\n' && !isPrintable(r) })
	if p.level > 0 || p.key || loses || s == "" {
		w.doubleQuoted(s, p)
		return
	}
	hints := ""
	if strings.ContainsRune(" \n\u0085\u2028\u2029", runes[0]) {
		hints = strconv.Itoa(w.step)
	}
	switch {
	case !strings.HasSuffix(s, "\n"):
		hints += "-"
	case s == "\n" || strings.HasSuffix(s, "\n\n"):
		hints += "+"
	}
	w.sign("|"+hints, true, false, false)
	w.newline()
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if line != "" {
			w.indent(p.indent)
			w.put(line)
		}
		if i < len(lines)-1 {
			w.newline()
		}
	}
	// What follows begins on a line of its own.
	w.space, w.fresh = strings.HasSuffix(s, "\n"), strings.HasSuffix(s, "\n")
}

// plainText is a value that is no text.
func plainText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case value.Number:
		return plainText(v.Value)
	case float64:
		s := value.PythonFloat(v)
		switch s {
		case "inf", "nan":
			return "." + s
		case "-inf":
			return "-.inf"
		}
		// YAML 1.1 takes 1e+16 for text: a float needs a point there.
		if mantissa, exponent, ok := strings.Cut(s, "e"); ok && !strings.Contains(mantissa, ".") {
			s = mantissa + ".0e" + exponent
		}
		return s
	}
	return value.PythonText(v)
}

// plain writes text without quotes.
func (w *writer) plain(s string, p place) {
	if s == "" {
		return
	}
	if !w.space {
		w.put(" ")
	}
	w.space, w.fresh = false, false
	w.words(s, p, func(word string) { w.put(word) })
	w.space, w.fresh = false, false
}

func (w *writer) singleQuoted(s string, p place) {
	w.sign("'", true, false, false)
	for i, line := range strings.SplitAfter(s, "\n") {
		// The text ends in a line break: the quote stands indented on the line behind it.
		if i > 0 && line == "" {
			w.indent(p.indent)
			break
		}
		text, broken := strings.CutSuffix(line, "\n")
		if text != "" {
			if w.fresh {
				w.indent(p.indent)
			}
			w.space, w.fresh = false, false
			w.words(text, p, func(word string) { w.put(strings.ReplaceAll(word, "'", "''")) })
		}
		if broken {
			if !w.fresh { // one more than in the text: a single one would read as a space
				w.newline()
			}
			w.newline()
		}
	}
	w.space, w.fresh = false, false
	w.sign("'", false, false, false)
}

// words writes a line, broken at single spaces behind the width.
func (w *writer) words(s string, p place, put func(string)) {
	for i := 0; i < len(s); {
		end := i
		if s[i] == ' ' {
			for end < len(s) && s[end] == ' ' {
				end++
			}
			// Only at a single space: a run of them would not survive folding.
			if end == i+1 && w.column > w.width && !p.key && i > 0 && end < len(s) {
				w.indent(p.indent)
				w.space, w.fresh = false, false
			} else {
				w.put(s[i:end])
			}
			i = end
			continue
		}
		for end < len(s) && s[end] != ' ' {
			end++
		}
		put(s[i:end])
		i = end
	}
}

var escapes = map[rune]string{
	0: "0", 7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 27: "e", '"': `"`, '\\': `\`, 0x85: "N", 0xa0: "_", 0x2028: "L",
	0x2029: "P",
}

func (w *writer) doubleQuoted(s string, p place) {
	w.sign(`"`, true, false, false)
	spaces := false
	for i, r := range s {
		width := utf8.RuneLen(r)
		escape, known := escapes[r]
		switch {
		case r == ' ' && !p.key && !spaces && w.column > w.width && i > 0 && i+1 < len(s):
			w.indent(p.indent)
			// The next space would begin a line, where it means nothing unless it is escaped.
			if s[i+1] == ' ' {
				w.put(`\`)
			}
			w.space, w.fresh = false, false
		case known:
			w.put(`\` + escape)
		case isPrintable(r):
			w.put(s[i : i+width])
		case r < 0x100:
			w.put(fmt.Sprintf(`\x%02X`, r))
		case r < 0x10000:
			w.put(fmt.Sprintf(`\u%04X`, r))
		default:
			w.put(fmt.Sprintf(`\U%08X`, r))
		}
		spaces = r == ' '
	}
	w.space, w.fresh = false, false
	w.sign(`"`, false, false, false)
}

// isPrintable says which characters stand as they are. Those beyond 16 bits do not.
func isPrintable(r rune) bool {
	return r >= ' ' && r <= '~' || r >= 0xa0 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd && r != 0xfeff
}

// look says in which ways a text can be written.
type look struct{ blockPlain, flowPlain, single bool }

func lookAt(s string) look {
	if s == "" {
		return look{blockPlain: true, single: true}
	}
	flow, block := false, false // it has signs that mean something in brackets, or anywhere
	if strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") {
		// They would begin or end a document.
		flow, block = true, true
	}
	special, breaks, breakSpace, spaceBreak := false, false, false, false
	runes := []rune(s)
	white := func(i int) bool {
		return i < 0 || i >= len(runes) || strings.ContainsRune("\x00 \t\r\n\u0085\u2028\u2029", runes[i])
	}
	before := func(i int) rune {
		if i == 0 {
			return 0
		}
		return runes[i-1]
	}
	for i, r := range runes {
		switch {
		case i == 0 && strings.ContainsRune("#,[]{}&*!|>'\"%@`", r), i == 0 && r == '-' && white(1), i > 0 && r == '#' && white(i-1):
			flow, block = true, true
		case i == 0 && r == '?', r == ':':
			flow = true
			block = block || white(i+1)
		case i > 0 && strings.ContainsRune(",?[]{}", r):
			flow = true
		}
		switch {
		case r == '\n':
			breaks = true
			spaceBreak = spaceBreak || before(i) == ' '
		case r == ' ':
			breakSpace = breakSpace || before(i) == '\n'
		case !isPrintable(r):
			special = true
		}
	}
	first, last := runes[0], runes[len(runes)-1]
	edges := first == ' ' || first == '\n' || last == ' ' || last == '\n'
	// Plain text loses space at its ends and around breaks; single quotes keep the former.
	plain := !edges && !breakSpace && !spaceBreak && !special && !breaks
	return look{blockPlain: plain && !block, flowPlain: plain && !flow, single: !breakSpace && !spaceBreak && !special}
}

// resolving are the plain texts of YAML 1.1 that are not texts.
var resolving = pattern.New(`^(?:` + strings.Join([]string{
	`|~|null|Null|NULL|=|<<`,
	`yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF`,
	`[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*`,
	`[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)`,
	`[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+`,
	`[0-9]{4}-[0-9]{2}-[0-9]{2}`,
	`[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?(?:[Tt]|[ \t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9][0-9]?(?::[0-9]{2})?))?`,
}, "|") + `)$`)

func resolves(s string) bool { return resolving.MatchString(s) }
