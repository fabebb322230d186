package memo_test

import (
	"fmt"
	"slices"
	"testing"

	"moon/plan/eval/value"
	"moon/plan/memo"
	"moon/plan/vars"
)

// TestSharesBelow renders a variable once for all names of a step, with the steps that its value is from; one that went wrong is rendered
// for each name, as another way may lead to it.
func TestSharesBelow(t *testing.T) {
	step, frame := memo.NewStep(), &vars.Frame{}
	good, bad, above := &vars.Binding{Name: "good"}, &vars.Binding{Name: "bad"}, &vars.Binding{Name: "above"}
	rendered := map[string]int{}
	for name := range 2 {
		m := memo.New(step)
		var took []int
		ask := func(b *vars.Binding, give func() any) any {
			v, ok := m.Value(b, frame, &took, func() any { rendered[b.Name]++; return give() })
			if !ok {
				t.Fatal("the chain is short")
			}
			return v
		}
		for range 2 {
			if v := ask(good, func() any { took = append(took, 7); return "v" }); v != "v" {
				t.Errorf("it is %v", v)
			}
		}
		ask(above, func() any {
			return []any{ask(bad, func() any { return value.Fault{Err: &value.Error{Message: "wrong"}} })}
		})
		if !slices.Equal(took, []int{7}) {
			t.Errorf("name %d took %v", name, took)
		}
	}
	if got, want := fmt.Sprint(rendered), fmt.Sprint(map[string]int{"good": 1, "bad": 2, "above": 2}); got != want {
		t.Errorf("rendered %s, want %s", got, want)
	}
}

// TestChainEnds refuses a chain of variables that would not fit on the stack.
func TestChainEnds(t *testing.T) {
	m, deep := memo.New(nil), 0
	var ask func() any
	ask = func() any {
		deep++
		v, ok := m.Value(&vars.Binding{}, nil, nil, ask)
		if !ok {
			return "end"
		}
		return v
	}
	if v := ask(); v != "end" || deep != memo.MaxChain+1 {
		t.Errorf("it ends with %v after %d", v, deep)
	}
}
