package exact

import (
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/events/fact"
	"moon/exec/fault"
	"moon/plan"
)

func change(kind events.ChangeKind, summary, text string) events.Prediction {
	return events.Prediction{Diff: events.Diff{Kind: kind, Path: "/x", Summary: summary, Text: text}}
}

func TestDiffers(t *testing.T) {
	create := change(events.ChangeCreate, "new file, 2 bytes", "+a")
	with := func(f events.Prediction, do func(*events.Prediction)) events.Prediction { do(&f); return f }
	for _, tc := range []struct {
		name     string
		was, now events.Prediction
		want     string // a part of it; "": no difference
	}{
		{"the same", create, create, ""},
		{"another kind", create, change(events.ChangeUpdate, "content", "+a"), "predicted to create (new file, 2 bytes), but would now update (content)"},
		{"nothing any more", create, change(events.ChangeNone, "", ""), "but would now change nothing"},
		{"another summary", create, change(events.ChangeCreate, "new file, 3 bytes", "+a"), "but would now create (new file, 3 bytes)"},
		{"another text", create, change(events.ChangeCreate, "new file, 2 bytes", "+b"), "but the text would now be different"},
		{"another path", create, with(create, func(f *events.Prediction) { f.Diff.Path = "/y" }), "predicted for /x, but would now be done to /y"},
		{
			"parents that another step has made", change(events.ChangeCreate, "new directory (creates 2 parents too), mode 0755", ""),
			change(events.ChangeCreate, "new directory, mode 0755", ""), "",
		},
		{"skipped, and now not", events.Prediction{Skipped: "when x"}, create, "predicted to be skipped (when x), but would now create"},
		{"skipped now", create, events.Prediction{Skipped: "creates: /x exists"}, "but would now be skipped (creates: /x exists)"},
		{"skipped for another reason", events.Prediction{Skipped: "when x"}, change(events.ChangeNone, "", ""), ""},
		{"unknown now", create, change(events.ChangeUnknown, "too slow", ""), "predicted to create (new file, 2 bytes), but cannot be predicted now: too slow"},
		{"it fails by itself", create, events.Prediction{Error: "no such directory"}, ""},
		{"its host is away", create, events.Prediction{Away: true, Error: "no route"}, ""},
		{"nothing was known", change(events.ChangeUnknown, "", ""), create, ""},
		{"it was to fail", events.Prediction{Error: "no"}, create, ""},
	} {
		e := Expect(&plan.Step{Path: "p"}, &tc.was)
		got := Differs(&e, &tc.now)
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestTextIsKeptByItsDigest(t *testing.T) {
	long := change(events.ChangeCreate, "new", strings.Repeat("+a\n", mostText))
	e := Expect(&plan.Step{}, &long)
	if e.Diff.Text != "" || Differs(&e, &long) != "" {
		t.Errorf("text of %d bytes; differs: %q", len(e.Diff.Text), Differs(&e, &long))
	}
	other := change(events.ChangeCreate, "new", strings.Repeat("+a\n", mostText)+"+b\n")
	if Differs(&e, &other) == "" {
		t.Error("another long text is taken for the same")
	}
	hidden := Expect(&plan.Step{NoLog: true}, &events.Prediction{Diff: events.Diff{Kind: events.ChangeUpdate}})
	if hidden.Partly != events.PartlyNoLog || Differs(&hidden, &events.Prediction{Diff: events.Diff{Kind: events.ChangeUpdate, Path: "/y"}}) != "" ||
		Differs(&hidden, &events.Prediction{Diff: events.Diff{Kind: events.ChangeCreate}}) == "" {
		t.Errorf("with no_log the kind is not all that counts: %+v", hidden)
	}
}

// TestWatch follows the records of a run: whose change something is, what has drifted, and what a person accepts.
func TestWatch(t *testing.T) {
	p := &plan.Plan{Steps: []plan.Step{
		{Index: 0, Path: "a", Action: "shell"},
		{Index: 1, Path: "b", Action: "copy"},
		{Index: 2, Path: "c", Action: "copy"},
		{Index: 3, Path: "d", Action: "shell", Conn: &plan.Connection{Host: "web"}},
	}}
	start := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	var w Watch
	inward := func(string) bool { return false }
	see := func(after time.Duration, f fact.Fact) { w.See(p, fact.Record{At: start.Add(after), Fact: f}, inward) }
	see(0, fact.AttemptStarted{Step: 0})
	if w.On() {
		t.Fatal("held to nothing, and on")
	}
	create := change(events.ChangeCreate, "new file", "")
	see(0, fact.RunExpects{Expectations: *Keep(p, []*events.Prediction{nil, &create, &create, nil}, start)})
	see(1*time.Second, fact.AttemptStarted{Step: 0})
	see(3*time.Second, fact.AttemptFinished{Step: 0, Outcome: events.Changed})
	see(4*time.Second, fact.AttemptStarted{Step: 3})
	see(6*time.Second, fact.AttemptFinished{Step: 3, Outcome: events.Changed})
	see(8*time.Second, fact.AttemptStarted{Step: 1})
	var took, way time.Duration // until the age was known, and from there until the answer had come back
	by := func(step int, changed time.Duration) string {
		now := start.Add(time.Minute)
		f := create
		f.Took = took
		if changed >= 0 {
			f.Age = now.Add(-way).Sub(start.Add(changed))
		}
		return w.deeds.copyOf(&p.Steps[step]).By(&p.Steps[step], &f, now.Add(-took-way), now)
	}
	for _, tc := range []struct {
		changed time.Duration
		ours    bool
	}{{500 * time.Millisecond, false}, {2 * time.Second, true}, {3500 * time.Millisecond, false}, {5 * time.Second, false}, {-1, true}} {
		if got := by(1, tc.changed); (got != "") != tc.ours {
			t.Errorf("changed at %s: by %q", tc.changed, got)
		}
	}
	// What a step did may look later than its end by as long as the answer was on its way, but not by as long as the prediction took.
	took, way = 20*time.Second, time.Second
	if got := by(1, 2900*time.Millisecond); got == "" {
		t.Error("the way back counts against the step")
	}
	if got := by(1, 3100*time.Millisecond); got != "" {
		t.Errorf("changed while nothing ran: by %q", got)
	}
	took, way = 0, 0
	// It drifts, and is accepted. That it was tried makes nothing its own.
	update := change(events.ChangeUpdate, "content", "")
	would := Expect(&p.Steps[1], &update)
	see(9*time.Second, fact.AttemptFinished{Step: 1, Outcome: events.Failed, Class: fault.Drift, Would: &would})
	if got := by(1, 8500*time.Millisecond); got != "" {
		t.Errorf("what came while it was not done is by %q", got)
	}
	if w.book.Of(&p.Steps[1]).Diff.Kind != events.ChangeCreate {
		t.Error("accepted before anybody has")
	}
	see(10*time.Second, fact.Commanded{Order: events.Order{Command: events.Accept{Range: events.Range{From: 0, To: 3}}}})
	if w.book.Of(&p.Steps[1]).Diff.Kind != events.ChangeUpdate || w.book.Of(&p.Steps[2]).Diff.Kind != events.ChangeCreate {
		t.Error("not what was accepted")
	}
	// One that was killed may find its own work; what came after is nobody's.
	see(11*time.Second, fact.AttemptStarted{Step: 2})
	w.Cut(start.Add(11 * time.Second))
	if by(2, 20*time.Second) == "" || by(1, 11500*time.Millisecond) != "" {
		t.Errorf("after a crash: %q, %q", by(2, 20*time.Second), by(1, 11500*time.Millisecond))
	}
}
