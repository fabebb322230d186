package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"moon/internal/diag"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/overlay"
	"moon/tui/tuitest"
)

// Two actions in one place must not share a key, and every action has a name, a key and words of its own.
func TestKeyTable(t *testing.T) {
	names, seen := map[string]bool{}, map[keymap.Intent]bool{}
	for _, where := range keymap.Places {
		keys := map[string]string{}
		for _, b := range keymap.Bindings {
			if b.Where&where == 0 {
				continue
			}
			for _, key := range b.Usual() {
				if keys[key] != "" {
					t.Errorf("%q means both %s and %s", key, keys[key], b.Name)
				}
				keys[key] = b.Name
			}
		}
	}
	last := keymap.GroupDeciding
	for _, b := range keymap.Bindings {
		if names[b.Name] || b.Name == "" || b.Words == "" || b.Keys == "" || b.Where == 0 {
			t.Errorf("incomplete or repeated: %+v", b)
		}
		names[b.Name], seen[b.Do] = true, true
		if !draw.IsASCII(b.Words) {
			t.Errorf("%s is described with more than ASCII, which an ASCII screen cannot show", b.Name)
		}
		if b.Group < last {
			t.Errorf("%s stands in the part %s", b.Name, keymap.GroupWords[last])
		}
		last = b.Group
		for _, key := range b.Usual() {
			for part := range strings.FieldsSeq(key) {
				if name, hint := keymap.KeyName(part); name != part {
					t.Errorf("%s: %q is called %q: %s", b.Name, part, name, hint)
				}
			}
		}
	}
	for do := keymap.IntentNone + 1; do < keymap.Intents; do++ {
		if !seen[do] {
			t.Errorf("intent %d has no key", do)
		}
	}
	k := keymap.UsualKeys()
	if len(k.Taken) > 0 {
		t.Errorf("usual keys are taken: %v", k.Taken)
	}
	for _, key := range []string{"Z", "f1", "ctrl+x"} {
		for _, where := range keymap.Places {
			if do, rest := k.Lookup("", key, where); do != keymap.IntentNone || rest != "" {
				t.Errorf("%q is bound", key)
			}
		}
	}
}

func TestSequences(t *testing.T) {
	k := keymap.UsualKeys()
	do, rest := k.Lookup("", "g", keymap.InTree)
	if do != keymap.IntentNone || rest != "g" {
		t.Fatalf("g: %d %q", do, rest)
	}
	if do, rest = k.Lookup(rest, "g", keymap.InTree); do != keymap.CursorTop || rest != "" {
		t.Errorf("g g: %d %q", do, rest)
	}
	if do, _ = k.Lookup("g", "j", keymap.InTree); do != keymap.CursorDown {
		t.Errorf("g j: %d: a sequence that is broken off must not swallow a key", do)
	}
	for _, key := range []string{"c", "s", "A", "x", "q", "ctrl+z"} {
		if do, _ := k.Lookup("g", key, keymap.InTree); do != keymap.IntentNone {
			t.Errorf("g %s is %s: a slip must not decide or run anything", key, keymap.ByIntent[do].Name)
		}
	}
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("G g g")
	if s.m.Cur.Node != 0 {
		t.Errorf("g g went to %d", s.m.Cur.Node)
	}
	s.press("g")
	s.has("g …   g to the top   esc cancels")
	s.press("esc")
	if s.m.Sequence != "" || s.m.Message != "" {
		t.Errorf("esc left %q, %q", s.m.Sequence, s.m.Message)
	}
	s.press("g")
	s.press("c")
	s.has("g c means nothing")
	if len(s.f.Sent) != 0 {
		t.Errorf("sent %v", s.f.Sent)
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
	if len(s.f.Sent) != 0 {
		t.Errorf("sent %v", s.f.Sent)
	}
}

// readKeys reads a file that must be good.
func readKeys(t *testing.T, text string) *keymap.Keys {
	t.Helper()
	k, wrong := keymap.ReadKeys("keys.yaml", []byte(text))
	if k == nil {
		t.Fatalf("refused: %v", wrong)
	}
	return k
}

func TestKeyFile(t *testing.T) {
	k := readKeys(t, `
# some keys
run.step: [S, "space s"]
mark.toggle: v
mark.range: []
run.over: n          # which was the next match
find.text: Ctrl+F
app.mouse: ~
app.suspend: null
output:
  output.wrap: z
  output.times: [T, t, T]
detail: {cursor.top: Home}
tree:
`)
	for _, want := range []struct {
		where keymap.Place
		key   string
		do    keymap.Intent
	}{
		{keymap.InTree, "S", keymap.RunStep},
		{keymap.InTree, "s", keymap.IntentNone},
		{keymap.InOutput, "space s", keymap.RunStep},
		{keymap.InTree, "v", keymap.MarkToggle},
		{keymap.InTree, "n", keymap.RunOver},
		{keymap.InTree, "o", keymap.IntentNone},
		{keymap.InDetail, "ctrl+f", keymap.FindText},
		{keymap.InTree, "/", keymap.IntentNone},
		{keymap.InOutput, "z", keymap.OutputWrap},
		{keymap.InTree, "w", keymap.FilesWatch},
		{keymap.InOutput, "w", keymap.IntentNone},
		{keymap.InOutput, "T", keymap.OutputTimes},
		{keymap.InDetail, "home", keymap.CursorTop},
		{keymap.InDetail, "g g", keymap.IntentNone},
		{keymap.InTree, "g g", keymap.CursorTop},
		{keymap.InTree, "c", keymap.RunContinue},
		{keymap.InTree, "M", keymap.IntentNone},
		{keymap.InTree, "ctrl+c", keymap.RunInterrupt},
	} {
		if got := k.Means[want.where.Index()][want.key]; got != want.do {
			t.Errorf("%s in %s is %d, not %d", want.key, keymap.PlaceNames[want.where.Index()], got, want.do)
		}
	}
	if want := []string{"`n` was find.next and is run.over now"}; len(k.Taken) != 1 || k.Taken[0] != want[0] {
		t.Errorf("taken: %q", k.Taken)
	}
	for do, want := range map[keymap.Intent]string{keymap.RunStep: "S", keymap.FindNext: ":find.next", keymap.AppMouse: ":app.mouse", keymap.RunOver: "n", keymap.OutputWrap: "z", keymap.CursorTop: "home"} {
		if got := k.Label(do); got != want {
			t.Errorf("%s is called %q, not %q", keymap.ByIntent[do].Name, got, want)
		}
	}
	for _, text := range []string{"", "# nothing\n", "null", "tree:\n", "run.interrupt: [ctrl+x]\n", "app.back: [esc, backspace]"} {
		k := readKeys(t, text)
		if k.Means[0]["ctrl+c"] != keymap.RunInterrupt {
			t.Errorf("%q leaves ctrl+c without its meaning", text)
		}
	}
}

// What is refused, with its place and the way out.
func TestKeyFileMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"run.stepp: s", "1:1: unknown action `run.stepp`; did you mean `run.step`?"},
		{"outputs: {}", "1:1: unknown action `outputs`; did you mean `output`?"},
		{"run.step: f99", "1:11: unknown key `f99`; did you mean `f19`?"},
		{"run.step: ctrl-a", "1:11: unknown key `ctrl-a`; write `ctrl+a`"},
		{"run.step: shift+a", "1:11: unknown key `shift+a`; write the character itself, such as `A`"},
		{"run.step: ctrl+shift+A", "1:11: unknown key `ctrl+shift+A`; terminals send the same with and without shift: write `ctrl+a`"},
		{"run.step: ctrl+i", "1:11: unknown key `ctrl+i`; terminals send the same for it and for `tab`"},
		{"run.step: 日", "1:11: unknown key `日`; a key is a character of one cell, or the name of a key"},
		{"run.step: [[s, t]]", "1:12: not a key; for a sequence write the keys in one text, with blanks: \"g x\""},
		{"run.step: [~]", "1:12: not a key; `~` alone is nothing in YAML: write \"~\""},
		{"run.step: ' '", "1:11: not a key; for the space bar write space; for no key at all, []"},
		{"run.step: a b c d e", "1:11: a sequence has at most 4 keys"},
		{"run.step: ctrl+c", "1:11: ctrl+c always interrupts; choose another key"},
		{"run.step: z esc", "1:11: esc ends a sequence, and cannot be part of one; choose another key"},
		{"run.step: z\nrun.over: [z]", "2:12: `z` cannot be run.over: `z` is run.step (keys.yaml:1); give one of them another key"},
		{"run.step: z\nrun.over: z x", "2:11: `z x` cannot be run.over: `z` is run.step (keys.yaml:1); give one of them another key"},
		{"run.step: z x\nrun.over: z", "2:11: `z` cannot be run.over: `z x` is run.step (keys.yaml:1); give one of them another key"},
		{"run.step: c x", "1:11: `c x` begins with `c`, which is run.continue and would never wait for more; begin it with another key, or give run.continue another one"},
		{"run.step: z\nrun.step: y", "2:1: `run.step` is there already, in line 1; give all its keys in one list"},
		{"app.back: []", "1:1: app.back needs a key: no way back would be left; remove it; then it keeps esc"},
		{"run.leave: null", "1:1: run.leave needs a key: no way out would be left; remove it; then it keeps q"},
		{"run.interrupt:", "1:1: run.interrupt needs a key: no way to stop a run would be left; remove it; then it keeps ctrl+c"},
		{"app.palette: []", "1:1: app.palette needs a key: what has no key could not be reached; remove it; then it keeps :"},
		{"output: {app.help: []}", "1:10: app.help needs a key: no way to look up the keys would be left; remove it; then it keeps ?"},
		{"run.step: q", "1:11: `q` is the key of run.leave, which needs one: no way out would be left; give run.leave another key too"},
		{"output: {mark.toggle: m}", "1:10: mark.toggle does nothing in the output; it works in the tree"},
		{"tree: 3", "1:7: `tree` is a map: names of actions and their keys there"},
		{"- a\n- b", "1:1: a file of keys is a map: names of actions and their keys; moon keys --format yaml prints one"},
		{"run.step: [s\nx", "2:0: did not find expected ',' or ']'; keys such as `?`, `:`, `[` and `-` need quotes"},
		{strings.Repeat("# much\n", 10000), "0:0: a file of keys has at most 64 KiB"},
	} {
		k, wrong := keymap.ReadKeys("keys.yaml", []byte(c.text))
		if k != nil || len(wrong) == 0 {
			t.Errorf("%s: not refused", c.text)
			continue
		}
		if got := described(wrong[0]); got != c.want {
			t.Errorf("%.40s:\n got %s\nwant %s", c.text, got, c.want)
		}
		if len(wrong) > 1 {
			t.Errorf("%.40s: said more than once: %v", c.text, wrong)
		}
	}
}

func described(d diag.Diagnostic) string {
	text := fmt.Sprintf("%d:%d: %s", d.Pos.Line, d.Pos.Column, d.Message)
	if d.Hint != "" {
		text += "; " + d.Hint
	}
	return text
}

// What is written as a file is read as the same keys.
func TestKeysAreWritten(t *testing.T) {
	for _, text := range []string{"", "run.over: n\noutput:\n  output.wrap: [\"'\", '\"', \"\\\\\", N]\ntree: {run.step: [\"#\", g x]}\nfind.previous: []"} {
		k := readKeys(t, text)
		var b strings.Builder
		if err := k.YAML(&b); err != nil {
			t.Fatal(err)
		}
		again := readKeys(t, b.String())
		for in := range keymap.Places {
			for do := range k.Keys[in] {
				if fmt.Sprint(again.Keys[in][do]) != fmt.Sprint(k.Keys[in][do]) {
					t.Errorf("%s in %s: %q became %q in\n%s", keymap.ByIntent[do].Name, keymap.PlaceNames[in], k.Keys[in][do], again.Keys[in][do], b.String())
				}
			}
		}
		var page strings.Builder
		if err := k.Text(&b); err != nil {
			t.Fatal(err)
		}
		if err := k.Markdown(&page); err != nil {
			t.Fatal(err)
		}
		for i := range keymap.Bindings {
			if !strings.Contains(b.String(), keymap.Bindings[i].Words) || !strings.Contains(page.String(), "`"+keymap.Bindings[i].Name+"`") {
				t.Errorf("%s is missing", keymap.Bindings[i].Name)
			}
		}
	}
}

// Whatever a file says: nothing panics, no key means two things in one place, there is always a way out, and every action is
// in the palette.
func TestAnyKeyFile(t *testing.T) {
	anyName := rapid.Custom(func(rt *rapid.T) string {
		return rapid.SampledFrom(keymap.Bindings).Draw(rt, "binding").Name
	})
	anyKeys := rapid.SampledFrom([]string{
		"s", "q", "n", "g", "g g", "g x", "z", "z z", "z x y", "space", "space x", "ctrl+d", "ctrl+c", "esc", "f5", "F5", "?", "Escape", "x",
		"alt+x", "shift+tab", "Ω", "'", `"`, "[", "~", "", " ", "日", "ctrl+alt+x", "+", "ctrl++", "\x00", "nonsense",
	})
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		line := func(indent string) {
			fmt.Fprintf(&b, "%s%s: ", indent, anyName.Draw(rt, "name"))
			switch rapid.IntRange(0, 4).Draw(rt, "shape") {
			case 0:
				b.WriteString("null\n")
			case 1:
				fmt.Fprintf(&b, "%s\n", anyKeys.Draw(rt, "bare"))
			default:
				fmt.Fprintf(&b, "[%s]\n", strings.Join(quoteAll(rapid.SliceOfN(anyKeys, 0, 3).Draw(rt, "keys")), ", "))
			}
		}
		for range rapid.IntRange(0, 4).Draw(rt, "lines") {
			line("")
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(keymap.PlaceNames[:]), 0, 3, rapid.ID[string]).Draw(rt, "places") {
			fmt.Fprintf(&b, "%s:\n", name)
			for range rapid.IntRange(0, 2).Draw(rt, "lines") {
				line("  ")
			}
		}
		text := b.String()
		if rapid.IntRange(0, 9).Draw(rt, "damage") == 0 {
			text = text[:rapid.IntRange(0, len(text)).Draw(rt, "cut")] + rapid.String().Draw(rt, "junk")
		}
		k, wrong := keymap.ReadKeys("keys.yaml", []byte(text))
		if (k == nil) != wrong.HasErrors() {
			rt.Fatalf("keys and mistakes: %v", wrong)
		}
		if k == nil {
			for _, d := range wrong {
				if d.Message == "" || d.Pos.File == "" {
					rt.Fatalf("says nothing: %+v", d)
				}
			}
			return
		}
		checkKeys(t, rt, k)
	})
}

// A file that gives some actions keys that are free is good, whichever they are.
func TestAnyGoodKeyFile(t *testing.T) {
	free := []string{"Z", "f5", "ctrl+x", "alt+x", "z z", "z x y", "f6 x", "g x", "g y z", "Ω", "'", `"`, "ctrl+alt+x"}
	rapid.Check(t, func(rt *rapid.T) {
		keys := rapid.Permutation(free).Draw(rt, "keys")
		named := rapid.SliceOfNDistinct(rapid.SampledFrom(keymap.Bindings), 0, 6, func(b keymap.Binding) string { return b.Name }).Draw(rt, "bindings")
		var b strings.Builder
		for _, binding := range named {
			n := rapid.IntRange(1, 2).Draw(rt, "count")
			fmt.Fprintf(&b, "%s: [%s]\n", binding.Name, strings.Join(quoteAll(keys[:n:n]), ", "))
			keys = keys[n:]
		}
		k, wrong := keymap.ReadKeys("keys.yaml", []byte(b.String()))
		if k == nil {
			rt.Fatalf("refused: %v\n%s", wrong, b.String())
		}
		checkKeys(t, rt, k)
	})
}

func quoteAll(list []string) []string {
	for i, s := range list {
		list[i] = fmt.Sprintf("%q", s)
	}
	return list
}

func checkKeys(t *testing.T, rt *rapid.T, k *keymap.Keys) {
	t.Helper()
	for in, where := range keymap.Places {
		have := map[string]keymap.Intent{}
		for i := range keymap.Bindings {
			b := &keymap.Bindings[i]
			for _, name := range k.Keys[in][b.Do] {
				if have[name] != keymap.IntentNone {
					rt.Fatalf("%q is %s and %s in %s", name, b.Name, keymap.ByIntent[have[name]].Name, keymap.PlaceNames[in])
				}
				have[name] = b.Do
				if b.Where&where == 0 {
					rt.Fatalf("%s has a key in %s", b.Name, keymap.PlaceNames[in])
				}
				// Pressed key by key it must arrive.
				rest, do := "", keymap.IntentNone
				for part := range strings.FieldsSeq(name) {
					if do, rest = k.Lookup(rest, part, where); do != keymap.IntentNone && rest != "" {
						rt.Fatalf("%q is done and waits", name)
					}
				}
				if do != b.Do {
					rt.Fatalf("%q in %s is %d and not %s", name, keymap.PlaceNames[in], do, b.Name)
				}
			}
		}
		for do := range keymap.Needed {
			if len(k.Keys[in][do]) == 0 {
				rt.Fatalf("%s has no key in %s", keymap.ByIntent[do].Name, keymap.PlaceNames[in])
			}
		}
	}
	s := newScreen(t, setup{w: 80, h: 24, options: func(o *Options) { o.Keys = k }})
	s.m.doIntent(keymap.ShowPalette)
	listed := map[keymap.Intent]bool{keymap.ShowPalette: true}
	for _, o := range s.m.Overlay.(*overlay.Palette).Offers() {
		listed[o.Do] = true
	}
	for i := range keymap.Bindings {
		if !listed[keymap.Bindings[i].Do] {
			rt.Fatalf("%s is not in the palette", keymap.Bindings[i].Name)
		}
		if k.Label(keymap.Bindings[i].Do) == "" {
			rt.Fatalf("%s has no label", keymap.Bindings[i].Name)
		}
	}
	for _, size := range [][2]int{{120, 40}, {30, 8}} {
		s.m.Width, s.m.Height, s.m.stale = size[0], size[1], true
		checkFrame(rt, s.m.View().Content, size[0], size[1])
	}
}

// All hints follow the keys of a person.
func TestHintsFollowTheKeys(t *testing.T) {
	k := readKeys(t, "run.retry: T\nrun.continue: C\ngate.approve-all: alt+a\nrun.over: []\nsource.edit: []\napp.help: [f1]\ntab.output: [alt+2]\ntab.vars: []\n")
	s := newScreen(t, setup{w: 120, h: 40, options: func(o *Options) { o.Keys = k }, fake: func(f *tuitest.Engine) { f.Fails["unpack go"] = 1 }})
	s.has("alt+a all", "f1 help", "‹1 Step› alt+2 Output  3 Diff  Vars  5 Events")
	s.hasNot("? help")
	s.press("n")
	s.has("no search; step over is :run.over")
	s.Send(tea.KeyPressMsg{Code: 'a', Mod: tea.ModAlt})
	s.f.Settle()
	s.frame()
	s.has("14 approved")
	s.keys("C")
	s.has("T  retry this step", ":source.edit  edit", "T retry", "C continue without it")
	s.hasNot("r retry", "E editor", "2 Output ‹")
	s.has("lines in alt+2 Output")
	s.keys("T C")
	s.f.Settle()
	s.frame()
	s.press("f1")
	s.text("retry what")
	s.has("T", "retry what failed here")
}

func windowSize(w, h int) tea.WindowSizeMsg { return tea.WindowSizeMsg{Width: w, Height: h} }
