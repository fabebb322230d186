package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"moon/plan"
	"moon/tui/draw"
)

// Where one layout becomes another is exact.
func TestLayoutSizes(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want layoutKind
	}{
		{120, 40, layoutWide},
		{100, 16, layoutWide},
		{99, 16, layoutOne},
		{100, 15, layoutOne},
		{99, 30, layoutTall},
		{60, 30, layoutTall},
		{59, 30, layoutOne},
		{60, 29, layoutOne},
		{59, 29, layoutOne},
		{40, 10, layoutOne},
		{39, 10, layoutCard},
		{40, 9, layoutCard},
		{39, 9, layoutCard},
		{24, 6, layoutCard},
		{1, 1, layoutCard},
		{200, 9, layoutCard},
	} {
		p := newPanes()
		if l := p.layoutFor(c.w, c.h); l.kind != c.want {
			t.Errorf("%d×%d is layout %d, want %d", c.w, c.h, l.kind, c.want)
		}
	}
}

// The dividers of the two layouts are two, and each stays where it was put while the size changes.
func TestDividersStay(t *testing.T) {
	p := newPanes()
	p.divider[layoutWide], p.divider[layoutTall] = 10, -4
	wide, tall := p.layoutFor(120, 40), p.layoutFor(80, 40)
	if wide.treeW != 120*54/100+10 || tall.treeH != (40-frameRows-1)*54/100-4 {
		t.Errorf("%+v %+v", wide, tall)
	}
	s := newScreen(t, setup{w: 80, h: 40})
	before := s.m.currentLayout().treeH
	s.keys("> >")
	after := s.m.currentLayout().treeH
	s.send(tea.WindowSizeMsg{Width: 120, Height: 40})
	if s.m.currentLayout().treeW != 120*54/100 {
		t.Error("the divider of one layout moved that of another")
	}
	s.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.keys("> > >") // there is none
	s.send(tea.WindowSizeMsg{Width: 80, Height: 40})
	if s.m.currentLayout().treeH != after || after != before+4 {
		t.Errorf("%d rows, then %d, then %d", before, after, s.m.currentLayout().treeH)
	}
}

// Below depth eight a level takes one cell, and a name keeps twenty whatever stands behind it.
func TestDeepNames(t *testing.T) {
	b := newBuilder("site.yml")
	var nest func(depth int)
	nest = func(depth int) {
		if depth == 14 {
			b.step("a name of thirty cells, no more", "shell", 1234567)
			return
		}
		b.scope(plan.ScopeBlock, fmt.Sprintf("level %d", depth), 3, nil, func() { nest(depth + 1) })
	}
	nest(0)
	s := newScreen(t, setup{p: b.done(), w: 64, h: 24})
	s.has(strings.Repeat("  ", 8) + strings.Repeat(" ", 6) + " └   a name of thirt…no more :1234567")
	s.send(tea.WindowSizeMsg{Width: 60, Height: 24}) // beside it the name would have 19
	s.has("└   a name of thirty ce…, no more\n")
	s.send(tea.WindowSizeMsg{Width: 40, Height: 24})
	for row := range strings.SplitSeq(s.shows(), "\n") {
		if i := strings.Index(row, "└   a name"); i >= 0 && draw.Cells(strings.TrimSpace(row[i+len("└   "):])) < 16 {
			t.Errorf("the name was cut to %q", row)
		}
	}
}

func TestCard(t *testing.T) {
	s := newScreen(t, setup{w: 24, h: 6, fake: func(f *fake) { f.fails["unpack go"] = 1 }})
	s.has("moon REVIEW 0/15", "1 needs attention", "A approve  c run  q quit")
	s.keys("A")
	s.press("c")
	s.f.until("install tmux")
	s.f.clock = s.f.clock.Add(56 * time.Second)
	s.frame()
	s.has("moon RUNNING 33%  01:03", "5/15 ✓3 ~2 ✗0", "❯ install tmux", "  0:56", "  done", "p pause  q quit  ?")
	s.f.settle()
	s.frame()
	s.has("moon PAUSED ✗ 9/15", "on failure", "❯ unpack go", "r retry  c go on  q stop")
	s.press("r")
	s.f.settle()
	s.frame()
	s.press("c")
	s.f.settle()
	s.frame()
	s.has("to confirm", "❯ replace /etc/hosts", "a approve  q quit")
	s.press("a")
	s.frame()
	if s.m.pauseQuestion() != "" {
		t.Error("a on the card does not approve")
	}
}
