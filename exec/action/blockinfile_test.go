package action_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"moon/events"
	"moon/exec/exectest"
)

func TestBlockinfile(t *testing.T) {
	const b, e = "# BEGIN ANSIBLE MANAGED BLOCK\n", "# END ANSIBLE MANAGED BLOCK\n"
	const in, out = "Block inserted", "Block removed"
	testEdits(t, "blockinfile", []edited{
		{"at the end", "a\n", exectest.Args{"block": "x\ny\n"}, "a\n" + b + "x\ny\n" + e, in},
		{"without a last newline", "a\n", exectest.Args{"block": "x\ny"}, "a\n" + b + "x\ny\n" + e, in},
		{"there already", "a\n" + b + "x\n" + e + "c\n", exectest.Args{"block": "x"}, "a\n" + b + "x\n" + e + "c\n", ""},
		{"other lines", "a\n" + b + "x\n" + e + "c\n", exectest.Args{"block": "y\nz", "insertbefore": "BOF"}, "a\n" + b + "y\nz\n" + e + "c\n", in},
		{"an empty file", "", exectest.Args{"block": "x"}, b + "x\n" + e, in},
		{"empty lines", "", exectest.Args{"block": "\nx\n\n"}, b + "\nx\n\n" + e, in},

		{"absent", "a\n" + b + "x\n" + e + "c\n", exectest.Args{"state": "absent"}, "a\nc\n", out},
		{"absent already", "a\nc\n", exectest.Args{"state": "absent", "block": "x"}, "a\nc\n", ""},
		{"nothing in it", "a\n" + b + "x\n" + e, exectest.Args{"block": ""}, "a\n", out},
		{"nothing in it, absent already", "a", exectest.Args{"append_newline": true}, "a", ""},

		{"own marker", "a\n", exectest.Args{"block": "x", "marker": "<!-- {mark} {mark} -->", "marker_begin": "on", "marker_end": "off"}, "a\n<!-- on on -->\nx\n<!-- off off -->\n", in},
		{"another's block", b + "x\n" + e, exectest.Args{"block": "y", "marker": "# {mark} mine"}, b + "x\n" + e + "# BEGIN mine\ny\n# END mine\n", in},

		{"after", "a\nb\na\nc\n", exectest.Args{"block": "x", "insertafter": "^a"}, "a\nb\na\n" + b + "x\n" + e + "c\n", in},
		{"after nothing", "a\n", exectest.Args{"block": "x", "insertafter": "^b"}, "a\n" + b + "x\n" + e, in},
		{"before", "a\nb\na\nc\n", exectest.Args{"block": "x", "insertbefore": "^a"}, "a\nb\n" + b + "x\n" + e + "a\nc\n", in},
		{"before BOF", "a\n", exectest.Args{"block": "x", "insertbefore": "BOF"}, b + "x\n" + e + "a\n", in},
		{"after several lines", "a {\n}\nb {\n}\nc\n", exectest.Args{"block": "x", "insertafter": `(?m)^b \{\n\}`}, "a {\n}\nb {\n}\n" + b + "x\n" + e + "c\n", in},
		{"before several lines", "a {\n}\nb {\n}\nc\n", exectest.Args{"block": "x", "insertbefore": `(?m)^b \{\n\}`}, "a {\n}\n" + b + "x\n" + e + "b {\n}\nc\n", in},
		{"after several lines that are not there", "a\n", exectest.Args{"block": "x", "insertafter": `(?m)^b \{\n\}`}, "a\n" + b + "x\n" + e, in},

		{"empty lines around", "a\nc\n", exectest.Args{"block": "x", "insertafter": "^a", "prepend_newline": true, "append_newline": true}, "a\n\n" + b + "x\n" + e + "\nc\n", in},
		{"empty lines around, there", "a\n\n" + b + "x\n" + e + "\nc\n", exectest.Args{"block": "x", "prepend_newline": true, "append_newline": true}, "a\n\n" + b + "x\n" + e + "\nc\n", ""},
		{"empty lines at the ends", "", exectest.Args{"block": "x", "prepend_newline": true, "append_newline": true}, b + "x\n" + e, in},

		{"the last of two", b + "x\n" + e + b + "y\n" + e, exectest.Args{"block": "z"}, b + "x\n" + e + b + "z\n" + e, in},
		{"no end", b + "x\nmine\n", exectest.Args{"block": "z"}, b + "x\nmine\n" + b + "z\n" + e, in},
		{"no beginning", "mine\n" + e + "a\n", exectest.Args{"block": "z", "insertbefore": "BOF"}, b + "z\n" + e + "mine\n" + e + "a\n", in},
		{"the wrong way round", e + "mine\n" + b, exectest.Args{"block": "z"}, e + "mine\n" + b + b + "z\n" + e, in},
		{"a second beginning", b + "mine\n" + b + "y\n" + e, exectest.Args{"state": "absent"}, b + "mine\n", out},

		{"CRLF", "a\r\n", exectest.Args{"block": "x\ny"}, "a\r\n# BEGIN ANSIBLE MANAGED BLOCK\r\nx\r\ny\r\n# END ANSIBLE MANAGED BLOCK\r\n", in},
		{"CRLF, there", "a\r\n# BEGIN ANSIBLE MANAGED BLOCK\r\nx\r\n# END ANSIBLE MANAGED BLOCK\r\n", exectest.Args{"block": "x"}, "a\r\n# BEGIN ANSIBLE MANAGED BLOCK\r\nx\r\n# END ANSIBLE MANAGED BLOCK\r\n", ""},
		{"mixed ends, there", "a\r\n" + b + "x\n" + e, exectest.Args{"block": "x"}, "a\r\n" + b + "x\n" + e, ""},
		{"no newline at the end", "a", exectest.Args{"block": "x"}, "a\n" + b + "x\n# END ANSIBLE MANAGED BLOCK", in},
		{"no newline at the end, absent", "a\n" + b + "x\n# END ANSIBLE MANAGED BLOCK", exectest.Args{"state": "absent"}, "a", out},
	})
}

// TestBlockinfileProperties: to have the block twice changes nothing more, and to have it away gives the file as it was,
// byte for byte.
func TestBlockinfileProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := texts().Draw(rt, "text")
		in := exectest.Args{"block": rapid.SampledFrom([]string{"a", "b\n\na\n", "\n", "é"}).Draw(rt, "block")}
		if place := rapid.SampledFrom([]string{"", "insertafter", "insertbefore"}).Draw(rt, "place"); place != "" {
			in[place] = rapid.SampledFrom([]string{"^a", "b$", "BOF", "EOF", "(?m)^a\\s+b"}).Draw(rt, "at")
		}
		once, _ := edits(t, rt, "blockinfile", text, in)
		if twice, again := edits(t, rt, "blockinfile", once, in); again || twice != once {
			rt.Fatalf("%q once gives %q, twice %q", text, once, twice)
		}
		in["state"] = "absent"
		if gone, _ := edits(t, rt, "blockinfile", once, in); gone != text {
			rt.Fatalf("%q with the block is %q, and without it again %q", text, once, gone)
		}
	})
}

// TestAbsentNeedsNoDirectory takes a block and a line out of a file that is not there, in a directory that is not there either.
func TestAbsentNeedsNoDirectory(t *testing.T) {
	for action, in := range map[string]exectest.Args{
		"blockinfile": {"block": "x"},
		"lineinfile":  {"line": "x"},
	} {
		t.Run(action, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "none")
			in["path"], in["state"], in["create"] = filepath.Join(dir, "f"), "absent", true
			r := exectest.RunJob(t, exectest.NewJob(t, action, in))
			if _, err := os.Lstat(dir); r.Outcome != events.OK || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it ended as %s (%s), and the directory: %v", r.Outcome, r.Error, err)
			}
		})
	}
}
