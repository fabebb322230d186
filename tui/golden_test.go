package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/internal/diag"
	"moon/plan"
	"moon/tui/tree"
	"moon/tui/tuitest"
	"moon/tui/view"
)

// The scenes are the states a person sees. Each is brought about by keys.
var scenes = []struct {
	name string
	fake func(*tuitest.Engine)
	play func(*screen)
}{
	{"review", nil, func(s *screen) {
		s.on("install ripgrep")
		s.press("a")
		s.frame()
		s.on("clone the dotfiles")
		s.press("b")
		s.frame()
		s.on("unpack go")
	}},
	{"confirm", nil, func(s *screen) {
		s.press("A")
		s.frame()
		s.press("]")
	}},
	{"running", nil, func(s *screen) {
		s.press("A")
		s.frame()
		s.press("c")
		s.f.Until("read the installed version")
		s.f.Clock = s.f.Clock.Add(56 * time.Second)
		s.frame()
	}},
	{"failure", func(f *tuitest.Engine) { f.Fails["unpack go"] = 1 }, func(s *screen) {
		s.keys("A c")
	}},
	{"fix", func(f *tuitest.Engine) { f.Fails["unpack go"] = 1 }, func(s *screen) {
		s.m.Tools.Preview = foreplan
		s.keys("A c e backspace 2 tab tab")
	}},
	{"breakpoint", nil, func(s *screen) {
		s.press("A")
		s.frame()
		s.on("clone the dotfiles")
		s.keys("b c")
	}},
	{"done", nil, func(s *screen) {
		s.press("A")
		s.frame()
		s.press("]")
		s.keys("a c")
	}},
	{"ended", func(f *tuitest.Engine) { f.Fails["unpack go"] = 1 }, func(s *screen) { s.keys("A c c") }},
	{"output", nil, func(s *screen) {
		s.keys("A c")
		s.on("install git")
		s.keys("2 tab t")
	}},
	{"output-wrap", printsLong, func(s *screen) {
		s.keys("A c")
		s.on("install git")
		s.toOutput()
		s.keys("w t t")
	}},
	{"output-sideways", printsLong, func(s *screen) {
		s.keys("A c")
		s.on("install git")
		s.toOutput()
		s.keys("g g l")
	}},
	{"output-search", printsLong, func(s *screen) {
		s.keys("A c")
		s.on("install git")
		s.toOutput()
		s.keys("g g /")
		s.text("warn")
		s.keys("enter n")
	}},
	{"output-full", printsLong, func(s *screen) {
		s.keys("A c")
		s.on("install git")
		s.toOutput()
		s.keys("+ +")
	}},
	{"log", func(f *tuitest.Engine) {
		printsLong(f)
		f.Fails["unpack go"] = 1
	}, func(s *screen) { s.keys("A c L t k k") }},
	{"output-attempts", func(f *tuitest.Engine) {
		printsLong(f)
		f.Fails["unpack go"] = 2
	}, func(s *screen) {
		s.keys("A c r r")
		s.on("unpack go")
		s.toOutput()
		s.keys("[")
	}},
	{"mouse", nil, func(s *screen) {
		s.press("M")
		s.click(12, 7)
	}},
	{"diff", func(f *tuitest.Engine) {
		f.Result = func(_ int, e *events.StepCompleted) {
			e.Diff = &events.Diff{
				Kind: events.ChangeUpdate, Path: "/home/ann/.zshrc", Summary: "mode 0600 → 0644",
				Text: "--- before\n+++ after\n@@ -12,3 +12,3 @@\n listen = *\n-max = 100\n+max = 400\n shared = 4GB\n",
			}
		}
	}, func(s *screen) {
		s.keys("A c")
		s.on("install git")
		s.keys("3")
	}},
	{"diff-all", func(f *tuitest.Engine) {
		f.Fails["unpack go"] = 1
		f.Result = func(i int, e *events.StepCompleted) {
			if name := f.P.Steps[i].Name; strings.HasPrefix(name, "install") {
				e.Diff = &events.Diff{Kind: events.ChangeCreate, Path: "/usr/bin/" + strings.TrimPrefix(name, "install "), Summary: "new file, 2 bytes"}
			} else {
				e.Diff = &events.Diff{Kind: events.ChangeUpdate, Path: "/etc/motd", Text: "--- before\n+++ after\n@@ -1 +1 @@\n-" + name + "\n+done\n"}
			}
		}
	}, func(s *screen) {
		s.keys("A c")
		s.on("devbox.yml")
		s.keys("3")
	}},
	{"vars", nil, func(s *screen) {
		s.keys("A c")
		s.on("unpack go")
		s.keys("4")
	}},
	{"events", func(f *tuitest.Engine) { f.Fails["unpack go"] = 1 }, func(s *screen) {
		s.keys("A c r")
		s.on("unpack go")
		s.keys("5")
	}},
	{"folded", func(f *tuitest.Engine) { f.Fails["unpack go"] = 1 }, func(s *screen) {
		s.keys("A c -")
		if s.m.FocusedPane() == view.PaneDetail {
			s.press("tab")
		}
	}},
	{"find", nil, func(s *screen) {
		s.press("/")
		s.text("install")
		s.press("tab")
	}},
	{"palette", nil, func(s *screen) {
		s.press(":")
		s.text("retr")
	}},
	{"palette-all", nil, func(s *screen) { s.press(":") }},
	{"palette-typed", nil, func(s *screen) {
		s.press(":")
		s.text("goto unpack go")
	}},
	{"breakpoint-sheet", nil, func(s *screen) {
		s.m.Tools.Eval, s.m.Tools.CheckBreak = evaluates(s), checks
		s.on("clone the dotfiles")
		s.press("B")
		s.text("go_now.stdout == go_version")
		s.press("tab")
		s.text("2")
	}},
	{"breakpoint-hit", nil, func(s *screen) {
		s.m.Tools.Eval = evaluates(s)
		s.m.Watch.AddWatch("go_version")
		s.m.Watch.AddWatch("go_now.stdout")
		s.on("loop: install packages")
		s.keys("A B enter c c")
	}},
	{"breakpoints", nil, func(s *screen) {
		s.on("loop: install packages")
		s.keys("B enter")
		s.on("unpack go")
		s.press("B")
		s.text("x == 1")
		s.keys("enter")
		s.press(":")
		s.text("breaks")
		s.press("enter")
	}},
	{"watch", nil, func(s *screen) {
		s.m.Tools.Eval = evaluates(s)
		for _, text := range []string{"go_now.stdout", "go_version", "nonsense", "token"} {
			s.m.Watch.AddWatch(text)
		}
		s.on("unpack go")
		s.keys("W down down")
	}},
	{"sequence", nil, func(s *screen) { s.press("g") }},
	{"help-narrowed", nil, func(s *screen) {
		s.press("?")
		s.text("breakpoint")
	}},
	{"help-signs", nil, func(s *screen) { s.keys("? end") }},
	{"help", nil, func(s *screen) { s.press("?") }},
	{"leave", nil, func(s *screen) {
		s.press("A")
		s.press("c")
		s.f.Until("read the installed version")
		s.f.Clock = s.f.Clock.Add(3 * time.Second)
		s.frame()
		s.press("q")
	}},
	{"copy", nil, func(s *screen) {
		s.keys("A c")
		s.on("unpack go")
		s.press("y")
	}},
}

// hostScenes are those of a plan over several hosts.
var hostScenes = []struct {
	name string
	fake func(*tuitest.Engine)
	play func(*screen)
}{
	{"hosts-review", nil, func(s *screen) {}},
	{"hosts-open", nil, func(s *screen) { s.keys("j j enter j") }},
	{"hosts-failure", func(f *tuitest.Engine) { f.Fails["migrate"] = 1 }, func(s *screen) { s.keys("A c") }},
	{"hosts-done", nil, func(s *screen) { s.keys("A c") }},
	{"hosts-unreached", nil, func(s *screen) {
		s.m.Tools.Reload = func() (diag.List, error) { return nil, nil }
		s.m.Plan.Unreached = []plan.Unreached{{Host: "db1.example.org", Why: "db1.example.org cannot be reached: ssh: connect to host db1.example.org port 22: No route to host"}}
		s.keys("j j l j j j")
	}},
	{"hosts-fix", func(f *tuitest.Engine) { f.Fails["migrate"] = 1 }, func(s *screen) {
		s.m.Tools.Preview = foreplan
		s.keys("A c e backspace backspace 9 s tab")
	}},
	{"hosts-diff", sameDiffs, func(s *screen) {
		s.keys("A c")
		s.m.SetFilter(tree.FilterAll)
		s.m.Cur.Node = int(s.m.Tree.ScopeNode[2])
		s.frame()
		s.keys("3")
	}},
	{"matrix-review", nil, func(s *screen) { s.keys("A H l j") }},
	{"matrix-failure", func(f *tuitest.Engine) { f.Fails["migrate"] = 1 }, func(s *screen) { s.keys("A H c") }},
	{"matrix-done", nil, func(s *screen) { s.keys("A H c") }},
}

// sameDiffs lets each step change a file, on the hosts whose names begin so in the same way.
func sameDiffs(f *tuitest.Engine) {
	f.Result = func(i int, e *events.StepCompleted) {
		host := f.P.Steps[i].Host
		most := map[bool]string{true: "100", false: "400"}[strings.HasPrefix(host, "web")]
		e.Diff = &events.Diff{
			Kind: events.ChangeUpdate, Path: "/etc/" + host + ".conf",
			Text: "--- /etc/" + host + ".conf\n+++ /etc/" + host + ".conf\n@@ -12,3 +12,3 @@\n listen = *\n-max = 10\n+max = " + most + "\n shared = 4GB\n",
		}
	}
}

// sizes are one for each layout, and two so small that they share a file.
var sizes = []struct{ w, h int }{{120, 40}, {100, 30}, {80, 40}, {80, 24}, {60, 20}, {40, 12}, {24, 6}}

const smallW = 40

// toOutput gives the keys to the output of the step under the cursor, whether or not it is beside the tree.
func (s *screen) toOutput() {
	if s.press("2"); s.m.FocusedPane() == view.PaneTree {
		s.press("tab")
	}
}

// printsLong lets two steps print more than a screen takes, on both streams, in colours, with wide characters.
func printsLong(f *tuitest.Engine) {
	f.Print = func(f *tuitest.Engine, i, attempt int) string {
		if name := f.P.Steps[i].Name; name != "install git" && name != "unpack go" {
			return ""
		}
		prefix := fmt.Sprintf("%s.%d", f.P.Steps[i].ID(), attempt)
		w := steplog.NewWriter(f.Dir, prefix, nil)
		defer w.Close()
		for k := range 90 {
			switch k % 10 {
			case 3:
				_, _ = fmt.Fprintf(w.Stderr(), "WARN  attempt %d: line %d is on standard error\n", attempt, k)
			case 7:
				_, _ = fmt.Fprintf(w.Stdout(), "\x1b[32mok\x1b[0m    日本語のファイル %d\t\x1b[1mwarned\x1b[0m\n", k)
			default:
				_, _ = fmt.Fprintf(w.Stdout(), "INFO  line %d is so long that it has to be cut or to go on in the next row of most screens that people have\n", k)
			}
		}
		_, _ = fmt.Fprint(w.Stdout(), "10%\r\x1b[K55%\r\x1b[K100%\x1b[?25h\n")
		return prefix
	}
}

// TestScenes plays each scene in a time of its own, which stands still while it works: lines of output carry their times.
func TestScenes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, scene := range scenes {
			playScene(t, scene.name, devbox, scene.fake, scene.play)
		}
		for _, scene := range hostScenes {
			playScene(t, scene.name, twoPlays, scene.fake, scene.play)
		}
	})
}

// playScene brings a scene about at every size and with both sets of glyphs.
func playScene(t *testing.T, name string, of func() *plan.Plan, fakes func(*tuitest.Engine), play func(*screen)) {
	t.Helper()
	for _, ascii := range []bool{false, true} {
		set := map[bool]string{false: "unicode", true: "ascii"}[ascii]
		small := ""
		for _, size := range sizes {
			s := newScreen(t, setup{p: of(), w: size.w, h: size.h, ascii: ascii, fake: fakes})
			play(s)
			checkFrame(t, s.m.View().Content, size.w, size.h)
			if ascii {
				checkASCII(t, fmt.Sprintf("%s at %d×%d", name, size.w, size.h), s)
			}
			if size.w <= smallW {
				small += fmt.Sprintf("%d×%d\n%s", size.w, size.h, s.shows())
				continue
			}
			golden(t, fmt.Sprintf("%s/%dx%d-%s", name, size.w, size.h, set), s.shows())
		}
		golden(t, fmt.Sprintf("%s/small-%s", name, set), small)
	}
}
