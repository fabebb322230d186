package eval_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"moon/plan/eval"
	"moon/plan/eval/value"
)

type vars map[string]any

func (v vars) Lookup(name string) (any, bool) { x, ok := v[name]; return x, ok }
func (v vars) Names() []string                { return slices.Sorted(maps.Keys(v)) }

// world is the environment that most tests share.
func world() vars {
	return vars{
		"name": "web", "text": "hello world", "digits": "5", "yes_text": "yes", "html": "<a & 'b'>", "template": "{{ name }}",
		"n": 5, "zero": 0, "half": 1.5, "three": 3.0, "flag": true, "off": false, "nothing": nil,
		"version": value.Number{Text: "1.10", Value: 1.1}, "mode": value.Number{Text: "0644", Value: 420},
		"lst": []any{"a", "b", "c"}, "nums": []any{3, 1, 2}, "empty": []any{}, "nested": []any{1, []any{2, []any{3}}},
		"cfg": map[string]any{
			"host": "h1", "ports": []any{80, 443}, "v": value.Number{Text: "1.10", Value: 1.1},
			"deep": map[string]any{"x": 1}, "items": "own",
		},
		"users": []any{
			map[string]any{"name": "ann", "admin": true, "age": 30, "groups": []any{"a", "b"}},
			map[string]any{"name": "bob", "admin": false, "age": 20, "groups": []any{"b"}},
			map[string]any{"name": "cid", "admin": true, "age": 25, "groups": []any{}, "nick": "c"},
		},
		"index": 2, "last": false, "first": true, "len": "a variable", "item": map[string]any{"key": "k"},
		"done": map[string]any{"rc": 0, "stdout": "ok\n", "failed": false, "changed": true},
		"sk":   map[string]any{"skipped": true, "changed": false, "failed": false},
		"r":    map[string]any{"rc": value.Unknown{Steps: []int{3}}, "changed": false, "stdout": value.Unknown{Steps: []int{3, 1}}},
		"u":    value.Unknown{Steps: []int{7, 2}}, "us": []any{"x", value.Unknown{Steps: []int{4}}},
	}
}

func errorOf(t *testing.T, err error) *value.Error {
	t.Helper()
	e, ok := errors.AsType[*value.Error](err)
	if !ok {
		t.Fatalf("error is not an *value.Error: %v", err)
	}
	return e
}

func render(t *testing.T, text string, env value.Env) (eval.Result, error) {
	t.Helper()
	tmpl, err := eval.New().Template(text)
	if err != nil {
		return eval.Result{}, err
	}
	return tmpl.Render(env)
}
