package prior

import (
	"slices"
	"testing"

	"moon/events"
)

// TestFoldKeepsTheOrderAroundAGap removes the middle of a chain in each way there is: what is left keeps its order.
func TestFoldKeepsTheOrderAroundAGap(t *testing.T) {
	made := func(step string, after ...string) Record {
		return Record{
			Host: "localhost", Maker: Maker{Step: step, After: after}, Undo: &events.Undo{Action: "shell"},
		}
	}
	chain := []Record{made("p/a"), made("p/b", "p/a"), made("p/c", "p/b"), made("p/d", "p/c")}
	gone := func(steps ...string) (r Record) {
		for _, s := range steps {
			r.Gone = append(r.Gone, Key{"localhost", StepUndo, s})
		}
		return r
	}
	for name, test := range map[string]struct {
		then []Record
		want []string
	}{
		"nothing is gone":           {nil, []string{"p/c"}},
		"the middle":                {[]Record{gone("p/b", "p/c")}, []string{"p/a"}},
		"one after the other":       {[]Record{gone("p/c"), gone("p/b")}, []string{"p/a"}},
		"after a new name":          {[]Record{{Moved: map[string]string{"p/c": "p/x"}}, gone("p/x")}, []string{"p/b"}},
		"before a new name":         {[]Record{gone("p/c"), {Moved: map[string]string{"p/b": "p/x"}}}, []string{"p/x"}},
		"of a state that was saved": {[]Record{gone("p/c"), {Whole: Fold(append(slices.Clone(chain), gone("p/c"))).Things}, gone("p/b")}, []string{"p/a"}},
		"all that was before":       {[]Record{gone("p/a", "p/b", "p/c")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := Fold(append(slices.Clone(chain), test.then...))
			d := s.Find(Key{"localhost", StepUndo, "p/d"})
			if d == nil || !slices.Equal(d.After, test.want) {
				t.Errorf("the last one is %+v, not after %v", d, test.want)
			}
		})
	}
}
