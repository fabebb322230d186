package playbook

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/internal/pattern"
	"moon/plan/playbook/node"
)

// word is a part of a text between white space. Quotes and templates keep what is inside them together.
type word struct {
	text string // with its quotes
	at   int    // in bytes of the whole
}

// splitWords splits a text as arguments are split: `a=1 b="two words" c={{ x | default('y z') }}`.
func splitWords(text string) []word {
	var all []word
	start, quote, depth := -1, byte(0), 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		two := text[i:min(i+2, len(text))]
		switch {
		// Templates are never split, however many blanks they have.
		case two == "{{" || two == "{%" || two == "{#":
			depth++
			i++
			if start < 0 {
				start = i - 1
			}
		case depth > 0 && (two == "}}" || two == "%}" || two == "#}"):
			depth--
			i++
		case depth > 0:
		// Outside quotes a backslash is a character like others, as in paths of Windows.
		case c == '\\' && quote != 0:
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if start >= 0 {
				all = append(all, word{text[start:i], start})
			}
			start = -1
		default:
			if start < 0 {
				start = i
			}
			// An apostrophe within a word is one: it's.
			if (c == '"' || c == '\'') && (i == start || text[i-1] == '=') {
				quote = c
			}
		}
	}
	if start >= 0 {
		all = append(all, word{text[start:], start})
	}
	return all
}

// argument is one `key=value` of a text.
type argument struct {
	key   Value
	value Value
}

var argumentName = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// argumentOf takes a word apart, if it is a key with a value.
func (v Value) argumentOf(w word) (argument, bool) {
	key, value, ok := strings.Cut(w.text, "=")
	if !ok || !argumentName.MatchString(key) {
		return argument{}, false
	}
	at := w.at + len(key) + 1
	// Quotes are taken off only around the whole value.
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		value = value[1 : n-1]
		at++
	}
	return argument{v.Part(w.at, key), v.Part(at, unescaped(value))}, true
}

var escape = pattern.New(`\\(?:U[0-9a-fA-F]{8}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\\'"abfnrtv])`)

// unescaped turns \n and the like into what they stand for: so it is in the value of an argument, and nowhere else.
func unescaped(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return escape.ReplaceAllStringFunc(text, func(s string) string {
		if s == `\'` || s == `\"` {
			return s[1:]
		}
		// \x41 would be a byte to Go; \u0041 is the character.
		if s[1] == 'x' {
			s = `\u00` + s[2:]
		}
		r, _, _, err := strconv.UnquoteChar(s, 0)
		if err != nil {
			return s
		}
		return string(r)
	})
}

// mapOf is a map of values that are written somewhere else than in a map; the zero Value if there are none.
func (v Value) mapOf(arguments []argument) Value {
	if len(arguments) == 0 {
		return Value{}
	}
	n := node.NewMap(v.Pos().Line, v.Pos().Column)
	for _, a := range arguments {
		n.Content = append(n.Content, a.key.node, a.value.node)
	}
	return Value{n, v.file}
}

// withoutKeys is the map with some of its keys left out.
func (v Value) withoutKeys(keys ...string) Value {
	var kept []argument
	for _, e := range v.Entries() {
		if !e.NoText && !slices.Contains(keys, e.Key) {
			kept = append(kept, e.toArgument())
		}
	}
	return v.mapOf(kept)
}

func (e Entry) toArgument() argument {
	key := node.NewScalar(node.Str, e.Key, e.Pos.Line, e.Pos.Column)
	return argument{Value{key, e.Value.file}, e.Value}
}

// freeWords are the arguments that may stand beside the command of an action that takes one as text.
var freeWords = []string{"creates", "removes", "chdir", "executable", "stdin", "stdin_add_newline", "strip_empty_ends", "warn"}

// takesCommand are the actions whose text is a command and no list of arguments.
var takesCommand = []string{"command", "shell", "script", "raw"}

// splitCommand takes the arguments out of a command: what is left is a text of its own, and the arguments are a map.
func (v Value) splitCommand() (rest, arguments Value) {
	text := v.Text()
	if v.Encrypted() { // what is cut out of it would be no secret any more
		return v, Value{}
	}
	var found []argument
	var left strings.Builder
	from, begin := 0, -1
	keep := func(to int) {
		// What stands between two arguments is the command, with its blanks.
		piece := text[from:to]
		if begin < 0 && strings.TrimSpace(piece) != "" {
			begin = from + len(piece) - len(strings.TrimLeft(piece, " \t\r\n"))
			piece = text[begin:to]
		}
		if begin >= 0 {
			left.WriteString(piece)
		}
	}
	for _, w := range splitWords(text) {
		a, ok := v.argumentOf(w)
		if !ok || !slices.Contains(freeWords, a.key.Text()) {
			continue
		}
		found = append(found, a)
		keep(w.at)
		from = w.at + len(w.text)
	}
	if len(found) == 0 {
		return v, Value{}
	}
	keep(len(text))
	if begin < 0 {
		return Value{}, v.mapOf(found)
	}
	return v.Part(begin, strings.TrimRight(left.String(), " \t\r\n")), v.mapOf(found)
}

// readArguments reads a text of arguments. Where the first word is none, all of it is text that means something else.
func (p *parser) readArguments(of string, v Value) (Value, bool) {
	all := splitWords(v.Text())
	if len(all) == 0 || v.Encrypted() {
		return v, false
	}
	if _, ok := v.argumentOf(all[0]); !ok {
		return v, false
	}
	var found []argument
	seen := map[string]bool{}
	for _, w := range all {
		a, ok := v.argumentOf(w)
		switch {
		case !ok:
			p.errorf(v.PosAt(w.at), utf8.RuneCountInString(w.text),
				"quote a value with spaces, as in key=\"two words\", or write the arguments as a map", "`%s` of `%s` is not key=value",
				w.text, of)
		case seen[a.key.Text()]:
			p.errorf(v.PosAt(w.at), utf8.RuneCountInString(a.key.Text()), "remove one of them", "argument `%s` of `%s` is given twice",
				a.key.Text(), of)
		default:
			seen[a.key.Text()] = true
			found = append(found, a)
		}
	}
	return v.mapOf(found), true
}

// IsTemplate reports whether a value is one template and nothing else, which may give more than a text.
func (v Value) IsTemplate() bool {
	if v.Kind() != String || v.Literal() {
		return false
	}
	text := strings.TrimSpace(v.Text())
	return strings.HasPrefix(text, "{{") && strings.HasSuffix(text, "}}") && !assigns.MatchString(text)
}

// assigns finds a template before =, as in "{{ a }}={{ b }}": that is a key and its value.
var assigns = pattern.New(`^\{\{[^{}]*\}\}=`)

// addEntries is a map with the entries of another behind its own.
func (v Value) addEntries(other Value) Value {
	if v.IsZero() || v.Kind() != Map {
		return other
	}
	if other.Kind() != Map {
		return v
	}
	var all []argument
	for _, e := range append(v.Entries(), other.Entries()...) {
		all = append(all, e.toArgument())
	}
	return v.mapOf(all)
}
