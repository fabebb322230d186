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
		"deeper":         {strings.Repeat("[", 20_000), "line 1: exceeded max depth of 10000"},
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

// TestPlaces wants a place for each kind of mistake, also where the library has none.
func TestPlaces(t *testing.T) {
	for text, want := range map[string]Error{
		"\ttheme: x\n":                {1, 0, "found character that cannot start any token"},
		"a: b\n\ttheme: x\n":          {2, 0, "found a tab character that violates indentation"},
		"theme: a: b\n":               {1, 0, "mapping values are not allowed in this context"},
		"theme: \"x\n":                {1, 0, "found unexpected end of stream"},
		"# *sea\na: b\ntheme: *sea\n": {3, 8, "there is no anchor `sea`; text that begins with * needs quotes"},
		"a: 1\nb: [x, *none]\n":       {2, 8, "there is no anchor `none`; text that begins with * needs quotes"},
		"a: 1\nb: ä\x01\n":            {2, 5, "control characters are not allowed"},
		"a: 1\nb: \xff\n":             {2, 4, "invalid leading UTF-8 octet"},
		"a: 1\n---\nb: 2\n":           {2, 1, "the file has a second document, which would not be read"},
		"a: &a\n  b: [1, *a]\n":       {2, 10, "the anchor `a` contains itself"},
	} {
		doc, err := Parse([]byte(text))
		if doc != nil || err == nil || *err != want {
			t.Errorf("%q: %+v, want %+v", text, err, want)
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
