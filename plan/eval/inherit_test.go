package eval_test

import (
	"strings"
	"testing"

	"moon/plan/eval/value"
)

// bases are files that templates extend.
var bases = map[string]string{
	"base.j2":     "top\n{% block a %}A{% endblock %}{% for i in ['x', 'y'] %}{% block each scoped %}{{ i }}{% endblock %}{% endfor %}{% block b %}B{% block in %}I{% endblock %}{% endblock %}{{ self.in() }}\n",
	"mid.j2":      "{% extends 'base.j2' %}{% block a %}M{{ super() }}{% endblock %}",
	"loop.j2":     "{% extends 'loop.j2' %}",
	"plain.j2":    "only text {{ d.zeta }}\n",
	"text.j2":     "text",
	"must.j2":     "{% block a required %}{% endblock %}",
	"hidden.j2":   "{% block a %}{{ token }}{% endblock %}",
	"bad.j2":      "x\n{{ nothing }}{% block a %}{% endblock %}",
	"badblock.j2": "x\n{% block a %}{{ nothing }}{% endblock %}",
	"names.j2":    "{% set from = 'base' %}{% block a %}{% endblock %}{{ title | default('-') }}",
	"outer.j2":    "{% for i in ['x'] %}{% block a %}{{ i | default('none') }}{% endblock %}{% endfor %}",
}

func TestExtends(t *testing.T) {
	t.Parallel()
	e, env := ordered(bases)
	for text, want := range map[string]string{
		"{% extends 'base.j2' %}": "top\nAxyBII",
		"gone{% extends 'base.j2' %}gone{% block b %}own{% endblock %}gone":           "gonetop\nAxyownI",
		"{% extends 'mid.j2' %}{% block a %}[{{ super() }}]{% endblock %}":            "top\n[MA]xyBII",
		"{% extends 'mid.j2' %}{% block in %}J{% endblock %}":                         "top\nMAxyBJJ",
		"{% extends 'base.j2' %}{% block each %}<{{ i }}{{ super() }}>{% endblock %}": "top\nA<xx><yy>BII",
		"{% extends 'plain.j2' %}": "only text 1",
		"{% extends 'text.j2' %}":  "text",
		"{% extends 'names.j2' %}{% set title = 'T' %}{% block a %}{{ from }} {% endblock %}":                   "base T",
		"{% if true %}{% extends 'text.j2' %}{% endif %}{% block a %}x{% endblock %}":                           "text",
		"{% if false %}{% extends 'text.j2' %}{% endif %}a{% block a %}x{% endblock %}":                         "ax",
		"{% macro m(x) %}<{{ x }}>{% endmacro %}{% extends 'must.j2' %}{% block a %}{{ m('x') }}{% endblock %}": "<x>",
		"{% block a %}x{% endblock %}{{ self.a() }}":                                                            "xx",
		"{% extends 'outer.j2' %}": "none",
		"{% for i in ['x'] %}{% block a scoped %}{{ i }}{% endblock %}{% endfor %}": "x",
		// What is open leaves the whole as it is written.
		"{% extends 'base.j2' %}{% block a %}{{ later }}{% endblock %}": "{% extends 'base.j2' %}{% block a %}{{ later }}{% endblock %}",
		"{% block a %}{{ later }}{% endblock %}{{ who }}":               "{{ later }}world",
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
}

func TestExtendsWrongly(t *testing.T) {
	t.Parallel()
	e, env := ordered(bases)
	for text, want := range map[string]struct {
		message string
		at      string // what the text has last from there
	}{
		"{% extends 'none.j2' %}": {"no such file: none.j2", "'none.j2'"},
		"{% extends 'loop.j2' %}": {"extend each other without end", "'loop.j2'"},
		"{% extends d %}":         {"needs the name of a file, not a map", "d %"},
		"{% extends 'must.j2' %}": {"the block `a` is required", "'must.j2'"},
		"{% extends 'bad.j2' %}":  {"bad.j2:2: undefined variable `nothing`", "'bad.j2'"},
		"{% extends 'badblock.j2' %}{% block a %}{{ super() }}{% endblock %}": {"badblock.j2:2: undefined variable `nothing`", "super"},
		"{% extends 'text.j2' %}{% extends 'base.j2' %}":                      {"extends one other, and this is the second", "{% extends 'base"},
		"{% block a %}{% extends 'text.j2' %}{% endblock %}":                  {"inside of a block or a macro", "{% extends"},
		"{% block a %}{% endblock %}{% block a %}{% endblock %}":              {"the block `a` is there twice", "a %}"},
		"{% extends 'mid.j2' %}{% block a %}\n{{ nothing }}{% endblock %}":    {"undefined variable `nothing`", "nothing"},
		"{% block a %}{{ super() }}{% endblock %}":                            {"super", "super"},
		"{% for i in d %}{% block a %}{% break %}{% endblock %}{% endfor %}":  {"outside of a loop", "break"},
	} {
		tmpl, err := e.Document(text)
		if err == nil {
			_, err = tmpl.Render(env)
		}
		place := strings.LastIndex(text, want.at)
		got, ok := value.AsError(err)
		if !ok || !strings.Contains(err.Error(), want.message) || got.Offset != place {
			t.Errorf("%q: %v at %+v, want %q at %d", text, err, got, want.message, place)
		}
	}
}
