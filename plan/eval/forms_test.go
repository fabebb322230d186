package eval_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/saved"
)

// Items of a loop that the run has found go through JSON as plain data, and come back as they were: with the text that the playbook has
// for a number, all digits of a large one, and the point of one that is whole.
func TestFormsSurviveJSON(t *testing.T) {
	t.Parallel()
	list := func(items ...any) []any { return items }
	for name, items := range map[string][]any{
		"small":   list(0, -7, 0.5, true, nil, "a", ""),
		"large":   list(12345678901234567, -12345678901234567, math.MaxInt, math.MinInt, 1<<53, 1<<53+1, -(1 << 53), -(1<<53 + 1)),
		"floats":  list(1.0, -1.0, 1e3, 1e21, 98765432109876543210.0, 1e300, -0.25, 2.5e-7, 9007199254740993.0),
		"written": list(value.Number{Text: "1.10", Value: 1.1}, value.Number{Text: "0x10", Value: 16}, value.Number{Text: "1e3", Value: 1000.0}),
		"texts":   list("1.0", "12345678901234567", "1e3", "1.0 1.10", "0x10"),
		"exact":   list(value.Number{Text: "98765432109876543210", Value: 98765432109876543210.0}, value.Number{Text: "12345678901234567", Value: 12345678901234567}),
		"nested": list(
			list(1.0, list("x", value.Number{Text: "2.50", Value: 2.5})),
			map[string]any{"a": 1.0, "b": list(1, 1.0, "1.0"), "c": map[string]any{"0": math.MaxInt}},
		),
		"none": {},
	} {
		found, err := saved.Found(items, false)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		var kept plan.Found
		if err := json.Unmarshal(text, &kept); err != nil {
			t.Fatal(err)
		}
		if got := saved.Items(kept, nil, false); !reflect.DeepEqual(got, items) {
			t.Errorf("%s: %#v came back as %#v, from %s", name, items, got, text)
		}
		// The plan that is made at once must be the one that is made from what is kept.
		if got := saved.Items(found, nil, false); !reflect.DeepEqual(got, items) {
			t.Errorf("%s: %#v became %#v before it was kept", name, items, got)
		}
	}
	// Most lists need nothing.
	if forms := value.Forms(list(1, 0.5, "1.0", map[string]any{"a": []any{true, nil}})); forms != nil {
		t.Errorf("there is nothing to say of these numbers, and it says %v", forms)
	}
}

// Maps of plays have an order, and numbers among their keys, next to the numbers in them.
func TestFormsInOrderedMaps(t *testing.T) {
	t.Parallel()
	inner := value.NewDict(2)
	inner.Set("z", 1.0)
	inner.Set("a", 12345678901234567)
	outer := value.NewDict(5)
	outer.SetAny(8080, inner)
	outer.SetAny(22, []any{2.0, 2})
	outer.SetAny(1.5, true)
	outer.SetAny(3.0, "a float")
	outer.SetAny(true, nil)
	outer.SetAny(1<<60+1, "large")
	outer.Set("22.0", "a text")
	found, err := saved.Found([]any{outer}, false)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	var kept plan.Found
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	if got := saved.Items(kept, nil, true); !reflect.DeepEqual(got, []any{outer}) {
		t.Errorf("got %s, from %s", value.PythonText(got), text)
	}
}
