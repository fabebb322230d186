package overlay_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/known"
	"moon/tui/overlay"
)

// newScreen is a run of two steps, of which nothing has happened.
func newScreen() overlay.Screen {
	p := &plan.Plan{Name: "site", RootFile: "site.yml", Steps: []plan.Step{
		{Index: 0, Name: "build", Action: "shell", Path: "build"},
		{Index: 1, Name: "clean", Action: "file", Path: "clean", Args: map[string]any{"state": "absent"}},
	}}
	return overlay.Screen{
		Run: known.New(known.Options{Plan: p}), Glyphs: &draw.AsciiGlyphs, Keys: keymap.UsualKeys(),
		WhenKnown: func([]int) string { return "known later" },
	}
}

func press(keys string) (msg tea.KeyPressMsg) {
	switch keys {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "up":
		return tea.KeyPressMsg{Code: tea.KeyUp}
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	}
	return tea.KeyPressMsg{Code: rune(keys[0]), Text: keys}
}

// typed presses a key for each letter, and then enter.
func typed(s overlay.Screen, b overlay.Box, text string) []overlay.Want {
	for _, r := range text {
		b.Press(s, press(string(r)))
	}
	return b.Press(s, press("enter"))
}

func drawn(s overlay.Screen, b overlay.Box) string {
	title, body, foot := b.Draw(s, 60, 20)
	text := title + "\n"
	for _, line := range body {
		for _, t := range line {
			text += t.S
		}
		text += "\n"
	}
	return text + foot
}

func same(t *testing.T, what string, got []overlay.Want, want ...overlay.Want) {
	t.Helper()
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %s, not %s", what, words(got), words(want))
	}
}

func words(list []overlay.Want) string {
	var parts []string
	for _, w := range list {
		parts = append(parts, fmt.Sprintf("%T%v", w, w))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// TestLeave stops the run only by its own keys.
func TestLeave(t *testing.T) {
	s, b := newScreen(), overlay.Leave{}
	same(t, "enter", b.Press(s, press("enter")))
	same(t, "x", b.Press(s, press("x")))
	same(t, "esc", b.Press(s, press("esc")), overlay.Close{}, overlay.Quit{})
	same(t, "k", b.Press(s, press("k")), overlay.Stop{How: events.StopInterrupt}, overlay.Say{Text: "stopping"}, overlay.Close{}, overlay.Quit{})
	same(t, "d", b.Press(s, press("d")))
	// Only a run of another process goes on without this screen.
	same(t, "d, attached", overlay.Leave{Attached: true}.Press(s, press("d")), overlay.Close{}, overlay.Detach{})
}

// TestCopyMenu copies by one key, or by a click; any other key closes it.
func TestCopyMenu(t *testing.T) {
	s := newScreen()
	item := overlay.CopyItem{Key: "y", Words: "name", Text: "build"}
	b := overlay.NewCopyMenu([]overlay.CopyItem{item})
	same(t, "y", b.Press(s, press("y")), overlay.Close{}, overlay.Copy{Item: item})
	same(t, "a click", b.Click(s, 0, false), overlay.Close{}, overlay.Copy{Item: item})
	same(t, "a click on esc", b.Click(s, 1, false), overlay.Close{})
	same(t, "z", b.Press(s, press("z")), overlay.Close{})
}

// TestDiag opens the editor at the first mistake that has a place, if there is an editor.
func TestDiag(t *testing.T) {
	s := newScreen()
	list := diag.List{
		{Severity: diag.Warning, Message: "odd", Pos: diag.Pos{File: "a.yml", Line: 1}},
		{Severity: diag.Error, Message: "bad", Pos: diag.Pos{File: "b.yml", Line: 7}},
	}
	edit := press(s.Keys.Label(keymap.SourceEdit))
	same(t, "with an editor", overlay.NewDiag(list, true).Press(s, edit), overlay.Close{}, overlay.Edit{File: "b.yml", Line: 7})
	same(t, "without one", overlay.NewDiag(list, false).Press(s, edit), overlay.Close{})
}

// TestProduction asks for the right name. What is approved is what was asked about, by its digest.
func TestProduction(t *testing.T) {
	s := newScreen()
	what := overlay.Approval{Ranges: []events.Range{{From: 0, To: 2}}}
	if steps, destructive := what.Weigh(s.Run); steps != 2 || len(destructive) != 1 || destructive[0] != 1 {
		t.Errorf("%d steps, %v destroy", steps, destructive)
	}
	b := overlay.NewProduction(s, keymap.GateApproveAll, what, "live")
	asks := overlay.Approve{Do: keymap.GateApproveAll, What: what}
	same(t, "a wrong name", typed(s, b, "sit"), asks)
	if text := drawn(s, b); !strings.Contains(text, "that is not the name") || !strings.Contains(text, "1 destructive") {
		t.Error(text)
	}
	asks.Named = true
	same(t, "the name", typed(s, b, "e"), asks)
	same(t, "esc", b.Press(s, press("esc")), overlay.Close{}, overlay.Say{Text: "nothing was approved"})
}

// watched is a list for a test.
type watched []string

func (w *watched) Texts() []string             { return *w }
func (w *watched) Typed() []string             { return []string{"older", "newer"} }
func (w *watched) Shown(text string) draw.Text { return draw.Text{S: "=" + text} }

// TestWatchList stays in the list while something is left of it, and recalls what was typed.
func TestWatchList(t *testing.T) {
	s, list := newScreen(), &watched{"a", "b"}
	b := overlay.NewWatchList(list)
	same(t, "an expression", typed(s, b, "x"), overlay.Watch{Expression: "x"})
	b.Press(s, press("up"))
	same(t, "what was typed last", b.Press(s, press("enter")), overlay.Watch{Expression: "newer"})
	b.Press(s, press("down"))
	b.Press(s, press("down"))
	same(t, "the second", b.Press(s, press("d")), overlay.Unwatch{Expression: "b"})
	*list = (*list)[:1]
	same(t, "then the first", b.Press(s, press("d")), overlay.Unwatch{Expression: "a"})
	*list = nil
	same(t, "none is left, so the line has the keys", typed(s, b, "d"), overlay.Watch{Expression: "d"})
	same(t, "nothing typed", b.Press(s, press("enter")), overlay.Close{})
}

// TestPalette completes a command that needs an argument, says why something cannot be done, and does the rest.
func TestPalette(t *testing.T) {
	s := newScreen()
	goTo := &overlay.Command{Name: "goto", Short: "g", Takes: "STEP"}
	offers := []overlay.Offer{
		{Do: keymap.RunStep, Name: "run.step", Words: "run one step"},
		{Command: goTo, Name: "goto", Words: "go to a step", Right: ":goto STEP"},
		{Do: keymap.RunPause, Name: "run.pause", Words: "pause", Why: "nothing is running"},
	}
	same(t, "an action", typed(s, overlay.NewPalette(offers), "run.step"), overlay.Close{}, overlay.Do{Intent: keymap.RunStep})
	same(t, "a command", typed(s, overlay.NewPalette(offers), "g 2"), overlay.Close{}, overlay.RunCommand{Name: "goto", Arg: "2"})
	for text, says := range map[string]string{
		"goto": "type :goto STEP", "run.pause": "nothing is running", "xyzzy": "unknown command `xyzzy`",
	} {
		b := overlay.NewPalette(offers)
		same(t, text, typed(s, b, text))
		if got := drawn(s, b); !strings.Contains(got, says) {
			t.Errorf("%s says %s", text, got)
		}
	}
	same(t, "a double click", overlay.NewPalette(offers).Click(s, 1, true), overlay.Close{}, overlay.Do{Intent: keymap.RunStep, Clicked: true})
}

// TestLay keeps the frame's size, wherever the box is.
func TestLay(t *testing.T) {
	s := newScreen()
	c := draw.Canvas{Pen: &draw.Pen{}, Glyphs: s.Glyphs}
	for _, size := range []struct{ w, h int }{{80, 24}, {30, 8}, {7, 3}, {1, 1}} {
		frame := strings.TrimSuffix(strings.Repeat(strings.Repeat("x", size.w)+"\n", size.h), "\n")
		laid, at := overlay.Lay(c, s, overlay.NewText("a title", "a text"), frame, size.w)
		if n := strings.Count(laid, "\n") + 1; n != size.h {
			t.Errorf("%v: %d lines", size, n)
		}
		if at.X < 0 || at.Y < 0 || at.X+at.W > size.w || at.Y+at.H > size.h || !at.Has(at.X, at.Y) || at.Has(at.X-1, at.Y) {
			t.Errorf("%v: the box is at %v", size, at)
		}
	}
}
