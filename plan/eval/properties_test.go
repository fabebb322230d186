package eval_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"moon/plan/eval"
	"moon/plan/eval/value"
)

var switches = []string{"a", "b", "c", "d"}

// logic draws a condition over switches that reads the same in both languages.
func logic(t *rapid.T, depth int) string {
	kinds := []string{"name", "not", "and", "or", "compare", "constant"}
	if depth == 0 {
		kinds = kinds[:1]
	}
	sub := func() string { return logic(t, depth-1) }
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "not":
		return "not (" + sub() + ")"
	case "and":
		return "(" + sub() + " and " + sub() + ")"
	case "or":
		return "(" + sub() + " or " + sub() + ")"
	case "compare":
		return "((" + sub() + ") == (" + sub() + "))"
	case "constant":
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "constant")
	}
	return rapid.SampledFrom(switches).Draw(t, "name")
}

// possible gives every way the unknown switches of env may come out.
func possible(env vars) []vars {
	all := []vars{maps.Clone(env)}
	for _, name := range switches {
		if _, ok := env[name].(value.Unknown); !ok {
			continue
		}
		var more []vars
		for _, e := range all {
			for _, v := range []bool{false, true} {
				next := maps.Clone(e)
				next[name] = v
				more = append(more, next)
			}
		}
		all = more
	}
	return all
}

func drawSwitches(t *rapid.T) vars {
	env := vars{}
	for i, name := range switches {
		env[name] = rapid.SampledFrom([]any{true, false, value.Unknown{Steps: []int{i}}}).Draw(t, name)
	}
	return env
}

// A verdict that is known must hold whatever the unknown values turn out to be, in both languages, and a verdict that is
// not known must name unknown switches only.
func TestVerdictsAreSound(t *testing.T) {
	t.Parallel()
	e := eval.New()
	rapid.Check(t, func(t *rapid.T) {
		text, env := logic(t, 4), drawSwitches(t)
		for _, lang := range []eval.Language{eval.Expr, eval.Jinja} {
			c, err := e.Condition(text, lang)
			if err != nil {
				t.Fatal(err)
			}
			v, err := c.Eval(env)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range v.Missing {
				if _, ok := env[m.Name].(value.Unknown); !ok || v.Known {
					t.Fatalf("%s: missing %v", text, v.Missing)
				}
			}
			if !v.Known {
				if len(v.Missing) == 0 {
					t.Fatalf("%s is open for no reason", text)
				}
				continue
			}
			for _, world := range possible(env) {
				if got, err := c.Eval(world); err != nil || !got.Known || got.Holds != v.Holds {
					t.Fatalf("%d %s: %v, but %v with %v (%v)", lang, text, v, got, world, err)
				}
			}
		}
	})
}

// What a template renders while some values are unknown must, if nothing is missing, be what it renders in the end; and
// if something is missing, the open parts rendered again must give it.
func TestRenderingIsSound(t *testing.T) {
	t.Parallel()
	e := eval.New()
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "pieces") {
			switch rapid.SampledFrom([]string{"text", "output", "if", "for"}).Draw(t, "piece") {
			case "text":
				text.WriteString("-x-")
			case "output":
				fmt.Fprintf(&text, "{{ %s }}", logic(t, 2))
			case "if":
				fmt.Fprintf(&text, "{%% if %s %%}y{{ %s }}{%% else %%}n{%% endif %%}", logic(t, 2), logic(t, 1))
			case "for":
				fmt.Fprintf(&text, "{%% for i in [1, 2] %%}{{ i }}{{ %s }}{%% endfor %%}", logic(t, 2))
			}
		}
		env := drawSwitches(t)
		tmpl, err := e.Template(text.String() + ".")
		if err != nil {
			t.Fatal(err)
		}
		partial, err := tmpl.Render(env)
		if err != nil {
			t.Fatal(err)
		}
		again, err := e.Template(value.Text(partial.Value))
		if err != nil {
			t.Fatalf("%s is no template: %v", partial.Value, err)
		}
		for _, world := range possible(env) {
			full, err := tmpl.Render(world)
			if err != nil || len(full.Missing) > 0 {
				t.Fatalf("%s: %v, %v", text.String(), full, err)
			}
			second, err := again.Render(world)
			if err != nil || value.Text(second.Value) != full.Value {
				t.Fatalf("%s\n partly %s\n  fully %s\n  again %s (%v)", text.String(), partial.Value, full.Value, second.Value, err)
			}
			if len(partial.Missing) == 0 && partial.Value != full.Value {
				t.Fatalf("%s: %v, then %v", text.String(), partial.Value, full.Value)
			}
		}
	})
}

func drawValue(t *rapid.T, depth int) any {
	kinds := []string{"string", "int", "float", "bool", "nil", "list", "map"}
	if depth == 0 {
		kinds = kinds[:5]
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "int":
		return rapid.IntRange(-1<<50, 1<<50).Draw(t, "int")
	case "float":
		return rapid.Float64Range(-1e12, 1e12).Draw(t, "float")
	case "bool":
		return rapid.Bool().Draw(t, "bool")
	case "nil":
		return nil
	case "list":
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	case "map":
		m := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			m[rapid.String().Draw(t, "key")] = drawValue(t, depth-1)
		}
		return m
	}
	return rapid.String().Draw(t, "string")
}

// Values survive a whole {{ value }}, {{ value | to_json | from_json }} and {{ value | to_yaml | from_yaml }}.
func TestValuesSurvive(t *testing.T) {
	t.Parallel()
	e := eval.New()
	rapid.Check(t, func(t *rapid.T) {
		val := drawValue(t, 3)
		env := vars{"v": map[string]any{"inner": val}}
		for _, text := range []string{"{{ v.inner }}", "{{ v | to_json | from_json | attr('inner') }}", "{{ v['inner'] if true }}", "{{ [v.inner][0] }}"} {
			tmpl, err := e.Template(text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tmpl.Render(env)
			if err != nil || value.Text(got.Value) != value.Text(val) {
				t.Fatalf("%s: %#v became %#v (%v)", text, val, got.Value, err)
			}
		}
		var decoded any
		if list, ok := val.([]any); ok {
			if err := json.Unmarshal([]byte(value.Text(list)), &decoded); err != nil {
				t.Fatalf("%s is not JSON: %v", value.Text(list), err)
			}
		}
		if !reflect.DeepEqual(value.Plain(val), val) {
			t.Fatalf("Plain changed %#v", val)
		}
	})
}

// Every filter, test, function and method, called with anything, gives a value or one of our errors; a recovered panic
// would be a mistake of ours.
func TestCallablesTakeAnything(t *testing.T) {
	t.Parallel()
	words := eval.Words()
	filters, tests, functions, methods := words.Filters, words.Tests, words.Functions, words.Methods
	operands := []string{
		"name", "text", "digits", "n", "zero", "half", "flag", "nothing", "version", "lst", "nums", "empty", "nested", "cfg", "users", "u", "nope",
		"-1", "''", "'('", "'%'", "'%d'", "'{}'", "'ä'", "[[]]", "{}", "[none]", "2 ** 62", "1e300", "'replace'", "'name'", "'a.b'", "'defined'", "'>'",
	}
	e := eval.NewBounded(100_000)
	draw := func(t *rapid.T) string {
		operand := func() string { return rapid.SampledFrom(operands).Draw(t, "operand") }
		args := func() string {
			return "(" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(operands), 0, 3).Draw(t, "arguments"), ", ") + ")"
		}
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return operand() + " | " + rapid.SampledFrom(filters).Draw(t, "filter") + args()
		case 1:
			return operand() + " is " + rapid.SampledFrom(tests).Draw(t, "test") + args()
		case 2:
			return rapid.SampledFrom(functions).Draw(t, "function") + args()
		case 3:
			return operand() + "." + rapid.SampledFrom(methods).Draw(t, "method") + args()
		}
		ops := []string{"+", "-", "*", "/", "//", "%", "**", "~", "==", "<", ">=", "in", "not in", "and"}
		return operand() + " " + rapid.SampledFrom(ops).Draw(t, "operator") + " " + operand()
	}
	rapid.Check(t, func(t *rapid.T) {
		for range 50 {
			text := draw(t)
			x, err := e.Expression(text, eval.Jinja)
			if err == nil {
				_, err = x.Value(world())
			}
			if err != nil && strings.HasPrefix(err.Error(), "cannot be evaluated") {
				t.Fatalf("%s: %v", text, err)
			}
		}
	})
}
