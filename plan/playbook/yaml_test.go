package playbook_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestParserOfYAML holds what this package relies on in the parser below it, so that another version of it, or another parser, is
// known to read playbooks as before: kinds, tags, styles, places, anchors and comments of nodes, and the words of its errors, of
// which messages are made. docs/decisions/house.md says which parser that may be.
func TestParserOfYAML(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"places and styles", "a: 'x'\nb:\n  - \"y\"\n  - {c: d}\n", `1:1 !!map
 1:1 !!str a
 1:4 !!str single x
 2:1 !!str b
 3:3 !!seq
  3:5 !!str double y
  4:5 !!map flow
   4:6 !!str c
   4:9 !!str d`},
		{"scalars resolve as in YAML 1.2, but for octal numbers", "[yes, on, true, ~, null, 010, 0o10, 1_000, 1e3, 12:30, 2020-01-01, .inf, '1']\n", `1:1 !!seq flow
 1:2 !!str yes
 1:7 !!str on
 1:11 !!bool true
 1:17 !!null ~
 1:20 !!null null
 1:26 !!int 010
 1:31 !!int 0o10
 1:37 !!int 1_000
 1:44 !!float 1e3
 1:49 !!str 12:30
 1:56 !!timestamp 2020-01-01
 1:68 !!float .inf
 1:74 !!str single 1`},
		{"blocks of text", "a: |\n  x\n  y\nb: >-\n  z\n", `1:1 !!map
 1:1 !!str a
 1:4 !!str literal x¶y¶
 4:1 !!str b
 4:4 !!str folded z`},
		{"anchors, aliases and merges are not resolved", "a: &n {x: 1}\nb:\n  <<: *n\nc: *n\n", `1:1 !!map
 1:1 !!str a
 1:4 &n !!map flow
  1:8 !!str x
  1:11 !!int 1
 2:1 !!str b
 3:3 !!map
  3:3 !!merge <<
  3:7 *n
 4:1 !!str c
 4:4 *n`},
		{"tags stay", "a: !vault |\n  x\nb: !!str 1\n", `1:1 !!map
 1:1 !!str a
 1:4 !vault tagged literal x¶
 3:1 !!str b
 3:4 !!str tagged 1`},
		{"keys may be there twice", "a: 1\na: 2\n", `1:1 !!map
 1:1 !!str a
 1:4 !!int 1
 2:1 !!str a
 2:4 !!int 2`},
		{"columns count characters", "ä: {ß: ü}\n", `1:1 !!map
 1:1 !!str ä
 1:4 !!map flow
  1:5 !!str ß
  1:8 !!str ü`},
		{"comments belong to the node that they stand with", "# head\na: 1 # end\n", `2:1 !!map
 2:1 !!str a # head
 2:4 !!int 1 # end`},
		{"errors", "a: [1\n", "yaml: line 1: did not find expected ',' or ']'"},
		{"errors name the line before the mistake", "a:\n  - b\n c: d\n", "yaml: line 2: did not find expected key"},
		{"errors of characters have no place", "a: \x01\n", "yaml: control characters are not allowed"},
		{"errors of tabs", "a:\n\tb: c\n", "yaml: line 2: found character that cannot start any token"},
		{"errors of aliases", "a: *none\n", "yaml: unknown anchor 'none' referenced"},
		{"errors of indentation", "a: b: c\n", "yaml: mapping values are not allowed in this context"},
	} {
		var doc yaml.Node
		got := ""
		if err := yaml.Unmarshal([]byte(c.text), &doc); err != nil {
			got = err.Error()
		} else {
			got = strings.TrimSuffix(describe(doc.Content[0], ""), "\n")
		}
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	// What decodes into a type says all that is wrong at once.
	var into struct{ A, B int }
	var wrong *yaml.TypeError
	if err := yaml.Unmarshal([]byte("a: x\nb: [y]\n"), &into); !errors.As(err, &wrong) || len(wrong.Errors) != 2 ||
		wrong.Errors[0] != "line 1: cannot unmarshal !!str `x` into int" {
		t.Errorf("%v", err)
	}
}

// describe writes a node and those inside it, a line for each.
func describe(n *yaml.Node, indent string) string {
	words := []string{fmt.Sprintf("%s%d:%d", indent, n.Line, n.Column)}
	if n.Anchor != "" {
		words = append(words, "&"+n.Anchor)
	}
	if n.Kind == yaml.AliasNode {
		return strings.Join(append(words, "*"+n.Value), " ") + "\n"
	}
	words = append(words, n.ShortTag())
	for _, s := range []struct {
		style yaml.Style
		name  string
	}{
		{yaml.TaggedStyle, "tagged"},
		{yaml.DoubleQuotedStyle, "double"},
		{yaml.SingleQuotedStyle, "single"},
		{yaml.LiteralStyle, "literal"},
		{yaml.FoldedStyle, "folded"},
		{yaml.FlowStyle, "flow"},
	} {
		if n.Style&s.style != 0 {
			words = append(words, s.name)
		}
	}
	if n.Value != "" {
		words = append(words, strings.ReplaceAll(n.Value, "\n", "¶"))
	}
	for _, comment := range []string{n.HeadComment, n.LineComment, n.FootComment} {
		if comment != "" {
			words = append(words, comment)
		}
	}
	var b strings.Builder
	b.WriteString(strings.Join(words, " ") + "\n")
	for _, inner := range n.Content {
		b.WriteString(describe(inner, indent+" "))
	}
	return b.String()
}
