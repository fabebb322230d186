package eval_test

import (
	"testing"

	"moon/plan/eval"
	"moon/plan/eval/value"
)

// TestJinja holds the behaviours of Jinja that playbooks rely on, as text. Where moon prints otherwise than Python it
// says so in DESIGN.md: true and false, JSON, whole floats without a fraction.
func TestJinja(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		// Printing.
		{"{{ flag }}{{ off }}{{ nothing }}|", "truefalse|"},
		{"{{ lst }}", `["a","b","c"]`},
		{"{{ cfg }}|", `{"deep":{"x":1},"host":"h1","items":"own","ports":[80,443],"v":1.10}|`},
		{"{{ three }} {{ half }} {{ 6 / 2 }} {{ 7 / 2 }} {{ 1e3 }}", "3 1.5 3 3.5 1000"},
		{"{{ html }}|", "<a & 'b'>|"},
		{"{{ template }}|", "{{ name }}|"},
		{"v{{ version }} {{ mode }} {{ cfg.v }} {{ 'v' ~ version }} {{ [version, mode] | join('/') }}", "v1.10 0644 1.10 v1.10 1.10/0644"},
		{"a\n{{ name }}\n", "a\nweb\n"},
		{"{% for x in lst %}{{ x == 'a' }}{{ [x] }}{% endfor %}", `true["a"]false["b"]false["c"]`},

		// Constants and names.
		{"{{ none }}{{ None }}{{ null }}{{ true }}{{ True }}{{ False }}", "truetruefalse"},
		{"{{ len }}", "a variable"},
		{`{{ 'a\nb\t\'\\' }}` + `{{ "\"" }}` + `{{ '\d\x41\u00e9' }}`, "a\nb\t'\\\"\\dAé"},
		{"{{ 'a' 'b' }}{{ 1_000 }}{{ 0x1f }}{{ 0o17 }}{{ 0b11 }}", "ab100031153"},
		{"{{ '}}' }}{{ {'a': {'b': 1}} }}", `}}{"a":{"b":1}}`},

		// Members and slices.
		{"{{ cfg.ports.0 }}{{ cfg['host'] }}{{ cfg.ports[-1] }}{{ users[0].name }}{{ cfg.items }}", "80h1443annown"},
		{"{{ name[0] }}{{ name[1:] }}{{ name[::-1] }}{{ nums[:2] }}{{ nums[-2:] }}{{ nums[::2] }}{{ 'äöü'[1] }}", "webbew[3,1][1,2][3,2]ö"},
		{"{{ cfg[ 'po' ~ 'rts' ][index - 2] }}", "80"},

		// Arithmetic: integers stay integers.
		{"{{ 2 ** 3 }} {{ 2 ** -1 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 2 + 3 * 4 }} {{ (2 + 3) * 4 }}", "8 0.5 3 -4 2 -2 14 20"},
		{"{{ 7.5 // 2 }} {{ 1.5 + 1.5 }} {{ true + 1 }} {{ version * 10 }} {{ -n }} {{ +n }}", "3 3 2 11 -5 5"},
		{"{{ 'a' * 3 }}{{ 2 * 'b' }}{{ [1] * 2 }}{{ [1] + [2] }}{{ 'a' + 'b' }}", "aaabb[1,1][1,2]ab"},
		{"{{ '%s-%03d' % ('a', 7) }} {{ '%s' % name }} {{ '%.2f%%' % 2.5 }} {{ '%(a)s' % {'a': 1} }}", "a-007 web 2.50% 1"},

		// Precedence of filters, tests, comparisons, logic.
		{"{{ '1' ~ 2 | string }} {{ -3 | abs }} {{ 1 + -3 | abs }} {{ 'a' ~ 'b' | upper }}", "12 3 4 aB"},
		{"{{ not name is defined }} {{ not x is defined }} {{ x is not defined }} {{ name is defined and n == 5 }}", "false true true true"},
		{"{{ 'a' not in lst }} {{ not 'a' in lst }} {{ 'd' not in lst }} {{ 'ell' in text }} {{ 'host' in cfg }}", "false false true true true"},
		{"{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 3 > 2 >= 2 }} {{ 1 == 1.0 }} {{ '1' == 1 }} {{ [1, 2] == [1, 2.0] }}", "true false true true false true"},
		{"{{ '' or 'b' }}{{ 'a' and 'b' }}{{ 0 or none or 'c' }}{{ true or nope }}{{ false and nope }}", "bbctruefalse"},
		{"{{ n is odd and not n is even }} {{ n is divisibleby 5 }} {{ n is divisibleby(2) }} {{ 2 is in [1, 2] }} {{ n is eq 5 }}", "true true false true true"},

		// Inline if, anywhere.
		{"{{ 'a' if flag else 'b' }}{{ 'a' if off }}{{ 'a' if off else 'b' if flag else 'c' }}", "ab"},
		{"{{ ('a' if flag else 'b') ~ 'c' }}{{ ['x' if off else 'y', 1] }}{{ 'z' | default('q' if flag else 'r') }}", `ac["y",1]z`},
		{"{{ (1 if flag else 2) + (3 if off else 4) }}{{ {'k': 'v' if flag else 'w'} }}", `5{"k":"v"}`},

		// Filter arguments in both spellings.
		{"{{ x | default('y') }}{{ x | default:'y' }}{{ x | d('y') }}{{ x | default }}{{ '' | default('y', true) }}{{ '' | default('y') }}", "yyyy"},
		{"{{ {'a': lst | join:'-'} }}{{ x.y.z | default('deep') }}{{ x | default(y) | default('second') }}{{ name | default(x) }}", `{"a":"a-b-c"}deepsecondweb`},
		{"{{ empty | first | default('none') }}{{ nothing | default('d') }}{{ nothing | default('d', boolean=true) }}", "noned"},

		// Tags.
		{"{% if off %}a{% elif flag %}b{% else %}c{% endif %}", "b"},
		{"{% for x in lst %}{{ loop.index }}{{ x }}{% if not loop.last %},{% endif %}{% endfor %}", "1a,2b,3c"},
		{"{% for x in empty %}x{% else %}none{% endfor %}", "none"},
		{"{% for u in users if u.admin %}{{ u.name }} {% endfor %}", "ann cid "},
		{"{% for k, v in cfg.deep.items() %}{{ k }}={{ v }}{% endfor %}{% for k, v in cfg.deep | dictsort %}{{ k }}{{ v }}{% endfor %}{% for k in cfg.deep %}{{ k }}{% endfor %}", "x=1x1x"},
		{"{% for a, b, c in [[1, 2, 3], [4, 5, 6]] %}{{ a }}{{ b }}{{ c }};{% endfor %}", "123;456;"},
		{"{% for x in 1, 2, 3 %}{{ x }}{% endfor %}{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(5, 0, -2) %}{{ i }}{% endfor %}", "123012531"},
		{"{% for x in lst %}{% if x == 'b' %}{% continue %}{% endif %}{{ x }}{% endfor %}{% for x in lst %}{% if x == 'b' %}{% break %}{% endif %}{{ x }}{% endfor %}", "aca"},
		{"{% for x in lst %}{{ loop.cycle('o', 'e') }}{{ loop.revindex }}{{ loop.previtem | default('-', true) }}{% endfor %}", "o3-e2ao1b"},
		{"{% for x in nested recursive %}{% if x is sequence %}[{{ loop(x) }}]{% else %}{{ x }}{% endif %}{% endfor %}", "1[2[3]]"},
		{"{% set x = 1 %}{{ x }}{% for i in lst %}{% set x = 2 %}{% endfor %}{{ x }}", "11"},
		{"{% set a, b = [1, 2] %}{{ a }}{{ b }}{% set c %}<{{ a }}>{% endset %}{{ c }}{% set d | upper %}x{% endset %}{{ d }}", "12<1>X"},
		{"{% set ns = namespace(n=0) %}{% for i in nums %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}{{ ns }}", `6{"n":6}`},
		{"{% set l = [] %}{% for i in nums %}{% set _ = l.append(i * 2) %}{% endfor %}{% do l.extend([9]) %}{{ l }}", "[6,2,4,9]"},
		{"{% set m = {'a': 1} %}{% do m.update({'b': 2}) %}{{ m }}", `{"a":1,"b":2}`},
		{"{% with a = 1, b = name %}{{ a }}{{ b }}{% endwith %}{% with n = 1, m = n %}{{ m }}{% endwith %}", "1web5"},
		{"{% macro m(a, b=2) %}[{{ a }}{{ b }}]{% endmacro %}{{ m(1) }}{{ m(1, b=3) }}{{ m(b=1, a=lst) }}{{ m('x') | upper }}", `[12][13][["a","b","c"]1][X2]`},
		{"{% macro f(n) %}{{ n }}{% if n > 1 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}", "321"},
		{"{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}body {{ name }}{% endcall %}", "<body web>"},
		{"{% filter upper | replace('W', 'v') %}a {{ name }}{% endfilter %}", "A vEB"},
		{"{% block body %}{{ name }}{% endblock %}{% block x %}y{% endblock x %}", "weby"},
		{"a {#- comment -#} b{# {{ x }} #}c", "abc"},
		{"{% raw %}{{ x }}{% if %}{% endraw %}{% verbatim %}{{.Names}}{% endverbatim %}", "{{ x }}{% if %}{{.Names}}"},
		{"  {%- if flag -%}  x  {%- endif -%}  |{{- name -}} ", "x|web"},
		{" {%- raw -%} {{ x }} {%- endraw -%} |", "{{ x }}|"},
		{"{{ cycler('a', 'b').next() }}{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{% set j = joiner('+') %}{{ j() }}1{{ j() }}2", "aaba1+2"},
		{"{{ dict(a=1, b=2) }}{{ dict([['x', 1]]) }}", `{"a":1,"b":2}{"x":1}`},

		// Methods.
		{"{{ 'a,b'.split(',') }}{{ ' x '.strip() }}{{ 'A'.lower() }}{{ 'a'.upper() }}{{ ','.join(lst) }}{{ name.startswith('w') }}{{ 'x{}'.format(1) }}", `["a","b"]xaAa,b,ctruex1`},
		{"{{ cfg.get('host') }}{{ cfg.get('no', 'd') }}{{ cfg.deep.keys() }}{{ cfg.deep.values() }}{{ 'a b'.title() }}{{ 'abc'.replace('b', 'x') }}", `h1d["x"][1]A Baxc`},
		{"{{ lst.index('b') }}{{ [1, 1].count(1) }}{{ 'a-b'.rsplit('-', 1) }}{{ 'web01'.isalnum() }}{{ '7'.zfill(3) }}", `12["a","b"]true007`},
	}
	for _, tc := range tests {
		got, err := render(t, tc.text, world())
		if err != nil {
			t.Errorf("%s\nerror: %v", tc.text, err)
		} else if value.Text(got.Value) != tc.want {
			t.Errorf("%s\n got %s\nwant %s", tc.text, value.Text(got.Value), tc.want)
		}
	}
}

func TestDocumentTrimsBlocks(t *testing.T) {
	t.Parallel()
	text := "{% for x in lst %}\n- {{ x }}\n{% endfor %}\n{# c #}\n{{ name }}\n\nend\n"
	tmpl, err := eval.New().Document(text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tmpl.Render(world())
	if want := "- a\n- b\n- c\nweb\n\nend\n"; err != nil || got.Value != want {
		t.Errorf("got %q, %v", got.Value, err)
	}
	whole, _ := eval.New().Document("{{ n }}")
	if got, err := whole.Render(world()); err != nil || got.Value != "5" {
		t.Errorf("a document is always text: %#v, %v", got.Value, err)
	}
}
