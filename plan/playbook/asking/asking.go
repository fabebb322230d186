package asking

import (
	"fmt"
	"strings"

	"moon/plan/playbook/node"
)

// Tag is how such a value is written.
const Tag = "!secret"

// Keys are those of the long form.
const (
	commandKey = "command"
	formatKey  = "format"
)

// Fail reports what is wrong with a value, and the way out. What it returns is not used.
type Fail func(at *node.Node, message, hint string) (int, bool)

const wayOut = "write `" + Tag + " [pass, show, db]` or `" + Tag + " {command: [pass, show, db], format: line}`"

// Rewrite puts the template that gives the value in its place.
func Rewrite(n *node.Node, fail Fail) {
	command, format := n, ""
	if n.Kind == node.Map {
		command = nil
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, v := n.Content[i], n.Content[i+1]
			switch {
			case key.Value == commandKey:
				command = v
			case key.Value == formatKey && v.Kind == node.Scalar:
				format = v.Value
			case key.Value == formatKey:
				fail(v, "the format of a secret is a word", "give text, line, json or yaml")
				return
			default:
				fail(key, fmt.Sprintf("unknown key `%s` of a secret", key.Value), "the keys are command and format")
				return
			}
		}
		if command == nil {
			fail(n, "a secret needs a command", wayOut)
			return
		}
	}
	list, ok := commandOf(command, fail)
	if !ok {
		return
	}
	text := "{{ secret(" + list
	if format != "" {
		text += ", format=" + quote(format)
	}
	n.Kind, n.Tag, n.Content, n.Value = node.Scalar, node.Str, nil, text+") }}"
	n.Mark = node.Tagged | node.DoubleQuoted
}

// commandOf is the command as an expression: a list of words, or a text that is taken apart where it is run.
func commandOf(n *node.Node, fail Fail) (string, bool) {
	switch {
	case n.Kind == node.Scalar && strings.TrimSpace(n.Value) != "":
		word, hint := expressionOf(n.Value)
		if hint != "" {
			fail(n, "this command of a secret cannot be read", hint)
		}
		return word, hint == ""
	case n.Kind != node.List || len(n.Content) == 0:
		fail(n, "the command of a secret is a list of words", wayOut)
		return "", false
	}
	words := make([]string, len(n.Content))
	for i, item := range n.Content {
		if item.Kind == node.Alias {
			item = item.Target
		}
		if item.Kind != node.Scalar {
			fail(n.Content[i], "the command of a secret is a list of words", wayOut)
			return "", false
		}
		word, hint := expressionOf(item.Value)
		if hint != "" {
			fail(n.Content[i], "this word of the command of a secret cannot be read", hint)
			return "", false
		}
		words[i] = word
	}
	return "[" + strings.Join(words, ", ") + "]", true
}

// expressionOf is a text with templates as one expression: a{{ x }}b is "a" ~ (x) ~ "b". Why it cannot be is the hint.
func expressionOf(text string) (expression, hint string) {
	if strings.Contains(text, "{%") || strings.Contains(text, "{#") {
		return "", "compute it in a variable of its own, and name that here: {{ path }}"
	}
	var parts []string
	for text != "" {
		before, rest, opened := strings.Cut(text, "{{")
		if before != "" {
			parts = append(parts, quote(before))
		}
		if !opened {
			break
		}
		inner, after, closed := cutExpression(rest)
		if !closed {
			return "", "close the template with }}"
		}
		parts = append(parts, "("+strings.TrimSpace(inner)+")")
		text = after
	}
	if len(parts) == 0 {
		return `""`, ""
	}
	return strings.Join(parts, " ~ "), ""
}

// cutExpression cuts at the }} that ends an expression, which is not one in quotes.
func cutExpression(text string) (inner, after string, closed bool) {
	quoted := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted != 0 && c == '\\':
			i++
		case quoted != 0 && c == quoted:
			quoted = 0
		case quoted != 0:
		case c == '"' || c == '\'':
			quoted = c
		case strings.HasPrefix(text[i:], "}}"):
			return text[:i], text[i+2:], true
		}
	}
	return "", "", false
}

// quote is a text as a template writes it.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(text) + `"`
}
