package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"moon/events"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/overlay"
	"moon/tui/view"
)

// click presses and releases the left button on a cell.
func (s *screen) click(x, y int) {
	s.Send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	s.Send(tea.MouseReleaseMsg{X: x, Y: y, Button: tea.MouseLeft})
}

// later lets so much time pass that the next click is none of two.
func (s *screen) later() { s.f.Clock = s.f.Clock.Add(time.Second) }

func (s *screen) wheel(x, y int, button tea.MouseButton) {
	s.Send(tea.MouseWheelMsg{X: x, Y: y, Button: button})
}

// cellOf is where a text stands on the screen.
func (s *screen) cellOf(text string) (x, y int) {
	s.t.Helper()
	for y, row := range strings.Split(s.m.View().Content, "\n") {
		row = ansi.Strip(row)
		if i := strings.Index(row, text); i >= 0 {
			return ansi.StringWidth(row[:i]), y
		}
	}
	s.t.Fatalf("not on the screen: %q\n%s", text, s.shows())
	return 0, 0
}

// clickOn clicks on the first cell of a text.
func (s *screen) clickOn(text string) {
	s.t.Helper()
	x, y := s.cellOf(text)
	s.later()
	s.click(x, y)
}

func TestMouseIsOffAtFirst(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	if mode := s.m.View().MouseMode; mode != tea.MouseModeNone {
		t.Errorf("the mouse is reported: %v", mode)
	}
	s.clickOn("install git")
	if s.m.CursorNode() != 0 {
		t.Error("a click did something although the mouse is off")
	}
	s.press("M")
	s.has("mouse on", "devbox.yml  mouse")
	if mode := s.m.View().MouseMode; mode != tea.MouseModeCellMotion {
		t.Errorf("the mouse is not reported: %v", mode)
	}
	s.press("M")
	s.has("mouse off")
	if s.m.View().MouseMode != tea.MouseModeNone {
		t.Error("the mouse stayed on")
	}
	s = newScreen(t, setup{w: 120, h: 40, options: func(o *Options) { o.Mouse = true }})
	s.has("devbox.yml  mouse")
}

func TestMouseInTheTree(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, options: func(o *Options) { o.Mouse = true }})
	s.clickOn("└   install tmux")
	if got := s.m.Tree.Title(s.m.CursorNode()); got != "install tmux" || s.m.FocusedPane() != view.PaneTree {
		t.Errorf("a click went to %q", got)
	}
	x, y := s.cellOf("└   install tmux")
	s.later()
	s.click(x, y)
	s.click(x+1, y)
	if s.m.FocusedPane() != view.PaneDetail {
		t.Error("a double click does not open the detail")
	}
	s.click(x, y)
	s.later()
	s.click(x, y)
	if s.m.FocusedPane() != view.PaneTree {
		t.Error("two slow clicks are taken for one of two")
	}
	s.clickOn("▾ include: packages.yml")
	if n := s.m.CursorNode(); s.m.Tree.Title(n) != "include: packages.yml" || !s.m.Rows.Folded[n] {
		t.Error("a click on the sign does not fold")
	}
	s.clickOn("▸ include: packages.yml")
	if s.m.Rows.Folded[s.m.CursorNode()] {
		t.Error("a click on the sign does not open")
	}
	at := s.m.CursorNode()
	_, y = s.cellOf("install git")
	s.later()
	s.click(0, y)
	s.frame()
	if _, set := s.m.Breaks[stepGit]; !set || s.m.CursorNode() != at {
		t.Errorf("a click into the gutter: breakpoints %v, cursor at %d", s.m.Breaks, s.m.CursorNode())
	}
	s.later()
	s.click(0, y)
	s.frame()
	if b, ok := s.f.Sent[len(s.f.Sent)-1].(events.Break); !ok || !b.Clear {
		t.Errorf("a second click sent %v", s.f.Sent)
	}
}

func TestMouseWheel(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 20, fake: printsLong, options: func(o *Options) { o.Mouse = true }})
	s.press("=")
	s.wheel(10, 5, tea.MouseWheelDown)
	if s.m.Cur.Top != wheelRows || s.m.CursorNode() != 0 {
		t.Errorf("the wheel scrolled to row %d, cursor at %d", s.m.Cur.Top, s.m.CursorNode())
	}
	s.wheel(10, 5, tea.MouseWheelUp)
	s.wheel(10, 5, tea.MouseWheelUp)
	if s.m.Cur.Top != 0 {
		t.Errorf("up at the top: %d", s.m.Cur.Top)
	}
	for range 50 {
		s.wheel(10, 5, tea.MouseWheelDown)
	}
	s.has("check the shell")
	s.press("j")
	if s.m.Cur.Top > 1 {
		t.Error("a key does not bring the cursor back onto the screen")
	}
	s.keys("A c")
	s.on("install git")
	s.press("2")
	focus := s.m.FocusedPane()
	s.wheel(100, 5, tea.MouseWheelUp)
	if v := &s.m.Detail.Output; v.Follow || v.Top != 91-16-wheelRows || s.m.FocusedPane() != focus {
		t.Errorf("the wheel over the output: %+v", *v)
	}
	s.wheel(100, 5, tea.MouseWheelRight)
	if s.m.Detail.Output.X != wheelRows {
		t.Errorf("sideways: %d", s.m.Detail.Output.X)
	}
	s.wheel(100, 5, tea.MouseWheelDown)
	s.wheel(100, 5, tea.MouseWheelDown)
	if !s.m.Detail.Output.Follow {
		t.Error("scrolling to the end does not follow it")
	}
}

func TestMouseElsewhere(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, options: func(o *Options) { o.Mouse = true }})
	s.clickOn("3 Diff")
	if s.m.Detail.Tab != view.TabDiffs {
		t.Errorf("tab %d", s.m.Detail.Tab)
	}
	s.clickOn("? help")
	if s.m.Overlay == nil {
		t.Fatal("a hint does nothing")
	}
	s.keys("esc :")
	s.wheel(60, 12, tea.MouseWheelDown)
	if p := s.m.Overlay.(*overlay.Palette); p.At() != wheelRows {
		t.Errorf("the wheel went to line %d", p.At())
	}
	s.clickOn("run, continue")
	x, y := s.cellOf("run, continue")
	s.click(x, y)
	s.has("the mouse decides nothing: press c")
	s.press(":")
	s.text("collapse all")
	before := len(s.m.Rows.Rows)
	s.clickOn("collapse all  ")
	x, y = s.cellOf("collapse all  ")
	s.click(x, y)
	if s.m.Overlay != nil || len(s.m.Rows.Rows) >= before {
		t.Error("a double click in the palette does nothing")
	}
	for _, tip := range []string{"c run", "s step", "a approve", "A all"} {
		s.clickOn(tip)
		s.has("the mouse decides nothing")
	}
	if len(s.f.Sent) > 0 {
		t.Errorf("clicks sent %v", s.f.Sent)
	}
}

func TestMouseDragsTheDivider(t *testing.T) {
	for _, size := range [][4]int{{120, 40, 64, 10}, {80, 40, 70, 20}} {
		w, h, x, y := size[0], size[1], size[2], size[3]
		s := newScreen(t, setup{w: w, h: h, options: func(o *Options) { o.Mouse = true }})
		before := s.m.CurrentLayout()
		s.Send(tea.MouseMotionMsg{X: x - 9, Y: y - 5, Button: tea.MouseLeft})
		if s.m.CurrentLayout() != before {
			t.Error("it moves without being held")
		}
		s.Send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
		s.Send(tea.MouseMotionMsg{X: x - 9, Y: y - 5, Button: tea.MouseLeft})
		after := s.m.CurrentLayout()
		if w == 120 && after.TreeW != x-9 || w == 80 && after.TreeH != before.TreeH-5 {
			t.Errorf("from %+v to %+v", before, after)
		}
		s.Send(tea.MouseMotionMsg{X: 0, Y: 0, Button: tea.MouseLeft})
		if l := s.m.CurrentLayout(); l.TreeW < 24 || l.TreeH < 5 {
			t.Errorf("the tree is gone: %+v", l)
		}
		after = s.m.CurrentLayout()
		s.Send(tea.MouseReleaseMsg{X: 0, Y: 0, Button: tea.MouseLeft})
		s.Send(tea.MouseMotionMsg{X: 70, Y: 30})
		if s.m.CurrentLayout() != after {
			t.Error("it moves after it was let go")
		}
	}
}

func drawMouse(t *rapid.T, w, h int) tea.Msg {
	at := tea.Mouse{
		X: rapid.IntRange(0, w+2).Draw(t, "x"), Y: rapid.IntRange(0, h+2).Draw(t, "y"),
		Button: rapid.SampledFrom([]tea.MouseButton{tea.MouseLeft, tea.MouseLeft, tea.MouseRight, tea.MouseWheelUp, tea.MouseWheelDown, tea.MouseWheelLeft}).Draw(t, "button"),
	}
	switch rapid.IntRange(0, 3).Draw(t, "mouse") {
	case 0:
		return tea.MouseMotionMsg(at)
	case 1:
		return tea.MouseReleaseMsg(at)
	case 2:
		return tea.MouseWheelMsg(at)
	}
	return tea.MouseClickMsg(at)
}

// Whatever is done with the mouse, at any cell, size and state: nothing runs, is approved or ends because of it.
func TestMouseDecidesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newScreen(t, setup{p: drawPlan(rt), w: 120, h: 40, options: func(o *Options) { o.Mouse = true }})
		s.f.Fails[""] = 1
		w, h := 120, 40
		for range rapid.IntRange(1, 30).Draw(rt, "actions") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				w, h = rapid.IntRange(0, 140).Draw(rt, "w"), rapid.IntRange(0, 50).Draw(rt, "h")
				s.Send(tea.WindowSizeMsg{Width: w, Height: h})
			case 1:
				key := rapid.SampledFrom(anyKey).Draw(rt, "key")
				if s.press(key); !s.m.Mouse.On {
					s.m.Mouse.On = true
				}
				s.f.Settle()
				s.frame()
			default:
				before := len(s.f.Sent)
				s.Send(drawMouse(rt, w, h))
				for _, c := range s.f.Sent[before:] {
					if _, ok := c.(events.Break); !ok {
						rt.Fatalf("the mouse sent %#v", c)
					}
				}
				if slices.ContainsFunc(s.cmds, func(msg tea.Msg) bool { _, ok := msg.(tea.QuitMsg); return ok && s.m.Shot.Phase != events.Done }) {
					rt.Fatal("the mouse left")
				}
				s.cmds = nil
			}
			checkFrame(rt, s.m.View().Content, w, h)
		}
	})
}

// What is noted for the mouse is what is drawn: each tab, hint and row is where its text is.
func TestSpotsAreWhereThingsAre(t *testing.T) {
	for _, size := range sizes {
		s := newScreen(t, setup{w: size.w, h: size.h, options: func(o *Options) { o.Mouse = true }})
		rows := strings.Split(s.m.View().Content, "\n")
		for _, spot := range s.m.Mouse.Spots.List {
			shown := ansi.Cut(ansi.Strip(rows[spot.Y]), spot.From, spot.To)
			want := ""
			switch spot.Kind {
			case draw.SpotTab:
				want = fmt.Sprintf("%d %s", spot.N+1, s.m.TabName(view.Tab(spot.N)))
			case draw.SpotKey:
				want = s.m.Keys.Label(keymap.Intent(spot.N))
			case draw.SpotFold:
				want = "▾"
			case draw.SpotTree:
				want = draw.Head(s.m.Tree.Title(spot.N), 5)
				if s.m.Tree.Scope(spot.N) != nil {
					continue // its kind may be left out
				}
			default:
				continue
			}
			if spot.Kind == draw.SpotFold && shown == "▸" {
				want = shown
			}
			if !strings.Contains(shown, want) {
				t.Errorf("%dx%d: %+v is %q on the screen", size.w, size.h, spot, shown)
			}
		}
	}
}
