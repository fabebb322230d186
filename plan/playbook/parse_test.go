package playbook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"moon/internal/assault"
	"moon/internal/diag"
	"moon/plan/playbook"
)

var actions = playbook.Actions{
	Canonical: func(name string) (string, bool) {
		name = strings.TrimPrefix(name, "ansible.builtin.")
		if name == "debug" {
			return "print", true
		}
		return name, slices.Contains([]string{"shell", "command", "print", "copy", "file", "set_fact"}, name)
	},
	Names: []string{"shell", "command", "print", "debug", "copy", "file", "set_fact"},
}

func parse(name string, text []byte) (*playbook.Playbook, diag.List) {
	var ds diag.List
	f := &playbook.File{Name: name, Text: text}
	pb := playbook.Parse(f, actions, &ds)
	ds.Sort()
	ds.Locate(func(string) []string { return f.Lines() })
	return pb, ds
}

// eachFixture compares what is told of each playbook in a directory of testdata, its diagnostics first, with the .out file beside it.
func eachFixture(t *testing.T, dir string, tell func(*testing.T, *strings.Builder, *playbook.Playbook, []byte, diag.List)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pb, ds := parse(filepath.Base(file), text)
			var got strings.Builder
			if err := ds.Print(&got); err != nil {
				t.Fatal(err)
			}
			tell(t, &got, pb, text, ds)
			compare(t, strings.TrimSuffix(file, ".yml")+".out", got.String())
		})
	}
}

// TestMistakes compares the diagnostics of testdata/err/*.yml with the .out file beside each.
func TestMistakes(t *testing.T) {
	eachFixture(t, "err", func(t *testing.T, _ *strings.Builder, _ *playbook.Playbook, text []byte, ds diag.List) {
		t.Helper()
		if len(ds) == 0 {
			t.Error("a fixture of a mistake has none")
		}
		within(t, text, ds)
	})
}

// TestTree compares the tree of testdata/ok/*.yml with the .out file beside each.
func TestTree(t *testing.T) {
	eachFixture(t, "ok", func(_ *testing.T, got *strings.Builder, pb *playbook.Playbook, _ []byte, _ diag.List) {
		dump(got, pb.Tasks, "")
	})
}

func dump(b *strings.Builder, tasks []*playbook.Task, indent string) {
	for _, t := range tasks {
		fmt.Fprintf(b, "%s%d:%d %s", indent, t.Pos.Line, t.Pos.Column, t.ActionKey)
		if t.Action != "" && t.Action != t.ActionKey {
			fmt.Fprintf(b, " (%s)", t.Action)
		}
		if v := t.Args; v.Kind() != playbook.Map {
			fmt.Fprintf(b, " %q", v.Text())
		}
		for _, e := range t.Args.Entries() {
			fmt.Fprintf(b, " %s@%d:%d=%s:%q", e.Key, e.Value.Pos().Line, e.Value.Pos().Column, e.Value.Kind(), e.Value.Text())
		}
		if t.Loop.Kind != playbook.NoLoop {
			fmt.Fprintf(b, " loop %s over %s as %s,%s", t.Loop.Key, t.Loop.Over.Kind(), t.Loop.Var, t.Loop.Index)
		}
		for _, w := range t.When {
			fmt.Fprintf(b, " when %q", w.Text())
		}
		for _, n := range t.Needs {
			fmt.Fprintf(b, " needs %s:%s", n.ID, n.On)
		}
		b.WriteByte('\n')
		dump(b, t.Body, indent+"  ")
		dump(b, t.Rescue, indent+"  rescue ")
		dump(b, t.Always, indent+"  always ")
	}
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs\n--- got\n%s\n--- want\n%s", file, got, want)
	}
}

// within checks that every diagnostic lies inside the file.
func within(t *testing.T, text []byte, ds diag.List) {
	t.Helper()
	lines := (&playbook.File{Text: text}).Lines()
	for _, d := range ds {
		if d.Pos.Line < 0 || d.Pos.Line > len(lines) {
			t.Errorf("%q is at line %d of %d", d.Message, d.Pos.Line, len(lines))
			continue
		}
		if d.Pos.Line > 0 {
			if n := len([]rune(lines[d.Pos.Line-1])); d.Pos.Column < 1 || d.Pos.Column > n+1 {
				t.Errorf("%q is at column %d of line %d, which has %d characters", d.Message, d.Pos.Column, d.Pos.Line, n)
			}
		}
	}
}

// TestPosAt checks that a place inside a scalar is found in every style it can be written in.
func TestPosAt(t *testing.T) {
	for _, c := range []struct{ name, text, find, want string }{
		{"plain", "- shell: echo {{ x }}", "{{", "1:15"},
		{"single quotes", `- shell: 'it''s {{ x }}'`, "{{", "1:17"},
		{"double quotes", `- shell: "a\tb\"c {{ x }}"`, "{{", "1:19"},
		{"unicode", `- shell: "Grüße \u00e9 {{ x }}"`, "{{", "1:24"},
		{"literal", "- shell: |\n    one\n      two {{ x }}\n", "{{", "3:11"},
		{"literal, blank line first", "- shell: |\n\n    one {{ x }}\n", "{{", "3:9"},
		{"literal, indented first line", "- shell: |2\n     one\n    two {{ x }}\n", "{{", "3:9"},
		{"folded", "- shell: >-\n    one\n    two {{ x }}\n", "{{", "3:9"},
		{"plain over two lines", "- shell: one\n    two {{ x }}\n", "{{", "2:9"},
		{"anchor", "- shell: &a echo {{ x }}\n", "{{", "1:18"},
		{"tag", "- shell: !!str echo {{ x }}\n", "{{", "1:21"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pb, ds := parse("p.yml", []byte(c.text))
			if len(ds) > 0 {
				t.Fatal(ds)
			}
			v := pb.Tasks[0].Args
			pos := v.PosAt(strings.Index(v.Text(), c.find))
			if got := fmt.Sprintf("%d:%d", pos.Line, pos.Column); got != c.want {
				t.Errorf("%q in %q is at %s, want %s", c.find, c.text, got, c.want)
			}
		})
	}
}

// bombs are texts that cost far more than they seem to, in every way that YAML has.
func bombs() map[string]string {
	var aliases, merges, deep strings.Builder
	aliases.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	merges.WriteString("a0: &a0 {k: v}\n")
	for i := 1; i < 16; i++ {
		fmt.Fprintf(&aliases, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
		fmt.Fprintf(&merges, "a%d: &a%d {<<: [*a%d, *a%d], a: *a%d, b: *a%d}\n", i, i, i-1, i-1, i-1, i-1)
	}
	for i := range 3000 {
		deep.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	var anchors, chain strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&anchors, "- &a%d x\n", i)
	}
	chain.WriteString("x-a0: &a0 {k0: 1}\n")
	for i := 1; i < 3000; i++ {
		fmt.Fprintf(&chain, "x-a%d: &a%d {<<: *a%d, k%d: 1}\n", i, i, i-1, i)
	}
	wide := "x: &a {" + strings.Repeat("k: 1,", 20_000) + "}\nvars:\n  <<: [" + strings.Repeat("*a,", 2_000) + "]\nsteps: []\n"
	large := func(unit string) string { return strings.Repeat(unit, playbook.MaxFileSize/len(unit)) }
	var keys strings.Builder
	for i := 0; keys.Len() < playbook.MaxFileSize-20; i++ {
		fmt.Fprintf(&keys, "%x:\n", i)
	}
	return map[string]string{
		"aliases":            aliases.String(),
		"merges":             merges.String(),
		"aliases in a list":  "a: &a [" + strings.Repeat("x,", 10_000) + "]\nb: [" + strings.Repeat("*a,", 10_000) + "]",
		"brackets":           strings.Repeat("[", 20_000),
		"braces":             strings.Repeat("{a: ", 20_000),
		"closed brackets":    strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000),
		"closed braces":      strings.Repeat("{a: ", 5_000) + strings.Repeat("}", 5_000),
		"dashes":             strings.Repeat("- ", 9_000) + "x",
		"questions":          strings.Repeat("? ", 9_000) + "x",
		"indentation":        deep.String(),
		"contains itself":    "a: &a [*a]",
		"merged in a chain":  chain.String(),
		"merged many times":  wide,
		"tags":               strings.Repeat("- !a x\n", 200_000),
		"long tags":          strings.Repeat("- !<tag:x> x\n", 200_000),
		"tags in a row":      strings.Repeat("!a ", 200_000) + "x",
		"nested tags":        strings.Repeat("!a [", 200_000),
		"the same anchor":    strings.Repeat("- &a x\n", 200_000),
		"many anchors":       anchors.String(),
		"a huge key":         strings.Repeat("k", 10<<20) + ": x\n",
		"a huge marked key":  "? " + strings.Repeat("k", 10<<20) + "\n: x\n",
		"a huge text":        "- print: \"" + strings.Repeat("x", 15<<20) + "\"\n",
		"a huge number":      "- " + strings.Repeat("9", 15<<20),
		"a text of 100 MB":   "- print: " + strings.Repeat("x", 100<<20),
		"misspelt steps":     strings.Repeat("- prnt: x\n", 30_000),
		"unknown long keys":  strings.Repeat("- "+strings.Repeat("k", 1000)+": x\n", 3_000),
		"merges itself":      "a: &a {<<: *a}",
		"large":              strings.Repeat("x", playbook.MaxFileSize+1),
		"large by blanks":    strings.Repeat(" ", playbook.MaxFileSize+1),
		"many keys":          keys.String(),
		"the same key":       large("k: 1\n"),
		"many steps":         large("- a: b\n"),
		"empty items":        large("- \n"),
		"long flow sequence": "[" + large("x,") + "]",
		"long flow map":      "{" + large("x: y,") + "}",
		"pairs in a flow":    "[" + large("a: b,") + "]",
		"JSON":               "[" + large(`{"a":1},`) + "]",
		"empty lines":        large("\n"),
		"comments":           large("#\n"),
		"documents":          large("---\n"),
		"carriage returns":   large("- a\r"),
		"not UTF-8":          strings.Repeat("x", playbook.MaxFileSize-1) + "\xff",
	}
}

// TestBombs checks that a file that expands, nests or repeats without measure is refused, with 64 MB. BenchmarkBombs
// measures the time.
func TestBombs(t *testing.T) {
	for name, text := range bombs() {
		t.Run(name, func(t *testing.T) {
			assault.Tried(t, "bombs", 1)
			raw := []byte(text)
			least := uint64(1 << 62)
			for range 3 { // tests beside this one are counted too
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, ds := parse("bomb.yml", raw)
				runtime.ReadMemStats(&after)
				if !ds.HasErrors() {
					t.Fatal("it was read without a word")
				}
				if least = min(least, after.TotalAlloc-before.TotalAlloc); least <= 64<<20 {
					break
				}
			}
			if least > 64<<20 && !raced {
				t.Fatalf("it took %d MB", least>>20)
			}
		})
	}
}

func BenchmarkBombs(b *testing.B) {
	for name, text := range bombs() {
		b.Run(name, func(b *testing.B) {
			raw := []byte(text)
			for b.Loop() {
				parse("bomb.yml", raw)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/err/*.yml", "testdata/ok/*.yml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	layouts, err := txtar.ParseFile("testdata/layout.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range layouts.Files {
		if filepath.Ext(file.Name) == ".yml" {
			f.Add(file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		pb, ds := parse("p.yml", text)
		within(t, []byte(strings.TrimPrefix(string(text), "\ufeff")), ds)
		for _, task := range pb.Tasks {
			for _, e := range task.Keys {
				e.Value.PosAt(len(e.Value.Text()) / 2)
			}
		}
	})
}
