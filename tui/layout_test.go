package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"moon/plan"
	"moon/tui/draw"
	"moon/tui/tuitest"
	"moon/tui/view"
)

// Where one layout becomes another is exact.
func TestLayoutSizes(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want view.LayoutKind
	}{
		{120, 40, view.LayoutWide},
		{100, 16, view.LayoutWide},
		{99, 16, view.LayoutOne},
		{100, 15, view.LayoutOne},
		{99, 30, view.LayoutTall},
		{60, 30, view.LayoutTall},
		{59, 30, view.LayoutOne},
		{60, 29, view.LayoutOne},
		{59, 29, view.LayoutOne},
		{40, 10, view.LayoutOne},
		{39, 10, view.LayoutCard},
		{40, 9, view.LayoutCard},
		{39, 9, view.LayoutCard},
		{24, 6, view.LayoutCard},
		{1, 1, view.LayoutCard},
		{200, 9, view.LayoutCard},
	} {
		p := view.NewPanes()
		if l := p.LayoutFor(c.w, c.h); l.Kind != c.want {
			t.Errorf("%d×%d is layout %d, want %d", c.w, c.h, l.Kind, c.want)
		}
	}
}

// On a very wide terminal the tree stays as wide as its rows need, unless a person wants it otherwise, and the detail has the rest, with
// more of the source.
func TestVeryWide(t *testing.T) {
	p := view.NewPanes()
	for w, want := range map[int]int{120: 64, 159: 85, 160: 86, 200: 86, 400: 86} {
		if l := p.LayoutFor(w, 40); l.TreeW != want || l.TreeW+1+l.DetailW != w {
			t.Errorf("at %d columns the tree has %d and the detail %d", w, l.TreeW, l.DetailW)
		}
	}
	p.Divider[view.LayoutWide] = 20
	if l := p.LayoutFor(200, 40); l.TreeW != 106 {
		t.Errorf("moved by a person the tree has %d", l.TreeW)
	}
	rows := map[int]int{}
	for _, w := range []int{120, 200} {
		s := newScreen(t, setup{w: w, h: 40})
		s.m.Excerpt = func(_ string, line, around int) (lines []string, first int) {
			rows[w] = 2*around + 1
			return make([]string, rows[w]), max(line-around, 1)
		}
		s.on("say hello")
		_ = s.shows()
	}
	if rows[120] >= rows[200] || rows[200] > 25 {
		t.Errorf("rows of source: %v", rows)
	}
}

// The dividers of the two layouts are two, and each stays where it was put while the size changes.
func TestDividersStay(t *testing.T) {
	p := view.NewPanes()
	p.Divider[view.LayoutWide], p.Divider[view.LayoutTall] = 10, -4
	wide, tall := p.LayoutFor(120, 40), p.LayoutFor(80, 40)
	if wide.TreeW != 120*54/100+10 || tall.TreeH != (40-view.FrameRows-1)*54/100-4 {
		t.Errorf("%+v %+v", wide, tall)
	}
	s := newScreen(t, setup{w: 80, h: 40})
	before := s.m.CurrentLayout().TreeH
	s.keys("> >")
	after := s.m.CurrentLayout().TreeH
	s.Send(tea.WindowSizeMsg{Width: 120, Height: 40})
	if s.m.CurrentLayout().TreeW != 120*54/100 {
		t.Error("the divider of one layout moved that of another")
	}
	s.Send(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.keys("> > >") // there is none
	s.Send(tea.WindowSizeMsg{Width: 80, Height: 40})
	if s.m.CurrentLayout().TreeH != after || after != before+4 {
		t.Errorf("%d rows, then %d, then %d", before, after, s.m.CurrentLayout().TreeH)
	}
}

// Below depth eight a level takes one cell, and a name keeps twenty whatever stands behind it.
func TestDeepNames(t *testing.T) {
	b := tuitest.NewBuilder("site.yml")
	var nest func(depth int)
	nest = func(depth int) {
		if depth == 14 {
			b.Step("a name of thirty cells, no more", "shell", 1234567)
			return
		}
		b.Scope(plan.ScopeBlock, fmt.Sprintf("level %d", depth), 3, nil, func() { nest(depth + 1) })
	}
	nest(0)
	s := newScreen(t, setup{p: b.Done(), w: 64, h: 24})
	s.has(strings.Repeat("  ", 8) + strings.Repeat(" ", 6) + " └   a name of thirt…no more :1234567")
	s.Send(tea.WindowSizeMsg{Width: 60, Height: 24}) // beside it the name would have 19
	s.has("└   a name of thirty ce…, no more\n")
	s.Send(tea.WindowSizeMsg{Width: 40, Height: 24})
	for row := range strings.SplitSeq(s.shows(), "\n") {
		if i := strings.Index(row, "└   a name"); i >= 0 && draw.Cells(strings.TrimSpace(row[i+len("└   "):])) < 16 {
			t.Errorf("the name was cut to %q", row)
		}
	}
}

func TestCard(t *testing.T) {
	s := newScreen(t, setup{w: 24, h: 6, fake: func(f *tuitest.Engine) { f.Fails["unpack go"] = 1 }})
	s.has("moon REVIEW 0/15", "1 needs attention", "A approve  c run  q quit")
	s.keys("A")
	s.press("c")
	s.f.Until("install tmux")
	s.f.Clock = s.f.Clock.Add(56 * time.Second)
	s.frame()
	s.has("moon RUNNING 33%  01:03", "5/15 ✓3 ~2 ✗0", "❯ install tmux", "  0:56", "  done", "p pause  q quit  ?")
	s.f.Settle()
	s.frame()
	s.has("moon PAUSED ✗ 9/15", "on failure", "❯ unpack go", "r retry  c go on  q stop")
	s.press("r")
	s.f.Settle()
	s.frame()
	s.press("c")
	s.f.Settle()
	s.frame()
	s.has("to confirm", "❯ replace /etc/hosts", "a approve  q quit")
	s.press("a")
	s.frame()
	if s.m.PauseQuestion() != "" {
		t.Error("a on the card does not approve")
	}
}
