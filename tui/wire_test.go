package tui

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"moon/tui/feed"
)

// wire is the way from a frame to a terminal, as Bubble Tea goes it: cells that differ from the last frame are written, and
// nothing else.
type wire struct {
	s    *screen
	buf  bytes.Buffer
	scr  *uv.TerminalRenderer
	last uv.ScreenBuffer
}

func newWire(s *screen) *wire {
	w := &wire{s: s}
	w.scr = uv.NewTerminalRenderer(&w.buf, []string{"TERM=xterm-256color"})
	w.scr.SetColorProfile(colorprofile.ANSI256)
	w.scr.SetFullscreen(true)
	w.scr.SetRelativeCursor(false)
	w.scr.SetScrollOptim(true)
	w.scr.SetTabStops(s.m.Width)
	w.scr.SetBackspace(true)
	w.last = uv.NewScreenBuffer(s.m.Width, s.m.Height)
	w.bytes()
	return w
}

// bytes is how many bytes the next frame takes.
func (w *wire) bytes() int {
	if w.last.Width() != w.s.m.Width || w.last.Height() != w.s.m.Height {
		w.scr.Erase()
		w.scr.Resize(w.s.m.Width, w.s.m.Height)
		w.last.Touched = nil
		w.last.Resize(w.s.m.Width, w.s.m.Height)
	}
	w.buf.Reset()
	w.last.Clear()
	uv.NewStyledString(w.s.m.View().Content).Draw(w.last, w.last.Bounds())
	w.scr.Render(w.last.RenderBuffer)
	_ = w.scr.Flush()
	return w.buf.Len()
}

// What a frame costs on a slow line, at 120×40. The bounds are about a half above what was measured; docs/performance.md
// has the figures.
func TestBytesOfFrames(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, options: func(o *Options) { o.Forecast = inOrder(devbox(), time.Minute) }})
	s.press("A")
	s.frame()
	s.press("c")
	s.f.Until("read the installed version")
	s.frame()
	pass := func(d time.Duration) func() { return func() { s.f.Clock = s.f.Clock.Add(d); s.Send(tickMsg{}) } }
	press := func(key string) func() { return func() { s.press(key) } }
	lines := 0
	say := func() { // as if the step had printed a line, with the pane full
		lines++
		r := &s.m.Detail.Reel
		r.From, r.Total, r.Lines = lines, lines+100, nil
		for i := range 100 {
			r.Lines = append(r.Lines, feed.TextLine{Text: fmt.Sprint("line ", lines+i, " of the output", strings.Repeat(" and more", (lines+i)%5))})
		}
		s.m.stale = true
	}
	w := newWire(s)
	for _, c := range []struct {
		what string
		do   func()
		most int
	}{
		{"a message that says nothing", func() { s.Send(tea.KeyReleaseMsg{Code: 'a'}) }, 0},
		{"a frame without news", func() { s.frame() }, 0},
		{"a quarter of a second", pass(250 * time.Millisecond), 60},
		{"a second", pass(time.Second), 250},
		{"the cursor moves", press("k"), 600},
		{"the cursor moves on", press("k"), 600},
		{"another tab", press("4"), 700},
		{"folding", press("h"), 300},
		{"folding all", press("-"), 600},
		{"opening all", press("="), 2500},
		{"help", press("?"), 5500},
		{"closing it", press("esc"), 2200},
		{"a step ends", func() { s.f.Tick(); s.frame() }, 1000},
		{"a step begins", func() { s.f.Tick(); s.frame() }, 300},
		{"another size", func() { s.Send(tea.WindowSizeMsg{Width: 119, Height: 40}) }, 3500},
		{"the output", func() { s.press("2"); say() }, 4000},
		{"a line of output", say, 2500},
	} {
		c.do()
		n := w.bytes()
		t.Logf("%-28s %5d bytes", c.what, n)
		if n > c.most {
			t.Errorf("%s costs %d bytes, its bound is %d: %q", c.what, n, c.most, w.buf.String())
		}
	}
}
