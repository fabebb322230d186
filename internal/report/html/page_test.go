package html_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"moon/engine"
	"moon/events"
	report "moon/internal/report/html"
	"moon/internal/report/reading"
	"moon/plan"
)

// hostile is a text that would be markup if it were not escaped, in whatever place.
const hostile = `</pre></script><script>alert("x")</script><img src=http://evil onerror='alert(1)'>&amp;` + "\x1b[31m"

// playbook has a block, a parallel one, a loop and a step that is skipped; its names are hostile.
const playbook = `
steps:
  - {name: 'first </title><script>x</script>', shell: "true"}
  - name: 'build <b>'
    block:
      - {name: compile, shell: "true"}
      - {name: test, shell: "true"}
  - {name: 'push {{ item }}', shell: "true", with_items: [eu, '<us>']}
  - {name: last, shell: "true", when: 1 > 2}
`

// taken is a run of a playbook in which everything has happened: changes, output, attempts, a failure.
func taken(t *testing.T, text string) *reading.Reading {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("playbook.yml", text)
	p, _, ds := engine.Build(plan.Options{
		Path: filepath.Join(dir, "playbook.yml"), Dir: dir, Home: "/home/ada", User: "ada", Facts: plan.KnownFacts{Here: map[string]any{}},
	})
	if p == nil {
		t.Fatal(ds)
	}
	r := &reading.Reading{PlanFor: func(string) *plan.Plan { return p }, Out: dir}
	at := time.Date(2026, 11, 29, 1, 2, 3, 0, time.UTC)
	seq := uint64(0)
	take := func(step int, e events.Event) {
		seq++
		at = at.Add(100 * time.Millisecond)
		r.Take(events.Record{Seq: seq, Run: "20261129-010203-abcd", Time: at, Mono: time.Duration(seq) * 100 * time.Millisecond, Step: step, Event: e})
	}
	take(-1, events.RunStarted{TotalSteps: len(p.Steps), Playbook: "playbook.yml", Moon: "1.0 <b>"})
	take(-1, events.PlanLoaded{TotalSteps: len(p.Steps), Digest: "d"})
	take(-1, events.Warning{Message: hostile})
	last := len(p.Steps) - 1
	for i := range last {
		prefix := fmt.Sprintf("step-%04d.1", i+1)
		take(i, events.StepStarted{Name: p.Steps[i].Title(), Action: "shell", Command: "shell: " + hostile, Out: prefix})
		switch i {
		case 0:
			write(prefix+".out", hostile+"\nplain\n")
			write(prefix+".err", hostile)
			take(i, events.StepCompleted{Changed: true, Diff: &events.Diff{
				Kind: events.ChangeUpdate, Path: "/etc/" + hostile, Summary: hostile, Text: "--- a\n+++ b\n@@ -1 +1 @@\n-" + hostile + "\n+new\n",
			}})
		case 1:
			write(prefix+".out", strings.Repeat("0123456789abcde\n", 1<<14)) // 256 KiB
			take(i, events.StepRetrying{Attempt: 2, Due: at, Error: "exit status 1", Out: fmt.Sprintf("step-%04d.2", i+1)})
			take(i, events.AttemptStarted{Attempt: 2})
			take(i, events.StepCompleted{})
		case 2:
			rc := 3
			write(prefix+".err", "the end\n")
			take(i, events.StepFailed{Error: "exit status 3\n" + hostile, RC: &rc})
		default:
			take(i, events.StepCompleted{Changed: true})
		}
	}
	take(last, events.StepSkipped{Reason: events.SkipWhen, Detail: hostile})
	take(-1, events.RunCompleted{
		TotalSteps: len(p.Steps), Outcome: events.RunFailed, Failed: 1, Error: hostile, Duration: time.Second,
		Hosts: []events.HostCounts{{Host: hostile, OK: 3, Failed: 1}},
	})
	return r
}

func page(t *testing.T, r *reading.Reading) string {
	t.Helper()
	var b bytes.Buffer
	if err := (&report.Page{Reading: r}).Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// elements are those of a page, in order.
func elements(t *testing.T, text string) (list []*html.Node) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			list = append(list, n)
		}
	}
	return list
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// TestAlone has a page need nothing else, and hold no markup but its own: one script, which the policy names, and no address.
func TestAlone(t *testing.T) {
	known := map[string]bool{}
	for name := range strings.FieldsSeq("html head meta title style body header h1 h2 span dl dt dd ul li section p a pre details summary div input " +
		"button strong table tbody tr th td i code footer script") {
		known[name] = true
	}
	ids, links, scripts, policy := map[string]bool{}, []string{}, []string{}, ""
	for _, n := range elements(t, page(t, taken(t, playbook))) {
		if !known[n.Data] {
			t.Errorf("there is an element <%s>", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "src" || strings.HasPrefix(a.Key, "on") || a.Key == "style" && n.Data != "i":
				t.Errorf("<%s> has %s=%q", n.Data, a.Key, a.Val)
			case a.Key == "id":
				if ids[a.Val] {
					t.Errorf("the id %s is there twice", a.Val)
				}
				ids[a.Val] = true
			case a.Key == "href":
				links = append(links, a.Val)
			}
		}
		if n.Data == "script" {
			scripts = append(scripts, n.FirstChild.Data)
		}
		if attribute(n, "http-equiv") == "Content-Security-Policy" {
			policy = attribute(n, "content")
		}
	}
	if len(scripts) != 1 {
		t.Fatalf("there are %d scripts", len(scripts))
	}
	sum := sha256.Sum256([]byte(scripts[0]))
	if want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) ||
		!strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the policy is %q, and the script %s", policy, want)
	}
	if len(links) < 5 {
		t.Errorf("there are %d links", len(links))
	}
	for _, link := range links {
		if !strings.HasPrefix(link, "#") || !ids[link[1:]] {
			t.Errorf("a link leads to %q", link)
		}
	}
}

// TestWhole has in the page, before any script runs, the tree and all that is known of each step.
func TestWhole(t *testing.T) {
	list := elements(t, page(t, taken(t, playbook)))
	steps, scopes, bars := map[string]string{}, []string{}, 0
	for _, n := range list {
		switch attribute(n, "class") {
		case "step":
			steps[attribute(n, "id")] = textOf(n)
			if open := attribute(n, "id") == "step-0003"; open != (len(n.Attr) == 4) {
				t.Errorf("%s is open: %v", attribute(n, "id"), !open)
			}
		case "scope":
			scopes = append(scopes, textOf(n.FirstChild))
		case "track":
			bars++
		case "tools":
			if len(n.Attr) != 2 {
				t.Error("the search is there without a script")
			}
		}
	}
	escaped := strings.ReplaceAll(hostile, "\x1b[31m", "")
	for id, parts := range map[string][]string{
		"step-0001": {"first </title><script>x</script>", "changed", escaped + "\nplain\n", "+new", "playbook.yml:3", "shell: " + escaped},
		"step-0002": {"attempts", "attempt 1", "before this: moon show 20261129-010203-abcd --output step-0002"},
		"step-0003": {"exit status", "3", "the end", "failed"},
		"step-0004": {"push eu"},
		"step-0005": {"push <us>"},
		"step-0006": {"skipped", "is false"},
	} {
		for _, part := range parts {
			if !strings.Contains(steps[id], part) {
				t.Errorf("%s lacks %q:\n%s", id, part, steps[id])
			}
		}
	}
	if len(steps) != 6 || bars != 5 || len(scopes) != 2 || scopes[0] != "block build <b> 1 ok, 1 failed" {
		t.Errorf("%d steps, %d bars, scopes %q", len(steps), bars, scopes)
	}
	if size := len(steps["step-0002"]); size > 70<<10 {
		t.Errorf("256 KiB of output take %d bytes", size)
	}
	all := textOf(list[0])
	for _, part := range []string{"Failed", escaped, "1 warning", "Not in this page, or not whole: 1 output", "failed"} {
		if !strings.Contains(all, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

// TestBounds cuts a large run, says what is cut, and keeps what has failed.
func TestBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString("steps:\n")
	const n = 5200
	for i := range n {
		fmt.Fprintf(&b, "  - {print: x%d}\n", i)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "playbook.yml"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p, _, ds := engine.Build(plan.Options{Path: filepath.Join(dir, "playbook.yml"), Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{}}})
	if p == nil {
		t.Fatal(ds)
	}
	r := &reading.Reading{PlanFor: func(string) *plan.Plan { return p }, Out: dir}
	take := func(step int, e events.Event) {
		r.Take(events.Record{Run: "r", Time: time.Unix(int64(step), 0), Step: step, Event: e})
	}
	take(-1, events.RunStarted{TotalSteps: n, Playbook: "playbook.yml"})
	take(-1, events.PlanLoaded{TotalSteps: n, Digest: "d"})
	for i := range n {
		take(i, events.StepStarted{Name: "x"})
		if i == n-1 {
			take(i, events.StepFailed{Error: "no"})
			break
		}
		take(i, events.StepCompleted{Changed: true, Diff: &events.Diff{Kind: events.ChangeUpdate, Text: strings.Repeat("+line\n", 500)}})
	}
	take(-1, events.RunCompleted{TotalSteps: n, Outcome: events.RunFailed})
	text := page(t, r)
	steps, bars := 0, 0
	for _, e := range elements(t, text) {
		switch attribute(e, "class") {
		case "step":
			steps++
		case "track":
			bars++
		}
	}
	if steps != 5000 || bars != 1000 {
		t.Errorf("%d steps and %d bars are shown", steps, bars)
	}
	for _, want := range []string{`id="step-5200"`, "and 200 more", "200 steps, ", " diffs.", "which took less"} {
		if !strings.Contains(text, want) && !strings.Contains(text, strings.ReplaceAll(want, "and 200 more", "and 200 steps more")) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if len(text) > 20<<20 {
		t.Errorf("the page has %d bytes", len(text))
	}
}

// TestNoPlan writes what is known without the plan.
func TestNoPlan(t *testing.T) {
	r := &reading.Reading{Out: t.TempDir()}
	take := func(step int, e events.Event) {
		r.Take(events.Record{Run: "r", Time: time.Unix(1, 0), Step: step, Event: e})
	}
	take(-1, events.RunStarted{TotalSteps: 1, Playbook: "p.yml"})
	take(-1, events.PlanLoaded{TotalSteps: 1})
	take(0, events.StepStarted{Name: "only"})
	if text := page(t, r); !strings.Contains(text, "not ended") || !strings.Contains(text, "only <span") || !strings.Contains(text, "plan of this run is not known") {
		t.Error(text)
	}
}
