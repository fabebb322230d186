package tui

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"moon/plan"
	"moon/tui/tree"
	"moon/tui/tuitest"
)

// reopened is a new screen with the view another was left with.
func reopened(tb testing.TB, v View, p *plan.Plan, w, h int) *screen {
	tb.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	var read View
	if err := json.Unmarshal(text, &read); err != nil {
		tb.Fatal(err)
	}
	return newScreen(tb, setup{p: p, w: w, h: h, options: func(o *Options) { o.View = &read }})
}

func TestViewIsRemembered(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.on("include: languages/go.yml")
	s.press("h")
	s.on("link .zshrc")
	s.keys("> > + w 4 f f f")
	s.m.Watch.AddWatch("go_version")
	s.command("cursor.pointer")
	v := viewNow(s.m.State)

	again := reopened(t, v, nil, 120, 40)
	again.has("not done", "▎  ◇ │ ├   link .zshrc")
	if got := again.m.Tree.Title(again.m.CursorNode()); got != "link .zshrc" {
		t.Errorf("at %s", got)
	}
	if got := viewNow(again.m.State); !reflect.DeepEqual(got, v) && got.Tab != 0 {
		t.Errorf("left with\n%+v, and again with\n%+v", v, got)
	}
	if again.m.Panes != s.m.Panes || again.m.Detail.Output.Wrap != s.m.Detail.Output.Wrap {
		t.Errorf("panes %+v, %+v", again.m.Panes, s.m.Panes)
	}

	again.press("esc")
	again.has("▸ include: languages/go.yml", "Plan  all")

	// A filter that would show nothing is left: a run begins with nothing changed.
	v.Filter = "changed"
	again = reopened(t, v, nil, 120, 40)
	again.has("say hello", "Plan  all")

	// What is gone does not hide its neighbours; the cursor is where its node was.
	less := devbox()
	less.Steps[stepClone+1].Path += " by another name"
	v.Filter = ""
	again = reopened(t, v, less, 120, 40)
	if got := again.m.Tree.Title(again.m.CursorNode()); got != "block: dotfiles" {
		t.Errorf("at %s", got)
	}
}

// A view of zooming into the output does not open with the tree alone.
func TestViewOpensWithBothPanes(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("tab 2 + +")
	v := viewNow(s.m.State)
	if again := reopened(t, v, nil, 120, 40); again.m.Panes.Zoom != 0 {
		t.Errorf("%+v", again.m.Panes)
	}
}

// The first time a playbook is opened, as many levels as fit are open, and what asks is to be seen.
func TestFirstOpening(t *testing.T) {
	for h, want := range map[int][]string{
		40: {"install tmux", "remove the lock", "▾ loop"},
		24: {"▸ loop: install packages", "▸ include: languages/go.yml", "link .zshrc", "! ├   replace /etc/hosts"},
		12: {"▸ include: packages.yml", "▸ block: dotfiles", "! ├   replace /etc/hosts"},
	} {
		s := newScreen(t, setup{w: 80, h: h})
		if h == 40 {
			s = newScreen(t, setup{w: 120, h: h})
		}
		s.has(want...)
	}
	// A step that asks is shown, however deep.
	p := devbox()
	p.Steps[stepTmux].Confirm = "Really?"
	s := newScreen(t, setup{p: p, w: 80, h: 12})
	s.has("▾ loop: install packages")
	// It is not folded again: the size is what was unknown.
	s.press("=")
	s.Send(windowSize(80, 14))
	s.has("▾ loop: install packages")
	// A card shows no tree; then the next size decides.
	s = newScreen(t, setup{w: 30, h: 8})
	s.Send(windowSize(80, 12))
	s.has("▸ include: packages.yml")
}

// Folding and selection are by path, and survive a reload whatever was put before, taken away, or renamed.
func TestReloadKeepsThePlace(t *testing.T) {
	with := func(change func(p *plan.Plan)) *screen {
		s := newScreen(t, setup{w: 120, h: 40})
		s.on("loop: install packages")
		s.press("h")
		s.on("link .zshrc")
		p := devbox()
		p.Digest = "another"
		change(p)
		replanning{s.m.State}.changePlan(p)
		s.frame()
		return s
	}
	title := func(s *screen) string { return s.m.Tree.Title(s.m.CursorNode()) }
	above := with(func(p *plan.Plan) {
		b := tuitest.NewBuilder("devbox.yml")
		b.Step("a new one", "shell", 3)
		first := b.Plan.Steps[0]
		for i := range p.Steps {
			p.Steps[i].Index++
		}
		p.Steps = slices.Insert(p.Steps, 0, first)
		for i := range p.Scopes {
			if i > 0 {
				p.Scopes[i].First++
			}
			p.Scopes[i].Last++
		}
	})
	above.has("a new one", "▸ loop: install packages")
	if got := title(above); got != "link .zshrc" {
		t.Errorf("with one above: at %s", got)
	}
	renamed := with(func(p *plan.Plan) { p.Steps[stepClone+1].Name, p.Steps[stepClone+1].Path = "other", "/dotfiles/other" })
	if got := title(renamed); got != "block: dotfiles" {
		t.Errorf("renamed: at %s", got)
	}
	removed := with(func(p *plan.Plan) {
		p.Steps = slices.Delete(p.Steps, stepHello, stepHello+1)
		for i := range p.Steps {
			p.Steps[i].Index = i
		}
		for i := range p.Scopes {
			p.Scopes[i].First, p.Scopes[i].Last = max(p.Scopes[i].First-1, 0), p.Scopes[i].Last-1
		}
	})
	removed.has("▸ loop: install packages")
	if got := title(removed); got != "link .zshrc" {
		t.Errorf("with one less: at %s", got)
	}
}

// A tree with more scopes than are remembered is remembered by what is open.
func TestManyFolds(t *testing.T) {
	s := newScreen(t, setup{p: loops(20*(tree.ViewPaths+100), 20), w: 120, h: 40})
	s.on("loop: loop 7")
	s.press("l")
	v := viewNow(s.m.State)
	if len(v.Folded) > 0 || !v.AllShut || len(v.Open) != 2 {
		t.Fatalf("%d folded, %d open", len(v.Folded), len(v.Open))
	}
	again := reopened(t, v, s.m.Plan, 120, 40)
	if len(again.m.Rows.Rows) != len(s.m.Rows.Rows) {
		t.Errorf("%d rows, and again %d", len(s.m.Rows.Rows), len(again.m.Rows.Rows))
	}
}

// Whatever a file says, the screen opens, fits, and works.
func TestAnyView(t *testing.T) {
	texts := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"g/packages.yml", "s/say hello", "run.step", "go_version"})), 0, 5)
	rapid.Check(t, func(rt *rapid.T) {
		v := View{
			Folded: texts.Draw(rt, "folded"), Open: texts.Draw(rt, "open"), AllShut: rapid.Bool().Draw(rt, "shut"), Cursor: texts.Draw(rt, "cursor"),
			Dividers: [2]int{rapid.Int().Draw(rt, "divider"), rapid.Int().Draw(rt, "below")}, Times: rapid.Int().Draw(rt, "times"), Zoom: rapid.Int().Draw(rt, "zoom"), Tab: rapid.IntRange(-2, 9).Draw(rt, "tab"),
			Wrap: rapid.Bool().Draw(rt, "wrap"), Filter: rapid.SampledFrom([]string{"", "all", "changed", "problems", "nonsense"}).Draw(rt, "filter"),
			Watches: texts.Draw(rt, "watches"), Typed: texts.Draw(rt, "typed"), Recent: texts.Draw(rt, "recent"),
		}
		s := newScreen(t, setup{w: 80, h: 24, options: func(o *Options) {
			o.View = &v
			o.Eval = func(_ *plan.Plan, _ int, text string) (string, error) { return strings.Repeat(text, 3), nil }
		}})
		w, h := rapid.IntRange(1, 140).Draw(rt, "w"), rapid.IntRange(1, 50).Draw(rt, "h")
		s.Send(windowSize(w, h))
		for _, key := range []string{"down", "f", "W", "down", "esc", ":", "esc"} {
			s.press(key)
			checkFrame(rt, s.m.View().Content, w, h)
		}
	})
}
