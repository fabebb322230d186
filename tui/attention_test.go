package tui

import (
	"fmt"
	"testing"

	"moon/plan"
	"moon/tui/status"
	"moon/tui/tree"
	"moon/tui/tuitest"
)

// TestNextAttention goes to failures first, then to what needs approval, and never to what merely changed.
func TestNextAttention(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, fake: func(f *tuitest.Engine) { f.Fails["unpack go"] = 9 }})
	at := func() string { return s.m.Plan.Steps[s.m.Tree.Step(s.m.CursorNode())].Name }
	goes := func(key string, names ...string) {
		t.Helper()
		for _, name := range names {
			s.keys(key)
			if at() != name {
				t.Fatalf("%s went to %q instead of %q", key, at(), name)
			}
		}
	}
	goes("]", "replace /etc/hosts", "replace /etc/hosts") // in review: what asks
	s.keys("A c")
	s.on("devbox.yml")
	goes("]", "unpack go", "replace /etc/hosts", "unpack go")
	goes("[", "replace /etc/hosts", "unpack go")
	s.on("say hello")
	goes("[", "unpack go")
	s.on("check the shell")
	goes("]", "unpack go")
}

func TestChangesNeedNoAttention(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("A ]")
	s.keys("a c")
	s.has("DONE", "changed")
	s.m.SetFilter(tree.FilterAll)
	s.on("say hello")
	s.keys("]")
	s.has("nothing needs attention")
	if s.m.Tree.Step(s.m.CursorNode()) != 0 {
		t.Error("it went to a step that only changed something")
	}
	s.m.SetFilter(tree.FilterChanged) // there it is what was asked for
	s.keys("]")
	if f := s.m.Tree.Faces[s.m.Tree.Step(s.m.CursorNode())]; f != status.Changed {
		t.Errorf("with the filter for changes it went to %v", f)
	}
}

// looped is a plan whose loops have templates in their names.
func looped() *plan.Plan {
	b := tuitest.NewBuilder("loops.yml")
	first := b.Step("read the release", "shell", 1, args("cmd", "cat release"), func(s *plan.Step) { s.Register = "rel" })
	round := func(name func(i int) string, open bool) {
		for i, it := range []string{"web", "db", "cache"} {
			b.Step(name(i), "shell", 5, args("cmd", "deploy "+it), item(it, i, 3), func(s *plan.Step) {
				s.Loop.Var = "item"
				if open {
					s.Unknowns = []plan.Unknown{{Field: "name", Name: "rel", Steps: []int{first}}}
				}
			})
		}
	}
	items := []string{"web", "db", "cache"}
	loop := func(name string, inside func()) {
		b.Scope(plan.ScopeLoop, name, 5, func(s *plan.Scope) { s.Items, s.Loop = 3, "list of 3" }, inside)
	}
	loop("start {{ item }} of {{ site }}", func() {
		round(func(i int) string { return fmt.Sprintf("start %s of north", items[i]) }, false)
	})
	loop("deploy {{ rel.stdout }}", func() { round(func(int) string { return "deploy {{ rel.stdout }}" }, true) })
	return b.Done()
}

func TestLoopRowHasItsName(t *testing.T) {
	s := newScreen(t, setup{p: looped(), w: 100, h: 30, fake: func(f *tuitest.Engine) { f.Fails["start db of north"] = 1 }})
	s.has("loop: start … of north", "loop: deploy {{ rel.stdout }}")
	s.hasNot("{{ item }}")
	s.f.Names = map[int]string{4: "deploy 1.2.3"}
	s.keys("A c")
	s.on("loop: start … of north")
	s.keys("h")
	s.has("db failed")
	s.keys("l")
	s.keys("r c")
	s.m.SetFilter(tree.FilterAll)
	s.has("loop: deploy 1.2.3", "deploy 1.2.3 (web)")
}

func TestLoopRowInASCII(t *testing.T) {
	s := newScreen(t, setup{p: looped(), w: 100, h: 30, ascii: true})
	s.has("loop: start ... of north")
}
