package playbook_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// TestCharacters tries every character of the first plane: those that yaml.v3 refuses without saying where are refused
// with their place, and no others.
func TestCharacters(t *testing.T) {
	for r := range rune(0x10000) {
		if !utf8.ValidRune(r) || testing.Short() && r > 0x3000 && r < 0xd000 && r%64 != 0 { // letters, which differ in nothing
			continue
		}
		text := "- print: one\n- print: \"ab" + string(r) + "\"\n"
		var doc yaml.Node
		err := yaml.Unmarshal([]byte(text), &doc)
		want := ""
		if err != nil && strings.Contains(err.Error(), "control characters") {
			want = fmt.Sprintf("2:13: the character %U is not allowed in YAML", r)
		}
		_, ds := parse("p.yml", []byte(text))
		got := ""
		for _, d := range ds {
			if strings.Contains(d.Message, "is not allowed in YAML") {
				got = fmt.Sprintf("%d:%d: %s", d.Pos.Line, d.Pos.Column, d.Message)
			}
		}
		if got != want {
			t.Fatalf("%U: %q, want %q (%v)", r, got, want, err)
		}
	}
}
