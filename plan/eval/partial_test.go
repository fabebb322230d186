package eval_test

import (
	"testing"

	"moon/plan/dialect"
	"moon/plan/eval"
	"moon/plan/eval/value"
)

// TestPartial: of a map that is known in part its known entries can be had, and nothing else is taken for known.
func TestPartial(t *testing.T) {
	t.Parallel()
	e := eval.New()
	e.Dialect = dialect.Ansible
	env := vars{"item": value.Partial{Name: "st", Known: map[string]any{"item": "a", "ansible_loop_var": "item"}, Steps: []int{2, 3}}}
	for text, want := range map[string]string{ // "" is open
		"{{ item.item }}":                                          "a",
		"{{ item['item'] | upper }}":                               "A",
		"{{ {'x': item}.x.item }}":                                 "a",
		"{% set x = item %}{{ x.item }}":                           "a",
		"{{ [item] | length }}":                                    "1",
		"{% if item %}yes{% endif %}":                              "yes",
		"{{ item }}":                                               "",
		"{{ item.stat }}":                                          "",
		"{{ item.stat.exists | default('x') }}":                    "",
		"{{ item.stat is defined }}":                               "",
		"{{ 'stat' in item }}":                                     "",
		"{{ 'item' not in item }}":                                 "",
		"{{ item | length }}":                                      "",
		"{{ item.keys() | list }}":                                 "",
		"{{ item.get('stat') }}":                                   "",
		"{{ item.items() | list | length }}":                       "",
		"{% for k in item %}{{ k }}{% endfor %}":                   "",
		"{% for k, v in item.items() %}.{% endfor %}":              "",
		"{{ item | dict2items }}":                                  "",
		"{{ item | to_json }}":                                     "",
		"{{ item == {} }}":                                         "",
		"{{ [item] | map(attribute='rc') | list }}":                "",
		"{{ [item] | selectattr('stat.exists') | list | length }}": "",
		"{{ [item] | map(attribute='item') | join }}":              "a",
		"{{ item is skipped }}":                                    "",
		"{{ item | combine({'x': 1}) }}":                           "",
		"{{ item ~ '' }}":                                          "",
	} {
		tmpl, err := e.Template(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := tmpl.Render(env)
		switch {
		case err != nil:
			t.Errorf("%s: %v", text, err)
		case want == "" && len(got.Missing) == 0:
			t.Errorf("%s: %v is taken for known", text, got.Value)
		case want != "" && (len(got.Missing) > 0 || value.Text(got.Value) != want):
			t.Errorf("%s: got %v %v, want %s", text, got.Value, got.Missing, want)
		}
	}
}
