package eval_test

import (
	"strings"
	"testing"

	"moon/plan/eval"
	"moon/plan/eval/value"
)

// TestTags holds what tags do; the answers are Jinja's.
func TestTags(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ what, text, want string }{
		{"a loop with a condition and several names", "{% for a, b, c in [[1, 2, 3], [4, 5, 6]] if b > 2 %}{{ a }}{{ c }}{% endfor %}.", "46."},
		{"neighbours of chosen items", "{% for x in nums if x != 1 %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }};{% endfor %}", "<3>2;3<2>;"},
		{"depth counts calls, not nesting", "{% for x in [1] %}{% for y in [1] %}{{ loop.depth }}{{ loop.depth0 }}{% endfor %}{% endfor %}.", "10."},
		{
			"a loop that calls itself has a position",
			"{% for x in nested recursive %}{{ loop.index }}/{{ loop.depth }}{% if x is sequence %}[{{ loop(x) }}]{% endif %}{% endfor %}", "1/12/1[1/22/2[1/3]]",
		},
		{"a loop that calls itself, with several names", "{% for a, b in [[1, [[2, []]]]] recursive %}{{ a }}{{ loop(b) }}{% else %}-{% endfor %}.", "12-."},
		{"changed compares with the last time", "{% for x in [1, 1, 2, 1] %}{{ loop.changed(x) }} {% endfor %}", "true false true true "},
		{"changed with several values", "{% for x in [1, 1, 2] %}{{ loop.changed(x, 'a') }} {% endfor %}", "true false true "},
		{"break in a captured text", "{% for x in lst %}{% set y %}{% if x == 'b' %}{% break %}{% endif %}{% endset %}{{ x }}{% endfor %}.", "a."},
		{"break in the else of a loop", "{% for x in lst %}{{ x }}{% for y in [] %}{% else %}{% break %}{% endfor %}-{% endfor %}.", "a."},

		{"an if has no names of its own", "{% set x = 1 %}{% if flag %}{% set x = 2 %}{% macro m() %}{{ x }}{% endmacro %}{% endif %}{% set x = 3 %}{{ m() }}{{ x }}", "33"},
		{"a loop has", "{% set x = 1 %}{% for y in [2] %}{% set x = y %}{{ x }}{% endfor %}{{ x }}", "21"},
		{"a captured text has", "{% set y = 0 %}{% set x %}{% set y = 1 %}{{ y }}{% endset %}{{ x }}{{ y }}", "10"},
		{"values of with belong outside", "{% set a = 1 %}{% with a = 2, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}", "211"},
		{"filters of a captured text", "{% set x | upper | replace('A', 'b') %}a{{ 'c' }}{% endset %}{{ x }}", "bC"},
		{"a block is where it is", "{% set x = 1 %}{% block a scoped %}{{ x }}{% set x = 2 %}{% endblock a %}{{ x }}.", "11."},

		{"defaults see the parameters before them", "{% macro m(a, b=a ~ '!') %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(b=3, a=4) }}", "11!1243"},
		{"a macro that uses varargs takes them", "{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, x=4) }}{{ m(1) }}", `1[2,3]{"x":4}1[]{}`},
		{"a macro that declares them", "{% macro m(a, *more, **other) %}{{ a }}{{ more }}{{ other }}{% endmacro %}{{ m(1, 2, x=4) }}", `1[2]{"x":4}`},
		{"a macro sees where it was written", "{% set x = 1 %}{% macro m() %}{{ x }}{% endmacro %}{% for x in [2] %}{{ m() }}{% endfor %}", "1"},
		{"caller from inside of other blocks", "{% macro m() %}<{{ caller() }}>{% endmacro %}{% for x in lst %}{% if flag %}{% call m() %}{{ x }}{% endcall %}{% endif %}{% endfor %}", "<a><b><c>"},
		{"caller belongs to the macro that is called", "{% macro n() %}{{ caller is defined }}{% endmacro %}{% macro m(x) %}{{ x }}{{ caller() }}{% endmacro %}{% call m(n()) %}c{% endcall %}", "falsec"},
		{"a call with parameters", "{% macro each(l) %}{% for x in l %}{{ caller(x, loop.index) }};{% endfor %}{% endmacro %}{% call(x, i, s='=') each(lst) %}{{ i }}{{ s }}{{ x }}{% endcall %}", "1=a;2=b;3=c;"},
		{"calls in calls", "{% macro m() %}({{ caller() }}){% endmacro %}{% call m() %}a{% call m() %}b{% endcall %}{% endcall %}", "(a(b))"},
		{"a filtered text", "{% filter upper | replace('B', n) %}a{% for x in ['b'] %}{{ x }}{% endfor %}{% endfilter %}", "A5"},
	} {
		got, err := render(t, tc.text, world())
		if err != nil || value.Text(got.Value) != tc.want {
			t.Errorf("%s: %s\n got %v (%v)\nwant %s", tc.what, tc.text, value.Text(got.Value), err, tc.want)
		}
	}
}

func TestTagsRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []broken{
		{"{% if flag %}{% else %}{% else %}{% endif %}", "unexpected `{% else %}`: `{% if %}` has its `{% else %}`", "", "else", value.SyntaxError},
		{"{% if flag %}{% else %}{% elif n %}{% endif %}", "unexpected `{% elif %}`: `{% if %}` has its `{% else %}`", "", "elif", value.SyntaxError},
		{"{% for x in lst %}{% elif n %}{% endfor %}", "unexpected `{% elif %}`: `{% for %}` is still open", "", "elif", value.SyntaxError},
		{"{% for x in lst %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}", "`{% break %}` outside of a loop", "", "break", value.SyntaxError},
		{"{% for x in [] %}{% else %}{% continue %}{% endfor %}", "`{% continue %}` outside of a loop", "", "continue", value.SyntaxError},
		{"{% macro m(a, a) %}{% endmacro %}", "the parameter `a` is there twice", "", "a", value.SyntaxError},
		{"{% macro m(*a, *b) %}{% endmacro %}", "only one parameter can have `*`", "", "*", value.SyntaxError},
		{"{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "macro `m` received 2 arguments but expected only 1", "", "m", value.Failure},
		{"{% macro m(a) %}{% endmacro %}{{ m(1, a=2) }}", "macro `m` received the argument `a` twice", "", "m", value.Failure},
		{"{% macro m(a) %}{% endmacro %}{{ m(1, b=2) }}", "macro `m` takes no keyword argument `b`", "", "m", value.Failure},
		{"{% macro m() %}{{ caller(1) }}{% endmacro %}{% call m() %}{% endcall %}", "macro `caller` received 1 arguments but expected only 0", "", "caller", value.Failure},
		{"{% set x = 1 %}{% call x() %}{% endcall %}", "`{% call %}` needs the call of a macro of this text, not of a number", "", "x", value.TypeError},
		{"{% for x in lst %}{{ loop(lst) }}{% endfor %}", "`loop` is not a function", "write `recursive` at the end of its `{% for %}`, so that it can call itself", "loop", value.TypeError},
		{"{% for x in lst recursive %}{{ loop(n) }}{% endfor %}", "cannot loop over a number", "", "n", value.TypeError},
		{"{% for x in lst %}{{ loop.cycle() }}{% endfor %}", "`loop.cycle` needs at least one item", "", "cycle", value.TypeError},
		{"{% for x in lst %}{{ loop.cycle(a=1) }}{% endfor %}", "`loop.cycle` has no argument `a`", "", "a", value.TypeError},
		{"{% for x in lst %}{{ loop.nope }}{% endfor %}", "undefined variable `loop.nope`: a loop has no `nope`", "", "nope", value.UndefinedError},
	} {
		_, err := render(t, tc.text, world())
		tc.check(t, err)
	}
}

// A macro that calls itself by {% call %} would fill the stack, which ends the process.
func TestCallsWithoutEnd(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"{% macro m() %}{% call m() %}{% endcall %}{% endmacro %}{{ m() }}",
		"{% macro m() %}{{ caller() }}{% endmacro %}{% macro n() %}{% call m() %}{{ n() }}{% endcall %}{% endmacro %}{{ n() }}",
		"{% macro m(a=m()) %}{% endmacro %}{{ m() }}",
		"{% macro m() %}" + strings.Repeat("{% if flag %}", 140) + "{{ m() }}" + strings.Repeat("{% endif %}", 140) + "{% endmacro %}{{ m() }}",
	} {
		_, err := render(t, text, world())
		if err == nil || !strings.Contains(err.Error(), "calls itself too often") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What only loops, and evaluates nothing, ends too.
func TestTagsAreCounted(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"{% with %}{% endwith %}", "{% macro m() %}{% endmacro %}", "{% if true %}{% endif %}", "{% set x %}{% endset %}", "{% for y in [] %}{% endfor %}"} {
		tmpl, err := eval.NewBounded(100_000).Template("{% for x in range(1000) %}" + strings.Repeat(body, 1000) + "{% endfor %}")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tmpl.Render(world()); err == nil || !strings.Contains(err.Error(), "10 million steps") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// What depends on something unknown stays as it is written; what comes of it is not known behind it.
func TestOpenTags(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a{% for x in nums if u %}{{ x }}{% else %}e{% endfor %}b":                                 "a{% for x in nums if u %}{{ x }}{% else %}e{% endfor %}b",
		"{% macro m(a) %}<{{ a }}>{% endmacro %}{% call m(u) %}{% endcall %}{{ m(1) }}":            "{% call m(u) %}{% endcall %}<1>",
		"{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}{{ u }}{% endcall %}.":           "{% call m() %}{{ u }}{% endcall %}.",
		"{% set x, y = [u, 1] %}{{ y }}.":                                                          "{{ y }}.",
		"{% set x = [] %}{% if u %}{% do x.append(1) %}{% endif %}{{ x }}.":                        "{% if u %}{% do x.append(1) %}{% endif %}{{ x }}.",
		"{% set x = 1 %}{% for y in lst %}{{ y }}{% if u %}{% set x = 2 %}{% endif %}{% endfor %}": "a{% if u %}{% set x = 2 %}{% endif %}b{% if u %}{% set x = 2 %}{% endif %}c{% if u %}{% set x = 2 %}{% endif %}",
		"{% filter upper %}a{{ u }}{% endfilter %}b":                                               "{% filter upper %}a{{ u }}{% endfilter %}b",
		"{% for x in nested recursive %}{{ loop(x) if x is sequence else u }}{% endfor %}.":        "{{ loop(x) if x is sequence else u }}{{ loop(x) if x is sequence else u }}.",
	} {
		got, err := render(t, text, world())
		if err != nil || value.Text(got.Value) != want || len(got.Missing) == 0 {
			t.Errorf("%s\n got %v %v (%v)\nwant %s", text, value.Text(got.Value), got.Missing, err, want)
		}
	}
}

// The names of a text with thousands of them are found as fast as those of others.
func TestManyNames(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 3000 {
		name := "v" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/182)
		b.WriteString("{% set " + name + " = " + string(rune('0'+i%10)) + " %}{% set last_" + name + " = " + name + " %}")
	}
	b.WriteString("{% set found = 1 %}{{ found }}")
	got, err := render(t, b.String(), world())
	if err != nil || value.Text(got.Value) != "1" {
		t.Errorf("%v, %v", got.Value, err)
	}
}
