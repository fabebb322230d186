package database

import (
	"reflect"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"a": `"a"`, `a"b`: `"a""b"`, "s.t": `"s"."t"`, `"s.t".u`: `"s.t"."u"`, `"a""b"`: `"a""b"`,
		"": "", ".a": "", "a.": "", `"a`: "", `"a"b`: "", "a.b.c": "",
	} {
		got, err := Double.Dotted(name, 2)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s is %s, %v", name, got, err)
		}
	}
	if got := Backtick.Name("a`b"); got != "`a``b`" {
		t.Error(got)
	}
}

func TestTexts(t *testing.T) {
	for text, want := range map[string][2]string{
		"it's":  {`'it\'s'`, `'it''s'`},
		`a\b`:   {`'a\\b'`, `E'a\\b'`},
		"a\nb":  {`'a\nb'`, `E'a\nb'`},
		"a\x00": {`'a\0'`, "'a\x00'"},
	} {
		if got := [2]string{MySQL.Text(text), Postgres.Text(text)}; got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}

func TestFill(t *testing.T) {
	for _, c := range []struct {
		query string
		list  []any
		named map[string]any
		want  string
	}{
		{"SELECT '%'", nil, nil, "SELECT '%'"},
		{"SELECT %s, %s, '%%'", []any{1, "a'b"}, nil, `SELECT 1, 'a''b', '%'`},
		{"%(a)s %(b)s %(a)s", nil, map[string]any{"a": nil, "b": true}, "NULL true NULL"},
		{"%s", []any{[]any{"x", `q"`, nil, []any{1}}}, nil, `E'{"x","q\\"",NULL,{1}}'`},
		{"%s", []any{map[string]any{"k": 1}}, nil, `'{"k":1}'`},
		{"%s", []any{1, 2}, nil, "!places for 1 of 2"},
		{"%s %s", []any{1}, nil, "!more places"},
		{"%d", []any{1}, nil, "!written %%"},
		{"%(a", nil, map[string]any{"a": 1}, "!not followed"},
		{"%(c)s", nil, map[string]any{"a": 1}, "!a place for c"},
	} {
		got, err := Postgres.Fill(c.query, c.list, c.named)
		if wrong, ok := strings.CutPrefix(c.want, "!"); ok {
			if err == nil || !strings.Contains(err.Error(), wrong) {
				t.Errorf("%s is %s, %v", c.query, got, err)
			}
		} else if got != c.want || err != nil {
			t.Errorf("%s is %s, %v", c.query, got, err)
		}
	}
	if got, err := MySQL.Fill("IN %s", []any{[]any{1, "a"}}, nil); got != "IN (1,'a')" || err != nil {
		t.Error(got, err)
	}
}

func TestOptions(t *testing.T) {
	got := Options("/root/.my.cnf", Option{"password", "a\"b\\c#d\n"})
	if want := "!include /root/.my.cnf\n[client]\npassword=\"a\\\"b\\\\c#d\\n\"\n"; got != want {
		t.Errorf("%q", got)
	}
}

func TestParseXML(t *testing.T) {
	text := "<?xml version=\"1.0\"?>\n\n<resultset statement=\"select &lt;\" xmlns:xsi=\"x\">\n  <row>\n\t<field name=\"a&amp;b\">1 &lt; 2\n</field>\n" +
		"\t<field name=\"n\" xsi:nil=\"true\" />\n\t<field name=\"e\"></field>\n  </row>\n</resultset>\n<resultset statement=\"x\" xmlns:xsi=\"x\"></resultset>\n"
	got, err := ParseXML(text)
	if err != nil || len(got) != 2 || len(got[0]) != 1 || len(got[1]) != 0 {
		t.Fatal(got, err)
	}
	row := got[0][0]
	if row.Get("a&b") != "1 < 2\n" || row.Values[1] != nil || row.Text(2) != "" || !reflect.DeepEqual(row.Names, []string{"a&b", "n", "e"}) {
		t.Errorf("%+v", row)
	}
	for _, cut := range []string{text[:100], strings.Replace(text, "</row>", "", 1), strings.Replace(text, "</field>", "", 1)} {
		if _, err := ParseXML(cut); err == nil {
			t.Errorf("no error for %s", cut)
		}
	}
}

func TestParseRows(t *testing.T) {
	rows, err := ParseRows("a\x1fb\x1e1\x1f\x01\x1ex\ny\x1f\n")
	if err != nil || len(rows) != 2 || rows[0].Get("a") != "1" || rows[0].Values[1] != nil || rows[1].Get("a") != "x\ny" || rows[1].Get("b") != "" {
		t.Errorf("%+v %v", rows, err)
	}
	if _, err := ParseRows("a\x1fb\x1e1\x1f2\x1f3\n"); err == nil {
		t.Error("a row with three values of two")
	}
	if rows, err := ParseRows("a\n"); err != nil || len(rows) != 0 {
		t.Error(rows, err)
	}
}
