package playbook_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan/playbook"
)

// written is a value as JSON, which tells its types apart.
func written(v playbook.Value) any {
	switch v.Kind() {
	case playbook.Bool:
		return v.Bool()
	case playbook.Int, playbook.Float:
		return v.Number()
	case playbook.List:
		list := []any{}
		for _, item := range v.Items() {
			list = append(list, written(item))
		}
		return list
	case playbook.Map:
		m := map[string]any{}
		for _, e := range v.Entries() {
			m[e.Key] = written(e.Value)
		}
		return m
	case playbook.String:
		return v.Text()
	case playbook.Null:
	}
	return nil
}

func TestLiteral(t *testing.T) {
	f := &playbook.File{Name: "hosts", Text: []byte("x")}
	for text, want := range map[string]string{
		`5`: `5`, `-5`: `-5`, `+ 5`: `5`, `007`: `"007"`, `0x1f`: `31`, `1_000`: `1000`, `1__0`: `"1__0"`, `1.5`: `1.5`, `1e3`: `1000`, `.5`: `0.5`, `.`: `"."`,
		`True`: `true`, `true`: `"true"`, `yes`: `"yes"`, `None`: `null`, `none`: `"none"`, `Trueish`: `"Trueish"`, ``: `""`, `text`: `"text"`,
		`'a'`: `"a"`, `"a" 'b'`: `"ab"`, `'a\tb'`: `"a\tb"`, `r'\t'`: `"\\t"`, `'open`: `"'open"`, `'\x4`: `"'\\x4"`, `'\x4'`: `"'\\x4'"`, `'\q'`: `"\\q"`, `'\`: `"'\\"`,
		`[1, 'a', None]`: `[1,"a",null]`, `[1,]`: `[1]`, `[,]`: `"[,]"`, `[a]`: `"[a]"`, `[1`: `"[1"`, `(1)`: `1`, `(1,)`: `[1]`, `1, 2`: `[1,2]`, `{1, 2}`: `[1,2]`, `()`: `[]`,
		`{'a': 1, 'b': {2: []}}`: `{"a":1,"b":{"2":[]}}`, `{'a': 1, 'a': 2}`: `{"a":2}`, `{[1]: 2}`: `"{[1]: 2}"`, `{1: 2, 3}`: `"{1: 2, 3}"`,
		`{{ a }}`: `"{{ a }}"`, `5 # five`: `5`, `a # b`: `"a # b"`, `é`: `"é"`, `'é'`: `"é"`, `0o17`: `15`, `9223372036854775808`: `9223372036854776000`,
		strings.Repeat("[", 91) + strings.Repeat("]", 91): `"` + strings.Repeat("[", 91) + strings.Repeat("]", 91) + `"`,
	} {
		v := playbook.Literal(f, text, 1, nil)
		got, err := json.Marshal(written(v))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s (%v), want %s", text, got, err, want)
		}
	}
	v := playbook.Literal(f, `['é', {'k': 7}]`, 3, []int{5, 6, 7, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19})
	seven, _ := v.Items()[1].Get("k")
	if got := seven.Pos(); got != (diag.Pos{File: "hosts", Line: 3, Column: 17}) {
		t.Error(got)
	}
}

func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": [1, 2.5, "yes", true, null, "\ud83d\ude00"], "b": {}}`: `{"a":[1,2.5,"yes",true,null,"😀"],"b":{}}`,
		`{"a": 1, "a": 2}`:                `{"a":2}`,
		"\t[]\n":                          `[]`,
		`"x"`:                             `"x"`,
		`[18446744073709551615, 1E2, -1]`: `[18446744073709552000,100,-1]`,
		``:                                `1:1 not valid JSON: it ends too early`,
		"[1,\n 2":                         `2:3 not valid JSON: it ends too early`,
		"{\n  a: 1}":                      `2:3 not valid JSON: invalid character 'a'`,
		"[] []":                           `1:4 not valid JSON: invalid character '[' after top-level value`,
	} {
		var ds diag.List
		v, ok := playbook.JSON(&playbook.File{Name: "f", Text: []byte(text)}, &ds)
		if !ok {
			if len(ds) != 1 {
				t.Fatal(text, ds)
			}
			at, message, _ := strings.Cut(want, " ")
			if pos := ds[0].Pos; !strings.HasPrefix(ds[0].Message, message) || at != strings.Join([]string{itoa(pos.Line), itoa(pos.Column)}, ":") {
				t.Errorf("%s: %v, want %s", text, ds[0], want)
			}
			continue
		}
		got, err := json.Marshal(written(v))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s (%v), want %s", text, got, err, want)
		}
	}
}

func itoa(n int) string { return string(rune('0' + n)) }

func FuzzLiteral(f *testing.F) {
	for _, text := range []string{`[1, 'a', (2, {"k": None})]`, `-0x1_F`, `r'\n' "\u00e9"`, `1.5e-3 # c`, `{1, 2`, `'''a'b'''`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := playbook.Literal(&playbook.File{Name: "f"}, text, 1, nil)
		if v.Kind() == playbook.String && v.Text() == text {
			return
		}
		if _, err := json.Marshal(written(v)); err != nil && !strings.Contains(err.Error(), "Inf") {
			t.Fatal(err)
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"a": [1, 2.5, "x"]}`, `[[], {}, null]`, "{\"a\":\n 1e999}", `{"a":`, `[1 2]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var ds diag.List
		v, ok := playbook.JSON(&playbook.File{Name: "f", Text: []byte(text)}, &ds)
		if ok != json.Valid([]byte(text)) {
			t.Fatalf("%q: read %v, and it is the other way round (%v)", text, ok, ds)
		}
		if ok {
			if text != "" && v.Pos().Line < 1 {
				t.Fatal(v.Pos())
			}
			written(v)
			return
		}
		lines := strings.Split(text, "\n")
		if pos := ds[0].Pos; pos.Line < 1 || pos.Line > len(lines) || pos.Column > utf8.RuneCountInString(lines[pos.Line-1])+1 {
			t.Fatalf("a place outside of the text: %v", pos)
		}
	})
}
