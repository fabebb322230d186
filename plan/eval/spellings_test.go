package eval_test

import (
	"reflect"
	"strings"
	"testing"

	"moon/plan/dialect"
	"moon/plan/eval"
	"moon/plan/eval/call"
	"moon/plan/eval/value"
)

// TestSpellingsAgree holds what can be written in two ways to one result, or to one mistake.
func TestSpellingsAgree(t *testing.T) {
	e := eval.New()
	e.Dialect = dialect.Ansible
	files := map[string]string{"list.j2": "{% if true %} [1, 'a'] {% endif %}", "text.j2": "{% if true %}[1{% endif %}"}
	e.World = call.World{File: func(_ value.Env, _, name string) (string, error) { return files[name], nil }}
	env := world()
	env["missing"] = nil
	env["mixed"] = []any{1, []any{2, nil, []any{3}}, nil}
	for _, c := range []struct{ one, other string }{
		{"{{ cfg | dict2items }}", "{{ query('dict', cfg) }}"},
		{"{{ mixed | flatten }}", "{{ query('flattened', mixed) }}"},
		{"{{ [mixed] | flatten(levels=1, skip_nulls=false) }}", "{{ query('items', mixed) }}"},
		{"{{ 'ab' | center(7) }}", "{{ 'ab'.center(7) }}"},
		{"{{ 'abc' | center(8) }}", "{{ 'abc'.center(8, ' ') }}"},
		{"{{ '' | default('x', true) }}", "{{ [''] | map('default', 'x', true) | first }}"},
		{"{{ 'v' | default('x') }}", "{{ ['v'] | map('default', 'x') | first }}"},
		{"{{ '' | default('x') }}", "{{ [''] | map('default', 'x') | first }}"},
		{"{{ 1 | ternary('a', 'b') }}", "{{ [1] | map('ternary', 'a', 'b') | first }}"},
		{"{{ 0 | ternary('a', 'b', 'c') }}", "{{ [0] | map('ternary', 'a', 'b', 'c') | first }}"},
		{"{{ missing | ternary('a', 'b') }}", "{{ [missing] | map('ternary', 'a', 'b') | first }}"},
		{"{{ missing | ternary('a', 'b', 'c') }}", "{{ [missing] | map('ternary', 'a', 'b', 'c') | first }}"},
		{"{{ '%99999d' % 1 }}", "{{ '{:99999}'.format(1) }}"},
		{files["list.j2"], "{{ lookup('template', 'list.j2') }}"},
		{files["text.j2"], "{{ lookup('template', 'text.j2') }}"},
	} {
		one, other := valueOf(t, e, c.one, env), valueOf(t, e, c.other, env)
		if !reflect.DeepEqual(one, other) {
			t.Errorf("%s gives %#v\n%s gives %#v", c.one, one, c.other, other)
		}
	}
	for _, c := range []struct{ one, other, says string }{
		{"{{ 'a' | abs }}", "{{ 'a' | round }}", "needs a number, not a string"},
		{"{{ 'a' | abs }}", "{{ 'a' | pow(2) }}", "needs a number, not a string"},
		{"{{ 'a' | center(9000000) }}", "{{ 'a'.ljust(9000000) }}", "the width 9000000 is too large"},
		{"{{ '%123456d' % 1 }}", "{{ '{:123456}'.format(1) }}", "too wide"},
	} {
		for _, text := range []string{c.one, c.other} {
			tmpl, err := e.Template(text)
			if err == nil {
				_, err = tmpl.Render(env)
			}
			wantMessage(t, text, err, c.says)
		}
	}
}

func valueOf(t *testing.T, e *eval.Engine, text string, env value.Env) any {
	t.Helper()
	tmpl, err := e.Template(text)
	if err != nil {
		t.Fatal(text, err)
	}
	result, err := tmpl.Render(env)
	if err != nil {
		t.Fatal(text, err)
	}
	return result.Value
}

func wantMessage(t *testing.T, text string, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("%s: %v; it should say %q", text, err, part)
	}
}
