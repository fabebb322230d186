package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/tui/feed"
	"moon/tui/overlay"
	"moon/tui/tuitest"
	"moon/tui/view"
)

const threeSteps = "- {name: one, shell: does one}\n- {name: two, shell: does two, confirm: 'sure?'}\n- {name: three, shell: does three}\n"

// typed types keys faster than the run answers, and lets it come to rest.
func (o *offering) typed(keys string) {
	o.t.Helper()
	for key := range strings.FieldsSeq(keys) {
		o.sc.typeKey(key)
	}
	for o.Settle(); o.sc.m.Shot.Awaits || len(o.sc.m.typed.input) > 0; {
		o.Settle()
	}
}

// Keys that are typed at once do what they do one after the other, each when the run has answered.
func TestKeysTypedAtOnce(t *testing.T) {
	for _, c := range []struct {
		playbook, before, keys string
		ran                    []string
	}{
		{threeSteps, "", "A c", []string{"does one"}},
		{threeSteps, "", "A c ] a c", []string{"does one", "does two", "does three"}},
		{threeSteps, "c", "a c", []string{"does one"}}, // c was refused at what is not approved
		{threeSteps, "c", "A c . a c", []string{"does one", "does two", "does three"}},
		{threeSteps, "A", "s s c", []string{"does one"}},
		{"- {name: one, shell: does one}\n- {name: two, shell: does two}\n- {name: three, shell: does three}\n", "A", "s s", []string{"does one", "does two"}},
		{"- {name: one, shell: does one}\n- {name: two, shell: does two}\n- {name: three, shell: does three}\n", "A", "j j x x c", []string{"does one", "does two", "does three"}},
		{brokenBlock, "A c", "s s c", []string{"fails 9 first", "does rescue", "does last"}},
		{brokenBlock, "A c", "c A q k", []string{"fails 9 first", "does rescue", "does last"}}, // q asks by then about nothing that runs
	} {
		slow, fast := possible(t, c.playbook), possible(t, c.playbook)
		slow.keys(c.before + " " + c.keys)
		fast.keys(c.before)
		fast.typed(c.keys)
		for _, o := range []*offering{slow, fast} {
			for _, cmd := range c.ran {
				if o.ran(cmd) == 0 {
					t.Errorf("%s, %s: %q was not run\n%s", c.before, c.keys, cmd, o.sc.shows())
				}
			}
		}
		if a, b := footing(slow), footing(fast); a != b {
			t.Errorf("%s, then %s at once:\n%s\nand one after the other:\n%s", c.before, c.keys, b, a)
		}
	}
}

// footing is where a run is.
func footing(o *offering) string {
	o.jobs.mu.Lock()
	defer o.jobs.mu.Unlock()
	var b strings.Builder
	for i, s := range o.run.Steps {
		fmt.Fprintf(&b, "%s %v %v\n", o.sc.m.Plan.Steps[i].Name, s.State, s.Outcome)
	}
	return fmt.Sprintf("%sphase %d, pause %s at %d", &b, o.run.Phase, o.run.Pause.Reason, o.run.PausedAt)
}

// While an answer is to come, moving about goes on; what follows a key that waits, waits too; an interrupt discards it all.
func TestTypeaheadKeepsTheOrder(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	at := s.m.CursorNode()
	s.typeKey("A")
	s.typeKey("j")
	if s.m.CursorNode() == at {
		t.Error("j waited for the answer to A")
	}
	at = s.m.CursorNode()
	s.typeKey("c")
	s.typeKey("j")
	if s.m.CursorNode() != at || len(s.f.Sent) != 1 {
		t.Errorf("c or the j after it did not wait: %v", s.f.Sent)
	}
	s.frame()
	if s.m.CursorNode() == at || len(s.f.Sent) != 2 {
		t.Errorf("after the answer, c and j were not done: %v", s.f.Sent)
	}
	s.typeKey("p")
	s.typeKey("p")
	if len(s.f.Sent) != 2 {
		t.Errorf("p did not wait: %v", s.f.Sent)
	}
	s.Send(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
	if _, asks := s.m.Overlay.(overlay.Leave); len(s.m.typed.input) > 0 || !asks && !s.m.leaving {
		t.Error("ctrl+c waited, or discarded nothing")
	}
	for i, c := range s.f.Sent {
		if _, paused := c.(events.Pause); paused {
			t.Errorf("command %d is a discarded pause", i)
		}
	}
}

// A command that the run has dropped because it was over holds nothing up.
func TestTypeaheadAfterTheEnd(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.press("A")
	s.frame()
	s.f.Complete(events.RunStopped)
	s.typeKey("c")
	s.typeKey("c")
	s.frame()
	if s.m.Shot.Awaits || len(s.m.typed.input) > 0 {
		t.Error("an answer is awaited that cannot come")
	}
}

// Keys typed before the first event of the run has been read wait for it: an empty run would have nothing to approve.
func TestTypeaheadBeforeTheBeginning(t *testing.T) {
	s := feed.Store{}
	if !s.Awaits() {
		t.Error("keys are judged by a run of which nothing is known")
	}
	if s.Ended = true; s.Awaits() {
		t.Error("a beginning is awaited that cannot come")
	}

	f := tuitest.NewEngine(devbox())
	l := newLive(f)
	m := newModel(Options{Plan: f.P, Feed: l.feed, Send: l.Take, Glyphs: "unicode"}, func(string) string { return "" })
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	m.Update(tea.KeyPressMsg{Code: 'A', Text: "A"}) // the first frame is there, and nothing is known of the run yet
	if len(f.Sent) != 0 {
		t.Errorf("sent %v to a run of which nothing is known", f.Sent)
	}
	f.Begin()
	close(l.feed)
	m.Store.Drain(l.feed)
	m.Store.Ended = false
	m.Update(frameMsg{})
	if len(f.Sent) != 1 {
		t.Errorf("A was dropped: %v", f.Sent)
	}
}

// A look at the run between its first events shows a run that is reviewed, not one that runs: it would open the output, and c would find
// it running already.
func TestReviewFromTheFirstEvent(t *testing.T) {
	f := tuitest.NewEngine(devbox())
	m := newModel(Options{Plan: f.P, Send: func(events.Order) {}, Glyphs: "unicode"}, func(string) string { return "" })
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	f.Emit = func(batch []events.Record) {
		m.Store.ApplyAll(batch)
		m.Update(frameMsg{})
		if m.Shot.Phase != events.Review || m.Detail.Tab != view.TabSteps {
			t.Errorf("after %T: phase %v, tab %v", batch[0].Event, m.Shot.Phase, m.Detail.Tab)
		}
	}
	f.Begin()
}
