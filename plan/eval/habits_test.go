package eval_test

import (
	"errors"
	"testing"

	"moon/plan/eval"
	"moon/plan/eval/value"
)

// TestConditionHabits gives each language what only the other one has: it works, or the hint says what to write.
func TestConditionHabits(t *testing.T) {
	t.Parallel()
	const works = ""
	for _, tc := range []struct{ text, steps, plays string }{
		{"flag && flag", works, "write `and`"},
		{"flag || nope", works, "write `or`"},
		{"!flag", works, "write `not`"},
		{"flag AND flag", "write `and`", "write `and`"},
		{"x is defined && flag", works, "write `and`"},
		{"name startsWith 'w'", works, "write `.startswith(…)`"},
		{"name endsWith 'b'", works, "write `.endswith(…)`"},
		{"name contains 'e'", works, "write `… in …`, the part first"},
		{"name matches '^w'", works, "write `is search(…)`"},
		{"name.startsWith('w')", "did you mean `startswith`?", "did you mean `startswith`?"},
		{"name.trim() == 'web'", "write `.strip()`", "write `.strip()`"},
		{"name.contains('e')", "write `… in …`, the part first", "write `… in …`, the part first"},
		{"name.length == 3", "write `| length`", "write `| length`"},
		{"name.length() == 3", "write `| length`", "write `| length`"},
		{"lst.length == 3", "write `| length`", "write `| length`"},
		{"len(lst) > 1", works, "write `… | length`"},
		{"len(lst) > 1 and name is defined", "write `… | length`", "write `… | length`"},
		{"len(lst) > 1 && name is defined", "write `… | length`", "write `and`"},
		{"int(digits) > 1", works, "write `… | int`"},
		{"float(digits) > 1", works, "write `… | float`"},
		{"string(n) == '5'", works, "write `… | string`"},
		{"trim(name) == 'web'", works, "write `… | trim`"},
		{"upper(name) == 'WEB'", works, "write `… | upper`"},
		{"first(lst) == 'a'", works, "write `… | first`"},
		{"hasPrefix(name, 'w')", works, "write `.startswith(…)`"},
		{"is_defined(name)", works, "write `… is defined`"},
		{"(nope ?? 'none') == 'none'", works, "write `| default(…)`"},
		{"nope?.x == nil", works, "write `.`, and `| default(…)` behind it"},
		{"name != nil", works, "write `none`"},
		{"ansible_user == 'x'", "nothing says who logs in: give `-u`, `remote_user:`, or `ansible_user` in the inventory", "nothing says who logs in: give `-u`, `remote_user:`, or `ansible_user` in the inventory"},
		{"n == 5 ? true : false", works, "write `A if CONDITION else B`"},
		{"n in 1..9", works, "write `range(…)`"},
		{"name.endswith('b') matches 'x'", "methods do not go together with `startsWith`, `endsWith`, `contains`, `matches`, `??`, `?.` and `?:`", "write `is search(…)`"},
		{"name.endswith('b') and n | int == 5", works, works},
		{"name is match('w') and 'e' in name", works, works},
		{"true if n == 5 else false", works, works},
	} {
		for lang, want := range map[eval.Language]string{eval.Expr: tc.steps, eval.Jinja: tc.plays} {
			c, err := eval.New().Condition(tc.text, lang)
			if err == nil {
				_, err = c.Eval(world())
			}
			hint := ""
			if e, ok := errors.AsType[*value.Error](err); ok {
				hint = e.Hint
			}
			if (err == nil) != (want == works) || hint != want {
				t.Errorf("%s in %v: %v, hint %q, want %q", tc.text, lang, err, hint, want)
			}
		}
	}
}
