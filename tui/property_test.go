package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"moon/events"
	"moon/events/steplog"
	"moon/plan"
	"moon/tui/draw"
	"moon/tui/tuitest"
)

// nasty are names as inventories and playbooks may bring them.
var nasty = []string{
	"install git", "", "a", "日本語のファイル", "e\u0301tude", "👩‍👩‍👧‍👦 family", "flags 🇩🇪🇫🇷", "❤️ heart", "क्षि",
	"tab\there", "new\nline", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "bell\a", "c1 \x9b1m", "bad \xff\xfe utf8", "\u202eright to left",
	"zero\u200bwidth", "\u2066isolate\u2069\u200f\u061c", "\ufeffbom\u2060\u2028line", "שלום עולם", "السلام عليكم", "क्\u200dष", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
	"\x1b]52;c;Zm9v\a", "\x1bP1$r\x1b\\", "\x1b[6n\x1b[2J\x1b[1;1H", "cr\rback", "🏳️‍🌈🇩", "\u1100\u1161\u11a8", strings.Repeat("e\u0301", 60), "\U000e0041tag", "a very long name that goes on and on so that it has to be cut somewhere in the middle of it all",
	strings.Repeat("世", 80), "/an/absolute/path/to/some/file/that/is/long.yml", "%s %d {{ x }}", "\u00ad\u0301", "ﷺ wide ligature",
}

func name(t *rapid.T) string { return rapid.SampledFrom(nasty).Draw(t, "name") }

func host(t *rapid.T) string {
	return rapid.SampledFrom(append([]string{"localhost", "localhost", "web1", "web2"}, nasty...)).Draw(t, "host")
}

// drawPlan makes a plan of any shape.
func drawPlan(t *rapid.T) *plan.Plan {
	b := tuitest.NewBuilder(name(t))
	var fill func(depth int)
	fill = func(depth int) {
		for range rapid.IntRange(0, 4).Draw(t, "children") {
			if len(b.Plan.Steps) > 60 {
				return
			}
			if depth < 12 && rapid.IntRange(0, 2).Draw(t, "scope") == 0 {
				kind := rapid.SampledFrom([]plan.ScopeKind{plan.ScopeInclude, plan.ScopeBlock, plan.ScopeLoop, plan.ScopeBranch, plan.ScopePlay, plan.ScopeTask, plan.ScopeBatch, plan.ScopeSection}).Draw(t, "kind")
				b.Scope(kind, name(t), 3, func(s *plan.Scope) {
					s.Items, s.Branch = 3, rapid.SampledFrom([]string{"", "rescue"}).Draw(t, "branch")
				}, func() { fill(depth + 1) })
				continue
			}
			b.Step(name(t), "shell", 1+len(b.Plan.Steps), args("cmd", name(t)), func(s *plan.Step) {
				s.Path += fmt.Sprint(s.Index)
				s.Host, s.Delegate = host(t), rapid.SampledFrom([]string{"", "", "lb"}).Draw(t, "delegate")
				s.Excluded = rapid.IntRange(0, 9).Draw(t, "excluded") == 0
				if rapid.IntRange(0, 6).Draw(t, "confirm") == 0 {
					s.Confirm = name(t)
				}
				s.Uses = []plan.Use{{Name: name(t), Value: name(t)}, {Name: "x", Value: unknown(s.Index)}}
				s.Unknowns = []plan.Unknown{{Field: "cmd", Name: "x", Steps: []int{s.Index}}}
				s.Prediction = rapid.SampledFrom([]plan.Prediction{plan.WillRun, plan.MaySkip, plan.WillSkip}).Draw(t, "prediction")
			})
		}
	}
	fill(0)
	if depth := rapid.SampledFrom([]int{0, 0, 0, 30}).Draw(t, "deep"); depth > 0 {
		var nest func(k int)
		nest = func(k int) {
			b.Scope(plan.ScopeInclude, name(t), 1, nil, func() {
				b.Step(name(t), "shell", 1, func(s *plan.Step) { s.Path += fmt.Sprint(s.Index) })
				if k > 0 {
					nest(k - 1)
				}
			})
		}
		nest(depth)
	}
	return b.Done()
}

// drawWaits are reasons why steps wait, also such as no engine gives.
func drawWaits(t *rapid.T, steps []int) []events.Wait {
	waits := make([]events.Wait, len(steps))
	kind := rapid.SampledFrom([]events.WaitFor{
		"", events.WaitSteps, events.WaitValue, events.WaitOutcome, events.WaitPool, events.WaitForks, events.WaitRetry, events.WaitPaused,
		events.WaitConfirm, events.WaitStopping,
	})
	for i, step := range steps {
		waits[i] = events.Wait{
			For: kind.Draw(t, "for"), Is: kind.Draw(t, "is"), Held: kind.Draw(t, "held"), Steps: []int{step - 1, step, 9999}, More: 3,
			Root: rapid.SampledFrom([]int{-1, 0, step, 9999}).Draw(t, "root"), Name: name(t), Slots: 2,
		}
	}
	return waits
}

var sgrOnly = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// checkFrame fails unless a frame is exactly h rows of exactly w cells, under both ways of counting, without a control
// character that is not a colour.
func checkFrame(t interface{ Fatalf(string, ...any) }, frame string, w, h int) {
	if w <= 0 || h <= 0 {
		if frame != "" {
			t.Fatalf("a screen of %d×%d shows %q", w, h, frame)
		}
		return
	}
	rows := strings.Split(frame, "\n")
	if len(rows) != h {
		t.Fatalf("%d rows on a screen of %d×%d:\n%s", len(rows), w, h, frame)
	}
	for i, row := range rows {
		text := sgrOnly.ReplaceAllString(row, "")
		if a, b := ansi.StringWidth(text), ansi.StringWidthWc(text); a != w || b != w {
			t.Fatalf("row %d of %d×%d has %d cells, or %d: %q\n%s", i, w, h, a, b, text, plainFrame(frame))
		}
		for _, r := range text {
			if r < ' ' || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) || strings.ContainsRune("\u200b\u2028\u2029\u2060\ufeff\ufffe", r) {
				t.Fatalf("row %d has control character %U: %q", i, r, text)
			}
		}
	}
}

var anyKey = []string{
	"H", "H",
	"a", "A", "x", "s", "o", "O", "u", "c", "p", "b", "r", "R", "h", "l", "enter", "-", "=", "]", "[", ".", "F", "tab", "1", "2",
	"3", "4", "5", "+", "_", "<", ">", "/", "n", "N", "f", "space", "v", "y", "w", "t", ":", "?", "q", "esc", "g", "G", "j", "k",
	"M", "B", "W", "ctrl+d", "ctrl+u", "pgup", "pgdown", "up", "down", "left", "right", "e", "!", "i", "ctrl+c", "backspace", "d",
}

// Anything that FuzzScreen may play, a little of it.
func TestScreenTakesAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 50, 300).Draw(rt, "bytes")
		drive(t, &dice{bytes: data})
	})
}

// Any plan, any run, any size, any keys: every frame fits, and nothing panics.
func TestFramesAlwaysFit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newScreen(t, setup{
			p: drawPlan(rt), w: 80, h: 24, ascii: rapid.Bool().Draw(rt, "ascii"),
			options: func(o *Options) {
				o.Preview = foreplan
				o.Theme = rapid.SampledFrom([]string{"", "moonlight", "mono", "blue-orange"}).Draw(rt, "theme")
				o.Banner = rapid.SampledFrom([]string{"", "", "production", "日本", nasty[18]}).Draw(rt, "banner")
				o.Forecast, o.Saved = inOrder(o.Plan, time.Minute), name(rt)
				o.Why = func(_ string, steps []int) []events.Wait { return drawWaits(rt, steps) }
				o.Mode = rapid.SampledFrom([]string{"", "check", "日本"}).Draw(rt, "mode")
			},
		})
		s.f.Fails[""] = 1
		s.f.Fails["a"] = 2
		s.f.Print = func(_ *tuitest.Engine, i, attempt int) string {
			prefix := fmt.Sprintf("%d.%d", i, attempt)
			w := steplog.NewWriter(s.dir, prefix, nil)
			for range rapid.IntRange(0, 5).Draw(rt, "lines") {
				_, _ = w.Stdout().Write([]byte(name(rt) + "\n"))
				_, _ = w.Stderr().Write([]byte(name(rt)))
			}
			_ = w.Close()
			return prefix
		}
		s.f.Result = func(_ int, e *events.StepCompleted) {
			e.Diff = &events.Diff{Kind: events.ChangeUpdate, Path: name(rt), Summary: name(rt), Text: "@@\n+" + name(rt) + "\n-" + name(rt)}
		}
		w, h := 80, 24
		for range rapid.IntRange(1, 40).Draw(rt, "actions") {
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0:
				w, h = rapid.IntRange(0, 140).Draw(rt, "w"), rapid.IntRange(0, 50).Draw(rt, "h")
				s.Send(tea.WindowSizeMsg{Width: w, Height: h})
			case 1:
				s.f.Tick()
				s.frame()
			case 2:
				s.f.Clock = s.f.Clock.Add(time.Duration(rapid.IntRange(0, 8000).Draw(rt, "ms")) * time.Millisecond)
				s.Send(tickMsg{})
			case 3:
				s.Send(drawMouse(rt, w, h))
			default:
				s.press(rapid.SampledFrom(anyKey).Draw(rt, "key"))
			}
			if s.m.crash != nil {
				rt.Fatal(s.m.crash)
			}
			checkFrame(rt, s.m.View().Content, w, h)
		}
	})
}

// Every size from 1×1 on.
func TestEverySize(t *testing.T) {
	for _, play := range []func(*screen){
		func(*screen) {},
		func(s *screen) { s.keys("A c") },
		func(s *screen) { s.press("?") },
		func(s *screen) { s.press("/") },
		func(s *screen) { s.keys("A c 2 tab") },
		func(s *screen) { s.keys("A"); s.press("c"); s.f.Until("install tmux"); s.frame() },
		func(s *screen) { s.keys("A c M 2 tab w t t + +") },
		func(s *screen) { s.keys("A c M 2 tab + + /") },
	} {
		s := newScreen(t, setup{w: 80, h: 24, fake: func(f *tuitest.Engine) { f.Fails["unpack go"] = 1 }})
		play(s)
		for w := 1; w <= 130; w += 1 + w/8 {
			for h := 1; h <= 45; h += 1 + h/5 {
				s.Send(tea.WindowSizeMsg{Width: w, Height: h})
				checkFrame(t, s.m.View().Content, w, h)
			}
		}
	}
}

func TestSettle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.String().Draw(rt, "s") + rapid.SampledFrom(nasty).Draw(rt, "nasty")
		got := draw.Plain(s)
		if a, b := ansi.StringWidth(got), ansi.StringWidthWc(got); a != b {
			rt.Fatalf("%q became %q: %d or %d cells", s, got, a, b)
		}
		w := rapid.IntRange(0, 40).Draw(rt, "w")
		for _, cut := range []string{draw.CutRight(got, w, "…"), draw.CutLeft(got, w, "…"), draw.CutMiddle(got, w, "…"), draw.Head(got, w), draw.Tail(got, w), draw.CutMiddle(got, w, "...")} {
			if draw.Cells(cut) > w {
				rt.Fatalf("%q cut to %d: %q", got, w, cut)
			}
		}
		for _, line := range draw.WrapText(got, max(w, 1)) {
			if draw.Cells(line) > max(w, 1) {
				rt.Fatalf("%q wrapped at %d: %q", got, w, line)
			}
		}
	})
}

// Glyphs are one cell wide under both methods, no emoji, and differ from each other where they stand in one place.
func TestGlyphs(t *testing.T) {
	for _, g := range []draw.Glyphs{draw.UnicodeGlyphs, draw.AsciiGlyphs} {
		single := append([]string{g.Brk, g.BrkIf, g.BrkLog, g.Pointer, g.Mark, g.Closed, g.Open, g.Across, g.Down, g.TeeDown, g.TeeUp, g.Dot, g.Times, g.Dash, g.Caret, g.Follow, g.Retried}, g.Spin...)
		single = append(append(append(single, g.Signs[:]...), g.Bar...), g.Cross[:]...)
		for _, s := range single {
			if !draw.OneCell(s) {
				t.Errorf("%q is not one cell wide", s)
			}
		}
		words := map[string]string{}
		for s := draw.SignUnapproved; s < draw.Signs; s++ {
			word := draw.SignLooks[s].Word
			if word == "" {
				t.Errorf("sign %d has no word", s)
			}
			// Failed and ignored share a glyph in Unicode; the row has the word beside it.
			if other := words[g.Signs[s]]; other != "" && s != draw.SignIgnored {
				t.Errorf("%q means %s and %s", g.Signs[s], other, word)
			}
			words[g.Signs[s]] = word
		}
	}
	for _, s := range append(append([]string{draw.AsciiGlyphs.Dots, draw.AsciiGlyphs.Arrow, draw.AsciiGlyphs.Branch, draw.AsciiGlyphs.Corner, draw.AsciiGlyphs.Trunk}, draw.AsciiGlyphs.Quote[:]...), draw.AsciiGlyphs.Signs[:]...) {
		if !draw.IsASCII(s) {
			t.Errorf("%q is not ASCII", s)
		}
	}
}

// checkASCII wants nothing but ASCII on a screen without other glyphs, as long as the data has not.
func checkASCII(t *testing.T, name string, s *screen) {
	t.Helper()
	for _, r := range ansi.Strip(s.m.View().Content) {
		if r > '~' && !strings.ContainsRune("→日本語のファイル", r) { // in a scene's diff and output
			t.Errorf("%s shows %q", name, r)
			return
		}
	}
}
