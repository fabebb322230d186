package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"moon/engine"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
)

// stops runs a playbook with breakpoints, goes on whenever it stops, and says where it stopped and what was said.
func stops(t *testing.T, playbook string, breaks ...string) (at, said []string) {
	t.Helper()
	p, g := build(t, playbook)
	var first []events.Order
	for _, text := range breaks {
		list, why := engine.ParseBreak(p, text)
		if why != "" {
			t.Fatal(why)
		}
		for _, c := range list {
			first = append(first, events.Order{Command: c})
		}
	}
	r := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		return exec.Result{Outcome: events.OK, Values: job.Raw}
	}}
	s, err := engine.Start(engine.Config{Plan: p, Graph: g, Runner: r, Dry: r, Runs: t.TempDir(), First: first, Options: fact.Options{Forks: 1, OnFailure: fact.Drain}})
	if err != nil {
		t.Fatal(err)
	}
	feed, ended := s.Follow(context.Background(), false)
	for batch := range feed {
		for _, rec := range batch {
			switch e := rec.Event.(type) {
			case events.RunPaused:
				at = append(at, p.Steps[rec.Step].Label(p.Steps[rec.Step].Title()))
				s.Send(events.Order{Command: events.Continue{}})
			case events.PrintMessage:
				said = append(said, e.Message)
			case events.Warning:
				said = append(said, "warning: "+e.Message)
			}
		}
	}
	if err := ended(); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	return at, said
}

func TestBreakpoints(t *testing.T) {
	const loop = "- {name: x, id: each, shell: x, loop: [a, b, c, d]}\n- {name: after, set_fact: {v: 1}}\n- {name: last, shell: x}\n"
	for _, tc := range []struct {
		name     string
		breaks   []string
		at, said []string
	}{
		{"plain", []string{"last"}, []string{"last"}, nil},
		{"every round", []string{"each"}, []string{"x (a)", "x (b)", "x (c)", "x (d)"}, nil},
		{"condition", []string{"each if item == 'c'"}, []string{"x (c)"}, nil},
		{"index", []string{"each if index > 1 and not last"}, []string{"x (c)"}, nil},
		{"count", []string{"each after 2"}, []string{"x (c)", "x (d)"}, nil},
		{"condition and count", []string{"each if item != 'a' after 1"}, []string{"x (c)", "x (d)"}, nil},
		{"log only", []string{"each if index == 1 log at {{ item }}: {{ index }}"}, nil, []string{"at b: 1"}},
		{"never", []string{"last if 1 == 2"}, nil, nil},
		{"undecidable", []string{"last if nothing == 2"}, []string{"last"}, []string{"warning: the condition of this breakpoint cannot be decided: undefined variable `nothing`"}},
		{"a later one counts", []string{"last if 1 == 2", "last"}, []string{"last"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			at, said := stops(t, loop, tc.breaks...)
			if !slices.Equal(at, tc.at) || !slices.Equal(said, tc.said) {
				t.Errorf("stopped at %q and said %q, want %q and %q", at, said, tc.at, tc.said)
			}
		})
	}
}

func TestParseBreak(t *testing.T) {
	p, _ := build(t, "- {name: ask if ready, shell: x}\n- {name: b, shell: x}\n- {name: c, shell: x}\n- {name: b, shell: x}\n")
	for text, want := range map[string]string{
		"ask if ready":                 "0-1",
		"ask if ready if x > 1":        "0-1 if x > 1",
		"b":                            "1-2; 3-4",
		"* if a after 3 log x if y":    "0-4 if a after 3 log x if y",
		"c after 2":                    "2-3 after 2",
		"nosuch":                       "no step is `nosuch`; give an id, a path, a name (* stands for any text) or file:line; moon plan --flat lists the steps",
		"c if )":                       "unexpected `)`: expected a value",
		"c after 99999999999999999999": "after 99999999999999999999 is too often",
	} {
		list, why := engine.ParseBreak(p, text)
		var parts []string
		for _, c := range list {
			b := c.(events.Break)
			parts = append(parts, strings.ReplaceAll(strings.ReplaceAll(strings.Join([]string{itoa(b.Step), itoa(b.To)}, "-")+b.Clauses(), "  ", " "), "\n", ""))
		}
		if got := strings.Join(parts, "; ") + why; got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func itoa(n int) string { return string(rune('0' + n)) }
