package eval_test

import (
	"strings"
	"testing"

	"moon/plan/dialect"
	"moon/plan/eval"
	"moon/plan/eval/value"
)

// wellPlaced checks what must hold of any error: it is ours, says something, and lies inside of the text.
func wellPlaced(t *testing.T, text string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	found := map[string]bool{}
	for _, e := range errorOf(t, err).All() {
		if e.Offset < -1 || e.Offset > len(text) || e.Width < 0 || e.Offset+e.Width > len(text) {
			t.Errorf("%q: offset %d, width %d of %q", text, e.Offset, e.Width, e.Message)
		}
		if e.Message == "" || strings.HasPrefix(e.Message, "cannot be evaluated") { // a panic, recovered
			t.Errorf("%q: %q", text, e.Message)
		}
		if e.Kind == value.UndefinedError && e.Name != "" && found[e.Name] {
			t.Errorf("%q: %q twice", text, e.Message)
		}
		found[e.Name] = true
	}
}

func wellReferred(t *testing.T, text string, list []eval.Ref) {
	t.Helper()
	for _, r := range list {
		if r.Name == "" || r.Offset < 0 || r.Offset+len(r.Name) > len(text) || text[r.Offset:r.Offset+len(r.Name)] != r.Name {
			t.Errorf("%q: ref %+v", text, r)
		}
	}
}

func FuzzTemplate(f *testing.F) {
	for _, text := range []string{
		"plain", "{{ name }}", "v{{ version }} {{ cfg.ports[0] }}", "{{ r.stdout }}{{ us[1] }}{% if u %}x{% endif %}",
		"{% for a, b in cfg.deep.items() if a %}{{ loop.index }}{% else %}{% endfor %}", "{% for x in nested recursive %}{{ loop(x) if x is sequence }}{% endfor %}",
		"{% set x = [] %}{% do x.append(1) %}{% set ns = namespace(a=1) %}{% set ns.a = u %}{{ ns.a }}", "{% set x %}{{ name }}{% endset %}{{ x | upper }}",
		"{% macro m(a, b=1, *c, **d) %}{{ a }}{{ caller() }}{% endmacro %}{% call m(1) %}{% endcall %}{{ m(2, b=u) }}",
		"{% filter upper | replace('a', 'b') %}a{% endfilter %}{% with a = 1 %}{{ a }}{% endwith %}{% raw %}{{{% endraw %}{#- c -#}",
		"{{ ('a' if flag else 'b') ~ [1, 2][0] | default(x, true) }}{{ 'a' is match('b') }}{{ {'a': 1}.a ** 2 // 3 }}", "{{.Names}}{{json .}}",
		"{{ lst | map('upper') | join(',') }}{{ users | selectattr('age', '>', 22) | map(attribute='name') | list | to_json }}",
		"{{ '%5.2f' % half }}{{ 'a{}'.format(1) }}{{ name[::-1] }}{{ text.split()[0] }}", "{% break %}{% elif %}{% endfor %}", "{{ 'a' | regex_replace('(.)', '\\1') }}", "{{ '- a: 1' | from_yaml }}",
		"{{ range(3) | batch(2, 'x') | list }}{{ 1 < 2 < 3 }}{{ not a not in b }}", "#jinja2: variable_start_string: '[', lstrip_blocks: True\n [ n }} {% if x %}\n", "{{ [[1, {'a': 'b: c'}]] | to_nice_yaml }}{{ lookup('vars', 'n') }}\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, env := eval.NewBounded(100_000), world()
		plays := eval.NewBounded(100_000)
		plays.Dialect = dialect.Ansible
		for _, compile := range []func(string) (*eval.Template, error){e.Template, e.Document, plays.Template, plays.Document} {
			tmpl, err := compile(text)
			wellPlaced(t, text, err)
			if err != nil {
				continue
			}
			wellReferred(t, text, tmpl.Refs())
			first, err := tmpl.Render(env)
			wellPlaced(t, text, err)
			second, again := tmpl.Render(env)
			if (err == nil) != (again == nil) || value.Text(first.Value) != value.Text(second.Value) {
				t.Errorf("%q renders to %q and then to %q", text, value.Text(first.Value), value.Text(second.Value))
			}
		}
	})
}

func FuzzCondition(f *testing.F) {
	for _, text := range []string{
		"flag", "not flag and n > 3", "name == 'web' or r.rc == 0", "index > 0 and not last", "'x' in text", "a ?? b", "is_defined(x.y)", "x is defined and x.y", "cfg?.a?.b == nil",
		"all(users, .age > min)", "filter(lst, # == 'a')[0] == 'a'", "let x = 1; x + n > 1", "n // 2 == 2", "users | selectattr('admin') | list | length > 1", "{{ flag }}", "a ? b : c", "name ?: n",
		"1..3 == [1,2,3]", "not name in lst", "1 < n < 9", "len(lst) > 1 and lst[0:2] == ['a']", "lst | map('upper') | join", "name matches '^w' && !off", "keys(cfg)[0] == 'deep'", "cfg[name]", "u and nope",
		"toJSON(cfg) != ''", "reduce(nums, #acc + #, 0) == 6", "{'a': n}.a == 5", "date('2024-01-01').Year() == 2024", "$env", "lst[-1] == users[0]['name']",
	} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, asExpr bool) {
		lang := eval.Jinja
		if asExpr {
			lang = eval.Expr
		}
		e, env := eval.NewBounded(100_000), world()
		c, err := e.Condition(text, lang)
		wellPlaced(t, text, err)
		if err == nil {
			wellReferred(t, text, c.Refs())
			first, err := c.Eval(env)
			wellPlaced(t, text, err)
			if second, _ := c.Eval(env); first.Known != second.Known || first.Holds != second.Holds {
				t.Errorf("%q is %v and then %v", text, first, second)
			}
		}
		x, err := e.Expression(text, lang)
		wellPlaced(t, text, err)
		if err == nil {
			got, err := x.Value(env)
			wellPlaced(t, text, err)
			_ = value.Text(got.Value)
		}
	})
}
