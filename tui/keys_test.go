package tui

import (
	"strings"
	"testing"
)

// Two actions in one place must not share a key, and every action has a name, a key and words of its own.
func TestKeyTable(t *testing.T) {
	names, seen := map[string]bool{}, map[intent]bool{}
	for _, where := range []place{inTree, inDetail, inOutput} {
		keys := map[string]string{}
		for _, b := range bindings {
			if b.where&where == 0 {
				continue
			}
			for _, key := range b.list() {
				if keys[key] != "" {
					t.Errorf("%q means both %s and %s", key, keys[key], b.name)
				}
				keys[key] = b.name
			}
		}
	}
	for _, b := range bindings {
		if names[b.name] || b.name == "" || b.words == "" || b.keys == "" || b.where == 0 {
			t.Errorf("incomplete or repeated: %+v", b)
		}
		names[b.name], seen[b.do] = true, true
		if !isASCII(b.words) {
			t.Errorf("%s is described with more than ASCII, which an ASCII screen cannot show", b.name)
		}
	}
	for do := intentNone + 1; do < intents; do++ {
		if !seen[do] {
			t.Errorf("intent %d has no key", do)
		}
	}
	k := newKeymap(bindings)
	for _, key := range []string{"Z", "f1", "ctrl+x"} {
		for _, where := range []place{inTree, inDetail, inOutput} {
			if do, rest := k.lookup("", key, where); do != intentNone || rest != "" {
				t.Errorf("%q is bound", key)
			}
		}
	}
}

func TestSequences(t *testing.T) {
	k := newKeymap(bindings)
	do, rest := k.lookup("", "g", inTree)
	if do != intentNone || rest != "g" {
		t.Fatalf("g: %d %q", do, rest)
	}
	if do, rest = k.lookup(rest, "g", inTree); do != cursorTop || rest != "" {
		t.Errorf("g g: %d %q", do, rest)
	}
	if do, _ = k.lookup("g", "j", inTree); do != cursorDown {
		t.Errorf("g j: %d: a sequence that is broken off must not swallow a key", do)
	}
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("G g g")
	if s.m.cur.node != 0 {
		t.Errorf("g g went to %d", s.m.cur.node)
	}
}

func TestUnboundKeysSayNothing(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	before := s.shows()
	for _, key := range []string{"Z", "z", "%"} {
		s.press(key)
		if got := s.shows(); got != before {
			t.Errorf("%q changed the screen:\n%s", key, got)
		}
	}
	if len(s.f.sent) != 0 {
		t.Errorf("sent %v", s.f.sent)
	}
}

// The help is the key table: nothing is missing from it.
func TestHelpShowsEveryKey(t *testing.T) {
	for _, where := range []string{"", "tab 1", "tab 2"} {
		s := newScreen(t, setup{w: 100, h: 80})
		s.keys(where)
		s.press("?")
		screen := s.shows()
		for _, b := range bindings {
			if b.where&s.m.place() != 0 && !strings.Contains(screen, b.labels()) {
				t.Errorf("%s (%s) is not in the help:\n%s", b.name, b.labels(), screen)
			}
		}
	}
	s := newScreen(t, setup{w: 100, h: 40})
	s.press("?")
	s.text("breakpoint on")
	s.has("b  f9", "2 of")
	s.press("esc")
	if s.m.overlay != nil {
		t.Error("esc did not close the help")
	}
}

func TestPaletteDoesWhatIsPicked(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.press(":")
	s.text("approve all")
	s.press("enter")
	s.frame()
	if len(s.f.sent) != 1 || s.m.overlay != nil {
		t.Fatalf("sent %v", s.f.sent)
	}
	s.has("14 approved")
	s.press(":")
	s.text("zzzz")
	s.press("enter")
	if len(s.f.sent) != 1 {
		t.Error("enter with nothing picked did something")
	}
}
