package tui

import (
	"fmt"
	"strings"
	"testing"

	"moon/events"
	"moon/tui/tuitest"
	"moon/tui/view"
)

// treeRow is the row of a node, without the gutter and the divider.
func (s *screen) treeRow(name string) string {
	s.t.Helper()
	for row := range strings.SplitSeq(s.shows(), "\n") {
		if cells := []rune(row); len(cells) > s.m.CurrentLayout().TreeW {
			row = string(cells[:s.m.CurrentLayout().TreeW])
		}
		if strings.Contains(row, name) {
			return strings.TrimSpace(row)
		}
	}
	s.t.Fatalf("no row %q in\n%s", name, s.shows())
	return ""
}

// TestCollapsedRows says in the row of a collapsed scope what is in it: what would be done, what was done, and what went wrong.
func TestCollapsedRows(t *testing.T) {
	const loop = "loop: install packages"
	s, calls := predicting(t, 120, 40, false, somePredicted)
	<-(<-calls).told
	s.frame()
	s.on(loop)
	if got, want := s.treeRow(loop), "◇ │ ├ ▾ loop: install packages                           × 4"; strings.TrimPrefix(got, "▎  ") != want {
		t.Errorf("open:\n%s\nwant\n%s", got, want)
	}
	s.press("h")
	if got, want := s.treeRow(loop), "◇ │ ├ ▸ loop: install packages                       × 4  -1"; strings.TrimPrefix(got, "▎  ") != want {
		t.Errorf("collapsed:\n%s\nwant\n%s", got, want)
	}
	s.on("install git")
	s.keys("x")
	<-(<-calls).told
	s.on("install fd-find")
	s.keys("x")
	<-(<-calls).told
	s.on("include: packages.yml")
	s.keys("h")
	if got, want := s.treeRow("include: packages.yml"), "◇ ├ ▸ include: packages.yml                   ✗1 +1 ~1 ⊘2  6"; strings.TrimPrefix(got, "▎  ") != want {
		t.Errorf("two excluded:\n%s\nwant\n%s", got, want)
	}
}

// TestCollapsedOutcomes counts how steps have ended, if in more than one way, and drops that first if room is short.
func TestCollapsedOutcomes(t *testing.T) {
	for _, c := range []struct {
		w    int
		want string
	}{
		{120, "✗ ├ ▸ include: packages.yml      1 failed  ✓4 ~3  8/8  00:11"},
		{100, "✗ ├ ▸ packages.yml            1 failed  8/8  00:11"},
		{60, "✗ ├ ▸ packages.yml           1 failed  ✓4 ~3  8/8  00:11"},
		{48, "✗ ├ ▸ packages.yml             1 failed  8/8"},
	} {
		s := newScreen(t, setup{w: c.w, h: 40, fake: func(f *tuitest.Engine) { f.Fails["unpack go"] = 1 }})
		s.keys("A c")
		s.on("include: packages.yml")
		if s.m.FocusedPane() == view.PaneDetail {
			s.press("tab")
		}
		s.m.Rows.Fold(s.m.CursorNode(), true)
		s.frame()
		got := s.treeRow("packages.yml")
		if got = strings.TrimLeft(got, "▎❯ "); got != c.want {
			t.Errorf("%d columns:\n%s\nwant\n%s", c.w, got, c.want)
		}
	}
}

// TestUnreachableCollapsed tells hosts that were not reached from steps that failed.
func TestUnreachableCollapsed(t *testing.T) {
	s := newScreen(t, setup{p: twoPlays(), w: 120, h: 40})
	s.keys("A")
	task := int(s.m.Tree.ScopeNode[2])
	title := s.m.Tree.Title(task)
	r := s.m.Tree.Steps(task)
	for i := r.From; i < r.To; i++ {
		s.f.Say(i, events.StepStarted{})
		if i == r.From {
			s.f.Say(i, events.StepCompleted{})
			continue
		}
		s.f.Say(i, events.StepFailed{Unreachable: true, Error: "no route"})
	}
	s.frame()
	s.m.Rows.Fold(task, true)
	s.frame()
	want := fmt.Sprintf("%d unreachable  ✓1", r.To-r.From-1)
	if got := s.treeRow(title); !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// manyDiffs has each step change a file of a few lines.
func manyDiffs(n int) func(*tuitest.Engine) {
	return func(f *tuitest.Engine) {
		f.Result = func(i int, e *events.StepCompleted) {
			e.Diff = &events.Diff{
				Kind: events.ChangeUpdate, Path: fmt.Sprintf("/etc/file%d", i),
				Text: strings.Repeat(fmt.Sprintf("+line of %d, which is so long that it is wrapped where wrapping is on, as it has many words\n", i), i%n),
			}
		}
	}
}

// TestScopeDiffs shows the diffs of all steps below the cursor. A small screen, which makes only what it shows, scrolls through the
// same lines that a tall one shows at once.
func TestScopeDiffs(t *testing.T) {
	for _, wrap := range []string{"", "w"} {
		of := func(h int) *screen {
			s := newScreen(t, setup{p: devbox(), w: 120, h: h, fake: manyDiffs(7)})
			s.keys("A c")
			s.on("include: packages.yml")
			s.keys("3 tab " + wrap)
			return s
		}
		detail := func(s *screen) (lines []string) {
			rows := strings.Split(s.shows(), "\n")
			for _, row := range rows[2 : len(rows)-3] {
				line := strings.TrimPrefix(string([]rune(row)[min(s.m.CurrentLayout().TreeW+1, len([]rune(row))):]), " ")
				lines = append(lines, line)
			}
			return lines
		}
		tall := detail(of(160))
		for len(tall) > 0 && tall[len(tall)-1] == "" {
			tall = tall[:len(tall)-1]
		}
		if len(tall) < 30 || tall[0] != "update the package index" || tall[1] != "/etc/file1  update" {
			t.Fatalf("%d lines: %q", len(tall), tall[:min(len(tall), 5)])
		}
		small := of(20)
		seen := detail(small)
		for range len(tall) {
			small.press("j")
			now := detail(small)
			seen = append(seen, now[len(now)-1])
			if small.m.Detail.Scroll+small.m.Detail.Height >= small.m.Detail.Length {
				break
			}
		}
		for i := range tall {
			if i < len(seen) && seen[i] != tall[i] {
				t.Fatalf("wrap %q, line %d is %q, and at once %q", wrap, i, seen[i], tall[i])
			}
		}
		if len(seen) < len(tall) {
			t.Errorf("wrap %q: %d lines by scrolling, %d at once", wrap, len(seen), len(tall))
		}
	}
}

// TestScopeDiffsOnHosts says once what is the same on several hosts.
func TestScopeDiffsOnHosts(t *testing.T) {
	s := newScreen(t, setup{p: twoPlays(), w: 120, h: 60, fake: sameDiffs})
	s.keys("A c")
	s.m.Cur.Node = 0
	s.frame()
	s.keys("3")
	s.has("update the package index on web1, web2", "update the package index on db1.example.org", "install packages (git) on web1, web2")
	s.keys("y")
	s.has("d  ")
}

// BenchmarkScopeDiffs draws the diffs of a plan of very many steps.
func BenchmarkScopeDiffs(b *testing.B) {
	s := newScreen(b, setup{p: large(100_000), w: 200, h: 60})
	diff := &events.Diff{Kind: events.ChangeUpdate, Path: "/etc/x", Text: strings.Repeat("+line\n", 20)}
	s.m.Store.Read(func(run *events.Run) {
		for i := range run.Steps {
			run.Steps[i].Attempt, run.Steps[i].Diff = 1, diff
		}
	})
	s.press("3")
	for b.Loop() {
		s.Send(frameMsg{})
	}
}
