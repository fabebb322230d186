package node_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"moon/plan/playbook/node"
)

// describe is a node in words: everything of it.
func describe(n *node.Node, tags map[*node.Node]string, b *strings.Builder, depth int) {
	fmt.Fprintf(b, "%s%d:%d kind %d tag %d%s mark %x %q\n", strings.Repeat(" ", depth), n.Line(), n.Column(), n.Kind, n.Tag, tags[n], n.Mark, n.Value)
	for _, inner := range n.Content {
		describe(inner, tags, b, depth+1)
	}
}

func asWhole(text string) string {
	var doc, second yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&doc); err != nil {
		return err.Error()
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return "second"
	case !errors.Is(err, io.EOF):
		return err.Error()
	}
	r := node.Reader{}
	root := r.Read(doc.Content[0])
	var b strings.Builder
	describe(root, r.Tags, &b, 0)
	return b.String()
}

// filler makes a text long enough to be divided, several times.
var filler = strings.Repeat("# so that the text is long enough to be read in pieces "+strings.Repeat("x", 1<<10)+"\n", 130)

// TestPiecesAreTheWhole reads long texts: in pieces they must give what they give as a whole, or be read as a whole.
func TestPiecesAreTheWhole(t *testing.T) {
	items := func(indent string, n int, format string) string {
		var b strings.Builder
		for i := range n {
			for line := range strings.Lines(strings.ReplaceAll(fmt.Sprintf(format, i), "\n", "\n"+indent)) {
				if b.Len() == 0 || strings.HasSuffix(b.String()[max(b.Len()-1, 0):], "\n") && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, indent) {
					b.WriteString(indent)
				}
				b.WriteString(line)
			}
			b.WriteString("\n")
		}
		return b.String()
	}
	long := strings.Repeat("a long text ", 20)
	plain := "- name: step %d\n  shell: echo " + long
	for name, text := range map[string]string{
		"a list":             items("", 2000, plain),
		"below a key":        "vars: {a: 1}\nsteps:\n" + items("  ", 2000, plain),
		"at the key":         "vars:\n- a\n- b\nsteps:\n" + items("", 2000, plain),
		"two lists":          "steps:\n" + items("  ", 2000, plain) + "handlers:\n" + items("  ", 2000, plain),
		"a list in front":    "vars:\n  deep:\n    - a\n    - b\nsteps:\n" + items("  ", 2000, plain),
		"all indented":       items("    ", 2000, plain),
		"comments":           "steps:\n" + items("  ", 100, plain+"\n"+strings.Repeat("# x\n", 40)) + filler + items("  ", 2000, plain) + filler,
		"windows":            strings.ReplaceAll("steps:\n"+items("  ", 2000, plain), "\n", "\r\n"),
		"old ends of lines":  strings.ReplaceAll("steps:\n"+items("  ", 2000, plain), "\n", "\r"),
		"blocks of text":     items("", 2000, "- shell: |\n    - x\n    - y "+long+"\n  name: n%d"),
		"quotes over lines":  items("", 1000, "- shell: \"a\n- b "+long+"\n\n  c %d\""),
		"aliases":            "- &x {a: 1}\n" + items("", 2000, "- {n: %d, a: *x, t: '"+long+"'}"),
		"anchors in pieces":  items("", 2000, "- {n: &x %d, a: *x, t: '"+long+"'}"),
		"types":              items("", 2000, "- !own {n: %d, t: !!str 5, u: '"+long+"'}"),
		"flow":               "steps: [" + strings.Repeat("{a: "+long+"},\n", 2000) + "]\n",
		"flow below a key":   "steps:\n  [\n" + strings.Repeat("{a: "+long+"},\n", 2000) + "]\n",
		"a map at the end":   "steps:\n" + items("  ", 2000, plain) + "vars: {a: 1}\n",
		"a second document":  items("", 2000, plain) + "---\n" + items("", 2000, plain),
		"a mark in front":    "%YAML 1.1\n---\n" + items("", 2000, plain),
		"a mark at the end":  items("", 2000, plain) + "...\n",
		"a mistake":          items("", 2000, plain) + "- a: b: c\n" + items("", 2000, plain),
		"wrongly indented":   "steps:\n" + items("  ", 2000, plain) + "   - a: 1\n" + items("  ", 2000, plain),
		"items of two":       "steps:\n" + items("  ", 2000, plain) + " - a: 1\n" + items(" ", 2000, plain),
		"other separators":   items("", 2000, "- name: a\u2028b %d "+long),
		"nothing in an item": items("", 2000, plain) + "-\n" + items("", 2000, plain) + "-\n",
	} {
		doc, err := node.Parse([]byte(text))
		got := ""
		second := &node.Second{}
		switch {
		case errors.As(err, &second):
			got = "second"
		case err != nil:
			got = err.Error()
		default:
			var b strings.Builder
			describe(doc.Root, doc.Tags, &b, 0)
			got = b.String()
		}
		if want := asWhole(text); got != want {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Errorf("%s (%d KB): from byte %d on\ngot  %.300q\nwant %.300q", name, len(text)>>10, at, got[max(at-80, 0):], want[max(at-80, 0):])
		}
	}
}

// TestPiecesOfAnything puts lines together by chance.
func TestPiecesOfAnything(t *testing.T) {
	parts := []string{
		"- a: b\n", "  c: d\n", "- 'x\n", "  y'\n", "- \"q\n", "z\"\n", "- |\n", "    text\n", "- >\n", "\n", "# c\n", "- [a,\n", "  b]\n",
		"steps:\n", "  - a\n", "  - b: {c: d}\n", "k: v\n", "-\n", "---\n", "- &a b\n", "- *a\n", "- ? x\n", "  : y\n", "- - a\n", "  - b\n",
	}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for _, part := range rapid.SliceOfN(rapid.SampledFrom(parts), 1, 12).Draw(t, "parts") {
			b.WriteString(part)
			if rapid.Bool().Draw(t, "long") {
				b.WriteString(filler)
			}
		}
		text := b.String() + strings.Repeat(filler, rapid.IntRange(0, 2).Draw(t, "end"))
		got := ""
		switch doc, err := node.Parse([]byte(text)); {
		case err != nil && strings.HasSuffix(err.Error(), "a second document"):
			got = "second"
		case err != nil:
			got = err.Error()
		default:
			var b strings.Builder
			describe(doc.Root, doc.Tags, &b, 0)
			got = b.String()
		}
		if want := asWhole(text); got != want {
			t.Fatalf("%q\ngot  %q\nwant %q", strings.ReplaceAll(text, filler, "…"), got, want)
		}
	})
}

func TestKeysOfLargeMaps(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "k%d: %d\n", i, i)
	}
	b.WriteString("k7: again\nk50: again\n<<: {k3: 1}\n? [a]\n: b\nnew: 1\n")
	doc, err := node.Parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	keys := node.NewKeys(doc.Root)
	found := map[string]int{}
	for i := 0; i < len(doc.Root.Content); i += 2 {
		if at, ok := keys.Find(doc.Root.Content[i].Value, i); ok {
			found[doc.Root.Content[i].Value] = at
		}
	}
	if fmt.Sprint(found) != "map[k50:100 k7:14]" {
		t.Error(found)
	}
}
