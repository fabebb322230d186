package eval_test

import (
	"strings"
	"testing"
	"time"

	"moon/plan/eval"
	"moon/plan/eval/value"
)

// broken is a text with an error: message, hint and the part of the text that the error covers.
type broken struct {
	text, message, hint, at string
	kind                    value.ErrorKind
}

func (b broken) check(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", b.text)
		return
	}
	e := errorOf(t, err)
	at := ""
	if e.Offset >= 0 {
		at = b.text[e.Offset : e.Offset+e.Width]
	}
	if e.Kind != b.kind || e.Message != b.message || e.Advice() != b.hint || at != b.at {
		t.Errorf("%s\n got %d %q hint %q at %q\nwant %d %q hint %q at %q", b.text, e.Kind, e.Message, e.Advice(), at, b.kind, b.message, b.hint, b.at)
	}
}

const rawHint = "wrap text that is not for the template in `{% raw %}…{% endraw %}`"

func TestTemplateErrors(t *testing.T) {
	t.Parallel()
	tests := []broken{
		// Syntax.
		{"a {{ name", "`{{` is never closed", "close it with `}}`; " + rawHint, "{{", value.SyntaxError},
		{"a {% if x", "`{%` is never closed", "close it with `%}`; " + rawHint, "{%", value.SyntaxError},
		{"a {# x", "the comment `{#` is never closed", "close it with `#}`; " + rawHint, "{#", value.SyntaxError},
		{"{% raw %}x", "`{% raw %}` is never closed", "end it with `{% endraw %}`", "{%", value.SyntaxError},
		{"{{ }}", "there is no expression here", "", "", value.SyntaxError},
		{"{{ a b }}", "unexpected `b`: expected the end of the expression", "", "b", value.SyntaxError},
		{"{{ a + }}", "the expression ends too early: expected a value", "", "", value.SyntaxError},
		{"{{ a = b }}", "unexpected `=`: expected the end of the expression", "compare with `==`", "=", value.SyntaxError},
		{"{{ a || b }}", "unexpected `|`: expected the name of a filter", "write `or`", "|", value.SyntaxError},
		{"{{ a && b }}", "unexpected `&&`", "write `and`", "&&", value.SyntaxError},
		{"{{ !a }}", "unexpected `!`", "write `not`", "!", value.SyntaxError},
		{"{{ (a }}", "`(` is never closed", "", "(", value.SyntaxError},
		{"{{ [a, b }}", "`[` is never closed", "", "[", value.SyntaxError},
		{"{{ 'a }}", "the string that begins here is never closed", "", "'", value.SyntaxError},
		{"{{ f(a=1, a=2) }}", "the argument `a` is given twice", "", "a", value.SyntaxError},
		{"{{ 99999999999999999999 }}", "`99999999999999999999` is not a number that fits into 64 bits", "", "99999999999999999999", value.SyntaxError},

		// Other template languages.
		{"docker ps --format {{.Names}}", "unexpected `.`: expected a value", rawHint, ".", value.SyntaxError},
		{"{{ .State.Status }}", "unexpected `.`: expected a value", rawHint, ".", value.SyntaxError},
		{"{{json .}}", "the expression ends too early: expected a name after `.`", rawHint, "", value.SyntaxError},
		{"{{range $k := .X}}", "unexpected `$`", rawHint, "$", value.SyntaxError},
		{"{{printf \"%s\" .X}}", "unexpected `'%s'`: expected the end of the expression", rawHint, "\"%s\"", value.SyntaxError},

		// Names of filters, tests, functions and tags.
		{"{{ a | uper }}", "unknown filter `uper`", "did you mean `upper`?", "uper", value.SyntaxError},
		{"{{ a is defind }}", "unknown test `defind`", "did you mean `defined`?", "defind", value.SyntaxError},
		{"{{ rnage(3) }}", "unknown function `rnage`", "did you mean `range`?", "rnage", value.SyntaxError},
		{"{% fro x in y %}", "unknown tag `fro`", "did you mean `for`?", "fro", value.SyntaxError},
		{"{{ a | map('uper') }}", "unknown filter `uper`", "did you mean `upper`?", "'uper'", value.SyntaxError},
		{"{{ a | select('od') }}", "unknown test `od`", "did you mean `odd`?", "'od'", value.SyntaxError},
		{"{{ a | selectattr('x', 'equal') }}", "unknown test `equal`", "did you mean `equalto`?", "'equal'", value.SyntaxError},
		{"{{ a | replace('x') }}", "filter `replace` needs the argument `new`", "", "replace", value.SyntaxError},
		{"{{ a | upper(1) }}", "filter `upper` takes no arguments, not 1 argument", "", "", value.SyntaxError},
		{"{{ a | sort(revers=true) }}", "filter `sort` has no argument `revers`", "did you mean `reverse`?", "revers", value.SyntaxError},
		{"{{ lipsum() }}", "the function `lipsum` is not available: its result would differ from one run to the next", "", "lipsum", value.SyntaxError},
		{"{{ now() }}", "the function `now` is not available: the plan cannot depend on the time; the fact `date_time` is read when the run starts", "", "now", value.SyntaxError},

		// Tags.
		{"{% if a %}{% for x in y %}{% endif %}", "unexpected `{% endif %}`: `{% for %}` is still open", "", "endif", value.SyntaxError},
		{"{% if a %}x", "`{% if %}` is never closed", "end it with `{% endif %}`", "{%", value.SyntaxError},
		{"{% endfor %}", "unexpected `{% endfor %}`: no `{% for %}` is open", "", "endfor", value.SyntaxError},
		{"{% else %}", "unexpected `{% else %}`: no `{% if %}` is open", "", "else", value.SyntaxError},
		{"{% if a b %}{% endif %}", "unexpected `b`: expected the end of the expression", "", "b", value.SyntaxError},
		{"{% for x y %}{% endfor %}", "unexpected `y`: expected `in`", "", "y", value.SyntaxError},
		{"{% break %}", "`{% break %}` outside of a loop", "", "break", value.SyntaxError},
		{"{% set x[i] = 1 %}", "`{% set %}` needs a name or a part of a namespace, `ns.x`", "", "set", value.SyntaxError},
		{"{% call nope() %}{% endcall %}", "`{% call %}` needs the call of a macro of this text", "", "call", value.SyntaxError},

		// Names without a value.
		{"{{ foo }}", "undefined variable `foo`", "", "foo", value.UndefinedError},
		{"{{ a ~ texxt }}", "undefined variable `a`", "", "a", value.UndefinedError},
		{"v{{ verion }}", "undefined variable `verion`", "did you mean `version`?", "verion", value.UndefinedError},
		{"{{ cfg.hosst }}", "undefined variable `cfg.hosst`", "did you mean `cfg.host`?", "hosst", value.UndefinedError},
		{"{{ cfg['hosst'] }}", "undefined variable `cfg['hosst']`", "did you mean `host`?", "['hosst']", value.UndefinedError},
		{"{{ cfg.deep.y.z }}", "undefined variable `cfg.deep.y`", "", "y", value.UndefinedError},
		{"{{ lst[7] }}", "undefined variable `lst[7]`: the list has 3 items", "", "[7]", value.UndefinedError},
		{"{{ lst.name }}", "undefined variable `lst.name`: a list has no names, only positions", "", "name", value.UndefinedError},
		{"{{ name.first }}", "undefined variable `name.first`: a string has no `first`", "", "first", value.UndefinedError},
		{"{{ nothing.x }}", "undefined variable `nothing.x`: null has no `x`", "", "x", value.UndefinedError},
		{"{{ foo | upper }}", "undefined variable `foo`", "", "foo", value.UndefinedError},
		{"{% for x in xs %}{% endfor %}", "undefined variable `xs`", "did you mean `us`?", "xs", value.UndefinedError},
		{"{% for x in lst %}{{ y }}{% endfor %}", "undefined variable `y`", "", "y", value.UndefinedError},
		{"{% if nope %}{% endif %}", "undefined variable `nope`", "", "nope", value.UndefinedError},
		{"{% macro m(a) %}{{ a }}{% endmacro %}{{ m() }}", "the macro was called without its parameter `a`", "", "", value.UndefinedError},
		{"{{ u }}{{ foo }}", "undefined variable `foo`", "", "foo", value.UndefinedError},
		{"{{ foo | mandatory }}", "undefined variable `foo`", "", "foo", value.UndefinedError},
		{"{{ foo | mandatory('say foo') }}", "say foo", "", "mandatory", value.UndefinedError},
		{"{{ empty | first }}", "the list is empty: there is no first item", "give another value with `| default(…)`", "first", value.UndefinedError},
		{"{{ users | map(attribute='nick') }}", "filter `map`: a map has no `nick`", "choose the items that have it with `| selectattr('nick', 'defined')`", "map", value.UndefinedError},
		{"{{ range }}", "undefined variable `range`", "`range` is a function: call it with `()`", "range", value.UndefinedError},

		// Arguments that are unpacked, and ranges that are too long to be written out.
		{"{{ range(*5) }}", "unpacking `*` needs a list, not a number", "", "*", value.TypeError},
		{"{{ dict(**lst) }}", "unpacking `**` needs a map, not a list", "", "**", value.TypeError},
		{"{{ lst | join(*['a', 'b', 'c']) }}", "filter `join` takes at most 2 arguments, not 3 arguments", "", "*", value.SyntaxError},
		{"{{ lst | join(**{'e': 1}) }}", "filter `join` has no argument `e`", "", "**", value.SyntaxError},
		{"{{ name | replace(*['a']) }}", "filter `replace` needs the argument `new`", "", "replace", value.SyntaxError},
		{"{{ dict(a=1, **{'a': 2}) }}", "the argument `a` is given twice", "", "**", value.SyntaxError},
		{"{{ dict(**cfg, a=1) }}", "no argument can follow one that is unpacked with `**`", "write it last", "a", value.SyntaxError},
		{"{{ range(*nums, 1) }}", "a positional argument cannot follow one that is unpacked with `*`", "put it into the list: `*(a + [b])`", "1", value.SyntaxError},
		{"{{ range(*nums, *nums) }}", "only one list of arguments can be unpacked", "add the lists: `*(a + b)`", "*", value.SyntaxError},
		{"{{ env(*lst) }}", "the arguments of env() cannot be unpacked", "write them out: what it reads, and whether it is a secret, is known before the run", "(", value.SyntaxError},
		{"{{ range(5000000) }}", "a range of 5000000 numbers is too long for a list", longRange, "", value.Failure},
		{"{{ range(5000000) | list }}", "filter `list` failed: a range of 5000000 numbers is too long for a list", longRange, "list", value.Failure},
		{"{{ [range(5000000)] }}", "a range of 5000000 numbers is too long for a list", longRange, "", value.Failure},
		{"{% for x in range(5000000) %}{% endfor %}", "cannot loop over a range of 5000000 numbers", "", "", value.TypeError},

		// Types.
		{"{{ '99999999999999999999' | int }}", "filter `int` failed: 99999999999999999999 does not fit into 64 bits", "", "int", value.Failure},
		{"{{ name + 1 }}", "`+` does not work on a string and a number", "join as text with `~`, or turn the string into a number with `| int`", "+", value.TypeError},
		{"{{ cfg + cfg }}", "`+` does not work on a map and a map", "merge maps with `| combine(…)`", "+", value.TypeError},
		{"{{ digits > 3 }}", "cannot compare a string with a number", "turn the string into a number with `| int` or `| float`", ">", value.TypeError},
		{"{{ 1 in 2 }}", "cannot look into a number", "`in` needs a string, a list or a map on its right", "in", value.TypeError},
		{"{{ -name }}", "a sign needs a number, not a string", "", "", value.TypeError},
		{"{{ lst | upper }}", "filter `upper` needs a string, not a list", "", "upper", value.TypeError},
		{"{{ n | length }}", "filter `length` needs a string, a list or a map, not a number", "", "length", value.TypeError},
		{"{{ n | combine({}) }}", "filter `combine` needs maps, not a number", "", "combine", value.TypeError},
		{"{{ [1, 'a'] | sort }}", "filter `sort` cannot compare a string with a number", "turn the string into a number with `| int` or `| float`", "sort", value.TypeError},
		{"{{ 'a' | password_hash }}", "filter `password_hash` needs a salt", "give one that is kept, such as `| password_hash('sha512', salt)`: one that is made up would change the password with every run", "password_hash", value.TypeError},
		{"{{ 'a' | password_hash('sha512', 'ü') }}", "filter `password_hash` needs a salt of at most 16 letters, digits, dots and slashes", "", "password_hash", value.TypeError},
		{"{{ 'a' | password_hash('des', 'x') }}", "filter `password_hash` knows sha512, sha256, yescrypt, blowfish and md5, not `des`", "", "password_hash", value.TypeError},
		{"{{ 'a' | password_hash('sha512', 'x', rounds=10) }}", "filter `password_hash` needs between 1000 and 5000000 rounds", "", "password_hash", value.TypeError},
		{"{{ 'a' | password_hash('yescrypt', 'abcde') }}", "filter `password_hash` needs a salt of 4, 8, 12 or 16 letters with yescrypt", "", "password_hash", value.TypeError},
		{"{{ name is failed }}", "test `failed` needs the result of a step, not a string", "name a registered result", "failed", value.TypeError},
		{"{{ name.nope() }}", "method `nope` does not exist for a string", "", "nope", value.TypeError},
		{"{{ name.uper() }}", "method `uper` does not exist for a string", "did you mean `upper`?", "uper", value.TypeError},
		{"{{ lst.append(1) }}", "method `append` would change a list that does not belong to the template", "build a new value with `+` or `| combine(…)`", "append", value.TypeError},
		{"{% for x in n %}{% endfor %}", "cannot loop over a number", "", "n", value.TypeError},
		{"{% for a, b in lst %}{% endfor %}", "cannot unpack a string into 2 names", "", "lst", value.TypeError},
		{"{% set a, b = [1] %}", "cannot unpack a list of 1 item into 2 names", "", "", value.TypeError},
		{"{% macro m() %}{% endmacro %}{{ m }}", "a function is not a value", "call it with `()`", "m", value.TypeError},

		// Everything else.
		{"{{ 1 / zero }}", "division by zero", "", "/", value.Failure},
		{"{{ 2 ** 64 }}", "the result of `2 ** 64` does not fit into 64 bits", "", "**", value.Failure},
		{"{{ '*' | b64decode }}", "filter `b64decode` failed: the text is not base64", "", "b64decode", value.Failure},
		{"{{ '{' | from_json }}", "filter `from_json` failed: the text is not JSON: it ends too early", "", "from_json", value.Failure},
		{"{{ 'x' | from_json }}", "filter `from_json` failed: the text is not JSON: invalid character 'x' looking for beginning of value at byte 1", "", "from_json", value.Failure},
		{"{{ 'a: [' | from_yaml }}", "filter `from_yaml` failed: the text is not YAML: line 1: did not find expected node content", "", "from_yaml", value.Failure},
		{"{{ 'a' | regex_search('(') }}", "filter `regex_search` failed: the pattern is wrong: missing closing ): `(`", "", "regex_search", value.Failure},
		{"{{ 'a' | regex_replace('(?=a)', '') }}", "filter `regex_replace` failed: the pattern is wrong: invalid or unsupported Perl syntax: `(?=`", "looking ahead and behind does not work here", "regex_replace", value.Failure},
		{"{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "macro `m` received 2 arguments but expected only 1", "", "m", value.Failure},
	}
	for _, tc := range tests {
		_, err := render(t, tc.text, world())
		tc.check(t, err)
	}
}

func TestConditionErrors(t *testing.T) {
	t.Parallel()
	const text, list, count = "say what must hold: `!= \"\"`, or `| bool`", "say what must hold: `| length > 0`", "say what must hold: `!= 0`, or `| bool`"
	both := []broken{
		{"", "the condition is empty", "", "", value.SyntaxError},
		{"{{ name }} == 'web'", "the condition is an expression by itself: a template inside of it does not work", "write the names without `{{ }}`, or put the whole condition between them", "{{", value.SyntaxError},
		{"name", "the condition gives a string, not true or false", text, "name", value.TypeError},
		{" {{ n }} ", "the condition gives a number, not true or false", count, "n", value.TypeError},
		{"lst", "the condition gives a list, not true or false", list, "lst", value.TypeError},
		{"cfg", "the condition gives a map, not true or false", list, "cfg", value.TypeError},
		{"yes_text", "the condition gives a string, not true or false", "turn the text into a boolean with `| bool`", "yes_text", value.TypeError},
		{"foo", "undefined variable `foo`", "", "foo", value.UndefinedError},
		{"flag and foo.bar", "undefined variable `foo`", "", "foo", value.UndefinedError},
		{"cfg.hosst == 1", "undefined variable `cfg.hosst`", "did you mean `cfg.host`?", "hosst", value.UndefinedError},
		{"users[9].name == 1", "undefined variable `users[9]`: the list has 3 items", "", "[9]", value.UndefinedError},
		{"verion == 1", "undefined variable `verion`", "did you mean `version`?", "verion", value.UndefinedError},
		{"n is", "the expression ends too early: expected the name of a test after `is`", "", "", value.SyntaxError},
		{"n is defind", "unknown test `defind`", "did you mean `defined`?", "defind", value.SyntaxError},
		{"n | lenth > 0", "unknown filter `lenth`", "did you mean `length`?", "lenth", value.SyntaxError},
		{"now() > 1", "the function `now` is not available: the plan cannot depend on the time; the fact `date_time` is read when the run starts", "", "now", value.SyntaxError},
		{"frobnicate(n)", "unknown function `frobnicate`", "", "frobnicate", value.SyntaxError},
		{"(n", "`(` is never closed", "", "(", value.SyntaxError},
	}
	for _, lang := range []eval.Language{eval.Expr, eval.Jinja} {
		for _, tc := range both {
			c, err := eval.New().Condition(tc.text, lang)
			if err == nil {
				_, err = c.Eval(world())
			}
			tc.check(t, err)
		}
	}
	for _, tc := range []broken{
		{"name && flag", "`&&` needs true or false, not a string", text, "name", value.TypeError},
		{"flag and lst", "`and` needs true or false, not a list", list, "lst", value.TypeError},
		{"not digits", "`not` needs true or false, not a string", text, "digits", value.TypeError},
		{"digits > 3", "`>` does not work on a string and a number", "turn the string into a number with `int(…)` or `float(…)`", ">", value.TypeError},
		{"n in n", "cannot look into a number", "`in` needs a string, a list or a map on its right", "", value.TypeError},
		{"cfg[name] == 1", "a map has no `web`", "", "", value.UndefinedError},
		{"any(users, .name)", "needs true or false, not a string", "", "any", value.TypeError},
		{"len(nothing) > 1", "`len` does not work on null", "", "len", value.TypeError},
		{"n && && n", "unexpected `&&`", "", "&&", value.SyntaxError},
		{"$env.n == 1", "`$env` is not available", "use the names themselves", "$env", value.SyntaxError},
		{"name matches '('", "the pattern is wrong: missing closing ): `(`", "", "matches", value.SyntaxError},
	} {
		c, err := eval.New().Condition(tc.text, eval.Expr)
		if err == nil {
			_, err = c.Eval(world())
		}
		tc.check(t, err)
	}
}

// TestBounds has texts that would take forever, or all memory, or the stack.
// aLot is far more than what is bounded takes on a busy machine, and far less than what is not.
const aLot = time.Minute

func TestBounds(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("(", 10_000) + "1" + strings.Repeat(")", 10_000)
	texts := []string{
		"{{ range(10**9) }}", "{{ range(0, 10**18, 1) }}", "{{ range(-9223372036854775807, 9223372036854775807) }}",
		"{{ range(1000000) | map('string') | join | length * 1000 * 'x' }}",
		"{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
		"{% for a in range(1000000) %}{{ range(1000000) | sum }}{% endfor %}",
		"{{ 'x' * 10**10 }}", "{{ [1] * 10**10 }}", "{{ 'x' | center(10**10) }}", "{{ 'x'.zfill(10**10) }}", "{{ 'x'.ljust(10**10) }}", "{{ '%1000000000d' % 1 }}", "{{ '{:1000000000}'.format(1) }}",
		"{{ [1] | batch(10**10, 1) }}", "{{ [1] | slice(10**10) }}", "{{ 'a' | indent(10**10, true) }}", "{{ cfg | to_json(indent=10**9) }}", "{{ 'a' | replace('', 'x' * 10**7) | replace('', 'x' * 10**7) }}",
		"{% set ns = namespace(x='x') %}{% for i in range(100) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x }}",
		"{% set ns = namespace(x=[1]) %}{% for i in range(100) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
		"{% set ns = namespace(x=[1]) %}{% for i in range(100) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
		"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
		"{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(90) }}",
		"{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
		"{% macro m() %}{{ " + strings.Repeat("1 if off else ", 4_000) + "m() }}{% endmacro %}{{ m() }}",
		"{% macro m() %}{{ m()" + strings.Repeat("|upper", 9_000) + " }}{% endmacro %}{{ m() }}",
		"{% macro m() %}" + strings.Repeat("x", 1000) + "{% endmacro %}{% for i in range(1000000) %}{{ m() }}{% endfor %}",
		"{% for i in range(1000000) %}" + strings.Repeat("x", 1000) + "{% endfor %}",
		"{{ " + deep + " }}", "{{ " + strings.Repeat("-", 20_000) + "1 }}", "{{ " + strings.Repeat("not ", 20_000) + "x }}", "{{ 1" + strings.Repeat(" + 1", 20_000) + " }}",
		"{{ x" + strings.Repeat("[x", 10_000) + strings.Repeat("]", 10_000) + " }}", "{{ x" + strings.Repeat(".y", 20_000) + " }}", "{{ x" + strings.Repeat(" if x else x", 20_000) + " }}",
		strings.Repeat("{% if x %}", 20_000), "{{ " + strings.Repeat("[", 20_000),
		`{{ 'a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g,*g]' | from_yaml }}`,
		"{{ '&a [*a]' | from_yaml }}",
		"{{ '" + strings.Repeat("[", 20_000) + "' | from_json }}",
	}
	for _, text := range texts {
		start := time.Now()
		tmpl, err := eval.NewBounded(100_000).Template(text)
		if err == nil {
			_, err = tmpl.Render(world())
		}
		if err == nil {
			t.Errorf("%.100s: no error", text)
		}
		if took := time.Since(start); took > aLot {
			t.Errorf("%.100s took %v", text, took)
		}
	}
	for _, text := range []string{
		"all(1..1000000, all(1..1000000, # > 0))", "len(repeat('x', 1000000000)) > 0", deep, "name" + strings.Repeat(" ?: name", 100) + " == 1",
		"1" + strings.Repeat(" + 1", 20_000) + " > 0", strings.Repeat("not ", 20_000) + "flag", strings.Repeat("[", 20_000), "flag" + strings.Repeat(" and flag", 20_000),
		strings.Repeat("[", 1_000_000), strings.Repeat("- ", 1_000_000), strings.Repeat("-", 20_000) + "1 > 0", strings.Repeat("{", 20_000), strings.Repeat("flag ? ", 20_000),
	} {
		start := time.Now()
		c, err := eval.New().Condition(text, eval.Expr)
		if err == nil {
			_, err = c.Eval(world())
		}
		if err == nil {
			t.Errorf("%.100s: no error", text)
		}
		if took := time.Since(start); took > aLot {
			t.Errorf("%.100s took %v", text, took)
		}
	}
}

func TestTextEndsAt64MiB(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 100_000)
	for _, text := range []string{
		"{% for i in range(700) %}" + line + "{% endfor %}",
		"{{ ('x' * 10**7) * 7 }}",
		"{% set ns = namespace(x=['" + line + "']) %}{% for i in range(10) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
	} {
		_, err := render(t, text, world())
		if err == nil || !strings.Contains(err.Error(), "32 MiB") && !strings.Contains(err.Error(), "10 million steps") {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

const longRange = "take one number of it, as with `| random`, or a shorter range"
