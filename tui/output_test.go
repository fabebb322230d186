package tui

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"moon/events"
	"moon/events/steplog"
	"moon/internal/termtext"
	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/pane"
	"moon/tui/tuitest"
	"moon/tui/view"
)

// printed lets every attempt print what a function writes.
func printed(write func(w *steplog.Writer, attempt int)) func(*tuitest.Engine) {
	return func(f *tuitest.Engine) {
		f.Print = func(f *tuitest.Engine, i, attempt int) string {
			prefix := fmt.Sprintf("%d.%d", i, attempt)
			w := steplog.NewWriter(f.Dir, prefix, nil)
			write(w, attempt)
			_ = w.Close()
			return prefix
		}
	}
}

// atOutput runs everything and gives the keys to the output of a step.
func atOutput(tb testing.TB, w, h int, write func(w *steplog.Writer, attempt int)) *screen {
	tb.Helper()
	s := newScreen(tb, setup{w: w, h: h, fake: printed(write)})
	s.keys("s")
	s.on("say hello")
	s.toOutput()
	return s
}

func numbered(n int) func(*steplog.Writer, int) {
	return func(w *steplog.Writer, _ int) {
		var b strings.Builder
		for k := range n {
			fmt.Fprintf(&b, "line %d\n", k)
		}
		_, _ = w.Stdout().Write([]byte(b.String()))
	}
}

func TestOutputSearch(t *testing.T) {
	s := atOutput(t, 120, 20, func(w *steplog.Writer, _ int) {
		for k := range 1000 {
			_, _ = fmt.Fprintf(w.Stdout(), "line %d %s\n", k,
				map[int]string{100: "Apple", 500: "\x1b[31map\x1b[1mple\x1b[0m apple", 900: "ÄPFEL"}[k])
		}
	})
	s.keys("g g /")
	s.text("app")
	s.has("line 100 Apple", "1 of 2", "/app")
	s.text("le")
	s.press("enter")
	s.keys("n")
	s.has("line 500‹apple›apple", "2 of 2")
	s.keys("n")
	s.has("from the top again", "1 of 2")
	s.keys("N")
	s.has("from the end again", "2 of 2")
	// From where the person has gone to.
	s.keys("g g n")
	s.has("1 of 2")
	s.keys("G N")
	s.has("2 of 2")
	// Capitals in the text count.
	s.press("/")
	s.text("Ap")
	s.press("enter")
	s.has("1 of 1")
	s.press("/")
	s.text("äpfel")
	s.has("line 900‹ÄPFEL›", "1 of 1")
	s.press("esc")
	s.has("/Ap 1") // as it was before
	s.press("/")
	s.text("nothing like it")
	s.has("not found")
	s.press("esc")
	s.press("esc")
	if s.m.Detail.Search.Text != "" || s.m.FocusedPane() != view.PaneDetail {
		t.Error("esc does not end the search alone")
	}
	s.press("n")
	s.has("no search; step over is o")
}

// The text of a search changes while commands look for the one before: what those find is dropped.
func TestOutputSearchIsCancelled(t *testing.T) {
	s := atOutput(t, 120, 20, numbered(50_000))
	s.keys("g g /")
	m := s.m
	pane.OutputPane{State: m.State}.SearchOutput("line 4")
	stale := pane.OutputPane{State: m.State}.SeekNext()().(pane.Found)
	if len(stale.Hits) == 0 {
		t.Fatal("nothing was found to be dropped")
	}
	pane.OutputPane{State: m.State}.SearchOutput("line 7")
	pane.OutputPane{State: m.State}.FoundMore(stale)
	if len(m.Detail.Search.Hits) != 0 || m.Detail.Search.IsDone() {
		t.Errorf("%d hits of another search", len(m.Detail.Search.Hits))
	}
	s.frame()
	if hits := len(m.Detail.Search.Hits); hits != 1111 { // 7, 70 to 79, 700 and so on
		t.Errorf("%d hits", hits)
	}
}

// What is printed while somebody searches is found too, and nothing twice.
func TestOutputSearchGrows(t *testing.T) {
	var w *steplog.Writer
	s := newScreen(t, setup{w: 120, h: 20, fake: func(f *tuitest.Engine) {
		f.Print = func(f *tuitest.Engine, i, _ int) string {
			prefix := fmt.Sprint(i)
			w = steplog.NewWriter(f.Dir, prefix, nil)
			_, _ = w.Stdout().Write([]byte("a hit\nno\nhalf a h"))
			return prefix
		}
	}})
	s.press("A")
	s.press("c")
	s.f.Tick()
	s.frame()
	s.on("say hello")
	s.toOutput()
	s.press("/")
	s.text("hit")
	s.press("enter")
	s.has("/hit 1 of 1", "half a h", "3 lines")
	_, _ = w.Stdout().Write([]byte("it\nanother hit\n"))
	s.f.Clock = s.f.Clock.Add(time.Second)
	s.Send(tickMsg{})
	s.has("/hit 1 of 3", "half a‹hit›", "another‹hit›")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOutputScrolls(t *testing.T) {
	s := atOutput(t, 120, 20, numbered(100)) // 16 rows
	v := &s.m.Detail.Output
	s.has("100 lines · end")
	s.keys("k")
	if v.Follow || v.Top != 83 {
		t.Errorf("k: %+v", *v)
	}
	s.has("line 84 of 100  99%")
	s.keys("j")
	s.keys("j")
	if !v.Follow {
		t.Error("scrolling past the end does not follow it")
	}
	s.keys("ctrl+u")
	s.has("line 77 of 100  92%")
	s.keys("g g")
	s.has("line 1 of 100  16%")
	for range 6 {
		s.press("pgdown")
	}
	if !v.Follow {
		t.Error("pages to the end do not follow it")
	}
	s.keys("g g G k F")
	if !v.Follow {
		t.Error("F does not follow")
	}
}

// With wrapping, scrolling goes by rows, and the end of the text stays at the end of the screen.
func TestOutputWrapScrolls(t *testing.T) {
	s := atOutput(t, 120, 20, func(w *steplog.Writer, _ int) {
		for k := range 30 {
			_, _ = fmt.Fprintf(w.Stdout(), "%d %s\n", k, strings.Repeat("x", 200))
		}
	})
	v := &s.m.Detail.Output
	s.keys("w")
	first := s.shows()
	for range 5 {
		s.keys("k")
	}
	for range 7 {
		s.keys("j")
	}
	if got := s.shows(); got != first || !v.Follow {
		t.Errorf("up and down does not come back, follow %t:\n%s\nwant\n%s", v.Follow, got, first)
	}
	s.keys("g g j")
	if v.Top != 0 || v.Sub != 1 {
		t.Errorf("j goes to row %d of line %d", v.Sub, v.Top)
	}
	for range 300 {
		s.press("j")
	}
	if got := s.shows(); got != first {
		t.Errorf("j to the end:\n%s\nwant\n%s", got, first)
	}
	// Larger, and there is nothing left below the end.
	s.keys("k k + +")
	rows := strings.Split(s.shows(), "\n")
	if strings.TrimSpace(rows[17]) == "" {
		t.Errorf("empty rows below the end:\n%s", s.shows())
	}
}

func TestOutputSideways(t *testing.T) {
	long := strings.Repeat("0123456789", 30)
	s := atOutput(t, 120, 20, func(w *steplog.Writer, _ int) {
		_, _ = fmt.Fprintf(w.Stdout(), "%sNEEDLE%s\nshort\n\x1b[31m%s\x1b[0m\n世世世世世世世世世世世\n", long, long, long)
	})
	s.has("9012…", "short\n")
	s.keys("l l")
	s.has("│ …78901", "column 17", "│ … 世世")
	s.keys("h h")
	s.press("/")
	s.text("needle")
	s.has("9NEEDLE")
	if x := s.m.Detail.Output.X; x < 250 || x > 305 {
		t.Errorf("the hit is at column 300, the screen at %d", x)
	}
	// With wrapping the row of the hit comes onto the screen.
	s = atOutput(t, 60, 12, func(w *steplog.Writer, _ int) {
		_, _ = fmt.Fprintf(w.Stdout(), "%sNEEDLE\nend\n", strings.Repeat(long, 10))
	})
	s.keys("w g g /")
	s.text("needle")
	s.has("9NEEDLE")
}

func TestOutputTimes(t *testing.T) {
	s := atOutput(t, 120, 20, func(w *steplog.Writer, _ int) {
		_, _ = fmt.Fprint(w.Stdout(), "out\n")
		_, _ = fmt.Fprint(w.Stderr(), "err\n")
	})
	if strings.Contains(s.shows(), "2>") {
		t.Error("marks without times")
	}
	s.keys("t")
	s.has("0:00.0      out", "0:00.0   2> err", "2> marks standard error")
	s.keys("t")
	s.has("12:00:00.0    out", "12:00:00.0 2> err")
	s.keys("t")
	s.has("│ out\n", "│ err\n", "no times")
}

func TestOutputAttempts(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, fake: func(f *tuitest.Engine) {
		printed(func(w *steplog.Writer, attempt int) { _, _ = fmt.Fprintf(w.Stdout(), "this is try %d\n", attempt) })(f)
		f.Fails["unpack go"] = 2
	}})
	s.keys("A c r r")
	s.on("unpack go")
	s.keys("2 tab")
	s.has("attempt 3 of 3", "✓ ok", "this is try 3")
	s.press("/")
	s.text("try")
	s.press("enter")
	s.keys("[")
	s.has("attempt 2 of 3", "✗ failed", "this is‹try›2")
	s.keys("[ [")
	s.has("attempt 1 of 3", "that is the first attempt", "this is‹try›1")
	s.keys("] ]")
	s.has("attempt 3 of 3")
	s.keys("]")
	s.has("that is the last attempt")
	// Why an attempt failed is known from the next one.
	s.m.Store.Apply(&events.Record{
		Step: stepUnpack, Time: s.f.Clock,
		Event: events.StepRetrying{Attempt: 4, Error: "no such disk\nand more", Due: s.f.Clock, Out: "x"},
	})
	s.m.Store.Apply(&events.Record{Step: stepUnpack, Time: s.f.Clock, Event: events.AttemptStarted{Attempt: 4}})
	s.frame()
	s.keys("[")
	s.has("attempt 3 of 4   ✗ failed  no such disk")
}

// What programs do to a terminal that shows progress leaves the text.
func TestOutputOfPrograms(t *testing.T) {
	s := atOutput(t, 120, 20, func(w *steplog.Writer, _ int) {
		_, _ = fmt.Fprint(w.Stdout(),
			"\x1b[?25l10%\r\x1b[K50%\r\x1b[2K100%\x1b[?25h\n\x1b[1A\x1b[2Kup\nname\tsize\n\x1b[33mw\x1b[0m日本\tx\n\x1b]0;title\x07\x00\xff\n")
	})
	s.has("│ 100%\n", "│ up\n", "│ name    size\n", "│ w日本   x\n", "│ ^[]0;title^G^@�\n")
}

func TestFullScreenIsTextAlone(t *testing.T) {
	s := atOutput(t, 60, 20, numbered(5))
	s.keys("+ +")
	rows := strings.Split(ansi.Strip(s.m.View().Content), "\n")
	for i, row := range rows[:19] {
		want := ""
		if i < 5 {
			want = fmt.Sprintf("line %d", i)
		}
		if strings.TrimRight(row, " ") != want {
			t.Errorf("row %d is %q, want %q", i, row, want)
		}
	}
	if !strings.HasPrefix(rows[19], "Output  say hello  5 lines") {
		t.Errorf("the last row is %q", rows[19])
	}
	s.keys("h")
	if s.m.FocusedPane() != view.PaneDetail {
		t.Error("h leaves the text that has the whole screen")
	}
	s.press("esc")
	if s.m.Panes.Zoom != 0 || s.m.FocusedPane() != view.PaneDetail {
		t.Error("esc takes back more than the size")
	}
}

// A million lines cost what is on the screen of them: nothing that is kept or drawn grows with the output but the hits.
func TestAMillionLines(t *testing.T) {
	const n = 1_000_000
	s := atOutput(t, 120, 40, numbered(n))
	bound := func(doing string) {
		t.Helper()
		if held := len(s.m.Detail.Reel.Lines); held > 40+2*feed.FetchMargin {
			t.Errorf("%s: %d lines are held", doing, held)
		}
	}
	s.has("line 999999", "1000000 lines · end")
	bound("open")
	s.keys("g g")
	s.has("line 0", "line 1 of 1000000  0%")
	bound("top")
	s.keys("G")
	s.has("line 999999")
	bound("end")
	s.keys("g g /")
	s.text("99999")
	s.press("enter")
	s.has("1 of 19")
	bound("search")
	s.keys("N")
	s.has("line 999999", "19 of 19")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s.keys("esc g g w j j G k")
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("looking around took %d bytes", grown)
	}
}

// A line cut into rows or seen from a column on has the cells it shall have, under both ways of counting.
func TestStretch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		raw := rapid.SampledFrom(nasty).Draw(rt, "a") + rapid.String().Draw(rt, "s") + "\x1b[31m" + rapid.SampledFrom(nasty).Draw(rt, "b")
		s := draw.Settle(termtext.Still([]byte(strings.ReplaceAll(raw, "\n", " "))))
		all := draw.Cells(draw.Bare(s))
		w := rapid.IntRange(1, 30).Draw(rt, "w")
		x := rapid.IntRange(0, 40).Draw(rt, "x")
		part, more := draw.Stretch(s, x, w)
		if a, b := ansi.StringWidth(part), ansi.StringWidthWc(part); a != b || a > w {
			rt.Fatalf("%q from %d: %q has %d or %d cells of %d", s, x, part, a, b, w)
		}
		if more != (all > x+w) && w > 1 && more { // a wide character may not fit at the end
			if rest := all - x - draw.Cells(draw.Bare(part)); rest <= 0 {
				rt.Fatalf("%q from %d in %d goes on, but nothing is left", s, x, w)
			}
		}
		joined := ""
		for _, row := range draw.WrapCells(s, w) {
			if draw.Cells(draw.Bare(row)) > w {
				rt.Fatalf("%q wrapped at %d: %q", s, w, row)
			}
			joined += draw.Bare(row)
		}
		if w > 1 && joined != draw.Bare(s) {
			rt.Fatalf("%q wrapped at %d became %q", s, w, joined)
		}
	})
}

// What is found is what is marked, in any text.
func TestNeedle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("abAB äÄİſK1"))).Draw(rt, "text")
		what := rapid.StringOfN(rapid.SampledFrom([]rune("abä1 ")), 1, 3, -1).Draw(rt, "what")
		from, to := view.Needle{Text: what, Fold: true}.FindIn(text)
		if from < 0 {
			if strings.Contains(text, what) {
				rt.Fatalf("%q is not found in %q", what, text)
			}
			return
		}
		if !strings.EqualFold(text[from:to], what) {
			rt.Fatalf("%q found as %q in %q", what, text[from:to], text)
		}
	})
	if !(view.Needle{Text: "error", Fold: true}).InLine(steplog.Line{Text: []byte("an \x1b[31mEr\x1b[0mror")}) {
		t.Error("colours hide a text")
	}
	if (view.Needle{Text: "31m", Fold: true}).InLine(steplog.Line{Text: []byte("an \x1b[31mEr\x1b[0mror")}) {
		t.Error("colours are text")
	}
}

func BenchmarkMillionLines(b *testing.B) {
	s := atOutput(b, 200, 60, numbered(1_000_000))
	b.Run("end-and-top", func(b *testing.B) {
		for b.Loop() {
			s.press("G")
			s.keys("g g")
		}
	})
	b.Run("search", func(b *testing.B) {
		for b.Loop() {
			pane.OutputPane{State: s.m.State}.SearchOutput("line 99999")
			s.frame()
		}
	})
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			s.press("pgdown")
		}
	})
}

// BenchmarkLongLines is a frame of an output whose lines have 64 KiB, in colours.
func BenchmarkLongLines(b *testing.B) {
	for _, wrap := range []bool{false, true} {
		b.Run(map[bool]string{false: "cut", true: "wrap"}[wrap], func(b *testing.B) {
			s := atOutput(b, 200, 60, func(w *steplog.Writer, _ int) {
				for range 100 {
					_, _ = fmt.Fprintf(w.Stdout(), "%s\n", strings.Repeat("\x1b[31mred\x1b[0m äöü ", 3400))
				}
			})
			s.m.Detail.Output.Wrap = wrap
			for b.Loop() {
				s.m.stale = true
				_ = s.m.View()
			}
		})
	}
}
