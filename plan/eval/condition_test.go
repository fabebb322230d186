package eval_test

import (
	"reflect"
	"strings"
	"testing"

	"moon/plan/eval"
	"moon/plan/eval/value"
)

func TestCondition(t *testing.T) {
	t.Parallel()
	both := []eval.Language{eval.Expr, eval.Jinja}
	expr, jinja := both[:1], both[1:]
	tests := []struct {
		text string
		lang []eval.Language
		want bool
	}{
		{"flag", both, true},
		{"not flag", both, false},
		{"nothing", both, false},
		{"not nothing", both, true},
		{"True and not False", both, true},
		{"nothing == None", both, true},
		{"name == 'web' and n > 3", both, true},
		{"name == \"web\" or nope", both, true},
		{"off and nope", both, false},
		{"1 < n < 10", both, true},
		{"n in [1, 5]", both, true},
		{"n not in [1, 5]", both, false},
		{"not n in [1, 5]", both, false},
		{"not name in lst", both, true},
		{"'ell' in text", both, true},
		{"'x' not in text", both, true},
		{"'host' in cfg", both, true},
		{"cfg.ports[0] == 80 and cfg['host'] == 'h1'", both, true},
		{"cfg.ports[-1] == 443", both, true},
		{"version == 1.1 and mode == 420", both, true},
		{"done.rc == 0", both, true},
		{"{{ name == 'web' }}", both, true},
		{"  {{- flag -}}\n", both, true},
		{"flag\n  and n == 5\n", both, true},
		{"cfg.ports[index - 2] == 80", both, true},

		// expr
		{"index > 0 and not last", expr, true},
		{"first && !last || nope", expr, true},
		{"len == 'a variable' and len(lst) == 3", expr, true},
		{"all(users, .age > 19) and any(users, {.admin})", expr, true},
		{"none(users, .age > 99)", expr, true},
		{"count(users, .admin) == 2", expr, true},
		{"nope ?? true", expr, true},
		{"cfg.nope ?? true", expr, true},
		{"nope.deeper ?? flag", expr, true},
		{"(cfg.host ?? 'x') == 'h1'", expr, true},
		{"cfg?.nope == nil", expr, true},
		{"nope?.x?.y == nil", expr, true},
		{"nope == nil", expr, true},
		{"nope != nil and nope.x == 1", expr, false},
		{"is_defined(name) and not is_defined(cfg.nope)", expr, true},
		{"is_defined(nope) and nope > 1", expr, false},
		{"name matches '^w' and name startsWith 'we' and text contains 'lo w'", expr, true},
		{"lst contains 'a'", expr, true},
		{"n > 3 ? flag : nope", expr, true},
		{"not (n > 3)", expr, false},
		{"(not off) == flag", expr, true},
		{"not len(lst) > 5", expr, true},
		{"keys(cfg)[0] == 'deep'", expr, true},
		{"values(cfg.deep) == [1]", expr, true},
		{"let x = n; x > 3", expr, true},
		{"lower('ABC') == 'abc' and trim(' a ') == 'a'", expr, true},
		{"done.stdout | trim() == 'ok'", expr, true},
		{"max(nums) == 3 and sum(nums) == 6", expr, true},
		{"int(digits) > 3", expr, true},
		{"n % 2 == 1 and n ** 2 == 25", expr, true},
		{"users[0]?.name == 'ann'", expr, true},

		// Jinja, also in the step form
		{"y | default(false)", both, false},
		{"x is defined", both, false},
		{"not name is defined", both, false},
		{"x is not defined and n is odd", both, true},
		{"done is succeeded and sk is skipped", both, true},
		{"lst | length > 0", both, true},
		{"digits | int > 3", both, true},
		{"yes_text | bool", both, true},
		{"n // 2 == 2", both, true},
		{"'//' in 'a//b'", both, true},
		{"flag if n == 5 else nope", both, true},
		{"users | selectattr('admin') | map(attribute='name') | list == ['ann', 'cid']", both, true},
		{"(lst | map('upper') | join(',')) == 'A,B,C'", both, true},
		{"name.startswith('w')", both, true},
		{"text.split()[0] == 'hello'", both, true},
		{"'%s-%s' % (name, n) == 'web-5'", both, true},
		{"range(3) | list == [0, 1, 2]", both, true},
		{"name ~ n == 'web5'", jinja, true},
		{"'1' ~ '2' == '12'", both, true},

		{"split('a,b', ',')[1] == 'b' and 'a' in split('a,b', ',')", expr, true},
		{"n in 1..9 and (1..9)[0] == 1 and not (n in 1..4)", expr, true},

		// Signs of expr with what only Jinja has, in the step form
		{"name.endswith('b') && flag", expr, true},
		{"name.endswith('x') || flag", expr, true},
		{"!name.endswith('x')", expr, true},
		{"!name.endswith('b') == false", expr, true},
		{"!(x is defined) && name is defined", expr, true},
		{"!x is defined", expr, true},
		{"x is defined && x == 1 || flag", expr, true},
		{"digits | int > 3 && name != 'x'", expr, true},
		{"lst is contains('a') && !nope | default(false)", expr, true},
	}
	for _, lang := range both {
		e := eval.New()
		for _, tc := range tests {
			if len(tc.lang) == 1 && tc.lang[0] != lang {
				continue
			}
			c, err := e.Condition(tc.text, lang)
			if err != nil {
				t.Errorf("%d %s: %v", lang, tc.text, err)
				continue
			}
			if v, err := c.Eval(world()); err != nil || !v.Known || v.Holds != tc.want {
				t.Errorf("%d %s: got %+v, %v; want %v", lang, tc.text, v, err, tc.want)
			}
		}
	}
}

func TestConditionRefsAndGuards(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, refs, guards string
		lang               eval.Language
	}{
		{"a.b == 1 and c[0].d[e]", "a.b@0 c.0.d@13 e@20", "", eval.Expr},
		{"a is defined and a.b > c", "a?@0 a.b?@17 c@23", "a", eval.Expr},
		{"is_defined(a.b) and a.b > 1", "a.b?@11 a.b?@20", "a", eval.Expr},
		{"a ?? b", "a?@0 b@5", "a", eval.Expr},
		{"a != nil and b?.c and d == None", "a?@0 b.c?@13 d?@22", "a b d", eval.Expr},
		{"{{ a | default(b) }}", "a?@3 b@15", "a", eval.Jinja},
		{"filter(users, .age > min)", "users@7 min@21", "", eval.Expr},
		{"let x = a; x.b + c", "a@8 c@17", "", eval.Expr},
		{"1 < a < b", "a@4 b@8", "", eval.Expr},
		{"  ä == a", "ä@2 a@8", "", eval.Expr},
		{"first and last > len(lst)", "first@0 last@10 lst@21", "", eval.Expr},
		{"True and none == null", "", "", eval.Expr},
	}
	for _, tc := range tests {
		c, err := eval.New().Condition(tc.text, tc.lang)
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if got := refs(c.Refs()); got != tc.refs {
			t.Errorf("%s\n got refs %s\nwant refs %s", tc.text, got, tc.refs)
		}
		if got := strings.Join(c.Guards(), " "); got != tc.guards {
			t.Errorf("%s: guards %q, want %q", tc.text, got, tc.guards)
		}
	}
}

func TestExpression(t *testing.T) {
	t.Parallel()
	users := world()["users"].([]any)
	tests := []struct {
		text string
		want any
	}{
		{"lst", []any{"a", "b", "c"}},
		{"cfg.ports", []any{80, 443}},
		{"version", value.Number{Text: "1.10", Value: 1.1}},
		{"1..3", []any{1, 2, 3}},
		{"filter(users, .admin)", []any{users[0], users[2]}},
		{"map(users, .name)", []any{"ann", "bob", "cid"}},
		{"users | filter(.age < 25) | map(.name)", []any{"bob"}},
		{"{{ lst }}", []any{"a", "b", "c"}},
		{"cfg.deep", map[string]any{"x": 1}},
		{"groupBy(users, .admin)", map[string]any{"true": []any{users[0], users[2]}, "false": []any{users[1]}}},
		{"lst | unique", []any{"a", "b", "c"}},
		{"range(2)", []any{0, 1}},
		{"['x', name]", []any{"x", "web"}},
		{"{'a': n}", map[string]any{"a": 5}},
		{"users[0].name", "ann"},
		{"name ~ 1", "web1"},
		{"n + 1", 6},
		{"nothing", nil},
		{"[version, mode]", []any{1.1, 420}},
		{"toPairs(cfg.deep)", []any{[]any{"x", 1}}},
		{"split('a,b', ',')", []any{"a", "b"}},
		{"sortBy(users, .age)[0].name", "bob"},
	}
	e := eval.New()
	for _, tc := range tests {
		x, err := e.Expression(tc.text, eval.Expr)
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if got, err := x.Value(world()); err != nil || !reflect.DeepEqual(got.Value, tc.want) {
			t.Errorf("%s: got %#v, %v; want %#v", tc.text, got.Value, err, tc.want)
		}
	}
}
