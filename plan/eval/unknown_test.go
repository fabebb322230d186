package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"moon/plan/eval"
	"moon/plan/eval/value"
)

func TestOpenTemplates(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want, missing string }{
		{"{{ r.stdout }}", "{{ r.stdout }}", "[{r [1 3]}]"},
		{"{{ u }} on {{ name }}: {{ r.rc }}", "{{ u }} on web: {{ r.rc }}", "[{u [2 7]} {r [3]}]"},
		{"{{ r.rc }}{{ r.stdout }}", "{{ r.rc }}{{ r.stdout }}", "[{r [1 3]}]"},
		{"{{ r.changed }}", "false", "[]"},
		{"{{ r }}", "{{ r }}", "[{r [1 3]}]"},
		{"{{ r | default('x') }}|{{ u | default('x') }}", "{{ r | default('x') }}|{{ u | default('x') }}", "[{r [1 3]} {u [2 7]}]"},
		{"{{ us[0] }} {{ us[1] }} {{ us[index - 2] }} {{ us | length }}", "x {{ us[1] }} x {{ us | length }}", "[{us [4]}]"},
		{"{{ [u, 1] | first }} {{ name ~ u.x }} {{ u is defined }} {{ not u }} {{ -u }} {{ u[0] }} {{ u == u }}", "{{ [u, 1] | first }} {{ name ~ u.x }} {{ u is defined }} {{ not u }} {{ -u }} {{ u[0] }} {{ u == u }}", "[{u [2 7]}]"},
		{"{{ off and u }} {{ flag or u }} {{ name or u }} {{ u and off }}", "false true web {{ u and off }}", "[{u [2 7]}]"},
		{"{{ 'a' if u and off and nope else 'b' }} {{ 'a' if u and off else 'b' }} {{ u and off and nope }}", "b b {{ u and off and nope }}", "[{u [2 7]}]"},
		{"{{ 'a' if (u and off) == 1 else 'b' }}{% if u and 'k' in cfg and cfg.k %}a{% else %}b{% endif %}", "{{ 'a' if (u and off) == 1 else 'b' }}b", "[{u [2 7]}]"},
		{"{{ 'a' if flag else u }} {{ 'a' if u else 'b' }}", "a {{ 'a' if u else 'b' }}", "[{u [2 7]}]"},
		{"{{ lst | join(u) }} {{ range(u) }} {{ name.replace('w', u) }} {{ lst[u:] }} {{ cfg[u] }} {{ {'k': u} }}", "{{ lst | join(u) }} {{ range(u) }} {{ name.replace('w', u) }} {{ lst[u:] }} {{ cfg[u] }} {{ {'k': u} }}", "[{u [2 7]}]"},

		// A tag whose condition is open stands as it is written; what it could set is open from there on.
		{"a{% if u %}b{{ name }}{% else %}c{% endif %}d{{ name }}", "a{% if u %}b{{ name }}{% else %}c{% endif %}dweb", "[{u [2 7]}]"},
		{"{% if flag %}a{{ u }}{% elif u %}b{% endif %}", "a{{ u }}", "[{u [2 7]}]"},
		{"{% if off %}a{% elif u %}b{% endif %}", "{% if off %}a{% elif u %}b{% endif %}", "[{u [2 7]}]"},
		{"{% for x in u %}{{ x }}{% else %}e{% endfor %}.", "{% for x in u %}{{ x }}{% else %}e{% endfor %}.", "[{u [2 7]}]"},
		{"{% for x in lst %}{{ x }}{{ r.rc }}{% if r.rc %}y{% endif %};{% endfor %}", "a{{ r.rc }}{% if r.rc %}y{% endif %};b{{ r.rc }}{% if r.rc %}y{% endif %};c{{ r.rc }}{% if r.rc %}y{% endif %};", "[{r [3]}]"},
		{"{% for x in lst if x == u %}{{ x }}{% endfor %}", "{% for x in lst if x == u %}{{ x }}{% endfor %}", "[{u [2 7]}]"},
		{"{% set x = u %}{{ x }}{{ x | default(1) }}{{ name }}", "{{ x }}{{ x | default(1) }}web", "[{u [2 7]}]"},
		{"{% if u %}{% set x = 1 %}{% endif %}{{ x }}", "{% if u %}{% set x = 1 %}{% endif %}{{ x }}", "[{u [2 7]}]"},
		{"{% set x = 1 %}{% for i in u %}{% if i %}{% set x = 2 %}{% endif %}{% endfor %}{{ x }}", "{% for i in u %}{% if i %}{% set x = 2 %}{% endif %}{% endfor %}{{ x }}", "[{u [2 7]}]"},
		{"{% set ns = namespace(x=1) %}{% set ns.x = u %}{{ ns.x }}{{ ns }}", "{{ ns.x }}{{ ns }}", "[{u [2 7]}]"},
		{"{% set ns = namespace(x=1) %}{% for i in u %}{% set ns.x = 2 %}{% endfor %}{{ ns.x }}", "{% for i in u %}{% set ns.x = 2 %}{% endfor %}{{ ns.x }}", "[{u [2 7]}]"},
		{"{% set l = [] %}{% do l.append(u) %}{{ l }}{{ l | length }}", "{{ l }}{{ l | length }}", "[{u [2 7]}]"},
		{"{% set l = [] %}{% if u %}{% do l.append(1) %}{% endif %}{{ l }}", "{% if u %}{% do l.append(1) %}{% endif %}{{ l }}", "[{u [2 7]}]"},
		{"{% set d = {'x': [], 'y': []} %}{% do d.x.append(u) %}{{ d }}{{ d.y }}{{ d.x }}", "{{ d }}[]{{ d.x }}", "[{u [2 7]}]"},
		{"{% set d = {'x': []} %}{% set e = d.x %}{% set f = [1] %}{% if u %}{% do e.append(1) %}{% endif %}{{ d }}{{ f }}", "{% if u %}{% do e.append(1) %}{% endif %}{{ d }}[1]", "[{u [2 7]}]"},
		{"{% set d = {'x': []} %}{% set e = d.x %}{% for v in d.values() if u %}{% do v.append(1) %}{% endfor %}{{ e }}", "{% for v in d.values() if u %}{% do v.append(1) %}{% endfor %}{{ e }}", "[{u [2 7]}]"},
		{"{% macro m(l) %}{% do l.append(1) %}{% endmacro %}{% set d = [] %}{% if u %}{{ m(d) }}{% endif %}{{ d }}", "{% if u %}{{ m(d) }}{% endif %}{{ d }}", "[{u [2 7]}]"},
		{"{% set l = [] %}{% set _ = l.append(1) if u %}{{ l }}", "{{ l }}", "[{u [2 7]}]"},
		{"{% set l = [] %}{{ l.append(1) if u }}{{ l }}", "{{ l.append(1) if u }}{{ l }}", "[{u [2 7]}]"},
		{"{% set l = [1] %}{% do u and l.append(1) %}{{ l }}", "{{ l }}", "[{u [2 7]}]"},
		{"{% set x %}a{{ u }}{% endset %}{{ x }}b", "{{ x }}b", "[{u [2 7]}]"},
		{"{% filter upper %}a{{ u }}{% endfilter %}b", "{% filter upper %}a{{ u }}{% endfilter %}b", "[{u [2 7]}]"},
		{"{% filter replace('a', u) %}a{% endfilter %}b", "{% filter replace('a', u) %}a{% endfilter %}b", "[{u [2 7]}]"},
		{"{% macro m(x) %}[{{ x }}]{% endmacro %}{{ m(1) }}{{ m(u) }}", "[1]{{ m(u) }}", "[{u [2 7]}]"},
		{"{% macro m() %}{{ u }}{% if u %}{% endif %}{% endmacro %}a{{ m() }}", "a{{ m() }}", "[{u [2 7]}]"},
		{"{% macro m(x) %}{{ caller() }}{% endmacro %}{% call m(1) %}{{ u }}{% endcall %}.", "{% call m(1) %}{{ u }}{% endcall %}.", "[{u [2 7]}]"},
		{"{% macro m(x) %}{{ x }}{% endmacro %}{% call m(u) %}{% endcall %}.", "{% call m(u) %}{% endcall %}.", "[{u [2 7]}]"},
		{"{% with x = u, y = 1 %}{{ x }}{{ y }}{% endwith %}", "{{ x }}1", "[{u [2 7]}]"},
		{"{% set a, b = u %}{{ a }}{{ b }}", "{{ a }}{{ b }}", "[{u [2 7]}]"},
		{"{% for i in lst %}{% if i == 'b' %}{% break %}{% endif %}{{ i }}{{ u }}{% endfor %}", "a{{ u }}", "[{u [2 7]}]"},
	}
	for _, tc := range tests {
		got, err := render(t, tc.text, world())
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if value.Text(got.Value) != tc.want || names(got.Missing) != tc.missing {
			t.Errorf("%s\n got %s %v\nwant %s %s", tc.text, value.Text(got.Value), names(got.Missing), tc.want, tc.missing)
		}
	}
}

// TestLongChains decides chains of conditions that are not known in a time that does not double with each part.
func TestLongChains(t *testing.T) {
	t.Parallel()
	for _, op := range []string{" and ", " or "} {
		chain := strings.Repeat("u"+op, 60) + "u"
		for _, text := range []string{"{{ " + chain + " }}", "{{ 1 if " + chain + " else 2 }}", "{% if " + chain + " %}a{% endif %}"} {
			got, err := render(t, text, world())
			if err != nil || value.Text(got.Value) != text || names(got.Missing) != "[{u [2 7]}]" {
				t.Errorf("%.20s…: %.40s… %v %v", text, value.Text(got.Value), got.Missing, err)
			}
		}
	}
}

func TestOpenConditions(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"r.rc == 0", "open [{r [3]}]"},
		{"r.changed", "false"},
		{"not r.changed", "true"},
		{"u", "open [{u [2 7]}]"},
		{"not u", "open [{u [2 7]}]"},
		{"off and r.rc == 0", "false"},
		{"r.rc == 0 and off", "false"},
		{"flag or r.rc", "true"},
		{"r.rc == 0 or flag", "true"},
		{"r.rc == 0 or off", "open [{r [3]}]"},
		{"flag and u or n == 5", "true"},
		{"u and r.rc == 0", "open [{u [2 7]} {r [3]}]"},
		{"off and u or r.rc == 0", "open [{r [3]}]"},
		{"(u or flag) and (r.rc == 0 or off)", "open [{r [3]}]"},
		{"not (u and off)", "true"},
		{"u == 1 and nothing", "false"},
		{"us[0] == 'x'", "true"},
		{"us[1] == 'x'", "open [{us [4]}]"},
		{"'x' in us", "open [{us [4]}]"},
		{"u in [1]", "open [{u [2 7]}]"},
		{"u.x[0] == 1", "open [{u [2 7]}]"},
		{"r.nope == 1", "error"},
		{"u and nope", "error"},
	}
	for _, lang := range []eval.Language{eval.Expr, eval.Jinja} {
		for _, tc := range tests {
			c, err := eval.New().Condition(tc.text, lang)
			if err != nil {
				t.Fatalf("%s: %v", tc.text, err)
			}
			v, err := c.Eval(world())
			got := fmt.Sprint(v.Holds)
			if !v.Known {
				got = "open " + names(v.Missing)
			}
			if err != nil {
				got = "error"
			}
			if got != tc.want {
				t.Errorf("%d %s: got %s, want %s (%v)", lang, tc.text, got, tc.want, err)
			}
		}
	}
	for text, want := range map[string]string{
		"r is failed": "open [{r [1 3]}]", "r is changed": "true false", "r is not changed": "true true", "u is changed": "open [{u [2 7]}]",
		"is_defined(u)": "open [{u [2 7]}]", "is_defined(r.changed)": "true true", "u ?? true": "open [{u [2 7]}]", "u == nil": "open [{u [2 7]}]",
		"u ? flag : off": "open [{u [2 7]}]", "flag ? n == 5 : u": "true true", "len(us) > 0": "open [{us [4]}]", "u | default(true)": "open [{u [2 7]}]",
	} {
		c, err := eval.New().Condition(text, eval.Expr)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		v, err := c.Eval(world())
		got := fmt.Sprint(v.Known, " ", v.Holds)
		if !v.Known {
			got = "open " + names(v.Missing)
		}
		if err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestOpenExpression(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"us": "us [{us [4]}]", "filter(us, # == 'x')": "filter(us, # == 'x') [{us [4]}]", "u | list": "u | list [{u [2 7]}]", "us[:1]": "us[:1] [{us [4]}]",
	} {
		x, err := eval.New().Expression(text, eval.Expr)
		if err != nil {
			t.Fatal(err)
		}
		got, err := x.Value(world())
		if s := fmt.Sprint(got.Value, " ", names(got.Missing)); err != nil || s != want {
			t.Errorf("%s: got %s, %v; want %s", text, s, err, want)
		}
	}
}

// names are missing values with the steps that give them.
func names(list []value.Missing) string {
	text := make([]string, len(list))
	for i, m := range list {
		text[i] = fmt.Sprintf("{%s %v}", m.Name, m.Steps)
	}
	return "[" + strings.Join(text, " ") + "]"
}
