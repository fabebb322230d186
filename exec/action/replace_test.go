package action_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"moon/events"
	"moon/exec/exectest"
)

func TestReplace(t *testing.T) {
	const one, two = "1 replacements made", "2 replacements made"
	const conf = "a {\n x 1;\n}\nb {\n x 1;\n}\nc {\n x 1;\n}\n"
	testEdits(t, "replace", []edited{
		{"all", "a b a\nab\n", exectest.Args{"regexp": `\ba\b`, "replace": "c"}, "c b c\nab\n", two},
		{"none", "a\n", exectest.Args{"regexp": "b", "replace": "c"}, "a\n", ""},
		{"by the same", "a\n", exectest.Args{"regexp": "a", "replace": "a"}, "a\n", ""},
		{"by nothing", "a b a\n", exectest.Args{"regexp": "a"}, " b \n", two},
		{"lines", "a\nb\na\n", exectest.Args{"regexp": "^a$", "replace": "c"}, "c\nb\nc\n", two},
		{"over lines", "a\n\n\n\nb\n", exectest.Args{"regexp": `\n{2,}`, "replace": `\n`}, "a\nb\n", one},
		{"a dot is no newline", "a\nb\n", exectest.Args{"regexp": "a.b", "replace": "c"}, "a\nb\n", ""},
		{"a dot, if asked", "a\nb\n", exectest.Args{"regexp": "(?s)a.b", "replace": "c"}, "c\n", one},
		{"the end of the text", "a\na", exectest.Args{"regexp": `a\Z`, "replace": "b"}, "a\nb", one},
		{"groups", "x=1\ny=2\n", exectest.Args{"regexp": `^(\w)=(?P<n>\d)$`, "replace": `\g<n>=\1`}, "1=x\n2=y\n", two},
		{"comment in", "#a\n#b\n", exectest.Args{"regexp": "^#(a)", "replace": `\1`}, "a\n#b\n", one},
		{"dollars", "a\n", exectest.Args{"regexp": "(a)", "replace": `$1`}, "$1\n", one},

		{"after", conf, exectest.Args{"after": `b \{`, "regexp": "x 1", "replace": "y"}, "a {\n x 1;\n}\nb {\n y;\n}\nc {\n y;\n}\n", two},
		{"before", conf, exectest.Args{"before": `c \{`, "regexp": "x 1", "replace": "y"}, "a {\n y;\n}\nb {\n y;\n}\nc {\n x 1;\n}\n", two},
		{"before the last", "a b a b a", exectest.Args{"before": "b", "regexp": "a", "replace": "c"}, "c b c b a", two},
		{"between", conf, exectest.Args{"after": `b \{`, "before": `\}`, "regexp": "x 1", "replace": "y"}, "a {\n x 1;\n}\nb {\n y;\n}\nc {\n x 1;\n}\n", one},
		{"groups before the section", "a=x\nb\n", exectest.Args{"after": "(a)=(x)", "regexp": "^(b)$", "replace": `\1\1`}, "a=x\nbb\n", one},

		{"CRLF", "a\r\nb\r\n", exectest.Args{"regexp": "a$", "replace": "c"}, "c\r\nb\r\n", one},
		{"CRLF, lines put in", "a\r\nb\r\n", exectest.Args{"regexp": "^a$", "replace": `c\nd`}, "c\r\nd\r\nb\r\n", one},
		{"CRLF to LF", "a\r\nb\r\n", exectest.Args{"regexp": `\r$`}, "a\nb\n", two},
		{"mixed ends", "a\r\nb\na", exectest.Args{"regexp": "^b$", "replace": "c"}, "a\r\nc\na", one},
		{"no newline at the end", "a\na", exectest.Args{"regexp": "^a$", "replace": "b"}, "b\nb", two},
	})
}

func TestReplaceOutside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	exectest.WriteFile(t, path, "a\n", 0o644)
	r := settle(t, dir, "replace", exectest.Args{"path": path, "after": "b", "regexp": "a", "replace": "c"}, nil)
	if msg := fmt.Sprint(r.Fields["msg"]); r.Outcome != events.OK || !strings.Contains(msg, "did not match") {
		t.Errorf("%v, %s", r.Outcome, msg)
	}
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "replace", exectest.Args{"path": path + "x", "regexp": "a"})), events.Failed, "fx does not exist")
	if r := exectest.RunJob(t, exectest.NewJob(t, "replace", exectest.Args{"path": path + "x", "regexp": "a"})); strings.Contains(r.Error, "create") {
		t.Errorf("%s, which it cannot", r.Error)
	}
}

// TestReplaceProperties: what is replaced by what does not match is replaced for good, and the way back gives the file as
// it was, byte for byte.
func TestReplaceProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := texts().Draw(rt, "text")
		in := exectest.Args{"regexp": rapid.SampledFrom([]string{"a", "^a", "a$", `\ba\b`}).Draw(rt, "regexp"), "replace": "Z"}
		once, _ := edits(t, rt, "replace", text, in)
		if twice, again := edits(t, rt, "replace", once, in); again || twice != once {
			rt.Fatalf("%q once gives %q, twice %q", text, once, twice)
		}
		if back, _ := edits(t, rt, "replace", once, exectest.Args{"regexp": "Z", "replace": "a"}); back != text {
			rt.Fatalf("%q with the replacement is %q, and back %q", text, once, back)
		}
	})
}
