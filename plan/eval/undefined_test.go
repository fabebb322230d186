package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"moon/plan/eval"
	"moon/plan/eval/value"
)

// TestSeveralUndefined checks that all names without a value are found at once: each name once, where it first stands.
func TestSeveralUndefined(t *testing.T) {
	t.Parallel()
	env := vars{"cfg": map[string]any{"port": 80}, "later": value.Unknown{Steps: []int{1}}, "yes": true, "no": false, "list": []any{1}}
	for _, c := range []struct{ text, want string }{
		{"{{ a }}{{ b }}", "a@3 b@10"},
		{"{{ a }}{{ a }}{{ b }}", "a@3 b@17"},
		{"{{ a + b * c }}", "a@3 b@7 c@11"},
		{"{{ cfg.a }}{{ cfg.b }}{{ cfg.a.c }}{{ list[9] }}", "cfg.a@7 cfg.b@18 list[9]@42"},
		{"{{ a.b.c }}", "a@3"},
		{"{{ a | default(b) }}{{ c }}", "b@15 c@23"},
		{"{{ later }}{{ a }}{{ later + b }}", "a@14 b@29"},
		{"{{ a and b }}", "a@3 b@9"},
		{"{{ no and a }}{{ b }}", "b@17"},
		{"{{ 1 if a else b }}{{ c }}", "a@8 c@22"},
		{"{% if a %}{{ b }}{% endif %}{{ c }}", "a@6 c@31"},
		{"{% for x in a %}{{ x }}{% endfor %}{% set y = b %}{{ y }}", "a@12 b@46"},
		{"{{ a }}{{ 1 + 'x' }}{{ b }}", "a@3"}, // another mistake ends the search
	} {
		_, err := render(t, c.text, env)
		checkSeveral(t, c.text, err, c.want)
	}
	for _, c := range []struct{ text, want string }{
		{"a > 1 and b > 1", "a@0 b@10"},
		{"a or b or a", "a@0 b@5"},
		{"no and a", ""},
		{"a ?? b", "b@5"},
		{"a in list and cfg.b in [c]", "a@0 cfg.b@18 c@24"},
		{"a is defined or b", "b@16"},
		{"a | default(b) and c", "b@12 c@19"},
	} {
		cond, err := eval.New().Condition(c.text, eval.Expr)
		if err != nil {
			t.Fatal(c.text, err)
		}
		_, err = cond.Eval(env)
		checkSeveral(t, c.text, err, c.want)
	}
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "{{ name%d }}", i)
	}
	_, err := render(t, many.String(), env)
	if n := len(errorOf(t, err).All()); n != 20 {
		t.Errorf("of 100 undefined names %d are reported, want 20", n)
	}
}

func checkSeveral(t *testing.T, text string, err error, want string) {
	t.Helper()
	var got []string
	if err != nil {
		for _, e := range errorOf(t, err).All() {
			got = append(got, fmt.Sprintf("%s@%d", e.Name, e.Offset))
		}
	}
	if s := strings.Join(got, " "); s != want {
		t.Errorf("%s: %s, want %s", text, s, want)
	}
}
