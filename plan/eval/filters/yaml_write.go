package filters

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/internal/pattern"
	"moon/plan/eval/value"
)

// yamlWriter writes YAML as Ansible's filters do, byte for byte: files that they have made must not change.
type yamlWriter struct {
	b     []byte
	step  int // spaces for a level
	width int // a line is broken at the next space behind it
	flow  yamlFlow
	// The keys of maps stand in their order, and are not sorted.
	inOrder bool
	column  int
	// Whether a space, or nothing but space, stands before what comes.
	space, fresh bool
}

// yamlFlow says which lists and maps are written in one line.
type yamlFlow uint8

const (
	flowLeaves yamlFlow = iota // those that hold nothing but scalars
	flowNever
	flowAlways
)

// yamlPlace is where a value stands.
type yamlPlace struct {
	indent int  // -1 at the top
	level  int  // of brackets
	inMap  bool // as a value or key of a map
	key    bool
}

func newYAMLWriter(step, width int, flow yamlFlow) *yamlWriter {
	// PyYAML's own bounds: outside of them it ignores what it is given.
	if step < 2 || step > 9 {
		step = 2
	}
	if width <= 2*step {
		width = 80
	}
	return &yamlWriter{step: step, width: width, flow: flow, space: true, fresh: true}
}

// document writes a value as a whole.
func (w *yamlWriter) document(v any) string {
	w.value(v, yamlPlace{indent: -1})
	if w.column > 0 {
		w.newline()
	}
	return string(w.b)
}

func isScalar(v any) bool {
	switch v.(type) {
	case []any, map[string]any, *value.Dict:
		return false
	}
	return true
}

func (w *yamlWriter) inline(items []any, p yamlPlace) bool {
	// Within brackets there are no blocks, and what is empty has no other form.
	if p.level > 0 || len(items) == 0 || w.flow == flowAlways {
		return true
	}
	if w.flow == flowNever {
		return false
	}
	for _, item := range items {
		if !isScalar(item) {
			return false
		}
	}
	return true
}

func (w *yamlWriter) value(v any, p yamlPlace) {
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
func (p yamlPlace) deeper(step int) int {
	if p.indent < 0 {
		return step
	}
	return p.indent + step
}

func (w *yamlWriter) blockList(list []any, p yamlPlace) {
	switch {
	case p.indent < 0:
		p.indent = 0
	case !p.inMap || w.fresh: // a list under a key stands as far left as the key
		p.indent += w.step
	}
	for _, item := range list {
		w.indent(p.indent)
		w.sign("-", true, false, true)
		w.value(item, yamlPlace{indent: p.indent})
	}
}

// keys are those of a map in the order in which they are written.
func (w *yamlWriter) keys(m any) []string {
	if w.inOrder {
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

func (w *yamlWriter) blockMap(m any, p yamlPlace) {
	if p.indent < 0 {
		p.indent = 0
	} else {
		p.indent += w.step
	}
	for _, key := range w.keys(m) {
		w.indent(p.indent)
		v, _ := value.EntryOf(m, key)
		inside := yamlPlace{indent: p.indent, inMap: true}
		// What PyYAML takes for a simple key; others need the sign `?`.
		if len(key) < 128 && !strings.Contains(key, "\n") {
			w.value(value.KeyOf(m, key), yamlPlace{indent: p.indent, inMap: true, key: true})
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

func (w *yamlWriter) flowList(list []any, p yamlPlace) {
	w.sign("[", true, true, false)
	p = yamlPlace{indent: p.deeper(w.step), level: p.level + 1}
	for i, item := range list {
		w.next(i, p)
		w.value(item, p)
	}
	w.sign("]", false, false, false)
}

func (w *yamlWriter) flowMap(m any, p yamlPlace) {
	w.sign("{", true, true, false)
	p = yamlPlace{indent: p.deeper(w.step), level: p.level + 1, inMap: true}
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
func (w *yamlWriter) next(i int, p yamlPlace) {
	if i > 0 {
		w.sign(",", false, false, false)
	}
	// Only between items: PyYAML never breaks a short item to keep the width.
	if w.column > w.width {
		w.indent(p.indent)
	}
}

func (w *yamlWriter) put(s string) {
	w.b = append(w.b, s...)
	w.column += utf8.RuneCountInString(s)
}

func (w *yamlWriter) newline() {
	w.b = append(w.b, '\n')
	w.column, w.space, w.fresh = 0, true, true
}

// indent goes to a column, on a new line if this one is past it.
func (w *yamlWriter) indent(to int) {
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
func (w *yamlWriter) sign(s string, needsSpace, givesSpace, keepsFresh bool) {
	if needsSpace && !w.space {
		s = " " + s
	}
	w.space, w.fresh = givesSpace, w.fresh && keepsFresh
	w.put(s)
}

func (w *yamlWriter) scalar(v any, p yamlPlace) {
	s, isText := v.(string)
	if !isText {
		w.plain(yamlPlain(v), p)
		return
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

// yamlPlain is a value that is no text.
func yamlPlain(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case value.Number:
		return yamlPlain(v.Value)
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
func (w *yamlWriter) plain(s string, p yamlPlace) {
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

func (w *yamlWriter) singleQuoted(s string, p yamlPlace) {
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
func (w *yamlWriter) words(s string, p yamlPlace, put func(string)) {
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

var yamlEscapes = map[rune]string{
	0: "0", 7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 27: "e", '"': `"`, '\\': `\`, 0x85: "N", 0xa0: "_", 0x2028: "L",
	0x2029: "P",
}

func (w *yamlWriter) doubleQuoted(s string, p yamlPlace) {
	w.sign(`"`, true, false, false)
	spaces := false
	for i, r := range s {
		width := utf8.RuneLen(r)
		escape, known := yamlEscapes[r]
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
		case yamlPrintable(r):
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

// yamlPrintable says which characters stand as they are. Those beyond 16 bits do not.
func yamlPrintable(r rune) bool {
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
		case !yamlPrintable(r):
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
