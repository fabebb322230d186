package eval_test

import (
	"reflect"
	"strings"
	"testing"

	"moon/plan/eval"
	"moon/plan/eval/value"
)

// TestExpressions has texts that an engine of templates in Go has read or computed otherwise than Jinja does.
func TestExpressions(t *testing.T) {
	t.Parallel()
	tests := []struct{ what, text, want string }{
		// Its lexer.
		{"new lines between tokens", "{{ 1\n+\n2 }}{{ name\r\n| upper }}", "3WEB"},
		{"Windows' line ends", "a\r\n{{ n }}\r\nb\r\n", "a\r\n5\r\nb\r\n"},
		{"a string that ends in a backslash", `{{ '\\' ~ 'b' }}`, `\b`},
		{"an escape that Go does not know", `{{ '\d\s' }}`, `\d\s`},
		{"words without a space behind", "{{ not(off)and(flag)or(off) }}{{ 'a' in(lst) }}{{ 1 in[1] }}", "truetruetrue"},
		{"indexes in a row", "{{ [[1, 2], [3]].0.1 }}", "2"},
		{"a leading zero is not octal", "{{ 010 }}", "10"},

		// Its parser.
		{"a filter behind in", "{{ 'A' in lst | map('upper') | list }}", "true"},
		{"a sum behind in", "{{ 'ab' in 'a' ~ 'b' }} {{ 3 in [1] + [3] }}", "true true"},
		{"inline if in brackets", "{{ ('a' if off else 'b' if flag else 'c') ~ ['d' if flag else 'e'][0] }}", "bd"},
		{"comparisons in a row", "{{ 3 > 2 > 1 }} {{ (3 > 2) == true }} {{ 1 < 3 > 2 == 2 }}", "true true true"},
		{"signs and nots in a row", "{{ - -1 }}{{ +-1 }}{{ not not n }}{{ not not zero }}", "1-1truefalse"},
		{"commas at the end", "{{ [1,] }}{{ {'a': 1,} }}{{ dict(a=1,) }}{{ (1,) }}", `[1]{"a":1}{"a":1}[1]`},
		{"tests with several arguments, named ones too", "{{ '1.2' is version('1.0', operator='>') }}", "true"},
		{"a test binds as a filter does", "{{ 1 + 2 is odd }}", "1"},
		{"strings in a row", "{{ 'a' 'b' | upper }}", "AB"},
		{"filters with a colon", "{{ lst | join:'-' | upper }}", "A-B-C"},
		{"names that are constants to it", "{{ nil | default('d') }}", "d"},

		// Its operators.
		{"a list several times", "{{ [1] * 2 }}", "[1,1]"},
		{"floor and remainder of negative numbers", "{{ -7 // 2 }} {{ -7 % 3 }}", "-4 2"},
		{"powers of integers", "{{ 2 ** 3 }} {{ 2 ** 62 }}", "8 4611686018427387904"},
		{"numbers and strings differ", "{{ '1' == 1 }}", "false"},
		{"spelled numbers", "{{ version ~ mode }}", "1.100644"},

		// Its filters and tests.
		{"abs and sum", "{{ -3 | abs }} {{ nums | sum }}", "3 6"},
		{"null is defined", "{{ nothing is defined }} {{ nope is defined }}", "true false"},
		{"case of what has none", "{{ '1' is upper }} {{ 'A' is upper }}", "false true"},
		{"sameas", "{{ n is sameas 5 }} {{ n is sameas '5' }}", "true false"},
		{"names of groups", "{% for g in users | groupby('admin') %}{{ g.grouper }}{{ g.list | length }}{% endfor %}", "false1true2"},
		{"strings are characters", "{{ 'äö' | reverse }}{{ 'äö' | list }}{{ 'äö' | first }}", `öä["ä","ö"]ä`},
		{"maps have an order", "{{ {'c': 1, 'a': 2, 'b': 3} | items | list }}", `[["a",2],["b",3],["c",1]]`},
		{"half a number rounds to even", "{{ -2.5 | round }} {{ 2.5 | round }}", "-2 2"},
		{"arguments by name", "{{ nums | sort(reverse=true) }} {{ nums | max(case_sensitive=true) }}", "[3,2,1] 3"},

		// Its tags.
		{"more than two names", "{% for a, b, c in [[1, 2, 3]] %}{{ a }}{{ b }}{{ c }}{% endfor %}", "123"},
	}
	for _, tc := range tests {
		got, err := render(t, tc.text, world())
		if err != nil || value.Text(got.Value) != tc.want {
			t.Errorf("%s: %s\n got %v (%v)\nwant %s", tc.what, tc.text, value.Text(got.Value), err, tc.want)
		}
	}
}

// TestExpressionsRefused has texts to which such an engine has given a value.
func TestExpressionsRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []broken{
		{"{{ 1 / zero }}", "division by zero", "", "/", value.Failure},
		{"{{ n + name }}", "`+` does not work on a number and a string", "join as text with `~`, or turn the string into a number with `| int`", "+", value.TypeError},
		{"{{ n | length }}", "filter `length` needs a string, a list or a map, not a number", "", "length", value.TypeError},
		{"{{ 'x' | abs }}", "filter `abs` needs a number, not a string", "", "abs", value.TypeError},
		{"{{ lst | sum }}", "filter `sum` `+` does not work on a number and a string", "join as text with `~`, or turn the string into a number with `| int`", "sum", value.TypeError},
		{"{{ [1, 'a'] | sum }}", "filter `sum` `+` does not work on a number and a string", "join as text with `~`, or turn the string into a number with `| int`", "sum", value.TypeError},
		{"{{ users | map(attribute='nick') | list }}", "filter `map`: a map has no `nick`", "choose the items that have it with `| selectattr('nick', 'defined')`", "map", value.UndefinedError},
		{"{{ users | sort(attribute='nick') }}", "filter `sort`: a map has no `nick`", "choose the items that have it with `| selectattr('nick', 'defined')`", "sort", value.UndefinedError},
		{"{% for a, b in nums %}{{ b }}{% endfor %}", "cannot unpack a number into 2 names", "", "nums", value.TypeError},
		{"{{ range(1 2) }}", "unexpected `2`: expected `)`", "", "2", value.SyntaxError},
		{"{{ [1 2] }}", "unexpected `2`: expected `]`", "", "2", value.SyntaxError},
		{"{{ {'a' 1} }}", "unexpected `1`: expected `:`", "", "1", value.SyntaxError},
		{"{{ n@1 }}", "unexpected `@`", "", "@", value.SyntaxError},
		{"{{ n) }}", "unexpected `)`: expected the end of the expression", "", ")", value.SyntaxError},
		{"{{ 5x }}", "unexpected `x`: expected the end of the expression", "", "x", value.SyntaxError},
		{"{{ 1 == not flag }}", "unexpected `not`: expected a value", "", "not", value.SyntaxError},
		{"{{ a < b is defined }}", "undefined variable `a`", "", "a", value.UndefinedError},
		{"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "macro `m` calls itself too often", "", "m", value.Failure},
	} {
		_, err := render(t, tc.text, world())
		tc.check(t, err)
		if err != nil {
			for _, internal := range []string{"reflect", "interface", "invalid call", "nable to evaluate"} {
				if strings.Contains(err.Error(), internal) {
					t.Errorf("%s: internal name in %q", tc.text, err)
				}
			}
		}
	}
}

// A filter gives a new list, also one that turns a list around.
func TestFiltersChangeNothing(t *testing.T) {
	t.Parallel()
	env := world()
	for _, text := range []string{
		"{{ lst | reverse | list }}", "{{ nums | sort }}", "{{ nested | flatten }}", "{{ cfg | combine({'a': 1}) }}", "{{ lst | batch(2, 'x') | list }}", "{{ users | map(attribute='groups') | sum(start=[]) }}",
	} {
		if _, err := render(t, text, env); err != nil {
			t.Error(err)
		}
	}
	if !reflect.DeepEqual(env, world()) {
		t.Errorf("changed: %v", env)
	}
}

// Places of errors and names are those of the text they are in.
func TestSameOutputInSeveralPlaces(t *testing.T) {
	t.Parallel()
	e := eval.New()
	for _, text := range []string{"{{ cfg.hosst }}", "ab {{ cfg.hosst }}", "{{ n }}{% if flag %}\n{{ cfg.hosst }}{% endif %}", "{% macro m() %}{{ cfg.hosst }}{% endmacro %}{{ m() }}", "{% for x in lst %}{{ cfg.hosst }}{% endfor %}"} {
		tmpl, err := e.Template(text)
		if err != nil {
			t.Fatal(err)
		}
		at := strings.Index(text, "cfg")
		if refs := tmpl.Refs(); refs[len(refs)-1].Offset != at {
			t.Errorf("%s: refs %v", text, refs)
		}
		_, err = tmpl.Render(world())
		if got := errorOf(t, err); got.Offset != at+len("cfg.") || got.Message != "undefined variable `cfg.hosst`" || got.Advice() != "did you mean `cfg.host`?" {
			t.Errorf("%s: %+v", text, got)
		}
	}
	for _, text := range []string{"{{ a | uper }}", "xy{{ a | uper }}"} {
		_, err := e.Template(text)
		if got := errorOf(t, err); got.Offset != strings.Index(text, "uper") || got.Width != len("uper") {
			t.Errorf("%s: %+v", text, got)
		}
	}
	// What is a name of the template in one text is free in another.
	local, err := e.Template("{% set x = 1 %}{{ x }}")
	if err != nil || len(local.Refs()) != 0 {
		t.Errorf("refs %v, %v", local.Refs(), err)
	}
	free, err := e.Template("{{ x }}.")
	if err != nil || refs(free.Refs()) != "x@3" {
		t.Errorf("refs %v, %v", free.Refs(), err)
	}
}
