package eval_test

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"strings"
	"testing"
	"time"

	"moon/plan/dialect"
	"moon/plan/eval"
	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
	"moon/secret"
)

// disk is a World of a few files.
func disk() call.World {
	files := map[string]string{
		"files/motd": "hello\n\n", "files/users.csv": "ann,30,x\nbob,20,y\n", "files/app.ini": "[db]\nhost = h1\nPort: 5\n[web]\nhost=h2\n",
		"templates/t.j2": "<{{ name }}{{ extra | default('') }}>\n", "templates/loop.j2": "{% include 'loop.j2' %}",
		"templates/outer.j2": "{% for x in lst %}{% include 'inner.j2' %}{% endfor %}", "templates/inner.j2": "[{{ x }}]\n",
		"templates/bad.j2": "a\n{{ nope }}\n", "templates/wrong.j2": "{% if %}", "templates/list.j2": "{{ lst }}",
	}
	return call.World{
		File: func(_ value.Env, dir, name string) (string, error) {
			if text, ok := files[path.Join(dir, name)]; ok {
				return text, nil
			}
			return "", fmt.Errorf("no file `%s` in %s", name, dir)
		},
		Find: func(_ value.Env, dir, name string) (string, error) {
			if dir == "" { // the task's own
				dir = "files"
			}
			if _, ok := files[path.Join(dir, name)]; ok {
				return "/" + path.Join(dir, name), nil
			}
			return "", nil
		},
		Glob: func(_ value.Env, pattern string) ([]string, error) {
			return []string{pattern + "1", pattern + "2"}, nil
		},
		Hosts: func(_ value.Env, pattern string) ([]string, error) { return strings.Split(pattern, ":"), nil },
		Env:   func(_ value.Env, name string) (string, bool) { return "value of " + name, name == "HOME" },
		Run:   func(value.Env, string) (string, error) { return "", call.ErrLater },
		Get:   func(value.Env, string) (string, error) { return "one\ntwo\n", nil },
		Now: func(value.Env) (time.Time, error) {
			return time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC), nil
		},
		Password: func(_ value.Env, file string, always bool, made func() (string, error)) (string, error) {
			password, err := made()
			return fmt.Sprintf("%s %t %s", file, always, password), err
		},
	}
}

func worldly() *eval.Engine {
	e := eval.New()
	e.Dialect, e.World, e.Secrets = dialect.Ansible, disk(), secret.NewSet()
	return e
}

func TestLookups(t *testing.T) {
	t.Parallel()
	e := worldly()
	for text, want := range map[string]string{
		"{{ lookup('file', 'motd') }}!": "hello!",
		"{{ lookup('vars', 'nope', default='d') }}{{ lookup('env', 'HOME', default=Undefined) != '' }}":                  "dTrue",
		"{{ lookup('file', 'motd', rstip=false) }}!":                                                                     "hello!", // a slip, as with Ansible
		"{{ lookup('ansible.builtin.file', 'motd', rstrip=false) }}!":                                                    "hello\n\n!",
		"{{ lookup('file', 'nope', errors='ignore') }}!":                                                                 "!",
		"{{ lookup('template', 't.j2') }}!":                                                                              "<web>\n!",
		"{{ lookup('template', 't.j2', template_vars=dict(extra='x')) }}!":                                               "<webx>\n!",
		"{{ lookup('template', 'list.j2') | length }}":                                                                   "3",
		"{{ lookup('env', 'HOME') }}{{ lookup('env', 'X') }}":                                                            "value of HOME",
		"{{ lookup('env', 'X', default='d') }}":                                                                          "d",
		"{{ lookup('fileglob', 'a*') }} {{ q('fileglob', 'a*') }}":                                                       "a*1,a*2 ['a*1', 'a*2']",
		"{{ query('inventory_hostnames', 'web', '!db') }}":                                                               "['web', '!db']",
		"{{ lookup('first_found', 'nope', 'motd') }}":                                                                    "/files/motd",
		"{{ lookup('first_found', ['nope', 'motd']) }}":                                                                  "/files/motd",
		"{{ lookup('first_found', {'files': ['nope'], 'skip': true}) }}!":                                                "[]!",
		"{{ lookup('first_found', files='nope,motd') }}":                                                                 "/files/motd",
		"{{ lookup('csvfile', 'bob file=users.csv delimiter=, col=2') }}":                                                "y",
		"{{ lookup('ini', 'port', section='db', file='app.ini') }} {{ lookup('ini', 'host section=web file=app.ini') }}": "5 h2",
		"{{ lookup('ini', 'nope', section='db', file='app.ini', default='d') }}":                                         "d",
		"{{ lookup('url', 'http://x') }} {{ lookup('url', 'http://x', split_lines=false) }}":                             "one,two one\ntwo\n",
		"{{ now(fmt='%Y-%m-%d %H:%M:%S.%f') }} {{ now() }}":                                                              "2026-03-04 05:06:07.000008 2026-03-04 05:06:07.000008",
		"{% for x in lst %}{% include 'inner.j2' %}{% endfor %}":                                                         "[a][b][c]",
		"{% include 'outer.j2' %}":                                                                                       "[a][b][c]",
		"{% include ['nope.j2', 't.j2'] %}{% include 'nope.j2' ignore missing %}":                                        "<web>",
		"{% set extra = 1 %}{% include 't.j2' %}{% include 't.j2' without context %}":                                    "<web1><web>",
	} {
		got, err := pythonText(e, world(), text)
		if err != nil || got != want {
			t.Errorf("%s\n got %q (%v)\nwant %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"{{ lookup('file', 'nope') }}":                           "function `lookup` failed: no file `nope` in files",
		"{{ lookup('password', 'x', ident='2y') }}":              "function `lookup` failed: the option `ident` of `password` is not supported",
		"{{ lookup('env', 'NO_SUCH_NAME', default=Undefined) }}": "undefined variable `Undefined`",
		"{{ lookup('fil', 'motd') }}":                            "unknown lookup `fil`",
		"{{ lookup('random_choice', lst) }}":                     "the lookup `random_choice` is not available: its result would differ from one run to the next",
		"{{ lookup('first_found', 'x', 'y') }}":                  "function `lookup` failed: none of these files exists: x, y",
		"{{ lookup('vars', 'nope') }}":                           "undefined variable `nope`",
		"{{ lookup('template', 'bad.j2') }}":                     "bad.j2:2: undefined variable `nope`",
		"{% include 'wrong.j2' %}":                               "wrong.j2:1: the expression ends too early: expected a value",
		"{% include 'loop.j2' %}":                                "templates include each other without end",
		"{% import 'x.j2' as x %}":                               "no file `x.j2` in templates",
		"{{ lookup('password', 'x encrypt=sha512_crypt') }}":     "function `lookup` the option `encrypt` of `password` is not supported",
		"{{ lookup('password', 'x', chars=[]) }}":                "function `lookup` needs characters to make a password of",
	} {
		_, err := pythonText(e, world(), text)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

// What is known only when the step runs is unknown, and named.
func TestLookupLater(t *testing.T) {
	t.Parallel()
	e := worldly()
	tmpl, err := e.Template("x{{ lookup('pipe', 'date') }}")
	if err != nil {
		t.Fatal(err)
	}
	got, err := tmpl.Render(world())
	if err != nil || got.Value != "x{{ lookup('pipe', 'date') }}" || len(got.Missing) != 1 || got.Missing[0].Name != "lookup('pipe', 'date')" {
		t.Errorf("%v, %v", got, err)
	}
	items, missing, err := e.LookupItems(world(), "lines", []any{"date"}, "")
	if items != nil || len(missing) != 1 || err != nil {
		t.Errorf("%v %v %v", items, missing, err)
	}
}

// A password that is looked up is a secret. With a seed it is the one that ansible-core 2.14 makes.
func TestLookupPassword(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		"'secrets/db length=12 chars=1'":                         "secrets/db false 111111111111",
		"'/dev/null seed=x chars=punctuation length=40'":         "/dev/null true [-@@<$_~/?;\\;/(/<?`==!.=}}#(=}<@{;#*!&[$",
		"'f seed=x length=60'":                                   "f true O9iX65WvW9::bS:gx:86hEbsiS:LPY5lkfWtNX1McBoPiy,WnYRR-T4rY4Qf",
		"'f seed=x chars=digits,,, length=40'":                   "f true 948860586965156877,47,17686,2,1904739456",
		"'f seed=x chars=digits,,a length=40'":                   "f true 948860586965156877,47,17686,2,190473945a",
		"'f', seed=7, length=5":                                  "f true qMz6U",
		"'f seed=7 length=5'":                                    "f true qMz6U",
		"'f', seed=7, chars=['abc', ',']":                        "f true bcb,c,babbc,aaccbcab",
		"'f', seed=7, chars=['abc,de']":                          "f true eddbcb,dc,babebcd,ae",
		"'f', seed=7, chars='digits,abc'":                        "f true b9824cc37857c313a249",
		"'f', seed='ü', chars=['äöü']":                           "f true ääöäöüääüäöüöüüüüäüö",
		"'f seed=x chars=ascii_letters,digits length=5', seed=1": "f true OuMME",
	} {
		e := worldly()
		tmpl, err := e.Template("{{ lookup('password', " + arguments + ") }}")
		if err != nil {
			t.Fatal(err)
		}
		got, err := tmpl.Render(world())
		if err != nil || !value.Marked(got.Value) || value.Reveal(got.Value) != want {
			t.Errorf("%s\n got %v, %v\nwant %s", arguments, value.Reveal(got.Value), err, want)
		}
	}
}

func TestLookupItems(t *testing.T) {
	t.Parallel()
	e := worldly()
	for _, tc := range []struct {
		name  string
		terms any
		want  []any
	}{
		{"items", []any{1, []any{2, []any{3}}}, []any{1, 2, []any{3}}},
		{"items", "x", []any{"x"}},
		{"list", []any{1, []any{2}}, []any{1, []any{2}}},
		{"dict", map[string]any{"b": 2, "a": 1}, []any{map[string]any{"key": "a", "value": 1}, map[string]any{"key": "b", "value": 2}}},
		{"sequence", "start=1 end=2", []any{"1", "2"}},
		{"nested", []any{[]any{1, 2}, []any{"a"}}, []any{[]any{1, "a"}, []any{2, "a"}}},
		{"together", []any{[]any{1, 2}, []any{"a"}}, []any{[]any{1, "a"}, []any{2, nil}}},
		{"indexed_items", []any{"a"}, []any{[]any{0, "a"}}},
		{"first_found", []any{"nope", map[string]any{"files": []any{"motd"}}}, []any{"/files/motd"}},
		{"file", []any{"motd"}, []any{"hello"}},
		{"flattened", []any{[]any{1}, []any{[]any{2}}}, []any{1, 2}},
		{"items", []any{}, []any{}},
	} {
		items, missing, err := e.LookupItems(world(), tc.name, tc.terms, "")
		if err != nil || missing != nil || !reflect.DeepEqual(value.Ordinary(items), any(tc.want)) {
			t.Errorf("with_%s: %v gives %v, %v, %v; want %v", tc.name, tc.terms, items, missing, err, tc.want)
		}
	}
	_, _, err := e.LookupItems(world(), "itms", nil, "")
	if le, ok := errors.AsType[*value.Error](err); !ok || le.Hint != "did you mean `items`?" {
		t.Errorf("%+v", err)
	}
	_, missing, err := e.LookupItems(world(), "items", []any{value.Unknown{Steps: []int{3}}}, "")
	if err != nil || len(missing) != 1 || len(missing[0].Steps) != 1 {
		t.Errorf("%v, %v", missing, err)
	}
}

// The text of plays: newlines at the end, omit, lists and maps that are written as text, and files.
func TestPlaysText(t *testing.T) {
	t.Parallel()
	e := worldly()
	for _, tc := range []struct {
		text string
		want any
	}{
		{"{{ lst }}\n", []any{"a", "b", "c"}},
		{"{{ name }}\n", "web\n"},
		{"{{ n }}\n", "5\n"},
		{"{{ n }}", 5},
		{`{{ 'a\nb' }}!`, `a\nb!`},
		{"{% set x = [] %}{% for i in nums %}{{ x.append({'a': i}) }}{% endfor %}{{ x }}", []any{map[string]any{"a": 3}, map[string]any{"a": 1}, map[string]any{"a": 2}}},
		{"{{ nope | default(omit) }}", value.Omit},
		{"{{ {'a': omit}.a }}", value.Omit},
		{"[{{ n }}]", []any{5}},
		{"{'a': {{ n }}, 'b': null}", map[string]any{"a": 5, "b": nil}},
		{"{{ lst | replace('b', 'd') }}", []any{"a", "d", "c"}},
		{"{{ lst | to_json }}", `["a", "b", "c"]`},
		{"{{ (lst | string) if true else 1 }}", "['a', 'b', 'c']"},
		{"{{ 'Tr' ~ 'ue' }}", true},
		{" {{ lst }}", " ['a', 'b', 'c']"},
		{"[{{ name }}]", "[web]"},
	} {
		tmpl, err := e.Template(tc.text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tmpl.Render(world())
		if err != nil || !reflect.DeepEqual(value.Ordinary(got.Value), tc.want) {
			t.Errorf("%q: %#v, %v; want %#v", tc.text, got.Value, err, tc.want)
		}
	}
	for text, want := range map[string]string{
		"a\n{% if flag %}\nb\n{% endif %}\n":     "a\nb\n",
		"{{ name }}\n\n":                         "web\n\n",
		"no newline {{ n }}":                     "no newline 5",
		"foo{% if flag %}bar{% endif %}\n":       "foobar\n",
		"  {% if flag %}\n  x\n  {% endif %}\ny": "    x\n  y",
		"#jinja2: lstrip_blocks: True\n  {% if flag %}\n  x\n  {% endif %}\ny\n":                        "  x\ny\n",
		"#jinja2: lstrip_blocks: True, trim_blocks:False\n  {% if flag %}\n  x\n  {% endif %}\ny\n":     "\n  x\n\ny\n",
		"#jinja2: variable_start_string: '[%', variable_end_string: '%]'\n[% name %] {{ x }}{# gone #}": "web {{ x }}",
		`{{ 'a\nb' }}`: "a\nb",
	} {
		tmpl, err := e.Document(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tmpl.Render(world()); err != nil || got.Value != want {
			t.Errorf("%q: %q, %v; want %q", text, got.Value, err, want)
		}
	}
	tmpl, err := e.DocumentIn("<% if flag %>[[ n ]]<% endif %>{{", jinja.Style{BlockStart: "<%", BlockEnd: "%>", VariableStart: "[[", VariableEnd: "]]"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tmpl.Render(world()); err != nil || got.Value != "5{{" {
		t.Errorf("%v, %v", got, err)
	}
	_, err = e.Document("#jinja2: lstrip_bloks: True\n")
	if got := errorOf(t, err); got.Message != "unknown setting `lstrip_bloks`" || got.Hint != "did you mean `lstrip_blocks`?" || got.Offset != 8 {
		t.Errorf("%+v", got)
	}
	for text, want := range map[string]any{
		"x{{ omit }}": "x" + value.OmittedText, "{% if true %}{{ omit }}{% endif %}": value.Omit, "{{ omit ~ '' }}": value.Omit,
		"{{ [omit] | join }}": value.Omit, "{{ omit | length }}": len(value.OmittedText), "{{ [omit] }}": []any{value.Omit},
	} {
		tmpl, err := e.Template(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tmpl.Render(world()); err != nil || !reflect.DeepEqual(got.Value, want) {
			t.Errorf("%s: %v, %v; want %v", text, got.Value, err, want)
		}
	}
}

// A condition of plays that gives neither a boolean nor null holds as in Python, and what is wrong with it says what to write.
func TestPlaysConditions(t *testing.T) {
	t.Parallel()
	e := worldly()
	for text, want := range map[string]struct {
		hint  string
		holds bool
	}{
		"n": {"say what must hold: `!= 0`, or `| bool`", true}, "n - n": {"say what must hold: `!= 0`, or `| bool`", false},
		"lst": {"say what must hold: `| length > 0`", true}, "cfg": {"say what must hold: `| length > 0`", true},
		"name": {"say what must hold: `!= \"\"`, or `| bool`", true}, "'false'": {"turn the text into a boolean with `| bool`", true},
		"lst and n": {"say what must hold: `!= 0`, or `| bool`", true},
	} {
		c, err := e.Condition(text, eval.Jinja)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Eval(world())
		if err != nil || got.Loose == nil || got.Loose.Kind != value.TypeError || got.Loose.Hint != want.hint || got.Holds != want.holds {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	// A text in {{ }} is a condition itself.
	c, err := e.Condition("{{ name }}", eval.Jinja)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Eval(world()); err != nil || got.Again != "web" {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]bool{
		"nothing": false, "flag": true, "{{ flag }}": true, "'no' | bool": false, "nope is defined": false, "lst | length > 0": true,
		"nope is defined and nope == 1": false, "name is match('^w\\w+')": true, "not nothing": true, "name in ['web']": true,
	} {
		c, err := e.Condition(text, eval.Jinja)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := c.Eval(world()); err != nil || !v.Known || v.Holds != want {
			t.Errorf("%s: %v, %v", text, v, err)
		}
	}
}
