package eval_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"moon/plan/eval"
	"moon/plan/eval/value"
)

func TestWholeValueKeepsType(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want any
	}{
		{"{{ n }}", 5},
		{"{{ half }}", 1.5},
		{"{{ flag }}", true},
		{"{{ nothing }}", nil},
		{"{{ lst }}", []any{"a", "b", "c"}},
		{"{{ cfg.deep }}", map[string]any{"x": 1}},
		{"{{ version }}", value.Number{Text: "1.10", Value: 1.1}},
		{"{{ cfg.v }}", value.Number{Text: "1.10", Value: 1.1}},
		{"{{- cfg['ports'][0] -}}", 80},
		{"{{ n + 1 }}", 6},
		{"{{ nums | sort }}", []any{1, 2, 3}},
		{"{{ digits | int }}", 5},
		{"{{ {'a': n} }}", map[string]any{"a": 5}},
		{"{{ users | map(attribute='age') | list }}", []any{30, 20, 25}},
		{"{{ 'x' if off }}", nil},
		{" {{ n }}", " 5"},
		{"{{ n }}\n", "5\n"},
		{"{{ n }}{{ n }}", "55"},
		{"{% if flag %}5{% endif %}", "5"},
		{"plain { text } }}", "plain { text } }}"},
		{"", ""},
	}
	for _, tc := range tests {
		got, err := render(t, tc.text, world())
		if err != nil || !reflect.DeepEqual(got.Value, tc.want) {
			t.Errorf("%s: got %#v, %v; want %#v", tc.text, got.Value, err, tc.want)
		}
	}
}

func TestLiteral(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"echo": true, "{": true, "a {b} ${c}": true, `{"a": 1}`: true, "{{ x }}": false, "{% if x %}{% endif %}": false, "{# c #}": false,
	} {
		tmpl, err := eval.New().Template(text)
		if err != nil || tmpl.Literal() != want {
			t.Errorf("%q: literal %v, %v", text, tmpl.Literal(), err)
		}
	}
}

func refs(list []eval.Ref) string {
	var parts []string
	for _, r := range list {
		s := r.Name
		for _, key := range r.Path {
			s += fmt.Sprintf(".%v", key)
		}
		if r.Guarded {
			s += "?"
		}
		parts = append(parts, fmt.Sprintf("%s@%d", s, r.Offset))
	}
	return strings.Join(parts, " ")
}

func TestRefs(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"plain", ""},
		{"{{ a }}{{ b.c[0]['d'].e }}", "a@3 b.c.0.d.e@10"},
		{"{{ a[i].b }}{{ a.x[i.y] }}", "a@3 i@5 a.x@15 i.y@19"},
		{"{{ a[-1] }}{{ a.1 }}", "a.-1@3 a.1@14"},
		{"{{ x | default(y) }}{{ x }}", "x?@3 y@15 x?@23"},
		{"{{ x if x is defined else y }}", "x?@3 x?@8 y@26"},
		{"{{ f | map('upper', z) }}{{ a.b.upper() }}{{ 'x'.join(c) }}", "f@3 z@20 a.b@28 c@54"},
		{"{{ range(n) }}{{ dict(a=b) }}", "n@9 b@24"},
		{"{% for x in xs if x.ok and y %}{{ x }}{{ loop.index }}{% else %}{{ x }}{% endfor %}{{ x }}", "xs@12 y@27 x@67 x@86"},
		{"{% for k, v in m.items() %}{{ k }}{{ v }}{% endfor %}", "m@15"},
		{"{% set a = b %}{{ a }}{{ c }}", "b@11 c@25"},
		{"{{ a }}{% set a = 1 %}{{ a }}", "a@3"},
		{"{% if c %}{% set a = 1 %}{{ a }}{% endif %}{{ a }}", "c@6 a?@46"},
		{"{% with a = b, c = a %}{{ a }}{{ c }}{% endwith %}{{ c }}", "b@12 a@19 c@53"},
		{"{% macro m(p, q=d) %}{{ p }}{{ q }}{{ g }}{{ caller() }}{% endmacro %}{{ m(h, p=i) }}", "d@16 g@38 h@75 i@80"},
		{"{% set ns = namespace(a=b) %}{% set ns.x = c %}{{ ns.x }}", "b@24 c@43"},
		{"{% filter replace(a, b) %}{{ c }}{% endfilter %}", "a@18 b@21 c@29"},
		{"{% set x %}{{ y }}{% endset %}{{ x }}", "y@14"},
		{"{% raw %}{{ x }}{% endraw %}{# {{ y }} #}", ""},
	}
	for _, tc := range tests {
		tmpl, err := eval.New().Template(tc.text)
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
		} else if got := refs(tmpl.Refs()); got != tc.want {
			t.Errorf("%s\n got %s\nwant %s", tc.text, got, tc.want)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value any
		want  string
	}{
		{"a\nb", "a\nb"},
		{nil, ""},
		{true, "true"},
		{3, "3"},
		{3.0, "3"},
		{1.5, "1.5"},
		{1e20, "100000000000000000000"},
		{1e-5, "0.00001"},
		{1e300, "1e+300"},
		{value.Number{Text: "0644", Value: 420}, "0644"},
		{[]any{}, "[]"},
		{[]any{1, "a", nil, true, 1.0, value.Number{Text: "0644", Value: 420}, value.Number{Text: "1.10", Value: 1.1}}, `[1,"a",null,true,1,420,1.10]`},
		{map[string]any{"b": []any{map[string]any{}}, "a": "<&\"\\\x01\u00e9\xff"}, `{"a":"<&\"\\\u0001é\ufffd","b":[{}]}`},
	}
	for _, tc := range tests {
		if got := value.Text(tc.value); got != tc.want {
			t.Errorf("%#v: got %s, want %s", tc.value, got, tc.want)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	number := value.Number{Text: "1.10", Value: 1.1}
	in := map[string]any{"a": []any{number, "x"}, "b": number}
	got := value.Plain(in)
	if want := map[string]any{"a": []any{1.1, "x"}, "b": 1.1}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v", got)
	}
	got.(map[string]any)["a"].([]any)[1] = "changed"
	if in["a"].([]any)[1] != "x" {
		t.Error("the original changed")
	}
}

func TestRenderChangesNothing(t *testing.T) {
	t.Parallel()
	env := world()
	for _, text := range []string{
		"{% set x = cfg %}{% do x.update({'new': 1}) %}{% set y = lst %}{% do y.append(1) %}{{ y }}",
		"{{ nums | sort }}{{ lst | reverse | list }}{{ cfg | combine({'host': 1}) }}",
		"{% for u in users %}{% set u = {} %}{% endfor %}",
		"{% set _ = lst.append(1) %}{% set _ = cfg.update({'new': 1}) %}{{ lst }}",
		"{% set x = {'a': cfg, 'b': [nums]} %}{% do x.a.update({'new': 1}) %}{% do x.b[0].append(1) %}{% do x.b[0].reverse() %}{{ x }}",
		"{% for u in users %}{% do u.update({'new': []}) %}{% do u.new.append(1) %}{% do u.pop('name') %}{% endfor %}{{ users }}",
		"{% for u in users | sort(attribute='name') %}{% do u.clear() %}{% endfor %}{{ users }}",
		"{% macro m(l) %}{% do l.append(1) %}{% do l.pop(0) %}{% endmacro %}{{ m(lst) }}{{ m(nums) }}{{ lst }}",
		"{% set ns = namespace(l=lst) %}{% do ns.l.insert(0, 1) %}{% do ns.l.remove('a') %}{{ ns.l }}",
	} {
		if _, err := render(t, text, env); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if !reflect.DeepEqual(env, world()) {
		t.Errorf("the environment changed: %v", env)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	e, env := eval.New(), world()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				tmpl, err := e.Template("{% for x in lst %}{{ x | regex_replace('a', 'b') }}{{ loop.index }}{% endfor %}{{ name }}")
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := tmpl.Render(env); err != nil || got.Value != "b1b2c3web" {
					t.Errorf("got %v, %v", got.Value, err)
				}
				c, err := e.Condition("n > 3 and name in lst or index < 3", eval.Expr)
				if err != nil {
					t.Error(err)
					return
				}
				if v, err := c.Eval(env); err != nil || !v.Holds {
					t.Errorf("got %v, %v", v, err)
				}
			}
		})
	}
	wg.Wait()
}
