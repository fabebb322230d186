package moves

import (
	"reflect"
	"testing"

	"moon/events"
	"moon/events/fact"
)

// TestRenumbered sends commands that were meant for a plan of five steps, to which two were added behind the second and one behind the
// fourth, in two plans that came after it.
func TestRenumbered(t *testing.T) {
	var grown List
	grown.Note("one", 5, &fact.RunReplanned{Expanded: []int{1}, Added: []events.Range{{From: 2, To: 4}}, Total: 7})
	grown.Note("two", 7, &fact.RunReplanned{Expanded: []int{5}, Added: []events.Range{{From: 6, To: 7}}, Total: 8})
	edited := append(List{{from: "zero"}}, grown...)
	span := func(from, to int) events.Range { return events.Range{From: from, To: to} }
	tests := []struct {
		of   List
		from string
		c    events.Command
		want events.Command
		why  string
	}{
		{grown, "one", events.Skip{Step: 0}, events.Skip{Step: 0}, ""},
		{grown, "one", events.Skip{Step: 2}, events.Skip{Step: 4}, ""},
		{grown, "one", events.Skip{Step: 3}, events.Skip{Step: 5}, ""},
		{grown, "one", events.Skip{Step: 4}, events.Skip{Step: 7}, ""},
		{grown, "two", events.Skip{Step: 4}, events.Skip{Step: 4}, ""},
		{grown, "two", events.Skip{Step: 6}, events.Skip{Step: 7}, ""},
		{grown, "three", events.Skip{Step: 6}, events.Skip{Step: 6}, ""},
		{grown, "", events.Skip{Step: 6}, events.Skip{Step: 6}, ""},
		{grown, "one", events.Exclude{Range: span(2, 4)}, events.Exclude{Range: span(4, 6)}, ""},
		{grown, "one", events.Exclude{Range: span(1, 3)}, nil, planGrown},
		{grown, "one", events.Exclude{Range: span(0, 5)}, nil, planGrown},
		{grown, "two", events.Retry{Range: span(4, 6)}, events.Retry{Range: span(4, 6)}, ""},
		{grown, "two", events.Retry{Range: span(5, 7)}, nil, planGrown},
		{grown, "one", events.Break{Step: 3, After: 2}, events.Break{Step: 5, After: 2}, ""},
		{grown, "one", events.Break{Step: 2, To: 4}, events.Break{Step: 4, To: 6}, ""},
		{grown, "one", events.Rerun{Range: span(2, 4), Steps: []int{2, 3}}, events.Rerun{Range: span(4, 6), Steps: []int{4, 5}}, ""},
		{grown, "one", events.Rerun{Range: span(1, 4), Steps: []int{1, 3}}, nil, planGrown},
		{grown, "one", events.Advance{Verb: "step"}, events.Advance{Verb: "step"}, ""},
		{grown, "one", events.Advance{Verb: "over", Range: span(0, 2)}, events.Advance{Verb: "over", Range: span(0, 2)}, ""},
		{grown, "one", events.Continue{}, events.Continue{}, ""},
		{grown, "never", events.Skip{Step: 0}, nil, planChanged},
		{grown, "never", events.Pause{}, events.Pause{}, ""},
		{edited, "zero", events.Answer{Step: 0}, nil, planChanged},
		{edited, "one", events.Answer{Step: 2}, events.Answer{Step: 4}, ""},
	}
	for _, tt := range tests {
		got, why := tt.of.Renumbered(tt.c, tt.from, "three")
		if why != tt.why || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%#v of %q: %#v, %q; want %#v, %q", tt.c, tt.from, got, why, tt.want, tt.why)
		}
	}
}
