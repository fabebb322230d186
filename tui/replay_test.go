package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"moon/events"
	"moon/tui/frame"
	"moon/tui/keymap"
	"moon/tui/overlay"
	"moon/tui/pane"
	"moon/tui/tree"
	"moon/tui/tuitest"
	"moon/tui/view"
)

// recording is what a fake run published that a person brought to its end, or as far as until says.
func recording(t *testing.T, f *tuitest.Engine, until string) []events.Record {
	t.Helper()
	var all []events.Record
	f.Emit = func(batch []events.Record) { all = append(all, batch...) }
	f.Begin()
	f.Send(events.Approve{Range: events.Range{From: 0, To: len(f.P.Steps)}, Confirm: true})
	f.Send(events.Continue{})
	if until != "" {
		f.Until(until)
		f.Say(-1, events.Warning{Message: "an old warning"})
		return all
	}
	f.Settle()
	return all
}

// replaying is a screen that shows a recording. It has no Send: whatever is sent ends the test.
func replaying(t *testing.T, w, h int, ascii bool, word string, all []events.Record, dir string) *screen {
	t.Helper()
	feed := make(chan []events.Record)
	go func() {
		defer close(feed)
		for batch := range slices.Chunk(all, 3) {
			feed <- batch
		}
	}()
	profile := colorprofile.TrueColor
	glyphs := map[bool]string{false: "unicode", true: "ascii"}[ascii]
	s := &screen{t: t, dir: dir, f: tuitest.NewEngine(devbox())}
	s.m = newModel(Options{
		Plan: devbox(), Feed: feed, Replay: word, Mode: "recorded", Glyphs: glyphs, Profile: &profile, OutDir: func() string { return dir },
		Now:    func() time.Time { return tuitest.Start.Add(1000 * time.Hour) }, // long after
		Editor: func(string, int) tea.ExecCommand { t.Error("the editor was opened"); return nil },
	}, func(string) string { return "" })
	s.m.Excerpt = excerptOf
	s.m.later = func() tea.Cmd { t.Error("a recorded run ticks"); return nil }
	if err := s.m.takeRecorded(); err != nil {
		t.Fatal(err)
	}
	s.Send(tea.WindowSizeMsg{Width: w, Height: h})
	s.frame()
	return s
}

// recordings are runs in each of the ways they end: well, badly, and not at all.
func recordings(t *testing.T, dir string) map[string][]events.Record {
	t.Helper()
	run := func(until string, fails int) []events.Record {
		f := tuitest.NewEngine(devbox())
		f.Fails["unpack go"] = fails
		f.Print = func(f *tuitest.Engine, i, attempt int) string { return printSome(t, dir, f, i, attempt) }
		return recording(t, f, until)
	}
	failed := tuitest.NewEngine(devbox())
	failed.Fails["unpack go"] = 1
	failed.Print = func(f *tuitest.Engine, i, attempt int) string { return printSome(t, dir, f, i, attempt) }
	all := recording(t, failed, "")
	failed.Emit = func(batch []events.Record) { all = append(all, batch...) }
	failed.Send(events.Continue{}) // give up
	failed.Send(events.Stop{How: events.StopDrain, Signal: true})
	return map[string][]events.Record{"done": run("", 0), "stopped": all, "died": run("unpack go", 0), "died paused": run("", 1)}
}

// TestReplay is the screen on recorded runs.
func TestReplay(t *testing.T) {
	dir := t.TempDir()
	for word, all := range recordings(t, dir) {
		for _, size := range sizes {
			for _, ascii := range []bool{false, true} {
				name := fmt.Sprintf("replay/%s-%dx%d-%s", strings.ReplaceAll(word, " ", "-"), size.w, size.h,
					map[bool]string{false: "unicode", true: "ascii"}[ascii])
				t.Run(name, func(t *testing.T) {
					word, _, _ := strings.Cut(word, " ")
					golden(t, name, replaying(t, size.w, size.h, ascii, word, all, dir).shows())
				})
			}
		}
	}
}

// TestReplayAsksNothing presses every key on recorded runs: those that would ask something of the run say that it is over,
// the others look around, and none of them ends the screen but those that leave.
func TestReplayAsksNothing(t *testing.T) {
	dir := t.TempDir()
	for word, all := range recordings(t, dir) {
		word, _, _ := strings.Cut(word, " ")
		for _, b := range keymap.Bindings {
			s := replaying(t, 120, 40, false, word, all, dir)
			s.on("unpack go")
			asks := strings.HasPrefix(b.Name, "gate.") ||
				strings.HasPrefix(b.Name, "run.") && b.Do != keymap.RunLeave && b.Do != keymap.RunInterrupt || b.Do == keymap.SourceEdit || b.Do == keymap.FilesWatch ||
				strings.HasPrefix(b.Name, "step.")
			for _, key := range b.Usual() {
				if strings.Contains(key, " ") {
					continue
				}
				if b.Where&keymap.InTree == 0 {
					s.keys("2 tab")
				}
				s.press(key)
				if said := s.m.Message == pane.IsOver; said != asks {
					t.Errorf("%s: %s says %q", word, b.Name, s.m.Message)
				}
			}
			if leaves := b.Do == keymap.RunLeave || b.Do == keymap.RunInterrupt; quits(s) != leaves {
				t.Errorf("%s: %s leaves: %t", word, b.Name, !leaves)
			}
		}
		s := replaying(t, 120, 40, false, word, all, dir)
		s.press(":")
		for _, o := range s.m.Overlay.(*overlay.Palette).Offers() {
			if keymap.AsksTheRun(o.Do) {
				t.Errorf("%s: the palette offers %s", word, o.Name)
			}
		}
		s.press("esc")
		s.press("?")
		for _, name := range s.m.Overlay.(*overlay.Help).Names() {
			for i := range keymap.Bindings {
				if keymap.AsksTheRun(keymap.Bindings[i].Do) && keymap.Bindings[i].Name == name {
					t.Errorf("%s: the help offers %s", word, name)
				}
			}
		}
		s = replaying(t, 200, 40, false, word, all, dir)
		for n := range s.m.Tree.Len() {
			for _, focus := range []view.Pane{view.PaneTree, view.PaneDetail} {
				s.m.Cur.Node = n
				s.m.Panes.FocusOn(focus)
				for _, tip := range (frame.Footer{State: s.m.State}).ListTips() {
					if keymap.AsksTheRun(tip.Do) {
						t.Errorf("%s: the footer offers %s", word, tip.Words)
					}
				}
			}
		}
	}
}

// TestReplayOfWhatDied looks at the steps a record breaks off at: time stands still at its end.
func TestReplayOfWhatDied(t *testing.T) {
	dir := t.TempDir()
	s := replaying(t, 120, 40, false, "died", recordings(t, dir)["died"], dir)
	s.has("DIED", "recorded", "✗ ")
	s.on("unpack go")
	s.has("FAILED: lost, moon ended while it ran")
	s.m.SetFilter(tree.FilterAll)
	s.on("link .zshrc")
	s.has("not run")
	if screen := s.shows(); strings.Contains(screen, "old warning") {
		t.Errorf("a warning of then is shown as if it were new\n%s", screen)
	}
	s.on("replace /etc/hosts")
	s.has("Replace /etc/hosts with ours?")
	s.press("n")
	s.has("no search")
	for _, offer := range []string{"Approve it", "step over"} {
		if screen := s.shows(); strings.Contains(screen, offer) {
			t.Errorf("%q is offered\n%s", offer, screen)
		}
	}
	s.press("5")
	s.on("devbox.yml")
	s.has("old warning")
}
