package yamldoc

import (
	"fmt"
	"strings"
	"testing"

	"moon/internal/assault"
)

func TestBounds(t *testing.T) {
	bomb := "a0: &a0 [x, x]\n"
	for i := 1; i < 25; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	for name, one := range map[string]struct{ text, says string }{
		"itself":         {"a: &a {b: *a}\n", "line 1: the anchor `a` contains itself"},
		"through others": {"a: &a\n  b: &b [1, &c {d: *a}]\n", "line 2: the anchor `a` contains itself"},
		"as a key":       {"a: &a {? [*a] : 1}\n", "line 1: the anchor `a` contains itself"},
		"deep":           {strings.Repeat("[", 60) + strings.Repeat("]", 60), "line 1: nested more than 50 levels deep"},
		"deeper":         {strings.Repeat("[", 20_000), "exceeded max depth of 10000"},
		"a bomb":         {bomb, "line 1: the file has more than 100000 values, with its aliases written out"},
		"a large file":   {strings.Repeat("# x\n", 300_000), "the file is larger than 1 MiB"},
		"no YAML":        {"a: 1\nb: [\n", "line 2: did not find expected node content"},
	} {
		assault.Tried(t, "bombs", 1)
		doc, err := Parse([]byte(one.text))
		if doc != nil || err == nil || err.Error() != one.says {
			t.Errorf("%s: %v, want %s", name, err, one.says)
		}
	}
}

func TestAliases(t *testing.T) {
	doc, err := Parse([]byte("a: &a {b: 1}\nc: *a\nd: [*a, *a]\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := doc.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != "map[a:map[b:1] c:map[b:1] d:[map[b:1] map[b:1]]]" {
		t.Error(got)
	}
	if doc, err := Parse(nil); err != nil || len(doc.Content) != 0 {
		t.Error(doc, err)
	}
}
