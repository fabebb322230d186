package markdown_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/internal/report/markdown"
	"moon/internal/report/reading"
	"moon/plan"
)

// run takes in a run of n steps, of which fail fail; the rest changes something.
func run(t *testing.T, n int, fail func(step int) bool, name string) *reading.Reading {
	t.Helper()
	p := graphtest.NewPlan(n)
	r := &reading.Reading{PlanFor: func(string) *plan.Plan { return p }, Out: t.TempDir()}
	at := time.Date(2026, 11, 29, 1, 2, 3, 0, time.UTC)
	take := func(step int, e events.Event) {
		at = at.Add(200 * time.Millisecond)
		r.Take(events.Record{Run: "20261129-010203-abcd", Time: at, Step: step, Event: e})
	}
	take(-1, events.RunStarted{TotalSteps: n, Playbook: "site.yml"})
	take(-1, events.PlanLoaded{TotalSteps: n, Digest: "d"})
	take(-1, events.Warning{Message: "see https://example.org, @ada"})
	result := events.RunCompleted{TotalSteps: n, Outcome: events.RunDone, Duration: 90 * time.Second}
	for i := range n {
		take(i, events.StepStarted{Name: name, Out: fmt.Sprint(i)})
		if fail(i) {
			if err := os.WriteFile(filepath.Join(r.Out, fmt.Sprint(i, ".err")), []byte("one\n```\n<b>two</b>\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			result.Failed++
			result.Outcome = events.RunFailed
			take(i, events.StepFailed{Error: "exit status 3"})
			continue
		}
		take(i, events.StepCompleted{Changed: true, Diff: &events.Diff{Kind: events.ChangeCreate, Summary: "new <file>"}})
	}
	take(-1, result)
	return r
}

func summary(t *testing.T, r *reading.Reading) string {
	t.Helper()
	var b bytes.Buffer
	if err := (&markdown.Summary{Reading: r}).Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const want = `## ❌ site.yml: failed

1 failed, 1 changed of 2 steps in 1:30 · run ` + "`20261129-010203-abcd`" + `

### Failed

**\[x\](y) &lt;i\>**

` + "````text" + `
exit status 3
one
` + "```" + `
<b>two</b>
` + "````" + `

<details><summary>Changed: 1</summary>

- \[x\](y) &lt;i\>: create (new &lt;file\>)

</details>

<details><summary>Slowest</summary>

- 200ms \[x\](y) &lt;i\>
- 200ms \[x\](y) &lt;i\>

</details>

### Warnings

- see https&#58;//example.org, &#64;ada
`

func TestSummary(t *testing.T) {
	if got := summary(t, run(t, 2, func(i int) bool { return i == 1 }, "[x](y) <i>")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBounds keeps the summary of a large run far below what GitHub takes, and says how much is not in it.
func TestBounds(t *testing.T) {
	got := summary(t, run(t, 3000, func(i int) bool { return i%2 == 0 }, strings.Repeat("long ", 40)))
	if len(got) > 64<<10 {
		t.Errorf("it has %d bytes", len(got))
	}
	for _, part := range []string{"1500 failed, 1500 changed of 3000 steps", "\nand 1480 more\n", "- and 1450 more\n"} {
		if !strings.Contains(got, part) {
			t.Errorf("it lacks %q", part)
		}
	}
}
