package spec_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"moon/exec/spec"
)

const certSchema = `{"type": "object", "required": ["domain"], "properties": {
 "domain": {"type": "string", "description": "The name."},
 "days": {"type": "integer", "minimum": 1, "maximum": 400, "default": 90},
 "key": {"enum": ["rsa", "ec"]},
 "wild": {"type": "boolean"},
 "names": {"type": "array", "items": {"type": "string"}},
 "dest": {"type": "string", "format": "path"},
 "mail": {"type": "string", "pattern": "@"},
 "options": {"type": "object", "additionalProperties": false, "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {}}},
 "any": {}}}`

func declare(t *testing.T, schema string) *spec.Action {
	t.Helper()
	p := &spec.Plugin{Action: "acme.cert", Name: "acme", Path: "/p/acme", Digest: "d", Speaks: spec.SpeaksOnce, Schema: json.RawMessage(schema)}
	a, err := p.Declare()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestPluginFields(t *testing.T) {
	a := declare(t, certSchema)
	kinds := map[string]spec.Kind{
		"domain": spec.String, "days": spec.Int, "key": spec.String, "wild": spec.Bool, "names": spec.Strings, "dest": spec.Path,
		"options": spec.Object, "any": spec.Any,
	}
	for name, want := range kinds {
		if f, ok := a.Field(name); !ok || f.Kind != want {
			t.Errorf("%s is %v", name, f)
		}
	}
	if f := a.Fields()[0]; f.Name != "domain" || !f.Required {
		t.Errorf("the first field is %s", f.Name)
	}
	if a.Open {
		t.Error("a schema with properties takes any argument")
	}
	for _, open := range []string{"", "null", "{}", `{"properties": {}, "additionalProperties": true}`, `{"properties": {}, "patternProperties": {"^x": {}}}`} {
		if !declare(t, open).Open {
			t.Errorf("%q takes no other argument", open)
		}
	}
}

func TestPluginArguments(t *testing.T) {
	a := declare(t, certSchema)
	for _, c := range []struct{ args, want string }{
		{`{"domain": "x"}`, `{"domain":"x"}`},
		{`{"domain": 7, "days": "30", "wild": "yes", "names": "x", "any": {"a": [1]}}`, `{"any":{"a":[1]},"days":30,"domain":"7","names":["x"],"wild":true}`},
		{`{"domain": "x", "days": null}`, `{"domain":"x"}`},
		{`{"domain": "x", "options": {"a": "1", "b": 2}}`, `{"domain":"x","options":{"a":1,"b":2}}`},
		{`{}`, "domain: `acme.cert` needs `domain`"},
		{`{"domain": null}`, "domain: `domain` must be text, found nothing"},
		{`{"domain": ["x"]}`, "domain: `domain` must be text, found a list"},
		{`{"domain": "x", "domian": 1}`, "domian: `acme.cert` has no field `domian`; did you mean `domain`?"},
		{`{"domain": "x", "days": "soon"}`, "days: `days` must be a whole number, found \"soon\""},
		{`{"domain": "x", "days": 0}`, "days: `days` must be at least 1, found 0"},
		{`{"domain": "x", "days": 500}`, "days: `days` must be at most 400, found 500"},
		{`{"domain": "x", "key": "rsb"}`, "key: `key` must be one of rsa, ec, found \"rsb\"; did you mean `rsa`?"},
		{`{"domain": "x", "mail": "nobody"}`, "mail: `mail` must match `@`, found \"nobody\""},
		{`{"domain": "x", "names": ["x", {}]}`, "names.1: `names.1` must be text, found a map"},
		{`{"domain": "x", "options": {}}`, "options.a: `acme.cert` needs `options.a`"},
		{`{"domain": "x", "options": {"a": 1, "c": 1}}`, "options.c: `acme.cert` has no field `options.c`"},
	} {
		var args map[string]any
		if err := json.Unmarshal([]byte(c.args), &args); err != nil {
			t.Fatal(err)
		}
		typed, problems := a.Decode(args)
		got := ""
		if len(problems) > 0 {
			var lines []string
			for _, p := range problems {
				lines = append(lines, p.Field+": "+p.String())
			}
			got = strings.Join(lines, "\n")
		} else {
			text, err := json.Marshal(typed.(*spec.PluginArgs).Values)
			if err != nil {
				t.Fatal(err)
			}
			got = string(text)
		}
		if got != c.want {
			t.Errorf("%s gives\n%s\nand not\n%s", c.args, got, c.want)
		}
	}
}

// TestPluginsSurviveBeingKept: what is read back declares the same action.
func TestPluginsSurviveBeingKept(t *testing.T) {
	a := declare(t, certSchema)
	text, err := json.Marshal(a.Plugin)
	if err != nil {
		t.Fatal(err)
	}
	var again spec.Plugin
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	b, err := again.Declare()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a.Fields(), b.Fields()) {
		t.Errorf("%v\n%v", a.Fields(), b.Fields())
	}
	second, err := json.Marshal(b.Plugin)
	if err != nil || string(second) != string(text) {
		t.Errorf("%s\n%s, %v", text, second, err)
	}
}

// FuzzPluginSchema: no schema breaks moon, whatever a plugin says.
func FuzzPluginSchema(f *testing.F) {
	f.Add(certSchema, `{"domain": "x"}`)
	f.Add(`{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}`, `{"c": [null, 1.5]}`)
	f.Add(`{"properties": {"a": false, "b": 1, "c": {"items": [], "type": "array"}}}`, `{"a": 1}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		p := &spec.Plugin{Action: "a", Speaks: spec.SpeaksOnce, Schema: json.RawMessage(schema)}
		a, err := p.Declare()
		if err != nil {
			return
		}
		var values map[string]any
		if json.Unmarshal([]byte(args), &values) != nil {
			return
		}
		_, problems := a.Decode(values)
		for _, problem := range problems {
			if problem.Message == "" {
				t.Errorf("%q and %q: a problem without words", schema, args)
			}
		}
	})
}

// TestUnsoundSchemas: whoever judges by them would never come back, or would let everything pass.
func TestUnsoundSchemas(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{"$ref": "#"}`, "leads back to itself"},
		{`{"properties": {"x": {"$REF": "#"}}}`, "`$REF` is written `$ref`"},
		{`{"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}, "properties": {"x": {"$ref": "#/$defs/a"}}}`, "leads back to itself"},
		{`{"properties": {"x": {"type": "nonsense"}}}`, `there is no type "nonsense"`},
		{`{"properties": {"x": {"$ref": "file:///etc/passwd"}}}`, "a schema must be whole"},
		{`{"properties": {"x": {"$ref": "#/$defs/none/deeper"}}}`, "which is not there"},
		{`{"properties": {"x": {"$id": "http://x/y", "$ref": "#"}}}`, "has an $id inside"},
		{`{"properties": {"x": {"pattern": "("}}}`, "cannot be used"},
	} {
		p := &spec.Plugin{Action: "a", Speaks: spec.SpeaksOnce, Schema: json.RawMessage(c.schema)}
		if _, err := p.Declare(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.schema, err, c.want)
		}
	}
	for _, schema := range []string{
		`{"$defs": {"tree": {"type": "object", "properties": {"below": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}}, "properties": {"x": {"$ref": "#/$defs/tree"}}}`,
		`{"properties": {"type": {"type": "string"}, "enum": {"type": "string"}, "not": {"default": {"type": "any"}}}}`,
	} {
		a := declare(t, schema)
		if _, problems := a.Decode(map[string]any{"x": map[string]any{"below": []any{map[string]any{}}}, "type": "y"}); len(problems) > 1 {
			t.Errorf("%s: %v", schema, problems)
		}
	}
	a := declare(t, `{"properties": {"x": {}, "y": {}}, "oneOf": [{"required": ["x"]}, {"required": ["y"]}]}`)
	if _, problems := a.Decode(map[string]any{"x": 1, "y": 2}); len(problems) != 1 || !strings.Contains(problems[0].Message, "no form that its schema allows") {
		t.Errorf("two of one: %v", problems)
	}
}

// A step without a name is called by its module and what that is given, and not by the arguments alone, nor by where the module is from.
func TestTitleOfModule(t *testing.T) {
	python := &spec.Action{Name: "community.general.ini_file", Plugin: &spec.Plugin{Speaks: spec.SpeaksPython}}
	for _, tt := range []struct {
		action         *spec.Action
		summary, title string
	}{
		{python, "path=/etc/a.ini (via Python, from library/ini_file.py)", "ini_file: path=/etc/a.ini"},
		{python, "/etc/a.ini (via Python)", "ini_file: /etc/a.ini"},
		{python, "community.general.ini_file (via Python)", "ini_file"},
		{python, "community.general.ini_file (hidden by no_log)", "ini_file"},
		{python, "", ""},
		{&spec.Action{Name: "shell"}, "echo a (via Python)", "echo a (via Python)"},
		{&spec.Action{Name: "release", Plugin: &spec.Plugin{}}, "1.2 (from plugins/release)", "1.2 (from plugins/release)"},
		{nil, "echo", "echo"},
	} {
		if got := tt.action.TitleOf(tt.summary); got != tt.title {
			t.Errorf("%q is called %q, want %q", tt.summary, got, tt.title)
		}
	}
}
