package eval_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"moon/plan/dialect"
	"moon/plan/eval"
	"moon/plan/eval/value"
)

// ordered are names of plays: a map whose keys are not in the order of the alphabet, and files.
func ordered(files map[string]string) (*eval.Engine, vars) {
	inner := value.NewDict(2)
	inner.Set("y", 2)
	inner.Set("b", []any{3})
	d := value.NewDict(3)
	d.Set("zeta", 1)
	d.Set("alpha", inner)
	d.Set("mid", true)
	ports := value.NewDict(2)
	ports.SetAny(8080, "web")
	ports.SetAny(22, "ssh")
	e := eval.New()
	e.Dialect = dialect.Ansible
	e.World.File = func(_ value.Env, _, name string) (string, error) {
		if text, ok := files[name]; ok {
			return text, nil
		}
		return "", errors.New("no such file: " + name)
	}
	return e, vars{"d": d, "ports": ports, "who": "world", "later": value.Unknown{Steps: []int{4}}}
}

// What ansible-playbook 2.14 gives for the same texts.
func TestOrderOfMaps(t *testing.T) {
	t.Parallel()
	e, env := ordered(nil)
	for text, want := range map[string]string{
		"d: {{ d }}":                                                              `d: {'zeta': 1, 'alpha': {'y': 2, 'b': [3]}, 'mid': True}`,
		"d: {{ d | to_json }}":                                                    `d: {"zeta": 1, "alpha": {"y": 2, "b": [3]}, "mid": true}`,
		"d: {{ d | to_json(sort_keys=true) }}":                                    `d: {"alpha": {"b": [3], "y": 2}, "mid": true, "zeta": 1}`,
		"d:\n{{ d | to_nice_json(indent=1) }}":                                    "d:\n{\n \"alpha\": {\n  \"b\": [\n   3\n  ],\n  \"y\": 2\n },\n \"mid\": true,\n \"zeta\": 1\n}",
		"d:\n{{ d | to_nice_yaml }}":                                              "d:\nalpha:\n    b:\n    - 3\n    y: 2\nmid: true\nzeta: 1\n",
		"d:\n{{ d | to_nice_yaml(sort_keys=false) }}":                             "d:\nzeta: 1\nalpha:\n    y: 2\n    b:\n    - 3\nmid: true\n",
		"{{ d | list }} {{ d.keys() | list }} {{ d | join(' ') }}":                "['zeta', 'alpha', 'mid'] ['zeta', 'alpha', 'mid'] zeta alpha mid",
		"{% for k, v in d.items() %}{{ k }}={{ v }} {% endfor %}":                 "zeta=1 alpha={'y': 2, 'b': [3]} mid=True ",
		"{% for i in d | dict2items %}{{ i }} {% endfor %}":                       "{'key': 'zeta', 'value': 1} {'key': 'alpha', 'value': {'y': 2, 'b': [3]}} {'key': 'mid', 'value': True} ",
		"x {{ d | combine({'zeta': 9, 'aa': 1}) }}":                               "x {'zeta': 9, 'alpha': {'y': 2, 'b': [3]}, 'mid': True, 'aa': 1}",
		"x {{ d | combine({'alpha': {'c': 1, 'y': 3}}, recursive=true) }}":        "x {'zeta': 1, 'alpha': {'y': 3, 'b': [3], 'c': 1}, 'mid': True}",
		"x {{ dict(b=1, a=2) }} {{ dict([['n', 1], ['m', 2]]) }}":                 "x {'b': 1, 'a': 2} {'n': 1, 'm': 2}",
		"x {{ '{\"b\": 1, \"a\": {\"d\": 1, \"c\": 2}, \"b\": 3}' | from_json }}": "x {'b': 3, 'a': {'d': 1, 'c': 2}}",
		"x {{ '{b: 1, a: {z: 1, y: 2}}' | from_yaml }}":                           "x {'b': 1, 'a': {'z': 1, 'y': 2}}",
		"x {{ d | dict2items | rejectattr('key', 'eq', 'mid') | items2dict }}":    "x {'zeta': 1, 'alpha': {'y': 2, 'b': [3]}}",
		"x {{ lookup('dict', d) | map(attribute='key') | list }}":                 "x ['zeta', 'alpha', 'mid']",
		"{% set m = {'b': 1} %}{% set _ = m.update({'a': 2, 'b': 3}) %}x {{ m }}": "x {'b': 3, 'a': 2}",
		"x {{ ports }} {{ ports | to_json }} {{ ports | dict2items | first }}":    `x {8080: 'web', 22: 'ssh'} {"8080": "web", "22": "ssh"} {'key': 8080, 'value': 'web'}`,
		"x\n{{ ports | to_nice_yaml }}":                                           "x\n22: ssh\n8080: web\n",
		"x {{ ports[22] }} {{ d == {'mid': true, 'zeta': 1, 'alpha': {'b': [3], 'y': 2}} }} {{ d | length }} {{ 'mid' in d }} {{ d is mapping }}": "x ssh True 3 True True",
		"{% if d %}\nyes\n{% endif %}\nno": "yes\nno",
	} {
		tmpl, err := e.Template(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got, err := tmpl.Render(env)
		if err != nil || got.Value != want {
			t.Errorf("%q:\ngot  %q, %v\nwant %q", text, got.Value, err, want)
		}
	}
}

// Whatever keys a map has, those of JSON come out as they went in, and ordinary maps have the same values.
func TestOrderSurvivesJSON(t *testing.T) {
	t.Parallel()
	e, env := ordered(nil)
	tmpl, err := e.Template("{{ text | from_json }}")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var written func(depth int) string
	written = func(depth int) string {
		if depth == 0 || r.IntN(3) == 0 {
			return string("12345"[r.IntN(5)])
		}
		var parts []string
		for _, i := range r.Perm(5)[:1+r.IntN(4)] {
			parts = append(parts, `"`+string("kzaMé"[i])+`":`+written(depth-1))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	for range 500 {
		text := `{"top":` + strings.ToValidUTF8(written(4), "x") + "}"
		env["text"] = text
		got, err := tmpl.Render(env)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		back, err := json.Marshal(got.Value)
		if err != nil || string(back) != text {
			t.Fatalf("%s became %s, %v", text, back, err)
		}
		plain := value.Ordinary(got.Value)
		a, _ := json.Marshal(plain)
		if again, _ := json.Marshal(value.InOrderOf(plain, got.Value)); string(again) != text {
			t.Fatalf("%s came back as %s", a, again)
		}
		var kept any
		if order, _ := json.Marshal(value.Order(got.Value)); json.Unmarshal(order, &kept) != nil {
			t.Fatalf("%s has the order %s", text, order)
		}
		if again, _ := json.Marshal(value.Reorder(plain, kept)); string(again) != text {
			t.Fatalf("%s came back as %s from %v", a, again, kept)
		}
	}
}

// Secrets and unknown values are found inside of maps that have an order.
func TestOrderedMapsAreLookedInto(t *testing.T) {
	t.Parallel()
	e, env := ordered(nil)
	d := value.NewDict(2)
	d.Set("open", value.Unknown{Steps: []int{7}})
	d.Set("known", 1)
	env["half"] = d
	hidden := value.NewDict(1)
	hidden.Set("password", value.Secret{Value: "correct horse"})
	env["hidden"] = hidden
	render := func(text string) eval.Result {
		tmpl, err := e.Template(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tmpl.Render(env)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := render("{{ half.known }}"); got.Value != 1 {
		t.Errorf("%+v", got)
	}
	if got := render("{{ half }}"); len(got.Missing) != 1 || got.Missing[0].Steps[0] != 7 {
		t.Errorf("%+v", got)
	}
	if got := render("{{ hidden }}"); !value.Marked(got.Value) || strings.Contains(value.Text(got.Value), "horse") {
		t.Errorf("%s", value.Text(got.Value))
	}
	if got := render("pw={{ hidden.password }}"); !value.Marked(got.Value) || strings.Contains(value.Text(got.Value), "horse") {
		t.Errorf("%s", value.Text(got.Value))
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	e, env := ordered(map[string]string{
		"m.j2":     "ignored\n{% macro row(x, n=1) %}\n<{{ x }}>{{ n }}\n{%- endmacro %}\n{% macro wrap() %}[{{ caller() }}]{% endmacro %}\n{% macro greet() %}hello {{ who }}{% endmacro %}{% macro bad() %}\n{{ nothing }}{% endmacro %}\n{% set colour = 'blue' %}\n",
		"chain.j2": "{% import 'm.j2' as m %}{% macro twice(x) %}{{ m.row(x) }}{{ m.row(x) }}{% endmacro %}",
		"loop.j2":  "{% import 'loop.j2' as me %}",
		"ctx.j2":   "{% set seen = local | default('nothing') %}",
		"part.j2":  "part\n",
	})
	for text, want := range map[string]string{
		"{% import 'm.j2' as m %}{{ m.row('x') }} {{ m.row('y', n=2) }} {{ m.colour }}":                       "<x>1 <y>2 blue",
		"{% from 'm.j2' import row, greet as g %}{{ row(d.zeta) }} {{ g() }}":                                 "<1>1 hello world",
		"{% from 'm.j2' import row with context %}{% for k in d %}{{ row(k) }}{% endfor %}":                   "<zeta>1<alpha>1<mid>1",
		"{% import 'm.j2' as m %}{% call m.wrap() %}in{% endcall %}":                                          "[in]",
		"{% from 'm.j2' import wrap %}{% for i in [1, 2] %}{% call wrap() %}{{ i }}{% endcall %}{% endfor %}": "[1][2]",
		"{% from 'chain.j2' import twice %}{{ twice('a') | upper }}":                                          "<A>1<A>1",
		"{% set local = 1 %}{% import 'ctx.j2' as c with context %}{{ c.seen }}":                              "1",
		"{% set local = 1 %}{% import 'ctx.j2' as c %}{{ c.seen }}":                                           "nothing",
		"{% include 'part.j2' %}\nrest":                                                                       "partrest",
		"{% import 'm.j2' as m %}{{ m.row(later) }}!":                                                         "{{ m.row(later) }}!",
	} {
		tmpl, err := e.Document(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got, err := tmpl.Render(env)
		if err != nil || got.Value != want {
			t.Errorf("%q:\ngot  %q, %v\nwant %q", text, got.Value, err, want)
		}
	}
	for text, want := range map[string]string{
		"{% import 'none.j2' as m %}":              "no such file: none.j2",
		"{% import 'loop.j2' as m %}":              "include each other without end",
		"{% from 'm.j2' import bad %}{{ bad() }}":  "m.j2:7: undefined variable `nothing`",
		"{% import 'm.j2' as m %}{{ m.rwo(1) }}":   "m.j2 does not set `rwo`",
		"{% from 'm.j2' import %}":                 "a name",
		"{% import 'm.j2' as m %}{{ m }}":          "an imported file is not a value",
		"{% import 'm.j2' as m %}{{ m.colour() }}": "`colour` is a string, not a macro",
	} {
		tmpl, err := e.Document(text)
		if err == nil {
			_, err = tmpl.Render(env)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
